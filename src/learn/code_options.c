/*
 * code_options.c - the options that describe a code, put together as a
 * code_spec, with the files that they name (matrix, speeds).
 */
#include "learn/code_options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "code/matrix_file.h"
#include "learn/certificates.h"
#include "os/file/file.h"

#define MATRIX_BYTES_MAX (64u << 20)

enum err code_numbers(const char *text, const char *what, double *numbers,
                      uint32_t max, uint32_t *count, struct why *why)
{
    uint32_t found = 0;

    for (const char *at = text; *at != '\0';) {
        char *end;
        const double value = strtod(at, &end);

        if (end == at || !isfinite(value) || (*end != ',' && *end != '\0'))
            return why_set(why, ERR_RANGE,
                           "--%s %.64s: expected numbers between commas", what,
                           text);
        if (found == max)
            return why_set(why, ERR_RANGE, "--%s: more than %u numbers", what,
                           max);
        numbers[found++] = value;
        at = *end == ',' ? end + 1 : end;
    }
    *count = found;
    return ERR_OK;
}

static enum err load_speeds(struct code_inputs *inputs, const char *text,
                            struct why *why)
{
    inputs->speed = mem_new(CODE_NUMERIC_MAX, sizeof *inputs->speed);
    if (inputs->speed == NULL)
        return why_set(why, ERR_NOMEM, "out of memory");
    return code_numbers(text, "speeds", inputs->speed, CODE_NUMERIC_MAX,
                        &inputs->speeds, why);
}

static enum err load_matrix(struct code_inputs *inputs, const char *path,
                            struct why *why)
{
    uint8_t *text = NULL;
    size_t size = 0;
    enum err err = file_read(path, MATRIX_BYTES_MAX, &text, &size, why);

    if (err != ERR_OK)
        return err;
    err = matrix_parse(&inputs->matrix, (const char *)text, size, why);
    mem_free(text);
    return err == ERR_OK ? err : why_in(why, err, "%s", path);
}

enum err code_inputs_load(struct code_inputs *inputs,
                          const struct recipe *recipe, const char *name,
                          struct why *why)
{
    const char *speeds = recipe_text(recipe, OPT_SPEEDS);
    const char *file = strchr(name, ':');
    enum err err = ERR_OK;

    certificates_load(&inputs->memory);
    inputs->remembered = inputs->memory.count;
    if (speeds != NULL)
        err = load_speeds(inputs, speeds, why);
    if (err != ERR_OK || file == NULL)
        return err;
    if (!preset_takes_matrix(name))
        return why_set(why, ERR_SHAPE,
                       "--code %.64s: only matrix and cb read a file", name);
    return load_matrix(inputs, file + 1, why);
}

void code_inputs_close(struct code_inputs *inputs)
{
    if (inputs->memory.count > inputs->remembered)
        certificates_save(&inputs->memory);
    matrix_close(&inputs->matrix);
    mem_free(inputs->speed);
    *inputs = (struct code_inputs){0};
}

static uint32_t count_of(const struct recipe *recipe, int id)
{
    return recipe_text(recipe, id) == NULL ? 0
                                           : (uint32_t)recipe_count(recipe, id);
}

static bool is_one_step(const struct recipe *recipe)
{
    const char *how = recipe_text(recipe, OPT_DECODE);

    return how != NULL && strcmp(how, "one-step") == 0;
}

enum err code_every(const struct recipe *recipe, uint32_t *every,
                    struct why *why)
{
    const char *text = recipe_text(recipe, OPT_LOCAL);
    double value = 0;
    uint32_t count = 0;
    enum err err = ERR_OK;

    if (text != NULL && strcmp(text, "once") == 0)
        value = CODE_ONCE;
    else if (text != NULL)
        err = code_numbers(text, "local", &value, 1, &count, why);
    if (err != ERR_OK || (text != NULL && !(value >= 1 && value <= CODE_ONCE &&
                                            floor(value) == value)))
        return why_set(why, ERR_RANGE,
                       "--local %.32s: expected a whole number of steps above "
                       "zero, or once",
                       text);
    *every = (uint32_t)value;
    return ERR_OK;
}

/* The sum itself, then: see preset.h. */
static bool averages_sums(const struct recipe *recipe)
{
    const char *optim = recipe_text(recipe, OPT_OPTIM);
    struct why why = {0};
    uint32_t every = 0;

    return code_every(recipe, &every, &why) == ERR_OK && every == 1 &&
           (optim == NULL || strcmp(optim, "sgd") != 0);
}

struct preset_options code_options(const struct recipe *recipe,
                                   const char *name, uint32_t workers,
                                   struct code_inputs *inputs)
{
    return (struct preset_options){
        .name = name,
        .stragglers = (uint32_t)recipe_count(recipe, OPT_STRAGGLERS),
        .collect = count_of(recipe, OPT_COLLECT),
        .stop = recipe_text(recipe, OPT_STOP),
        .estimate = recipe_text(recipe, OPT_ESTIMATE),
        .workers = workers,
        .seed = recipe_count(recipe, OPT_SEED),
        .parts = count_of(recipe, OPT_PARTS),
        .pieces = count_of(recipe, OPT_PIECES),
        .replicas = count_of(recipe, OPT_REPLICAS),
        .staleness = count_of(recipe, OPT_STALENESS),
        .decoding = is_one_step(recipe) ? DECODE_ONE_STEP : DECODE_OPTIMAL,
        .matrix = inputs->matrix.rows > 0 ? &inputs->matrix : NULL,
        .speed = inputs->speed,
        .speeds = inputs->speeds,
        .memory = &inputs->memory,
        .every_step = averages_sums(recipe),
    };
}

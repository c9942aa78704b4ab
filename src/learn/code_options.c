/*
 * code_options.c - what --code says, put together as the options of a preset,
 * with what it names (a matrix, speeds).
 */
#include "learn/code_options.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "code/matrix_file.h"
#include "data/rows/colour.h"
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
                           "%s %.64s: expected numbers between commas", what,
                           text);
        if (found == max)
            return why_set(why, ERR_RANGE, "%s: more than %u numbers", what,
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

void code_inputs_remember(struct code_inputs *inputs)
{
    certificates_load(&inputs->memory);
    inputs->remembered = inputs->memory.count;
}

void code_inputs_close(struct code_inputs *inputs)
{
    if (inputs->memory.count > inputs->remembered)
        certificates_save(&inputs->memory);
    matrix_close(&inputs->matrix);
    mem_free(inputs->speed);
    mem_free(inputs->text);
    *inputs = (struct code_inputs){0};
}

size_t code_length(const char *list)
{
    size_t length = strcspn(list, ",");

    while (list[length] == ',' && !isalpha((unsigned char)list[length + 1]) &&
           list[length + 1] != '\0')
        length += 1 + strcspn(list + length + 1, ",");
    return length;
}

static enum err read_inputs(struct code_inputs *inputs,
                            struct preset_options *options, struct why *why)
{
    enum err err = ERR_OK;

    if (options->speed_text != NULL)
        err = load_speeds(inputs, options->speed_text, why);
    if (err == ERR_OK && options->file != NULL)
        err = load_matrix(inputs, options->file, why);
    options->matrix = inputs->matrix.rows > 0 ? &inputs->matrix : NULL;
    options->speed = inputs->speed;
    options->speeds = inputs->speeds;
    return err;
}

enum err code_options(const struct recipe *recipe, const char *text,
                      size_t length, struct code_inputs *inputs,
                      struct preset_options *options, struct why *why)
{
    const char *optim = recipe_text(recipe, OPT_OPTIM);
    enum err err;

    *options = (struct preset_options){
        .stragglers = (uint32_t)recipe_count(recipe, OPT_STRAGGLERS),
        .seed = recipe_count(recipe, OPT_SEED),
        .by_rows = optim != NULL && strcmp(optim, "sgd") == 0,
        .memory = &inputs->memory,
    };
    inputs->text = mem_new(length + 1, 1);
    if (inputs->text == NULL)
        return why_set(why, ERR_NOMEM, "out of memory");
    memcpy(inputs->text, text, length);
    err = preset_parse(inputs->text, options, why);
    if (err == ERR_OK && options->filters != NULL)
        err = colour_vet(options->filters, why);
    return err == ERR_OK ? read_inputs(inputs, options, why) : err;
}

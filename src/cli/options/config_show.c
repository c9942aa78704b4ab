/*
 * config_show.c - settings as text, JSON and lines of a config file.
 */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "cli/cli.h"
#include "learn/card/json.h"
#include "learn/recipe/foresee.h"
#include "os/file/file.h"

#define CONFIG_BYTES_MAX 16384u
#define VALUE_WIDTH      38u
#define SEAL_BYTES       (sizeof "# sha256 " + DIGEST_TEXT - 1)

/* Options that say what a run is, not how to talk about it. */
static bool is_setting(const struct options *options, int id)
{
    return option_takes(options, id) && id != OPT_CONFIG &&
           id != OPT_PRINT_CONFIG && id != OPT_HELP;
}

/* What stands for a value that is not there yet. */
static const char *absent(const struct option *row)
{
    return row->shown != NULL ? row->shown : "-";
}

/* Nothing was set up yet. */
static struct foreseen foreseen(const struct options *options, int id)
{
    const bool trains =
        option_takes(options, OPT_NET) && option_takes(options, OPT_OPTIM);

    return trains && id < RECIPE_OPTIONS ? recipe_foresee(&options->recipe, id)
                                         : (struct foreseen){NULL, NULL};
}

static void config_print_text(const struct options *options)
{
    for (int i = 0; i < OPTIONS; i++) {
        const int id = option_uses()[i].id;
        const struct option *row = option_row(id);
        const struct setting *setting = option_setting(options, id);
        const struct foreseen soon = foreseen(options, id);

        const char *const value = soon.value != NULL      ? soon.value
                                  : soon.rule != NULL     ? soon.rule
                                  : setting->text == NULL ? absent(row)
                                                          : setting->text;
        const size_t width = strlen(value);

        if (!is_setting(options, id))
            continue;
        (void)printf("%-14s ", row->name);
        say_name("", value, " ");
        (void)printf("%*s%s\n",
                     width < VALUE_WIDTH ? (int)(VALUE_WIDTH - width) : 0, "",
                     origin_name(setting->origin));
    }
}

/* What a rule alone tells has no value yet. */
static json_t *soon_json(const struct option *row, const struct foreseen *soon)
{
    struct setting setting = {0};
    json_t *value = NULL;

    if (soon->value != NULL &&
        setting_put(&setting, row, soon->value, ORIGIN_DEFAULT, NULL) == ERR_OK)
        value = setting_json(row, &setting);
    setting_close(&setting);
    return value != NULL ? value : json_null();
}

static json_t *settings_json(const struct options *options, bool before)
{
    json_t *all = json_object();

    for (int i = 0; i < OPTIONS; i++) {
        const int id = option_uses()[i].id;
        const struct option *row = option_row(id);
        const struct setting *setting = option_setting(options, id);
        const struct foreseen soon =
            before ? foreseen(options, id) : (struct foreseen){NULL, NULL};

        if (is_setting(options, id))
            (void)json_object_set_new(
                all, row->name,
                json_pack("{s:o, s:s}", "value",
                          soon.value != NULL || soon.rule != NULL
                              ? soon_json(row, &soon)
                              : setting_json(row, setting),
                          "origin", origin_name(setting->origin)));
    }
    return all;
}

json_t *config_json(const struct options *options)
{
    return settings_json(options, false);
}

void config_print(const struct cli *cli)
{
    if (cli->json)
        say_json(settings_json(&cli->options, true));
    else
        config_print_text(&cli->options);
}

/* What belongs to one start of a run, not to the run. */
bool config_keeps(const struct options *options, int id)
{
    return is_setting(options, id) && option_given(options, id) &&
           id != OPT_RESUME && id != OPT_OUT && id != OPT_CHAOS &&
           id != OPT_DEMO && id != OPT_FORMAT && id != OPT_QUIET &&
           id != OPT_TRACE && id != OPT_PREEMPT_NOTICE &&
           id != OPT_PREEMPT_ADDRESS;
}

/* The last line of a run's own file, a comment to whoever reads options: one
 * bit that flips in --steps would give another model, and nobody would know. */
static void seal(const void *text, size_t size, char line[SEAL_BYTES + 1])
{
    const struct digest digest = hash_bytes(text, size);
    char hex[DIGEST_TEXT];

    (void)snprintf(line, SEAL_BYTES + 1, "# sha256 %s\n",
                   digest_text(&digest, hex));
}

static bool is_sealed(const uint8_t *text, size_t size)
{
    char line[SEAL_BYTES + 1];

    if (size < SEAL_BYTES)
        return false;
    size -= SEAL_BYTES;
    seal(text, size, line);
    return memcmp(text + size, line, SEAL_BYTES) == 0;
}

enum err config_check(const char *path, struct why *why)
{
    uint8_t *text;
    size_t size;
    enum err err = file_read_plain(path, CONFIG_BYTES_MAX, &text, &size, why);

    if (err != ERR_OK)
        return err;
    if (!is_sealed(text, size))
        err = why_set(why, ERR_FORMAT,
                      "%.200s: damaged or altered since the run wrote it; say "
                      "the data and all options again, beside --resume, and it "
                      "is not read",
                      path);
    mem_free(text);
    return err;
}

enum err config_write(const struct options *options, const char *path,
                      struct why *why)
{
    char text[CONFIG_BYTES_MAX];
    size_t used = 0;

    for (int i = 0; i < OPTIONS; i++) {
        const int id = option_uses()[i].id;

        if (!config_keeps(options, id))
            continue;
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "--%s=%s\n",
                             option_row(id)->name, option_text(options, id));
        if (used >= sizeof text - SEAL_BYTES)
            return why_set(why, ERR_TOOBIG,
                           "the options take more than %u bytes",
                           CONFIG_BYTES_MAX);
    }
    seal(text, used, text + used);
    return file_write_atomic(path, text, used + SEAL_BYTES, 0600, why);
}

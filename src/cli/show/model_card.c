/*
 * model_card.c - a model card, written, found again and shown as text.
 */
#include "cli/show/model_card.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/plain.h"
#include "base/version.h"
#include "cli/show/metrics_show.h"
#include "os/file/file.h"
#include "os/file/output.h"

#define ENDING   ".card.json"
#define CARD_MAX (UINT64_C(1) << 20)
#define FORM     1 /* Of the card; only a card has it. */

/* Whole or not at all: a part of it would be another file's. */
static bool name_of(const char *model, char path[FILE_PATH_SIZE])
{
    return snprintf(path, FILE_PATH_SIZE, "%s" ENDING, model) <
           (int)FILE_PATH_SIZE;
}

/* --- writing ------------------------------------------------------------- */

/* Of the result: what the same training would say again. */
static const char *const taken[] = {
    "hash",           "code",          "steps",        "exactness",
    "worst_residual", "workers",       "objective",    "end",
    "converged",      "gradient_norm", "test_metrics", "valid_metrics",
    "train_metrics",
};

/* A file's name need not be UTF-8, JSON must be. */
static json_t *name_json(const char *name)
{
    json_t *const text = name == NULL ? json_null() : json_string(name);

    return text != NULL ? text : json_string("?");
}

/* Of the model's file, as sha256sum says it. */
static json_t *file_sum(const char *path)
{
    uint8_t *bytes;
    struct digest sum;
    size_t size;

    if (file_read(path, UINT64_C(1) << 32, &bytes, &size, NULL) != ERR_OK)
        return json_null();
    sum = hash_bytes(bytes, size);
    mem_free(bytes);
    return hash_json(&sum);
}

/* None if the rows are with their owners. */
static json_t *data_hash(const struct setup *setup)
{
    struct digest hash;

    if (setup->hollow)
        return json_null();
    hash = dataset_digest(&setup->data);
    return hash_json(&hash);
}

static json_t *data_json(const struct run *run)
{
    const struct setup *const setup = run->setup;
    const struct dataset *const data = &setup->data;

    return json_pack("{s:o, s:o, s:I, s:I, s:I}", "source",
                     name_json(option_text(&run->cli->options, OPT_DATA)),
                     "hash", data_hash(setup), "rows", (json_int_t)data->rows,
                     "columns",
                     (json_int_t)data->cols - (setup->intercept ? 1 : 0),
                     "classes", (json_int_t)data->classes);
}

/* What was chosen, by anybody but the defaults. */
static json_t *options_json(json_t *config)
{
    json_t *options = json_object();
    const char *name;
    json_t *entry;

    json_object_foreach(config, name, entry)
    {
        const char *origin =
            json_string_value(json_object_get(entry, "origin"));

        if (strcmp(origin, origin_name(ORIGIN_DEFAULT)) != 0)
            (void)json_object_set(options, name,
                                  json_object_get(entry, "value"));
    }
    return options;
}

static json_t *make(const struct run *run, const struct train_result *result,
                    const char *model)
{
    const char *const slash = strrchr(model, '/');
    const struct digest config = config_digest(run->setup);
    json_t *const said = result_json(run, result, model);
    json_t *const card = json_pack(
        "{s:i, s:o, s:o, s:s, s:s, s:o, s:o, s:o}", "model_card", FORM, "model",
        name_json(slash == NULL ? model : slash + 1), "sha256", file_sum(model),
        "kind", model_ops(run->setup->model)->name, "muster", version_text,
        "data", data_json(run), "config_hash", hash_json(&config), "options",
        options_json(json_object_get(said, "config")));

    if (run->setup->net.text != NULL)
        (void)json_object_set_new(card, "net",
                                  json_string(run->setup->net.text));
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        json_t *const value = json_object_get(said, taken[i]);

        if (value != NULL)
            (void)json_object_set(card, taken[i], value);
    }
    json_decref(said);
    return card;
}

/* A link may lead to another model's card, a pipe nowhere.  ERR_NOTFOUND:
 * there is nothing of that name; ERR_FORMAT: no card. */
static enum err load(const char *path, json_t **card, struct why *why)
{
    uint8_t *bytes;
    size_t size;
    const enum err err = file_read_plain(path, CARD_MAX, &bytes, &size, why);

    *card = NULL;
    if (err != ERR_OK)
        return err;
    *card = json_loadb((const char *)bytes, size, JSON_REJECT_DUPLICATES, NULL);
    mem_free(bytes);
    if (json_integer_value(json_object_get(*card, "model_card")) == FORM)
        return ERR_OK;
    json_decref(*card);
    *card = NULL;
    return why_set(why, ERR_FORMAT, "%.200s is there and is no card", path);
}

/* Something of that name that is no card stays. */
static enum err check_free(const char *path, struct why *why)
{
    json_t *there;
    const enum err err = load(path, &there, why);

    json_decref(there);
    return err == ERR_NOTFOUND ? ERR_OK : err;
}

/* Who may read the model may read the card, and nobody else. */
static enum err save(const char *path, const char *model, const json_t *card,
                     struct why *why)
{
    const size_t size = json_dumpb(card, NULL, 0, JSON_INDENT(2));
    char *const text = size == 0 ? NULL : mem_new(size + 1, 1);
    enum err err = check_free(path, why);

    if (text == NULL || json_dumpb(card, text, size, JSON_INDENT(2)) != size)
        err = why_set(why, ERR_NOMEM, "out of memory");
    else if (err == ERR_OK) {
        text[size] = '\n';
        err = output_put_like(path, model, text, size + 1, why);
    }
    mem_free(text);
    return err;
}

void model_card_write(const struct run *run, const struct train_result *result,
                      const char *model)
{
    char path[FILE_PATH_SIZE];
    struct why why = {0};
    json_t *card;

    if (output_is_stdout(model) || !output_is_file(model) ||
        !name_of(model, path))
        return;
    card = make(run, result, model);
    if (save(path, model, card, &why) != ERR_OK)
        (void)fprintf(stderr, "muster: no model card was written: %s\n",
                      why.text);
    json_decref(card);
}

/* --- reading ------------------------------------------------------------- */

json_t *model_card_read(const char *model)
{
    char path[FILE_PATH_SIZE];
    json_t *card, *sum;
    bool same;

    if (!name_of(model, path) || load(path, &card, NULL) != ERR_OK)
        return NULL;
    sum = file_sum(model);
    same = json_equal(sum, json_object_get(card, "sha256")) != 0;
    json_decref(sum);
    if (same)
        return card;
    json_decref(card);
    return NULL;
}

/* "name value, name value" of an object's numbers and texts. */
static void list(json_t *object, const char *between, char *text, size_t size)
{
    size_t used = 0;
    const char *name;
    json_t *value;

    text[0] = '\0';
    json_object_foreach(object, name, value)
    {
        char number[32] = "";

        if (json_is_number(value))
            (void)snprintf(number, sizeof number, "%.6g",
                           json_number_value(value));
        else if (!json_is_string(value))
            continue;
        if (used < size)
            used += (size_t)snprintf(
                text + used, size - used, "%s%s %s", used > 0 ? between : "",
                name, number[0] != '\0' ? number : json_string_value(value));
    }
}

/* A card may be anybody's: no control character of it is shown. */
static void show_list(const char *title, json_t *object)
{
    char text[WHY_SIZE], shown[WHY_SIZE];

    list(object, ", ", text, sizeof text);
    (void)plain_copy(shown, sizeof shown, text, strlen(text));
    if (shown[0] != '\0')
        (void)printf("%-10s %s\n", title, shown);
}

void model_card_show(json_t *card)
{
    static const struct {
        const char *title, *key;
    } lines[] = {
        {"data", "data"},           {"options", "options"},
        {"exactness", "exactness"}, {"workers", "workers"},
        {"test", "test_metrics"},   {"valid", "valid_metrics"},
        {"train", "train_metrics"},
    };
    json_t *const run =
        json_pack("{s:o*, s:o*, s:o*, s:o*, s:o*, s:o*}", "net",
                  json_incref(json_object_get(card, "net")), "muster",
                  json_incref(json_object_get(card, "muster")), "code",
                  json_incref(json_object_get(card, "code")), "steps",
                  json_incref(json_object_get(card, "steps")), "objective",
                  json_incref(json_object_get(card, "objective")), "end",
                  json_incref(json_object_get(card, "end")));

    show_list("trained", run);
    json_decref(run);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        show_list(lines[i].title, json_object_get(card, lines[i].key));
}

/*
 * model_card.c - a model card, made, put beside its model and found again.
 */
#include "learn/card/model_card.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/version.h"
#include "learn/card/json.h"
#include "learn/card/text.h"
#include "node/host/answer.h"
#include "os/file/file.h"
#include "os/file/output.h"

#define CARD_MAX (UINT64_C(16) << 20)
#define FORM     1 /* Of the card; only a card has it. */

/* --- what it says -------------------------------------------------------- */

struct model_card_metrics model_card_measure(const struct setup *setup,
                                             const struct train_result *result,
                                             bool rows)
{
    const double *const w = result->weights;
    struct model_card_metrics made = {
        .rows = rows,
        .train = metrics_none(),
        .valid = setup->has_valid ? setup_measure(setup, &setup->valid, w)
                                  : metrics_none(),
        .test = setup->has_test ? setup_measure(setup, &setup->test, w)
                                : metrics_none(),
    };

    if (rows)
        made.train = result->measured ? result->metrics
                                      : setup_measure(setup, &setup->data, w);
    return made;
}

/* Why there is none; NULL: there is. */
static json_t *not_hashed(const struct setup *setup, bool hashed)
{
    if (setup->hollow)
        return json_string("the rows are with their owners");
    return hashed ? NULL
                  : json_string("it would take long beside the training of a "
                                "linear model on so many rows in one process");
}

static json_t *data_hash(const struct setup *setup, bool hashed)
{
    return hashed && !setup->hollow ? hash_json(&setup->data.digest)
                                    : json_null();
}

static json_t *config_hash(const struct setup *setup, bool hashed)
{
    struct digest config;

    if (!hashed)
        return json_null();
    config = config_digest(setup);
    return hash_json(&config);
}

static json_t *data_json(const struct setup *setup, const struct recipe *recipe,
                         bool hashed)
{
    const struct dataset *const data = &setup->data;
    const char *const source =
        setup->terms.rows != NULL ? NULL : recipe_text(recipe, OPT_DATA);

    json_t *const classes =
        model_ops(setup->model)->regression
            ? NULL /* Labels are numbers, however many differ. */
            : json_integer((json_int_t)data->classes);

    return json_pack("{s:o, s:o, s:o*, s:I, s:I, s:o*}", "source",
                     name_json(source), "hash", data_hash(setup, hashed),
                     "not_hashed", not_hashed(setup, hashed), "rows",
                     (json_int_t)data->rows, "columns",
                     (json_int_t)data->cols - (setup->intercept ? 1 : 0),
                     "classes", classes);
}

/* What was chosen, by anybody but the defaults.  That the run was gone on with
 * is no choice of the model's. */
static json_t *options_json(const struct recipe *recipe)
{
    json_t *const options = json_object();

    for (int id = 0; id < RECIPE_OPTIONS; id++)
        if (recipe_given(recipe, id) && id != OPT_RESUME)
            (void)json_object_set_new(
                options, recipe_row(id)->name,
                setting_json(recipe_row(id), &recipe->setting[id]));
    return options;
}

/* The file's name and sum have their places. */
static json_t *begin(enum model_kind kind)
{
    return json_pack("{s:i, s:n, s:n, s:s, s:s}", "model_card", FORM, "model",
                     "sha256", "kind", model_ops(kind)->name, "muster",
                     version_text);
}

/* What the same training would say again. */
static json_t *outcome_json(const struct setup *setup,
                            const struct recipe *recipe,
                            const struct train_result *result)
{
    const struct coordinator_stats *const stats = &result->stats;
    const struct optim_outcome *const outcome = &result->outcome;

    return json_pack(
        "{s:o, s:s, s:I, s:o, s:o, s:o, s:o, s:s, s:b, s:o}", "hash",
        hash_json(&result->hash), "code", setup_code_name(setup), "steps",
        (json_int_t)result->steps, "exactness", exactness_json(stats),
        "worst_residual", json_number(stats->worst_residual), "workers",
        workers_json(stats, recipe_given(recipe, OPT_RESUME)), "objective",
        json_number(outcome->objective * setup->shown_factor), "end",
        optim_end_name(outcome->end), "converged",
        outcome->end == OPTIM_CONVERGED, "gradient_norm",
        json_number(outcome->gradient_norm));
}

/* Takes the value.  One failure is kept, whatever comes after it. */
static void add(json_t **card, const char *name, json_t *value)
{
    if (json_object_set_new(*card, name, value) == 0)
        return;
    json_decref(*card);
    *card = NULL;
}

json_t *model_card_new(struct setup *setup, const struct recipe *recipe,
                       const struct train_result *result,
                       const struct model_card_metrics *metrics)
{
    json_t *card = begin(setup->model);
    json_t *outcome = outcome_json(setup, recipe, result);

    if (metrics->rows)
        setup_know(setup, &setup->data); /* Once for both. */
    add(&card, "data", data_json(setup, recipe, metrics->rows));
    add(&card, "config_hash", config_hash(setup, metrics->rows));
    add(&card, "options", options_json(recipe));
    if (setup->net.text != NULL)
        add(&card, "net", json_string(setup->net.text));
    if (outcome == NULL || json_object_update(card, outcome) != 0)
        add(&card, "hash", NULL);
    json_decref(outcome);
    if (setup->has_test)
        add(&card, "test_metrics", metrics_object(&metrics->test));
    if (setup->has_valid)
        add(&card, "valid_metrics", metrics_object(&metrics->valid));
    add(&card, "train_metrics", metrics_object(&metrics->train));
    return card;
}

json_t *model_card_of_parts(enum model_kind kind, json_t *parts)
{
    json_t *card = begin(kind);

    add(&card, "parts", parts);
    return card;
}

json_t *model_card_for(json_t *card, const char *model,
                       const struct digest *sum)
{
    const char *const slash = model == NULL ? NULL : strrchr(model, '/');
    json_t *made = json_copy(card);

    add(&made, "model", name_json(slash == NULL ? model : slash + 1));
    add(&made, "sha256", hash_json(sum));
    return made;
}

bool model_card_is(const json_t *card, const struct digest *sum)
{
    char hex[DIGEST_TEXT];
    const char *const said = json_string_value(json_object_get(card, "sha256"));

    return json_integer_value(json_object_get(card, "model_card")) == FORM &&
           said != NULL && strcmp(said, digest_text(sum, hex)) == 0;
}

/* --- its files ----------------------------------------------------------- */

/* What a file of a card is called, what is in it, and, if it is one, the sum
 * that it tells. */
struct form {
    const char *ending;
    char *(*make)(json_t *card);
    bool (*sum)(const char *text, size_t size, char sum[DIGEST_TEXT]);
};

static json_t *parse(const char *text, size_t size)
{
    json_t *const card = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);

    if (json_integer_value(json_object_get(card, "model_card")) == FORM)
        return card;
    json_decref(card);
    return NULL;
}

static char *make_json(json_t *card)
{
    const size_t size = json_dumpb(card, NULL, 0, JSON_INDENT(2));
    char *const text = size == 0 ? NULL : mem_new(size + 2, 1);

    if (text == NULL || json_dumpb(card, text, size, JSON_INDENT(2)) != size) {
        mem_free(text);
        return NULL;
    }
    text[size] = '\n';
    return text;
}

static bool json_sum(const char *text, size_t size, char sum[DIGEST_TEXT])
{
    json_t *const card = parse(text, size);
    const char *const said = json_string_value(json_object_get(card, "sha256"));

    (void)snprintf(sum, DIGEST_TEXT, "%s", said == NULL ? "" : said);
    json_decref(card);
    return card != NULL;
}

static char *make_text(json_t *card)
{
    return card_text(card, true);
}

static const struct form forms[] = {
    {".card.json", make_json, json_sum},
    {".card.txt", make_text, card_text_sum},
};

/* Whole or not at all: a part of it would be another file's. */
static bool name_of(const char *model, const struct form *form,
                    char path[FILE_PATH_SIZE])
{
    return snprintf(path, FILE_PATH_SIZE, "%s%s", model, form->ending) <
           (int)FILE_PATH_SIZE;
}

/* A link may lead to another model's card, a pipe nowhere.  ERR_NOTFOUND:
 * there is nothing of that name; ERR_FORMAT: no card. */
static enum err load_sum(const char *path, const struct form *form,
                         char sum[DIGEST_TEXT], struct why *why)
{
    uint8_t *bytes;
    size_t size;
    enum err err = file_read_plain(path, CARD_MAX, &bytes, &size, why);

    if (err != ERR_OK)
        return err;
    if (!form->sum((const char *)bytes, size, sum))
        err = why_set(why, ERR_FORMAT, "%.200s is there and is no card", path);
    mem_free(bytes);
    return err;
}

/* Who may read the model may read the card, and nobody else. */
static enum err put(const char *path, const char *model, const char *text,
                    struct why *why)
{
    const size_t size = text == NULL ? 0 : strlen(text);

    if (text == NULL)
        return why_set(why, ERR_NOMEM, "out of memory");
    if (size >= CARD_MAX)
        return why_set(why, ERR_TOOBIG,
                       "%.200s would be larger than %u MiB, and not be read",
                       path, (unsigned)(CARD_MAX >> 20));
    return output_put_like(path, model, text, size, why);
}

/* The old one is another file's by now, unless the same was written again. */
static enum err replace(const struct form *form, json_t *card,
                        const char *model, const struct digest *sum,
                        struct why *why)
{
    char path[FILE_PATH_SIZE], hex[DIGEST_TEXT], there[DIGEST_TEXT];
    enum err err;
    bool stale;

    if (!name_of(model, form, path))
        return ERR_OK;
    err = load_sum(path, form, there, why);
    stale = err == ERR_OK && strcmp(there, digest_text(sum, hex)) != 0;
    if (err == ERR_NOTFOUND || card == NULL)
        err = ERR_OK; /* Nothing is in the way. */
    if (err == ERR_OK && card != NULL) {
        char *const text = form->make(card);

        err = put(path, model, text, why);
        mem_free(text);
        stale = stale && err != ERR_OK;
    }
    if (stale)
        file_remove(path);
    return err;
}

enum err model_card_save(json_t *card, const char *model,
                         const struct digest *sum, struct why *why)
{
    enum err first = ERR_OK;
    json_t *made;

    if (output_is_stdout(model) || !output_is_file(model))
        return ERR_OK;
    made = card == NULL ? NULL : model_card_for(card, model, sum);
    if (card != NULL && made == NULL)
        first = why_set(why, ERR_NOMEM, "out of memory");
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct why sentence = {{0}};
        const enum err err = replace(&forms[i], made, model, sum, &sentence);

        if (first == ERR_OK && err != ERR_OK)
            first = why_set(why, err, "%s", sentence.text);
    }
    json_decref(made);
    return first;
}

json_t *model_card_read(const char *model, bool *other)
{
    char path[FILE_PATH_SIZE];
    struct digest sum;
    uint8_t *bytes;
    size_t size;
    json_t *card;

    *other = false;
    if (!name_of(model, &forms[0], path) ||
        file_read_plain(path, CARD_MAX, &bytes, &size, NULL) != ERR_OK)
        return NULL;
    card = parse((const char *)bytes, size);
    mem_free(bytes);
    if (card == NULL)
        return NULL;
    if (file_read(model, UINT64_C(1) << 32, &bytes, &size, NULL) == ERR_OK) {
        sum = hash_bytes(bytes, size);
        mem_free(bytes);
        if (model_card_is(card, &sum))
            return card;
        *other = true;
    }
    json_decref(card);
    return NULL;
}

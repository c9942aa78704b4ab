/*
 * load.c - rows to train on, to watch and to measure on, from files or from
 * the calling program.
 */
#include "learn/load.h"

#include <string.h>

#include "base/mem.h"
#include "data/source.h"
#include "learn/family/family.h"
#include "learn/family/inputs.h"
#include "learn/family/start.h"
#include "learn/recipe/input.h"
#include "learn/rows.h"
#include "os/run/threads.h"

/* What sentences call the training rows. */
const char *load_name(const struct setup *setup, const struct recipe *recipe)
{
    if (setup->hollow)
        return "--owners";
    return setup->terms.rows != NULL ? "the rows"
                                     : recipe_text(recipe, OPT_DATA);
}

/* Read with all threads; the pool is of no use afterwards. */
static enum err load(const struct setup *setup, struct source_options *source,
                     struct dataset *data, struct dataset *test, bool *has_test,
                     struct why *why)
{
    enum err err = setup_threads(setup, &source->pool, why);

    if (err != ERR_OK)
        return err;
    err = source_load(source, data, test, has_test, why);
    threads_free(source->pool);
    return err;
}

/* Will rows of the training table be held out? */
static bool holds_out(const struct recipe *recipe)
{
    double part;

    return recipe_given(recipe, OPT_FOLDS) || recipe_given(recipe, OPT_GRID) ||
           rows_is_part(recipe_text(recipe, OPT_VALID), &part);
}

enum err setup_encode(const struct setup *setup, const struct recipe *recipe,
                      const bool *without, struct encoder *encoder,
                      struct dataset *data, struct why *why)
{
    struct source_options source = input_options(recipe);
    struct encoder own = {0};
    enum err err;

    source.chunk_rows = setup->data.chunk_rows;
    if (setup->data.storage == STORAGE_F64)
        source.storage = storage_name(STORAGE_F64);
    source.intercept = setup->intercept;
    source.regression = model_ops(setup->model)->regression;
    source.classes = model_ops(setup->model)->classes;
    if (setup->data.classes >= 2 && !source.regression) {
        source.labels = setup->data.label;
        source.label_count = setup->data.classes;
    }
    err = source_encode(&source, &setup->frame, without,
                        encoder != NULL ? encoder : &own, data, why);
    encoder_close(&own);
    return err;
}

/* The rows of --valid PART go; what is fitted must not have seen them. */
static enum err hold_out(struct setup *setup, const struct recipe *recipe,
                         double part, uint32_t *order, bool *without,
                         struct why *why)
{
    const bool classes = !model_ops(setup->model)->regression;
    struct encoder encoder = {0};
    struct dataset again = {0};
    uint32_t held = 0;
    enum err err = rows_hold_out(&setup->data, classes, part,
                                 recipe_count(recipe, OPT_SEED), order, &held);

    if (err != ERR_OK)
        return why_set(why, err, "--valid: out of memory");
    if (held == setup->data.rows)
        return why_set(why, ERR_SHAPE,
                       "--valid %.16g of %u rows leaves none to train on", part,
                       setup->data.rows);
    for (uint32_t i = 0; i < held; i++)
        without[order[i]] = true;
    if (setup->frame.rows > 0) {
        err = setup_encode(setup, recipe, without, &encoder, &again, why);
        if (err != ERR_OK) {
            encoder_close(&encoder);
            return err;
        }
        encoder_close(&setup->encoder);
        dataset_close(&setup->data);
        setup->encoder = encoder;
        setup->data = again;
    }
    return rows_split(&setup->data, order, held, &setup->valid, why);
}

static enum err split_valid(struct setup *setup, const struct recipe *recipe,
                            double part, struct why *why)
{
    uint32_t *order = mem_new(setup->data.rows, sizeof *order);
    bool *without = mem_new(setup->data.rows, sizeof *without);
    enum err err = order == NULL || without == NULL
                       ? why_set(why, ERR_NOMEM, "--valid: out of memory")
                       : hold_out(setup, recipe, part, order, without, why);

    setup->valid.known_scale = err == ERR_OK;
    mem_free(order);
    mem_free(without);
    return err;
}

enum err load_train(struct setup *setup, const struct recipe *recipe,
                    struct why *why)
{
    const struct model_ops *const model =
        model_named(recipe_text(recipe, OPT_MODEL));
    struct source_options source = input_options(recipe);
    enum err err;

    source.spec = load_name(setup, recipe);
    source.memory = setup->terms.rows;
    if (recipe_text(recipe, OPT_CHUNK_ROWS) != NULL)
        source.chunk_rows = (uint32_t)recipe_count(recipe, OPT_CHUNK_ROWS);
    source.intercept = setup->intercept;
    source.regression = model != NULL && model->regression;
    source.classes = model != NULL && model->classes;
    source.numbered = setup_family(setup)->numbered;
    source.encoder = &setup->encoder;
    source.note = setup->terms.note;
    source.note_context = setup->terms.context;
    source.keep =
        holds_out(recipe) && setup->init == NULL ? &setup->frame : NULL;
    if (setup->init != NULL)
        start_read(setup, &source);
    err =
        load(setup, &source, &setup->data, &setup->test, &setup->has_test, why);
    setup->loaded = err == ERR_OK;
    if (err == ERR_OK && model != NULL && model->regression &&
        setup->encoder.classes.categories > 0)
        return setup_blame_label(
            setup, recipe,
            why_set(why, ERR_SHAPE,
                    "%.200s: the labels are words, and --model %s fits "
                    "numbers; leave out --model to tell classes apart",
                    source.spec, model->name),
            why);
    return err;
}

/* Rows with the columns and labels of the training data. */
static enum err load_like(struct setup *setup, const struct recipe *recipe,
                          int id, struct dataset *data, struct why *why)
{
    struct source_options source = input_options(recipe);
    enum err err;

    source.spec = recipe_text(recipe, id);
    source.memory = id == OPT_TEST ? setup->terms.test : NULL;
    source.labels_file =
        id == OPT_TEST ? recipe_text(recipe, OPT_TEST_LABELS) : NULL;
    source.cols_min = setup->data.cols;
    source.cols_max = setup->data.cols;
    source.intercept = setup->intercept;
    source.regression = model_ops(setup->model)->regression;
    source.classes = model_ops(setup->model)->classes;
    source.labels = source.regression ? NULL : setup->data.label;
    source.like = &setup->data;
    if (setup_family(setup) == &net_family)
        source.taken = setup->data.image;
    source.storage = NULL; /* As in the training data. */
    source.weight = NULL;  /* Metrics count every row once. */
    source.encoder = &setup->encoder;
    if (setup->encoder.kind == ENCODER_TABLE)
        source.label = NULL; /* Where the training table had it. */
    source.note = setup->terms.note;
    source.note_context = setup->terms.context;
    err = load(setup, &source, data, NULL, NULL, why);
    return err == ERR_OK ? err : why_in(why, err, "--%s", recipe_row(id)->name);
}

enum err load_test(struct setup *setup, const struct recipe *recipe,
                   struct why *why)
{
    enum err err;

    if (recipe_text(recipe, OPT_TEST) == NULL && setup->terms.test == NULL)
        return ERR_OK;
    if (setup->has_test)
        dataset_close(&setup->test);
    setup->has_test = false;
    err = load_like(setup, recipe, OPT_TEST, &setup->test, why);
    setup->has_test = err == ERR_OK;
    return err;
}

/* Folds and grids hold rows out by themselves. */
enum err load_valid(struct setup *setup, const struct recipe *recipe,
                    struct why *why)
{
    const char *spec = recipe_text(recipe, OPT_VALID);
    double part;
    enum err err;

    if (spec == NULL)
        return ERR_OK;
    if (!rows_is_part(spec, &part))
        err = load_like(setup, recipe, OPT_VALID, &setup->valid, why);
    else if (recipe_given(recipe, OPT_GRID))
        return ERR_OK;
    else
        err = split_valid(setup, recipe, part, why);
    setup->has_valid = err == ERR_OK;
    return err;
}

/* As far as they are there. */
static enum err check_set(const struct setup *setup, struct dataset *data,
                          bool there, const char *name, struct why *why)
{
    const enum err err =
        there ? inputs_check(setup_net(setup), setup->encoder.byte, data, why)
              : ERR_OK;

    return err == ERR_OK ? err : why_in(why, err, "--%s", name);
}

enum err load_check(struct setup *setup, struct why *why)
{
    enum err err = ERR_OK;

    if (setup_net(setup) == NULL)
        return ERR_OK;
    err = check_set(setup, &setup->valid, setup->has_valid, "valid", why);
    return err == ERR_OK
               ? check_set(setup, &setup->test, setup->has_test, "test", why)
               : err;
}

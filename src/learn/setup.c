/*
 * setup.c - checks in the order of their cost.
 */
#include "learn/setup.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "code/preset.h"
#include "data/source.h"
#include "learn/coded_data.h"
#include "learn/habit.h"
#include "learn/input.h"
#include "learn/numbers.h"
#include "learn/private.h"
#include "learn/rows.h"
#include "learn/trust.h"
#include "math/golden/golden.h"
#include "math/kernel/softmax.h"
#include "os/file/file.h"
#include "os/run/threads.h"

#define NOTE_SIZE         1024u
#define PLAIN_NAME        "plain"
#define SIMULATED_WORKERS 8u
#define SPARE_SEATS       64u /* For joiners, when --workers does not say. */

/* Values that were worked out, for whoever asks what was chosen. */
static enum err record_real(struct recipe *recipe, int id, double value,
                            struct why *why)
{
    char text[32];

    (void)snprintf(text, sizeof text, "%.17g", value);
    return recipe_put(recipe, id, text, ORIGIN_DEFAULT, why);
}

static enum err record_count(struct recipe *recipe, int id, uint32_t value,
                             struct why *why)
{
    char text[16];

    (void)snprintf(text, sizeof text, "%u", value);
    return recipe_put(recipe, id, text, ORIGIN_DEFAULT, why);
}

/* Options that mean nothing without workers. */
static const int needs_workers[] = {
    OPT_CODE,     OPT_STRAGGLERS, OPT_COLLECT,     OPT_STOP,    OPT_DECODE,
    OPT_PARTS,    OPT_PIECES,     OPT_REPLICAS,    OPT_LOCAL,   OPT_SPEEDS,
    OPT_ESTIMATE, OPT_DELAY,      OPT_CHAOS,       OPT_RESPAWN, OPT_STALENESS,
    OPT_VERIFY,   OPT_AUDIT,      OPT_DATA_SHARED, OPT_SHIP,
};

static enum err refuse_without_workers(const struct recipe *recipe,
                                       struct why *why)
{
    const size_t count = sizeof needs_workers / sizeof *needs_workers;

    for (size_t i = 0; i < count; i++)
        if (recipe_given(recipe, needs_workers[i]))
            return why_set(why, ERR_SHAPE,
                           "--%s needs workers; add -n N, the number of them",
                           recipe_row(needs_workers[i])->name);
    return ERR_OK;
}

static bool keeps_state(const struct recipe *recipe)
{
    return recipe_given(recipe, OPT_OUT) || recipe_given(recipe, OPT_RESUME) ||
           recipe_flag(recipe, OPT_SYNC) ||
           recipe_given(recipe, OPT_PREEMPT_NOTICE) ||
           recipe_given(recipe, OPT_MAX_TIME);
}

static void count_workers(struct setup *setup, const struct recipe *recipe)
{
    const struct setting *span = &recipe->setting[OPT_WORKERS];
    const bool listens = recipe_given(recipe, OPT_LISTEN);

    setup->local = (uint32_t)recipe_count(recipe, OPT_N);
    setup->slots = span->text != NULL ? (uint32_t)span->low : setup->local;
    if (private_wanted(recipe))
        setup->slots = private_files(recipe);
    /* A run that is kept has a coordinator, and so at least one worker. */
    if (setup->slots == 0 &&
        (listens || (keeps_state(recipe) && !setup->terms.alone))) {
        setup->slots = 1;
        setup->local = listens ? 0 : 1;
    }
    if (span->text != NULL && !recipe_given(recipe, OPT_N) && !listens)
        setup->local = setup->slots;
    if (setup->slots == 0 && setup->terms.simulated)
        setup->slots = SIMULATED_WORKERS;
    setup->workers_max = span->text != NULL && span->high > span->low
                             ? (uint32_t)span->high
                             : setup->slots + SPARE_SEATS;
    if (setup->workers_max < setup->local)
        setup->workers_max = setup->local;
}

void setup_note(const struct setup *setup, const char *format, ...)
{
    char text[NOTE_SIZE];
    va_list list;

    if (setup->terms.note == NULL)
        return;
    va_start(list, format);
    (void)vsnprintf(text, sizeof text, format, list);
    va_end(list);
    setup->terms.note(setup->terms.context, text);
}

const char *setup_code_name(const struct setup *setup)
{
    return setup->adapt ? AUTO_NAME : setup->code.name;
}

/* Late answers are those of `ignore`: --staleness alone asks for it. */
static const char *default_code(const struct recipe *recipe)
{
    return recipe_given(recipe, OPT_STALENESS) ? "ignore" : DEFAULT_CODE;
}

static enum exactness wanted_class(const struct recipe *recipe)
{
    const char *wanted = recipe_text(recipe, OPT_EXACT);

    for (int i = EXACT_BITWISE; wanted != NULL && i < EXACT_APPROX; i++)
        if (strcmp(wanted, exactness_name((enum exactness)i)) == 0)
            return (enum exactness)i;
    return EXACT_APPROX;
}

/* --code auto begins as the default does, and stays bitwise unless told. */
static const char *choose_auto(struct setup *setup, const struct recipe *recipe)
{
    setup->adapt = true;
    setup->worst =
        recipe_given(recipe, OPT_EXACT) ? wanted_class(recipe) : EXACT_BITWISE;
    return DEFAULT_CODE;
}

/* Workers that the code is chosen for.  Of a run that others may join the one
 * it begins with is only the first: the default is theirs, and the coordinator
 * fits it to those who are there. */
static uint32_t planned(const struct setup *setup, const struct recipe *recipe)
{
    const bool joined = recipe_given(recipe, OPT_LISTEN) &&
                        recipe_text(recipe, OPT_CODE) == NULL;
    const uint32_t least = joined ? 2 : 1;

    return setup->slots < least ? least : setup->slots;
}

/* One worker needs no code; the receipts call that plain. */
static enum err choose_code(struct setup *setup, const struct recipe *recipe,
                            struct why *why)
{
    const char *name = recipe_text(recipe, OPT_CODE);
    const bool plain = planned(setup, recipe) == 1 && name == NULL &&
                       !recipe_given(recipe, OPT_STALENESS);
    const uint64_t stragglers = recipe_count(recipe, OPT_STRAGGLERS);
    struct preset_options preset;
    enum err err;

    if (plain && recipe_given(recipe, OPT_STRAGGLERS) && stragglers > 0)
        return why_set(why, ERR_SHAPE,
                       "--stragglers %llu needs at least %llu workers; there "
                       "is one",
                       (unsigned long long)stragglers,
                       (unsigned long long)stragglers + 1);
    if (plain || name == NULL)
        name = plain ? "uncoded" : default_code(recipe);
    if (strcmp(name, AUTO_NAME) == 0)
        name = choose_auto(setup, recipe);
    err = code_inputs_load(&setup->inputs, recipe, name, why);
    if (err != ERR_OK)
        return err;
    preset = code_options(recipe, name, planned(setup, recipe), &setup->inputs);
    if (plain)
        preset.stragglers = 0;
    err = preset_spec(&preset, &setup->code, why);
    if (err == ERR_OK && plain)
        (void)snprintf(setup->code.name, sizeof setup->code.name, "%s",
                       PLAIN_NAME);
    return err == ERR_UNKNOWN ? why_in(why, err, "--code") : err;
}

/* Which jobs take no relays: core/star/leaves.c. */
static enum err check_fanout(const struct setup *setup,
                             const struct recipe *recipe, struct why *why)
{
    if (!recipe_given(recipe, OPT_FANOUT) || !code_spec_products(&setup->code))
        return ERR_OK;
    return why_set(why, ERR_SHAPE,
                   "--fanout does not go with --code mds: relays keep vectors "
                   "as long as the model, not as the rows; leave one of them "
                   "out");
}

/* Line searches and curvature pairs: two sums must be over the same rows. */
static bool searches(const struct recipe *recipe)
{
    const char *name = recipe_text(recipe, OPT_OPTIM);

    return name != NULL &&
           (strcmp(name, "lbfgs") == 0 || strcmp(name, "newton") == 0);
}

/* A numeric code that does not keep its promise is approximate; who asked for
 * more is told what would. */
static enum err check_certificate(const struct setup *setup,
                                  const struct recipe *recipe,
                                  const struct code *code, struct why *why)
{
    const double worst = code->certificate.worst_residual;

    if (code->carrier == CARRIER_TALLY || worst <= CODE_RESIDUAL_MAX ||
        code_spec_estimates(&code->spec) ||
        wanted_class(recipe) == EXACT_APPROX)
        return ERR_OK;
    return why_set(why, ERR_SHAPE,
                   "code %s with %u workers and %u stragglers restores the "
                   "gradient only to %.1e where --exact %s wants %.0e; use "
                   "`rep`, which is exact",
                   setup->code.name, code->slots, code->spec.stragglers, worst,
                   recipe_text(recipe, OPT_EXACT), CODE_RESIDUAL_MAX);
}

/* Build once for real: the only honest answer to whether it fits. */
static enum err try_code(struct setup *setup, const struct recipe *recipe,
                         uint32_t chunks, struct why *why)
{
    struct code code = {0};
    enum err err;

    if (setup->slots == 0) {
        setup->exactness = EXACT_BITWISE;
        return ERR_OK;
    }
    err = code_build(&code, &setup->code, planned(setup, recipe), chunks, why);
    setup->exactness = code.exactness;
    if (setup->adapt && setup->worst == EXACT_APPROX)
        setup->exactness = EXACT_APPROX;
    setup->certificate = code.certificate;
    if (err == ERR_OK)
        err = check_certificate(setup, recipe, &code, why);
    code_close(&code);
    if (err != ERR_OK)
        return err;
    if (setup->exactness > wanted_class(recipe))
        return why_set(
            why, ERR_SHAPE,
            "code %s gives %s steps, which --exact %s refuses; `muster codes` "
            "lists the class of each",
            setup->code.name, exactness_name(setup->exactness),
            recipe_text(recipe, OPT_EXACT));
    if (setup->exactness == EXACT_APPROX && searches(recipe))
        return why_set(
            why, ERR_SHAPE,
            "--optim %s compares sums over all rows, and code %s leaves some "
            "out; take an exact code (steal, frc, rep, uncoded) or --optim agd",
            recipe_text(recipe, OPT_OPTIM), setup->code.name);
    return ERR_OK;
}

static enum err choose_machine(struct setup *setup, struct recipe *recipe,
                               struct why *why)
{
    const uint32_t each = setup->local == 0 ? 1 : setup->local;
    uint32_t threads = threads_available() / each;
    enum err err = isa_choose(recipe_text(recipe, OPT_ISA), why);

    if (err != ERR_OK)
        return err;
    setup->isa = isa_best();
    if (threads == 0)
        threads = 1;
    if (recipe_text(recipe, OPT_THREADS) == NULL) {
        setup->threads = threads;
        return record_count(recipe, OPT_THREADS, threads, why);
    }
    setup->threads = (uint32_t)recipe_count(recipe, OPT_THREADS);
    return ERR_OK;
}

static bool is_local(const struct recipe *recipe)
{
    const char *code = recipe_text(recipe, OPT_CODE);

    return code != NULL && strcmp(code, "local") == 0;
}

/* Own steps are those of gd or sgd; nobody sees the gradient of the whole. */
static enum err take_local(struct setup *setup, struct recipe *recipe,
                           struct why *why)
{
    static const int useless[] = {OPT_TOL, OPT_GAP, OPT_EPS};
    const char *optim = recipe_text(recipe, OPT_OPTIM);
    const bool local = is_local(recipe);
    enum err err = code_every(recipe, &setup->every, why);

    if (err != ERR_OK || (!local && setup->every == 0))
        return err;
    if (!local && !setup->terms.compares)
        return why_set(why, ERR_SHAPE, "--local goes with --code local");
    if (setup->every == 0)
        return why_set(why, ERR_SHAPE,
                       "--code local needs --local H, the steps between two "
                       "averages, or --local once");
    if (!recipe_given(recipe, OPT_OPTIM))
        return recipe_put(recipe, OPT_OPTIM, "gd", ORIGIN_DEFAULT, why);
    if (strcmp(optim, "gd") != 0 && strcmp(optim, "sgd") != 0)
        return why_set(why, ERR_SHAPE,
                       "code local averages the weights of gd or sgd; --optim "
                       "%s keeps more than weights",
                       optim);
    for (size_t i = 0; i < sizeof useless / sizeof *useless; i++)
        if (setup->every > 1 && recipe_given(recipe, useless[i]))
            return why_set(why, ERR_SHAPE,
                           "--%s means nothing to code local: no worker sees "
                           "the gradient of all rows",
                           recipe_row(useless[i])->name);
    return ERR_OK;
}

/* One row after the other: one pass unless said otherwise, no workers, and a
 * rate of its own. */
static enum err take_sgd(const struct setup *setup, struct recipe *recipe,
                         struct why *why)
{
    static const int useless[] = {OPT_SCHEDULE, OPT_DECAY, OPT_TOL, OPT_GAP,
                                  OPT_EPS};

    if (!recipe_given(recipe, OPT_OPTIM) ||
        strcmp(recipe_text(recipe, OPT_OPTIM), "sgd") != 0)
        return ERR_OK;
    if (setup->slots > 0 && !is_local(recipe))
        return why_set(
            why, ERR_SHAPE,
            "--optim sgd goes from row to row, each step needing the one "
            "before, so there is nothing to share among workers; leave out -n, "
            "--listen and --out, average what each makes of its own rows "
            "(--code local --local once), or take --optim lbfgs, newton or "
            "agd");
    for (size_t i = 0; i < sizeof useless / sizeof *useless; i++)
        if (recipe_given(recipe, useless[i]))
            return why_set(why, ERR_SHAPE,
                           "--%s means nothing to --optim sgd: its rate is "
                           "RATE / (1 + rows seen), and it ends after --steps "
                           "passes over the rows",
                           recipe_row(useless[i])->name);
    return recipe_put(recipe, OPT_STEPS, "1", ORIGIN_DEFAULT, why);
}

static enum err refuse_shared_blocks(const struct setup *setup,
                                     const struct recipe *recipe,
                                     struct why *why)
{
    if (!code_spec_products(&setup->code) ||
        recipe_text(recipe, OPT_DATA_SHARED) == NULL)
        return ERR_OK;
    return why_set(why, ERR_SHAPE,
                   "code %s sends each worker its block of coded data, and "
                   "--data-shared has only rows; leave it out, or take steal "
                   "or cb",
                   setup->code.name);
}

enum err setup_workers(struct setup *setup, struct recipe *recipe,
                       struct why *why)
{
    const char *delay = recipe_text(recipe, OPT_DELAY);
    const char *chaos = recipe_text(recipe, OPT_CHAOS);
    enum err err;

    *setup = (struct setup){.terms = setup->terms};
    err = habit_settings(recipe, why);
    if (err != ERR_OK)
        return err;
    count_workers(setup, recipe);
    if (setup->slots == 0)
        err = refuse_without_workers(recipe, why);
    if (err == ERR_OK)
        err = take_local(setup, recipe, why);
    if (err == ERR_OK)
        err = take_sgd(setup, recipe, why);
    if (err == ERR_OK)
        err = choose_code(setup, recipe, why);
    if (err == ERR_OK && private_wanted(recipe))
        err = private_choose(setup, recipe, why);
    if (err == ERR_OK)
        err = refuse_shared_blocks(setup, recipe, why);
    if (err == ERR_OK)
        err = trust_choose(setup, recipe, why);
    if (err == ERR_OK)
        err = check_fanout(setup, recipe, why);
    if (err == ERR_OK)
        err = choose_machine(setup, recipe, why);
    if (err == ERR_OK && delay != NULL)
        err = delay_load(delay, recipe_count(recipe, OPT_SEED), &setup->delay,
                         &setup->delay_files, why);
    if (err == ERR_OK && chaos != NULL)
        err = chaos_parse(chaos, &setup->chaos, why);
    if (err == ERR_FORMAT)
        err = ERR_RANGE; /* The command line's fault, not a file's. */
    /* Chunks are not known yet; any number finds n < s+1 before the data are
     * read, which may take a while. */
    if (err == ERR_OK && !private_wanted(recipe))
        err = try_code(setup, recipe, planned(setup, recipe), why);
    return err;
}

/* Labels 1, 2, 3 are classes, 0.7 is a number.  The first number, or NULL. */
static const double *find_number(const double *label, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (label[i] != floor(label[i]))
            return &label[i];
    return NULL;
}

/* The same of all labels there are, as far as they are known. */
static const double *find_any_number(const struct dataset *data)
{
    return data->y == NULL ? find_number(data->label, data->classes)
                           : find_number(data->y, data->rows);
}

/* Too many labels to count are left as they were read. */
static enum err check_classes(const struct dataset *data, const char *spec,
                              struct why *why)
{
    const double *const number = data->classes > 0
                                     ? find_number(data->label, data->classes)
                                     : find_any_number(data);

    if (number != NULL && data->classes != 2)
        return why_set(why, ERR_SHAPE,
                       "%.200s: label %.17g is no class; --model softmax takes "
                       "whole numbers, --model linear fits any",
                       spec, *number);
    if (data->classes == 0)
        return why_set(why, ERR_SHAPE,
                       "%.200s: more than %u distinct labels; --model softmax "
                       "takes no more classes than that",
                       spec, SOFTMAX_CLASSES_MAX);
    if ((uint64_t)data->classes * data->stride > PROBLEM_DIMS_MAX)
        return why_set(why, ERR_SHAPE,
                       "%.200s: %u classes of %u columns are more than %u "
                       "weights; leave out columns or join classes",
                       spec, data->classes, data->cols, PROBLEM_DIMS_MAX);
    return ERR_OK;
}

/* --loss hinge is a model of its own inside. */
static enum err take_loss(const struct recipe *recipe, const char **name,
                          struct why *why)
{
    const char *loss = recipe_text(recipe, OPT_LOSS);

    if (loss == NULL)
        return ERR_OK;
    if (*name == NULL || strcmp(*name, "svm") != 0)
        return why_set(why, ERR_SHAPE, "--loss goes with --model svm");
    if (strcmp(loss, "hinge") == 0)
        *name = "hinge";
    return ERR_OK;
}

/* What sentences call the training rows. */
static const char *rows_name(const struct setup *setup,
                             const struct recipe *recipe)
{
    if (setup->hollow)
        return "--data-private";
    return setup->terms.rows != NULL ? "the rows"
                                     : recipe_text(recipe, OPT_DATA);
}

/* By the labels, as data/rows/labels.h took them; NULL: one, or many of which
 * the owners of the rows do not say how often they are seen. */
static const char *default_model(const struct setup *setup)
{
    const uint32_t classes = setup->data.classes;

    if (classes == 2)
        return "logistic";
    if (classes == 0 ||
        (setup->hollow && find_any_number(&setup->data) != NULL))
        return "linear";
    return classes > 2 && !setup->hollow ? "softmax" : NULL;
}

enum err setup_model(const struct setup *setup, const struct recipe *recipe,
                     enum model_kind *model, struct why *why)
{
    const char *name = recipe_text(recipe, OPT_MODEL);
    const uint32_t classes = setup->data.classes;
    const char *spec = rows_name(setup, recipe);
    enum err err = take_loss(recipe, &name, why);

    if (err != ERR_OK)
        return err;
    if (name == NULL)
        name = default_model(setup);
    if (classes == 1 && (name == NULL || strcmp(name, "linear") != 0))
        return why_set(why, ERR_SHAPE,
                       "%.200s: all labels are the same; there is nothing to "
                       "learn",
                       spec);
    if (name == NULL)
        return why_set(why, ERR_SHAPE,
                       "%.200s: %u distinct labels, classes or numbers? say "
                       "--model softmax to tell them apart or --model linear "
                       "to fit them as numbers",
                       spec, classes);
    err = model_parse(name, model);
    CHECK(err == ERR_OK);
    if (*model == MODEL_SOFTMAX)
        return check_classes(&setup->data, spec, why);
    if (*model != MODEL_LINEAR && classes != 2)
        return why_set(why, ERR_SHAPE,
                       "%.200s: --model %s needs two distinct labels; there "
                       "are more, which --model softmax takes",
                       spec, name);
    return ERR_OK;
}

/* A metric that the model does not have would sort by nothing. */
static enum err choose_metric(struct setup *setup, const struct recipe *recipe,
                              struct why *why)
{
    const char *name = recipe_text(recipe, OPT_METRIC);
    const enum model_kind model = setup->model;
    enum err err = metric_parse(name != NULL ? name : model_ops(model)->metric,
                                &setup->metric);

    CHECK(err == ERR_OK);
    if ((setup->metric == METRIC_MSE) != (model == MODEL_LINEAR) ||
        (setup->metric == METRIC_AUC && model == MODEL_SOFTMAX) ||
        (setup->metric == METRIC_LOGLOSS && model != MODEL_LOGISTIC &&
         model != MODEL_SOFTMAX))
        err = why_set(why, ERR_SHAPE, "--metric %s: the %s model has none",
                      name, model_ops(model)->name);
    return err;
}

/* Read with all threads; the pool is of no use afterwards. */
static enum err load(const struct setup *setup, struct source_options *source,
                     struct dataset *data, struct dataset *test, bool *has_test,
                     struct why *why)
{
    enum err err = threads_new(setup->threads, &source->pool);

    if (err != ERR_OK)
        return why_set(why, err, "cannot start %u threads; try --threads 1",
                       setup->threads);
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
    source.regression = setup->model == MODEL_LINEAR;
    source.classes = setup->model == MODEL_SOFTMAX;
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
    const bool classes = setup->model != MODEL_LINEAR;
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

    mem_free(order);
    mem_free(without);
    return err;
}

static enum err load_train(struct setup *setup, const struct recipe *recipe,
                           struct why *why)
{
    const char *model = recipe_text(recipe, OPT_MODEL);
    struct source_options source = input_options(recipe);
    enum err err;

    source.spec = rows_name(setup, recipe);
    source.memory = setup->terms.rows;
    if (recipe_text(recipe, OPT_CHUNK_ROWS) != NULL)
        source.chunk_rows = (uint32_t)recipe_count(recipe, OPT_CHUNK_ROWS);
    source.intercept = setup->intercept;
    source.regression = model != NULL && strcmp(model, "linear") == 0;
    source.classes = model != NULL && strcmp(model, "softmax") == 0;
    source.encoder = &setup->encoder;
    source.note = setup->terms.note;
    source.note_context = setup->terms.context;
    source.keep = holds_out(recipe) ? &setup->frame : NULL;
    err =
        load(setup, &source, &setup->data, &setup->test, &setup->has_test, why);
    setup->loaded = err == ERR_OK;
    if (err == ERR_OK && source.regression &&
        setup->encoder.classes.categories > 0)
        return why_set(why, ERR_SHAPE,
                       "%.200s: the labels are words, and --model linear fits "
                       "numbers; leave out --model to tell classes apart",
                       source.spec);
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
    source.regression = setup->model == MODEL_LINEAR;
    source.classes = setup->model == MODEL_SOFTMAX;
    source.labels = source.regression ? NULL : setup->data.label;
    source.like = &setup->data;
    source.storage = NULL; /* As in the training data. */
    source.weight = NULL;  /* Metrics count every row once. */
    source.encoder = &setup->encoder;
    if (setup->encoder.column != NULL)
        source.label = NULL; /* Where the training table had it. */
    source.note = setup->terms.note;
    source.note_context = setup->terms.context;
    err = load(setup, &source, data, NULL, NULL, why);
    return err == ERR_OK ? err : why_in(why, err, "--%s", recipe_row(id)->name);
}

static enum err load_test(struct setup *setup, const struct recipe *recipe,
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
static enum err load_valid(struct setup *setup, const struct recipe *recipe,
                           struct why *why)
{
    const char *spec = recipe_text(recipe, OPT_VALID);
    double part;
    enum err err;

    if (spec == NULL)
        return ERR_OK;
    if (rows_is_number(spec) && !rows_is_part(spec, &part) &&
        !file_exists(spec))
        return why_set(why, ERR_RANGE,
                       "--valid %.32s: a part of the rows is above 0 and below "
                       "1, and there is no such file",
                       spec);
    if (!rows_is_part(spec, &part))
        err = load_like(setup, recipe, OPT_VALID, &setup->valid, why);
    else if (recipe_given(recipe, OPT_GRID))
        return ERR_OK;
    else
        err = split_valid(setup, recipe, part, why);
    setup->has_valid = err == ERR_OK;
    return err;
}

static enum err record_numbers(const struct setup *setup, struct recipe *recipe,
                               struct why *why)
{
    enum err err = ERR_OK;

    if (setup->optim.rate > 0)
        err = record_real(recipe, OPT_LR, setup->optim.rate, why);
    if (err == ERR_OK)
        err = record_real(recipe, OPT_L2, setup->optim.l2, why);
    if (err == ERR_OK)
        err = record_real(recipe, OPT_TOL, setup->optim.tol, why);
    return err;
}

enum err setup_numbers(struct setup *setup, struct recipe *recipe,
                       struct why *why)
{
    struct numbers numbers;
    struct pool *pool;
    enum err err = threads_new(setup->threads, &pool);

    if (err != ERR_OK)
        return why_set(why, err, "cannot start %u threads; try --threads 1",
                       setup->threads);
    if (recipe_real(recipe, OPT_GAP) > 0 &&
        recipe_text(recipe, OPT_OPTIMUM) == NULL)
        err = why_set(why, ERR_SHAPE,
                      "--gap needs --optimum F, the least objective");
    if (err == ERR_OK)
        err = numbers_choose(recipe, setup->model, setup->isa, &setup->data,
                             pool, &numbers, why);
    threads_free(pool);
    if (err != ERR_OK)
        return err;
    setup->optim = numbers.optim;
    setup->scale = numbers.scale;
    err = record_numbers(setup, recipe, why);
    setup->config = config_digest(setup);
    return err;
}

/* Who says nothing wants the optimum.  Newton's method finds it whatever the
 * units of the columns; lbfgs where second derivatives cannot be had, or,
 * of a hinge with many columns, help little.  Estimated
 * sums cannot be compared, and Nesterov's steps at their usual rate make their
 * errors grow; plain ones bear them.  A simulation is of the reference systems'
 * steps. */
static const char *default_optimiser(const struct setup *setup)
{
    const struct problem problem = setup_problem(setup);

    if (setup->exactness == EXACT_APPROX)
        return "gd";
    if (setup->terms.simulated)
        return "agd";
    if (code_spec_products(&setup->code) ||
        (setup->model == MODEL_HINGE && !problem_has_hessian(&problem)))
        return "lbfgs";
    return "newton";
}

static enum err choose_optimiser(const struct setup *setup,
                                 struct recipe *recipe, struct why *why)
{
    const char *name = default_optimiser(setup);
    const char *most = setup->model == MODEL_HINGE ? "10000" : "1000";
    enum err err = ERR_OK;

    if (recipe_text(recipe, OPT_OPTIM) == NULL)
        err = recipe_put(recipe, OPT_OPTIM, name, ORIGIN_DEFAULT, why);
    if (err == ERR_OK && recipe_text(recipe, OPT_STEPS) == NULL)
        err = recipe_put(recipe, OPT_STEPS, searches(recipe) ? most : "100",
                         ORIGIN_DEFAULT, why);
    return err;
}

static enum err record_choices(const struct setup *setup, struct recipe *recipe,
                               struct why *why)
{
    enum err err = recipe_put(recipe, OPT_MODEL, model_ops(setup->model)->name,
                              ORIGIN_DEFAULT, why);

    if (err == ERR_OK)
        err = record_count(recipe, OPT_CHUNK_ROWS, setup->data.chunk_rows, why);
    if (err == ERR_OK)
        err = recipe_put(recipe, OPT_CODE, setup_code_name(setup),
                         ORIGIN_DEFAULT, why);
    if (err == ERR_OK)
        err = recipe_put(recipe, OPT_ISA, isa_name(setup->isa), ORIGIN_DEFAULT,
                         why);
    return err;
}

enum err setup_load(struct setup *setup, struct recipe *recipe, struct why *why)
{
    enum err err = golden_check(setup->isa, why);

    setup->intercept = habit_intercept(recipe);
    setup->hollow = private_wanted(recipe);
    if (err == ERR_OK)
        err = setup->hollow ? private_gather(setup, recipe, why)
                            : load_train(setup, recipe, why);
    if (err == ERR_OK)
        err = setup_model(setup, recipe, &setup->model, why);
    if (err == ERR_OK && setup->hollow)
        private_model(setup);
    if (err == ERR_OK)
        err = choose_metric(setup, recipe, why);
    /* Holding rows out may change what the test set is encoded by. */
    if (err == ERR_OK)
        err = load_valid(setup, recipe, why);
    if (err == ERR_OK)
        err = load_test(setup, recipe, why);
    if (err == ERR_OK && recipe_text(recipe, OPT_CLASS_WEIGHT) != NULL)
        err = rows_weigh(&setup->data, &setup->encoder.classes,
                         setup->model == MODEL_LINEAR,
                         recipe_text(recipe, OPT_CLASS_WEIGHT), why);
    if (err == ERR_OK)
        err = try_code(setup, recipe, dataset_chunks(&setup->data), why);
    if (err == ERR_OK)
        err = choose_optimiser(setup, recipe, why);
    if (err == ERR_OK)
        err = setup_numbers(setup, recipe, why);
    if (err == ERR_OK)
        err = coded_data_vet(setup, &setup->code, why);
    if (err == ERR_OK)
        err = record_choices(setup, recipe, why);
    return private_settle(setup, err, why);
}

void setup_close(struct setup *setup)
{
    if (setup->loaded)
        dataset_close(&setup->data);
    if (setup->has_test)
        dataset_close(&setup->test);
    if (setup->has_valid)
        dataset_close(&setup->valid);
    encoder_close(&setup->encoder);
    frame_close(&setup->frame);
    private_close(setup);
    delay_files_close(&setup->delay_files);
    code_inputs_close(&setup->inputs);
    *setup = (struct setup){0};
}

struct optim_options setup_optim(const struct setup *setup,
                                 const struct code_spec *code)
{
    const uint32_t steps = setup->optim.steps;
    struct optim_options optim = setup->optim;

    optim.diagonal = !code_spec_products(code);
    if (code->placement != PLACE_LOCAL || steps == 0)
        return optim;
    CHECK(setup->every > 0);
    return optim_averaged(&optim, setup->every < steps ? setup->every : steps);
}

struct problem setup_problem(const struct setup *setup)
{
    return problem_of(&setup->data, setup->model, setup->isa);
}

struct metrics setup_measure(const struct setup *setup,
                             const struct dataset *data, const double *w)
{
    struct problem problem = setup_problem(setup);
    struct metrics metrics = metrics_none();
    enum err err = ERR_NOMEM;
    double *inside;

    if (data->y == NULL)
        return metrics; /* The rows are with their owners. */

    problem.data = data;
    inside = mem_new(problem_dims(&problem), sizeof *inside);
    if (inside != NULL)
        err =
            rows_weights_carry(&setup->data, data, problem.outputs, w, inside);
    if (err == ERR_OK)
        err = metrics_measure(&metrics, &problem, inside);
    mem_free(inside);
    if (err == ERR_OK)
        return metrics;
    /* The model is what was asked for; it is not lost for want of these. */
    if (err == ERR_NOMEM)
        setup_note(setup, "no metrics: out of memory");
    return metrics_none();
}

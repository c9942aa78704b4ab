/*
 * setup.c - the problem, the optimiser and its numbers, from a recipe and its
 * rows; checks in the order of their cost.
 */
#include "learn/setup.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/plain.h"
#include "data/rows/labels.h"
#include "learn/batches.h"
#include "learn/coded/coded_data.h"
#include "learn/family/family.h"
#include "learn/family/start.h"
#include "learn/load.h"
#include "learn/numbers.h"
#include "learn/owners.h"
#include "learn/recipe/habit.h"
#include "learn/rows.h"
#include "learn/workers.h"
#include "math/kernel/softmax.h"
#include "node/arithmetic.h"
#include "os/run/threads.h"

#define NOTE_SIZE 1024u

void setup_note(const struct setup *setup, const char *format, ...)
{
    char text[NOTE_SIZE];
    va_list list;

    if (setup->terms.note == NULL)
        return;
    va_start(list, format);
    (void)vsnprintf(text, sizeof text, format, list);
    va_end(list);
    plain_controls(text, sizeof text);
    setup->terms.note(setup->terms.context, text);
}

const char *setup_code_name(const struct setup *setup)
{
    return setup->adapt ? AUTO_NAME : setup->code.name;
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
const double *setup_find_number(const struct dataset *data)
{
    return data->y == NULL ? find_number(data->label, data->classes)
                           : find_number(data->y, data->rows);
}

enum err setup_blame_label(const struct setup *setup,
                           const struct recipe *recipe, enum err err,
                           struct why *why)
{
    const struct schema *const schema = &setup->encoder.schema;
    const char *const name = schema->label_name;
    char column[96], said[WHY_SIZE];

    /* Rows of a program have no column for it. */
    if (why == NULL || recipe_given(recipe, OPT_LABEL) ||
        setup->terms.rows != NULL || schema->features == 0 ||
        schema->label >= schema->table)
        return err;
    if (name != NULL && name[0] != '\0')
        (void)snprintf(column, sizeof column, "\"%s\"",
                       quote((struct span){name, strlen(name)}).text);
    else
        (void)snprintf(column, sizeof column, "%u", schema->label + 1);
    (void)snprintf(said, sizeof said, "%s", why->text);
    return why_set(why, err,
                   "%.380s (labels were read from column %s; --label takes "
                   "another)",
                   said, column);
}

/* Too many labels to count are left as they were read. */
static enum err check_classes(const struct dataset *data, const char *spec,
                              struct why *why)
{
    const double *const number = data->classes > 0
                                     ? find_number(data->label, data->classes)
                                     : setup_find_number(data);
    char text[LABEL_TEXT_SIZE];

    if (number != NULL && data->classes != 2)
        return why_set(why, ERR_SHAPE,
                       "%.200s: label %s is no class; --model softmax takes "
                       "whole numbers, --model linear fits any",
                       spec, label_write(*number, text));
    if (data->classes == 0)
        return why_set(why, ERR_SHAPE,
                       "%.200s: more than %u distinct labels; --model softmax "
                       "takes no more classes than that; --model linear fits "
                       "numbers",
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
    struct choices choices = {.traits = TRAIT(LOSS)};

    if (loss == NULL)
        return ERR_OK;
    if (*name == NULL || strcmp(*name, "svm") != 0)
        choices_add(&choices, TRAIT(NOT_SVM), NULL);
    if (strcmp(loss, "hinge") == 0)
        *name = "hinge";
    return rules_check(&choices, why);
}

/* What takes more than two labels, as a training that was left to itself would
 * choose; whole numbers may be classes all the same. */
static const char *model_of_more(const struct dataset *data)
{
    if (setup_find_number(data) != NULL)
        return "linear fits (least squares)";
    return data->classes > 0 ? "softmax takes"
                             : "linear fits as numbers (least squares), and "
                               "--model softmax takes if they are classes";
}

static enum err find_model(const struct setup *setup,
                           const struct recipe *recipe, enum model_kind *model,
                           struct why *why)
{
    const char *name = recipe_text(recipe, OPT_MODEL);
    const uint32_t classes = setup->data.classes;
    const char *spec = load_name(setup, recipe);
    const struct model_ops *row;
    enum err err = take_loss(recipe, &name, why);

    if (err != ERR_OK)
        return err;
    if (name == NULL)
        name = setup_family(setup)->model(setup);
    row = model_named(name);
    if (classes == 1 && (row == NULL || !row->regression))
        return why_set(why, ERR_SHAPE,
                       "%.200s: all labels are the same; there is nothing to "
                       "learn",
                       spec);
    if (row == NULL)
        return why_set(why, ERR_SHAPE,
                       "%.200s: %u distinct labels, classes or numbers? say "
                       "--model softmax to tell them apart or --model linear "
                       "to fit them as numbers",
                       spec, classes);
    err = model_parse(name, model);
    CHECK(err == ERR_OK);
    if (row->classes)
        return check_classes(&setup->data, spec, why);
    if (!row->regression && classes != 2)
        return why_set(why, ERR_SHAPE,
                       "%.200s: --model %s needs two distinct labels; there "
                       "are more, which --model %s",
                       spec, name, model_of_more(&setup->data));
    return ERR_OK;
}

enum err setup_model(const struct setup *setup, const struct recipe *recipe,
                     enum model_kind *model, struct why *why)
{
    const enum err err = find_model(setup, recipe, model, why);

    return err == ERR_SHAPE ? setup_blame_label(setup, recipe, err, why) : err;
}

/* A metric that the model does not have would sort by nothing. */
static enum err choose_metric(struct setup *setup, const struct recipe *recipe,
                              struct why *why)
{
    const char *name = recipe_text(recipe, OPT_METRIC);
    const struct model_ops *const model = model_ops(setup->model);
    enum err err =
        metric_parse(name != NULL ? name : model->metric, &setup->metric);

    CHECK(err == ERR_OK);
    if ((setup->metric == METRIC_MSE || setup->metric == METRIC_R2) !=
            model->regression ||
        (setup->metric == METRIC_AUC && model->classes &&
         setup->data.classes != 2) ||
        (setup->metric == METRIC_LOGLOSS && !model->probable))
        err = why_set(why, ERR_SHAPE, "--metric %s: the %s model has %s", name,
                      model->name, model->regression ? "mse and r2" : "none");
    return err;
}

static enum err record_numbers(const struct setup *setup, struct recipe *recipe,
                               struct why *why)
{
    enum err err = ERR_OK;

    if (setup->optim.rate > 0)
        err = recipe_record_real(recipe, OPT_LR, setup->optim.rate, why);
    if (err == ERR_OK)
        err = recipe_record_real(recipe, OPT_L2, setup->optim.l2, why);
    if (err == ERR_OK)
        err = recipe_record_real(recipe, OPT_TOL, setup->optim.tol, why);
    if (err == ERR_OK)
        err = recipe_record_count(recipe, OPT_WARMUP, setup->optim.warmup, why);
    if (err == ERR_OK)
        err = recipe_put(recipe, OPT_SCHEDULE,
                         optim_schedule_name(setup->optim.schedule),
                         ORIGIN_DEFAULT, why);
    return err;
}

enum err setup_threads(const struct setup *setup, struct pool **pool,
                       struct why *why)
{
    const enum err err = threads_new(setup->threads, pool);

    return err == ERR_OK
               ? err
               : why_set(why, err, "cannot start %u threads; try --threads 1",
                         setup->threads);
}

enum err setup_crowd(const struct setup *setup, struct pool **pool)
{
    const uint64_t workers = setup->local > 0 ? setup->local : 1;
    const uint64_t asked = setup->threads * workers;
    const uint32_t there = threads_available();

    return threads_new(asked < there ? (uint32_t)asked : there, pool);
}

void setup_know(const struct setup *setup, struct dataset *data)
{
    struct pool *pool;

    if (setup_crowd(setup, &pool) != ERR_OK) { /* It only takes longer. */
        dataset_know(data, pool_serial());
        return;
    }
    dataset_know(data, pool);
    threads_free(pool);
}

static void list_choices(struct setup *setup, const struct recipe *recipe)
{
    static const int flags[] = {OPT_BATCH, OPT_BATCH_PER_WORKER, OPT_PASSES,
                                OPT_OPTIM};
    const char *given[sizeof flags / sizeof *flags];
    uint32_t count = 0;
    size_t used = 0;

    setup->chose[0] = '\0';
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (recipe_given(recipe, flags[i]))
            given[count++] = recipe_row(flags[i])->name;
    for (uint32_t i = 0; i < count && used < sizeof setup->chose; i++)
        used += (size_t)snprintf(setup->chose + used,
                                 sizeof setup->chose - used, "%s--%s",
                                 i == 0           ? ""
                                 : i + 1 == count ? " and "
                                                  : ", ",
                                 given[i]);
}

enum err setup_numbers(struct setup *setup, struct recipe *recipe,
                       struct why *why)
{
    struct numbers numbers;
    struct pool *pool;
    enum err err = setup_threads(setup, &pool, why);

    if (err != ERR_OK)
        return err;
    err = setup_family(setup)->numbers(setup, recipe, pool, &numbers, why);
    threads_free(pool);
    if (err != ERR_OK)
        return err;
    setup->optim = numbers.optim;
    setup->optim.held_out =
        setup->has_valid &&
        (setup->optim.patience > 0 || recipe_text(recipe, OPT_BATCH) != NULL);
    setup->shown_factor = numbers.shown_factor;
    list_choices(setup, recipe);
    return record_numbers(setup, recipe, why);
}

/* Batches decide how many chunks there are for the workers. */
static enum err try_code(struct setup *setup, const struct recipe *recipe,
                         struct why *why)
{
    struct optim_options optim = {0};
    const struct family *const family = setup_family(setup);
    enum err err = batches_cut(recipe, family, &setup->data, why);

    if (err == ERR_OK)
        err = batches_choose(recipe, family, &setup->data, &optim.sampler, why);
    workers_cut(setup, setup, &optim.sampler);
    return err == ERR_OK
               ? workers_try_code(
                     setup, recipe,
                     optim_chunks(&optim, dataset_chunks(&setup->data)), why)
               : err;
}

/* Line searches and curvature pairs: two sums must be over the same rows. */
static bool searches(const struct recipe *recipe)
{
    const char *name = recipe_text(recipe, OPT_OPTIM);

    return name != NULL &&
           (strcmp(name, "lbfgs") == 0 || strcmp(name, "newton") == 0);
}

enum err setup_optimiser(const struct setup *setup, struct recipe *recipe,
                         struct why *why)
{
    const char *name = setup_family(setup)->optimiser(setup, recipe);
    const char *most = model_ops(setup->model)->kinks ? "10000" : "1000";
    enum err err = ERR_OK;

    if (recipe_text(recipe, OPT_OPTIM) == NULL ||
        (batches_wanted(recipe) && !recipe_given(recipe, OPT_OPTIM)))
        err = recipe_put(recipe, OPT_OPTIM, name, ORIGIN_DEFAULT, why);
    if (err == ERR_OK && recipe_text(recipe, OPT_STEPS) == NULL)
        err = recipe_put(recipe, OPT_STEPS, searches(recipe) ? most : "100",
                         ORIGIN_DEFAULT, why);
    return err == ERR_OK ? setup_rules(setup, recipe, why) : err;
}

static enum err record_choices(const struct setup *setup, struct recipe *recipe,
                               struct why *why)
{
    const struct sampler *const sampler = &setup->optim.sampler;
    enum err err = recipe_put(recipe, OPT_MODEL, model_ops(setup->model)->name,
                              ORIGIN_DEFAULT, why);

    if (err == ERR_OK)
        err = recipe_record_count(recipe, OPT_CHUNK_ROWS,
                                  sampler->kind != SAMPLER_WHOLE
                                      ? sampler->chunk_rows
                                      : setup->data.chunk_rows,
                                  why);
    if (err == ERR_OK && batches_counted(recipe, setup_family(setup), sampler))
        err = recipe_record_count(recipe, OPT_PASSES,
                                  setup->optim.steps / sampler_steps(sampler),
                                  why);
    if (err == ERR_OK)
        err = recipe_record_count(recipe, OPT_STEPS, setup->optim.steps, why);
    if (err == ERR_OK)
        err = recipe_put(recipe, OPT_CODE, setup_code_name(setup),
                         ORIGIN_DEFAULT, why);
    if (err == ERR_OK)
        err = recipe_put(recipe, OPT_ISA, isa_name(setup->isa), ORIGIN_DEFAULT,
                         why);
    /* What is scaled unless said otherwise are tables alone. */
    if (err == ERR_OK && !encoder_scales(&setup->encoder))
        err = recipe_put(recipe, OPT_SCALE, scaling_name(SCALE_NONE),
                         ORIGIN_DEFAULT, why);
    return err;
}

/* What nobody wrote down, and what is hardly meant. */
static void tell_steps(const struct setup *setup, const struct recipe *recipe)
{
    const struct optim_options *const optim = &setup->optim;
    const bool all = optim->sampler.kind == SAMPLER_WHOLE;
    char grows[48] = "";

    if (optim->warmup > 0)
        (void)snprintf(grows, sizeof grows, ", reached in %u step%s (--warmup)",
                       optim->warmup, optim->warmup == 1 ? "" : "s");
    if (recipe_given(recipe, OPT_BATCH_PER_WORKER))
        setup_note(setup,
                   "--batch-per-worker %s for %u workers: %s%u rows a step, "
                   "rate %.6g%s",
                   recipe_text(recipe, OPT_BATCH_PER_WORKER),
                   batches_workers(recipe), all ? "all " : "",
                   all ? setup->data.rows : optim->sampler.batch, optim->rate,
                   grows);
    if (optim->warmup >= optim->steps)
        setup_note(setup,
                   "--warmup %u: the run has %u steps, so that the rate never "
                   "gets to %.6g; take fewer, or more --passes",
                   optim->warmup, optim->steps, optim->rate);
}

enum err setup_load(struct setup *setup, struct recipe *recipe, struct why *why)
{
    enum err err = arithmetic_check(setup->isa, why);

    if (err == ERR_OK)
        err = start_open(setup, recipe, why);
    setup->family = recipe_text(recipe, OPT_NET) != NULL ? &net_family : NULL;
    setup->intercept = setup_family(setup)->constant && habit_intercept(recipe);
    setup->hollow = owners_wanted(recipe);
    if (err == ERR_OK && setup_family(setup)->begin != NULL)
        err = setup_family(setup)->begin(recipe, why);
    if (err == ERR_OK && setup->slots > 0) /* A network's own batch. */
        err = batches_keep_local(setup, recipe, why);
    if (err == ERR_OK && setup->hollow)
        err = owners_shuffle(recipe, why);
    if (err == ERR_OK)
        err = setup->hollow ? owners_gather(setup, recipe, why)
                            : load_train(setup, recipe, why);
    if (err == ERR_OK)
        err = setup_model(setup, recipe, &setup->model, why);
    if (err == ERR_OK)
        err = start_check(setup, recipe, why);
    if (err == ERR_OK && setup->hollow)
        err = owners_model(setup, why);
    if (err == ERR_OK)
        err = choose_metric(setup, recipe, why);
    /* Holding rows out may change what the test set is encoded by, and what is
     * learnt from the rows that are left. */
    if (err == ERR_OK)
        err = load_valid(setup, recipe, why);
    if (err == ERR_OK)
        err = load_test(setup, recipe, why);
    if (err == ERR_OK && setup_family(setup)->build != NULL)
        err = setup_family(setup)->build(setup, recipe, why);
    if (err == ERR_OK && recipe_text(recipe, OPT_CLASS_WEIGHT) != NULL)
        err = rows_weigh(&setup->data, &setup->encoder.classes,
                         model_ops(setup->model)->regression,
                         recipe_text(recipe, OPT_CLASS_WEIGHT), why);
    if (err == ERR_OK)
        err = load_check(setup, why);
    if (err == ERR_OK)
        err = try_code(setup, recipe, why);
    if (err == ERR_OK)
        err = setup_optimiser(setup, recipe, why);
    if (err == ERR_OK)
        err = setup_numbers(setup, recipe, why);
    if (err == ERR_OK)
        err = coded_data_vet(setup, &setup->code, why);
    if (err == ERR_OK)
        tell_steps(setup, recipe);
    if (err == ERR_OK)
        err = record_choices(setup, recipe, why);
    return owners_settle(setup, err, why);
}

void setup_close(struct setup *setup)
{
    if (setup->loaded)
        dataset_close(&setup->data);
    if (setup->has_test)
        dataset_close(&setup->test);
    if (setup->has_valid)
        dataset_close(&setup->valid);
    neural_model_close(&setup->net);
    start_close(setup);
    encoder_close(&setup->encoder);
    frame_close(&setup->frame);
    owners_close(setup);
    delay_files_close(&setup->delay_files);
    code_inputs_close(&setup->inputs);
    *setup = (struct setup){0};
}

const struct neural_model *setup_net(const struct setup *setup)
{
    return setup->net.text != NULL ? &setup->net : NULL;
}

const struct family *setup_family(const struct setup *setup)
{
    return setup->family != NULL ? setup->family : &linear_family;
}

bool setup_is_coded(const struct setup *setup)
{
    return setup->slots > 0 && code_spec_products(&setup->code);
}

struct optim_options setup_optim(const struct setup *setup,
                                 const struct code_spec *code)
{
    const uint32_t steps = setup->optim.steps;
    struct optim_options optim = setup->optim;

    if (code_spec_products(code))
        optim_on_scores(&optim);
    if (code->placement != PLACE_LOCAL || steps == 0)
        return optim;
    CHECK(code->every > 0);
    return optim_averaged(&optim, code->every < steps ? code->every : steps);
}

struct problem setup_problem(const struct setup *setup)
{
    struct problem problem = problem_of(&setup->data, setup->model, setup->isa);

    problem.bounds = setup->bounds;
    return problem;
}

struct metrics setup_measure(const struct setup *setup,
                             const struct dataset *data, const double *w)
{
    struct metrics metrics = metrics_none();
    enum err err;

    if (data->y == NULL)
        return metrics; /* The rows are with their owners. */
    err = setup_family(setup)->measure(setup, data, w, &metrics);
    if (err == ERR_OK)
        return metrics;
    /* The model is what was asked for; it is not lost for want of these. */
    if (err == ERR_NOMEM)
        setup_note(setup, "no metrics: out of memory");
    return metrics_none();
}

/* The loss that training minimises, without its penalty, and without weights of
 * rows: each held-out row counts once, as in all metrics.  Workers wait: their
 * threads are free. */
static enum err held_out_loss(void *context, const double *weights,
                              double *loss)
{
    struct setup setup = *(const struct setup *)context;
    const struct family *const family = setup_family(&setup);
    struct metrics metrics = metrics_none();
    enum err err;

    setup.threads *= setup.local > 0 ? setup.local : 1;
    err = family->measure(&setup, &setup.valid, weights, &metrics);
    *loss = err == ERR_OK ? family->loss(&setup, &metrics) : HUGE_VAL;
    return err == ERR_RANGE ? ERR_OK : err;
}

struct held_out setup_held_out(const struct setup *setup)
{
    union {
        const struct setup *setup;
        void *context;
    } const lent = {setup};

    return setup->optim.held_out
               ? (struct held_out){held_out_loss, lent.context}
               : (struct held_out){0};
}

/*
 * folds.c - cross-validation and grids: many trainings side by side, one thread
 * each, judged on rows that they did not see.
 */
#include "learn/folds.h"

#include <string.h>

#include "base/check.h"
#include "base/flag.h"
#include "base/mem.h"
#include "data/rows/split.h"
#include "learn/batches.h"
#include "learn/family/family.h"
#include "learn/numbers.h"
#include "learn/rows.h"
#include "node/fixed/alone.h"
#include "os/clock.h"
#include "os/run/threads.h"

static bool stopped(const struct flag *stop)
{
    return stop != NULL && flag_raised(stop);
}

/* All rows in every training, to begin with. */
static enum err folds_init(struct folds *folds, uint32_t rows, uint32_t count,
                           struct why *why)
{
    *folds = (struct folds){.count = count};
    folds->of = mem_new(rows, sizeof *folds->of);
    if (folds->of == NULL)
        return why_set(why, ERR_NOMEM, "out of memory");
    for (uint32_t row = 0; row < rows; row++)
        folds->of[row] = FOLD_NEVER;
    return ERR_OK;
}

void folds_close(struct folds *folds)
{
    mem_free(folds->of);
    *folds = (struct folds){0};
}

enum err folds_draw(struct folds *folds, const struct setup *setup,
                    uint32_t count, uint64_t seed, struct why *why)
{
    const bool classes = !model_ops(setup->model)->regression;
    const uint32_t rows = setup->data.rows;
    uint32_t *order;
    enum err err;

    *folds = (struct folds){0};
    if (count > rows)
        return why_set(why, ERR_SHAPE, "-v %u: there are only %u rows", count,
                       rows);
    err = folds_init(folds, rows, count, why);
    if (err != ERR_OK)
        return err;
    order = mem_new(rows, sizeof *order);
    if (order == NULL ||
        rows_shuffle(&setup->data, classes, seed, order) != ERR_OK)
        err = why_set(why, ERR_NOMEM, "out of memory");
    /* Rows are dealt out: of those sorted by class every fold gets its share,
     * of others it makes no difference. */
    for (uint32_t i = 0; err == ERR_OK && order != NULL && i < rows; i++)
        folds->of[order[i]] = i % count;
    mem_free(order);
    return err;
}

enum err folds_part(struct folds *folds, const struct setup *setup, double part,
                    uint64_t seed, struct why *why)
{
    const bool classes = !model_ops(setup->model)->regression;
    const uint32_t rows = setup->data.rows;
    enum err err = folds_init(folds, rows, 1, why);
    uint32_t *order;
    uint32_t held = 0;

    if (err != ERR_OK)
        return err;
    order = mem_new(rows, sizeof *order);
    if (order == NULL || rows_hold_out(&setup->data, classes, part, seed, order,
                                       &held) != ERR_OK)
        err = why_set(why, ERR_NOMEM, "out of memory");
    for (uint32_t i = 0; i < held; i++)
        folds->of[order[i]] = 0;
    mem_free(order);
    return err;
}

enum err folds_other(struct folds *folds, const struct setup *setup,
                     const struct dataset *judge, struct why *why)
{
    const enum err err = folds_init(folds, setup->data.rows, 1, why);

    folds->judge = judge;
    return err;
}

static const struct dataset *judged(const struct setup *setup,
                                    const struct folds *folds)
{
    return folds->judge != NULL ? folds->judge : &setup->data;
}

static uint32_t outputs_of(const struct setup *setup, const struct trial *trial)
{
    const struct problem problem =
        problem_of(&setup->data, trial->model, setup->isa);

    return problem_outputs(&problem);
}

enum err trial_init(struct trial *trial, const struct setup *setup,
                    const struct folds *folds)
{
    trial->scores =
        mem_new((size_t)judged(setup, folds)->rows * outputs_of(setup, trial),
                sizeof *trial->scores);
    trial->fold = mem_new(folds->count, sizeof *trial->fold);
    trial->folds = folds->count;
    return trial->scores == NULL || trial->fold == NULL ? ERR_NOMEM : ERR_OK;
}

void trial_close(struct trial *trial)
{
    recipe_close(&trial->recipe);
    mem_free(trial->scores);
    mem_free(trial->fold);
    *trial = (struct trial){0};
}

/* One training. */
struct lesson {
    const struct setup *setup;
    const struct folds *folds;
    struct trial *trial;
    uint32_t fold;
    const struct flag *stop;
    const struct dataset *data; /* All rows, as this training has them: ... */
    struct dataset own;         /* ... here, if it has an encoder of its own. */
    struct setup part;          /* What is taught. */
    /* Weights of the rows: in the training, in the judgement. */
    double *taught, *tested;
};

static bool left_out(const struct lesson *lesson, uint32_t row)
{
    return lesson->folds->of[row] == lesson->fold;
}

static void mask_rows(const struct lesson *lesson)
{
    const struct dataset *data = &lesson->setup->data;

    for (uint32_t row = 0; row < data->rows; row++) {
        const bool out = left_out(lesson, row);

        lesson->taught[row] = data->weight == NULL ? 1 : data->weight[row];
        if (out)
            lesson->taught[row] = 0;
        if (lesson->folds->judge == NULL)
            lesson->tested[row] = out ? 1 : 0;
    }
}

/* In their order, as a file of them alone would have them. */
static enum err take_rows(const struct lesson *lesson, struct dataset *rows)
{
    struct dataset all = *lesson->data; /* A view. */
    uint32_t *const order = mem_new(all.rows, sizeof *order);
    uint32_t count = 0;
    enum err err;

    if (order == NULL)
        return ERR_NOMEM;
    for (uint32_t row = 0; row < all.rows; row++)
        if (!left_out(lesson, row))
            order[count++] = row;
    all.weight = lesson->setup->data.weight;
    err = split_take(&all, order, count, rows);
    mem_free(order);
    return err;
}

static enum err judge(const struct lesson *lesson, const double *w)
{
    const struct setup *part = &lesson->part;
    const struct dataset *data =
        lesson->folds->judge != NULL ? lesson->folds->judge : lesson->data;
    const uint32_t outputs = outputs_of(lesson->setup, lesson->trial);
    double *z = mem_new((size_t)data->rows * outputs, sizeof *z);
    const struct scored_rows rows = {
        .z = z,
        .y = data->y,
        .weight = lesson->folds->judge == NULL ? lesson->tested : NULL,
        .rows = data->rows,
        .outputs = outputs};
    enum err err =
        z == NULL ? ERR_NOMEM
                  : setup_family(part)->scores(part, data, pool_serial(), w, z);

    if (err == ERR_OK)
        err = metrics_of_scores(&lesson->trial->fold[lesson->fold].metrics,
                                model_ops(part->model), part->isa, &rows);
    /* Rows of other folds belong to other threads. */
    for (uint32_t row = 0; err == ERR_OK && row < data->rows; row++)
        if (rows.weight == NULL || rows.weight[row] > 0)
            memcpy(lesson->trial->scores + (size_t)row * outputs,
                   z + (size_t)row * outputs, outputs * sizeof *z);
    mem_free(z);
    return err;
}

/* Of a network the objective is that of the last batch until then. */
static enum err settle(const struct setup *part, struct alone_result *result)
{
    struct train_result settled = {.weights = result->weights,
                                   .dims = result->dims,
                                   .outcome = result->outcome};
    const enum err err =
        setup_family(part)->settle(part, pool_serial(), &settled);

    result->outcome = settled.outcome;
    return err;
}

static enum err train(const struct lesson *lesson, struct fold *fold)
{
    const struct setup *part = &lesson->part;
    const struct alone_hooks hooks = {.hooks.cancel = lesson->stop};
    const struct objective_options what = {.data = &part->data,
                                           .model = part->model,
                                           .net = setup_net(part),
                                           .isa = part->isa,
                                           .optim = &part->optim};
    struct alone_result result = {0};
    enum err err =
        alone_train(&what, pool_serial(), &hooks, &result, &fold->why);

    if (err == ERR_OK && result.stopped)
        err = ERR_CANCELLED;
    if (err == ERR_OK) {
        fold->steps = result.steps;
        fold->hash = result.hash;
        err = judge(lesson, result.weights);
        if (err == ERR_RANGE)
            err = why_set(&fold->why, err,
                          "a score is not finite; a smaller --lr helps");
    }
    fold->diverged = err == ERR_RANGE;
    if (err == ERR_OK && setup_family(part)->apart)
        err = settle(part, &result);
    fold->objective = result.outcome.objective * part->shown_factor;
    mem_free(result.weights);
    return err;
}

/* What a plain training of the taught rows would choose. */
static enum err prepare(struct lesson *lesson, struct why *why)
{
    const struct recipe *recipe = &lesson->trial->recipe;
    struct setup *part = &lesson->part;
    const struct family *family = setup_family(part);
    struct numbers numbers;
    enum err err = ERR_OK;

    if (family->build != NULL)
        err = family->build(part, recipe, why);
    if (err == ERR_OK && family->apart)
        err = batches_cut(recipe, family, &part->data, why);
    if (err == ERR_OK)
        err = family->numbers(part, recipe, pool_serial(), &numbers, why);
    if (err != ERR_OK)
        return err;
    part->optim = numbers.optim;
    part->shown_factor = numbers.shown_factor;
    return ERR_OK;
}

static enum err teach(struct lesson *lesson, struct fold *fold)
{
    struct setup *part = &lesson->part;
    const bool apart = setup_family(lesson->setup)->apart;
    enum err err = ERR_OK;

    if (stopped(lesson->stop))
        return ERR_CANCELLED;
    mask_rows(lesson);
    *part = *lesson->setup; /* A view, but for what is made here. */
    part->terms.note = NULL;
    part->model = lesson->trial->model;
    part->net = (struct neural_model){0};
    part->start = NULL;
    part->data = *lesson->data;
    part->data.weight = lesson->taught;
    if (apart) {
        part->data = (struct dataset){0};
        err = take_rows(lesson, &part->data);
    }
    if (err == ERR_OK)
        err = prepare(lesson, &fold->why);
    if (err == ERR_OK)
        err = train(lesson, fold);
    if (apart)
        dataset_close(&part->data);
    neural_model_close(&part->net);
    mem_free(part->start);
    return err;
}

/* Encoded by what the rows that are taught say alone. */
static enum err encode_fold(const struct lesson *lesson, struct dataset *own,
                            struct why *why)
{
    const struct setup *setup = lesson->setup;
    const uint32_t rows = setup->data.rows;
    bool *const without = mem_new(rows, sizeof *without);
    enum err err = without == NULL ? ERR_NOMEM : ERR_OK;

    for (uint32_t row = 0; err == ERR_OK && row < rows; row++)
        without[row] = left_out(lesson, row);
    if (err == ERR_OK)
        err = setup_encode(setup, &lesson->trial->recipe, without, NULL, own,
                           why);
    mem_free(without);
    return err;
}

static enum err run_fold(struct lesson *lesson, struct fold *fold)
{
    const bool encoded =
        lesson->setup->frame.rows > 0 && lesson->folds->judge == NULL;
    enum err err = ERR_OK;

    lesson->data = &lesson->setup->data;
    if (encoded) {
        err = encode_fold(lesson, &lesson->own, &fold->why);
        lesson->data = &lesson->own;
    }
    if (err == ERR_OK)
        err = teach(lesson, fold);
    dataset_close(&lesson->own);
    return err;
}

static void run_lesson(struct lesson *lesson)
{
    struct fold *fold = &lesson->trial->fold[lesson->fold];
    const time_us began = clock_now_us();

    fold->metrics = metrics_none();
    lesson->taught = mem_new(lesson->setup->data.rows, sizeof *lesson->taught);
    lesson->tested = mem_new(lesson->setup->data.rows, sizeof *lesson->tested);
    fold->err = lesson->taught == NULL || lesson->tested == NULL
                    ? ERR_NOMEM
                    : run_fold(lesson, fold);
    mem_free(lesson->taught);
    mem_free(lesson->tested);
    fold->seconds = (double)(clock_now_us() - began) / (double)SECOND_US;
}

/* Over all judged rows, whichever fold judged them. */
static enum err measure_all(const struct setup *setup,
                            const struct folds *folds, struct trial *trial,
                            struct why *why)
{
    const struct dataset *data = judged(setup, folds);
    double *in = mem_new(data->rows, sizeof *in);
    const struct scored_rows rows = {.z = trial->scores,
                                     .y = data->y,
                                     .weight = in,
                                     .rows = data->rows,
                                     .outputs = outputs_of(setup, trial)};
    enum err err = ERR_OK;

    if (in == NULL)
        return why_set(why, ERR_NOMEM, "out of memory");
    for (uint32_t row = 0; row < data->rows; row++)
        in[row] = folds->judge != NULL || folds->of[row] != FOLD_NEVER;
    trial->metrics = metrics_none();
    if (!trial->diverged)
        err = metrics_of_scores(&trial->metrics, model_ops(trial->model),
                                setup->isa, &rows);
    mem_free(in);
    trial->steps = 0;
    for (uint32_t fold = 0; fold < folds->count; fold++)
        trial->steps += trial->fold[fold].steps;
    return err;
}

struct batch {
    const struct setup *setup;
    const struct folds *folds;
    struct trial *trials;
    const struct trial_hooks *hooks;
};

static void batch_item(void *context, uint32_t thread, uint32_t item)
{
    const struct batch *batch = context;
    const struct trial_hooks *hooks = batch->hooks;
    struct lesson lesson = {
        .setup = batch->setup,
        .folds = batch->folds,
        .trial = &batch->trials[item / batch->folds->count],
        .fold = item % batch->folds->count,
        .stop = hooks->stop,
    };

    (void)thread;
    run_lesson(&lesson);
    if (hooks->done != NULL)
        hooks->done(hooks->context, lesson.trial, lesson.fold);
}

/* One that diverged tells what its options are worth. */
static bool all_diverged(const struct folds *folds, struct trial *trials,
                         uint32_t count)
{
    uint32_t diverged = 0;

    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t j = 0; j < folds->count; j++)
            trials[i].diverged |= trials[i].fold[j].diverged;
        diverged += trials[i].diverged;
    }
    return diverged == count;
}

static enum err first_error(const struct folds *folds, struct trial *trials,
                            uint32_t count, struct why *why)
{
    const bool all = all_diverged(folds, trials, count);

    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < folds->count; j++) {
            const struct fold *fold = &trials[i].fold[j];
            const char *said = fold->why.text;

            if (fold->err != ERR_OK && (all || !fold->diverged))
                return why_set(why, fold->err, "%s%s%s", trials[i].text,
                               trials[i].text[0] == '\0' ? "" : ": ",
                               said[0] == '\0' ? err_text(fold->err) : said);
        }
    return ERR_OK;
}

enum err trials_run(const struct setup *setup, const struct folds *folds,
                    struct trial *trials, uint32_t count,
                    const struct trial_hooks *hooks, struct why *why)
{
    struct batch batch = {
        .setup = setup, .folds = folds, .trials = trials, .hooks = hooks};
    struct pool *pool;
    enum err err = setup_threads(setup, &pool, why);

    if (err != ERR_OK)
        return err;
    CHECK((uint64_t)count * folds->count <= UINT32_MAX);
    pool->run(pool, batch_item, &batch, count * folds->count);
    threads_free(pool);
    err = stopped(hooks->stop)
              ? why_set(why, ERR_CANCELLED,
                        "stopped; of folds and grids nothing is kept")
              : first_error(folds, trials, count, why);
    for (uint32_t i = 0; i < count && err == ERR_OK; i++)
        err = measure_all(setup, folds, &trials[i], why);
    return err;
}

enum err folds_validate(const struct setup *setup, const struct recipe *recipe,
                        const struct trial_hooks *hooks, struct folds *folds,
                        struct trial *trial, struct why *why)
{
    enum err err =
        folds_draw(folds, setup, (uint32_t)recipe_count(recipe, OPT_FOLDS),
                   recipe_count(recipe, OPT_SEED), why);

    trial->model = setup->model;
    if (err == ERR_OK)
        err = recipe_copy(&trial->recipe, recipe, why);
    if (err == ERR_OK)
        err = trial_init(trial, setup, folds);
    if (err == ERR_OK)
        err = trials_run(setup, folds, trial, 1, hooks, why);
    return err;
}

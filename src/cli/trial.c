/*
 * trial.c - cross-validation and grids: many trainings side by side, one thread
 * each, judged on rows that they did not see.
 */
#include "cli/trial.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/flag.h"
#include "base/mem.h"
#include "learn/numbers.h"
#include "learn/rows.h"
#include "node/fixed/single.h"
#include "os/clock.h"
#include "os/run/interrupt.h"
#include "os/run/threads.h"

/* All rows in every training, to begin with. */
static enum err plan_init(struct plan *plan, uint32_t rows, uint32_t folds,
                          struct why *why)
{
    *plan = (struct plan){.folds = folds};
    plan->fold_of = mem_new(rows, sizeof *plan->fold_of);
    if (plan->fold_of == NULL)
        return why_set(why, ERR_NOMEM, "out of memory");
    for (uint32_t row = 0; row < rows; row++)
        plan->fold_of[row] = PLAN_NEVER;
    return ERR_OK;
}

void plan_close(struct plan *plan)
{
    mem_free(plan->fold_of);
    *plan = (struct plan){0};
}

enum err plan_folds(struct plan *plan, const struct setup *setup,
                    uint32_t folds, uint64_t seed, struct why *why)
{
    const bool classes = setup->model != MODEL_LINEAR;
    const uint32_t rows = setup->data.rows;
    uint32_t *order;
    enum err err;

    *plan = (struct plan){0};
    if (folds > rows)
        return why_set(why, ERR_SHAPE, "-v %u: there are only %u rows", folds,
                       rows);
    err = plan_init(plan, rows, folds, why);
    if (err != ERR_OK)
        return err;
    order = mem_new(rows, sizeof *order);
    if (order == NULL ||
        rows_shuffle(&setup->data, classes, seed, order) != ERR_OK)
        err = why_set(why, ERR_NOMEM, "out of memory");
    /* Rows are dealt out: of those sorted by class every fold gets its share,
     * of others it makes no difference. */
    for (uint32_t i = 0; err == ERR_OK && order != NULL && i < rows; i++)
        plan->fold_of[order[i]] = i % folds;
    mem_free(order);
    return err;
}

enum err plan_part(struct plan *plan, const struct setup *setup, double part,
                   uint64_t seed, struct why *why)
{
    const bool classes = setup->model != MODEL_LINEAR;
    const uint32_t rows = setup->data.rows;
    enum err err = plan_init(plan, rows, 1, why);
    uint32_t *order;
    uint32_t held = 0;

    if (err != ERR_OK)
        return err;
    order = mem_new(rows, sizeof *order);
    if (order == NULL || rows_hold_out(&setup->data, classes, part, seed, order,
                                       &held) != ERR_OK)
        err = why_set(why, ERR_NOMEM, "out of memory");
    for (uint32_t i = 0; i < held; i++)
        plan->fold_of[order[i]] = 0;
    mem_free(order);
    return err;
}

enum err plan_other(struct plan *plan, const struct setup *setup,
                    const struct dataset *judge, struct why *why)
{
    const enum err err = plan_init(plan, setup->data.rows, 1, why);

    plan->judge = judge;
    return err;
}

static const struct dataset *judged(const struct setup *setup,
                                    const struct plan *plan)
{
    return plan->judge != NULL ? plan->judge : &setup->data;
}

static uint32_t outputs_of(const struct setup *setup, const struct trial *trial)
{
    const struct problem problem =
        problem_of(&setup->data, trial->model, setup->isa);

    return problem_outputs(&problem);
}

enum err trial_init(struct trial *trial, const struct setup *setup,
                    const struct plan *plan)
{
    trial->scores =
        mem_new((size_t)judged(setup, plan)->rows * outputs_of(setup, trial),
                sizeof *trial->scores);
    trial->fold = mem_new(plan->folds, sizeof *trial->fold);
    return trial->scores == NULL || trial->fold == NULL ? ERR_NOMEM : ERR_OK;
}

void trial_close(struct trial *trial)
{
    options_close(&trial->options);
    mem_free(trial->scores);
    mem_free(trial->fold);
    *trial = (struct trial){0};
}

/* One training. */
struct lesson {
    const struct setup *setup;
    const struct plan *plan;
    struct trial *trial;
    uint32_t fold;
    const struct flag *stop;
    const struct dataset *data; /* All rows, as this training has them: ... */
    struct dataset own;         /* ... here, if it has an encoder of its own. */
    /* Weights of the rows: in the training, in the judgement. */
    double *taught, *tested;
};

static void mask_rows(const struct lesson *lesson)
{
    const struct dataset *data = &lesson->setup->data;

    for (uint32_t row = 0; row < data->rows; row++) {
        const bool out = lesson->plan->fold_of[row] == lesson->fold;

        lesson->taught[row] = data->weight == NULL ? 1 : data->weight[row];
        if (out)
            lesson->taught[row] = 0;
        if (lesson->plan->judge == NULL)
            lesson->tested[row] = out ? 1 : 0;
    }
}

static enum err judge(const struct lesson *lesson, const double *w)
{
    const struct setup *setup = lesson->setup;
    const struct dataset *data =
        lesson->plan->judge != NULL ? lesson->plan->judge : lesson->data;
    const uint32_t outputs = outputs_of(setup, lesson->trial);
    const struct problem problem = {.data = data,
                                    .model = model_ops(lesson->trial->model),
                                    .isa = setup->isa,
                                    .outputs = outputs};
    double *z = mem_new((size_t)data->rows * outputs, sizeof *z);
    double *inside = mem_new(problem_dims(&problem), sizeof *inside);
    const struct scored_rows rows = {
        .z = z,
        .y = data->y,
        .weight = lesson->plan->judge == NULL ? lesson->tested : NULL,
        .rows = data->rows,
        .outputs = outputs};
    enum err err = z == NULL || inside == NULL ? ERR_NOMEM : ERR_OK;

    if (err == ERR_OK)
        err = rows_weights_carry(lesson->data, data, outputs, w, inside);
    if (err == ERR_OK)
        err = metrics_scores(&problem, inside, z);
    if (err == ERR_OK)
        err = metrics_of_scores(&lesson->trial->fold[lesson->fold].metrics,
                                problem.model, setup->isa, &rows);
    /* Rows of other folds belong to other threads. */
    for (uint32_t row = 0; err == ERR_OK && row < data->rows; row++)
        if (rows.weight == NULL || rows.weight[row] > 0)
            memcpy(lesson->trial->scores + (size_t)row * outputs,
                   z + (size_t)row * outputs, outputs * sizeof *z);
    mem_free(z);
    mem_free(inside);
    return err;
}

static enum err teach(const struct lesson *lesson, struct fold *fold)
{
    const struct setup *setup = lesson->setup;
    struct dataset part = *lesson->data; /* A view: nothing of it is closed. */
    const struct single_hooks hooks = {.cancel = lesson->stop};
    struct single_result result = {0};
    struct numbers numbers;
    enum err err;

    if (flag_raised(lesson->stop))
        return ERR_CANCELLED;
    mask_rows(lesson);
    part.weight = lesson->taught;
    err =
        numbers_choose(&lesson->trial->options.recipe, lesson->trial->model,
                       setup->isa, &part, pool_serial(), &numbers, &fold->why);
    if (err == ERR_OK)
        err =
            single_train(&part, lesson->trial->model, setup->isa, pool_serial(),
                         &numbers.optim, &hooks, &result, &fold->why);
    if (err == ERR_OK && result.stopped)
        err = ERR_CANCELLED;
    if (err == ERR_OK) {
        fold->steps = result.steps;
        fold->objective = result.outcome.objective * numbers.scale;
        err = judge(lesson, result.weights);
    }
    mem_free(result.weights);
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
        without[row] = lesson->plan->fold_of[row] == lesson->fold;
    if (err == ERR_OK)
        err = setup_encode(setup, &lesson->trial->options.recipe, without, NULL,
                           own, why);
    mem_free(without);
    return err;
}

static enum err run_fold(struct lesson *lesson, struct fold *fold)
{
    const bool encoded =
        lesson->setup->frame.rows > 0 && lesson->plan->judge == NULL;
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
static enum err measure_all(const struct setup *setup, const struct plan *plan,
                            struct trial *trial, struct why *why)
{
    const struct dataset *data = judged(setup, plan);
    double *in = mem_new(data->rows, sizeof *in);
    const struct scored_rows rows = {.z = trial->scores,
                                     .y = data->y,
                                     .weight = in,
                                     .rows = data->rows,
                                     .outputs = outputs_of(setup, trial)};
    enum err err;

    if (in == NULL)
        return why_set(why, ERR_NOMEM, "out of memory");
    for (uint32_t row = 0; row < data->rows; row++)
        in[row] = plan->judge != NULL || plan->fold_of[row] != PLAN_NEVER;
    err = metrics_of_scores(&trial->metrics, model_ops(trial->model),
                            setup->isa, &rows);
    mem_free(in);
    trial->steps = 0;
    for (uint32_t fold = 0; fold < plan->folds; fold++)
        trial->steps += trial->fold[fold].steps;
    return err;
}

struct batch {
    struct flag stop;
    const struct cli *cli;
    const struct setup *setup;
    const struct plan *plan;
    struct trial *trials;
    time_us began;
};

static void batch_item(void *context, uint32_t thread, uint32_t item)
{
    const struct batch *batch = context;
    struct lesson lesson = {
        .setup = batch->setup,
        .plan = batch->plan,
        .trial = &batch->trials[item / batch->plan->folds],
        .fold = item % batch->plan->folds,
        .stop = &batch->stop,
    };

    (void)thread;
    run_lesson(&lesson);
    /* Quick ones are over before a line could be read.  One call a line: other
     * threads speak too. */
    if (!batch->cli->quiet && clock_now_us() - batch->began > SECOND_US)
        (void)fprintf(
            stderr, "%s%sfold %u/%u: %u steps, %.1f s\n", lesson.trial->text,
            lesson.trial->text[0] == '\0' ? "" : ", ", lesson.fold + 1,
            batch->plan->folds, lesson.trial->fold[lesson.fold].steps,
            lesson.trial->fold[lesson.fold].seconds);
}

static enum err first_error(const struct plan *plan, const struct trial *trials,
                            uint32_t count, struct why *why)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < plan->folds; j++) {
            const struct fold *fold = &trials[i].fold[j];
            const char *said = fold->why.text;

            if (fold->err != ERR_OK)
                return why_set(why, fold->err, "%s%s%s", trials[i].text,
                               trials[i].text[0] == '\0' ? "" : ": ",
                               said[0] == '\0' ? err_text(fold->err) : said);
        }
    return ERR_OK;
}

enum err trials_run(const struct cli *cli, const struct setup *setup,
                    const struct plan *plan, struct trial *trials,
                    uint32_t count, struct why *why)
{
    struct batch batch = {.cli = cli,
                          .setup = setup,
                          .plan = plan,
                          .trials = trials,
                          .began = clock_now_us()};
    struct pool *pool;
    enum err err = threads_new(setup->threads, &pool);

    if (err != ERR_OK)
        return why_set(why, err, "cannot start %u threads; try --threads 1",
                       setup->threads);
    CHECK((uint64_t)count * plan->folds <= UINT32_MAX);
    interrupt_begin(&batch.stop);
    pool->run(pool, batch_item, &batch, count * plan->folds);
    interrupt_end();
    threads_free(pool);
    err = interrupt_signal() != 0
              ? why_set(why, ERR_CANCELLED,
                        "stopped; of folds and grids nothing is kept")
              : first_error(plan, trials, count, why);
    for (uint32_t i = 0; i < count && err == ERR_OK; i++)
        err = measure_all(setup, plan, &trials[i], why);
    return err;
}

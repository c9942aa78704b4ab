/*
 * lesson.c - one training of a fold: in a thread of this process, or with
 * workers.
 *
 * Both see the same rows, numbers and seeds and judge by the same scores, so
 * that they come to the same bits.
 */
#include "learn/series/lesson.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "data/rows/split.h"
#include "learn/batches.h"
#include "learn/family/family.h"
#include "learn/family/held.h"
#include "learn/numbers.h"
#include "learn/series/series.h"
#include "learn/series/staff.h"
#include "os/clock.h"
#include "os/run/thread.h"
#include "os/run/threads.h"

static bool stopped(const struct flag *stop)
{
    return stop != NULL && flag_raised(stop);
}

static enum err open_pool(const struct lesson *lesson, struct pool **pool)
{
    *pool = pool_serial();
    return lesson->series == NULL ? ERR_OK : setup_crowd(lesson->setup, pool);
}

static void close_pool(struct pool *pool)
{
    if (pool != pool_serial())
        threads_free(pool);
}

static bool left_out(const struct lesson *lesson, uint32_t row)
{
    return lesson->folds->of[row] == lesson->fold;
}

/* What is left out has no weight in the training. */
static enum err mask_rows(struct lesson *lesson)
{
    const struct dataset *data = &lesson->setup->data;

    lesson->taught = mem_new(data->rows, sizeof *lesson->taught);
    if (lesson->taught == NULL)
        return ERR_NOMEM;
    for (uint32_t row = 0; row < data->rows; row++) {
        lesson->taught[row] = data->weight == NULL ? 1 : data->weight[row];
        if (left_out(lesson, row))
            lesson->taught[row] = 0;
    }
    return ERR_OK;
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

static const struct dataset *judged(const struct lesson *lesson)
{
    return lesson->folds->judge != NULL ? lesson->folds->judge : lesson->data;
}

static bool is_judged(const struct lesson *lesson, uint32_t row)
{
    return lesson->folds->judge != NULL || left_out(lesson, row);
}

static size_t count_judged(const struct lesson *lesson)
{
    const struct dataset *const data = judged(lesson);
    size_t count = 0;

    for (uint32_t row = 0; row < data->rows; row++)
        count += is_judged(lesson, row);
    return count;
}

/* Of the judged rows alone, one after the other, from `width` numbers of each
 * row. */
static void pick_judged(const struct lesson *lesson, const double *all,
                        uint32_t width, double *some)
{
    const uint32_t rows = judged(lesson)->rows;

    for (uint32_t row = 0; row < rows; row++)
        if (is_judged(lesson, row)) {
            memcpy(some, all + (size_t)row * width, width * sizeof *some);
            some += width;
        }
}

/* Scores of the judged rows.  Those of other folds would cost as much, and
 * count for nothing. */
static enum err judge_scores(const struct lesson *lesson, const double *z)
{
    const size_t count = count_judged(lesson);
    double *const y = mem_new(count, sizeof *y);
    const struct scored_rows rows = {
        .z = z,
        .y = y,
        .rows = count,
        .outputs = trial_outputs(lesson->setup, lesson->trial)};
    enum err err = ERR_NOMEM;

    if (y != NULL) {
        pick_judged(lesson, judged(lesson)->y, 1, y);
        err = metrics_of_scores(&lesson->trial->fold[lesson->fold].metrics,
                                model_ops(lesson->trial->model),
                                lesson->setup->isa, &rows);
    }
    mem_free(y);
    return err;
}

/* Rows of other folds belong to other threads. */
static void keep_scores(const struct lesson *lesson, const double *some)
{
    const uint32_t outputs = trial_outputs(lesson->setup, lesson->trial);
    const uint32_t rows = judged(lesson)->rows;

    for (uint32_t row = 0; row < rows; row++)
        if (is_judged(lesson, row)) {
            memcpy(lesson->trial->scores + (size_t)row * outputs, some,
                   outputs * sizeof *some);
            some += outputs;
        }
}

/* What the model says of the judged rows; the caller's then. */
static enum err score(const struct lesson *lesson, struct pool *pool,
                      const double *w, double **scores)
{
    const struct setup *part = &lesson->part;
    const struct dataset *const data = judged(lesson);
    const uint32_t outputs = trial_outputs(lesson->setup, lesson->trial);
    double *const z = mem_new((size_t)data->rows * outputs, sizeof *z);
    double *const some = mem_new(count_judged(lesson) * outputs, sizeof *some);
    enum err err = z == NULL || some == NULL
                       ? ERR_NOMEM
                       : setup_family(part)->scores(part, data, pool, w, z);

    if (err == ERR_OK)
        pick_judged(lesson, z, outputs, some);
    mem_free(z);
    if (err == ERR_OK)
        *scores = some;
    else
        mem_free(some);
    return err;
}

/* How good the scores are: one thread's work, beside what all of them then ask
 * the rows. */
struct marking {
    const struct lesson *lesson;
    double *scores;
    struct thread *thread; /* NULL: it is done. */
    enum err err;
};

static void mark(void *context)
{
    struct marking *const marking = context;

    marking->err = judge_scores(marking->lesson, marking->scores);
    if (marking->err == ERR_OK)
        keep_scores(marking->lesson, marking->scores);
}

/* Who has one thread for a training marks in it. */
static void marking_begin(struct marking *marking)
{
    if (marking->lesson->series != NULL &&
        thread_start(mark, marking, &marking->thread) == ERR_OK)
        return;
    marking->thread = NULL;
    mark(marking);
}

static enum err marking_end(struct marking *marking)
{
    thread_join(marking->thread);
    mem_free(marking->scores);
    return marking->err;
}

/* Until then the objective may be that of the point before, of a batch, or, of
 * a code that leaves answers out, of some rows; what ended it may be an
 * estimate that coded data do not bear out; and steps that are over say nothing
 * of what was learnt. */
static bool is_open(const struct setup *part, const struct alone_result *result)
{
    return setup_family(part)->apart || !result->outcome.at_model ||
           result->outcome.end == OPTIM_STEPS || setup_is_coded(part) ||
           (part->slots > 0 && part->exactness == EXACT_APPROX);
}

static enum err settle(const struct setup *part, struct pool *pool,
                       struct alone_result *result, struct fold *fold)
{
    struct train_result settled = {.weights = result->weights,
                                   .dims = result->dims,
                                   .outcome = result->outcome};
    const enum err err = setup_family(part)->settle(part, pool, &settled);

    result->outcome = settled.outcome;
    if (err == ERR_OK &&
        constant_sentence(part, &settled, fold->nothing) == NULL)
        (void)held_sentence(part, &settled, fold->nothing);
    return err;
}

/* What is left to ask of a model at its optimum. */
static enum err weigh(const struct setup *part, struct pool *pool,
                      const struct alone_result *result, struct fold *fold)
{
    struct train_result settled = {.weights = result->weights,
                                   .dims = result->dims,
                                   .outcome = result->outcome};
    enum err err = ERR_OK;

    static_assert(HELD_TEXT <= CONSTANT_TEXT, "room for either");
    if (setup_family(part)->converges)
        err = held_judge(part, pool, &settled);
    if (err == ERR_OK)
        (void)held_sentence(part, &settled, fold->nothing);
    return err;
}

static enum err train_here(const struct lesson *lesson,
                           struct alone_result *result, struct why *why)
{
    const struct setup *part = &lesson->part;
    const struct alone_hooks hooks = {.hooks.cancel = lesson->stop};
    const struct objective_options what = {.data = &part->data,
                                           .model = part->model,
                                           .net = setup_net(part),
                                           .isa = part->isa,
                                           .optim = &part->optim,
                                           .bounds = part->bounds};
    const enum err err = alone_train(&what, pool_serial(), &hooks, result, why);

    return err == ERR_OK && result->stopped ? ERR_CANCELLED : err;
}

static enum err judge_result(const struct lesson *lesson, struct fold *fold,
                             struct alone_result *result)
{
    const struct setup *part = &lesson->part;
    struct marking marking = {.lesson = lesson};
    struct pool *pool;
    enum err err = open_pool(lesson, &pool), marked;

    if (err != ERR_OK)
        return err;
    err = score(lesson, pool, result->weights, &marking.scores);
    if (err == ERR_RANGE)
        err = why_set(&fold->why, err,
                      "a score is not finite; a smaller --lr helps");
    if (err == ERR_OK) {
        marking_begin(&marking);
        err = is_open(part, result) ? settle(part, pool, result, fold)
                                    : weigh(part, pool, result, fold);
        marked = marking_end(&marking);
        err = err == ERR_OK ? marked : err;
    }
    close_pool(pool);
    return err;
}

/* Once, for the training and for what is asked of its model.  Networks have
 * no such bounds, and sgd asks for none. */
static enum err measure_rows(struct lesson *lesson, struct why *why)
{
    struct setup *const part = &lesson->part;
    const struct problem problem = setup_problem(part);
    struct pool *pool;
    enum err err;

    if (setup_net(part) != NULL || part->optim.kind == OPTIM_SGD)
        return ERR_OK;
    err = open_pool(lesson, &pool);
    if (err != ERR_OK)
        return err;
    err = bounds_init(&lesson->bounds, part->data.stride);
    if (err == ERR_OK)
        err = bounds_measure_all(&lesson->bounds, &problem, pool, why);
    close_pool(pool);
    part->bounds = &lesson->bounds;
    return err;
}

static enum err run_training(const struct lesson *lesson,
                             struct alone_result *result, struct why *why)
{
    return lesson->series == NULL
               ? train_here(lesson, result, why)
               : series_train(lesson->series, &lesson->part, lesson->trial,
                              lesson->fold, lesson->last, result, why);
}

static void note_outcome(const struct lesson *lesson, struct fold *fold,
                         enum err err)
{
    const struct optim_outcome *const outcome = &lesson->result.outcome;

    fold->diverged = err == ERR_RANGE;
    fold->end = outcome->end;
    fold->objective = outcome->objective * lesson->part.shown_factor;
}

static enum err train(struct lesson *lesson, struct fold *fold)
{
    enum err err = measure_rows(lesson, &fold->why);

    if (err == ERR_OK)
        err = run_training(lesson, &lesson->result, &fold->why);
    if (err == ERR_OK) {
        fold->steps = lesson->result.steps;
        fold->hash = lesson->result.hash;
    }
    note_outcome(lesson, fold, err);
    return err;
}

/* What a plain training of the taught rows would choose. */
static enum err prepare(struct lesson *lesson, struct why *why)
{
    const struct recipe *recipe = &lesson->trial->recipe;
    struct setup *part = &lesson->part;
    const struct family *family = setup_family(part);
    struct numbers numbers;
    struct pool *pool;
    enum err err = ERR_OK;

    if (family->build != NULL)
        err = family->build(part, recipe, why);
    if (err == ERR_OK && family->apart)
        err = batches_cut(recipe, family, &part->data, why);
    if (err == ERR_OK)
        err = open_pool(lesson, &pool);
    if (err != ERR_OK)
        return err;
    err = family->numbers(part, recipe, pool, &numbers, why);
    close_pool(pool);
    if (err != ERR_OK)
        return err;
    part->optim = numbers.optim;
    part->shown_factor = numbers.shown_factor;
    return ERR_OK;
}

static void name_folds(const struct lesson *lesson, struct dataset *data)
{
    data->fold = lesson->folds->of;
    data->without = lesson->fold;
    data->given = lesson->setup->data.weight;
}

static enum err teach(struct lesson *lesson, struct fold *fold)
{
    struct setup *part = &lesson->part;
    const bool apart = setup_family(lesson->setup)->apart;
    enum err err = ERR_OK;

    if (stopped(lesson->stop))
        return ERR_CANCELLED;
    *part = *lesson->setup; /* A view, but for what is made here. */
    part->terms.note = NULL;
    if (lesson->trial->staff != NULL)
        staff_take(part, lesson->trial->staff);
    part->model = lesson->trial->model;
    part->net = (struct neural_model){0};
    part->start = NULL;
    part->data = *lesson->data;
    part->data.weight = lesson->taught;
    if (lesson->series != NULL && !apart) /* The same to ship for all folds. */
        name_folds(lesson, &part->data);
    if (apart) {
        part->data = (struct dataset){0};
        err = take_rows(lesson, &part->data);
        if (err == ERR_OK && lesson->series != NULL)
            setup_know(lesson->setup, &part->data); /* Many ask. */
    }
    if (err == ERR_OK)
        err = prepare(lesson, &fold->why);
    return err == ERR_OK ? train(lesson, fold) : err;
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

/* Has it a table that is encoded for it alone? */
static bool is_encoded(const struct lesson *lesson)
{
    return lesson->setup->frame.rows > 0 && lesson->folds->judge == NULL;
}

static enum err run_fold(struct lesson *lesson, struct fold *fold)
{
    enum err err = ERR_OK;

    lesson->data = &lesson->setup->data;
    if (is_encoded(lesson)) {
        err = encode_fold(lesson, &lesson->own, &fold->why);
        if (err == ERR_OK && lesson->series != NULL)
            setup_know(lesson->setup, &lesson->own);
        lesson->data = &lesson->own;
    }
    return err == ERR_OK ? teach(lesson, fold) : err;
}

void lesson_teach(struct lesson *lesson)
{
    struct fold *fold = &lesson->trial->fold[lesson->fold];
    const time_us began = clock_now_us();

    fold->metrics = metrics_none();
    fold->err = mask_rows(lesson);
    if (fold->err == ERR_OK)
        fold->err = run_fold(lesson, fold);
    lesson->taught_us = clock_now_us() - began - lesson->elsewhere_us;
}

static void lesson_close(struct lesson *lesson)
{
    struct setup *const part = &lesson->part;

    if (setup_family(lesson->setup)->apart)
        dataset_close(&part->data);
    neural_model_close(&part->net);
    mem_free(part->start);
    dataset_close(&lesson->own);
    lesson->data = &lesson->setup->data; /* What is noted has its rows. */
    mem_free(lesson->taught);
    bounds_close(&lesson->bounds);
    mem_free(lesson->result.weights);
}

void lesson_judge(struct lesson *lesson)
{
    struct fold *fold = &lesson->trial->fold[lesson->fold];
    const time_us began = clock_now_us();

    if (fold->err == ERR_OK) {
        fold->err = judge_result(lesson, fold, &lesson->result);
        note_outcome(lesson, fold, fold->err);
    }
    lesson_close(lesson);
    fold->seconds = (double)(lesson->taught_us + clock_now_us() - began) /
                    (double)SECOND_US;
}

bool lesson_waits(const struct lesson *lesson)
{
    return lesson->trial->fold[lesson->fold].err == ERR_OK &&
           !is_encoded(lesson) && !setup_family(lesson->setup)->apart;
}

void lesson_run(struct lesson *lesson)
{
    lesson_teach(lesson);
    lesson_judge(lesson);
}

/* --- of a series ---------------------------------------------------------- */

/* What was over before is judged as it was then. */
static enum err recall(struct lesson *lesson, double *some, size_t count)
{
    struct logbook *const book = series_logbook(lesson->series);
    enum err err =
        logbook_scores(book, lesson->index, lesson->fold, some, count);

    if (err == ERR_OK)
        err = judge_scores(lesson, some);
    if (err == ERR_OK)
        keep_scores(lesson, some);
    return err;
}

bool lesson_recall(struct lesson *lesson)
{
    struct logbook *const book = series_logbook(lesson->series);
    const struct entry *const entry =
        logbook_find(book, lesson->index, lesson->fold);
    struct fold *const fold = &lesson->trial->fold[lesson->fold];
    struct fold was = {.metrics = metrics_none()};
    size_t count;
    double *some;
    enum err err;

    if (entry == NULL)
        return false;
    was.steps = entry->steps;
    was.objective = entry->objective;
    was.seconds = entry->seconds;
    was.hash = entry->hash;
    was.diverged = entry->diverged;
    was.err = entry->diverged ? ERR_RANGE : ERR_OK;
    was.end = entry->end;
    if (entry->diverged)
        was.why = entry->why;
    else
        (void)snprintf(was.nothing, sizeof was.nothing, "%s", entry->why.text);
    *fold = was;
    series_forget(lesson->series, lesson->index, lesson->fold);
    if (entry->diverged)
        return true;
    lesson->data = &lesson->setup->data;
    count = count_judged(lesson) * trial_outputs(lesson->setup, lesson->trial);
    some = mem_new(count, sizeof *some);
    err = some == NULL ? ERR_NOMEM : recall(lesson, some, count);
    mem_free(some);
    return err == ERR_OK;
}

enum err lesson_note(const struct lesson *lesson, struct why *why)
{
    const struct fold *const fold = &lesson->trial->fold[lesson->fold];
    struct entry entry = {.trial = lesson->index,
                          .fold = lesson->fold,
                          .steps = fold->steps,
                          .diverged = fold->diverged,
                          .end = fold->end,
                          .objective = fold->objective,
                          .seconds = fold->seconds,
                          .hash = fold->hash};
    const uint32_t outputs = trial_outputs(lesson->setup, lesson->trial);
    const size_t count = fold->diverged ? 0 : count_judged(lesson) * outputs;
    double *const some = mem_new(count, sizeof *some);
    enum err err;

    if (some == NULL)
        return why_set(why, ERR_NOMEM, "out of memory");
    if (fold->diverged)
        entry.why = fold->why;
    else
        (void)snprintf(entry.why.text, sizeof entry.why.text, "%s",
                       fold->nothing);
    if (count > 0)
        pick_judged(lesson, lesson->trial->scores, outputs, some);
    err = series_done(lesson->series, &entry, some, count, why);
    mem_free(some);
    return err;
}

/*
 * folds.c - cross-validation and grids: which rows are left out when, and many
 * trainings, side by side or one after the other.
 */
#include "learn/folds.h"

#include "base/check.h"
#include "base/flag.h"
#include "base/mem.h"
#include "learn/rows.h"
#include "learn/series/lesson.h"
#include "learn/series/series.h"
#include "learn/series/staff.h"
#include "os/clock.h"
#include "os/run/thread.h"
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

uint32_t trial_outputs(const struct setup *setup, const struct trial *trial)
{
    const struct problem problem =
        problem_of(&setup->data, trial->model, setup->isa);

    return problem_outputs(&problem);
}

enum err trial_init(struct trial *trial, const struct setup *setup,
                    const struct folds *folds)
{
    trial->scores = mem_new((size_t)judged(setup, folds)->rows *
                                trial_outputs(setup, trial),
                            sizeof *trial->scores);
    trial->fold = mem_new(folds->count, sizeof *trial->fold);
    trial->folds = folds->count;
    return trial->scores == NULL || trial->fold == NULL ? ERR_NOMEM : ERR_OK;
}

void trial_close(struct trial *trial)
{
    recipe_close(&trial->recipe);
    staff_free(trial->staff);
    mem_free(trial->scores);
    mem_free(trial->fold);
    *trial = (struct trial){0};
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
                                     .outputs = trial_outputs(setup, trial)};
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
    trial->seconds = 0;
    for (uint32_t fold = 0; fold < folds->count; fold++) {
        trial->steps += trial->fold[fold].steps;
        trial->seconds += trial->fold[fold].seconds;
    }
    return err;
}

/* The last lesson of a series is written down while all are measured. */
struct noting {
    struct lesson lesson;
    struct thread *thread; /* NULL: nothing is being written. */
    enum err err;
    struct why why;
};

struct batch {
    const struct setup *setup;
    const struct folds *folds;
    struct trial *trials;
    const struct trial_hooks *hooks;
    struct noting *noting;
};

static struct lesson lesson_of(const struct batch *batch, uint32_t trial,
                               uint32_t fold)
{
    return (struct lesson){.setup = batch->setup,
                           .folds = batch->folds,
                           .trial = &batch->trials[trial],
                           .index = trial,
                           .fold = fold,
                           .stop = batch->hooks->stop,
                           .series = batch->hooks->series};
}

static void tell_done(const struct batch *batch, const struct lesson *lesson)
{
    if (batch->hooks->done != NULL)
        batch->hooks->done(batch->hooks->context, lesson->trial, lesson->fold);
}

static void batch_item(void *context, uint32_t thread, uint32_t item)
{
    const struct batch *batch = context;
    const uint32_t folds = batch->folds->count;
    struct lesson lesson = lesson_of(batch, item / folds, item % folds);

    (void)thread;
    lesson_run(&lesson);
    if (lesson.trial->fold[lesson.fold].err != ERR_CANCELLED)
        tell_done(batch, &lesson);
}

static enum err side_by_side(struct batch *batch, uint32_t count,
                             struct why *why)
{
    struct pool *pool;
    const enum err err = setup_threads(batch->setup, &pool, why);

    if (err != ERR_OK)
        return err;
    pool->run(pool, batch_item, batch, count);
    threads_free(pool);
    return ERR_OK;
}

/* A training that failed is not the last that would: the rest is left. */
static bool is_over(const struct lesson *lesson)
{
    const struct fold *const fold = &lesson->trial->fold[lesson->fold];

    return fold->err == ERR_OK || fold->diverged;
}

/* After the last one there is nothing to stop. */
static bool is_stopped(const struct lesson *lesson, bool last)
{
    return lesson->trial->fold[lesson->fold].err == ERR_CANCELLED ||
           (!last &&
            (stopped(lesson->stop) || series_signal(lesson->series) != 0));
}

/* Those of one fold follow each other: they share its rows. */
static struct lesson nth_lesson(const struct batch *batch, uint32_t count,
                                uint32_t i)
{
    const uint32_t trials = count / batch->folds->count;

    return lesson_of(batch, i % trials, i / trials);
}

/* Those that were over before; the last of the others, or `count`. */
static uint32_t recall_all(const struct batch *batch, uint32_t count,
                           bool *known)
{
    uint32_t last = count;

    for (uint32_t i = 0; i < count; i++) {
        struct lesson lesson = nth_lesson(batch, count, i);

        known[i] = lesson_recall(&lesson);
        if (!known[i])
            last = i;
    }
    return last;
}

/* One lesson is taught while the one before it is judged. */
struct turn {
    const struct batch *batch;
    struct lesson lessons[2];
    struct lesson *taught;  /* And not yet judged; NULL: none. */
    struct lesson *at_hand; /* Being taught; NULL: none. */
    bool failed;
    enum err err;
    struct why *why;
};

static void note_last(void *context)
{
    struct noting *const noting = context;

    noting->err = lesson_note(&noting->lesson, &noting->why);
}

static bool noting_begin(struct noting *noting, const struct lesson *lesson)
{
    noting->lesson = *lesson;
    if (thread_start(note_last, noting, &noting->thread) == ERR_OK)
        return true;
    noting->thread = NULL;
    return false;
}

static enum err noting_end(struct noting *noting, struct why *why)
{
    thread_join(noting->thread);
    if (noting->err != ERR_OK)
        *why = noting->why;
    return noting->err;
}

static void end_lesson(struct turn *turn, struct lesson *lesson)
{
    lesson_judge(lesson);
    if (!is_over(lesson)) {
        turn->failed = true;
        return;
    }
    if (!lesson->last || !noting_begin(turn->batch->noting, lesson))
        turn->err = lesson_note(lesson, turn->why);
    tell_done(turn->batch, lesson);
}

static bool end_taught(void *context)
{
    struct turn *const turn = context;
    struct lesson *const lesson = turn->taught;
    const time_us began = clock_now_us();

    turn->taught = NULL;
    if (lesson != NULL)
        end_lesson(turn, lesson);
    if (turn->at_hand != NULL) /* Each fold's seconds are its own. */
        turn->at_hand->elsewhere_us += clock_now_us() - began;
    return turn->err == ERR_OK && !turn->failed;
}

/* It was stopped because the one before could not be judged: that one's error
 * is the one to tell. */
static void excuse(struct lesson *lesson)
{
    lesson_judge(lesson); /* It ends, unwritten. */
    lesson->trial->fold[lesson->fold].err = ERR_OK;
}

/* ERR_CANCELLED: all have been told to stop. */
static enum err take_turn(struct turn *turn, struct lesson *lesson)
{
    const struct meanwhile left = {end_taught, turn};
    bool stop;

    series_meanwhile(lesson->series, turn->taught != NULL
                                         ? &left
                                         : &(const struct meanwhile){0});
    turn->at_hand = lesson;
    lesson_teach(lesson);
    turn->at_hand = NULL;
    (void)end_taught(turn); /* If no worker has begun. */
    if (turn->err != ERR_OK) {
        lesson_judge(lesson); /* It ends, unwritten. */
        return turn->err;
    }
    if (turn->failed &&
        lesson->trial->fold[lesson->fold].err == ERR_CANCELLED) {
        excuse(lesson);
        return ERR_OK;
    }
    stop = is_stopped(lesson, lesson->last);
    if (!stop && !lesson->last && !turn->failed && lesson_waits(lesson))
        turn->taught = lesson;
    else
        end_lesson(turn, lesson);
    return turn->err == ERR_OK && stop
               ? series_stopped(lesson->series, turn->why)
               : turn->err;
}

static enum err take_turns(struct turn *turn, uint32_t count, const bool *known,
                           uint32_t last)
{
    enum err err = ERR_OK;

    for (uint32_t i = 0, at = 0; i < count && err == ERR_OK; i++) {
        struct lesson *const lesson = &turn->lessons[at % 2];

        if (known[i])
            continue;
        *lesson = nth_lesson(turn->batch, count, i);
        lesson->last = i == last;
        err = take_turn(turn, lesson);
        if (turn->failed)
            break;
        at++;
    }
    return err;
}

/* Two lessons are large, stacks may be small, and each coordinator is forked
 * with what is on this one. */
static enum err train_rest(const struct batch *batch, uint32_t count,
                           bool *known, struct why *why)
{
    struct turn *const turn = mem_new(1, sizeof *turn);
    enum err err;

    if (turn == NULL)
        return why_set(why, ERR_NOMEM, "out of memory");
    turn->batch = batch;
    turn->why = why;
    err = take_turns(turn, count, known, recall_all(batch, count, known));
    mem_free(turn);
    return err;
}

static enum err in_turn(const struct batch *batch, uint32_t count,
                        struct why *why)
{
    bool *const known = mem_new(count, sizeof *known);
    enum err err;

    if (known == NULL)
        return why_set(why, ERR_NOMEM, "out of memory");
    err = series_plan(batch->hooks->series, batch->folds, batch->trials,
                      count / batch->folds->count, why);
    if (err == ERR_OK)
        err = train_rest(batch, count, known, why);
    mem_free(known);
    return err;
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
    struct noting noting = {.err = ERR_OK};
    struct batch batch = {.setup = setup,
                          .folds = folds,
                          .trials = trials,
                          .hooks = hooks,
                          .noting = &noting};
    struct why unwritten = {0};
    enum err err, noted;

    CHECK((uint64_t)count * folds->count <= UINT32_MAX);
    err = hooks->series == NULL
              ? side_by_side(&batch, count * folds->count, why)
              : in_turn(&batch, count * folds->count, why);
    if (err == ERR_OK)
        err = hooks->series == NULL && stopped(hooks->stop)
                  ? why_set(why, ERR_CANCELLED,
                            "stopped; of folds and grids nothing is kept")
                  : first_error(folds, trials, count, why);
    for (uint32_t i = 0; i < count && err == ERR_OK; i++)
        err = measure_all(setup, folds, &trials[i], why);
    noted = noting_end(&noting, &unwritten);
    if (err == ERR_OK && noted != ERR_OK)
        err = why_set(why, noted, "%s", unwritten.text);
    return err;
}

enum err folds_prepare(const struct setup *setup, const struct recipe *recipe,
                       struct folds *folds, struct trial *trial,
                       struct why *why)
{
    enum err err =
        folds_draw(folds, setup, (uint32_t)recipe_count(recipe, OPT_FOLDS),
                   recipe_count(recipe, OPT_SEED), why);

    trial->model = setup->model;
    if (err == ERR_OK)
        err = recipe_copy(&trial->recipe, recipe, why);
    if (err == ERR_OK)
        err = trial_init(trial, setup, folds);
    return err;
}

enum err folds_validate(const struct setup *setup, const struct recipe *recipe,
                        const struct trial_hooks *hooks, struct folds *folds,
                        struct trial *trial, struct why *why)
{
    const enum err err = folds_prepare(setup, recipe, folds, trial, why);

    return err == ERR_OK ? trials_run(setup, folds, trial, 1, hooks, why) : err;
}

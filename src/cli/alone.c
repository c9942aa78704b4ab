/*
 * alone.c - one perfect machine: this process.
 *
 * Its state is kept in a folder of its own, made when it is first saved: runs
 * that are over before leave none.  It is saved now and then, and when a signal
 * asks the run to end; --resume goes on from there.
 */
#include <stdio.h>

#include "base/flag.h"
#include "cli/run.h"
#include "node/fixed/single.h"
#include "node/host/keep.h"
#include "os/clock.h"
#include "os/run/interrupt.h"
#include "os/run/threads.h"

struct alone {
    struct run *run; /* NULL: nobody watches. */
    time_us step_at; /* When the last step ended. */
    time_us best_us; /* The shortest step. */
    const struct setup *setup;
    time_us judged_at; /* When the validation set was last looked at ... */
    time_us judged_us; /* ... and how long that took. */
    time_us saved_at;  /* When that was last tried ... */
    time_us saved_us;  /* ... and how long it took. */
    uint32_t alarms;   /* How often it failed. */
    time_us until;     /* --max-time; 0: none. */
    struct flag stop;
};

#define JUDGE_US    SECOND_US
#define JUDGE_SHARE 10  /* At most a tenth of the time goes there. */
#define SAVE_STEPS  10u /* Both have passed, or ... */
#define SAVE_US     (2 * SECOND_US)
#define SAVE_LATE_US                                                           \
    (10 * SECOND_US) /* ... so much time, however few steps.                   \
                      */

/* The metric on the validation set, now and then. */
static void judge(struct alone *alone, const struct optim *optim, time_us now)
{
    const struct setup *setup = alone->setup;
    struct screen *screen = &alone->run->screen;
    struct metrics metrics;

    if (!setup->has_valid || screen->mode == SCREEN_NONE ||
        now - alone->judged_at < JUDGE_US ||
        now - alone->judged_at < JUDGE_SHARE * alone->judged_us)
        return;
    metrics = setup_measure(setup, &setup->valid, optim_weights(optim));
    (void)snprintf(screen->extra, sizeof screen->extra, "valid %s %.4g",
                   metric_name(setup->metric),
                   metric_value(&metrics, setup->metric));
    alone->judged_at = clock_now_us();
    alone->judged_us = alone->judged_at - now;
}

/* The folder is made when it is needed. */
static enum err open_keep(struct alone *alone, struct why *why)
{
    struct run *run = alone->run;
    enum err err = ERR_OK;

    if (alone->run->keep != NULL)
        return ERR_OK;
    if (run->out[0] == '\0')
        err = run_choose_folder(run, why);
    if (err == ERR_OK)
        err = run_open_folder(run, why);
    if (err == ERR_OK) {
        const struct digest config = config_digest(alone->setup);

        err = keep_open(run->out, &config, false, &alone->run->keep, why);
    }
    return err;
}

static bool save(struct alone *alone, const struct optim *optim)
{
    const struct problem problem = setup_problem(alone->setup);
    const struct digest hash = problem_hash(&problem, optim_weights(optim));
    const time_us began = clock_now_us();
    enum err err = open_keep(alone, &alone->run->save_why);

    if (err == ERR_OK)
        err = keep_save(alone->run->keep, optim, &hash,
                        dataset_chunks(&alone->setup->data),
                        &alone->run->save_why);
    if (err == ERR_OK)
        err = run_point_latest(alone->run, &alone->run->save_why);
    alone->saved_at = clock_now_us();
    alone->saved_us = alone->saved_at - began;
    alone->alarms += err != ERR_OK;
    return err == ERR_OK;
}

static bool save_due(const struct alone *alone, const struct optim *optim,
                     time_us now)
{
    const uint32_t saved =
        alone->run->keep == NULL ? 0 : keep_step(alone->run->keep);
    const time_us since = now - alone->saved_at;

    return alone->run->keeps && optim->step > saved && since >= SAVE_US &&
           since >= JUDGE_SHARE * alone->saved_us &&
           (optim->step - saved >= SAVE_STEPS || since >= SAVE_LATE_US);
}

/* Save if it is time to, or the end; false: it is. */
static bool look_after(struct alone *alone, const struct optim *optim,
                       time_us now)
{
    const bool ends =
        flag_raised(&alone->stop) || (alone->until > 0 && now >= alone->until);

    if (optim_next(optim).kind == ASK_DONE)
        return true;
    if (save_due(alone, optim, now) || (ends && alone->run->keeps))
        (void)save(alone, optim);
    return !ends;
}

static bool see(void *context, const struct optim *optim)
{
    struct alone *alone = context;
    const time_us now = clock_now_us();

    if (now - alone->step_at < alone->best_us)
        alone->best_us = now - alone->step_at;
    alone->step_at = now;
    if (alone->run != NULL) {
        alone->run->watch.step = optim->step;
        alone->run->watch.objective = optim->objective * alone->setup->scale;
        judge(alone, optim, now);
        screen_step(&alone->run->screen, &alone->run->watch, now);
    }
    return alone->run == NULL || look_after(alone, optim, now);
}

static void fill(struct train_result *result,
                 const struct single_result *single, time_us took_us)
{
    *result = (struct train_result){
        .finished = !single->stopped,
        .hash = single->hash,
        .steps = single->steps,
        .elapsed_s = (double)took_us / (double)SECOND_US,
        .outcome = single->outcome,
        .weights = single->weights,
        .dims = single->dims,
    };
    result->stats.exactness[EXACT_BITWISE] = single->steps;
    result->stats.chunks_covered = single->steps;
}

/* With --resume: the state to go on from. */
static enum err resume(struct alone *alone, struct single_hooks *hooks,
                       struct why *why)
{
    struct run *run = alone->run;
    const struct digest config = config_digest(alone->setup);
    const enum err err =
        keep_open(run->out, &config, true, &alone->run->keep, why);

    if (err == ERR_OK)
        (void)keep_state(alone->run->keep, &hooks->state, &hooks->state_size);
    return err;
}

static void begin(struct alone *alone, const struct options *options)
{
    const double limit_s = option_real(options, OPT_MAX_TIME);
    const time_us now = clock_now_us();

    alone->run->screen.steps = alone->setup->optim.steps;
    alone->run->screen.code = alone->setup->code.name;
    alone->run->screen.began_at = now;
    if (limit_s > 0)
        alone->until = now + (time_us)(limit_s * (double)SECOND_US);
    interrupt_begin(&alone->stop);
}

/* What ended it, if it was not the training itself. */
static void end(struct alone *alone, struct train_result *result)
{
    struct run *run = alone->run;

    interrupt_end();
    result->signal = result->finished ? 0 : interrupt_signal();
    result->timed_out = !result->finished && interrupt_signal() == 0;
    result->saved = run->keep == NULL ? 0 : keep_step(run->keep);
    result->stats.alarms = alone->alarms;
    screen_end(&run->screen, &run->watch, NULL, 0);
}

static enum err train(struct alone *alone, struct train_result *result,
                      struct why *why)
{
    const struct setup *setup = alone->setup;
    struct single_hooks hooks = {
        .watch = see, .context = alone, .cancel = &alone->stop};
    struct single_result single = {0};
    const time_us began = clock_now_us();
    struct pool *pool;
    enum err err = threads_new(setup->threads, &pool);

    if (err != ERR_OK)
        return why_set(why, err, "cannot start %u threads; try --threads 1",
                       setup->threads);
    if (alone->run != NULL && alone->run->keeps &&
        option_given(&alone->run->cli->options, OPT_RESUME))
        err = resume(alone, &hooks, why);
    alone->step_at = alone->judged_at = alone->saved_at = began;
    if (err == ERR_OK)
        err = single_train(&setup->data, setup->model, setup->isa, pool,
                           &setup->optim, &hooks, &single, why);
    threads_free(pool);
    if (err == ERR_OK)
        fill(result, &single, clock_now_us() - began);
    return err;
}

enum err run_alone(const struct setup *setup, struct run *run,
                   struct train_result *result, time_us *best_step_us,
                   struct why *why)
{
    struct alone alone = {.run = run, .best_us = TIME_NEVER, .setup = setup};
    enum err err;

    *result = (struct train_result){0};
    if (run != NULL)
        begin(&alone, &run->cli->options);
    err = train(&alone, result, why);
    if (run != NULL)
        end(&alone, result);
    if (err == ERR_OK && best_step_us != NULL)
        *best_step_us = alone.best_us;
    return err;
}

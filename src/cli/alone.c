/*
 * alone.c - one perfect machine: this process.
 */
#include <stdio.h>

#include "cli/run.h"
#include "node/single.h"
#include "os/clock.h"
#include "os/threads.h"

struct alone {
    struct run *run; /* NULL: nobody watches. */
    time_us step_at; /* When the last step ended. */
    time_us best_us; /* The shortest step. */
    const struct setup *setup;
    time_us judged_at; /* When the validation set was last looked at ... */
    time_us judged_us; /* ... and how long that took. */
};

#define JUDGE_US    SECOND_US
#define JUDGE_SHARE 10 /* At most a tenth of the time goes there. */

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
    return true;
}

static void fill(struct train_result *result,
                 const struct single_result *single, time_us took_us)
{
    *result = (struct train_result){
        .finished = true,
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

enum err run_alone(const struct setup *setup, struct run *run,
                   struct train_result *result, time_us *best_step_us,
                   struct why *why)
{
    struct alone alone = {.run = run, .best_us = TIME_NEVER, .setup = setup};
    struct single_result single;
    struct pool *pool;
    time_us began;
    enum err err = threads_new(setup->threads, &pool);

    if (err != ERR_OK)
        return why_set(why, err, "cannot start %u threads; try --threads 1",
                       setup->threads);
    if (run != NULL) {
        run->screen.steps = setup->optim.steps;
        run->screen.code = setup->code.name;
    }
    began = clock_now_us();
    alone.step_at = began;
    alone.judged_at = began;
    if (run != NULL)
        run->screen.began_at = began;
    err = single_train(&setup->data, setup->model, setup->isa, pool,
                       &setup->optim, see, &alone, &single, why);
    threads_free(pool);
    if (err == ERR_OK)
        fill(result, &single, clock_now_us() - began);
    if (err == ERR_OK && best_step_us != NULL)
        *best_step_us = alone.best_us;
    if (run != NULL)
        screen_end(&run->screen, &run->watch, NULL, 0);
    return err;
}

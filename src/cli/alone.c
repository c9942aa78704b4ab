/*
 * alone.c - a run in this process, watched.
 */
#include <stdio.h>

#include "cli/mpi_ranks.h"
#include "cli/run.h"
#include "node/fixed/mpi.h"
#include "node/host/keep.h"
#include "os/clock.h"
#include "os/run/interrupt.h"
#include "os/run/wait.h"

#define JUDGE_US    SECOND_US
#define JUDGE_SHARE 10 /* At most a tenth of the time goes there. */

/* The metric on the validation set, now and then. */
static void judge(struct run *run, const struct optim *optim, time_us now)
{
    const struct setup *setup = run->setup;
    struct screen *screen = &run->screen;
    struct metrics metrics;

    if (!setup->has_valid || screen->mode == SCREEN_NONE ||
        now - run->judged_at < JUDGE_US ||
        now - run->judged_at < JUDGE_SHARE * run->judged_us)
        return;
    metrics = setup_measure(setup, &setup->valid, optim_weights(optim));
    (void)snprintf(screen->extra, sizeof screen->extra, "valid %s %.4g",
                   metric_name(setup->metric),
                   metric_value(&metrics, setup->metric));
    run->judged_at = clock_now_us();
    run->judged_us = run->judged_at - now;
}

static bool see(void *context, const struct optim *optim)
{
    struct run *run = context;
    const time_us now = clock_now_us();

    run->progress.step = optim->step;
    run->progress.objective = optim->objective * run->setup->shown_factor;
    judge(run, optim, now);
    screen_step(&run->screen, &run->progress, now);
    return true;
}

/* The folder is made when it is needed. */
static enum err keep_in(void *context, const char **folder, struct why *why)
{
    struct run *run = context;
    enum err err = ERR_OK;

    if (run->out[0] == '\0')
        err = run_choose_folder(run, why);
    if (err == ERR_OK && !option_given(&run->cli->options, OPT_RESUME))
        err = run_open_folder(run, why);
    *folder = run->out;
    return err;
}

static enum err kept(void *context, struct why *why)
{
    return run_point_latest(context, why);
}

static void resumed(void *context)
{
    run_keep_said(context);
}

/* The supervisor heard the signal, or another rank; what is printed and what
 * MPI has yet to do is not for its echo to end. */
static void end_interrupted(const struct train_result *result)
{
    const int number = result->signal;

    interrupt_heard(number != 0 ? number : WAIT_SIGTERM);
    interrupt_end();
}

void run_hold(enum err err, const struct train_result *result)
{
    if (err == ERR_OK && (result->finished || result->timed_out))
        interrupt_hold();
    else
        end_interrupted(result);
}

void run_show_steps(struct run *run, const struct optim_options *optim)
{
    run->screen.steps = optim->steps;
    run->screen.pass = optim->sampler.kind == SAMPLER_WHOLE
                           ? 0
                           : sampler_steps(&optim->sampler);
    run->screen.may_end = optim_may_end(optim) ||
                          option_real(&run->cli->options, OPT_MAX_TIME) > 0;
}

static void announce_ranks(const struct run *run)
{
    const struct collective *const ranks = ranks_all(run->cli);
    char name[MPI_NAME_SIZE];

    if (ranks != NULL)
        say_note(run->cli, "muster: %u rank%s of %s, %u thread%s each%s%s",
                 collective_size(ranks), collective_size(ranks) == 1 ? "" : "s",
                 mpi_name(name), run->setup->threads,
                 run->setup->threads == 1 ? "" : "s",
                 run_stays(run) ? "; run " : "",
                 run_stays(run) ? run->out : "");
}

enum err run_alone(struct run *run, bool keeps, struct train_result *result,
                   struct why *why)
{
    const time_us now = clock_now_us();
    enum err err;

    if (!ranks_first(run->cli))
        screen_init(&run->screen, true);
    run->fit = (struct fit){
        .setup = run->setup,
        .recipe = &run->cli->options.recipe,
        .stop = &run->stop,
        .context = run,
        .step = see,
        .ranks = ranks_all(run->cli),
        .stays = run_stays(run),
        .keep_in = keeps && ranks_first(run->cli) ? keep_in : NULL,
        .kept = kept,
        .resumed = resumed,
    };
    announce_ranks(run);
    run_show_steps(run, &run->setup->optim);
    run->screen.code = run->setup->code.name;
    run->screen.began_at = run->judged_at = now;
    interrupt_begin(&run->stop);
    reading_over(&run->reading, &run->stop);
    err = fit_alone(&run->fit, result, why);
    result->signal = result->finished ? 0 : interrupt_signal();
    run_hold(err, result);
    screen_end(&run->screen, &run->progress, NULL, 0);
    return err;
}

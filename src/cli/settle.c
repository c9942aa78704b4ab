/*
 * settle.c - a training is over: what its model is worth, its file and card.
 */
#include <stdio.h>

#include "cli/run.h"
#include "cli/show/model_card.h"
#include "learn/save.h"
#include "os/file/output.h"
#include "os/log.h"
#include "os/run/interrupt.h"

bool run_is_done(const struct train_result *result)
{
    return result->finished || (result->timed_out && result->steps > 0);
}

bool run_is_bad(const struct train_result *result)
{
    return fit_diverged(result) || fit_blind(result);
}

void run_tell_bad(const struct train_result *result)
{
    if (run_is_bad(result))
        (void)fprintf(stderr, "muster: %s; no model was written\n",
                      fit_diverged(result)
                          ? "the training diverged"
                          : "no pass had a finite loss on the rows held out");
}

static bool was_typed(const struct run *run, int id)
{
    return option_setting(&run->cli->options, id)->origin == ORIGIN_FLAG;
}

/* A run that was over left its model long ago: what has that name since is
 * written over only if somebody says so now. */
static enum err check_newer(const struct run *run,
                            const struct train_result *result, const char *path,
                            struct why *why)
{
    if (run->ended == NULL || run->ended_dims != result->dims ||
        was_typed(run, OPT_SAVE) || was_typed(run, OPT_FORCE) ||
        !output_is_file(path) || saved_model_is(run->setup, run->ended, path) ||
        saved_model_is(run->setup, result->weights, path))
        return ERR_OK;
    return why_set(why, ERR_EXISTS,
                   "the run was finished before, and %.200s is another model "
                   "than its own by now: it is left as it is (--force writes "
                   "over it)",
                   path);
}

static enum err save(const struct run *run, const struct train_result *result,
                     const char *path, struct why *why)
{
    struct digest sum;
    enum err err = check_newer(run, result, path, why);

    if (err == ERR_OK)
        err = save_model(run->setup, result->weights, path, &sum, why);
    if (err == ERR_OK)
        model_card_write(run, result, path, &sum);
    return err;
}

enum err run_settle(struct run *run, struct train_result *result,
                    const char **path, struct why *why)
{
    const bool done = run_is_done(result);
    enum err err = ERR_OK;

    if (done && fit_settle(run->setup, result) != ERR_OK)
        log_line("the objective is not that of the model: out of memory");
    run->metrics = model_card_measure(run->setup, result, true);
    *path = NULL;
    if (done && !run_is_bad(result)) /* What was there may be better. */
        *path = option_text(&run->cli->options, OPT_SAVE);
    if (*path != NULL)
        err = save(run, result, *path, why);
    interrupt_end();
    return err;
}

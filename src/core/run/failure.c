/*
 * failure.c - why a training cannot go on, and what helps.
 */
#include "core/run/failure.h"

#include <stdio.h>

const char *failure_advice(const struct optim_options *options,
                           char text[FAILURE_TEXT])
{
    const enum optim_kind kind = options->kind;
    const bool average = kind == OPTIM_AVERAGE;
    const double rate = average ? options->local.rate : options->rate;
    const bool adam = average || kind == OPTIM_ADAM || kind == OPTIM_ADAMW;
    const bool clip = !average && options->clip == 0;

    if (kind == OPTIM_LBFGS || kind == OPTIM_NEWTON)
        (void)snprintf(text, FAILURE_TEXT, "look for huge values in the data");
    else
        (void)snprintf(text, FAILURE_TEXT, "a smaller --lr than %.6g%s%s helps",
                       rate,
                       !clip  ? ""
                       : adam ? " or --clip 1"
                              : ", --clip 1",
                       adam ? "" : " or --optim adam");
    return text;
}

enum err failure_of(const struct trainer *trainer, enum trainer_next next,
                    struct why *why)
{
    const uint32_t step = trainer->optim.step;
    char advice[FAILURE_TEXT];

    if (next == TRAINER_NO_FUNCTION)
        return why_set(why, ERR_MISMATCH,
                       "step %u: the function gave two answers for the same "
                       "weights and chunk",
                       step);
    if (trainer->optim.options.kind == OPTIM_COLUMNS)
        return why_set(why, ERR_RANGE,
                       "column %u: its product may be too large for a double; "
                       "make the values of A or B smaller",
                       step + 1);
    (void)failure_advice(&trainer->options.optim, advice);
    if (next == TRAINER_DIVERGED)
        return why_set(why, ERR_RANGE,
                       FAILURE_DIVERGED
                       " at step %u: weights or loss are not finite; %s",
                       step, advice);
    /* No step was made, so none was too long. */
    if (step == 0)
        return why_set(why, ERR_RANGE,
                       "step 0: gradient or loss of a chunk is not finite or "
                       "too large; look for huge values in the data");
    return why_set(why, ERR_RANGE,
                   "step %u: gradient or loss of a chunk is not finite or too "
                   "large; %s",
                   step, advice);
}

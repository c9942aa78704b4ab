/*
 * unfinished.c - whether more passes would have made a network's loss less, by
 * the rows it learns and by those held out.
 */
#include "learn/family/unfinished.h"

#include <math.h>
#include <stdio.h>

#include "learn/family/family.h"
#include "learn/fit.h"

/* Less than that share of the loss at the start is not worth a word: rows that
 * are learnt by heart have a loss that falls for ever. */
#define MARKED .015

/* No more can be gained than there is. */
static bool is_falling(const struct setup *setup,
                       const struct train_result *result)
{
    const struct optim_outcome *const outcome = &result->outcome;
    const double left = outcome->objective / outcome->objective_first;

    return !setup_family(setup)->converges && result->finished &&
           outcome->end == OPTIM_STEPS && !fit_diverged(result) &&
           fmin(outcome->gain, left) >= MARKED;
}

/* Did rows held out, if any were measured, gain in the last quarter of the
 * steps, too?  By how much their loss rose since says less: it may have stood
 * still for long. */
static bool held_out_gain(const struct train_result *result)
{
    const uint32_t least = result->outcome.least_step;

    return least == 0 || least > result->steps - result->steps / 4;
}

bool unfinished(const struct setup *setup, const struct train_result *result)
{
    return is_falling(setup, result) && held_out_gain(result);
}

static uint32_t passes_of(const struct setup *setup, uint32_t steps)
{
    const uint32_t each = sampler_steps(&setup->optim.sampler);

    return steps / each + (steps % each != 0);
}

/* The loss is that of the rows it learns, which falls while it learns them by
 * heart, too.  Owners hold no part of their rows out, and with --patience the
 * weights of the best pass are the model. */
const char *unfinished_sentence(const struct setup *setup,
                                const struct train_result *result,
                                char text[UNFINISHED_TEXT])
{
    const struct optim_outcome *const outcome = &result->outcome;

    if (!is_falling(setup, result) || setup->length_tried)
        return NULL;
    if (held_out_gain(result))
        (void)snprintf(
            text, UNFINISHED_TEXT,
            "the loss was still falling when the steps were over: "
            "--passes %llu goes further%s",
            2 * (unsigned long long)passes_of(setup, result->steps),
            setup->has_valid || setup->hollow
                ? ""
                : "; --valid .2 --patience 10 stops where rows held out "
                  "stop gaining");
    else if (outcome->best_step > 0)
        return NULL;
    else
        (void)snprintf(
            text, UNFINISHED_TEXT,
            "rows held out gained no more after pass %u, although the loss of "
            "those it learns still fell: --patience 10 makes the best pass the "
            "model",
            passes_of(setup, outcome->least_step));
    return text;
}

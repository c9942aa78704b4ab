/*
 * unfinished.c - whether more passes would have made a network's loss less.
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
bool unfinished(const struct setup *setup, const struct train_result *result)
{
    const struct optim_outcome *const outcome = &result->outcome;
    const double left = outcome->objective / outcome->objective_first;

    return !setup_family(setup)->converges && result->finished &&
           outcome->end == OPTIM_STEPS && !fit_diverged(result) &&
           fmin(outcome->gain, left) >= MARKED;
}

/* The loss is that of the rows it learns, which falls while it learns them by
 * heart, too.  Owners hold no part of their rows out. */
const char *unfinished_sentence(const struct setup *setup,
                                const struct train_result *result,
                                char text[UNFINISHED_TEXT])
{
    const uint32_t each = sampler_steps(&setup->optim.sampler);
    const uint32_t passes = result->steps / each + (result->steps % each != 0);

    if (!unfinished(setup, result) || setup->length_tried)
        return NULL;
    (void)snprintf(text, UNFINISHED_TEXT,
                   "the loss was still falling when the steps were over: "
                   "--passes %llu goes further%s",
                   2 * (unsigned long long)passes,
                   setup->has_valid || setup->hollow
                       ? ""
                       : "; --valid .2 --patience 10 stops where rows held out "
                         "stop gaining");
    return text;
}

/*
 * risen.c - whether a training made the model worse that it began with.
 */
#include "learn/family/risen.h"

#include <stdio.h>

#include "learn/fit.h"

/* A share of the objective at the start that is rounding. */
#define ROUNDING 1e-6

const char *risen_sentence(const struct setup *setup,
                           const struct train_result *result,
                           char text[RISEN_TEXT])
{
    const struct optim_outcome *const outcome = &result->outcome;

    if (setup->init == NULL || fit_diverged(result) ||
        (!result->finished && !result->timed_out) ||
        !(outcome->objective > outcome->objective_first * (1 + ROUNDING)))
        return NULL;
    (void)snprintf(text, RISEN_TEXT,
                   "the objective is higher than that of the model it began "
                   "with, %.6g on these rows: a smaller --lr may lead "
                   "below it",
                   outcome->objective_first * setup->shown_factor);
    return text;
}

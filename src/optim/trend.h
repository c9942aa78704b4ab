/*
 * trend.h - did the loss still fall when the steps were over?
 *
 * Losses of batches are noisy, so that means are compared: of the third quarter
 * of a run's steps and of the last one.  No checkpoint has them, since no bit
 * depends on them: a run that is gone on with knows of the steps it makes.
 */
#ifndef OPTIM_TREND_H
#define OPTIM_TREND_H

#include <stdint.h>

struct trend {
    uint32_t steps; /* Of the run, whose quarters these are. */
    uint32_t count[2];
    double sum[2];
};

/* The objective before step `step` of `steps` was so much.  A run that goes on
 * with another number of steps has other quarters. */
void trend_take(struct trend *trend, uint32_t step, uint32_t steps,
                double objective);
/* By how much the last quarter's mean is less; 0: one of them is missing. */
double trend_fall(const struct trend *trend);

#endif /* OPTIM_TREND_H */

/*
 * trend.c - means of a run's third and last quarter.
 */
#include "optim/trend.h"

void trend_take(struct trend *trend, uint32_t step, uint32_t steps,
                double objective)
{
    const uint32_t half = steps - steps / 2, last = steps - steps / 4;
    const uint32_t place = step >= last;

    if (trend->steps != steps)
        *trend = (struct trend){.steps = steps};
    if (step < half)
        return;
    trend->count[place]++;
    trend->sum[place] += objective;
}

double trend_fall(const struct trend *trend)
{
    if (trend->count[0] == 0 || trend->count[1] == 0)
        return 0;
    return trend->sum[0] / trend->count[0] - trend->sum[1] / trend->count[1];
}

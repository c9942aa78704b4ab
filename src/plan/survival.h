/*
 * survival.h - how long what was cut short would have lasted.
 *
 * The product-limit estimate (Kaplan & Meier, JASA 1958): of times of which
 * some are only known to be longer than what was seen, the share that exceeds
 * t.  Beyond the longest time seen, an exponential with the mean of all that
 * was seen (total time over ends).
 */
#ifndef PLAN_SURVIVAL_H
#define PLAN_SURVIVAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct survival_time {
    double t;
    bool cut; /* It was longer. */
};

struct survival {
    double *t;      /* Ends, ascending ... */
    double *beyond; /* ... and the share that exceeds them. */
    uint32_t count;
    uint32_t ends; /* Times seen to their end; 0: nothing can be said. */
    double mean;   /* Of the exponential. */
};

/* Sorts `times`.  Closing frees; zeroed memory is safe to close. */
MUST_CHECK enum err survival_init(struct survival *survival,
                                  struct survival_time *times, uint32_t count);
void survival_close(struct survival *survival);

/* The time that a share u in (0, 1] of those that exceed t exceeds, too: with
 * u uniform, a draw of how long it would have been.  Needs an end. */
double survival_draw(const struct survival *survival, double t, double u);

#endif /* PLAN_SURVIVAL_H */

/*
 * truth.h - the gradient that an approximate step should have had, computed
 * once more at the weights its round was opened with: how far the step was off;
 * and, with samples, the one that its answers give.
 */
#ifndef SIM_TRUTH_H
#define SIM_TRUTH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "math/exact/tally.h"

struct world;

/* What the round at hand was opened with. */
struct truth {
    bool open; /* It is a gradient's. */
    uint32_t step;
    uint32_t primaries; /* Of a code with samples. */
    double *point;
    int16_t *exponent;
    struct tally tally;
    double *sum;
};

/* Nothing is kept unless sim_options.measure, or of samples.  Zeroed memory is
 * safe to close.
 */
MUST_CHECK enum err truth_init(struct world *world);
void truth_close(struct truth *truth);

/* The coordinator has opened a round. */
void truth_opened(struct world *world);
/* CHECK-11, of a code with samples: does the sum that an approximate step was
 * fed follow from the answers that were counted? */
void truth_check(struct world *world);
/* It has made an approximate step: |g^ - g| / |g| of what it fed, over the
 * weights' coordinates.  NaN where that is not measured. */
double truth_error(struct world *world);

#endif /* SIM_TRUTH_H */

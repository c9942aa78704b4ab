/*
 * truth.h - the gradient that an approximate step should have had, computed
 * once more at the weights its round was opened with: how far the step was off;
 * and, with samples, the one that its answers give.  And the book of the sizes
 * that samples were asked to have while a run was under way: CHECK-12.
 */
#ifndef SIM_TRUTH_H
#define SIM_TRUTH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "core/msg.h"
#include "core/run/store.h"
#include "math/exact/tally.h"
#include "sim/sim.h"

struct world;

/* What the round at hand was opened with. */
struct truth {
    bool open; /* It is a gradient's. */
    uint32_t step;
    uint32_t primaries; /* Of a code with samples. */
    double worst;       /* Residual that the machine told of in this life. */
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
 * fed follow from the answers that were counted, and the error that its receipt
 * expects, too? */
void truth_check(struct world *world);
/* It has made an approximate step: |g^ - g| / |g| of what it fed, over the
 * weights' coordinates.  NaN where that is not measured. */
double truth_error(struct world *world);

/* --- sizes of samples ------------------------------------------------------
 */

/* One that the coordinator said yes to. */
struct resized_change {
    uint32_t step; /* Holds from there on. */
    double size;
    bool kept; /* Not lost in a crash before it was durable. */
    bool used; /* A round of it was sent. */
};

struct resized {
    struct resized_change list[SIM_RESIZES];
    uint32_t count;
};

/* A step opened for the first time: somebody may ask now. */
void resized_step_opened(struct world *world, uint32_t step);
/* The coordinator is asked for change `number`, and says from which step on it
 * holds. */
void resized_asked(struct world *world, uint32_t number, uint32_t step);
/* It starts from what is on disk. */
void resized_recovered(struct world *world, const struct recovery *recovery);
/* It sends a round. */
void resized_round(struct world *world, const struct msg_round *round);
/* What samples are to have in the step. */
double resized_size(const struct world *world, uint32_t step);

#endif /* SIM_TRUTH_H */

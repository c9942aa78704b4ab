/*
 * local.h - a worker's own steps (optim/local.h), computed with its threads.
 */
#ifndef NODE_LOCAL_H
#define NODE_LOCAL_H

#include "model/linear/part.h"
#include "node/eval/compute.h"
#include "optim/local.h"

struct local_work {
    uint32_t first, end; /* Chunks of the part. */
    uint32_t round;      /* Number of the average. */
    const double *weights;
    double *out; /* dims + 1. */
};

/* `part` is of compute's problem.  ERR_CANCELLED once `cancel` is raised,
 * ERR_RANGE: diverged. */
MUST_CHECK enum err local_compute(const struct local *local, struct part *part,
                                  struct compute *compute,
                                  const struct local_work *work,
                                  const struct flag *cancel);

#endif /* NODE_LOCAL_H */

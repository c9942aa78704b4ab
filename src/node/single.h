/*
 * single.h - one perfect machine: the same training without processes.
 *
 * Every chunk of every step is computed here, with the pool's threads, and
 * merged as integers: the bits of any cluster's run of the same config.  Plain
 * runs use it, and the closing card compares with it.
 */
#ifndef NODE_SINGLE_H
#define NODE_SINGLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/pool.h"
#include "data/dataset.h"
#include "model/problem.h"
#include "optim/optim.h"

struct single_result {
    double *weights; /* dims; mem_free. */
    uint32_t dims;
    uint32_t steps;
    struct optim_outcome outcome; /* Of the weights. */
    struct digest hash;
};

/* After each step; false ends the run there. */
typedef bool (*single_watch)(void *context, const struct optim *optim);

/* `watch` may be NULL; OPTIM_SGD (sequential.h) does not call it.  ERR_RANGE:
 * diverged. */
MUST_CHECK enum err single_train(const struct dataset *data,
                                 enum model_kind model, enum isa isa,
                                 struct pool *pool,
                                 const struct optim_options *options,
                                 single_watch watch, void *context,
                                 struct single_result *result, struct why *why);

#endif /* NODE_SINGLE_H */

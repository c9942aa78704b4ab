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

#include "base/flag.h"
#include "base/hash.h"
#include "base/pool.h"
#include "data/rows/dataset.h"
#include "model/linear/problem.h"
#include "optim/optim.h"

struct single_result {
    double *weights; /* dims; mem_free. */
    uint32_t dims;
    uint32_t steps;
    struct optim_outcome outcome; /* Of the weights. */
    struct digest hash;
    bool stopped; /* Before its end, by one of the hooks. */
};

/* After each round, and after one that was cancelled; false ends the run there.
 */
typedef bool (*single_watch)(void *context, const struct optim *optim);

struct single_hooks {
    single_watch watch; /* May be NULL; OPTIM_SGD does not call it. */
    void *context;
    const struct flag *cancel; /* Once raised: end, in the midst of a step too.
                                  May be NULL. */
    const uint8_t *state; /* What optim_save wrote, to go on from; or NULL. */
    size_t state_size;
};

/* `hooks` may be NULL.  ERR_RANGE: diverged.  ERR_FORMAT: not a state of this
 * optimiser.  ERR_CANCELLED: sgd (sequential.h), which has no state between its
 * passes, was. */
MUST_CHECK enum err single_train(const struct dataset *data,
                                 enum model_kind model, enum isa isa,
                                 struct pool *pool,
                                 const struct optim_options *options,
                                 const struct single_hooks *hooks,
                                 struct single_result *result, struct why *why);

#endif /* NODE_SINGLE_H */

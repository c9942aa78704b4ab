/*
 * alone.h - one perfect machine: the same training without processes.
 *
 * Every chunk of every step is computed here, with the pool's threads, and
 * merged as integers: the bits of any cluster's run of the same config.  Plain
 * runs use it, and the closing card compares with it.  Ranks of a collective
 * are such machines, each of which computes its share.
 */
#ifndef NODE_FIXED_ALONE_H
#define NODE_FIXED_ALONE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/pool.h"
#include "eval/objective.h"
#include "model/linear/problem.h"
#include "node/fixed/lockstep.h"

struct alone_result {
    double *weights; /* dims; mem_free. */
    uint32_t dims;
    uint32_t steps;
    uint64_t evaluations;         /* Passes over all rows. */
    struct optim_outcome outcome; /* Of the weights. */
    struct digest hash;
    bool stopped; /* Before its end, by one of the hooks. */
};

struct alone_hooks {
    struct lockstep_hooks hooks; /* OPTIM_SGD does not call `watch`. */
    const uint8_t *state; /* What optim_save wrote, to go on from; or NULL. */
    size_t state_size;
    /* This process is one of them, who all train alike; NULL: it is alone.
     * Rank 0 alone knows the outcome. */
    const struct collective *ranks;
};

/* A linear model, or a function of the user's, whose weights alone are in the
 * result and whose word to stop is one of the hooks'.  `hooks` may be NULL.
 * ERR_RANGE: diverged.  ERR_FORMAT: not a state of this optimiser.
 * ERR_CANCELLED: sgd (sequential.h), which has no state between its passes,
 * was. */
MUST_CHECK enum err alone_train(const struct objective_options *what,
                                struct pool *pool,
                                const struct alone_hooks *hooks,
                                struct alone_result *result, struct why *why);

#endif /* NODE_FIXED_ALONE_H */

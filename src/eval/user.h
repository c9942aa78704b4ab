/*
 * user.h - a function of the user's in place of data and model.
 *
 * The chunks are numbers and the data behind them is the function's business:
 * nothing is shipped, and every worker has all of it.  What the function
 * returns has no proved bound: its tallies carry their sizes
 * (math/exact/follow.h).
 */
#ifndef EVAL_USER_H
#define EVAL_USER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hash.h"

struct user_function {
    /* Sums over the rows of a chunk, added to zeroed memory; not 0: stop. */
    int (*gradient)(void *context, const double *w, uint32_t chunk,
                    double *gradient, double *loss);
    int (*hessvec)(void *context, const double *w, const double *v,
                   uint32_t chunk, double *product); /* May be NULL. */
    void *context;
    uint32_t dims, chunks;
    uint64_t rows;
};

/* What names the job to those who would join it.  `probe`: a chunk is computed
 * and counts, so that a machine with other data or another arithmetic is told
 * so when it comes.  ERR_CANCELLED: the function said stop. */
MUST_CHECK enum err user_digest(const struct user_function *user, bool probe,
                                struct digest *digest);

#endif /* EVAL_USER_H */

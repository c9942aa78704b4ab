/*
 * user_sum.h - the user's function over all chunks, summed exactly.
 *
 * There is no proved bound on what a user's function returns, so the scale
 * follows the sizes seen (TALLY-4).  M_j is the largest |gradient_j| of any
 * chunk in the last evaluation of this kind, but no less than 2^-20 of the
 * largest M.  A chunk may reach 2^10 M_j, which stands for less than
 * 2^62 / chunks on the grid.  An evaluation is done once more, with its own M,
 *     if a chunk is beyond that,
 *     if the largest M fell below 2^-16 of the one before (few bits would be
 *     left), and
 *     the first time, when there is no M yet.
 * Every chunk is computed each time and judged alone, so that M, and with it
 * the scale, does not depend on who came first.
 */
#ifndef API_USER_SUM_H
#define API_USER_SUM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/pool.h"
#include "math/evaluation.h"
#include "math/tally.h"
#include "muster.h"

/* Of one thread. */
struct user_part {
    struct tally tally;
    double *values; /* What the user's function wrote. */
    double *most;   /* The largest of each so far. */
    bool stop;      /* The function said so. */
    bool broken;    /* Something is not finite, or the loss too large. */
    bool refused;   /* A chunk did not fit the scale. */
};

/* The sizes seen by one kind of evaluation. */
struct user_scale {
    double *most;   /* M, before the floor. */
    double largest; /* Of them; 0: none yet. */
};

struct user_sum {
    const struct muster_options *options;
    struct pool *pool;
    struct user_part *parts; /* pool->threads of them. */
    struct user_scale gradient, hessvec;
    int16_t *exponent;
    double *limit; /* 2^10 M_j. */
    struct tally total;
    const struct evaluation *what;
};

/* `pool` is borrowed. */
MUST_CHECK enum err user_sum_init(struct user_sum *sum,
                                  const struct muster_options *options,
                                  struct pool *pool);
void user_sum_close(struct user_sum *sum);

/* dims sums and the loss.  ERR_CANCELLED: the function said stop.  ERR_RANGE:
 * not finite.  ERR_MISMATCH: it is no function of its arguments.  GRADIENT and
 * HESSVEC. */
MUST_CHECK enum err user_sum_run(struct user_sum *sum,
                                 const struct evaluation *what, double *values,
                                 double *loss);

#endif /* API_USER_SUM_H */

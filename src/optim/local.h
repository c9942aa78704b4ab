/*
 * local.h - steps on the rows of one part alone, for `local`: every worker
 * descends on its own rows from the common weights, then their weights are
 * averaged (local SGD; Stich, ICLR 2019).  With one average at the end it is
 * the recipe of Zinkevich et al., "Parallelized Stochastic Gradient Descent",
 * NIPS 2010.
 *
 *     d_i = (weights after `every` steps on part i from w) - w
 *     w  <- w + sum_i (rows_i / rows that took part) d_i
 *
 * A step is one of gd on the part, whose objective is the part's own mean loss
 * + l2 |w|^2, or (sgd) one pass over its rows.  Rates go on from average to
 * average: step t is step t of the job.  What comes out depends on the rows,
 * the plan and w alone, to the bit, never on threads; the average depends on
 * who took part.
 */
#ifndef OPTIM_LOCAL_H
#define OPTIM_LOCAL_H

#include <stdint.h>

#include "math/kernel/kernel.h"
#include "optim/optim.h"
#include "optim/sgd.h"

/* One part, seen through the driver that has its rows. */
struct local_part {
    void *context;
    uint64_t first_row; /* Names the part: each has its own shuffles. */
    uint32_t rows;      /* > 0 */
    uint32_t counted;   /* Those of weight above 0. */
    uint32_t cols;      /* Of a row; sgd. */
    uint32_t dims;      /* Of w. */
    struct loss loss;   /* sgd. */
    /* Gradient and loss sums over the part at w.  ERR_RANGE: not finite. */
    enum err (*gradient)(void *context, const double *w, double *sum,
                         double *loss_sum);
    sgd_row_function row; /* Row i < rows of the part. */
};

/* Is it one that can be followed?  Plans come over the network. */
bool local_fits(const struct local *local, uint32_t dims);

/* Steps of average number `round`: `every`, fewer in the last one. */
uint32_t local_steps(const struct local *local, uint32_t round);

/* out[dims + 1]: d_i, then the mean loss of the part at w.  ERR_RANGE: the
 * weights are not finite any more.  Allocates. */
MUST_CHECK enum err local_run(const struct local *local,
                              const struct local_part *part, uint32_t round,
                              const double *w, double *out);

#endif /* OPTIM_LOCAL_H */

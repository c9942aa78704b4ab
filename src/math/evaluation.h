/*
 * evaluation.h - what an optimiser may ask of the data.
 *
 *     GRADIENT   sum_i r_i x_i at w, and the loss sum
 *     HESSVEC    sum_i h_i (x_i . v) x_i at w: the Hessian of the loss times v
 *     HESSIAN    sum_i h_i x_i x_i^T at w, lower triangle row by row
 *     DIAGONAL   sum_i h_i x_ij^2 at w: what stands on its diagonal (softmax:
 *                the mean over the classes, for each of them)
 *
 * r_i = dloss/dz and h_i = d2loss/dz2 of row i, times its weight.  Each is a
 * sum over rows, so each can be a tally: exact, in any order, by anyone.
 *
 *     LOCAL      how far some steps on the rows of a part alone lead from w,
 *                and the part's mean loss at w (optim/local.h)
 *
 * is none, and no tally: the part is answered by real numbers, which are
 * averaged.  Nor are the products that make a gradient of a linear model on
 * coded data (math/blocks.h),
 *
 *     SCORES     tall w: rows of the block, of which X w is decoded
 *     BACK       wide r: columns of the block, of which X^T r is decoded
 *     COMBINE    tall^T u, u coded so that the sum over all workers is X^T r:
 *                nothing is decoded, and no wide matrix is needed
 *
 * two of which the coordinator asks for where an optimiser asks for GRADIENT;
 * SCORES may be asked for by itself, at any vector (optim/columns.c).  Who has
 * scores of w and v answers, without asking anybody,
 *
 *     LINE       at w + step v: the loss sum, and how it changes with the step
 */
#ifndef MATH_EVALUATION_H
#define MATH_EVALUATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/pool.h"

enum evaluation_kind {
    EVALUATE_GRADIENT,
    EVALUATE_HESSVEC,
    EVALUATE_HESSIAN,
    EVALUATE_LOCAL,
    EVALUATE_SCORES,
    EVALUATE_BACK,
    EVALUATE_DIAGONAL,
    EVALUATE_COMBINE,
    EVALUATE_LINE, /* Never sent. */
};

#define EVALUATE_LAST EVALUATE_COMBINE

/* What is known of a vector by who has just written it, so that nobody need
 * read it again for that. */
struct known {
    double largest; /* |w_j|; 0: not known. */
    uint32_t named; /* Of so many of the first coordinates, whole blocks of
                       SLICE_GRAIN, ... */
    uint64_t name;  /* ... this is the quick_part, with seed KNOWN_SEED. */
};

#define KNOWN_SEED 0u /* GRADIENT, not softened: see evaluation_name. */

struct evaluation {
    enum evaluation_kind kind;
    const double *w;    /* dims; of a product: what is multiplied. */
    const double *v;    /* dims; HESSVEC and LINE only, else NULL. */
    double step;        /* LINE only. */
    uint32_t soft;      /* 0: the loss as it is; k + 1: a hinge whose kink has
                           the width 2^-k (loss_hinge_soft). */
    struct known known; /* Of w. */
};

static inline bool evaluation_is_product(enum evaluation_kind kind)
{
    return kind == EVALUATE_SCORES || kind == EVALUATE_BACK ||
           kind == EVALUATE_COMBINE;
}

/* Coordinates of the tally of an evaluation over `dims` weights; a product has
 * none.  LINE, which has no tally, gives one number and the loss. */
static inline uint32_t evaluation_dims(enum evaluation_kind kind, uint32_t dims)
{
    if (evaluation_is_product(kind))
        return 0;
    if (kind == EVALUATE_LINE)
        return 1;
    return kind == EVALUATE_HESSIAN ? dims * (dims + 1) / 2 : dims;
}

/* Exponents of that tally: one for each coordinate, then the loss's. */
static inline uint32_t evaluation_exponents(enum evaluation_kind kind,
                                            uint32_t dims)
{
    const uint32_t sums = evaluation_dims(kind, dims);

    return sums == 0 ? 0 : sums + 1;
}

/* A number for all that its sums depend on besides data and model.  Made for
 * every round, so it is quick_long's, not a digest. */
uint64_t evaluation_name(const struct evaluation *what, uint32_t dims,
                         struct pool *pool);

#endif /* MATH_EVALUATION_H */

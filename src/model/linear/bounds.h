/*
 * bounds.h - how large a coordinate of a sum can get, proved from the sizes of
 * the rows: what the fixed-point scale of a round follows from (TALLY-4).
 *
 *   sizes.c    sizes of rows, measured once for a job
 *   bounds.c   from them and the weights at hand to exponents, with the proof
 *
 * s_i is the sample weight of row i.  |dloss/dz| is at most a|y_i| + b|z_i| and
 * d2loss/dz2 at most c; |z_i| is at most |x_i||w|, and at most zeta(w) =
 * sum_k xmax_k |w_k|, xmax_k the largest |x_ik|.  So
 *     GRADIENT   sum_i |r_i x_ij|  <= a U_j + b min(|w| V_j, zeta(w) M_j)
 *     HESSVEC    sum_i |h_i (x_i . v) x_ij|  <= c min(|v| V_j, zeta(v) M_j)
 *     HESSIAN    sum_i |h_i x_ij x_ik|
 *                <= c min(V_j, V_k, xmax_k M_j, xmax_j M_k)
 *     DIAGONAL   sum_i h_i x_ij^2  <= c min(V_j, xmax_j M_j)
 * where U_j = sum_i s_i |x_ij||y_i|, V_j = sum_i s_i |x_ij||x_i| and
 * M_j = sum_i s_i |x_ij|.  V is better where there are many columns alike, M
 * where a column of 10^6 stands beside one of 10^-6.
 * U, V and M are integer tallies rounded up, taken once; the exponents of a
 * round are then a pure function of (U, V, M, xmax, w, v) and agree on every
 * machine.  The loss of all rows is at most sum_i s_i (|y_i| + |z_i|)^2 if it
 * is squared (1 + |z_i| of a squared hinge), else sum_i s_i (2 |z_i| + 32).
 * The index profile has one exponent for all columns: that of the largest
 * bound.  Those of profile csr are 5 less, and at most 63 above the least.
 *
 * Softmax: y_i is the number of a class, no size, and counts as 1 in U.  With
 * p the probabilities of a row and t_k = x_i . v_k, for class k
 *     GRADIENT   |r_ik| = |p_k - [y_i = k]| <= 1, so a = 1, b = 0
 *     HESSVEC    |p_k (t_k - sum_l p_l t_l)| = |sum_l p_k p_l (t_k - t_l)|
 *                <= p_k (1 - p_k) max_l |t_k - t_l| <= 2 max_l |t_l| / 4
 *                <= |x_i||v| / 2, so c = 1/2; zeta is that of the output
 *                where it is largest
 *     loss       <= s_i (2 |x_i||w| + log classes)
 * for every class the same.  c also bounds the curvature: the largest
 * eigenvalue of diag(p) - p p' is at most 1/2.
 */
#ifndef MODEL_LINEAR_BOUNDS_H
#define MODEL_LINEAR_BOUNDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/pool.h"
#include "math/evaluation.h"
#include "model/linear/problem.h"

/* Of the proof: a factor that covers all roundings, and where it ends. */
#define BOUNDS_SLACK (1 + 0x1p-18)
#define BOUNDS_HUGE  0x1p960

/* Per-column bound vectors U, V and M; `dims` is the data's stride. */
struct bounds {
    uint32_t dims;
    double *u, *v, *m;
    double *x_max;
    double label, norm, weight; /* Largest |y_i|, |x_i| and s_i. */
};

MUST_CHECK enum err bounds_init(struct bounds *bounds, uint32_t dims);
void bounds_close(struct bounds *bounds);
/* Of the problem's data.  Same bits for any thread count: integer tallies,
 * rounded up.  ERR_RANGE if labels or weights are too large to bound
 * anything. */
MUST_CHECK enum err bounds_measure(struct bounds *bounds,
                                   const struct problem *problem,
                                   struct pool *pool);
/* The largest |x_ij|. */
double bounds_largest(const struct bounds *bounds);
/* The same, and can anything be trained on such data?  Says why not. */
MUST_CHECK enum err bounds_measure_all(struct bounds *bounds,
                                       const struct problem *problem,
                                       struct pool *pool, struct why *why);
/* Of its chunks [first, end) alone, all that need be present. */
MUST_CHECK enum err bounds_measure_part(struct bounds *bounds,
                                        const struct problem *problem,
                                        uint32_t first, uint32_t end,
                                        struct pool *pool);
/* The same of rows that are on several machines, in three steps: sizes of each
 * part, the scales that follow from all of them, and sums on these scales.
 * Sums of parts add up to those of the whole, so that the bounds are the very
 * bits that one machine with all rows would find. */
struct bounds_sizes {
    uint32_t dims;              /* The data's stride. */
    double *x_max;              /* Per column. */
    double label, norm, weight; /* As in struct bounds. */
};

MUST_CHECK enum err bounds_sizes_init(struct bounds_sizes *sizes,
                                      uint32_t dims);
void bounds_sizes_close(struct bounds_sizes *sizes);
MUST_CHECK enum err bounds_sizes_measure(struct bounds_sizes *sizes,
                                         const struct problem *problem,
                                         struct pool *pool);
void bounds_sizes_join(struct bounds_sizes *into,
                       const struct bounds_sizes *from);
/* U, V and M, dims of each, one after the other. */
#define BOUNDS_SUMS 3u
/* Of `rows` rows in all.  ERR_RANGE as bounds_measure. */
MUST_CHECK enum err bounds_scales(const struct bounds_sizes *sizes,
                                  uint64_t rows, int16_t *scale);
MUST_CHECK enum err bounds_sums(const struct problem *problem,
                                const int16_t *scale, struct pool *pool,
                                int64_t *sum);
void bounds_settle(struct bounds *bounds, const struct bounds_sizes *sizes,
                   const int16_t *scale, const int64_t *sum);

/* evaluation_exponents for a round of `what`.  ERR_RANGE if |w| or |v| is not
 * finite, or so large that a score or the loss might not be. */
MUST_CHECK enum err bounds_exponents(const struct bounds *bounds,
                                     const struct problem *problem,
                                     const struct evaluation *what,
                                     int16_t *exponent);

/* The same for one round after the other: `exponent` and `memo`, zero at first,
 * are as the last call left them, and what cannot have changed is kept.  `pool`
 * may be NULL. */
struct bounds_memo {
    bool known;
    bool same;                /* All are as the last call found them. */
    double label, norm, zeta; /* What the exponents come from. */
};

MUST_CHECK enum err bounds_exponents_again(const struct bounds *bounds,
                                           const struct problem *problem,
                                           const struct evaluation *what,
                                           struct bounds_memo *memo,
                                           struct pool *pool,
                                           int16_t *exponent);

#endif /* MODEL_LINEAR_BOUNDS_H */

/*
 * softmax.h - sums over one chunk for softmax regression, to the bit.
 *
 * C classes; the weights of class c are w[c * stride .. +stride); y_i is the
 * class of row i, 0 .. C-1.  The definition, operation by operation (nothing
 * fused, no library; x.w of dense rows in 8 lanes, as kernel.h has it of a
 * stripe, but of all columns however many there are; of sparse ones as in
 * sparse.h, profile csr, 4 lanes, whose missing values are 1):
 *
 *     z_c  = x_i . w_c          m = max z_c       e_c = exp(z_c - m)
 *     s    = e_0 + e_1 + ..     p_c = e_c / s
 *     loss = (m - z_y) + log(s),   log(2^k (1 + f)) =
 *            k POLY_LN2_HIGH + (log1p(f) + k POLY_LN2_LOW),  0 <= f < 1
 *     r_c  = p_c - [c = y_i];  each of r and loss + sum_c (z_c - z_c), then
 *            times the row's weight if there are any
 *     GRADIENT  g_cj  sum over rows, one after the other, of x_ij r_ic
 *     HESSVEC   t_c = x_i . v_c;  a = p_0 t_0 + p_1 t_1 + ..;
 *               s_c = p_c (t_c - a), + sum_c (z_c - z_c), times the weight;
 *               g_cj of s_c for r_c
 *
 * Sums over c begin with 0 and ascend.  A row with y = -1 is no sample: it
 * adds +0 to everything.  Any other y that is no class, and a z that is not
 * finite, make the row NaN, so that the tally refuses the chunk.
 *
 * Bounds for the scale (TALLY-4): |r_c| <= weight, for p_c <= 1 holds with
 * rounding too (s >= e_c), and |s_c| <= weight max|t| / 2 but for rounding.
 */
#ifndef MATH_SOFTMAX_H
#define MATH_SOFTMAX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hash.h"
#include "math/evaluation.h"
#include "math/exact/tally.h"
#include "math/kernel/kernel.h"
#include "math/kernel/sparse.h"

#define SOFTMAX_CLASSES_MAX  1024u
#define SOFTMAX_NO_CLASS     (-1.0) /* y of a row that does not count. */
#define PROFILE_SOFTMAX_NAME "softmax-f64-1"

/* Of all functions below that take a scratch: aligned to a cache line.  Sparse
 * rows need no more than the second, which depends on no column. */
size_t softmax_scratch_bytes(uint32_t stride, uint32_t classes);
size_t softmax_sparse_scratch_bytes(uint32_t classes);

/* Dense rows.  w, v, g, hv: classes * stride, padding of w and v finite.
 * g and *loss_sum are overwritten.  2 <= classes <= SOFTMAX_CLASSES_MAX. */
void softmax_gradient(enum isa isa, uint32_t classes,
                      const struct dense_rows *in, const double *w, double *g,
                      double *loss_sum, void *scratch);
/* Probabilities depend on w alone, and many products share it: they are read
 * from `memo` if it is full, else written there (p = NULL: neither). */
struct softmax_memo {
    double *p; /* rows * softmax_padded(classes). */
    bool full;
};
uint32_t softmax_padded(uint32_t classes);
void softmax_hessvec(enum isa isa, uint32_t classes,
                     const struct dense_rows *in, const double *w,
                     const double *v, const struct softmax_memo *memo,
                     double *hv, void *scratch);
/* z_c of row i at z[i * classes + c]. */
void softmax_scores(enum isa isa, uint32_t classes, const struct dense_rows *in,
                    const double *w, double *z, void *scratch);

/* Sparse rows, added to the tally of classes * stride sums: product by product
 * x_ij r_ic is rounded to the grid of its coordinate.  GRADIENT and HESSVEC; a
 * HESSVEC's loss is 0.  ERR_RANGE (tally unchanged) if something does not fit,
 * ERR_OVERLAP if the chunk is in already. */
MUST_CHECK enum err softmax_add_sparse(uint32_t classes, uint32_t stride,
                                       const struct sparse_rows *in,
                                       const struct evaluation *what,
                                       const int16_t *exponent, uint32_t chunk,
                                       struct tally *tally, void *scratch);
void softmax_sparse_scores(uint32_t classes, uint32_t stride,
                           const struct sparse_rows *in, const double *w,
                           double *z);

/* Scores of one row become probabilities; the first class of the largest score
 * is returned. */
uint32_t softmax_probabilities(uint32_t classes, double *z);
/* The first class of the largest score. */
uint32_t softmax_best(uint32_t classes, const double *z);
/* The loss of one row of class y < classes, from its scores. */
double softmax_loss(uint32_t classes, const double *z, uint32_t y);

/* The oracles: the definition above, read off. */
void softmax_gradient_ref(uint32_t classes, const struct dense_rows *in,
                          const double *w, double *g, double *loss_sum);
void softmax_hessvec_ref(uint32_t classes, const struct dense_rows *in,
                         const double *w, const double *v, double *hv);
MUST_CHECK enum err softmax_add_sparse_ref(uint32_t classes, uint32_t stride,
                                           const struct sparse_rows *in,
                                           const struct evaluation *what,
                                           const int16_t *exponent,
                                           uint32_t chunk, struct tally *tally);

#endif /* MATH_SOFTMAX_H */

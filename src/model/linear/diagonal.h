/*
 * diagonal.h - EVALUATE_DIAGONAL of a chunk.
 *
 * It is asked for once in many rounds, so there is one plain loop for all
 * instruction sets; scores and second derivatives are those of the kernels.
 *
 *     dense    d_j   sum over rows, one after the other, of (h_i x_ij) x_ij:
 *                    what stands on the diagonal of HESSIAN
 *     sparse   round(((h_i x_ij) x_ij) 2^e_j) is added to column j, row by
 *              row; scores as in profile csr, whatever the storage
 *     softmax  the same for every class, with h_i the mean of p_c (1 - p_c)
 *              over the classes, times the weight.  The diagonal of each
 *              class by itself would be a worse metric: what all weight
 *              vectors have in common does not change the loss, and steps
 *              keep clear of it only where all classes have one scale.
 */
#ifndef MODEL_DIAGONAL_H
#define MODEL_DIAGONAL_H

#include "model/linear/problem.h"

/* Add a chunk to the tally.  Dense only: `sums`, problem_dims doubles, and
 * `rest`, the scratch of the kernels.  ERR_RANGE (tally unchanged): does not
 * fit. */
MUST_CHECK enum err diagonal_add(const struct problem *problem, const double *w,
                                 uint32_t chunk, const int16_t *exponent,
                                 double *sums, void *rest, struct tally *tally);

#endif /* MODEL_DIAGONAL_H */

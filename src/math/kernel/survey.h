/*
 * survey.h - what dense rows say without any weights: how large they are, and
 * how often two columns of zeros and ones meet.
 *
 * Sizes, for the bounds of a job (every operation one of binary64, or exact):
 *
 *     |x_i|   root of the sum of squares: 8 lanes, column j in lane j % 8, j
 *             ascending; then lanes l + (l+4), + (l+2), + (l+1)
 *     u_j     sum over rows, one after the other, of |x_ij| a_i
 *     v_j     sum over rows, one after the other, of |x_ij| (|x_i| s_i)
 *     m_j     sum over rows, one after the other, of |x_ij| s_i
 *
 * The same bits for every storage and instruction set.  Pairs are integers.
 */
#ifndef MATH_SURVEY_H
#define MATH_SURVEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "math/kernel/kernel.h"

#define SURVEY_BLOCK 4u /* Rows widened at a time; `room` holds so many. */

/* x_max[j] becomes at least |x_ij|; returns the largest |x_i|.  `room`:
 * SURVEY_BLOCK * stride floats. */
double survey_maxima(enum isa isa, const struct dense_rows *in, float *room,
                     double *x_max);

/* Adds to u, v and m; a_i = |y_i| s_i with s_i the row's weight; without y it
 * is s_i alone. */
void survey_sums(enum isa isa, const struct dense_rows *in, float *room,
                 double *u, double *v, double *m);

#define SURVEY_WORDS 64u /* Of 64 rows each: rows of one count of pairs. */

/* Bit rows by columns: word t of column j, at [t * stride + j], has row
 * 64 t + b in bit b.  Rows past the last are zeros, and so are those whose
 * `counts` is false.  At most SURVEY_WORDS * 64 rows; returns the words. */
size_t survey_columns(const struct dense_rows *in, const bool *counts,
                      uint64_t *words);

#define SURVEY_JOINT 4u /* Columns whose pairs are counted together. */

/* pairs[q * stride + k], q < SURVEY_JOINT: rows in which the columns first + q
 * and k are both set, for every k < first + SURVEY_JOINT at least.  `first` is
 * a multiple of SURVEY_JOINT. */
void survey_pairs(enum isa isa, const uint64_t *words, size_t count,
                  size_t stride, size_t first, uint64_t *pairs);

#endif /* MATH_SURVEY_H */

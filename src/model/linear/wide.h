/*
 * wide.h - dense rows so long that no cache holds a vector of their sums.
 *
 * Or so few that the second reading finds them there: their residuals are
 * computed first, then sums are made, rounded and added a block of columns at a
 * time, and no vector lies in between.  Speed and memory only: the bits are
 * those of kernel_gradient and kernel_hessvec (model/ only).
 */
#ifndef MODEL_WIDE_H
#define MODEL_WIDE_H

#include "model/linear/problem.h"

/* There are then at most half as many rows as columns. */
bool wide_is(const struct dense_rows *rows);

/* r_i of each row, or h_i t_i; returns the loss sum, 0 of a HESSVEC.  `scratch`
 * has room for as many. */
double wide_residuals(const struct problem *problem,
                      const struct dense_rows *rows,
                      const struct evaluation *what, double *scratch,
                      double *r);
/* The same from scores: r has those by w and is overwritten; scratch, of a
 * HESSVEC, those by v. */
double wide_slopes(const struct problem *problem, const struct dense_rows *rows,
                   enum evaluation_kind kind, double *scratch, double *r);
/* Columns [first, end), multiples of 8, to the tally; returns where it ended:
 * `end`, or a column before the first that does not fit. */
MUST_CHECK uint32_t wide_put(const struct problem *problem,
                             const struct dense_rows *rows, const double *r,
                             uint32_t first, uint32_t end,
                             const int16_t *exponent, struct tally *tally);
/* Both, of a chunk, whole or not at all: as tally_add_chunk.  `scratch` has
 * room for twice as many numbers as there are rows. */
MUST_CHECK enum err wide_add(const struct problem *problem,
                             const struct dense_rows *rows,
                             const struct evaluation *what, uint32_t chunk,
                             const int16_t *exponent, double *scratch,
                             struct tally *tally);

#endif /* MODEL_WIDE_H */

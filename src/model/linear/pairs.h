/*
 * pairs.h - Hessians of bit rows by counting.
 *
 * Entry j, k is the sum of h_i over the rows with both bits set.  Where every
 * h_i is 0 or the same c (all losses at w = 0, the squared ones anywhere) that
 * is c times a count.  If c has few digits, the sums of the definition are
 * exact, and so is their place on the tally's grid: then chunks need not even
 * be counted apart.  A tenth of the time, the same bits.
 */
#ifndef MODEL_PAIRS_H
#define MODEL_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/linear/problem.h"

/* Rows that are counted at once, at most. */
#define PAIRS_ROWS 4096u

size_t pairs_scratch_bytes(uint32_t stride);

/* Add the Hessian at w of chunks [first, first + count), at most PAIRS_ROWS
 * rows of bits.  `sums`: as many doubles as the Hessian has.  False, and
 * nothing done, where it is not as simple as above: the kernel must. */
bool pairs_add(const struct problem *problem, const double *w, uint32_t first,
               uint32_t count, const int16_t *exponent, double *sums,
               void *scratch, struct tally *tally);

#endif /* MODEL_PAIRS_H */

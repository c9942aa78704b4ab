/*
 * tally_loops.h - the loops of tally_add_chunk for machines that have wider
 * ones (math/ only).  Same answers, same bits as those in tally.c.
 */
#ifndef MATH_TALLY_LOOPS_H
#define MATH_TALLY_LOOPS_H

#include <stdbool.h>
#include <stdint.h>

#include "math/exact/tally.h"

#define TALLY_FIELD 0x7ff /* Exponent of binary64; all ones: NaN, infinite. */
#define TALLY_BIAS  1023
#define TALLY_TOP   (TALLY_BITS + TALLY_BIAS) /* The field of 2^62. */

/* Whether all |g_j 2^exponent[j]| < 2^62. */
bool tally_fits_avx512(const double *gradient, const int16_t *exponent,
                       uint32_t dims);
/* sum_j += the integer nearest to g_j 2^exponent[j], modulo 2^64. */
void tally_add_avx512(const double *gradient, const int16_t *exponent,
                      int64_t *sum, uint32_t dims);

/* sum_j = that integer; false if some do not fit, sum is then anything. */
bool tally_set_avx512(const double *gradient, const int16_t *exponent,
                      int64_t *sum, uint32_t dims);

/* out_j = sum_j, plus old_j unless `old` is NULL, modulo 2^64; returns whether
 * all |sum_j| < 2^62.  Each sum_j is read once. */
bool tally_join_avx512(const int64_t *old, const int64_t *sum, int64_t *out,
                       uint32_t dims);
bool tally_join_portable(const int64_t *old, const int64_t *sum, int64_t *out,
                         uint32_t dims);

typedef bool (*tally_join)(const int64_t *old, const int64_t *sum, int64_t *out,
                           uint32_t dims);

/* out = old + all of `sums`; bit i of what is returned: number i is out of
 * bound, and `out` is of no use.  `out` is not `old`. */
uint64_t tally_join_many(tally_join join, const int64_t *old,
                         const int64_t *const *sums, uint32_t count,
                         int64_t *out, uint32_t dims);

/* gradient_j = sum_j 2^-exponent[j], rounded once; returns whether all
 * |sum_j| < 2^62. */
bool tally_gradient_avx512(const int64_t *sum, const int16_t *exponent,
                           uint32_t dims, double *gradient);

/* into_j += from_j, modulo 2^64. */
void tally_sum_avx512(const int64_t *from, int64_t *into, uint32_t dims);
/* Whether all |sum_j| < 2^62. */
bool tally_within_avx512(const int64_t *sum, uint32_t dims);

#endif /* MATH_TALLY_LOOPS_H */

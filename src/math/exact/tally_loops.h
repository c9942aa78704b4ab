/*
 * tally_loops.h - one row per instruction set of tally.h (math/ only).
 */
#ifndef MATH_TALLY_LOOPS_H
#define MATH_TALLY_LOOPS_H

#include <stdbool.h>
#include <stdint.h>

#include "math/exact/tally.h"
#include "math/isa.h"

#define TALLY_FIELD 0x7ff /* Exponent of binary64; all ones: NaN, infinite. */
#define TALLY_BIAS  1023
#define TALLY_TOP   (TALLY_BITS + TALLY_BIAS) /* The field of 2^62. */

/* Sums are modulo 2^64. */
struct tally_ops {
    /* Whether all |g_j 2^exponent[j]| < 2^62. */
    bool (*fits)(const double *gradient, const int16_t *exponent,
                 uint32_t dims);
    /* sum_j += the integer nearest to g_j 2^exponent[j]. */
    void (*add)(const double *gradient, const int16_t *exponent, int64_t *sum,
                uint32_t dims);
    /* sum_j = that integer; false if some do not fit, sum is then anything. */
    bool (*set)(const double *gradient, const int16_t *exponent, int64_t *sum,
                uint32_t dims);
    /* into_j += from_j. */
    void (*sum)(const int64_t *from, int64_t *into, uint32_t dims);
    /* Whether all |sum_j| < 2^62. */
    bool (*within)(const int64_t *sum, uint32_t dims);
    /* out_j = sum_j, plus old_j unless `old` is NULL; returns whether all
     * |sum_j| < 2^62.  Each sum_j is read once. */
    bool (*join)(const int64_t *old, const int64_t *sum, int64_t *out,
                 uint32_t dims);
    /* out_j = all of sums_j, plus old_j unless `old` is NULL; returns whether
     * all |sums_j| < 2^62.  Each is read once. */
    bool (*join_block)(const int64_t *old, const int64_t *const *sums,
                       uint32_t count, int64_t *out, uint32_t dims);
    /* gradient_j = sum_j 2^-exponent[j], rounded once; returns whether all
     * |sum_j| < 2^62. */
    bool (*gradient)(const int64_t *sum, const int16_t *exponent, uint32_t dims,
                     double *gradient);
};

extern const struct tally_ops tally_portable;
extern const struct tally_ops tally_avx512;

const struct tally_ops *tally_ops_of(enum isa isa);

/* out = old + all of `sums`; bit i of what is returned: number i is out of
 * bound, and `out` is of no use.  `out` is not `old`. */
uint64_t tally_join_many(const struct tally_ops *ops, const int64_t *old,
                         const int64_t *const *sums, uint32_t count,
                         int64_t *out, uint32_t dims);

#endif /* MATH_TALLY_LOOPS_H */

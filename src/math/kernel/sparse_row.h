/*
 * sparse_row.h - one row into the sums (math/ only).
 *
 * Profile csr: a variant per instruction set that gains by it.
 */
#ifndef MATH_SPARSE_ROW_H
#define MATH_SPARSE_ROW_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "math/compiler.h"
#include "math/exact/grid.h"
#include "math/kernel/dense.h"
#include "math/kernel/sparse.h"

#define SPARSE_FITS      0x1p57 /* SPARSE_CSR_BITS */
#define SPARSE_ONES_FITS 0x1p62 /* TALLY_BITS */

struct sparse_row {
    const uint32_t *column;
    const float *value;
    size_t count;
    size_t after; /* More columns after these, of rows to come. */
    double r;
};

/* Adds round((x r) 2^e) to the sums of the row; e is `least` plus the distance
 * that the sum carries.  What does not fit counts as 0, so that adding the row
 * with -r takes it back, and makes the answer false. */
typedef bool (*sparse_row_adder)(const struct sparse_row *row, int least,
                                 int64_t *sum);

sparse_row_adder sparse_row_adder_of(enum isa isa);
#ifdef __x86_64__
bool sparse_add_row_avx512(const struct sparse_row *row, int least,
                           int64_t *sum);
#endif

/* Entries [from, count), one by one. */
static inline bool sparse_add_rest(const struct sparse_row *row, size_t from,
                                   int least, int64_t *sum)
{
    bool fits = true;

    for (size_t t = from; t < row->count; t++) {
        int64_t *const at = &sum[row->column[t]];
        const int distance = (int)((uint64_t)*at & SPARSE_EXPONENT_SPAN);
        const double scaled =
            ((double)row->value[t] * row->r) * power_of_two(least + distance);
        const bool good = fabs(scaled) < SPARSE_FITS;
        const int64_t rounded = llrint(good ? scaled : 0.0);

        fits &= good;
        *at = (int64_t)((uint64_t)*at +
                        ((uint64_t)rounded << SPARSE_EXPONENT_BITS));
    }
    return fits;
}

/* Profile index: the value, rounded, to every column; else as above. */
INLINE bool sparse_add_ones(const uint32_t *column, const uint32_t *end,
                            double scaled, int64_t *sum)
{
    const bool good = fabs(scaled) < SPARSE_ONES_FITS;
    const uint64_t value = (uint64_t)llrint(good ? scaled : 0.0);

    for (; end - column >= 4; column += 4) {
        UNROLL
        for (int k = 0; k < 4; k++)
            sum[column[k]] = (int64_t)((uint64_t)sum[column[k]] + value);
    }
    for (; column < end; column++)
        sum[*column] = (int64_t)((uint64_t)sum[*column] + value);
    return good;
}

#endif /* MATH_SPARSE_ROW_H */

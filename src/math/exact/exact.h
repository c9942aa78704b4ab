/*
 * exact.h - sums of floating-point columns, rounded once.
 *
 * out[j] is the sum of rows[0][j] .. rows[count-1][j] as if computed with
 * unbounded precision and rounded at the very end, to the nearest, half to
 * even.  So it has no order: any order of the rows, and any way of arriving at
 * them, gives the same bits.
 *
 *     a NaN, or infinities of both signs     the quiet NaN of positive sign
 *     infinities of one sign                 that infinity
 *     beyond the largest number              infinity, as IEEE 754 rounds
 *     nothing but -0                         -0; any other sum of 0 is +0
 *
 * Every number is a multiple of the smallest denormal, and so is every sum:
 * no result is rounded below its last digit.
 */
#ifndef MATH_EXACT_H
#define MATH_EXACT_H

#include <stddef.h>
#include <stdint.h>

#include "math/isa.h"

#define EXACT_ROWS_MAX 65536u

/* As in muster.h.  Sums of I64 are modulo 2^64, as its addition is. */
enum exact_type { EXACT_F64 = 1, EXACT_F32 = 2, EXACT_I64 = 9 };

/* Bytes of a number; 0 if there is no such type. */
size_t exact_size(enum exact_type type);

/* 1 <= count <= EXACT_ROWS_MAX; `column` is scratch for count doubles; `out`
 * is none of the rows, but of I64 it may be.  The bits are the same for every
 * isa. */
void exact_sum(enum isa isa, enum exact_type type, const void *const *rows,
               uint32_t count, size_t width, double *column, void *out);
/* The oracle: every column in an integer of 2,176 bits. */
void exact_sum_ref(enum exact_type type, const void *const *rows,
                   uint32_t count, size_t width, double *column, void *out);

#endif /* MATH_EXACT_H */

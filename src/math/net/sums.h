/*
 * sums.h - floats added to integer sums on a grid, and what is seen of them.
 *
 *     sum[i] += round(x[i] * 2^exponent)     to the nearest, half to even
 *
 * x[i] * 2^exponent must be below 2^51: AVX2 rounds by adding 1.5 * 2^52, and
 * what it cannot do nobody does.
 */
#ifndef MATH_NET_SUMS_H
#define MATH_NET_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "math/isa.h"

#define SUMS_BITS 51

/* *largest becomes the largest |x[i]| * 2^exponent, if that is more.  False if
 * one is not finite or too large: the sums are then anything. */
bool sums_add(enum isa isa, const float *x, size_t count, int exponent,
              int64_t *sum, double *largest);

/* What variants have seen: `bits` are those of the largest |x[i]|. */
bool sums_largest(uint32_t bits, int exponent, double *largest);

/* Neither a NaN nor an infinity among them. */
bool sums_finite(enum isa isa, const float *x, size_t count);

#endif /* MATH_NET_SUMS_H */

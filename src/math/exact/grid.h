/*
 * grid.h - powers of two, for numbers on a grid.
 */
#ifndef MATH_GRID_H
#define MATH_GRID_H

#include <stdint.h>
#include <string.h>

#define GRID_EXPONENT_MAX 1022 /* 2^e and 2^-e are normal numbers. */

/* 2^exponent, by its bits: a call of ldexp would cost more than the rest. */
static inline double power_of_two(int exponent)
{
    const uint64_t bits = (uint64_t)(int64_t)(exponent + 1023) << 52;
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

#endif /* MATH_GRID_H */

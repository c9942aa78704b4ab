/*
 * net_portable.c - networks by fmaf, a float at a time: the oracle.
 */
#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/rng.h"
#include "math/compiler.h"
#include "math/exact/grid.h"

#define VL   1
#define NV   4
#define MR   4
#define WV   1
#define N(x) x##_portable

typedef float vf_portable;

INLINE float load_portable(const float *p)
{
    return *p;
}

INLINE void store_portable(float *p, float v)
{
    *p = v;
}

INLINE void store_some_portable(float *p, float v, size_t n)
{
    if (n > 0)
        *p = v;
}

INLINE float set_portable(float x)
{
    return x;
}

INLINE float fma_portable(float a, float b, float c)
{
    return fmaf(a, b, c);
}

INLINE float add_portable(float a, float b)
{
    return a + b;
}

INLINE float sub_portable(float a, float b)
{
    return a - b;
}

INLINE float mul_portable(float a, float b)
{
    return a * b;
}

INLINE uint32_t nonzero_portable(const float *p)
{
    return *p != 0;
}

INLINE uint32_t squeeze_portable(const float *p, uint32_t first, float *value,
                                 uint32_t *number)
{
    *value = *p;
    *number = first;
    return *p != 0;
}

INLINE float rectify_portable(float v)
{
    return v < 0 ? 0 : v;
}

INLINE uint32_t above_portable(float v)
{
    return v > 0;
}

INLINE float gate_portable(uint32_t bits, float v)
{
    return (bits & 1) != 0 ? v : 0;
}

INLINE uint32_t keeps_portable(uint64_t key, uint64_t word, uint32_t share)
{
    uint32_t bits = 0;

    for (unsigned k = 0; k < 16; k++) {
        const uint64_t draw = rng_word(key, word + k / 4) >> 16 * (k % 4);

        bits |= (uint32_t)((draw & 0xffff) >= share) << k;
    }
    return bits;
}

INLINE void larger_portable(float *best, float *which, float v, float k)
{
    if (v > *best) {
        *best = v;
        *which = k;
    }
}

INLINE void store_bytes_portable(uint8_t *p, float v)
{
    *p = (uint8_t)v;
}

INLINE float load_bytes_portable(const uint8_t *p)
{
    return *p;
}

INLINE uint32_t equal_portable(float a, float b)
{
    return a == b;
}

INLINE void turn_four_portable(const float *from, size_t from_row, float *to,
                               size_t to_row)
{
    for (size_t k = 0; k < 16; k++)
        to[k % 4 * to_row + k / 4] = from[k / 4 * from_row + k % 4];
}

#include "math/net/gemm.inc"

#include "math/net/conv.inc"

#include "math/net/winograd.inc"

#include "math/net/winograd2.inc"

#include "math/net/curve.inc"

static bool sums_add_portable(const float *x, size_t count, int exponent,
                              int64_t *sum, double *largest)
{
    const double scale = power_of_two(exponent);
    bool good = true;

    for (size_t i = 0; i < count; i++) {
        const double v = (double)x[i] * scale;

        if (!(fabs(v) < 0x1p51)) {
            good = false;
            continue;
        }
        sum[i] += llrint(v);
        *largest = fabs(v) > *largest ? fabs(v) : *largest;
    }
    return good;
}

static bool sums_finite_portable(const float *x, size_t count)
{
    bool good = true;

    for (size_t i = 0; i < count; i++)
        good &= isfinite(x[i]) != 0;
    return good;
}

const struct net_ops net_portable = NET_OPS;

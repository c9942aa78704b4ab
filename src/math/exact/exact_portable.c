/*
 * exact_portable.c - exact.inc in vectors of two, by the compiler's own
 * extension.
 */
#include "math/kernel/dense.h"

#define ZL   2
#define N(x) x##_portable

typedef double zd_portable
    __attribute__((vector_size(16), aligned(8), may_alias));

INLINE zd_portable load_f32_portable(const float *p)
{
    return (zd_portable){(double)p[0], (double)p[1]};
}

INLINE void store_f32_portable(float *p, zd_portable v)
{
    p[0] = (float)v[0];
    p[1] = (float)v[1];
}

#include "math/exact/exact.inc"

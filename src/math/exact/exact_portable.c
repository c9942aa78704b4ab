/*
 * exact_portable.c - exact.inc in vectors of two, by the compiler's own
 * extension.
 */
#include "math/lanes.h"

#define ZL   2
#define N(x) x##_portable

#define load_f32_portable load_f32_pair

typedef pair zd_portable;

INLINE void store_f32_portable(float *p, zd_portable v)
{
    p[0] = (float)v[0];
    p[1] = (float)v[1];
}

#include "math/exact/exact.inc"

/*
 * dense_portable.c - the dense kernels in vectors of two doubles, by the
 * compiler's own extension: SSE2, NEON or plain scalars, never fused.
 */
#include <string.h>

#include "math/kernel/dense.h"
#include "math/lanes.h"

#define VL         2
#define ZL         2
#define STEP       2
#define N(x)       x##_portable
#define FOLD(a, z) fold_portable(a, z)

#define load_f32_portable load_f32_pair

typedef pair vd_portable;
typedef pair zd_portable;

/* The upper half of a float. */
INLINE vd_portable load_bf16_portable(const uint16_t *p)
{
    const uint32_t wide[2] = {(uint32_t)p[0] << 16, (uint32_t)p[1] << 16};
    float x[2];

    memcpy(x, wide, sizeof x);
    return load_f32_portable(x);
}

INLINE vd_portable load_i8_portable(const int8_t *p)
{
    return (vd_portable){(double)p[0], (double)p[1]};
}

INLINE vd_portable load_u8_portable(const uint8_t *p)
{
    return (vd_portable){(double)p[0], (double)p[1]};
}

INLINE vd_portable load_pixel_portable(const uint8_t *p)
{
    const float a = (float)p[0], b = (float)p[1];
    const float x[2] = {a * PIXEL_HIGH + a * PIXEL_LOW,
                        b * PIXEL_HIGH + b * PIXEL_LOW};

    return load_f32_portable(x);
}

INLINE vd_portable load_bit_portable(const uint8_t *p, unsigned shift)
{
    return (vd_portable){(double)(*p >> shift & 1),
                         (double)(*p >> (shift + 1) & 1)};
}

/* a + v in the lanes whose bit is set.  Adding +0 elsewhere changes no bit: no
 * sum of ours is ever -0. */
INLINE vd_portable add_bits_portable(vd_portable a, vd_portable v,
                                     const uint8_t *p, unsigned shift)
{
    const unsigned bits = *p >> shift;

    return (vd_portable){a[0] + (bits & 1 ? v[0] : 0.0),
                         a[1] + (bits & 2 ? v[1] : 0.0)};
}

INLINE void fold_portable(vd_portable a[2][4], double *z)
{
    for (int k = 0; k < 2; k++) {
        const vd_portable t = (a[k][0] + a[k][2]) + (a[k][1] + a[k][3]);

        z[k] = t[0] + t[1];
    }
}

#include "math/kernel/dense.inc"

/*
 * dense_avx512.c - the dense kernels in vectors of eight doubles; conversions
 * in vectors of four.
 */
#include "math/dense_ymm.h"

#define VL               8
#define ZL               4
#define STEP             4
#define N(x)             x##_avx512
#define load_f32_avx512  load_f32_ymm
#define load_bf16_avx512 load_bf16_ymm
#define load_i8_avx512   load_i8_ymm
#define load_bit_avx512  load_bit_ymm
#define FOLD(a, z)       fold_ymm(a, z)

typedef double vd_avx512
    __attribute__((vector_size(64), aligned(8), may_alias));
typedef ymm zd_avx512;

/* a + v in the lanes whose bit is set; a byte is a vector. */
INLINE vd_avx512 add_bits_avx512(vd_avx512 a, vd_avx512 v, const uint8_t *p,
                                 unsigned shift)
{
    (void)shift;
    return (vd_avx512)_mm512_mask_add_pd((__m512d)a, (__mmask8)*p, (__m512d)a,
                                         (__m512d)v);
}

#include "math/dense.inc"

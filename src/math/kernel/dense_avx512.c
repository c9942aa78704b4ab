/*
 * dense_avx512.c - the dense kernels in vectors of eight doubles; conversions
 * in vectors of four.
 */
#include "math/kernel/dense_ymm.h"

#define VL                8
#define ZL                4
#define STEP              4
#define N(x)              x##_avx512
#define load_f32_avx512   load_f32_ymm
#define load_bf16_avx512  load_bf16_ymm
#define load_u8_avx512    load_u8_ymm
#define load_pixel_avx512 load_pixel_ymm
#define load_bit_avx512   load_bit_ymm
#define FOLD(a, z)        fold_ymm(a, z)

typedef double vd_avx512
    __attribute__((vector_size(64), aligned(8), may_alias));
typedef ymm zd_avx512;

/* By way of 64 bits: the conversion then crosses no lanes. */
INLINE ymm load_i8_avx512(const int8_t *p)
{
    int bytes;

    memcpy(&bytes, p, sizeof bytes);
    return (ymm)_mm256_cvtepi64_pd(
        _mm256_cvtepi8_epi64(_mm_cvtsi32_si128(bytes)));
}

/* a + v in the lanes whose bit is set; a byte is a vector.  In assembly: gcc
 * 12 loads the byte into a general register first and copies the sum around
 * the addition, which takes twice as long on Zen 4. */
INLINE vd_avx512 add_bits_avx512(vd_avx512 a, vd_avx512 v, const uint8_t *p,
                                 unsigned shift)
{
    __mmask8 mask;

    (void)shift;
    __asm__("kmovb %1, %0" : "=k"(mask) : "m"(*p));
    __asm__("vaddpd %2, %0, %0%{%1%}" : "+v"(a) : "Yk"(mask), "v"(v));
    return a;
}

#include "math/kernel/dense.inc"

/*
 * exact_avx512.c - exact.inc in vectors of eight.
 */
#include <immintrin.h>

#include "math/compiler.h"

#define ZL   8
#define N(x) x##_avx512

typedef double zd_avx512
    __attribute__((vector_size(64), aligned(8), may_alias));

INLINE zd_avx512 load_f32_avx512(const float *p)
{
    return (zd_avx512)_mm512_cvtps_pd(_mm256_loadu_ps(p));
}

INLINE void store_f32_avx512(float *p, zd_avx512 v)
{
    _mm256_storeu_ps(p, _mm512_cvtpd_ps((__m512d)v));
}

#include "math/exact/exact.inc"

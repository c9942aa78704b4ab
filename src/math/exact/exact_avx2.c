/*
 * exact_avx2.c - exact.inc in vectors of four.
 */
#include "math/lanes.h"

#define ZL            4
#define N(x)          x##_avx2
#define load_f32_avx2 load_f32_ymm

typedef ymm zd_avx2;

INLINE void store_f32_avx2(float *p, ymm v)
{
    _mm_storeu_ps(p, _mm256_cvtpd_ps((__m256d)v));
}

#include "math/exact/exact.inc"

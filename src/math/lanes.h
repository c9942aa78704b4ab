/*
 * lanes.h - the vectors of doubles that loops are written in (math/ only): two
 * by the compiler's own extension, SSE2, NEON or plain scalars; four by AVX2.
 *
 * Both are aligned like their elements: rows and weights may lie anywhere.
 */
#ifndef MATH_LANES_H
#define MATH_LANES_H

#include "math/compiler.h"

typedef double pair __attribute__((vector_size(16), aligned(8), may_alias));

/* Not __builtin_convertvector: gcc 12 goes through memory for two floats. */
INLINE pair load_f32_pair(const float *p)
{
    return (pair){(double)p[0], (double)p[1]};
}

#ifdef __AVX2__
#include <immintrin.h>

typedef double ymm __attribute__((vector_size(32), aligned(8), may_alias));

INLINE ymm load_f32_ymm(const float *p)
{
    return (ymm)_mm256_cvtps_pd(_mm_loadu_ps(p));
}
#endif

#endif /* MATH_LANES_H */

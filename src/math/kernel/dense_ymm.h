/*
 * dense_ymm.h - values to four doubles and back: shared by the AVX2 and the
 * AVX-512 kernels (math/ only).  The latter convert in half vectors too: a
 * whole one takes twice the steps on Zen 4 and no fewer elsewhere.
 */
#ifndef MATH_DENSE_YMM_H
#define MATH_DENSE_YMM_H

#ifdef __AVX2__ /* Else there is nothing here, and it still compiles alone. */

#include <immintrin.h>
#include <string.h>

#include "math/kernel/dense.h"
#include "math/lanes.h"

/* The upper half of a float. */
INLINE ymm load_bf16_ymm(const uint16_t *p)
{
    const __m128i half = _mm_loadl_epi64((const __m128i *)(const void *)p);
    const __m128i wide = _mm_slli_epi32(_mm_cvtepu16_epi32(half), 16);

    return (ymm)_mm256_cvtps_pd(_mm_castsi128_ps(wide));
}

INLINE ymm load_i8_ymm(const int8_t *p)
{
    int bytes;

    memcpy(&bytes, p, sizeof bytes);
    return (ymm)_mm256_cvtepi32_pd(_mm_cvtepi8_epi32(_mm_cvtsi32_si128(bytes)));
}

/* Four bytes as 32-bit integers. */
INLINE __m128i bytes_ymm(const uint8_t *p)
{
    int bytes;

    memcpy(&bytes, p, sizeof bytes);
    return _mm_cvtepu8_epi32(_mm_cvtsi32_si128(bytes));
}

INLINE ymm load_u8_ymm(const uint8_t *p)
{
    return (ymm)_mm256_cvtepi32_pd(bytes_ymm(p));
}

INLINE ymm load_pixel_ymm(const uint8_t *p)
{
    const __m128 k = _mm_cvtepi32_ps(bytes_ymm(p));

    return (ymm)_mm256_cvtps_pd(
        _mm_add_ps(_mm_mul_ps(k, _mm_set1_ps(PIXEL_HIGH)),
                   _mm_mul_ps(k, _mm_set1_ps(PIXEL_LOW))));
}

/* a + v in the lanes whose bit is set.  Adding +0 elsewhere changes no bit: no
 * sum of ours is ever -0. */
INLINE ymm add_bits_ymm(ymm a, ymm v, const uint8_t *p, unsigned shift)
{
    static const uint64_t masks[16][4] __attribute__((aligned(32))) = {
#define M(n, b)   ((n) >> (b)&1 ? UINT64_MAX : 0)
#define MASKS(n)  {M(n, 0), M(n, 1), M(n, 2), M(n, 3)}
#define MASKS4(n) MASKS(n), MASKS((n) + 1), MASKS((n) + 2), MASKS((n) + 3)
        MASKS4(0), MASKS4(4), MASKS4(8), MASKS4(12)
#undef M
#undef MASKS
#undef MASKS4
    };
    const __m256d mask =
        _mm256_load_pd((const double *)(const void *)masks[*p >> shift & 15]);

    return a + (ymm)_mm256_and_pd((__m256d)v, mask);
}

/* Each lane picks its bit, and 1.0 if it is set. */
INLINE ymm load_bit_ymm(const uint8_t *p, unsigned shift)
{
    const __m256i lane = _mm256_set_epi64x(8, 4, 2, 1);
    const __m256i byte = _mm256_set1_epi64x(*p >> shift);
    const __m256i set = _mm256_cmpeq_epi64(_mm256_and_si256(byte, lane), lane);

    return (ymm)_mm256_and_pd(_mm256_castsi256_pd(set), _mm256_set1_pd(1.0));
}

/* Lanes 0-3 are in a[k][0], 4-7 in a[k][1]. */
INLINE void fold_ymm(ymm a[4][2], double *z)
{
    const __m256d t0 = (__m256d)(a[0][0] + a[0][1]);
    const __m256d t1 = (__m256d)(a[1][0] + a[1][1]);
    const __m256d t2 = (__m256d)(a[2][0] + a[2][1]);
    const __m256d t3 = (__m256d)(a[3][0] + a[3][1]);
    /* u: row 0 lanes 0 1 (+ 2 3), row 1 lanes 0 1; v: rows 2 and 3. */
    const __m256d u = _mm256_add_pd(_mm256_permute2f128_pd(t0, t1, 0x20),
                                    _mm256_permute2f128_pd(t0, t1, 0x31));
    const __m256d v = _mm256_add_pd(_mm256_permute2f128_pd(t2, t3, 0x20),
                                    _mm256_permute2f128_pd(t2, t3, 0x31));
    /* Rows 0 2 1 3. */
    const __m256d s =
        _mm256_add_pd(_mm256_unpacklo_pd(u, v), _mm256_unpackhi_pd(u, v));

    _mm256_storeu_pd(z, _mm256_permute4x64_pd(s, 0xd8));
}

#endif /* __AVX2__ */

#endif /* MATH_DENSE_YMM_H */

/*
 * net_avx512.c - networks in vectors of sixteen.
 */
#include <assert.h>
#include <immintrin.h>
#include <stdint.h>
#include <string.h>

#include "base/rng.h"
#include "math/compiler.h"
#include "math/net/sums.h"

#define VL   16
#define NV   2
#define MR   14
#define WV   2
#define N(x) x##_avx512

typedef __m512 vf_avx512;

INLINE __m512 load_avx512(const float *p)
{
    return _mm512_loadu_ps(p);
}

INLINE void store_avx512(float *p, __m512 v)
{
    _mm512_storeu_ps(p, v);
}

INLINE void store_some_avx512(float *p, __m512 v, size_t n)
{
    _mm512_mask_storeu_ps(p, (__mmask16)((1u << n) - 1), v);
}

INLINE __m512 set_avx512(float x)
{
    return _mm512_set1_ps(x);
}

INLINE __m512 fma_avx512(__m512 a, __m512 b, __m512 c)
{
    return _mm512_fmadd_ps(a, b, c);
}

INLINE __m512 add_avx512(__m512 a, __m512 b)
{
    return _mm512_add_ps(a, b);
}

INLINE __m512 sub_avx512(__m512 a, __m512 b)
{
    return _mm512_sub_ps(a, b);
}

INLINE __m512 mul_avx512(__m512 a, __m512 b)
{
    return _mm512_mul_ps(a, b);
}

INLINE uint32_t nonzero_avx512(const float *p)
{
    return _mm512_cmp_ps_mask(_mm512_loadu_ps(p), _mm512_setzero_ps(),
                              _CMP_NEQ_UQ);
}

INLINE uint32_t squeeze_avx512(const float *p, uint32_t first, float *value,
                               uint32_t *number)
{
    const __m512i lane =
        _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i all = _mm512_add_epi32(lane, _mm512_set1_epi32((int)first));
    const uint32_t bits = nonzero_avx512(p);

    /* In registers: a compressed store takes a hundred cycles on some. */
    _mm512_storeu_ps(
        value, _mm512_maskz_compress_ps((__mmask16)bits, _mm512_loadu_ps(p)));
    _mm512_storeu_si512(number,
                        _mm512_maskz_compress_epi32((__mmask16)bits, all));
    return (uint32_t)__builtin_popcount(bits);
}

/* The second of two operands where one is no number. */
INLINE __m512 rectify_avx512(__m512 v)
{
    return _mm512_max_ps(_mm512_setzero_ps(), v);
}

INLINE uint32_t above_avx512(__m512 v)
{
    return _mm512_cmp_ps_mask(v, _mm512_setzero_ps(), _CMP_GT_OQ);
}

INLINE __m512 gate_avx512(uint32_t bits, __m512 v)
{
    return _mm512_maskz_mov_ps((__mmask16)bits, v);
}

INLINE uint32_t keeps_avx512(uint64_t key, uint64_t word, uint32_t share)
{
    const __m256i number =
        _mm256_add_epi64(_mm256_set1_epi64x((long long)word + 1),
                         _mm256_setr_epi64x(0, 1, 2, 3));
    __m256i x = _mm256_add_epi64(
        _mm256_set1_epi64x((long long)key),
        _mm256_mullo_epi64(number, _mm256_set1_epi64x((long long)RNG_STEP)));

    x = _mm256_mullo_epi64(_mm256_xor_si256(x, _mm256_srli_epi64(x, 30)),
                           _mm256_set1_epi64x((long long)RNG_FIRST));
    x = _mm256_mullo_epi64(_mm256_xor_si256(x, _mm256_srli_epi64(x, 27)),
                           _mm256_set1_epi64x((long long)RNG_SECOND));
    x = _mm256_xor_si256(x, _mm256_srli_epi64(x, 31));
    return _mm256_cmpge_epu16_mask(x, _mm256_set1_epi16((short)share));
}

INLINE void larger_avx512(__m512 *best, __m512 *which, __m512 v, __m512 k)
{
    const __mmask16 more = _mm512_cmp_ps_mask(v, *best, _CMP_GT_OQ);

    *best = _mm512_mask_mov_ps(*best, more, v);
    *which = _mm512_mask_mov_ps(*which, more, k);
}

INLINE void store_bytes_avx512(uint8_t *p, __m512 v)
{
    _mm_storeu_si128((__m128i *)(void *)p,
                     _mm512_cvtepi32_epi8(_mm512_cvtps_epi32(v)));
}

INLINE __m512 load_bytes_avx512(const uint8_t *p)
{
    return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(
        _mm_loadu_si128((const __m128i *)(const void *)p)));
}

INLINE uint32_t equal_avx512(__m512 a, __m512 b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ);
}

INLINE void turn_four_avx512(const float *from, size_t from_row, float *to,
                             size_t to_row)
{
    __m128 a = _mm_loadu_ps(from), b = _mm_loadu_ps(from + from_row);
    __m128 c = _mm_loadu_ps(from + 2 * from_row);
    __m128 d = _mm_loadu_ps(from + 3 * from_row);

    _MM_TRANSPOSE4_PS(a, b, c, d);
    _mm_storeu_ps(to, a);
    _mm_storeu_ps(to + to_row, b);
    _mm_storeu_ps(to + 2 * to_row, c);
    _mm_storeu_ps(to + 3 * to_row, d);
}

#include "math/net/gemm.inc"

#include "math/net/conv.inc"

#include "math/net/winograd.inc"

#include "math/net/winograd2.inc"

#include "math/net/curve.inc"

/* The largest is sought among the bits of |x|, of which those of what is not
 * finite are the largest. */
static bool sums_add_avx512(const float *x, size_t count, int exponent,
                            int64_t *sum, double *largest)
{
    const __m512i size = _mm512_set1_epi32(INT32_MAX);
    const __m512 by = _mm512_set1_ps((float)exponent);
    __m512i most = _mm512_setzero_si512();

    for (size_t i = 0; i < count; i += 16) {
        const __m512 v = _mm512_loadu_ps(x + i);
        const __m512 scaled = _mm512_scalef_ps(v, by);
        const __m512i low = _mm512_cvtps_epi64(_mm512_castps512_ps256(scaled));
        const __m512i high =
            _mm512_cvtps_epi64(_mm512_extractf32x8_ps(scaled, 1));
        int64_t *const to = sum + i;

        most = _mm512_max_epu32(most,
                                _mm512_and_si512(_mm512_castps_si512(v), size));
        _mm512_storeu_si512(to, _mm512_add_epi64(_mm512_loadu_si512(to), low));
        _mm512_storeu_si512(to + 8,
                            _mm512_add_epi64(_mm512_loadu_si512(to + 8), high));
    }
    return sums_largest(_mm512_reduce_max_epu32(most), exponent, largest);
}

/* A number less itself is 0, unless it is none. */
static bool sums_finite_avx512(const float *x, size_t count)
{
    __m512 bad = _mm512_setzero_ps();

    for (size_t i = 0; i < count; i += 16) {
        const __m512 v = _mm512_loadu_ps(x + i);

        bad = _mm512_or_ps(bad, _mm512_sub_ps(v, v));
    }
    return _mm512_cmp_ps_mask(bad, bad, _CMP_UNORD_Q) == 0;
}

const struct net_ops net_avx512 = NET_OPS;

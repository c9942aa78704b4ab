/*
 * net_avx2.c - networks in vectors of eight, with AVX2's sister FMA.
 */
#include <assert.h>
#include <immintrin.h>
#include <stdint.h>
#include <string.h>

#include "base/rng.h"
#include "math/compiler.h"
#include "math/exact/grid.h"
#include "math/net/sums.h"

#define VL   8
#define NV   2
#define MR   6
#define WV   1
#define N(x) x##_avx2

typedef __m256 vf_avx2;

INLINE __m256 load_avx2(const float *p)
{
    return _mm256_loadu_ps(p);
}

INLINE void store_avx2(float *p, __m256 v)
{
    _mm256_storeu_ps(p, v);
}

INLINE void store_some_avx2(float *p, __m256 v, size_t n)
{
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);

    _mm256_maskstore_ps(p, _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), lane),
                        v);
}

INLINE __m256 set_avx2(float x)
{
    return _mm256_set1_ps(x);
}

INLINE __m256 fma_avx2(__m256 a, __m256 b, __m256 c)
{
    return _mm256_fmadd_ps(a, b, c);
}

INLINE __m256 add_avx2(__m256 a, __m256 b)
{
    return _mm256_add_ps(a, b);
}

INLINE __m256 sub_avx2(__m256 a, __m256 b)
{
    return _mm256_sub_ps(a, b);
}

INLINE __m256 mul_avx2(__m256 a, __m256 b)
{
    return _mm256_mul_ps(a, b);
}

INLINE uint32_t nonzero_avx2(const float *p)
{
    return (uint32_t)_mm256_movemask_ps(
        _mm256_cmp_ps(_mm256_loadu_ps(p), _mm256_setzero_ps(), _CMP_NEQ_UQ));
}

INLINE uint32_t squeeze_avx2(const float *p, uint32_t first, float *value,
                             uint32_t *number)
{
    uint32_t n = 0;

    for (uint32_t bits = nonzero_avx2(p); bits != 0; bits &= bits - 1) {
        const uint32_t k = (uint32_t)__builtin_ctz(bits);

        value[n] = p[k];
        number[n++] = first + k;
    }
    return n;
}

/* The second of two operands where one is no number. */
INLINE __m256 rectify_avx2(__m256 v)
{
    return _mm256_max_ps(_mm256_setzero_ps(), v);
}

INLINE uint32_t above_avx2(__m256 v)
{
    return (uint32_t)_mm256_movemask_ps(
        _mm256_cmp_ps(v, _mm256_setzero_ps(), _CMP_GT_OQ));
}

INLINE __m256 gate_avx2(uint32_t bits, __m256 v)
{
    const __m256i each = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    const __m256i mine = _mm256_and_si256(_mm256_set1_epi32((int)bits), each);

    return _mm256_and_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(mine, each)),
                         v);
}

/* There is no multiplication of 64 bits: words are drawn one by one. */
INLINE uint32_t keeps_avx2(uint64_t key, uint64_t word, uint32_t share)
{
    const __m256i draws = _mm256_setr_epi64x(
        (long long)rng_word(key, word), (long long)rng_word(key, word + 1),
        (long long)rng_word(key, word + 2), (long long)rng_word(key, word + 3));
    const __m256i top =
        _mm256_max_epu16(draws, _mm256_set1_epi16((short)share));
    const __m256i kept = _mm256_cmpeq_epi16(top, draws);

    return (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(
        _mm256_castsi256_si128(kept), _mm256_extracti128_si256(kept, 1)));
}

INLINE void larger_avx2(__m256 *best, __m256 *which, __m256 v, __m256 k)
{
    const __m256 more = _mm256_cmp_ps(v, *best, _CMP_GT_OQ);

    *best = _mm256_blendv_ps(*best, v, more);
    *which = _mm256_blendv_ps(*which, k, more);
}

INLINE void store_bytes_avx2(uint8_t *p, __m256 v)
{
    const __m256i whole = _mm256_cvtps_epi32(v);
    const __m128i halves = _mm_packs_epi32(_mm256_castsi256_si128(whole),
                                           _mm256_extracti128_si256(whole, 1));

    _mm_storel_epi64((__m128i *)(void *)p, _mm_packus_epi16(halves, halves));
}

INLINE __m256 load_bytes_avx2(const uint8_t *p)
{
    return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(
        _mm_loadl_epi64((const __m128i *)(const void *)p)));
}

INLINE uint32_t equal_avx2(__m256 a, __m256 b)
{
    return (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_EQ_OQ));
}

INLINE void turn_four_avx2(const float *from, size_t from_row, float *to,
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

static uint32_t top_avx2(__m256i v)
{
    uint32_t all[8], top = 0;

    _mm256_storeu_si256((__m256i *)(void *)all, v);
    for (int i = 0; i < 8; i++)
        top = all[i] > top ? all[i] : top;
    return top;
}

/* There is no conversion to 64 bits: the integer appears in the low bits of
 * v + 1.5 * 2^52. */
INLINE void add_four_avx2(__m128 x, __m256d by, int64_t *sum)
{
    const __m256d rounder = _mm256_set1_pd(0x1.8p52);
    const __m256d v = _mm256_mul_pd(_mm256_cvtps_pd(x), by);
    const __m256i whole =
        _mm256_sub_epi64(_mm256_castpd_si256(_mm256_add_pd(v, rounder)),
                         _mm256_castpd_si256(rounder));
    __m256i *const to = (__m256i *)(void *)sum;

    _mm256_storeu_si256(to, _mm256_add_epi64(_mm256_loadu_si256(to), whole));
}

/* The largest is sought among the bits of |x|, of which those of what is not
 * finite are the largest. */
static bool sums_add_avx2(const float *x, size_t count, int exponent,
                          int64_t *sum, double *largest)
{
    const __m256d by = _mm256_set1_pd(power_of_two(exponent));
    const __m256i size = _mm256_set1_epi32(INT32_MAX);
    __m256i most = _mm256_setzero_si256();

    for (size_t i = 0; i < count; i += 8) {
        const __m256 v = _mm256_loadu_ps(x + i);

        most = _mm256_max_epu32(most,
                                _mm256_and_si256(_mm256_castps_si256(v), size));
        add_four_avx2(_mm256_castps256_ps128(v), by, sum + i);
        add_four_avx2(_mm256_extractf128_ps(v, 1), by, sum + i + 4);
    }
    return sums_largest(top_avx2(most), exponent, largest);
}

/* A number less itself is 0, unless it is none. */
static bool sums_finite_avx2(const float *x, size_t count)
{
    __m256 bad = _mm256_setzero_ps();

    for (size_t i = 0; i < count; i += 8) {
        const __m256 v = _mm256_loadu_ps(x + i);

        bad = _mm256_or_ps(bad, _mm256_sub_ps(v, v));
    }
    return _mm256_movemask_ps(_mm256_cmp_ps(bad, bad, _CMP_UNORD_Q)) == 0;
}

const struct net_ops net_avx2 = NET_OPS;

/*
 * net_avx512.c - networks in vectors of sixteen.
 */
#include <assert.h>
#include <immintrin.h>
#include <stdint.h>
#include <string.h>

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

INLINE void larger_avx512(const float *at, uint8_t number, float *y,
                          uint8_t *which)
{
    const __m512 old = _mm512_loadu_ps(y), new = _mm512_loadu_ps(at);
    const __mmask16 more = _mm512_cmp_ps_mask(new, old, _CMP_GT_OQ);

    _mm512_storeu_ps(y, _mm512_mask_mov_ps(old, more, new));
    _mm_mask_storeu_epi8(which, more, _mm_set1_epi8((char)number));
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

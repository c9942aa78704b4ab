/*
 * narrow.c - doubles become floats, counted on the way.
 */
#include "math/kernel/narrow.h"

#include <float.h>
#include <math.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

static void narrow_one(const double *from, float *to, struct narrowed *n)
{
    const float value = (float)*from + 0.0f;

    *to = value;
    n->rounded += (double)value != *from;
    n->normal += fabsf(value) >= FLT_MIN;
    n->spoiled += !(fabsf(value) <= FLT_MAX) ? 1u : 0u;
    n->zero += *from == 0;
}

static struct narrowed narrow_rest(const double *from, size_t first,
                                   size_t count, float *to, struct narrowed n)
{
    for (size_t k = first; k < count; k++)
        narrow_one(from + k, to + k, &n);
    return n;
}

static struct narrowed narrow_portable(const double *from, size_t count,
                                       float *to)
{
    return narrow_rest(from, 0, count, to, (struct narrowed){0});
}

#ifdef __x86_64__
#define TARGET __attribute__((target("avx2")))

/* Comparisons that held so far: each is -1 in one of 8 lanes. */
TARGET static uint32_t count_held(__m256i held)
{
    const __m128i half = _mm_add_epi32(_mm256_castsi256_si128(held),
                                       _mm256_extracti128_si256(held, 1));
    const __m128i pair = _mm_add_epi32(half, _mm_unpackhi_epi64(half, half));

    return -(uint32_t)(_mm_cvtsi128_si32(pair) + _mm_extract_epi32(pair, 1));
}

/* Of doubles, side by side; in which order does not matter to a count. */
TARGET static __m256i join_held(__m256d a, __m256d b)
{
    return (__m256i)_mm256_shuffle_ps((__m256)a, (__m256)b, 0x88);
}

TARGET static struct narrowed narrow_avx2(const double *from, size_t count,
                                          float *to)
{
    const __m256 least = _mm256_set1_ps(FLT_MIN),
                 most = _mm256_set1_ps(FLT_MAX);
    const __m256d none = _mm256_setzero_pd();
    __m256i rounded = _mm256_setzero_si256(), zero = rounded;
    __m256i normal = rounded, spoiled = rounded;
    size_t k = 0;

    for (; k + 8 <= count; k += 8) {
        const __m256d a = _mm256_loadu_pd(from + k);
        const __m256d b = _mm256_loadu_pd(from + k + 4);
        const __m128 low = _mm_add_ps(_mm256_cvtpd_ps(a), _mm_setzero_ps());
        const __m128 high = _mm_add_ps(_mm256_cvtpd_ps(b), _mm_setzero_ps());
        const __m256 value = _mm256_set_m128(high, low);
        const __m256 size = _mm256_andnot_ps(_mm256_set1_ps(-0.0f), value);

        _mm256_storeu_ps(to + k, value);
        rounded = _mm256_add_epi32(
            rounded,
            join_held(_mm256_cmp_pd(_mm256_cvtps_pd(low), a, _CMP_NEQ_UQ),
                      _mm256_cmp_pd(_mm256_cvtps_pd(high), b, _CMP_NEQ_UQ)));
        zero = _mm256_add_epi32(zero,
                                join_held(_mm256_cmp_pd(a, none, _CMP_EQ_OQ),
                                          _mm256_cmp_pd(b, none, _CMP_EQ_OQ)));
        normal = _mm256_add_epi32(
            normal, (__m256i)_mm256_cmp_ps(size, least, _CMP_GE_OQ));
        spoiled = _mm256_add_epi32(
            spoiled, (__m256i)_mm256_cmp_ps(size, most, _CMP_NLE_UQ));
    }
    return narrow_rest(from, k, count, to,
                       (struct narrowed){.spoiled = count_held(spoiled),
                                         .rounded = count_held(rounded),
                                         .normal = count_held(normal),
                                         .zero = count_held(zero)});
}
#endif

typedef struct narrowed (*narrow_fn)(const double *from, size_t count,
                                     float *to);

static const narrow_fn variants[ISAS] =
    ISA_TABLE(narrow_portable, narrow_avx2, narrow_avx2);

struct narrowed narrow(enum isa isa, const double *from, size_t count,
                       float *to)
{
    return isa_row(variants, isa)(from, count, to);
}

/*
 * sparse_avx512.c - eight entries of a row at a time.
 *
 * Sums are read and written one by one: that is faster than the instructions
 * that gather and scatter.
 */
#include <immintrin.h>

#include "math/compiler.h"
#include "math/kernel/sparse_row.h"

enum {
    LANES = 8,
    AHEAD = 48, /* Entries between the prefetch of a sum and its use. */
    BIAS = 1023,
    FRACTION = 52,
};

/* 2^(least + distance) of eight sums. */
static inline __m512d scales(__m512i sum, __m512i bias)
{
    const __m512i mask = _mm512_set1_epi64(SPARSE_EXPONENT_SPAN);
    const __m512i field = _mm512_add_epi64(_mm512_and_si512(sum, mask), bias);

    return _mm512_castsi512_pd(_mm512_slli_epi64(field, FRACTION));
}

bool sparse_add_row_avx512(const struct sparse_row *row, int least,
                           int64_t *sum)
{
    const __m512d r = _mm512_set1_pd(row->r);
    const __m512d limit = _mm512_set1_pd(SPARSE_FITS);
    const __m512i bias = _mm512_set1_epi64(least + BIAS);
    const bool ahead = row->after >= AHEAD;
    unsigned all = 0xff;
    size_t t = 0;

    for (; t + LANES <= row->count; t += LANES) {
        const uint32_t *const c = row->column + t;
        const __m512d x = _mm512_cvtps_pd(_mm256_loadu_ps(row->value + t));
        const __m512i old =
            _mm512_setr_epi64(sum[c[0]], sum[c[1]], sum[c[2]], sum[c[3]],
                              sum[c[4]], sum[c[5]], sum[c[6]], sum[c[7]]);
        const __m512d scaled =
            _mm512_mul_pd(_mm512_mul_pd(x, r), scales(old, bias));
        const __mmask8 good =
            _mm512_cmp_pd_mask(_mm512_abs_pd(scaled), limit, _CMP_LT_OQ);
        const __m512i rounded = _mm512_maskz_cvtpd_epi64(good, scaled);
        int64_t new[LANES];

        UNROLL
        for (int k = 0; ahead && k < LANES; k++)
            __builtin_prefetch(&sum[c[AHEAD + k]], 0, 3);
        all &= good;
        _mm512_storeu_si512(
            new, _mm512_add_epi64(
                     old, _mm512_slli_epi64(rounded, SPARSE_EXPONENT_BITS)));
        UNROLL
        for (int k = 0; k < LANES; k++)
            sum[c[k]] = new[k];
    }
    return sparse_add_rest(row, t, least, sum) && all == 0xff;
}

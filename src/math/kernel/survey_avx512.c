/*
 * survey_avx512.c - survey.inc in vectors of four: conversions are no faster in
 * longer ones (see dense_ymm.h).
 */
#include "math/kernel/dense_ymm.h"

#define ZL              4
#define ONES(word)      (uint64_t) __builtin_popcountll(word)
#define N(x)            x##_avx512
#define load_f32_avx512 load_f32_ymm
#define FOLD(a, z)      fold_ymm(a, z)

typedef ymm zd_avx512;

#include "math/kernel/survey.inc"

__attribute__((target("avx512vpopcntdq"))) void
survey_pairs_vpopcnt(const uint64_t *words, size_t count, size_t stride,
                     size_t first, uint64_t *pairs)
{
    for (size_t k = 0; k < first + SURVEY_JOINT; k += 8) {
        __m512i sum[SURVEY_JOINT] = {_mm512_setzero_si512()};

        for (size_t t = 0; t < count; t++) {
            const uint64_t *const word = words + t * stride;
            const __m512i other = _mm512_loadu_si512(word + k);

            UNROLL
            for (size_t q = 0; q < SURVEY_JOINT; q++) {
                const __m512i both = _mm512_and_si512(
                    other, _mm512_set1_epi64((long long)word[first + q]));

                sum[q] = _mm512_add_epi64(sum[q], _mm512_popcnt_epi64(both));
            }
        }
        UNROLL
        for (size_t q = 0; q < SURVEY_JOINT; q++)
            _mm512_storeu_si512(pairs + q * stride + k, sum[q]);
    }
}

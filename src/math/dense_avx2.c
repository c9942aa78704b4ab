/*
 * dense_avx2.c - the dense kernels in vectors of four doubles.  Compiled with
 * -mavx2 and without -mfma: the definition multiplies, then adds.
 */
#include <immintrin.h>

#define VL         4
#define GROUP      4
#define N(x)       x##_avx2
#define LOADX(p)   ((vd_avx2)_mm256_cvtps_pd(_mm_loadu_ps(p)))
#define FOLD(a, z) fold_avx2(a, z)

typedef double fold_vd __attribute__((vector_size(32), aligned(8), may_alias));

/* Lanes 0-3 are in a[k][0], 4-7 in a[k][1]. */
static inline __attribute__((always_inline)) void fold_avx2(fold_vd a[4][2],
                                                            double *z)
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

#include "math/dense.inc"

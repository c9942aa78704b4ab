/*
 * dense_avx512.c - the dense kernels in vectors of eight doubles.
 */
#include <immintrin.h>

#define VL         8
#define GROUP      4
#define N(x)       x##_avx512
#define LOADX(p)   ((vd_avx512)_mm512_cvtps_pd(_mm256_loadu_ps(p)))
#define FOLD(a, z) fold_avx512(a, z)

typedef double fold_vd __attribute__((vector_size(64), aligned(8), may_alias));

/* Lanes l + (l+4) of rows a and b, next to each other. */
static inline __attribute__((always_inline)) __m512d fold_halves(__m512d a,
                                                                 __m512d b)
{
    return _mm512_add_pd(_mm512_shuffle_f64x2(a, b, 0x44),
                         _mm512_shuffle_f64x2(a, b, 0xee));
}

static inline __attribute__((always_inline)) void fold_avx512(fold_vd a[4][1],
                                                              double *z)
{
    const __m512d t0 = fold_halves((__m512d)a[0][0], (__m512d)a[1][0]);
    const __m512d t1 = fold_halves((__m512d)a[2][0], (__m512d)a[3][0]);
    /* Lanes 0 1 (+ 2 3) of rows 0 1 2 3. */
    const __m512d u = _mm512_add_pd(_mm512_shuffle_f64x2(t0, t1, 0x88),
                                    _mm512_shuffle_f64x2(t0, t1, 0xdd));
    const __m512d s = _mm512_add_pd(u, _mm512_permute_pd(u, 0x55));
    const __m512i even = _mm512_set_epi64(0, 0, 0, 0, 6, 4, 2, 0);

    _mm256_storeu_pd(z, _mm512_castpd512_pd256(_mm512_permutexvar_pd(even, s)));
}

#include "math/dense.inc"

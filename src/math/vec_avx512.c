/*
 * vec_avx512.c - the loops of vec.c, eight coordinates at a time.
 *
 * The eight lanes of a sum are the eight of a register; a product and an add
 * are two roundings here as there.
 */
#include "math/compiler.h"
#include "math/vec_loops.h"

#include <immintrin.h>
#include <math.h>
#include <string.h>

static __mmask8 lanes_at(size_t i, size_t count)
{
    const size_t left = count - i < VEC_LANES ? count - i : VEC_LANES;

    return (__mmask8)((1u << left) - 1);
}

static void lanes(const double *a, const double *b, size_t count,
                  double lane[VEC_LANES])
{
    __m512d sum = _mm512_loadu_pd(lane);

    for (size_t i = 0; i < count; i += VEC_LANES)
        sum = _mm512_add_pd(
            sum, _mm512_mul_pd(_mm512_loadu_pd(a + i), _mm512_loadu_pd(b + i)));
    _mm512_storeu_pd(lane, sum);
}

/* The largest of the bits of |a_i|, as a number. */
static uint64_t top_bits(const double *a, size_t count)
{
    const __m512i size = _mm512_set1_epi64(INT64_MAX);
    __m512i top = _mm512_setzero_si512();

    for (size_t i = 0; i < count; i += VEC_LANES) {
        const __m512i bits =
            _mm512_maskz_loadu_epi64(lanes_at(i, count), a + i);

        top = _mm512_max_epu64(top, _mm512_and_epi64(bits, size));
    }
    return _mm512_reduce_max_epu64(top);
}

static bool finite(const double *a, size_t count)
{
    return top_bits(a, count) < VEC_ENDLESS;
}

/* Sizes are in the order of their bits. */
static double top(const double *a, size_t count)
{
    const uint64_t bits = top_bits(a, count);
    double size;

    memcpy(&size, &bits, sizeof size);
    return bits < VEC_ENDLESS ? size : HUGE_VAL;
}

static void measure(const double *sum, double rows, double twice,
                    const double *w, size_t count, double *gradient)
{
    const __m512d all = _mm512_set1_pd(rows);
    const __m512d pull = _mm512_set1_pd(twice);

    for (size_t i = 0; i < count; i += VEC_LANES) {
        const __mmask8 lanes = lanes_at(i, count);
        const __m512d mean =
            _mm512_div_pd(_mm512_maskz_loadu_pd(lanes, sum + i), all);
        const __m512d back =
            _mm512_mul_pd(pull, _mm512_maskz_loadu_pd(lanes, w + i));

        _mm512_mask_storeu_pd(gradient + i, lanes, _mm512_add_pd(mean, back));
    }
}

static void descend(double keep, double scale, const double *g, size_t count,
                    double *w)
{
    const __m512d kept = _mm512_set1_pd(keep);
    const __m512d moved = _mm512_set1_pd(scale);

    for (size_t i = 0; i < count; i += VEC_LANES) {
        const __mmask8 lanes = lanes_at(i, count);
        const __m512d old =
            _mm512_mul_pd(kept, _mm512_maskz_loadu_pd(lanes, w + i));
        const __m512d step =
            _mm512_mul_pd(moved, _mm512_maskz_loadu_pd(lanes, g + i));

        _mm512_mask_storeu_pd(w + i, lanes, _mm512_sub_pd(old, step));
    }
}

/* Eight registers side by side hide how long an add takes. */
#define WEIGHED 8u

INLINE void weigh_wide(const double *weight, const double *const *from,
                       uint32_t terms, size_t i, double *to, bool past)
{
    __m512d sum[WEIGHED];

    UNROLL
    for (uint32_t l = 0; l < WEIGHED; l++)
        sum[l] =
            _mm512_mul_pd(_mm512_set1_pd(weight[0]),
                          _mm512_loadu_pd(from[0] + i + (size_t)l * VEC_LANES));
    for (uint32_t k = 1; k < terms; k++) {
        const __m512d factor = _mm512_set1_pd(weight[k]);
        const double *term = from[k] + i;

        UNROLL
        for (uint32_t l = 0; l < WEIGHED; l++)
            sum[l] = _mm512_add_pd(
                sum[l],
                _mm512_mul_pd(factor,
                              _mm512_loadu_pd(term + (size_t)l * VEC_LANES)));
    }
    UNROLL
    for (uint32_t l = 0; l < WEIGHED; l++) {
        if (past)
            _mm512_stream_pd(to + i + (size_t)l * VEC_LANES, sum[l]);
        else
            _mm512_storeu_pd(to + i + (size_t)l * VEC_LANES, sum[l]);
    }
}

INLINE void weigh_as(const double *weight, const double *const *from,
                     uint32_t terms, size_t count, double *to, bool past)
{
    size_t i = 0;

    for (; count - i >= (size_t)WEIGHED * VEC_LANES;
         i += (size_t)WEIGHED * VEC_LANES)
        weigh_wide(weight, from, terms, i, to, past);
    for (; i < count; i += VEC_LANES) {
        const __mmask8 lanes = lanes_at(i, count);
        __m512d sum = _mm512_mul_pd(_mm512_set1_pd(weight[0]),
                                    _mm512_maskz_loadu_pd(lanes, from[0] + i));

        for (uint32_t k = 1; k < terms; k++)
            sum = _mm512_add_pd(
                sum, _mm512_mul_pd(_mm512_set1_pd(weight[k]),
                                   _mm512_maskz_loadu_pd(lanes, from[k] + i)));
        _mm512_mask_storeu_pd(to + i, lanes, sum);
    }
}

static void weigh(const double *weight, const double *const *from,
                  uint32_t terms, size_t count, double *to)
{
    weigh_as(weight, from, terms, count, to, false);
}

static void weigh_past(const double *weight, const double *const *from,
                       uint32_t terms, size_t count, double *to)
{
    if ((uintptr_t)to % sizeof(__m512d) == 0)
        weigh_as(weight, from, terms, count, to, true);
    else
        weigh(weight, from, terms, count, to);
}

static void past_end(void)
{
    _mm_sfence();
}

static void adam(const struct vec_adam *a, size_t count, double *u, double *v,
                 double *s)
{
    const __m512d old1 = _mm512_set1_pd(a->beta1);
    const __m512d old2 = _mm512_set1_pd(a->beta2);
    const __m512d new1 = _mm512_set1_pd(1 - a->beta1);
    const __m512d new2 = _mm512_set1_pd(1 - a->beta2);
    const __m512d warm1 = _mm512_set1_pd(a->warm1);
    const __m512d warm2 = _mm512_set1_pd(a->warm2);
    const __m512d epsilon = _mm512_set1_pd(a->epsilon);
    const __m512d eta = _mm512_set1_pd(a->eta);

    for (size_t i = 0; i < count; i += VEC_LANES) {
        const __mmask8 lanes = lanes_at(i, count);
        const __m512d slope = _mm512_maskz_loadu_pd(lanes, s + i);
        const __m512d first = _mm512_add_pd(
            _mm512_mul_pd(old1, _mm512_maskz_loadu_pd(lanes, u + i)),
            _mm512_mul_pd(new1, slope));
        const __m512d second = _mm512_add_pd(
            _mm512_mul_pd(old2, _mm512_maskz_loadu_pd(lanes, v + i)),
            _mm512_mul_pd(new2, _mm512_mul_pd(slope, slope)));
        const __m512d root = _mm512_sqrt_pd(_mm512_div_pd(second, warm2));

        _mm512_mask_storeu_pd(u + i, lanes, first);
        _mm512_mask_storeu_pd(v + i, lanes, second);
        _mm512_mask_storeu_pd(
            s + i, lanes,
            _mm512_div_pd(_mm512_mul_pd(eta, _mm512_div_pd(first, warm1)),
                          _mm512_add_pd(root, epsilon)));
    }
}

static void stream(const double *from, size_t count, double *to)
{
    size_t i = 0;

    for (; (uintptr_t)to % sizeof(__m512d) == 0 && i + VEC_LANES <= count;
         i += VEC_LANES)
        _mm512_stream_pd(to + i, _mm512_loadu_pd(from + i));
    memcpy(to + i, from + i, (count - i) * sizeof *to);
    _mm_sfence(); /* Whoever is told of it afterwards finds it there. */
}

const struct vec_ops vec_avx512 = {
    .lanes = lanes,
    .finite = finite,
    .top = top,
    .measure = measure,
    .descend = descend,
    .weigh = weigh,
    .weigh_past = weigh_past,
    .past_end = past_end,
    .adam = adam,
    .stream = stream,
};

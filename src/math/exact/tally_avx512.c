/*
 * tally_avx512.c - the loops of tally.c, eight coordinates at a time.
 */
#include <immintrin.h>

#include "math/compiler.h"
#include "math/exact/tally_loops.h"

#define LANES    8u
#define TOGETHER 8u    /* Sums that are added in registers, at most. */
#define AHEAD    1024u /* Bytes between a prefetch and its use. */

/* The 2^exponent are normal numbers: see tally_exponent. */
static __m512i exponents(const int16_t *at, __mmask8 lanes)
{
    return _mm512_cvtepi16_epi64(_mm_maskz_loadu_epi16(lanes, at));
}

static __mmask8 lanes_at(uint32_t j, uint32_t dims)
{
    const uint32_t left = dims - j < LANES ? dims - j : LANES;

    return (__mmask8)((1u << left) - 1);
}

/* The largest exponent fields so far, of the gradient and of what is rounded.
 */
struct tops {
    __m512i field, scaled;
};

static struct tops tops_none(void)
{
    return (struct tops){_mm512_setzero_si512(), _mm512_set1_epi64(INT32_MIN)};
}

static void tops_add(struct tops *tops, const double *gradient,
                     const int16_t *exponent, __mmask8 lanes)
{
    const __m512i bits = _mm512_maskz_loadu_epi64(lanes, gradient);
    const __m512i field = _mm512_and_epi64(_mm512_srli_epi64(bits, 52),
                                           _mm512_set1_epi64(TALLY_FIELD));

    tops->field = _mm512_max_epi64(tops->field, field);
    tops->scaled = _mm512_max_epi64(
        tops->scaled, _mm512_add_epi64(field, exponents(exponent, lanes)));
}

static bool tops_fit(const struct tops *tops)
{
    return _mm512_reduce_max_epi64(tops->field) < TALLY_FIELD &&
           _mm512_reduce_max_epi64(tops->scaled) < TALLY_TOP;
}

static bool fits(const double *gradient, const int16_t *exponent, uint32_t dims)
{
    struct tops tops = tops_none();

    for (uint32_t j = 0; j < dims; j += LANES)
        tops_add(&tops, gradient + j, exponent + j, lanes_at(j, dims));
    return tops_fit(&tops);
}

/* The integers nearest to g_j 2^exponent[j]: cvtpd_epi64 rounds half to even,
 * as llrint does. */
static __m512i rounded(const double *gradient, const int16_t *exponent,
                       __mmask8 lanes)
{
    const __m512i bias = _mm512_set1_epi64(TALLY_BIAS);
    const __m512i power = _mm512_slli_epi64(
        _mm512_add_epi64(exponents(exponent, lanes), bias), 52);

    return _mm512_cvtpd_epi64(_mm512_mul_pd(
        _mm512_maskz_loadu_pd(lanes, gradient), _mm512_castsi512_pd(power)));
}

static void add(const double *gradient, const int16_t *exponent, int64_t *sum,
                uint32_t dims)
{
    for (uint32_t j = 0; j < dims; j += LANES) {
        const __mmask8 lanes = lanes_at(j, dims);
        const __m512i old = _mm512_maskz_loadu_epi64(lanes, sum + j);

        _mm512_mask_storeu_epi64(
            sum + j, lanes,
            _mm512_add_epi64(old, rounded(gradient + j, exponent + j, lanes)));
    }
}

static bool set(const double *gradient, const int16_t *exponent, int64_t *sum,
                uint32_t dims)
{
    struct tops tops = tops_none();

    for (uint32_t j = 0; j < dims; j += LANES) {
        const __mmask8 lanes = lanes_at(j, dims);

        tops_add(&tops, gradient + j, exponent + j, lanes);
        _mm512_mask_storeu_epi64(sum + j, lanes,
                                 rounded(gradient + j, exponent + j, lanes));
    }
    return tops_fit(&tops);
}

static void sum(const int64_t *from, int64_t *into, uint32_t dims)
{
    for (uint32_t j = 0; j < dims; j += LANES) {
        const __mmask8 lanes = lanes_at(j, dims);

        _mm512_mask_storeu_epi64(
            into + j, lanes,
            _mm512_add_epi64(_mm512_maskz_loadu_epi64(lanes, into + j),
                             _mm512_maskz_loadu_epi64(lanes, from + j)));
    }
}

static bool within(const int64_t *sum, uint32_t dims)
{
    const int64_t limit = INT64_C(1) << TALLY_BITS;
    __m512i least = _mm512_setzero_si512();
    __m512i most = _mm512_setzero_si512();

    for (uint32_t j = 0; j < dims; j += LANES) {
        const __m512i here =
            _mm512_maskz_loadu_epi64(lanes_at(j, dims), sum + j);

        least = _mm512_min_epi64(least, here);
        most = _mm512_max_epi64(most, here);
    }
    return _mm512_reduce_min_epi64(least) > -limit &&
           _mm512_reduce_max_epi64(most) < limit;
}

static bool join(const int64_t *old, const int64_t *sum, int64_t *out,
                 uint32_t dims)
{
    const int64_t limit = INT64_C(1) << TALLY_BITS;
    __m512i least = _mm512_setzero_si512();
    __m512i most = _mm512_setzero_si512();

    for (uint32_t j = 0; j < dims; j += LANES) {
        const __mmask8 lanes = lanes_at(j, dims);
        __m512i here = _mm512_maskz_loadu_epi64(lanes, sum + j);

        least = _mm512_min_epi64(least, here);
        most = _mm512_max_epi64(most, here);
        if (old != NULL)
            here = _mm512_add_epi64(here,
                                    _mm512_maskz_loadu_epi64(lanes, old + j));
        _mm512_mask_storeu_epi64(out + j, lanes, here);
    }
    return _mm512_reduce_min_epi64(least) > -limit &&
           _mm512_reduce_max_epi64(most) < limit;
}

/* Eight vectors are more than the processor follows by itself, and they lie in
 * the caches of others: without prefetches it waits for most lines.  An
 * address, not a pointer: it may run past the end. */
INLINE void fetch(const int64_t *at)
{
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): see above. */
    __builtin_prefetch((const void *)((uintptr_t)at + AHEAD), 0, 2);
}

/* `count`, at most TOGETHER, is a constant where this is inlined.  What is out
 * of bound has one of the two upper bits set when its sign is taken off. */
INLINE bool join_some(const int64_t *old, const int64_t *const *sums,
                      uint32_t count, int64_t *out, uint32_t dims)
{
    __m512i bits = _mm512_setzero_si512();
    const int64_t *at[TOGETHER];

    UNROLL
    for (uint32_t i = 0; i < count; i++)
        at[i] = sums[i];
    for (uint32_t j = 0; j < dims; j += LANES) {
        const __mmask8 lanes = lanes_at(j, dims);
        __m512i total = _mm512_setzero_si512();

        if (old != NULL)
            total = _mm512_maskz_loadu_epi64(lanes, old + j);
        UNROLL
        for (uint32_t i = 0; i < count; i++) {
            const __m512i here = _mm512_maskz_loadu_epi64(lanes, at[i] + j);

            fetch(at[i] + j);
            bits = _mm512_or_si512(bits, _mm512_abs_epi64(here));
            total = _mm512_add_epi64(total, here);
        }
        _mm512_mask_storeu_epi64(out + j, lanes, total);
    }
    return (uint64_t)_mm512_reduce_or_epi64(bits) >> TALLY_BITS == 0;
}

static bool join_block(const int64_t *old, const int64_t *const *sums,
                       uint32_t count, int64_t *out, uint32_t dims)
{
    bool good = true;
    uint32_t some;

    for (; count > 0; count -= some, sums += some, old = out) {
        some = count < 2 ? 1 : count < 4 ? 2 : count < TOGETHER ? 4 : TOGETHER;
        switch (some) {
        case TOGETHER:
            good &= join_some(old, sums, TOGETHER, out, dims);
            break;
        case 4:
            good &= join_some(old, sums, 4, out, dims);
            break;
        case 2:
            good &= join_some(old, sums, 2, out, dims);
            break;
        default:
            good &= join_some(old, sums, 1, out, dims);
        }
    }
    return good;
}

static bool gradient(const int64_t *sum, const int16_t *exponent, uint32_t dims,
                     double *gradient)
{
    const int64_t limit = INT64_C(1) << TALLY_BITS;
    const __m512i bias = _mm512_set1_epi64(TALLY_BIAS);
    __m512i least = _mm512_setzero_si512();
    __m512i most = _mm512_setzero_si512();

    for (uint32_t j = 0; j < dims; j += LANES) {
        const __mmask8 lanes = lanes_at(j, dims);
        const __m512i here = _mm512_maskz_loadu_epi64(lanes, sum + j);
        const __m512i power = _mm512_slli_epi64(
            _mm512_sub_epi64(bias, exponents(exponent + j, lanes)), 52);

        least = _mm512_min_epi64(least, here);
        most = _mm512_max_epi64(most, here);
        _mm512_mask_storeu_pd(gradient + j, lanes,
                              _mm512_mul_pd(_mm512_cvtepi64_pd(here),
                                            _mm512_castsi512_pd(power)));
    }
    return _mm512_reduce_min_epi64(least) > -limit &&
           _mm512_reduce_max_epi64(most) < limit;
}

const struct tally_ops tally_avx512 = {
    .fits = fits,
    .add = add,
    .set = set,
    .sum = sum,
    .within = within,
    .join = join,
    .join_block = join_block,
    .gradient = gradient,
};

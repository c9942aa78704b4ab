/*
 * tally_portable.c - the loops of tally.c for any machine.
 */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "math/compiler.h"
#include "math/exact/grid.h"
#include "math/exact/tally_loops.h"

#define BLOCK 1024u

/* True if |g_j 2^exponent[j]| < 2^62 for all j and nothing is NaN or infinite.
 * Scaling by a power of two only moves the exponent, so the exponents tell;
 * comparing integers costs a third of multiplying.  A denormal's field is 0,
 * too small to fail. */
static bool fits(const double *gradient, const int16_t *exponent, uint32_t dims)
{
    int top_field = 0;
    int top_scaled = INT_MIN;

    UNROLL
    for (uint32_t j = 0; j < dims; j++) {
        uint64_t bits;
        int field;
        int scaled;

        memcpy(&bits, &gradient[j], sizeof bits);
        field = (int)(bits >> 52 & TALLY_FIELD);
        scaled = field + exponent[j];
        top_field = field > top_field ? field : top_field;
        top_scaled = scaled > top_scaled ? scaled : top_scaled;
    }
    return top_field < TALLY_FIELD && top_scaled < TALLY_TOP;
}

/* llrint is one instruction and rounds half to even, the mode that
 * golden_check_mode insists on; products of 2^53 and more are integers already.
 */
static void add(const double *gradient, const int16_t *exponent, int64_t *sum,
                uint32_t dims)
{
    UNROLL
    for (uint32_t j = 0; j < dims; j++) {
        const double v = gradient[j] * power_of_two(exponent[j]);

        sum[j] = (int64_t)((uint64_t)sum[j] + (uint64_t)llrint(v));
    }
}

/* The same into sums that are nothing yet, and stay so if some do not fit. */
static bool set(const double *gradient, const int16_t *exponent, int64_t *sum,
                uint32_t dims)
{
    if (!fits(gradient, exponent, dims))
        return false;
    UNROLL
    for (uint32_t j = 0; j < dims; j++)
        sum[j] = llrint(gradient[j] * power_of_two(exponent[j]));
    return true;
}

static void sum_up(const int64_t *from, int64_t *into, uint32_t dims)
{
    UNROLL
    for (uint32_t j = 0; j < dims; j++)
        into[j] = (int64_t)((uint64_t)into[j] + (uint64_t)from[j]);
}

static bool within(const int64_t *sum, uint32_t dims)
{
    const int64_t limit = INT64_C(1) << TALLY_BITS;
    int bad = 0;

    UNROLL
    for (uint32_t j = 0; j < dims; j++)
        bad |= sum[j] <= -limit || sum[j] >= limit;
    return bad == 0;
}

/* Block by block, so that what is looked at is what was copied, and is still
 * in the first cache. */
static bool join(const int64_t *old, const int64_t *sum, int64_t *out,
                 uint32_t dims)
{
    int64_t block[BLOCK];
    bool good = true;

    for (uint32_t j = 0; j < dims; j += BLOCK) {
        const uint32_t left = dims - j;
        const uint32_t count = left < BLOCK ? left : BLOCK;

        memcpy(block, sum + j, count * sizeof *sum);
        good &= within(block, count);
        if (old != NULL)
            sum_up(old + j, block, count);
        memcpy(out + j, block, count * sizeof *sum);
    }
    return good;
}

static bool join_block(const int64_t *old, const int64_t *const *sums,
                       uint32_t count, int64_t *out, uint32_t dims)
{
    bool good = true;

    for (uint32_t i = 0; i < count; i++) {
        good &= join(old, sums[i], out, dims);
        old = out;
    }
    return good;
}

/* The conversion rounds; the product is a normal number or 0, exact. */
static bool to_gradient(const int64_t *sum, const int16_t *exponent,
                        uint32_t dims, double *gradient)
{
    for (uint32_t j = 0; j < dims; j++)
        gradient[j] = (double)sum[j] * power_of_two(-exponent[j]);
    return within(sum, dims);
}

const struct tally_ops tally_portable = {
    .fits = fits,
    .add = add,
    .set = set,
    .sum = sum_up,
    .within = within,
    .join = join,
    .join_block = join_block,
    .gradient = to_gradient,
};

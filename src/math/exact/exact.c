/*
 * exact.c - most columns in pairs of doubles, some in 128 bits, the others in
 * 2,176.
 *
 * exact.inc sums blocks of columns in vectors, and knows which of them it could
 * not do.  Of those, a column whose exponents lie within 127 - 53 - log2(count)
 * of each other is a sum of 128-bit integers on the grid of its smallest
 * number.  What does not fit (1e300 with 1e-300) goes through an accumulator
 * that holds any sum of 65,536 doubles: 2,046 + 52 bits from the smallest
 * denormal, 16 for the count, one for the sign.
 */
#include "math/exact/exact.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/check.h"
#include "math/exact/exact_parts.h"
#include "math/exact/grid.h"

#define DIGITS_F64    53
#define DIGITS_F32    24
#define FIELD_MAX     0x7ff
#define LEAST         (-1074) /* Exponent of the smallest denormal. */
#define WINDOW_BITS   126
#define WORDS         34u
#define MANTISSA_BITS 52

static_assert(WORDS * 64 >= 2046 + 52 + 16 + 1, "any sum fits");

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 uwide;

/* value = (negative ? -1 : 1) * mantissa * 2^(place + LEAST) */
struct parts {
    uint64_t mantissa;
    int place;
    bool negative;
};

static struct parts take_apart(double value)
{
    struct parts parts;
    uint64_t bits;
    int field;

    memcpy(&bits, &value, sizeof bits);
    field = (int)(bits >> MANTISSA_BITS & FIELD_MAX);
    parts.mantissa = bits & ((UINT64_C(1) << MANTISSA_BITS) - 1);
    if (field > 0)
        parts.mantissa |= UINT64_C(1) << MANTISSA_BITS;
    parts.place = field > 0 ? field - 1 : 0;
    parts.negative = bits >> 63 != 0;
    return parts;
}

static int bit_length(uwide value)
{
    const uint64_t high = (uint64_t)(value >> 64);
    const uint64_t low = (uint64_t)value;

    if (high != 0)
        return 128 - __builtin_clzll(high);
    return low != 0 ? 64 - __builtin_clzll(low) : 0;
}

/* value 2^power, exact or infinite: no sum lies below the smallest denormal,
 * and a product of two normal numbers is cheaper than ldexp. */
static double scale(double value, int power)
{
    if (power >= -1022 && power <= 900)
        return value * power_of_two(power);
    return ldexp(value, power);
}

/* Half to even at `digits` digits.  `rest`: something not 0 lies below. */
static double round_once(uwide magnitude, bool rest, int place, int digits,
                         bool negative)
{
    uint64_t kept;
    int drop = bit_length(magnitude) - digits;
    double value;

    if (drop > 0) {
        const uwide below = magnitude & (((uwide)1 << drop) - 1);
        const uwide half = (uwide)1 << (drop - 1);

        kept = (uint64_t)(magnitude >> drop);
        if (below > half || (below == half && (rest || (kept & 1) != 0)))
            kept++;
    } else {
        CHECK(!rest);
        kept = (uint64_t)magnitude;
        drop = 0;
    }
    value = scale((double)kept, place + drop + LEAST);
    return negative ? -value : value;
}

/* Sums with something that is no number in them, and those of zeros alone;
 * false if there is more to do. */
static bool special(const double *column, uint32_t count, double *sum)
{
    bool up = false, down = false, broken = false;
    bool zero = true, minus = true;

    for (uint32_t i = 0; i < count; i++) {
        broken |= isnan(column[i]);
        up |= isinf(column[i]) && column[i] > 0;
        down |= isinf(column[i]) && column[i] < 0;
        zero &= column[i] == 0;
        minus &= signbit(column[i]) != 0;
    }
    if (broken || (up && down))
        *sum = (double)NAN;
    else if (up || down)
        *sum = up ? HUGE_VAL : -HUGE_VAL;
    else
        *sum = minus ? -0.0 : 0.0;
    return broken || up || down || zero;
}

/* --- any column ---------------------------------------------------------- */

static void add_word(uint64_t *words, uint32_t at, uint64_t value)
{
    for (; value != 0 && at < WORDS; at++) {
        const uint64_t before = words[at];

        words[at] += value;
        value = words[at] < before; /* The carry. */
    }
}

static void take_word(uint64_t *words, uint32_t at, uint64_t value)
{
    for (; value != 0 && at < WORDS; at++) {
        const uint64_t before = words[at];

        words[at] -= value;
        value = words[at] > before; /* The borrow. */
    }
}

static void add_parts(uint64_t *words, const struct parts *parts)
{
    const uint32_t at = (uint32_t)parts->place / 64;
    const uwide shifted = (uwide)parts->mantissa << parts->place % 64;
    void (*const change)(uint64_t *, uint32_t, uint64_t) =
        parts->negative ? take_word : add_word;

    change(words, at, (uint64_t)shifted);
    change(words, at + 1, (uint64_t)(shifted >> 64));
}

static void negate(uint64_t *words)
{
    for (uint32_t i = 0; i < WORDS; i++)
        words[i] = ~words[i];
    add_word(words, 0, 1);
}

/* The two highest words that matter, and whether anything lies below. */
static double round_words(uint64_t *words, int digits)
{
    const bool negative = words[WORDS - 1] >> 63 != 0;
    uint32_t top = WORDS - 1;
    uwide magnitude;
    bool rest = false;

    if (negative)
        negate(words);
    while (top > 1 && words[top] == 0)
        top--;
    /* Two words hold 65 digits and more unless they are the lowest. */
    magnitude = (uwide)words[top] << 64 | words[top - 1];
    for (uint32_t i = 0; i + 1 < top; i++)
        rest |= words[i] != 0;
    return round_once(magnitude, rest, (int)(top - 1) * 64, digits, negative);
}

static double sum_any(const double *column, uint32_t count, int digits)
{
    uint64_t words[WORDS] = {0};
    double sum;

    if (special(column, count, &sum))
        return sum;
    for (uint32_t i = 0; i < count; i++) {
        const struct parts parts = take_apart(column[i]);

        add_parts(words, &parts);
    }
    return round_words(words, digits);
}

/* --- columns that fit --------------------------------------------------------
 */

/* Bits above the lowest number of the column that its sum may need, and where
 * that number lies; -1 if there is one that is no number. */
static int span(const double *column, uint32_t count, int *lowest)
{
    int low = FIELD_MAX, high = 0, bits = DIGITS_F64;

    for (uint32_t i = 0; i < count; i++) {
        uint64_t raw;
        int field;

        memcpy(&raw, &column[i], sizeof raw);
        field = (int)(raw >> MANTISSA_BITS & FIELD_MAX);
        if (raw << 1 == 0)
            continue;
        low = field < low ? field : low;
        high = field > high ? field : high;
    }
    if (high == FIELD_MAX)
        return -1;
    for (uint32_t covered = 1; covered < count; covered *= 2)
        bits++;
    *lowest = low > 0 ? low - 1 : 0;
    return bits + high - low;
}

static double sum_column(const double *column, uint32_t count, int digits)
{
    int lowest = 0;
    const int bits = span(column, count, &lowest);
    wide sum = 0;
    double zero;

    if (bits < 0 || bits > WINDOW_BITS)
        return sum_any(column, count, digits);
    for (uint32_t i = 0; i < count; i++) {
        const struct parts parts = take_apart(column[i]);
        wide value;

        if (parts.mantissa == 0)
            continue;
        value = (wide)((uwide)parts.mantissa << (parts.place - lowest));
        sum += parts.negative ? -value : value;
    }
    if (sum == 0) {
        /* Zeros alone may be -0; a sum that cancels is not. */
        return special(column, count, &zero) ? zero : 0.0;
    }
    return round_once((uwide)(sum < 0 ? -sum : sum), false, lowest, digits,
                      sum < 0);
}

/* --- all columns --------------------------------------------------------- */

size_t exact_size(enum exact_type type)
{
    switch (type) {
    case EXACT_F64:
        return sizeof(double);
    case EXACT_F32:
        return sizeof(float);
    case EXACT_I64:
        return sizeof(int64_t);
    }
    return 0;
}

typedef double (*sum_function)(const double *column, uint32_t count,
                               int digits);

static double sum_f64(sum_function sum, const void *const *rows, uint32_t count,
                      size_t j, double *column)
{
    for (uint32_t i = 0; i < count; i++)
        column[i] = ((const double *)rows[i])[j];
    return sum(column, count, DIGITS_F64);
}

/* A sum of floats with 24 digits is a float, or too large for one. */
static float sum_f32(sum_function sum, const void *const *rows, uint32_t count,
                     size_t j, double *column)
{
    for (uint32_t i = 0; i < count; i++)
        column[i] = (double)((const float *)rows[i])[j];
    return (float)sum(column, count, DIGITS_F32);
}

static const struct exact_ops *const variants[ISAS] =
    ISA_TABLE(&exact_portable, &exact_avx2, &exact_avx512);

static void blocks_f64(const struct exact_ops *ops, const void *const *rows,
                       uint32_t count, size_t width, double *column,
                       double *out)
{
    int64_t doubt[EXACT_BLOCK];
    size_t at = 0;

    for (; at + EXACT_BLOCK <= width; at += EXACT_BLOCK) {
        if (ops->f64(rows, count, at, out + at, doubt))
            continue;
        for (size_t k = 0; k < EXACT_BLOCK; k++) {
            if (doubt[k] != 0)
                out[at + k] = sum_f64(sum_column, rows, count, at + k, column);
        }
    }
    for (; at < width; at++)
        out[at] = sum_f64(sum_column, rows, count, at, column);
}

static void blocks_f32(const struct exact_ops *ops, const void *const *rows,
                       uint32_t count, size_t width, double *column, float *out)
{
    int64_t doubt[EXACT_BLOCK];
    size_t at = 0;

    for (; at + EXACT_BLOCK <= width; at += EXACT_BLOCK) {
        if (ops->f32(rows, count, at, out + at, doubt))
            continue;
        for (size_t k = 0; k < EXACT_BLOCK; k++) {
            if (doubt[k] != 0)
                out[at + k] = sum_f32(sum_column, rows, count, at + k, column);
        }
    }
    for (; at < width; at++)
        out[at] = sum_f32(sum_column, rows, count, at, column);
}

static int64_t sum_i64(const void *const *rows, uint32_t count, size_t j)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < count; i++)
        sum += ((const uint64_t *)rows[i])[j];
    return (int64_t)sum;
}

static void blocks_i64(const struct exact_ops *ops, const void *const *rows,
                       uint32_t count, size_t width, int64_t *out)
{
    size_t at = 0;

    for (; at + EXACT_BLOCK <= width; at += EXACT_BLOCK)
        ops->i64(rows, count, at, out + at);
    for (; at < width; at++)
        out[at] = sum_i64(rows, count, at);
}

void exact_sum(enum isa isa, enum exact_type type, const void *const *rows,
               uint32_t count, size_t width, double *column, void *out)
{
    const struct exact_ops *const ops = isa_row(variants, isa);

    CHECK(count > 0 && count <= EXACT_ROWS_MAX);
    CHECK(exact_size(type) > 0);
    if (type == EXACT_F64)
        blocks_f64(ops, rows, count, width, column, out);
    else if (type == EXACT_I64)
        blocks_i64(ops, rows, count, width, out);
    else
        blocks_f32(ops, rows, count, width, column, out);
}

void exact_sum_ref(enum exact_type type, const void *const *rows,
                   uint32_t count, size_t width, double *column, void *out)
{
    CHECK(count > 0 && count <= EXACT_ROWS_MAX);
    CHECK(exact_size(type) > 0);
    for (size_t j = 0; j < width; j++) {
        if (type == EXACT_F64)
            ((double *)out)[j] = sum_f64(sum_any, rows, count, j, column);
        else if (type == EXACT_I64)
            ((int64_t *)out)[j] = sum_i64(rows, count, j);
        else
            ((float *)out)[j] = sum_f32(sum_any, rows, count, j, column);
    }
}

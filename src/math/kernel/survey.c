/*
 * survey.c - sizes of dense rows and counts of pairs of bits, with the
 * instruction set chosen at run time.  Blocks of rows are widened once and then
 * read by the loops of survey_*.c, all of which give the same bits.
 */
#include "math/kernel/survey.h"

#include <math.h>
#include <string.h>

#include "base/check.h"
#include "math/compiler.h"
#include "math/kernel/survey_parts.h"

static const struct survey_ops *const variants[ISAS] =
    ISA_TABLE(&survey_portable, &survey_avx2, &survey_avx512);

/* fmax is a call because it must mind NaN; there is none here. */
static double larger(double a, double b)
{
    return a > b ? a : b;
}

static uint32_t block_rows(const struct dense_rows *in, uint32_t first)
{
    return in->rows - first < SURVEY_BLOCK ? in->rows - first : SURVEY_BLOCK;
}

/* Rows from `first`, at most SURVEY_BLOCK, as floats one after the other. */
static const float *widen(const struct dense_rows *in, uint32_t first,
                          float *room)
{
    if (in->storage == DENSE_F32)
        return (const float *)in->x + (size_t)first * in->stride;
    for (uint32_t i = 0; i < block_rows(in, first); i++)
        (void)kernel_row(in, first + i, room + (size_t)i * in->stride);
    return room;
}

static double weight_of(const struct dense_rows *in, uint32_t i)
{
    return in->weight != NULL ? in->weight[i] : 1;
}

static double label_of(const struct dense_rows *in, uint32_t i)
{
    return in->y != NULL ? fabs(in->y[i]) : 1;
}

/* Columns 64 t .. of a bit row as a word, column 64 t in the lowest bit. */
static uint64_t word_of(const uint8_t *row, size_t t, size_t bytes)
{
    const uint8_t *const at = row + 8 * t;
    const size_t left = bytes - 8 * t;
    uint64_t word = 0;

    if (left >= 8) {
        UNROLL
        for (size_t k = 0; k < 8; k++) /* One load, to a compiler. */
            word |= (uint64_t)at[k] << 8 * k;
        return word;
    }
    for (size_t k = 0; k < left; k++)
        word |= (uint64_t)at[k] << 8 * k;
    return word;
}

static double bit_norm(const uint8_t *row, size_t bytes)
{
    uint64_t ones = 0;

    for (size_t t = 0; 8 * t < bytes; t++)
        ones += ones_of(word_of(row, t, bytes));
    return sqrt((double)ones);
}

static double bit_maxima(const struct dense_rows *in, double *x_max)
{
    const size_t bytes = in->stride / 8;
    const uint8_t *row = in->x;
    uint8_t seen[KERNEL_LANES * 8];
    double norm = 0;

    for (uint32_t i = 0; i < in->rows; i++)
        norm = larger(norm, bit_norm(row + i * bytes, bytes));
    /* A few columns at a time: the bytes seen stay in registers. */
    for (size_t first = 0; first < bytes; first += sizeof seen) {
        const size_t some =
            bytes - first < sizeof seen ? bytes - first : sizeof seen;

        memset(seen, 0, sizeof seen);
        for (uint32_t i = 0; i < in->rows; i++) {
            for (size_t k = 0; k < some; k++)
                seen[k] |= row[i * bytes + first + k];
        }
        for (size_t j = 0; j < 8 * some; j++) {
            if (seen[j / 8] >> j % 8 & 1)
                x_max[8 * first + j] = larger(x_max[8 * first + j], 1);
        }
    }
    return norm;
}

static void bit_sums(const struct dense_rows *in, double *u, double *v,
                     double *m)
{
    const size_t bytes = in->stride / 8;
    const uint8_t *row = in->x;

    for (uint32_t i = 0; i < in->rows; i++, row += bytes) {
        const double weight = weight_of(in, i);
        const double a = label_of(in, i) * weight;
        const double b = bit_norm(row, bytes) * weight;

        for (size_t t = 0; 8 * t < bytes; t++) {
            for (uint64_t word = word_of(row, t, bytes); word != 0;
                 word &= word - 1) {
                const size_t j = 64 * t + (size_t)__builtin_ctzll(word);

                u[j] += a;
                v[j] += b;
                m[j] += weight;
            }
        }
    }
}

/* Rows of doubles, in plain loops: they are surveyed once a job. */
static double wide_norm(const double *x, size_t stride)
{
    double a[KERNEL_LANES] = {0};

    for (size_t j = 0; j < stride; j += KERNEL_LANES) {
        UNROLL
        for (size_t l = 0; l < KERNEL_LANES; l++)
            a[l] += x[j + l] * x[j + l];
    }
    return sqrt(((a[0] + a[4]) + (a[2] + a[6])) +
                ((a[1] + a[5]) + (a[3] + a[7])));
}

static double wide_maxima(const struct dense_rows *in, double *x_max)
{
    const double *x = in->x;
    double most = 0;

    for (uint32_t i = 0; i < in->rows; i++, x += in->stride) {
        for (size_t j = 0; j < in->stride; j++)
            x_max[j] = larger(x_max[j], fabs(x[j]));
        most = larger(most, wide_norm(x, in->stride));
    }
    return most;
}

static void wide_sums(const struct dense_rows *in, double *u, double *v,
                      double *m)
{
    const double *x = in->x;

    for (uint32_t i = 0; i < in->rows; i++, x += in->stride) {
        const double weight = weight_of(in, i);
        const double a = label_of(in, i) * weight;
        const double b = wide_norm(x, in->stride) * weight;

        for (size_t j = 0; j < in->stride; j++) {
            u[j] += fabs(x[j]) * a;
            v[j] += fabs(x[j]) * b;
            m[j] += fabs(x[j]) * weight;
        }
    }
}

double survey_maxima(enum isa isa, const struct dense_rows *in, float *room,
                     double *x_max)
{
    const struct survey_ops *const ops = isa_row(variants, isa);
    double norm[SURVEY_BLOCK];
    double most = 0;

    if (in->storage == DENSE_BIT)
        return bit_maxima(in, x_max);
    if (in->storage == DENSE_F64)
        return wide_maxima(in, x_max);
    for (uint32_t i = 0; i < in->rows; i += SURVEY_BLOCK) {
        const uint32_t rows = block_rows(in, i);

        ops->maxima(widen(in, i, room), rows, in->stride, x_max, norm);
        for (uint32_t k = 0; k < rows; k++)
            most = larger(most, norm[k]);
    }
    return most;
}

void survey_sums(enum isa isa, const struct dense_rows *in, float *room,
                 double *u, double *v, double *m)
{
    const struct survey_ops *const ops = isa_row(variants, isa);
    struct survey_factors by = {{0}, {0}, {0}};

    if (in->storage == DENSE_BIT) {
        bit_sums(in, u, v, m);
        return;
    }
    if (in->storage == DENSE_F64) {
        wide_sums(in, u, v, m);
        return;
    }
    for (uint32_t i = 0; i < in->rows; i += SURVEY_BLOCK) {
        const uint32_t rows = block_rows(in, i);
        const float *const x = widen(in, i, room);

        ops->norms(x, rows, in->stride, by.b);
        for (uint32_t k = 0; k < rows; k++) {
            by.s[k] = weight_of(in, i + k);
            by.a[k] = label_of(in, i + k) * by.s[k];
            by.b[k] *= by.s[k];
        }
        ops->sums(x, rows, in->stride, &by, u, v, m);
    }
}

/* Bits of a 64 x 64 square mirrored, word r bit c to word c bit r: squares of
 * 32, 16, .. 1 off the diagonal change places (Warren, Hacker's Delight,
 * 7-3). */
static void mirror(uint64_t square[64])
{
    uint64_t mask = UINT32_MAX;

    for (unsigned width = 32; width > 0; width /= 2, mask ^= mask << width) {
        for (unsigned first = 0; first < 64; first += 2 * width) {
            for (unsigned r = first; r < first + width; r++) {
                uint64_t *const other = &square[r + width];
                const uint64_t swap = ((square[r] >> width) ^ *other) & mask;

                square[r] ^= swap << width;
                *other ^= swap;
            }
        }
    }
}

/* Rows from `first`, 64 columns from 64 t. */
static void turn_square(const struct dense_rows *in, const bool *counts,
                        uint32_t first, size_t t, uint64_t *words)
{
    const size_t bytes = in->stride / 8;
    const uint32_t rows = in->rows - first < 64 ? in->rows - first : 64;
    const uint8_t *row = (const uint8_t *)in->x + first * bytes;
    uint64_t square[64] = {0};

    for (uint32_t r = 0; r < rows; r++, row += bytes)
        square[r] = counts[first + r] ? word_of(row, t, bytes) : 0;
    mirror(square);
    for (size_t c = 0; c < 64 && 64 * t + c < in->stride; c++)
        words[64 * t + c] = square[c];
}

size_t survey_columns(const struct dense_rows *in, const bool *counts,
                      uint64_t *words)
{
    const size_t count = ((size_t)in->rows + 63) / 64;

    CHECK(in->storage == DENSE_BIT);
    CHECK(count <= SURVEY_WORDS);
    for (uint32_t i = 0; i < in->rows; i += 64) {
        for (size_t t = 0; 64 * t < in->stride; t++)
            turn_square(in, counts, i, t, words + i / 64 * in->stride);
    }
    return count;
}

void survey_pairs(enum isa isa, const uint64_t *words, size_t count,
                  size_t stride, size_t first, uint64_t *pairs)
{
#ifdef __x86_64__
    if (isa == ISA_AVX512 && __builtin_cpu_supports("avx512vpopcntdq")) {
        survey_pairs_vpopcnt(words, count, stride, first, pairs);
        return;
    }
#endif
    isa_row(variants, isa)->pairs(words, count, stride, first, pairs);
}

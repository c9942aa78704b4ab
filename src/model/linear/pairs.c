/*
 * pairs.c - Hessians of rows of bits by population counts instead of products,
 * where all second derivatives are equal or zero.
 */
#include "model/linear/pairs.h"

#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "math/exact/grid.h"
#include "math/kernel/survey.h"

/* c times any count up to 2^30 is exact if c has at most so many digits. */
#define DIGITS 22

/* Parts of the scratch. */
struct pairs {
    double *h;       /* Of each row. */
    bool *counts;    /* h is not 0. */
    uint64_t *words; /* Bits by columns. */
    uint64_t *joint; /* Counts of a few columns with all. */
};

static size_t words_of(uint32_t stride)
{
    return (size_t)SURVEY_WORDS * stride;
}

size_t pairs_scratch_bytes(uint32_t stride)
{
    return PAIRS_ROWS * (sizeof(double) + sizeof(bool)) +
           (words_of(stride) + SURVEY_JOINT * (size_t)stride) *
               sizeof(uint64_t);
}

static struct pairs lay_out(void *scratch, uint32_t stride)
{
    struct pairs pairs = {.words = scratch};

    pairs.joint = pairs.words + words_of(stride);
    scratch = pairs.joint + SURVEY_JOINT * (size_t)stride;
    pairs.h = scratch;
    scratch = pairs.h + PAIRS_ROWS;
    pairs.counts = scratch;
    return pairs;
}

static struct dense_rows rows_of(const struct dataset *data, uint32_t first,
                                 uint32_t count)
{
    struct dense_rows rows = dataset_chunk(data, first);

    for (uint32_t chunk = first + 1; chunk < first + count; chunk++)
        rows.rows += dataset_chunk_size(data, chunk);
    CHECK(rows.rows <= PAIRS_ROWS);
    return rows;
}

/* The one number that every h is, or 0; NaN if there are two. */
static double only_value(const struct pairs *pairs, uint32_t rows)
{
    double c = 0;

    for (uint32_t i = 0; i < rows; i++) {
        const double h = pairs->h[i];

        pairs->counts[i] = h != 0;
        c = c == 0 ? h : c;
        if (h != 0 && h != c)
            return nan("");
    }
    return c;
}

static bool is_short(double c)
{
    int power;
    const double digits = ldexp(frexp(c, &power), DIGITS);

    return isfinite(c) && digits == rint(digits);
}

/* sums <- c times the counts, the lower triangle row by row. */
static void count_pairs(const struct pairs *pairs, enum isa isa, size_t words,
                        uint32_t stride, double c, double *sums)
{
    for (uint32_t first = 0; first < stride; first += SURVEY_JOINT) {
        survey_pairs(isa, pairs->words, words, stride, first, pairs->joint);
        for (uint32_t q = 0; q < SURVEY_JOINT; q++) {
            const uint64_t *const joint = pairs->joint + (size_t)q * stride;

            for (uint32_t k = 0; k <= first + q; k++)
                *sums++ = c * (double)joint[k];
        }
    }
}

/* Multiples of c need no rounding on the grid. */
static bool is_on_grid(double c, const double *sums, const int16_t *exponent,
                       uint32_t dims)
{
    int least = INT16_MAX;

    for (uint32_t at = 0; at < dims; at++) {
        if (sums[at] != 0 && exponent[at] < least)
            least = exponent[at];
    }
    return least == INT16_MAX ||
           c * power_of_two(least) == rint(c * power_of_two(least));
}

static bool is_new(const struct tally *tally, uint32_t first, uint32_t count)
{
    for (uint32_t chunk = first; chunk < first + count; chunk++) {
        if (chunkset_has(&tally->chunks, chunk))
            return false;
    }
    return true;
}

static bool is_zero(const double *w, uint32_t count)
{
    for (uint32_t j = 0; j < count; j++) {
        if (w[j] != 0)
            return false;
    }
    return true;
}

/* h of every row.  Most Hessians are taken at the start, where scores are 0. */
static void take_slopes(const struct problem *problem,
                        const struct dense_rows *rows, const double *w,
                        double *h)
{
    if (is_zero(w, rows->stride))
        memset(h, 0, rows->rows * sizeof *h);
    else
        kernel_scores(problem->isa, rows, w, h);
    kernel_slopes(problem->isa, problem->model->loss, true, h, rows->y,
                  rows->weight, NULL, rows->rows);
}

bool pairs_add(const struct problem *problem, const double *w, uint32_t first,
               uint32_t count, const int16_t *exponent, double *sums,
               void *scratch, struct tally *tally)
{
    const struct dense_rows rows = rows_of(problem->data, first, count);
    const struct pairs pairs = lay_out(scratch, rows.stride);
    double c;

    take_slopes(problem, &rows, w, pairs.h);
    c = only_value(&pairs, rows.rows);
    if (!is_short(c) || !is_new(tally, first, count))
        return false;
    count_pairs(&pairs, problem->isa,
                survey_columns(&rows, pairs.counts, pairs.words), rows.stride,
                c, sums);
    if (!is_on_grid(c, sums, exponent, tally->dims) ||
        tally_add_chunk(tally, first, sums, 0, exponent) != ERR_OK)
        return false;
    for (uint32_t chunk = first + 1; chunk < first + count; chunk++)
        tally_mark(tally, exponent, chunk, 0);
    return true;
}

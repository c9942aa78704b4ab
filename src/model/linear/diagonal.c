/*
 * diagonal.c - the diagonal of the Hessian, chunk by chunk, in one plain loop:
 * it is asked for so seldom that no instruction set has its own.
 */
#include "model/linear/diagonal.h"

#include <math.h>
#include <string.h>

#include "base/check.h"
#include "math/exact/grid.h"
#include "math/exact/tally.h"
#include "math/kernel/dense.h"
#include "math/kernel/softmax.h"

#define TALLY_FITS ((double)(INT64_C(1) << TALLY_BITS))

enum {
    BLOCK = 256,   /* Rows at a time, and ... */
    SCORES = 4096, /* ... scores of theirs. */
};

/* Some rows: scores row by row, output by output; then one second derivative
 * for each row. */
struct block {
    uint32_t rows;
    double h[SCORES];
};

static uint32_t block_rows(uint32_t outputs)
{
    return outputs < SCORES / BLOCK ? BLOCK : SCORES / outputs;
}

/* From the scores of a row.  One that is not finite makes NaN, which no tally
 * takes. */
static double softmax_curve(uint32_t classes, double y, double weight,
                            double *z)
{
    double broken = 0;
    double sum = 0;

    for (uint32_t k = 0; k < classes; k++)
        broken += z[k] - z[k];
    (void)softmax_probabilities(classes, z);
    for (uint32_t k = 0; k < classes; k++)
        sum += z[k] * (1 - z[k]);
    return y == SOFTMAX_NO_CLASS ? 0
                                 : (sum / (double)classes + broken) * weight;
}

static void curve(const struct problem *problem, const double *y,
                  const double *weight, struct block *block)
{
    const uint32_t outputs = problem_outputs(problem);

    if (!problem->model->classes) {
        kernel_slopes(problem->isa, problem->model->loss, true, block->h, y,
                      weight, NULL, block->rows);
        return;
    }
    for (uint32_t i = 0; i < block->rows; i++)
        block->h[i] =
            softmax_curve(outputs, y[i], weight != NULL ? weight[i] : 1,
                          block->h + (size_t)i * outputs);
}

/* --- dense rows ---------------------------------------------------------- */

static struct dense_rows some_rows(const struct dense_rows *in, uint32_t first,
                                   uint32_t most)
{
    const uint32_t left = in->rows - first;
    struct dense_rows some = *in;

    some.x =
        (const char *)in->x + first * dense_row_bytes(in->storage, in->stride);
    some.y = in->y + first;
    some.weight = in->weight != NULL ? in->weight + first : NULL;
    some.rows = left < most ? left : most;
    return some;
}

static void add_bits(const uint8_t *x, double h, uint32_t stride, double *sum)
{
    for (uint32_t j = 0; j < stride; j += 8) {
        for (unsigned bits = x[j / 8]; bits != 0; bits &= bits - 1)
            sum[j + (unsigned)__builtin_ctz(bits)] += h;
    }
}

static void add_row(const struct dense_rows *in, uint32_t i, double h,
                    float *room, double *sum)
{
    const size_t first = (size_t)i * in->stride;
    const double *const wide = (const double *)in->x + first;
    const float *x;

    if (in->storage == DENSE_BIT) {
        add_bits((const uint8_t *)in->x + first / 8, h, in->stride, sum);
        return;
    }
    for (uint32_t j = 0; in->storage == DENSE_F64 && j < in->stride; j++)
        sum[j] += h * wide[j] * wide[j];
    if (in->storage == DENSE_F64)
        return;
    x = kernel_row(in, i, room);
    for (uint32_t j = 0; j < in->stride; j++)
        sum[j] += h * (double)x[j] * (double)x[j];
}

static enum err add_dense(const struct problem *problem, const double *w,
                          uint32_t chunk, const int16_t *exponent, double *sums,
                          void *rest, struct tally *tally)
{
    const struct dense_rows in = dataset_chunk(problem->data, chunk);
    const uint32_t outputs = problem_outputs(problem);
    struct block block;

    memset(sums, 0, in.stride * sizeof *sums);
    for (uint32_t i = 0; i < in.rows; i += block.rows) {
        const struct dense_rows some = some_rows(&in, i, block_rows(outputs));

        block.rows = some.rows;
        if (problem->model->classes)
            softmax_scores(problem->isa, outputs, &some, w, block.h, rest);
        else
            kernel_scores(problem->isa, &some, w, block.h);
        curve(problem, some.y, some.weight, &block);
        for (uint32_t k = 0; k < some.rows; k++)
            add_row(&some, k, block.h[k], rest, sums);
    }
    for (uint32_t k = 1; k < outputs; k++)
        memcpy(sums + (size_t)k * in.stride, sums, in.stride * sizeof *sums);
    return tally_add_chunk(tally, chunk, sums, 0, exponent);
}

/* --- sparse rows --------------------------------------------------------- */

static struct sparse_rows some_sparse(const struct sparse_rows *in,
                                      uint32_t first, uint32_t most)
{
    const uint32_t left = in->rows - first;
    struct sparse_rows some = *in;

    some.begin = in->begin + first;
    some.y = in->y + first;
    some.weight = in->weight != NULL ? in->weight + first : NULL;
    some.rows = left < most ? left : most;
    return some;
}

/* A row to one output.  What does not fit counts as 0, so that the same with
 * the other sign takes it back. */
static bool add_entries(const struct sparse_rows *in, uint32_t i, double h,
                        const int16_t *exponent, int64_t *sum)
{
    bool fits = isfinite(h) != 0;

    for (uint64_t t = in->begin[i]; t < in->begin[i + 1]; t++) {
        const double x = in->value != NULL ? (double)in->value[t] : 1;
        const uint32_t j = in->column[t];
        const double scaled = h * x * x * power_of_two(exponent[j]);
        const bool good = fabs(scaled) < TALLY_FITS;

        sum[j] =
            (int64_t)((uint64_t)sum[j] + (uint64_t)llrint(good ? scaled : 0));
        fits &= good;
    }
    return fits;
}

/* All rows, times `sign`. */
static bool add_rows(const struct problem *problem,
                     const struct sparse_rows *in, const double *w, double sign,
                     const int16_t *exponent, int64_t *sum)
{
    const uint32_t outputs = problem_outputs(problem);
    const size_t stride = problem->data->stride;
    struct block block;
    bool fits = true;

    for (uint32_t i = 0; i < in->rows; i += block.rows) {
        const struct sparse_rows some = some_sparse(in, i, block_rows(outputs));

        block.rows = some.rows;
        if (problem->model->classes)
            softmax_sparse_scores(outputs, problem->data->stride, &some, w,
                                  block.h);
        else
            sparse_scores(&some, w, block.h);
        curve(problem, some.y, some.weight, &block);
        for (size_t at = 0; at < (size_t)some.rows * outputs; at++) {
            const size_t first = at % outputs * stride;

            fits &= add_entries(&some, (uint32_t)(at / outputs),
                                sign * block.h[at / outputs], exponent + first,
                                sum + first);
        }
    }
    return fits;
}

static enum err add_sparse(const struct problem *problem, const double *w,
                           uint32_t chunk, const int16_t *exponent,
                           struct tally *tally)
{
    const struct sparse_rows in = dataset_sparse_chunk(problem->data, chunk);

    if (chunkset_has(&tally->chunks, chunk))
        return ERR_OVERLAP;
    if (!add_rows(problem, &in, w, 1, exponent, tally->sum)) {
        (void)add_rows(problem, &in, w, -1, exponent, tally->sum);
        return ERR_RANGE;
    }
    tally_mark(tally, exponent, chunk, 0);
    return ERR_OK;
}

enum err diagonal_add(const struct problem *problem, const double *w,
                      uint32_t chunk, const int16_t *exponent, double *sums,
                      void *rest, struct tally *tally)
{
    CHECK(tally->dims <= problem_dims(problem));
    if (dataset_is_sparse(problem->data))
        return add_sparse(problem, w, chunk, exponent, tally);
    return add_dense(problem, w, chunk, exponent, sums, rest, tally);
}

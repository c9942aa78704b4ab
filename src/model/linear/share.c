/*
 * share.c - several threads, one tally: rows first, then columns.
 */
#include <stdlib.h>
#include <string.h>

#include "model/linear/wide.h"

#define SAMPLES  1024u
#define SPAN     8u /* Sums of a cache line: written by one thread alone. */
#define CLEARING 8u /* Columns that are cleared while an entry is added. */

bool problem_shares(const struct problem *problem, enum evaluation_kind kind)
{
    return (kind == EVALUATE_GRADIENT || kind == EVALUATE_HESSVEC) &&
           !problem->model->classes &&
           (dataset_is_sparse(problem->data) ||
            !problem_has_vector(problem, kind));
}

enum err problem_residuals(const struct problem *problem,
                           const struct problem_round *round,
                           const struct evaluation *what, uint32_t chunk,
                           void *scratch, double *r, double *loss)
{
    const struct problem at = problem_soft(problem, what->soft);
    struct dense_rows dense;
    struct sparse_rows sparse;

    if (dataset_is_sparse(problem->data)) {
        sparse = dataset_sparse_chunk(problem->data, chunk);
        return sparse_residuals(at.isa, at.model->loss, &sparse, what,
                                &round->sparse, r, loss)
                   ? ERR_OK
                   : ERR_RANGE;
    }
    dense = dataset_chunk(problem->data, chunk);
    /* Sums show whether they are numbers. */
    *loss = wide_residuals(&at, &dense, what, scratch, r);
    return ERR_OK;
}

uint32_t problem_stripes(const struct problem *problem)
{
    return dataset_is_sparse(problem->data)
               ? 1
               : kernel_stripes(problem->data->stride);
}

void problem_stripe(const struct problem *problem, const double *w,
                    uint32_t chunk, uint32_t stripe, double *sums)
{
    const struct dense_rows rows = dataset_chunk(problem->data, chunk);

    kernel_stripe(problem->isa, &rows, w, stripe, sums);
}

void problem_joined(const struct problem *problem,
                    const struct evaluation *what, uint32_t chunk,
                    const double *by_w, const double *by_v, void *scratch,
                    double *r, double *loss)
{
    const struct problem at = problem_soft(problem, what->soft);
    const struct dense_rows rows = dataset_chunk(problem->data, chunk);
    const uint32_t stripes = problem_stripes(problem);

    kernel_join(by_w, rows.rows, stripes, r);
    if (what->kind == EVALUATE_HESSVEC)
        kernel_join(by_v, rows.rows, stripes, scratch);
    *loss = wide_slopes(&at, &rows, what->kind, scratch, r);
}

static int by_number(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* Columns of entries, evenly spaced among those of the chunks. */
static void sample_entries(const struct problem *problem, uint32_t chunk,
                           uint32_t end_chunk, uint64_t entries, uint32_t count,
                           uint32_t *sample)
{
    uint64_t before = 0;
    uint32_t taken = 0;

    for (uint32_t k = chunk; k < end_chunk; k++) {
        const struct sparse_rows in = dataset_sparse_chunk(problem->data, k);
        const uint64_t here = in.begin[in.rows] - in.begin[0];

        for (; taken < count && taken * entries / count < before + here;
             taken++)
            sample[taken] =
                in.column[in.begin[0] + (taken * entries / count - before)];
        before += here;
    }
}

/* Some columns of entries and, as every column costs a little by itself, some
 * of all; in order. */
static void sample_columns(const struct problem *problem, uint32_t chunk,
                           uint32_t end_chunk, uint32_t sample[SAMPLES])
{
    const uint32_t cols = problem->data->cols;
    uint64_t entries = 0;
    uint32_t of_entries;

    for (uint32_t k = chunk; k < end_chunk; k++) {
        const struct sparse_rows in = dataset_sparse_chunk(problem->data, k);

        entries += in.begin[in.rows] - in.begin[0];
    }
    of_entries =
        (uint32_t)(SAMPLES * entries / (entries + cols / CLEARING + 1));
    sample_entries(problem, chunk, end_chunk, entries, of_entries, sample);
    for (uint32_t i = of_entries; i < SAMPLES; i++)
        sample[i] = (uint32_t)((uint64_t)(i - of_entries) * cols /
                               (SAMPLES - of_entries));
    qsort(sample, SAMPLES, sizeof *sample, by_number);
}

void problem_spans(const struct problem *problem, uint32_t chunk,
                   uint32_t end_chunk, uint32_t count, uint32_t *at)
{
    const bool sparse = dataset_is_sparse(problem->data);
    const uint64_t dims = problem->data->stride;
    uint32_t sample[SAMPLES];

    if (sparse)
        sample_columns(problem, chunk, end_chunk, sample);
    at[0] = 0;
    for (uint32_t i = 1; i < count; i++) {
        const uint32_t column = sparse ? sample[(uint64_t)SAMPLES * i / count]
                                       : (uint32_t)(dims * i / count);

        at[i] = column / SPAN * SPAN;
    }
    at[count] = (uint32_t)dims;
}

enum err problem_share_begin(const struct problem *problem,
                             struct problem_share *share)
{
    if (problem->data->storage != STORAGE_CSR)
        return ERR_OK;
    return sparse_least(share->exponent, problem->data->cols, &share->least);
}

static const double *residuals_of(const struct problem *problem,
                                  const struct problem_share *share,
                                  uint32_t chunk)
{
    return share->r +
           (size_t)(chunk - share->chunk) * problem->data->chunk_rows;
}

static bool share_sparse(const struct problem *problem,
                         const struct problem_share *share, uint32_t first,
                         uint32_t end, const struct tally *tally)
{
    const bool csr = problem->data->storage == STORAGE_CSR;
    const uint32_t cols = problem->data->cols;
    const struct sparse_columns columns = {
        .isa = problem->isa,
        .first = first,
        .end = end < cols ? end : cols,
        .exponent = share->exponent,
        .least = share->least,
        .sum = tally->sum,
    };
    bool fits = true;

    if (tally->blank)
        memset(tally->sum + first, 0, (end - first) * sizeof *tally->sum);
    if (csr)
        sparse_columns_open(&columns);
    for (uint32_t k = share->chunk; fits && k < share->end_chunk; k++) {
        const struct sparse_rows rows = dataset_sparse_chunk(problem->data, k);

        fits = sparse_columns_add(&columns, &rows,
                                  residuals_of(problem, share, k));
    }
    if (csr)
        sparse_columns_settle(&columns);
    return fits;
}

static bool share_dense(const struct problem *problem,
                        const struct problem_share *share, uint32_t first,
                        uint32_t end, const struct tally *tally)
{
    struct tally part = *tally; /* Blank for the first of these chunks alone. */
    bool fits = true;

    for (uint32_t k = share->chunk; fits && k < share->end_chunk; k++) {
        const struct dense_rows rows = dataset_chunk(problem->data, k);

        fits = wide_put(problem, &rows, residuals_of(problem, share, k), first,
                        end, share->exponent, &part) == end;
        part.blank = false;
    }
    return fits;
}

enum err problem_add_columns(const struct problem *problem,
                             const struct problem_share *share, uint32_t first,
                             uint32_t end, const struct tally *tally)
{
    const bool fits = dataset_is_sparse(problem->data)
                          ? share_sparse(problem, share, first, end, tally)
                          : share_dense(problem, share, first, end, tally);

    return fits ? ERR_OK : ERR_RANGE;
}

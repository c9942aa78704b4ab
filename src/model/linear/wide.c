/*
 * wide.c - cache blocking over columns: residuals first, then sums of one block
 * of columns after the other, so that no vector of sums leaves the cache.
 */
#include "model/linear/wide.h"

enum {
    BLOCK = 1024,   /* Columns whose sums stay in the first cache. */
    STRIDE = 1024,  /* Rows from here on are wide if there are few, ... */
    FEW = 4,        /* ... no more than this; ... */
    ANY = 1u << 15, /* ... from here on, always. */
};

bool wide_is(const struct dense_rows *rows)
{
    return rows->stride >= STRIDE &&
           (rows->rows <= FEW || rows->stride >= ANY) &&
           rows->rows <= rows->stride / 2;
}

static uint32_t block_columns(const struct problem *problem,
                              const struct dense_rows *rows, const double *r,
                              uint32_t first, uint32_t end, double *g)
{
    const uint32_t left = end - first;
    const uint32_t count = left < BLOCK ? left : BLOCK;

    kernel_columns(problem->isa, rows, r, first, count, g);
    return count;
}

uint32_t wide_put(const struct problem *problem, const struct dense_rows *rows,
                  const double *r, uint32_t first, uint32_t end,
                  const int16_t *exponent, struct tally *tally)
{
    double g[BLOCK];

    while (first < end) {
        const uint32_t count = block_columns(problem, rows, r, first, end, g);

        if (!tally_put(tally, first, count, g, exponent))
            break;
        first += count;
    }
    return first;
}

static enum err add_columns(const struct problem *problem,
                            const struct dense_rows *rows, const double *r,
                            const int16_t *exponent, struct tally *tally)
{
    const uint32_t done =
        wide_put(problem, rows, r, 0, rows->stride, exponent, tally);
    double g[BLOCK];
    uint32_t count;

    if (done == rows->stride)
        return ERR_OK;
    /* Refused whole: what was added is computed again and taken back. */
    for (uint32_t at = 0; at < done; at += count) {
        count = block_columns(problem, rows, r, at, done, g);
        tally_take_back(tally, at, count, g, exponent);
    }
    return ERR_RANGE;
}

double wide_slopes(const struct problem *problem, const struct dense_rows *rows,
                   enum evaluation_kind kind, double *scratch, double *r)
{
    const bool hessvec = kind == EVALUATE_HESSVEC;
    double loss = 0;

    kernel_slopes(problem->isa, problem->model->loss, hessvec, r, rows->y,
                  rows->weight, hessvec ? NULL : scratch, rows->rows);
    for (uint32_t i = 0; i < rows->rows; i++) {
        if (hessvec)
            r[i] *= scratch[i];
        else
            loss += scratch[i];
    }
    return loss;
}

double wide_residuals(const struct problem *problem,
                      const struct dense_rows *rows,
                      const struct evaluation *what, double *scratch, double *r)
{
    kernel_scores(problem->isa, rows, what->w, r);
    if (what->kind == EVALUATE_HESSVEC)
        kernel_scores(problem->isa, rows, what->v, scratch);
    return wide_slopes(problem, rows, what->kind, scratch, r);
}

enum err wide_add(const struct problem *problem, const struct dense_rows *rows,
                  const struct evaluation *what, uint32_t chunk,
                  const int16_t *exponent, double *scratch, struct tally *tally)
{
    double *const r = scratch + rows->rows;
    double loss;
    enum err err;

    if (chunkset_has(&tally->chunks, chunk))
        return ERR_OVERLAP;
    loss = wide_residuals(problem, rows, what, scratch, r);
    if (!tally_loss_fits(tally, exponent, loss))
        return ERR_RANGE;
    err = add_columns(problem, rows, r, exponent, tally);
    if (err == ERR_OK)
        tally_mark(tally, exponent, chunk, loss);
    return err;
}

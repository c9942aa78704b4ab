/*
 * sparse.c - growing rows of (index, value) pairs: what parsers fill.
 */
#include "data/rows/sparse.h"

#include "base/check.h"
#include "base/mem.h"

void sparse_close(struct sparse *sparse)
{
    mem_free(sparse->start);
    mem_free(sparse->label);
    mem_free(sparse->weight);
    mem_free(sparse->index);
    mem_free(sparse->value);
    *sparse = (struct sparse){0};
}

void sparse_clear(struct sparse *sparse)
{
    sparse->rows = 0;
    sparse->cols = 0;
    sparse->weighted = false;
    if (sparse->start != NULL)
        sparse->start[0] = 0;
}

size_t sparse_entries(const struct sparse *sparse)
{
    return sparse->start == NULL ? 0 : sparse->start[sparse->rows];
}

static enum err reserve_row(struct sparse *sparse)
{
    const size_t rows = sparse->rows;

    if (rows >= DATA_ROWS_MAX)
        return ERR_TOOBIG;
    if (rows + 2 > sparse->start_capacity) {
        size_t *grown =
            mem_grow(sparse->start, sparse->start == NULL ? 0 : rows + 1,
                     rows + 2, sizeof *grown, &sparse->start_capacity);

        if (grown == NULL)
            return ERR_NOMEM;
        sparse->start = grown;
    }
    if (rows + 1 > sparse->label_capacity) {
        double *grown = mem_grow(sparse->label, rows, rows + 1, sizeof *grown,
                                 &sparse->label_capacity);

        if (grown == NULL)
            return ERR_NOMEM;
        sparse->label = grown;
    }
    if (rows + 1 > sparse->weight_capacity) {
        double *grown = mem_grow(sparse->weight, rows, rows + 1, sizeof *grown,
                                 &sparse->weight_capacity);

        if (grown == NULL)
            return ERR_NOMEM;
        sparse->weight = grown;
    }
    return ERR_OK;
}

static enum err reserve_entries(struct sparse *sparse, size_t entries)
{
    const size_t used = sparse_entries(sparse);

    if (used + entries > sparse->index_capacity) {
        uint32_t *grown = mem_grow(sparse->index, used, used + entries,
                                   sizeof *grown, &sparse->index_capacity);

        if (grown == NULL)
            return ERR_NOMEM;
        sparse->index = grown;
    }
    if (used + entries > sparse->value_capacity) {
        double *grown = mem_grow(sparse->value, used, used + entries,
                                 sizeof *grown, &sparse->value_capacity);

        if (grown == NULL)
            return ERR_NOMEM;
        sparse->value = grown;
    }
    return ERR_OK;
}

enum err sparse_reserve(struct sparse *sparse, size_t entries)
{
    const enum err err = reserve_row(sparse);

    return err == ERR_OK ? reserve_entries(sparse, entries) : err;
}

enum err sparse_add_row(struct sparse *sparse, double label)
{
    const enum err err = reserve_row(sparse);

    if (err != ERR_OK)
        return err;
    sparse->label[sparse->rows] = label;
    sparse->start[sparse->rows + 1] = sparse_entries(sparse);
    sparse->rows++;
    return ERR_OK;
}

enum err sparse_add(struct sparse *sparse, uint32_t index, double value)
{
    const size_t used = sparse_entries(sparse);
    const enum err err = reserve_entries(sparse, 1);

    CHECK(sparse->rows > 0);
    if (err != ERR_OK)
        return err;
    sparse->index[used] = index;
    sparse->value[used] = value;
    sparse->start[sparse->rows]++;
    if (index >= sparse->cols)
        sparse->cols = index + 1;
    return ERR_OK;
}

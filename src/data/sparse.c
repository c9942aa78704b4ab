#include "data/sparse.h"

#include "base/check.h"
#include "base/mem.h"

/* A table that is mostly zeros and large needs kernels that skip them. */
#define SPARSE_RATIO 64u
#define SPARSE_BYTES (UINT64_C(1) << 32)

void sparse_close(struct sparse *sparse)
{
    mem_free(sparse->start);
    mem_free(sparse->label);
    mem_free(sparse->index);
    mem_free(sparse->value);
    *sparse = (struct sparse){0};
}

size_t sparse_entries(const struct sparse *sparse)
{
    return sparse->start == NULL ? 0 : sparse->start[sparse->rows];
}

enum err sparse_add_row(struct sparse *sparse, double label)
{
    const size_t rows = sparse->rows;
    const size_t entries = sparse_entries(sparse);

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
    sparse->label[rows] = label;
    sparse->start[rows + 1] = entries;
    sparse->rows++;
    return ERR_OK;
}

enum err sparse_add(struct sparse *sparse, uint32_t index, float value)
{
    const size_t used = sparse_entries(sparse);

    CHECK(sparse->rows > 0);
    if (used + 1 > sparse->index_capacity) {
        uint32_t *grown = mem_grow(sparse->index, used, used + 1, sizeof *grown,
                                   &sparse->index_capacity);

        if (grown == NULL)
            return ERR_NOMEM;
        sparse->index = grown;
    }
    if (used + 1 > sparse->value_capacity) {
        float *grown = mem_grow(sparse->value, used, used + 1, sizeof *grown,
                                &sparse->value_capacity);

        if (grown == NULL)
            return ERR_NOMEM;
        sparse->value = grown;
    }
    sparse->index[used] = index;
    sparse->value[used] = value;
    sparse->start[sparse->rows]++;
    if (index >= sparse->cols)
        sparse->cols = index + 1;
    return ERR_OK;
}

/* Columns after densifying: the features, at most cols_max of them with the
 * intercept, at least cols_min. */
static uint32_t dense_cols(const struct sparse *sparse,
                           const struct densify *how)
{
    uint32_t cols = sparse->cols + (how->intercept ? 1 : 0);

    if (how->cols_max != 0 && cols > how->cols_max)
        cols = how->cols_max;
    return cols < how->cols_min ? how->cols_min : cols;
}

static enum err check_size(const struct sparse *sparse, uint32_t cols,
                           struct why *why)
{
    const uint64_t dense = (uint64_t)sparse->rows * cols * sizeof(float);
    const uint64_t packed =
        (uint64_t)sparse_entries(sparse) * 8 + (uint64_t)sparse->rows * 8;

    if (dense > SPARSE_BYTES && dense / SPARSE_RATIO > packed)
        return why_set(why, ERR_TOOBIG,
                       "%u rows of %u columns would take %.1f GiB, nearly "
                       "all zeros; that needs sparse kernels, which this "
                       "version does not have",
                       sparse->rows, cols, (double)dense / 0x1p30);
    if (dense > DATA_BYTES_MAX)
        return why_set(why, ERR_TOOBIG,
                       "%u rows of %u columns would take %.1f GiB; at most "
                       "%.0f GiB are supported",
                       sparse->rows, cols, (double)dense / 0x1p30,
                       (double)DATA_BYTES_MAX / 0x1p30);
    return ERR_OK;
}

static void fill_row(const struct sparse *sparse, uint32_t row,
                     const struct densify *how, struct dataset *data)
{
    float *const x = data->x + (size_t)row * data->stride;
    const uint32_t features = data->cols - (how->intercept ? 1 : 0);

    for (size_t k = sparse->start[row]; k < sparse->start[row + 1]; k++) {
        if (sparse->index[k] < features)
            x[sparse->index[k]] = sparse->value[k];
    }
    if (how->intercept)
        x[data->cols - 1] = 1.0f;
    data->y[row] = sparse->label[row];
}

enum err sparse_densify(const struct sparse *sparse, const struct densify *how,
                        struct dataset *data, struct why *why)
{
    const uint32_t cols = dense_cols(sparse, how);
    const uint32_t chunk_rows = how->chunk_rows != 0
                                    ? how->chunk_rows
                                    : dataset_default_chunk_rows(sparse->rows);
    struct dataset made = {0};
    enum err err;

    if (sparse->rows == 0)
        return why_set(why, ERR_SHAPE, "no rows");
    if (cols == 0)
        return why_set(why, ERR_SHAPE,
                       "no features in any row; nothing to learn from");
    err = check_size(sparse, cols, why);
    if (err != ERR_OK)
        return err;
    err = dataset_init(&made, sparse->rows, cols, chunk_rows);
    if (err != ERR_OK)
        return why_set(why, err, "%u rows of %u columns in chunks of %u: %s",
                       sparse->rows, cols, chunk_rows, err_text(err));
    for (uint32_t row = 0; row < sparse->rows; row++)
        fill_row(sparse, row, how, &made);
    chunkset_fill(&made.present);
    *data = made;
    return ERR_OK;
}

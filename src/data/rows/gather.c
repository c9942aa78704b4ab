/*
 * gather.c - copies of single rows, side by side.
 */
#include "data/rows/gather.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "os/run/pages.h"

enum err gather_init(struct gather *gather, const struct dataset *from,
                     uint32_t chunks, uint32_t most)
{
    struct dataset_shape shape = dataset_shape(from);
    enum err err;

    *gather = (struct gather){0};
    shape.rows = shape.chunk_rows = most;
    shape.entries = 1; /* Grows. */
    err = dataset_init_shape(&gather->rows, &shape);
    if (err != ERR_OK)
        return err;
    chunkset_close(&gather->rows.present);
    err = chunkset_init(&gather->rows.present, chunks);
    gather->rows.cut = mem_new((size_t)chunks + 1, sizeof *gather->rows.cut);
    gather->row = mem_new(most, sizeof *gather->row);
    if (err != ERR_OK || gather->rows.cut == NULL || gather->row == NULL) {
        gather_close(gather);
        return ERR_NOMEM;
    }
    chunkset_fill(&gather->rows.present);
    return ERR_OK;
}

void gather_close(struct gather *gather)
{
    dataset_close(&gather->rows);
    mem_free(gather->row);
    *gather = (struct gather){0};
}

static void copy_dense(struct dataset *to, const struct dataset *from,
                       const uint32_t *row, uint32_t count)
{
    const size_t bytes = storage_row_bytes(from->storage, from->stride);

    for (uint32_t i = 0; i < count; i++)
        memcpy(dataset_row(to, i), dataset_row(from, row[i]), bytes);
}

/* --- sparse rows ---------------------------------------------------------- */

/* Where each row begins; the last is where they end. */
static void lay_out(struct dataset *to, const struct dataset *from,
                    const uint32_t *row, uint32_t count)
{
    to->begin[0] = 0;
    for (uint32_t i = 0; i < count; i++)
        to->begin[i + 1] =
            to->begin[i] + from->begin[row[i] + 1] - from->begin[row[i]];
}

/* What was there is not kept. */
static enum err grow(struct dataset *to, uint64_t entries)
{
    const bool valued = to->storage == STORAGE_CSR;

    if (entries <= to->entries)
        return ERR_OK;
    pages_free(to->column, to->entries, sizeof *to->column);
    pages_free(to->value, to->entries, sizeof *to->value);
    to->entries = entries + entries / 2;
    to->column = pages_new(to->entries, sizeof *to->column);
    to->value = valued ? pages_new(to->entries, sizeof *to->value) : NULL;
    return to->column == NULL || (valued && to->value == NULL) ? ERR_NOMEM
                                                               : ERR_OK;
}

static enum err copy_sparse(struct dataset *to, const struct dataset *from,
                            const uint32_t *row, uint32_t count)
{
    enum err err;

    lay_out(to, from, row, count);
    err = grow(to, to->begin[count]);
    for (uint32_t i = 0; err == ERR_OK && i < count; i++) {
        const uint64_t at = from->begin[row[i]];
        const size_t length = to->begin[i + 1] - to->begin[i];

        memcpy(to->column + to->begin[i], from->column + at,
               length * sizeof *to->column);
        if (to->value != NULL)
            memcpy(to->value + to->begin[i], from->value + at,
                   length * sizeof *to->value);
    }
    return err;
}

enum err gather_take(struct gather *gather, const struct dataset *from,
                     uint32_t chunk, uint32_t count)
{
    struct dataset *const to = &gather->rows;
    const uint32_t *const row = gather->row;
    enum err err = ERR_OK;

    CHECK(count <= to->rows);
    CHECK(chunk < to->present.count);
    to->cut[chunk] = 0;
    to->cut[chunk + 1] = count;
    for (uint32_t i = 0; i < count; i++)
        to->y[i] = from->y[row[i]];
    for (uint32_t i = 0; from->weight != NULL && i < count; i++)
        to->weight[i] = from->weight[row[i]];
    if (dataset_is_sparse(from))
        err = copy_sparse(to, from, row, count);
    else
        copy_dense(to, from, row, count);
    return err;
}

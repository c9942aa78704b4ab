/*
 * split.c - train/test split by numpy's legacy permutation, so that a split is
 * row for row that of scikit-learn with the same seed.
 */
#include "data/rows/split.h"

#include <math.h>
#include <string.h>

#include "base/mt19937.h"
#include "os/run/pages.h"

/* Uniform in [0, most]: draws below the next power of two until one fits. */
static uint32_t draw_upto(struct mt19937 *mt, uint32_t most)
{
    uint32_t mask = most;
    uint32_t value;

    for (uint32_t shift = 1; shift <= 16; shift *= 2)
        mask |= mask >> shift;
    do
        value = mt19937_next(mt) & mask;
    while (value > most);
    return value;
}

void split_permutation(uint32_t rows, uint32_t seed, uint32_t *order)
{
    struct mt19937 mt;

    mt19937_init(&mt, seed);
    for (uint32_t i = 0; i < rows; i++)
        order[i] = i;
    for (uint32_t i = rows; i-- > 1;) {
        const uint32_t j = draw_upto(&mt, i);
        const uint32_t moved = order[i];

        order[i] = order[j];
        order[j] = moved;
    }
}

uint32_t split_test_rows(uint32_t rows)
{
    return (uint32_t)ceil(0.2 * (double)rows);
}

static uint64_t count_entries(const struct dataset *data, const uint32_t *order,
                              uint32_t count)
{
    uint64_t entries = 0;

    if (!dataset_is_sparse(data))
        return 0;
    for (uint32_t i = 0; i < count; i++)
        entries += data->begin[order[i] + 1] - data->begin[order[i]];
    return entries;
}

/* Row `from` of `data` becomes row `to` of `part`, those before it being
 * there. */
static void copy_row(const struct dataset *data, uint32_t from,
                     struct dataset *part, uint32_t to)
{
    part->y[to] = data->y[from];
    if (data->weight != NULL)
        part->weight[to] = data->weight[from];
    if (dataset_is_sparse(data)) {
        const uint64_t start = data->begin[from];
        const size_t count = data->begin[from + 1] - start;
        const uint64_t at = part->begin[to];

        part->begin[to + 1] = at + count;
        if (count == 0)
            return;
        memcpy(part->column + at, data->column + start,
               count * sizeof *part->column);
        if (data->value != NULL)
            memcpy(part->value + at, data->value + start,
                   count * sizeof *part->value);
    } else {
        memcpy(dataset_row(part, to), dataset_row(data, from),
               storage_row_bytes(data->storage, data->stride));
    }
}

enum err split_take(const struct dataset *data, const uint32_t *order,
                    uint32_t count, struct dataset *part)
{
    struct dataset_shape shape = dataset_shape(data);
    struct dataset made = {0};
    enum err err;

    shape.rows = count;
    shape.entries = count_entries(data, order, count);
    err = dataset_init_shape(&made, &shape);
    if (err != ERR_OK)
        return err;
    for (uint32_t i = 0; i < count; i++)
        copy_row(data, order[i], &made, i);
    chunkset_fill(&made.present);
    err = dataset_set_labels(&made, data->label, data->classes);
    if (err == ERR_OK && data->original != NULL) {
        made.original = pages_new(data->cols, sizeof *made.original);
        if (made.original == NULL)
            err = ERR_NOMEM;
        else
            memcpy(made.original, data->original,
                   data->cols * sizeof *made.original);
    }
    if (err != ERR_OK) {
        dataset_close(&made);
        return err;
    }
    *part = made;
    return ERR_OK;
}

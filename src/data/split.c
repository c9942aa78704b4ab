#include "data/split.h"

#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/mt19937.h"

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

/* The rows named by order[0..count), as a data set of their own. */
static enum err take_rows(const struct dataset *data, const uint32_t *order,
                          uint32_t count, struct dataset *part)
{
    struct dataset made = {0};
    const enum err err =
        dataset_init(&made, count, data->cols, data->chunk_rows);

    if (err != ERR_OK)
        return err;
    for (uint32_t i = 0; i < count; i++) {
        memcpy(made.x + (size_t)i * made.stride,
               data->x + (size_t)order[i] * data->stride,
               data->stride * sizeof *made.x);
        made.y[i] = data->y[order[i]];
    }
    memcpy(made.label, data->label, sizeof made.label);
    made.classes = data->classes;
    chunkset_fill(&made.present);
    *part = made;
    return ERR_OK;
}

enum err split_dataset(const struct dataset *data, uint32_t seed,
                       struct dataset *train, struct dataset *test)
{
    const uint32_t test_rows = split_test_rows(data->rows);
    struct dataset first = {0};
    struct dataset second = {0};
    uint32_t *order;
    enum err err;

    CHECK(chunkset_full(&data->present));
    if (test_rows == 0 || test_rows >= data->rows)
        return ERR_SHAPE;
    order = mem_new(data->rows, sizeof *order);
    if (order == NULL)
        return ERR_NOMEM;
    split_permutation(data->rows, seed, order);
    err = take_rows(data, order, test_rows, &first);
    if (err == ERR_OK)
        err =
            take_rows(data, order + test_rows, data->rows - test_rows, &second);
    mem_free(order);
    if (err != ERR_OK) {
        dataset_close(&first);
        return err;
    }
    *test = first;
    *train = second;
    return ERR_OK;
}

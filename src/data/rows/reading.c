/*
 * reading.c - a cursor over single rows of any storage, for sgd and for whoever
 * looks at columns.
 */
#include "data/rows/reading.h"

#include "base/mem.h"

enum err reading_init(struct reading *reading, const struct dataset *data)
{
    struct reading made = {.data = data};

    if (!dataset_is_sparse(data)) {
        made.value = mem_new(data->cols, sizeof *made.value);
        made.index = mem_new(data->cols, sizeof *made.index);
        if (made.value == NULL || made.index == NULL) {
            reading_close(&made);
            return ERR_NOMEM;
        }
    }
    *reading = made;
    return ERR_OK;
}

void reading_close(struct reading *reading)
{
    mem_free(reading->value);
    mem_free(reading->index);
    *reading = (struct reading){0};
}

/* Zeros say nothing, and leaving them out changes no sum: any dense storage
 * gives the same bits. */
static void read_dense(const struct reading *reading, uint32_t i,
                       struct reading_row *row)
{
    dataset_row_values(reading->data, i, reading->value);
    for (uint32_t j = 0; j < reading->data->cols; j++) {
        if (reading->value[j] == 0)
            continue;
        reading->value[row->count] = reading->value[j];
        reading->index[row->count++] = j;
    }
    row->wide = reading->value;
    row->index = reading->index;
}

struct reading_row reading_at(const struct reading *reading, uint32_t i)
{
    const struct dataset *const data = reading->data;
    struct reading_row row = {
        .y = data->y[i],
        .weight = data->weight != NULL ? data->weight[i] : 1,
    };

    if (dataset_is_sparse(data)) {
        row.index = data->column + data->begin[i];
        row.value = data->value != NULL ? data->value + data->begin[i] : NULL;
        row.count = (uint32_t)(data->begin[i + 1] - data->begin[i]);
    } else {
        read_dense(reading, i, &row);
    }
    return row;
}

/*
 * dataset_ship.c - a chunk as bytes, and back.
 *
 *     y         rows f64
 *     weight    rows f64, if the data set has weights: those that were given,
 *               whichever fold is left out
 *     fold      rows u32, if the data set has folds
 *     dense     rows x cols values of the storage, no padding but whole bytes
 *     sparse    u64 offset of the chunk's first entry among all, then
 *               rows u32 lengths, columns u32, values f32 (csr)
 *
 * The offset lets chunks arrive in any order: each has its place already, and
 * nothing moves under a kernel that reads another.
 */
#include <math.h>
#include <string.h>

#include "base/check.h"
#include "data/rows/dataset.h"

static uint32_t first_row(const struct dataset *data, uint32_t chunk)
{
    return dataset_first_row(data, chunk);
}

static size_t dense_bytes(const struct dataset *data)
{
    return data->storage == STORAGE_BIT
               ? ((size_t)data->cols + 7) / 8
               : storage_row_bytes(data->storage, data->cols);
}

static size_t entry_bytes(const struct dataset *data)
{
    return sizeof *data->column +
           (data->storage == STORAGE_CSR ? sizeof *data->value : 0);
}

/* Weights as they travel; NULL: all 1. */
static double *own_weights(const struct dataset *data)
{
    return data->fold != NULL ? data->given : data->weight;
}

/* Of `rows` rows with `entries` entries among them. */
static size_t shipped_bytes(const struct dataset *data, uint32_t rows,
                            uint64_t entries)
{
    const size_t numbers =
        sizeof *data->y +
        (own_weights(data) == NULL ? 0 : sizeof *data->weight) +
        (data->fold == NULL ? 0 : sizeof *data->fold);

    if (!dataset_is_sparse(data))
        return rows * (numbers + dense_bytes(data));
    return rows * (numbers + sizeof(uint32_t)) + sizeof(uint64_t) +
           entries * entry_bytes(data);
}

size_t dataset_chunk_bytes(const struct dataset *data, uint32_t chunk)
{
    const uint32_t first = first_row(data, chunk);
    const uint32_t rows = dataset_chunk_size(data, chunk);

    return shipped_bytes(data, rows,
                         dataset_is_sparse(data)
                             ? data->begin[first + rows] - data->begin[first]
                             : 0);
}

size_t dataset_chunk_bytes_max(const struct dataset *data)
{
    const uint32_t rows = dataset_chunk_size(data, 0);
    const uint64_t most = (uint64_t)rows * data->cols;

    return shipped_bytes(data, rows,
                         data->entries < most ? data->entries : most);
}

static uint8_t *put(uint8_t *out, const void *from, size_t size)
{
    if (size > 0)
        memcpy(out, from, size);
    return out + size;
}

static void encode_sparse(const struct dataset *data, uint32_t first,
                          uint32_t rows, uint8_t *out)
{
    const uint64_t start = data->begin[first];
    const size_t count = data->begin[first + rows] - start;

    out = put(out, &start, sizeof start);
    for (uint32_t i = 0; i < rows; i++) {
        const uint32_t length =
            (uint32_t)(data->begin[first + i + 1] - data->begin[first + i]);

        out = put(out, &length, sizeof length);
    }
    out = put(out, data->column + start, count * sizeof *data->column);
    if (data->storage == STORAGE_CSR)
        (void)put(out, data->value + start, count * sizeof *data->value);
}

void dataset_chunk_encode(const struct dataset *data, uint32_t chunk,
                          uint8_t *out)
{
    const uint32_t first = first_row(data, chunk);
    const uint32_t rows = dataset_chunk_size(data, chunk);

    CHECK(chunkset_has(&data->present, chunk));
    out = put(out, data->y + first, rows * sizeof *data->y);
    if (own_weights(data) != NULL)
        out = put(out, own_weights(data) + first, rows * sizeof *data->weight);
    if (data->fold != NULL)
        out = put(out, data->fold + first, rows * sizeof *data->fold);
    if (dataset_is_sparse(data)) {
        encode_sparse(data, first, rows, out);
        return;
    }
    for (uint32_t i = 0; i < rows; i++)
        out = put(out, dataset_row(data, first + i), dense_bytes(data));
}

static bool all_finite_f64(const uint8_t *in, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double value;

        memcpy(&value, in + i * sizeof value, sizeof value);
        if (!isfinite(value))
            return false;
    }
    return true;
}

static bool all_finite_f32(const uint8_t *in, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        float value;

        memcpy(&value, in + i * sizeof value, sizeof value);
        if (!isfinite(value))
            return false;
    }
    return true;
}

/* All bits of the exponent set: infinite or not a number. */
static bool all_finite_bf16(const uint8_t *in, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint16_t value;

        memcpy(&value, in + i * sizeof value, sizeof value);
        if ((value & 0x7f80u) == 0x7f80u)
            return false;
    }
    return true;
}

/* Bits beyond the last column would be columns to the kernels. */
static bool padding_clear(const struct dataset *data, const uint8_t *in,
                          uint32_t rows)
{
    const size_t size = dense_bytes(data);
    const uint32_t used = data->cols % 8;

    if (used == 0)
        return true;
    for (uint32_t i = 0; i < rows; i++) {
        if (in[(i + 1) * size - 1] >> used != 0)
            return false;
    }
    return true;
}

static bool dense_valid(const struct dataset *data, const uint8_t *in,
                        uint32_t rows)
{
    const size_t count = (size_t)rows * data->cols;

    switch (data->storage) {
    case STORAGE_F32:
        return all_finite_f32(in, count);
    case STORAGE_BF16:
        return all_finite_bf16(in, count);
    case STORAGE_BIT:
        return padding_clear(data, in, rows);
    case STORAGE_F64:
        return all_finite_f64(in, count);
    case STORAGE_I8:
    case STORAGE_U8:
    case STORAGE_PIXEL:
    case STORAGE_INDEX:
    case STORAGE_CSR:
        break;
    }
    return true;
}

/* The parts of a sparse chunk on its way in. */
struct shipped {
    uint64_t start, count;
    const uint8_t *length, *column, *value;
};

static uint32_t read_u32(const uint8_t *in, size_t index)
{
    uint32_t value;

    memcpy(&value, in + index * sizeof value, sizeof value);
    return value;
}

static bool columns_valid(const struct dataset *data, const struct shipped *in,
                          uint32_t rows)
{
    size_t at = 0;

    for (uint32_t i = 0; i < rows; i++) {
        const size_t end = at + read_u32(in->length, i);

        for (size_t k = at; k < end; k++) {
            const uint32_t column = read_u32(in->column, k);

            if (column >= data->cols ||
                (k > at && column <= read_u32(in->column, k - 1)))
                return false;
        }
        at = end;
    }
    return true;
}

/* Neighbours that are here must begin where this chunk ends. */
static bool place_fits(const struct dataset *data, uint32_t chunk,
                       const struct shipped *in)
{
    const uint32_t first = first_row(data, chunk);
    const uint32_t end = first + dataset_chunk_size(data, chunk);
    const bool last = end == data->rows;

    if (in->start > data->entries || in->count > data->entries - in->start)
        return false;
    if (chunk == 0 ? in->start != 0
                   : chunkset_has(&data->present, chunk - 1) &&
                         in->start != data->begin[first])
        return false;
    if (last)
        return in->start + in->count == data->entries;
    return !chunkset_has(&data->present, chunk + 1) ||
           in->start + in->count == data->begin[end];
}

/* Cut the bytes into parts; false if they do not fit. */
static bool cut_sparse(const struct dataset *data, uint32_t chunk,
                       const uint8_t *in, size_t size, struct shipped *out)
{
    const uint32_t rows = dataset_chunk_size(data, chunk);
    const size_t head = sizeof(uint64_t) + rows * sizeof(uint32_t);

    if (size < head)
        return false;
    memcpy(&out->start, in, sizeof out->start);
    out->length = in + sizeof(uint64_t);
    out->count = 0;
    for (uint32_t i = 0; i < rows; i++)
        out->count += read_u32(out->length, i);
    if (out->count > data->entries ||
        size - head != out->count * entry_bytes(data))
        return false;
    out->column = in + head;
    out->value = out->column + out->count * sizeof *data->column;
    return true;
}

/* A boundary shared with a neighbour is written once only: a kernel may be
 * reading the neighbour. */
static void set_begin(struct dataset *data, uint32_t row, uint64_t at)
{
    if (data->begin[row] != at)
        data->begin[row] = at;
}

static enum err decode_sparse(struct dataset *data, uint32_t chunk,
                              const uint8_t *in, size_t size)
{
    const uint32_t first = first_row(data, chunk);
    const uint32_t rows = dataset_chunk_size(data, chunk);
    struct shipped parts = {0};
    uint64_t at;

    if (!cut_sparse(data, chunk, in, size, &parts) ||
        !place_fits(data, chunk, &parts) ||
        !columns_valid(data, &parts, rows) ||
        (data->storage == STORAGE_CSR &&
         !all_finite_f32(parts.value, parts.count)))
        return ERR_FORMAT;
    at = parts.start;
    for (uint32_t i = 0; i < rows; i++) {
        set_begin(data, first + i, at);
        at += read_u32(parts.length, i);
    }
    set_begin(data, first + rows, at);
    if (parts.count == 0)
        return ERR_OK;
    memcpy(data->column + parts.start, parts.column,
           parts.count * sizeof *data->column);
    if (data->storage == STORAGE_CSR)
        memcpy(data->value + parts.start, parts.value,
               parts.count * sizeof *data->value);
    return ERR_OK;
}

static enum err decode_dense(struct dataset *data, uint32_t chunk,
                             const uint8_t *in, size_t size)
{
    const uint32_t rows = dataset_chunk_size(data, chunk);
    const size_t each = dense_bytes(data);

    if (size != rows * each || !dense_valid(data, in, rows))
        return ERR_FORMAT;
    for (uint32_t i = 0; i < rows; i++)
        memcpy(dataset_row(data, first_row(data, chunk) + i), in + i * each,
               each);
    return ERR_OK;
}

/* What a fold that is left out makes of the weights. */
static void take_folds(struct dataset *data, uint32_t first, uint32_t rows,
                       const uint8_t *in)
{
    memcpy(data->fold + first, in, rows * sizeof *data->fold);
    for (uint32_t row = first; row < first + rows; row++) {
        const double given = data->given == NULL ? 1 : data->given[row];

        data->weight[row] = data->fold[row] == data->without ? 0 : given;
    }
}

enum err dataset_chunk_decode(struct dataset *data, uint32_t chunk,
                              const uint8_t *in, size_t size)
{
    double *const weight = own_weights(data);
    uint32_t first;
    uint32_t rows;
    size_t numbers, folds;
    enum err err;

    if (chunk >= data->present.count)
        return ERR_FORMAT;
    first = first_row(data, chunk);
    rows = dataset_chunk_size(data, chunk);
    numbers = rows * sizeof *data->y * (weight != NULL ? 2 : 1);
    folds = data->fold == NULL ? 0 : rows * sizeof *data->fold;
    if (size < numbers + folds ||
        !all_finite_f64(in, numbers / sizeof *data->y))
        return ERR_FORMAT;
    err = dataset_is_sparse(data)
              ? decode_sparse(data, chunk, in + numbers + folds,
                              size - numbers - folds)
              : decode_dense(data, chunk, in + numbers + folds,
                             size - numbers - folds);
    if (err != ERR_OK)
        return err;
    memcpy(data->y + first, in, rows * sizeof *data->y);
    if (weight != NULL)
        memcpy(weight + first, in + rows * sizeof *data->y,
               rows * sizeof *data->weight);
    if (data->fold != NULL)
        take_folds(data, first, rows, in + numbers);
    chunkset_add(&data->present, chunk);
    return ERR_OK;
}

#include "data/dataset.h"

#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "chunks are shipped and hashed as they lie in memory: little-endian only"
#endif

enum { CHUNK_ROWS_LEAST = 256, CHUNKS_WANTED = 4096, CHUNK_ROWS_STEP = 8 };

uint32_t dataset_default_chunk_rows(uint32_t rows)
{
    const uint32_t even = rows / CHUNKS_WANTED + (rows % CHUNKS_WANTED != 0);
    const uint32_t wanted = even < CHUNK_ROWS_LEAST ? CHUNK_ROWS_LEAST : even;

    return (wanted + CHUNK_ROWS_STEP - 1) / CHUNK_ROWS_STEP * CHUNK_ROWS_STEP;
}

enum err dataset_init(struct dataset *data, uint32_t rows, uint32_t cols,
                      uint32_t chunk_rows)
{
    struct dataset made = {.rows = rows, .cols = cols};
    uint64_t floats;
    enum err err;

    if (rows == 0 || cols == 0 || chunk_rows == 0)
        return ERR_SHAPE;
    if (rows > DATA_ROWS_MAX || cols > DATA_COLS_MAX)
        return ERR_TOOBIG;
    made.chunk_rows = chunk_rows;
    made.stride = (cols + KERNEL_LANES - 1) / KERNEL_LANES * KERNEL_LANES;
    floats = (uint64_t)rows * made.stride;
    if (floats > DATA_BYTES_MAX / sizeof *made.x)
        return ERR_TOOBIG;
    err = chunkset_init(&made.present, dataset_chunks(&made));
    if (err != ERR_OK)
        return err;
    made.x = mem_new(floats, sizeof *made.x);
    made.y = mem_new(rows, sizeof *made.y);
    if (made.x == NULL || made.y == NULL) {
        dataset_close(&made);
        return ERR_NOMEM;
    }
    *data = made;
    return ERR_OK;
}

void dataset_close(struct dataset *data)
{
    chunkset_close(&data->present);
    mem_free(data->x);
    mem_free(data->y);
    *data = (struct dataset){0};
}

uint32_t dataset_chunks(const struct dataset *data)
{
    return data->rows / data->chunk_rows + (data->rows % data->chunk_rows != 0);
}

uint32_t dataset_chunk_size(const struct dataset *data, uint32_t chunk)
{
    const uint64_t first = (uint64_t)chunk * data->chunk_rows;

    CHECK(first < data->rows);
    return data->rows - first < data->chunk_rows ? data->rows - (uint32_t)first
                                                 : data->chunk_rows;
}

struct dense_rows dataset_chunk(const struct dataset *data, uint32_t chunk)
{
    const size_t first = (size_t)chunk * data->chunk_rows;

    CHECK(chunkset_has(&data->present, chunk));
    return (struct dense_rows){
        .x = data->x + first * data->stride,
        .y = data->y + first,
        .rows = dataset_chunk_size(data, chunk),
        .stride = data->stride,
    };
}

size_t dataset_chunk_bytes(const struct dataset *data, uint32_t chunk)
{
    return dataset_chunk_size(data, chunk) *
           (sizeof *data->y + data->cols * sizeof *data->x);
}

void dataset_chunk_encode(const struct dataset *data, uint32_t chunk,
                          uint8_t *out)
{
    const struct dense_rows rows = dataset_chunk(data, chunk);
    const size_t row_bytes = data->cols * sizeof *rows.x;

    memcpy(out, rows.y, rows.rows * sizeof *rows.y);
    out += rows.rows * sizeof *rows.y;
    for (uint32_t i = 0; i < rows.rows; i++, out += row_bytes)
        memcpy(out, rows.x + (size_t)i * rows.stride, row_bytes);
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

enum err dataset_chunk_decode(struct dataset *data, uint32_t chunk,
                              const uint8_t *in, size_t size)
{
    const size_t row_bytes = data->cols * sizeof *data->x;
    size_t first;
    uint32_t rows;

    if (chunk >= data->present.count ||
        size != dataset_chunk_bytes(data, chunk))
        return ERR_FORMAT;
    first = (size_t)chunk * data->chunk_rows;
    rows = dataset_chunk_size(data, chunk);
    if (!all_finite_f64(in, rows) ||
        !all_finite_f32(in + rows * sizeof *data->y, (size_t)rows * data->cols))
        return ERR_FORMAT;
    memcpy(data->y + first, in, rows * sizeof *data->y);
    in += rows * sizeof *data->y;
    for (uint32_t i = 0; i < rows; i++, in += row_bytes)
        memcpy(data->x + (first + i) * data->stride, in, row_bytes);
    chunkset_add(&data->present, chunk);
    return ERR_OK;
}

struct digest dataset_digest(const struct dataset *data)
{
    static const char domain[] = "muster-dataset-1";
    const int64_t shape[] = {data->rows, data->cols, data->classes};
    struct hasher hasher;

    CHECK(chunkset_full(&data->present));
    hasher_init(&hasher);
    hasher_add(&hasher, domain, sizeof domain);
    hasher_add_i64(&hasher, shape, 3);
    hasher_add_f64(&hasher, data->label, 2);
    hasher_add_f64(&hasher, data->y, data->rows);
    for (uint32_t row = 0; row < data->rows; row++)
        hasher_add(&hasher, data->x + (size_t)row * data->stride,
                   data->cols * sizeof *data->x);
    return hasher_end(&hasher);
}

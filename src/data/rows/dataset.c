/*
 * dataset.c - the rows of a job in memory and their cut into chunks, with the
 * digest that names them.  Padding is not hashed: its width is the kernels'
 * affair.
 */
#include "data/rows/dataset.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "os/run/pages.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "chunks are shipped and hashed as they lie in memory: little-endian only"
#endif

enum {
    CHUNK_ROWS_LEAST = 256,
    CHUNKS_WANTED = 4096,
    CHUNK_ROWS_STEP = 8,
    DIGEST_ROWS = 4096, /* Rows hashed in one piece, ... */
    DIGEST_PIECES = 64, /* ... and pieces at a time. */
};

uint32_t dataset_default_chunk_rows(uint32_t rows)
{
    const uint32_t even = rows / CHUNKS_WANTED + (rows % CHUNKS_WANTED != 0);
    const uint32_t wanted = even < CHUNK_ROWS_LEAST ? CHUNK_ROWS_LEAST : even;

    return (wanted + CHUNK_ROWS_STEP - 1) / CHUNK_ROWS_STEP * CHUNK_ROWS_STEP;
}

enum err dataset_cut(struct dataset *data, uint32_t chunk_rows)
{
    const uint32_t chunks =
        data->rows / chunk_rows + (data->rows % chunk_rows != 0);
    struct chunkset present;
    enum err err;

    CHECK(data->cut == NULL && chunkset_full(&data->present));
    err = chunkset_init(&present, chunks);
    if (err != ERR_OK)
        return err;
    chunkset_fill(&present);
    chunkset_close(&data->present);
    data->present = present;
    data->chunk_rows = chunk_rows;
    return ERR_OK;
}

bool dataset_is_sparse(const struct dataset *data)
{
    return storage_is_sparse(data->storage);
}

static size_t row_bytes(const struct dataset *data)
{
    return storage_row_bytes(data->storage, data->stride);
}

static enum err new_folds(struct dataset *data,
                          const struct dataset_shape *shape)
{
    if (!shape->folded)
        return ERR_OK;
    data->without = shape->without;
    data->fold = pages_new(data->rows, sizeof *data->fold);
    if (shape->weighted)
        data->given = pages_new(data->rows, sizeof *data->given);
    return data->fold == NULL || (shape->weighted && data->given == NULL)
               ? ERR_NOMEM
               : ERR_OK;
}

static enum err new_arrays(struct dataset *data,
                           const struct dataset_shape *shape)
{
    const bool weighted = shape->weighted || shape->folded;
    const uint64_t rows = data->rows;

    data->y = pages_new(rows, sizeof *data->y);
    data->label = mem_new(2, sizeof *data->label);
    if (data->y == NULL || data->label == NULL)
        return ERR_NOMEM;
    if (new_folds(data, shape) != ERR_OK ||
        (weighted && dataset_add_weights(data) != ERR_OK))
        return ERR_NOMEM;
    if (!dataset_is_sparse(data)) {
        data->x = pages_new(rows, row_bytes(data));
        return data->x == NULL ? ERR_NOMEM : ERR_OK;
    }
    data->begin = pages_new(rows + 1, sizeof *data->begin);
    data->column = pages_new(data->entries, sizeof *data->column);
    if (data->storage == STORAGE_CSR)
        data->value = pages_new(data->entries, sizeof *data->value);
    return data->begin == NULL || data->column == NULL ||
                   (data->storage == STORAGE_CSR && data->value == NULL)
               ? ERR_NOMEM
               : ERR_OK;
}

static enum err check_shape(const struct dataset_shape *shape)
{
    const uint64_t stride = ((uint64_t)shape->cols + KERNEL_LANES - 1) /
                            KERNEL_LANES * KERNEL_LANES;

    if (shape->rows == 0 || shape->cols == 0 || shape->chunk_rows == 0 ||
        (uint32_t)shape->storage >= STORAGES)
        return ERR_SHAPE;
    if (shape->rows > DATA_ROWS_MAX || shape->cols > DATA_COLS_MAX)
        return ERR_TOOBIG;
    if (storage_is_sparse(shape->storage))
        return shape->entries > DATA_BYTES_MAX / 8 ||
                       shape->entries > (uint64_t)shape->rows * shape->cols
                   ? ERR_TOOBIG
                   : ERR_OK;
    return shape->rows > DATA_BYTES_MAX /
                             storage_row_bytes(shape->storage, (uint32_t)stride)
               ? ERR_TOOBIG
               : ERR_OK;
}

enum err dataset_init_shape(struct dataset *data,
                            const struct dataset_shape *shape)
{
    struct dataset made = {
        .storage = shape->storage,
        .rows = shape->rows,
        .cols = shape->cols,
        .chunk_rows = shape->chunk_rows,
        .image = shape->image,
    };
    enum err err = check_shape(shape);

    if (err != ERR_OK)
        return err;
    made.stride =
        (shape->cols + KERNEL_LANES - 1) / KERNEL_LANES * KERNEL_LANES;
    if (dataset_is_sparse(&made))
        made.entries = shape->entries;
    err = chunkset_init(&made.present, dataset_chunks(&made));
    if (err != ERR_OK)
        return err;
    err = new_arrays(&made, shape);
    if (err != ERR_OK) {
        dataset_close(&made);
        return err;
    }
    *data = made;
    return ERR_OK;
}

enum err dataset_init(struct dataset *data, uint32_t rows, uint32_t cols,
                      uint32_t chunk_rows)
{
    const struct dataset_shape shape = {
        .storage = STORAGE_F32,
        .rows = rows,
        .cols = cols,
        .chunk_rows = chunk_rows,
    };

    return dataset_init_shape(data, &shape);
}

static uint32_t chunks_of(uint32_t rows, uint32_t chunk_rows)
{
    return rows / chunk_rows + (rows % chunk_rows != 0);
}

/* Whole chunks for each file; the cut ends with the number of rows. */
static void cut_files(struct dataset *data, const uint32_t *rows,
                      uint32_t count)
{
    uint32_t first = 0;
    uint32_t chunk = 0;

    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t row = 0; row < rows[i]; row += data->chunk_rows)
            data->cut[chunk++] = first + row;
        first += rows[i];
    }
    data->cut[chunk] = first;
}

enum err dataset_init_hollow(struct dataset *data, const uint32_t *rows,
                             uint32_t count, uint32_t cols, uint32_t chunk_rows)
{
    struct dataset made = {.cols = cols, .chunk_rows = chunk_rows};
    uint64_t total = 0;
    uint64_t chunks = 0;
    enum err err;

    for (uint32_t i = 0; i < count; i++) {
        total += rows[i];
        chunks += chunks_of(rows[i], chunk_rows);
    }
    if (total > DATA_ROWS_MAX || cols > DATA_COLS_MAX || chunks > CHUNKS_MAX)
        return ERR_TOOBIG;
    made.rows = (uint32_t)total;
    made.stride = (cols + KERNEL_LANES - 1) / KERNEL_LANES * KERNEL_LANES;
    made.cut = mem_new(chunks + 1, sizeof *made.cut);
    err = chunkset_init(&made.present, (uint32_t)chunks);
    if (err == ERR_OK && made.cut != NULL)
        err = dataset_set_labels(&made, NULL, 0);
    if (err != ERR_OK || made.cut == NULL) {
        dataset_close(&made);
        return err != ERR_OK ? err : ERR_NOMEM;
    }
    cut_files(&made, rows, count);
    *data = made;
    return ERR_OK;
}

struct dataset_shape dataset_shape(const struct dataset *data)
{
    return (struct dataset_shape){
        .storage = data->storage,
        .rows = data->rows,
        .cols = data->cols,
        .chunk_rows = data->chunk_rows,
        .entries = data->entries,
        .weighted =
            data->fold != NULL ? data->given != NULL : data->weight != NULL,
        .folded = data->fold != NULL,
        .without = data->fold != NULL ? data->without : 0,
        .image = data->image,
    };
}

void dataset_leave_out(struct dataset *data, uint32_t fold)
{
    CHECK(data->fold != NULL && data->weight != NULL);
    data->without = fold;
    for (uint32_t row = 0; row < data->rows; row++) {
        const double given = data->given == NULL ? 1 : data->given[row];

        data->weight[row] = data->fold[row] == fold ? 0 : given;
    }
}

bool dataset_has_shape(const struct dataset *data,
                       const struct dataset_shape *shape)
{
    const struct dataset_shape is = dataset_shape(data);

    return is.storage == shape->storage && is.rows == shape->rows &&
           is.cols == shape->cols && is.chunk_rows == shape->chunk_rows &&
           is.entries == shape->entries && is.weighted == shape->weighted &&
           is.folded == shape->folded;
}

/* Arrays of a cached data set lie in the file's mapping. */
static void release(const struct dataset *data, void *array, uint64_t count,
                    size_t size)
{
    const uintptr_t at = (uintptr_t)array;
    const uintptr_t map = (uintptr_t)data->map;

    if (data->map == NULL || at < map || at >= map + data->map_bytes)
        pages_free(array, count, size);
}

void dataset_close(struct dataset *data)
{
    struct file_map map = {.data = data->map, .size = data->map_bytes};

    release(data, data->x, data->rows, row_bytes(data));
    release(data, data->begin, (uint64_t)data->rows + 1, sizeof *data->begin);
    release(data, data->column, data->entries, sizeof *data->column);
    release(data, data->value, data->entries, sizeof *data->value);
    release(data, data->original, data->cols, sizeof *data->original);
    release(data, data->y, data->rows, sizeof *data->y);
    release(data, data->weight, data->rows, sizeof *data->weight);
    release(data, data->fold, data->rows, sizeof *data->fold);
    release(data, data->given, data->rows, sizeof *data->given);
    mem_free(data->label);
    mem_free(data->cut);
    chunkset_close(&data->present);
    file_map_close(&map);
    *data = (struct dataset){0};
}

enum err dataset_set_labels(struct dataset *data, const double *label,
                            uint32_t count)
{
    double *made;

    CHECK(count <= CLASSES_MAX);
    made = mem_new(count < 2 ? 2 : count, sizeof *made);
    if (made == NULL)
        return ERR_NOMEM;
    if (count > 0)
        memcpy(made, label, count * sizeof *made);
    mem_free(data->label);
    data->label = made;
    data->classes = count;
    return ERR_OK;
}

enum err dataset_add_weights(struct dataset *data)
{
    if (data->weight != NULL)
        return ERR_OK;
    data->weight = pages_new(data->rows, sizeof *data->weight);
    if (data->weight == NULL)
        return ERR_NOMEM;
    for (uint32_t row = 0; row < data->rows; row++)
        data->weight[row] = 1;
    return ERR_OK;
}

uint32_t dataset_chunks(const struct dataset *data)
{
    if (data->cut != NULL)
        return data->present.count;
    return data->rows / data->chunk_rows + (data->rows % data->chunk_rows != 0);
}

uint32_t dataset_first_row(const struct dataset *data, uint32_t chunk)
{
    return data->cut != NULL ? data->cut[chunk] : chunk * data->chunk_rows;
}

uint32_t dataset_chunk_size(const struct dataset *data, uint32_t chunk)
{
    const uint64_t first = (uint64_t)chunk * data->chunk_rows;

    if (data->cut != NULL)
        return data->cut[chunk + 1] - data->cut[chunk];
    CHECK(first < data->rows);
    return data->rows - first < data->chunk_rows ? data->rows - (uint32_t)first
                                                 : data->chunk_rows;
}

void *dataset_row(const struct dataset *data, uint32_t row)
{
    return (uint8_t *)data->x + row * row_bytes(data);
}

void dataset_row_values(const struct dataset *data, uint32_t row, double *out)
{
    if (dataset_is_sparse(data)) {
        memset(out, 0, data->cols * sizeof *out);
        for (uint64_t k = data->begin[row]; k < data->begin[row + 1]; k++)
            out[data->column[k]] =
                data->value == NULL ? 1 : (double)data->value[k];
        return;
    }
    storage_unpack(data->storage, dataset_row(data, row), data->cols, out);
}

/* As the user numbers columns; those that are left out have larger numbers. */
static void sparse_floats(const struct dataset *data, uint32_t row,
                          uint32_t cols, float *out)
{
    memset(out, 0, cols * sizeof *out);
    for (uint64_t k = data->begin[row]; k < data->begin[row + 1]; k++) {
        const uint32_t inside = data->column[k];
        const uint32_t column =
            data->original == NULL ? inside : data->original[inside];

        if (column < cols)
            out[column] = data->value == NULL ? 1 : data->value[k];
    }
}

void dataset_floats(const struct dataset *data, const uint32_t *row,
                    uint32_t count, uint32_t cols, float *out)
{
    CHECK(cols <= data->cols);
    for (uint32_t i = 0; i < count; i++, out += cols) {
        if (dataset_is_sparse(data))
            sparse_floats(data, row[i], cols, out);
        else
            storage_floats(data->storage, dataset_row(data, row[i]), cols, out);
    }
}

struct dense_rows dataset_chunk(const struct dataset *data, uint32_t chunk)
{
    static const enum dense_storage forms[] = {
        [STORAGE_F32] = DENSE_F32,     [STORAGE_BF16] = DENSE_BF16,
        [STORAGE_I8] = DENSE_I8,       [STORAGE_BIT] = DENSE_BIT,
        [STORAGE_F64] = DENSE_F64,     [STORAGE_U8] = DENSE_U8,
        [STORAGE_PIXEL] = DENSE_PIXEL,
    };
    const uint32_t first = dataset_first_row(data, chunk);

    CHECK(!dataset_is_sparse(data));
    CHECK(chunkset_has(&data->present, chunk));
    return (struct dense_rows){
        .storage = forms[data->storage],
        .x = dataset_row(data, first),
        .y = data->y + first,
        .weight = data->weight == NULL ? NULL : data->weight + first,
        .rows = dataset_chunk_size(data, chunk),
        .stride = data->stride,
    };
}

struct sparse_rows dataset_sparse_chunk(const struct dataset *data,
                                        uint32_t chunk)
{
    const uint32_t first = dataset_first_row(data, chunk);

    CHECK(dataset_is_sparse(data));
    CHECK(chunkset_has(&data->present, chunk));
    return (struct sparse_rows){
        .begin = data->begin + first,
        .column = data->column,
        .value = data->value,
        .y = data->y + first,
        .weight = data->weight == NULL ? NULL : data->weight + first,
        .rows = dataset_chunk_size(data, chunk),
        .cols = data->cols,
    };
}

/* Values only, no padding: the width of the padding is the kernels' affair. */
static void hash_dense(struct hasher *hasher, const struct dataset *data,
                       uint32_t first, uint32_t end)
{
    const size_t size = data->storage == STORAGE_BIT
                            ? (data->cols + 7) / 8
                            : storage_row_bytes(data->storage, data->cols);

    for (uint32_t row = first; row < end; row++)
        hasher_add(hasher, dataset_row(data, row), size);
}

static void hash_sparse(struct hasher *hasher, const struct dataset *data,
                        uint32_t first, uint32_t end)
{
    const uint64_t start = data->begin[first];
    const size_t count = data->begin[end] - start;

    hasher_add(hasher, data->begin + first,
               ((size_t)end - first + 1) * sizeof *data->begin);
    hasher_add(hasher, data->column + start, count * sizeof *data->column);
    if (data->value != NULL)
        hasher_add(hasher, data->value + start, count * sizeof *data->value);
}

static struct digest hash_rows(const struct dataset *data, uint32_t first,
                               uint32_t end)
{
    struct hasher hasher;

    hasher_init(&hasher);
    hasher_add_f64(&hasher, data->y + first, end - first);
    if (data->weight != NULL)
        hasher_add_f64(&hasher, data->weight + first, end - first);
    if (dataset_is_sparse(data))
        hash_sparse(&hasher, data, first, end);
    else
        hash_dense(&hasher, data, first, end);
    return hasher_end(&hasher);
}

/* Rows that are hashed by themselves, and a few pieces of them at a time. */
struct hashing {
    const struct dataset *data;
    uint32_t first; /* Row of the first piece. */
    struct digest piece[DIGEST_PIECES];
};

static void hash_piece(void *context, uint32_t thread, uint32_t item)
{
    struct hashing *const hashing = context;
    const uint32_t first = hashing->first + item * DIGEST_ROWS;
    const uint32_t left = hashing->data->rows - first;

    (void)thread;
    hashing->piece[item] =
        hash_rows(hashing->data, first,
                  first + (left < DIGEST_ROWS ? left : DIGEST_ROWS));
}

static void hash_pieces(const struct dataset *data, struct pool *pool,
                        struct hasher *hasher)
{
    struct hashing hashing = {.data = data};
    uint32_t left = (data->rows + DIGEST_ROWS - 1) / DIGEST_ROWS;

    while (left > 0) {
        const uint32_t count = left < DIGEST_PIECES ? left : DIGEST_PIECES;

        pool->run(pool, hash_piece, &hashing, count);
        for (uint32_t i = 0; i < count; i++)
            hasher_add(hasher, hashing.piece[i].bytes,
                       sizeof hashing.piece[i].bytes);
        hashing.first += count * DIGEST_ROWS;
        left -= count;
    }
}

static struct digest digest_by(const struct dataset *data, struct pool *pool)
{
    static const char domain[] = "muster-dataset-2";
    const int64_t shape[] = {data->rows,           data->cols,
                             data->classes,        (int64_t)data->storage,
                             data->weight != NULL, data->original != NULL};
    struct hasher hasher;

    if (data->digest_known)
        return data->digest;
    CHECK(chunkset_full(&data->present));
    hasher_init(&hasher);
    hasher_add(&hasher, domain, sizeof domain);
    hasher_add_i64(&hasher, shape, sizeof shape / sizeof *shape);
    hasher_add_f64(&hasher, data->label, data->classes);
    if (data->original != NULL)
        hasher_add(&hasher, data->original,
                   data->cols * sizeof *data->original);
    hash_pieces(data, pool, &hasher);
    return hasher_end(&hasher);
}

struct digest dataset_digest(const struct dataset *data)
{
    return digest_by(data, pool_serial());
}

void dataset_know(struct dataset *data, struct pool *pool)
{
    data->digest = digest_by(data, pool);
    data->digest_known = true;
}

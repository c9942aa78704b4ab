/*
 * stage.c - a staging area of packed blocks.  Readers of unknown length hand
 * over blocks; each is given back as its rows move to the data set, so that the
 * rows are in memory once.
 */
#include "data/rows/stage.h"

#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "data/rows/renumber.h"
#include "os/run/pages.h"

static uint32_t padded(uint64_t cols)
{
    return (uint32_t)((cols + KERNEL_LANES - 1) / KERNEL_LANES * KERNEL_LANES);
}

static uint64_t row_bytes(const struct block *block)
{
    return storage_row_bytes(block->storage, padded(block->census.cols));
}

void block_close(struct block *block)
{
    const uint64_t rows = block->census.rows;

    pages_free(block->label, rows, sizeof *block->label);
    pages_free(block->weight, rows, sizeof *block->weight);
    pages_free(block->x, rows, row_bytes(block));
    pages_free(block->begin, rows + 1, sizeof *block->begin);
    pages_free(block->column, block->entries, sizeof *block->column);
    pages_free(block->value, block->entries, sizeof *block->value);
    *block = (struct block){0};
}

/* How far fp32 is from `value`, as a share of it.  Divides only where the
 * error grows, which is rare. */
static void count_rounded(double value, struct census *census)
{
    const double error = fabs((double)(float)value - value);

    census->rounded++;
    if (error > census->error * fabs(value))
        census->error = error / fabs(value);
}

/* What is kept of a value: unless fp64 was asked for, its fp32. */
static double kept_of(const struct sparse *rows, size_t k)
{
    const double read = rows->value[k];

    return rows->wide ? read : (double)(float)read;
}

static struct census take_census(const struct sparse *rows)
{
    const size_t entries = sparse_entries(rows);
    const uint32_t least = rows->wide ? 0 : VALUES_F32; /* Nothing to lose. */
    struct census census = {
        .rows = rows->rows, .cols = rows->cols, .fits = VALUES_ALL};

    for (size_t k = 0; k < entries; k++) {
        const double read = rows->value[k];
        const double value = kept_of(rows, k);

        if (value != read)
            count_rounded(read, &census);
        census.nonzero += value != 0;
        /* 1 fits everything, and is most of many. */
        if (census.fits != least && value != 1)
            census.fits &= value_fits(value);
    }
    return census;
}

static enum err new_arrays(struct block *block, bool weighted)
{
    const uint64_t rows = block->census.rows;

    block->label = pages_new(rows, sizeof *block->label);
    if (weighted)
        block->weight = pages_new(rows, sizeof *block->weight);
    if (block->label == NULL || (weighted && block->weight == NULL))
        return ERR_NOMEM;
    if (!storage_is_sparse(block->storage)) {
        block->x = pages_new(rows, row_bytes(block));
        return block->x == NULL ? ERR_NOMEM : ERR_OK;
    }
    block->begin = pages_new(rows + 1, sizeof *block->begin);
    block->column = pages_new(block->entries, sizeof *block->column);
    if (block->storage == STORAGE_CSR)
        block->value = pages_new(block->entries, sizeof *block->value);
    return block->begin == NULL || block->column == NULL ||
                   (block->storage == STORAGE_CSR && block->value == NULL)
               ? ERR_NOMEM
               : ERR_OK;
}

/* Here fp32 holds all values that are kept: see storage_smallest. */
static void pack_sparse(struct block *block, const struct sparse *rows)
{
    uint32_t at = 0;

    CHECK(block->begin != NULL);
    CHECK(block->column != NULL);
    for (uint32_t i = 0; i < rows->rows; i++) {
        for (size_t k = rows->start[i]; k < rows->start[i + 1]; k++) {
            const float value = (float)rows->value[k];

            if (value == 0)
                continue;
            block->column[at] = rows->index[k];
            if (block->value != NULL)
                block->value[at] = value;
            at++;
        }
        block->begin[i + 1] = at;
    }
}

static void pack_dense(struct block *block, const struct sparse *rows)
{
    const size_t stride = row_bytes(block);

    for (uint32_t i = 0; i < rows->rows; i++) {
        void *const row = (uint8_t *)block->x + i * stride;
        const size_t start = rows->start[i];
        const size_t end = rows->start[i + 1];

        if (block->storage == STORAGE_F32) {
            for (size_t k = start; k < end; k++)
                ((float *)row)[rows->index[k]] = (float)rows->value[k] + 0.0f;
            continue;
        }
        for (size_t k = start; k < end; k++)
            storage_put(block->storage, row, rows->index[k],
                        kept_of(rows, k) + 0.0);
    }
}

/* Adding +0 makes a zero of -0, which no narrow form knows: one value, one
 * set of bits, whatever the form. */
enum err block_pack(struct block *block, const struct sparse *rows)
{
    struct block made = {.census = take_census(rows)};
    enum err err;

    made.storage = storage_smallest(&made.census);
    if (storage_is_sparse(made.storage))
        made.entries = made.census.nonzero;
    err = new_arrays(&made, rows->weighted);
    if (err != ERR_OK) {
        block_close(&made);
        return err;
    }
    if (rows->rows > 0)
        memcpy(made.label, rows->label, rows->rows * sizeof *made.label);
    if (rows->rows > 0 && rows->weighted)
        memcpy(made.weight, rows->weight, rows->rows * sizeof *made.weight);
    if (storage_is_sparse(made.storage))
        pack_sparse(&made, rows);
    else
        pack_dense(&made, rows);
    *block = made;
    return ERR_OK;
}

void stage_close(struct stage *stage)
{
    for (size_t i = 0; i < stage->count; i++)
        block_close(&stage->block[i]);
    mem_free(stage->block);
    *stage = (struct stage){0};
}

void stage_clear(struct stage *stage)
{
    const struct stage asked = {.wide = stage->wide, .byte = stage->byte};

    stage_close(stage);
    *stage = asked;
}

enum err stage_extend(struct stage *stage, size_t count, struct block **first)
{
    if (stage->block == NULL || stage->count + count > stage->capacity) {
        struct block *grown =
            mem_grow(stage->block, stage->count, stage->count + count,
                     sizeof *grown, &stage->capacity);

        if (grown == NULL)
            return ERR_NOMEM;
        stage->block = grown;
    }
    *first = stage->block + stage->count;
    stage->count += count;
    return ERR_OK;
}

uint64_t stage_rows(const struct stage *stage)
{
    uint64_t rows = 0;

    for (size_t i = 0; i < stage->count; i++)
        rows += stage->block[i].census.rows;
    return rows;
}

static bool has_first(const struct block *block, uint64_t i)
{
    if (storage_is_sparse(block->storage))
        return block->begin[i] < block->begin[i + 1] &&
               block->column[block->begin[i]] == 0;
    return block->census.cols > 0 &&
           storage_get(block->storage,
                       (uint8_t *)block->x + i * row_bytes(block), 0) != 0;
}

bool stage_lacks_first(const struct stage *stage)
{
    for (size_t b = 0; b < stage->count; b++) {
        for (uint64_t i = 0; i < stage->block[b].census.rows; i++) {
            if (has_first(&stage->block[b], i))
                return false;
        }
    }
    return true;
}

uint64_t stage_cols(const struct stage *stage)
{
    uint64_t cols = 0;

    for (size_t b = 0; b < stage->count; b++) {
        if (stage->block[b].census.cols > cols)
            cols = stage->block[b].census.cols;
    }
    return cols;
}

enum err stage_add(struct stage *stage, const struct sparse *rows)
{
    struct block *block;
    const enum err err = stage_extend(stage, 1, &block);

    return err == ERR_OK ? block_pack(block, rows) : err;
}

static enum err unpack_row(const struct block *block, uint32_t i,
                           struct sparse *rows)
{
    const bool sparse = storage_is_sparse(block->storage);
    const uint32_t end =
        sparse ? block->begin[i + 1] : (uint32_t)block->census.cols;
    enum err err = sparse_add_row(rows, block->label[i]);

    for (uint32_t k = sparse ? block->begin[i] : 0; err == ERR_OK && k < end;
         k++) {
        const double value =
            sparse ? (block->value == NULL ? 1 : (double)block->value[k])
                   : storage_get(block->storage,
                                 (uint8_t *)block->x + i * row_bytes(block), k);

        if (value != 0)
            err = sparse_add(rows, sparse ? block->column[k] : k, value);
    }
    if (err == ERR_OK && block->weight != NULL)
        rows->weight[rows->rows - 1] = block->weight[i];
    return err;
}

enum err stage_unpack(const struct stage *stage, struct sparse *rows)
{
    struct sparse made = {.wide = stage->wide};

    for (size_t b = 0; b < stage->count; b++) {
        const struct block *const block = &stage->block[b];

        for (uint32_t i = 0; i < block->census.rows; i++) {
            const enum err err = unpack_row(block, i, &made);

            if (err != ERR_OK) {
                sparse_close(&made);
                return err;
            }
        }
        made.weighted |= block->weight != NULL;
        if (block->census.cols > made.cols)
            made.cols = (uint32_t)block->census.cols;
    }
    *rows = made;
    return ERR_OK;
}

/* Blocks on their way into the data set; all but `scratch` is read-only while
 * threads work. */
struct build {
    struct stage *stage;
    const struct stage_options *options;
    struct census census;
    uint32_t features; /* Columns less the intercept. */
    uint32_t *row;     /* First row of each block. */
    uint64_t *entry;   /* First entry of each block, and the end. */
    double *scratch;   /* stride for each thread: a dense row. */
    struct dataset *data;
};

static struct census total_census(const struct stage *stage)
{
    struct census total = {.fits = VALUES_ALL};

    for (size_t i = 0; i < stage->count; i++) {
        const struct census *one = &stage->block[i].census;

        total.rows += one->rows;
        total.nonzero += one->nonzero;
        total.fits &= one->fits;
        total.rounded += one->rounded;
        total.error = one->error > total.error ? one->error : total.error;
        if (one->cols > total.cols)
            total.cols = one->cols;
    }
    return total;
}

/* At most cols_max columns with the intercept, at least cols_min. */
static uint64_t final_cols(const struct census *census,
                           const struct stage_options *options)
{
    uint64_t cols = census->cols + (options->intercept ? 1 : 0);

    if (options->cols_max != 0 && cols > options->cols_max)
        cols = options->cols_max;
    return cols < options->cols_min ? options->cols_min : cols;
}

static enum err say_does_not_hold(enum storage storage, struct why *why)
{
    static const char *const what[STORAGES] = {
        [STORAGE_BF16] = "values that 8 significant bits hold",
        [STORAGE_I8] = "whole numbers from -128 to 127",
        [STORAGE_U8] = "whole numbers from 0 to 255",
        [STORAGE_PIXEL] = "multiples of 1/255 from 0 to 1, as fp32",
        [STORAGE_BIT] = "values 0 and 1",
        [STORAGE_INDEX] = "values 0 and 1",
    };

    return why_set(why, ERR_RANGE,
                   "storage %s is for %s, and there are others here; leave "
                   "the choice to the program",
                   storage_name(storage), what[storage]);
}

enum err stage_storage(const struct stage_options *options,
                       const struct census *census, enum storage *storage,
                       struct why *why)
{
    *storage = options->choose ? storage_choose(census) : options->storage;
    if (options->like != NULL && options->choose) {
        const bool sparse = dataset_is_sparse(options->like);

        if (sparse)
            *storage =
                census->fits & VALUES_ZERO_ONE ? STORAGE_INDEX : STORAGE_CSR;
        else if (options->like->storage == STORAGE_F64)
            *storage = STORAGE_F64;
        else if (storage_is_sparse(*storage))
            *storage = STORAGE_F32;
    }
    return storage_holds(*storage, census) ? ERR_OK
                                           : say_does_not_hold(*storage, why);
}

/* Entries of a block that lie in the features that are kept. */
static uint64_t kept_entries(const struct build *build,
                             const struct block *block)
{
    uint64_t kept = 0;

    if (block->census.cols <= build->features)
        return block->census.nonzero;
    if (storage_is_sparse(block->storage)) {
        for (uint64_t k = 0; k < block->entries; k++)
            kept += block->column[k] < build->features;
        return kept;
    }
    for (uint64_t i = 0; i < block->census.rows; i++) {
        const void *row = (uint8_t *)block->x + i * row_bytes(block);

        for (uint32_t j = 0; j < build->features; j++)
            kept += storage_get(block->storage, row, j) != 0;
    }
    return kept;
}

static void place_blocks(struct build *build, bool sparse)
{
    const uint64_t own = build->options->intercept ? 1 : 0;

    for (size_t i = 0; i < build->stage->count; i++) {
        const struct block *block = &build->stage->block[i];
        const uint64_t rows = block->census.rows;

        build->row[i + 1] = build->row[i] + (uint32_t)rows;
        build->entry[i + 1] = build->entry[i];
        if (sparse)
            build->entry[i + 1] += kept_entries(build, block) + rows * own;
    }
}

static void fill_sparse_row(const struct build *build,
                            const struct block *block, uint32_t i,
                            uint64_t *entry)
{
    struct dataset *const data = build->data;
    const bool sparse = storage_is_sparse(block->storage);
    const uint32_t cols = (uint32_t)block->census.cols;
    const uint32_t first = sparse ? block->begin[i] : 0;
    const uint32_t end = sparse ? block->begin[i + 1] : cols;
    const void *row =
        sparse ? NULL : (uint8_t *)block->x + i * row_bytes(block);
    uint64_t at = *entry;

    for (uint32_t k = first; k < end; k++) {
        const uint32_t column = sparse ? block->column[k] : k;
        const double value = !sparse ? storage_get(block->storage, row, k)
                             : block->value == NULL ? 1
                                                    : (double)block->value[k];

        if (column >= build->features || value == 0)
            continue;
        data->column[at] = column;
        if (data->value != NULL)
            data->value[at] = (float)value;
        at++;
    }
    if (build->options->intercept) {
        data->column[at] = data->cols - 1;
        if (data->value != NULL)
            data->value[at] = 1;
        at++;
    }
    *entry = at;
}

static void unpack_features(const struct block *block, uint32_t i,
                            uint32_t cols, double *out)
{
    if (!storage_is_sparse(block->storage)) {
        storage_unpack(block->storage,
                       (uint8_t *)block->x + i * row_bytes(block), cols, out);
        return;
    }
    for (uint32_t k = block->begin[i]; k < block->begin[i + 1]; k++) {
        if (block->column[k] < cols)
            out[block->column[k]] =
                block->value == NULL ? 1 : (double)block->value[k];
    }
}

static void fill_dense_row(const struct build *build, const struct block *block,
                           uint32_t i, uint32_t to, double *scratch)
{
    struct dataset *const data = build->data;
    void *const row = dataset_row(data, to); /* Fresh: zeros. */
    const uint32_t cols = block->census.cols < build->features
                              ? (uint32_t)block->census.cols
                              : build->features;

    if (block->storage == data->storage && data->storage != STORAGE_BIT) {
        memcpy(row, (uint8_t *)block->x + i * row_bytes(block),
               storage_row_bytes(data->storage, cols));
    } else {
        memset(scratch, 0, data->stride * sizeof *scratch);
        unpack_features(block, i, cols, scratch);
        storage_pack(data->storage, scratch, data->stride, row);
    }
    if (build->options->intercept)
        storage_put(data->storage, row, data->cols - 1, 1);
}

static void fill_block(void *context, uint32_t thread, uint32_t item)
{
    struct build *const build = context;
    struct dataset *const data = build->data;
    struct block *const block = &build->stage->block[item];
    double *const scratch = build->scratch + (size_t)thread * data->stride;
    uint64_t entry = build->entry[item];

    for (uint32_t i = 0; i < block->census.rows; i++) {
        const uint32_t row = build->row[item] + i;

        data->y[row] = block->label[i];
        if (block->weight != NULL)
            data->weight[row] = block->weight[i];
        if (dataset_is_sparse(data)) {
            fill_sparse_row(build, block, i, &entry);
            data->begin[row + 1] = entry;
        } else {
            fill_dense_row(build, block, i, row, scratch);
        }
    }
    CHECK(entry == build->entry[item + 1] || !dataset_is_sparse(data));
    block_close(block);
}

static enum err check_counts(const struct build *build, uint64_t cols,
                             struct why *why)
{
    if (build->census.rows == 0)
        return why_set(why, ERR_SHAPE, "no rows");
    if (build->census.rows > DATA_ROWS_MAX)
        return why_set(why, ERR_TOOBIG, "more than %u rows", DATA_ROWS_MAX);
    if (cols == 0)
        return why_set(why, ERR_SHAPE,
                       "no features in any row; nothing to learn from");
    if (cols > DATA_COLS_MAX)
        return why_set(why, ERR_TOOBIG, "more than %u columns", DATA_COLS_MAX);
    return ERR_OK;
}

static enum err say_init(enum err err, const struct dataset_shape *shape,
                         struct why *why)
{
    if (err == ERR_TOOBIG &&
        dataset_default_chunk_rows(shape->rows) <= shape->chunk_rows)
        return why_set(why, err,
                       "%u rows of %u columns as %s are more than the %.0f "
                       "GiB that are supported",
                       shape->rows, shape->cols, storage_name(shape->storage),
                       (double)DATA_BYTES_MAX / 0x1p30);
    return why_set(why, err, "%u rows of %u columns in chunks of %u: %s",
                   shape->rows, shape->cols, shape->chunk_rows, err_text(err));
}

static enum err make_room(struct build *build, struct pool *pool,
                          struct dataset_shape *shape, struct why *why)
{
    const size_t count = build->stage->count;
    enum err err;

    build->row = mem_new(count + 1, sizeof *build->row);
    build->entry = mem_new(count + 1, sizeof *build->entry);
    if (build->row == NULL || build->entry == NULL)
        return why_set(why, ERR_NOMEM, "out of memory");
    place_blocks(build, storage_is_sparse(shape->storage));
    shape->entries = build->entry[count];
    err = dataset_init_shape(build->data, shape);
    if (err != ERR_OK)
        return say_init(err, shape, why);
    build->scratch =
        mem_new(pool->threads, build->data->stride * sizeof *build->scratch);
    if (build->scratch == NULL)
        return why_set(why, ERR_NOMEM, "out of memory");
    return ERR_OK;
}

static enum err build_data(struct build *build, struct pool *pool,
                           struct why *why)
{
    const struct stage_options *options = build->options;
    const uint64_t cols = final_cols(&build->census, options);
    struct dataset_shape shape = {.cols = (uint32_t)cols,
                                  .image = build->stage->image};
    enum err err = check_counts(build, cols, why);

    build->census.cols = cols;
    if (err == ERR_OK)
        err = stage_storage(options, &build->census, &shape.storage, why);
    if (err != ERR_OK)
        return err;
    shape.rows = (uint32_t)build->census.rows;
    shape.chunk_rows = options->chunk_rows != 0
                           ? options->chunk_rows
                           : dataset_default_chunk_rows(shape.rows);
    shape.weighted = build->stage->block[0].weight != NULL; /* All or none. */
    build->features = shape.cols - (options->intercept ? 1 : 0);
    err = make_room(build, pool, &shape, why);
    if (err != ERR_OK)
        return err;
    pool->run(pool, fill_block, build, (uint32_t)build->stage->count);
    chunkset_fill(&build->data->present);
    build->data->rounded = build->census.rounded;
    build->data->rounding = build->census.error;
    if (!dataset_is_sparse(build->data))
        return ERR_OK;
    err =
        renumber_columns(build->data, options->like, options->intercept, pool);
    return err == ERR_OK ? ERR_OK : why_set(why, err, "%s", err_text(err));
}

enum err stage_build(struct stage *stage, const struct stage_options *options,
                     struct pool *pool, struct dataset *data, struct why *why)
{
    struct dataset made = {0};
    struct build build = {.stage = stage, .options = options, .data = &made};
    enum err err;

    build.census = total_census(stage);
    if (options->intercept)
        build.census.nonzero += build.census.rows;
    err = build_data(&build, pool, why);
    mem_free(build.row);
    mem_free(build.entry);
    mem_free(build.scratch);
    stage_close(stage);
    if (err != ERR_OK) {
        dataset_close(&made);
        return err;
    }
    *data = made;
    return ERR_OK;
}

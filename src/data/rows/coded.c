/*
 * coded.c - blocks of coded data (MDS): linear combinations of row ranges in
 * fp64, made here or received in strips, and their products with a vector.
 */
#include "data/rows/coded.h"

#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/check.h"
#include "base/flag.h"
#include "base/mem.h"
#include "math/vec.h"

/* Doubles of a product between two looks at `cancel`. */
#define TILE_DOUBLES 65536u

struct block_shape coded_shape(const struct dataset *data, uint32_t parts)
{
    return (struct block_shape){.rows = data->rows,
                                .cols = data->cols,
                                .chunk_rows = data->chunk_rows,
                                .chunks = dataset_chunks(data),
                                .parts = parts};
}

static uint64_t tall_doubles(const struct block_shape *shape)
{
    return (uint64_t)block_rows(shape) * block_pad(shape->cols);
}

static uint64_t wide_doubles(const struct block_shape *shape)
{
    return (uint64_t)block_cols(shape) * block_pad(shape->rows);
}

uint64_t coded_bytes(const struct block_shape *shape)
{
    return (tall_doubles(shape) + wide_doubles(shape)) * sizeof(double);
}

enum err coded_init(struct coded *coded, const struct block_shape *shape,
                    const struct block_term *terms, uint32_t count)
{
    struct coded made = {.shape = *shape, .count = count};

    CHECK(shape->parts >= 1 && shape->parts <= shape->chunks);
    if (coded_bytes(shape) > CODED_BYTES_MAX)
        return ERR_TOOBIG;
    made.terms = mem_new(count, sizeof *made.terms);
    made.tall = mem_new(tall_doubles(shape), sizeof *made.tall);
    made.wide = mem_new(wide_doubles(shape), sizeof *made.wide);
    made.has = mem_new((size_t)2 * shape->chunks, sizeof *made.has);
    if (made.terms == NULL || made.tall == NULL || made.wide == NULL ||
        made.has == NULL) {
        coded_close(&made);
        return ERR_NOMEM;
    }
    memcpy(made.terms, terms, count * sizeof *terms);
    *coded = made;
    return ERR_OK;
}

void coded_close(struct coded *coded)
{
    mem_free(coded->terms);
    mem_free(coded->tall);
    mem_free(coded->wide);
    mem_free(coded->has);
    *coded = (struct coded){0};
}

/* --- strips -------------------------------------------------------------- */

/* A strip as a matrix of its own, row-major. */
struct tile {
    uint32_t rows, cols;
};

static uint32_t chunk_size(const struct block_shape *shape, uint32_t chunk)
{
    return block_first_row(shape, chunk + 1) - block_first_row(shape, chunk);
}

static struct tile tile_of(const struct block_shape *shape, uint32_t strip)
{
    uint32_t left;

    CHECK(strip < 2 * shape->chunks);
    if (strip >= shape->chunks)
        return (struct tile){block_cols(shape),
                             chunk_size(shape, strip - shape->chunks)};
    CHECK(strip < block_chunks(shape));
    left = block_rows(shape) - block_first_row(shape, strip);
    return (struct tile){left < shape->chunk_rows ? left : shape->chunk_rows,
                         block_pad(shape->cols)};
}

static size_t tile_doubles(struct tile tile)
{
    return (size_t)tile.rows * tile.cols;
}

size_t coded_strip_bytes(const struct block_shape *shape, uint32_t strip)
{
    return tile_doubles(tile_of(shape, strip)) * sizeof(double);
}

/* The first strip of each matrix is as large as any other. */
size_t coded_strip_bytes_max(const struct block_shape *shape)
{
    const size_t tall = coded_strip_bytes(shape, 0);
    const size_t wide = coded_strip_bytes(shape, shape->chunks);

    return tall > wide ? tall : wide;
}

/* Rows of chunk `strip` of every part that is so long. */
static void add_tall(const struct dataset *data,
                     const struct block_shape *shape,
                     const struct block_term *term, uint32_t strip, double *row,
                     double *tile)
{
    const uint32_t stride = block_pad(shape->cols);
    const uint32_t chunk = term->first + strip;

    for (uint32_t i = 0; chunk < term->end && i < chunk_size(shape, chunk);
         i++) {
        dataset_row_values(data, block_first_row(shape, chunk) + i, row);
        for (uint32_t j = 0; j < shape->cols; j++)
            tile[(size_t)i * stride + j] += term->factor * row[j];
    }
}

static void add_wide(const struct block_shape *shape,
                     const struct block_term *term, const double *row,
                     size_t stride, double *column)
{
    const uint32_t first = block_first_col(shape, term->part);
    const uint32_t end = block_first_col(shape, term->part + 1);

    for (uint32_t j = first; j < end; j++)
        column[(j - first) * stride] += term->factor * row[j];
}

/* `tile` is zero. */
static void make_tile(const struct dataset *data,
                      const struct block_shape *shape,
                      const struct block_term *terms, uint32_t count,
                      uint32_t strip, double *row, double *tile)
{
    const uint32_t chunk = strip - shape->chunks;
    uint32_t size;

    if (strip < shape->chunks) {
        for (uint32_t k = 0; k < count; k++)
            add_tall(data, shape, &terms[k], strip, row, tile);
        return;
    }
    size = chunk_size(shape, chunk);
    for (uint32_t i = 0; i < size; i++) {
        dataset_row_values(data, block_first_row(shape, chunk) + i, row);
        for (uint32_t k = 0; k < count; k++)
            add_wide(shape, &terms[k], row, size, tile + i);
    }
}

static void place_tile(struct coded *coded, uint32_t strip, const double *from)
{
    const struct block_shape *shape = &coded->shape;
    const struct tile tile = tile_of(shape, strip);
    const size_t stride = block_pad(shape->rows);

    if (strip < shape->chunks) {
        memcpy(coded->tall + (size_t)block_first_row(shape, strip) * tile.cols,
               from, tile_doubles(tile) * sizeof *from);
    } else {
        double *to =
            coded->wide + block_first_row(shape, strip - shape->chunks);

        for (uint32_t i = 0; i < tile.rows; i++)
            memcpy(to + i * stride, from + (size_t)i * tile.cols,
                   tile.cols * sizeof *from);
    }
    coded->has[strip] = 1;
}

enum err coded_strip_encode(const struct dataset *data,
                            const struct block_shape *shape,
                            const struct block_term *terms, uint32_t count,
                            uint32_t strip, uint8_t *out)
{
    const size_t doubles = tile_doubles(tile_of(shape, strip));
    struct writer writer = writer_on(out, doubles * sizeof(double));
    double *tile = mem_new(doubles, sizeof *tile);
    double *row = mem_new(shape->cols, sizeof *row);
    const enum err err = tile == NULL || row == NULL ? ERR_NOMEM : ERR_OK;

    if (err == ERR_OK)
        make_tile(data, shape, terms, count, strip, row, tile);
    for (size_t i = 0; err == ERR_OK && i < doubles; i++)
        put_f64(&writer, tile[i]);
    CHECK(writer.ok);
    mem_free(tile);
    mem_free(row);
    return err;
}

enum err coded_strip_store(struct coded *coded, uint32_t strip,
                           const uint8_t *in, size_t size)
{
    struct reader reader = reader_on(in, size);
    size_t doubles;
    double *tile;
    enum err err = ERR_OK;

    if (size != coded_strip_bytes(&coded->shape, strip))
        return ERR_FORMAT;
    doubles = size / sizeof *tile;
    tile = mem_new(doubles, sizeof *tile);
    if (tile == NULL)
        return ERR_NOMEM;
    for (size_t i = 0; i < doubles; i++) {
        tile[i] = get_f64(&reader);
        if (!isfinite(tile[i]))
            err = ERR_FORMAT;
    }
    if (err == ERR_OK)
        place_tile(coded, strip, tile);
    mem_free(tile);
    return err;
}

/* --- with threads -------------------------------------------------------- */

struct filling {
    struct coded *coded;
    const struct dataset *data;
    const struct flag *cancel;
};

static bool raised(const struct flag *cancel)
{
    return cancel != NULL && flag_raised(cancel);
}

/* Items are strips, those between the two matrices left out.  What fails is
 * not there afterwards. */
static void fill_one(void *context, uint32_t thread, uint32_t item)
{
    const struct filling *filling = context;
    struct coded *coded = filling->coded;
    const struct block_shape *shape = &coded->shape;
    const uint32_t strip = item < block_chunks(shape)
                               ? item
                               : item - block_chunks(shape) + shape->chunks;
    double *tile;
    double *row;

    (void)thread;
    if (coded->has[strip] || raised(filling->cancel))
        return;
    tile = mem_new(tile_doubles(tile_of(shape, strip)), sizeof *tile);
    row = mem_new(shape->cols, sizeof *row);
    if (tile != NULL && row != NULL) {
        make_tile(filling->data, shape, coded->terms, coded->count, strip, row,
                  tile);
        place_tile(coded, strip, tile);
    }
    mem_free(tile);
    mem_free(row);
}

static bool has_all(const struct coded *coded, enum evaluation_kind kind)
{
    const struct block_shape *shape = &coded->shape;

    for (uint32_t strip = block_strip_first(shape, kind);
         strip < block_strip_end(shape, kind); strip++) {
        if (!coded->has[strip])
            return false;
    }
    return true;
}

enum err coded_fill(struct coded *coded, const struct dataset *data,
                    struct pool *pool, const struct flag *cancel)
{
    struct filling filling = {coded, data, cancel};

    if (!has_all(coded, EVALUATE_SCORES) || !has_all(coded, EVALUATE_BACK))
        pool->run(pool, fill_one, &filling,
                  block_chunks(&coded->shape) + coded->shape.chunks);
    if (has_all(coded, EVALUATE_SCORES) && has_all(coded, EVALUATE_BACK))
        return ERR_OK;
    return raised(cancel) ? ERR_CANCELLED : ERR_NOMEM;
}

struct product {
    enum isa isa;
    const double *matrix, *in;
    double *out;
    uint32_t rows, stride;
    uint32_t rows_each; /* Of an item. */
    const struct flag *cancel;
};

static void multiply_some(void *context, uint32_t thread, uint32_t item)
{
    const struct product *product = context;
    const uint32_t first = item * product->rows_each;
    const uint32_t left = product->rows - first;
    const struct dense_rows rows = {
        .storage = DENSE_F64,
        .x = product->matrix + (size_t)first * product->stride,
        .rows = left < product->rows_each ? left : product->rows_each,
        .stride = product->stride,
    };

    (void)thread;
    if (!raised(product->cancel))
        kernel_scores(product->isa, &rows, product->in, product->out + first);
}

enum err coded_multiply(const struct coded *coded, enum evaluation_kind kind,
                        enum isa isa, const double *in, double *out,
                        struct pool *pool, const struct flag *cancel)
{
    const struct block_shape *shape = &coded->shape;
    struct product product = {
        .isa = isa,
        .matrix = kind == EVALUATE_SCORES ? coded->tall : coded->wide,
        .in = in,
        .out = out,
        .rows = block_out(shape, kind),
        .stride = block_in(shape, kind),
        .cancel = cancel,
    };

    CHECK(has_all(coded, kind));
    product.rows_each = 1 + TILE_DOUBLES / product.stride;
    pool->run(pool, multiply_some, &product,
              (product.rows + product.rows_each - 1) / product.rows_each);
    if (raised(cancel))
        return ERR_CANCELLED;
    return vec_finite(out, product.rows) ? ERR_OK : ERR_RANGE;
}

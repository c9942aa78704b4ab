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
#include "data/rows/coded_make.h"
#include "math/vec.h"

/* Doubles of a product between two looks at `cancel`. */
#define TILE_DOUBLES 65536u
/* A block of columns of COMBINE, whose sums stay in L1, and the rows of a
 * panel, at least: so many that the panels' sums are a small part of them. */
#define COMBINE_COLS 1024u
#define COMBINE_ROWS 256u

struct block_shape coded_shape(const struct dataset *data, uint32_t parts,
                               uint32_t copies)
{
    return (struct block_shape){.rows = data->rows,
                                .cols = data->cols,
                                .chunk_rows = data->chunk_rows,
                                .chunks = dataset_chunks(data),
                                .parts = parts,
                                .copies = copies};
}

static uint64_t tall_doubles(const struct block_shape *shape)
{
    return (uint64_t)block_rows(shape) * block_pad(shape->cols);
}

static uint64_t wide_doubles(const struct block_shape *shape)
{
    return shape->copies < 2
               ? 0
               : (uint64_t)block_cols(shape) * block_pad(shape->rows);
}

/* Of one number where the block is kept. */
static size_t number_bytes(const struct block_shape *shape)
{
    return shape->narrow ? sizeof(float) : sizeof(double);
}

uint64_t coded_bytes(const struct block_shape *shape)
{
    return (tall_doubles(shape) + wide_doubles(shape)) * number_bytes(shape);
}

enum err coded_init(struct coded *coded, const struct block_shape *shape,
                    const struct block_term *terms, uint32_t count)
{
    struct coded made = {.shape = *shape, .count = count};

    CHECK(shape->parts >= 1 && shape->parts <= shape->chunks);
    CHECK(shape->copies >= 1 && shape->copies <= BLOCK_COPIES_MAX);
    if (coded_bytes(shape) > CODED_BYTES_MAX)
        return ERR_TOOBIG;
    made.terms = mem_new(count, sizeof *made.terms);
    made.tall = mem_new(tall_doubles(shape), number_bytes(shape));
    made.wide = mem_new(wide_doubles(shape), number_bytes(shape));
    made.has = mem_new((size_t)shape->copies * shape->chunks, sizeof *made.has);
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

    CHECK(block_has_strip(shape, strip));
    if (strip >= shape->chunks)
        return (struct tile){block_cols(shape),
                             chunk_size(shape, strip - shape->chunks)};
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
    const size_t wide =
        shape->copies < 2 ? 0 : coded_strip_bytes(shape, shape->chunks);

    return tall > wide ? tall : wide;
}

/* Where a strip begins in its matrix. */
static void *place_of(const struct coded *coded, uint32_t strip)
{
    const struct block_shape *shape = &coded->shape;
    const size_t each = number_bytes(shape);

    return strip < shape->chunks
               ? (char *)coded->tall + (size_t)block_first_row(shape, strip) *
                                           block_pad(shape->cols) * each
               : (char *)coded->wide +
                     block_first_row(shape, strip - shape->chunks) * each;
}

static void place_narrow(const double *from, uint32_t count, float *to)
{
    for (uint32_t j = 0; j < count; j++)
        to[j] = (float)from[j];
}

static void place_tile(struct coded *coded, uint32_t strip, const double *from)
{
    const struct block_shape *shape = &coded->shape;
    const struct tile tile = tile_of(shape, strip);
    const size_t stride =
        block_pad(strip < shape->chunks ? shape->cols : shape->rows);
    void *const to = place_of(coded, strip);

    for (uint32_t i = 0; i < tile.rows; i++) {
        const double *row = from + (size_t)i * tile.cols;

        if (shape->narrow)
            place_narrow(row, tile.cols, (float *)to + i * stride);
        else
            memcpy((double *)to + i * stride, row, tile.cols * sizeof *row);
    }
    coded->has[strip] = 1;
}

enum err coded_strips_encode(const struct dataset *data,
                             const struct block_shape *shape,
                             const struct coded_strip *strips, uint32_t count,
                             uint32_t strip)
{
    const struct tile tile = tile_of(shape, strip);
    struct coded_make *makes = mem_new(count, sizeof *makes);
    enum err err;

    if (makes == NULL)
        return ERR_NOMEM;
    for (uint32_t b = 0; b < count; b++)
        makes[b] =
            (struct coded_make){strips[b].terms, strips[b].count, strips[b].to};
    err = strip < shape->chunks
              ? coded_make_tall(data, shape, makes, count, strip)
              : coded_make_wide(data, shape, makes, count,
                                strip - shape->chunks, tile.cols);
    mem_free(makes);
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
    struct coded *const *blocks;
    uint32_t count;
    const struct dataset *data;
    const struct flag *cancel;
};

static bool raised(const struct flag *cancel)
{
    return cancel != NULL && flag_raised(cancel);
}

/* The doubles that narrow blocks are rounded from. */
static enum err fill_narrow(const struct filling *filling, uint32_t strip)
{
    const struct block_shape *shape = &filling->blocks[0]->shape;
    const size_t doubles = tile_doubles(tile_of(shape, strip));
    struct coded_strip *made = mem_new(filling->count, sizeof *made);
    double *room = mem_new(doubles * filling->count, sizeof *room);
    enum err err = made == NULL || room == NULL ? ERR_NOMEM : ERR_OK;

    for (uint32_t b = 0; err == ERR_OK && b < filling->count; b++)
        made[b] =
            (struct coded_strip){filling->blocks[b]->terms,
                                 filling->blocks[b]->count, room + b * doubles};
    if (err == ERR_OK)
        err = coded_strips_encode(filling->data, shape, made, filling->count,
                                  strip);
    for (uint32_t b = 0; err == ERR_OK && b < filling->count; b++)
        place_tile(filling->blocks[b], strip, made[b].to);
    mem_free(made);
    mem_free(room);
    return err;
}

/* Items are strips of all blocks that lack them, those between the two
 * matrices left out.  What fails is not there afterwards. */
static void fill_one(void *context, uint32_t thread, uint32_t item)
{
    const struct filling *filling = context;
    const struct block_shape *shape = &filling->blocks[0]->shape;
    const bool tall = item < block_chunks(shape);
    const uint32_t strip =
        tall ? item : item - block_chunks(shape) + shape->chunks;
    struct coded_make *makes;
    uint32_t count = 0;
    enum err err = ERR_OK;

    (void)thread;
    if (raised(filling->cancel))
        return;
    if (shape->narrow) {
        (void)!fill_narrow(filling, strip);
        return;
    }
    makes = mem_new(filling->count, sizeof *makes);
    for (uint32_t b = 0; makes != NULL && b < filling->count; b++) {
        const struct coded *coded = filling->blocks[b];

        if (!coded->has[strip])
            makes[count++] = (struct coded_make){coded->terms, coded->count,
                                                 place_of(coded, strip)};
    }
    if (count > 0)
        err = tall ? coded_make_tall(filling->data, shape, makes, count, strip)
                   : coded_make_wide(filling->data, shape, makes, count,
                                     strip - shape->chunks,
                                     block_pad(shape->rows));
    for (uint32_t b = 0; count > 0 && err == ERR_OK && b < filling->count; b++)
        filling->blocks[b]->has[strip] = 1;
    mem_free(makes);
}

static bool has_strips(const struct coded *coded, struct block_strips strips)
{
    for (uint32_t strip = strips.first; strip < strips.end; strip++) {
        if (!coded->has[strip])
            return false;
    }
    return true;
}

static bool has_all(const struct coded *coded)
{
    const struct block_shape *shape = &coded->shape;

    return has_strips(coded, block_strips_all(shape, EVALUATE_SCORES)) &&
           (shape->copies < 2 ||
            has_strips(coded, block_strips_all(shape, EVALUATE_BACK)));
}

static bool all_filled(const struct filling *filling)
{
    for (uint32_t b = 0; b < filling->count; b++) {
        if (!has_all(filling->blocks[b]))
            return false;
    }
    return true;
}

enum err coded_fill_all(struct coded *const *blocks, uint32_t count,
                        const struct dataset *data, struct pool *pool,
                        const struct flag *cancel)
{
    const struct block_shape *shape = &blocks[0]->shape;
    struct filling filling = {blocks, count, data, cancel};

    if (!all_filled(&filling))
        pool->run(pool, fill_one, &filling,
                  block_chunks(shape) + (shape->copies - 1) * shape->chunks);
    if (all_filled(&filling))
        return ERR_OK;
    return raised(cancel) ? ERR_CANCELLED : ERR_NOMEM;
}

enum err coded_fill(struct coded *coded, const struct dataset *data,
                    struct pool *pool, const struct flag *cancel)
{
    return coded_fill_all(&coded, 1, data, pool, cancel);
}

/* --- products ------------------------------------------------------------ */

struct product {
    enum isa isa;
    const void *matrix; /* From the first row of the range on. */
    bool narrow;        /* Its numbers are floats. */
    const double *in;
    double *out;
    uint32_t rows, stride;
    uint32_t rows_each; /* Of an item, or of a panel of COMBINE. */
    uint32_t blocks;    /* COMBINE: of columns. */
    const struct flag *cancel;
};

static struct dense_rows some_rows(const struct product *product,
                                   uint32_t first)
{
    const uint32_t left = product->rows - first;

    return (struct dense_rows){
        .storage = product->narrow ? DENSE_F32 : DENSE_F64,
        .x = (const char *)product->matrix +
             (size_t)first * product->stride *
                 (product->narrow ? sizeof(float) : sizeof(double)),
        .rows = left < product->rows_each ? left : product->rows_each,
        .stride = product->stride,
    };
}

static uint32_t items(uint32_t count, uint32_t each)
{
    return count / each + (count % each != 0);
}

static void multiply_some(void *context, uint32_t thread, uint32_t item)
{
    const struct product *product = context;
    const uint32_t first = item * product->rows_each;
    const struct dense_rows rows = some_rows(product, first);

    (void)thread;
    if (!raised(product->cancel))
        kernel_scores(product->isa, &rows, product->in, product->out + first);
}

static uint32_t block_width(const struct product *product, uint32_t block)
{
    const uint32_t left = product->stride - block * COMBINE_COLS;

    return left < COMBINE_COLS ? left : COMBINE_COLS;
}

/* One block of columns of one panel of rows. */
static void combine_some(void *context, uint32_t thread, uint32_t item)
{
    const struct product *product = context;
    const uint32_t panel = item / product->blocks;
    const uint32_t block = item % product->blocks;
    const uint32_t first = panel * product->rows_each;
    const struct dense_rows rows = some_rows(product, first);

    (void)thread;
    if (!raised(product->cancel))
        kernel_columns(product->isa, &rows, product->in + first,
                       block * COMBINE_COLS, block_width(product, block),
                       product->out + (size_t)panel * product->stride +
                           (size_t)block * COMBINE_COLS);
}

/* The panels' sums, one panel after the other. */
static void add_panels(const struct product *product, uint32_t panels,
                       double *out)
{
    for (uint32_t panel = 0; panel < panels; panel++) {
        const double *from = product->out + (size_t)panel * product->stride;

        for (uint32_t j = 0; j < product->stride; j++)
            out[j] += from[j];
    }
}

/* Adds to `out`, which is zeros at `first`.  Panels depend on the shape alone,
 * not on who adds them up: so the sum has the same bits whatever the number of
 * threads. */
static enum err combine(struct product *product, bool first, struct pool *pool)
{
    const uint32_t fit = TILE_DOUBLES / product->stride;
    double *const out = product->out;
    uint32_t panels;

    product->rows_each = fit > COMBINE_ROWS ? fit : COMBINE_ROWS;
    product->blocks = items(product->stride, COMBINE_COLS);
    panels = items(product->rows, product->rows_each);
    if (panels > 1 || !first)
        product->out = mem_new((size_t)panels * product->stride, sizeof *out);
    if (product->out == NULL)
        return ERR_NOMEM;
    pool->run(pool, combine_some, product, panels * product->blocks);
    if (product->out != out) {
        add_panels(product, panels, out);
        mem_free(product->out);
    }
    return ERR_OK;
}

static struct block_span span_of(const struct computation *asked, uint32_t i)
{
    return asked->spans != NULL ? asked->spans[i]
                                : (struct block_span){asked->first, asked->end};
}

/* `done` numbers are there; returns in *done how many are then. */
static enum err multiply_span(const struct coded *coded,
                              const struct computation *asked,
                              struct block_span span, struct product product,
                              struct pool *pool, uint32_t *done)
{
    const struct block_shape *shape = &coded->shape;
    const enum evaluation_kind kind = asked->what.kind;
    const bool first = *done == 0;
    const void *matrix = kind == EVALUATE_BACK ? coded->wide : coded->tall;

    CHECK(span.first <= span.end && span.end <= block_range(shape, kind));
    CHECK(
        has_strips(coded, block_strips_of(shape, kind, span.first, span.end)));
    product.matrix = (const char *)matrix +
                     (size_t)span.first * product.stride * number_bytes(shape);
    product.rows = span.end - span.first;
    if (kind == EVALUATE_COMBINE) {
        product.in += span.first;
        *done = product.stride;
        return combine(&product, first, pool);
    }
    product.out += *done;
    *done += product.rows;
    pool->run(pool, multiply_some, &product,
              items(product.rows, product.rows_each));
    return ERR_OK;
}

enum err coded_multiply(const struct coded *coded,
                        const struct computation *asked, enum isa isa,
                        struct pool *pool, const struct flag *cancel)
{
    const struct block_shape *shape = &coded->shape;
    const bool back = asked->what.kind == EVALUATE_BACK;
    const uint32_t stride = block_pad(back ? shape->rows : shape->cols);
    const uint32_t spans = asked->spans != NULL ? asked->span_count : 1;
    const struct product product = {
        .isa = isa,
        .narrow = shape->narrow,
        .in = asked->what.w,
        .out = asked->vector,
        .stride = stride,
        .rows_each = 1 + TILE_DOUBLES / stride,
        .cancel = cancel,
    };
    uint32_t done = 0;
    enum err err = ERR_OK;

    CHECK(!back || shape->copies == 2);
    if (asked->what.kind == EVALUATE_COMBINE)
        memset(asked->vector, 0, stride * sizeof *asked->vector);
    for (uint32_t i = 0; i < spans && err == ERR_OK; i++) {
        if (raised(cancel))
            return ERR_CANCELLED;
        err = multiply_span(coded, asked, span_of(asked, i), product, pool,
                            &done);
    }
    if (raised(cancel))
        return ERR_CANCELLED;
    if (err != ERR_OK)
        return err;
    return vec_finite(asked->vector, done) ? ERR_OK : ERR_RANGE;
}

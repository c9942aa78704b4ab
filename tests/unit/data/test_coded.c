/*
 * Blocks of coded data against plain loops over the matrix: both products of
 * every block, shipped or made here; then, with the codes themselves, Xw and
 * X^T r from every set of answers that may end a round (O6).
 */
#include "data/rows/coded.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/flag.h"
#include "base/mem.h"
#include "base/rng.h"
#include "code/preset.h"
#include "os/run/threads.h"

enum { ROWS_MAX = 96, COLS_MAX = 24, SLOTS = 7 };

struct matrix {
    uint32_t rows, cols;
    double x[ROWS_MAX][COLS_MAX];
};

static void fill(struct dataset *data, struct matrix *matrix, uint64_t seed)
{
    matrix->rows = data->rows;
    matrix->cols = data->cols;
    chunkset_fill(&data->present);
    for (uint32_t i = 0; i < data->rows; i++) {
        float *row = dataset_row(data, i);

        for (uint32_t j = 0; j < data->cols; j++) {
            row[j] = (float)rng_normal_at(seed, i, j);
            matrix->x[i][j] = (double)row[j];
        }
    }
}

static void make(struct dataset *data, struct matrix *matrix, uint32_t rows,
                 uint32_t cols, uint32_t chunk_rows)
{
    assert_int_equal(dataset_init(data, rows, cols, chunk_rows), ERR_OK);
    fill(data, matrix, 7);
}

/* Row i of the sum of the row parts, times w; by definition. */
static double tall_ref(const struct matrix *matrix,
                       const struct block_shape *shape,
                       const struct block_term *terms, uint32_t count,
                       uint32_t i, const double *w)
{
    double total = 0;

    for (uint32_t k = 0; k < count; k++) {
        const uint32_t row = terms[k].first * shape->chunk_rows + i;

        if (row >= terms[k].end * shape->chunk_rows || row >= matrix->rows)
            continue;
        for (uint32_t j = 0; j < matrix->cols; j++)
            total += terms[k].factor * matrix->x[row][j] * w[j];
    }
    return total;
}

static double wide_ref(const struct matrix *matrix,
                       const struct block_shape *shape,
                       const struct block_term *terms, uint32_t count,
                       uint32_t j, const double *r)
{
    double total = 0;

    for (uint32_t k = 0; k < count; k++) {
        const uint32_t first = terms[k].part * shape->cols / shape->parts;
        const uint32_t end = (terms[k].part + 1) * shape->cols / shape->parts;

        for (uint32_t i = 0; first + j < end && i < matrix->rows; i++)
            total += terms[k].factor * matrix->x[i][first + j] * r[i];
    }
    return total;
}

static void near(double found, double wanted)
{
    if (!(fabs(found - wanted) <= 1e-11 * (1 + fabs(wanted))))
        fail_msg("%.17g instead of %.17g", found, wanted);
}

static void random_vector(double *v, uint32_t count, uint64_t seed)
{
    memset(v, 0, ROWS_MAX * sizeof *v);
    for (uint32_t i = 0; i < count; i++)
        v[i] = rng_normal_at(seed, i, 0);
}

/* NOLINTBEGIN(readability-non-const-parameter): written through `asked`. */
static void multiply_range(const struct coded *coded, enum evaluation_kind kind,
                           uint32_t first, uint32_t end, const double *in,
                           double *out)
{
    const struct computation asked = {
        .what = {.kind = kind, .w = in},
        .first = first,
        .end = end,
        .vector = out,
    };

    assert_int_equal(
        coded_multiply(coded, &asked, ISA_PORTABLE, pool_serial(), NULL),
        ERR_OK);
}
/* NOLINTEND(readability-non-const-parameter) */

static void multiply(const struct coded *coded, enum evaluation_kind kind,
                     const double *in, double *out)
{
    multiply_range(coded, kind, 0, block_range(&coded->shape, kind), in, out);
}

/* Two spans at once, the second first: numbers lie one behind the other, and
 * COMBINE adds them up. */
static void check_spans(const struct coded *coded, enum evaluation_kind kind,
                        uint32_t cut, const double *in, const double *whole)
{
    const uint32_t range = block_range(&coded->shape, kind);
    const struct block_span spans[] = {{cut, range}, {0, cut}};
    double out[ROWS_MAX];
    const struct computation asked = {.what = {.kind = kind, .w = in},
                                      .spans = spans,
                                      .span_count = 2,
                                      .vector = out};

    assert_int_equal(computation_numbers(&asked), range);
    assert_int_equal(
        coded_multiply(coded, &asked, ISA_PORTABLE, pool_serial(), NULL),
        ERR_OK);
    if (kind == EVALUATE_COMBINE) {
        for (uint32_t j = 0; j < block_out(&coded->shape, kind); j++)
            near(out[j], whole[j]);
        return;
    }
    assert_memory_equal(out, whole + cut, (range - cut) * sizeof *out);
    assert_memory_equal(out + range - cut, whole, cut * sizeof *out);
}

/* Ranges are parts of the whole, bit for bit, and those of COMBINE add up. */
static void check_ranges(const struct coded *coded, enum evaluation_kind kind,
                         const double *in, const double *whole)
{
    const uint32_t range = block_range(&coded->shape, kind);
    const uint32_t out = block_out(&coded->shape, kind);
    double total[ROWS_MAX] = {0};

    for (uint32_t cut = 0; cut <= range; cut++) {
        double some[2][ROWS_MAX];

        multiply_range(coded, kind, 0, cut, in, some[0]);
        multiply_range(coded, kind, cut, range, in, some[1]);
        check_spans(coded, kind, cut, in, whole);
        if (kind != EVALUATE_COMBINE) {
            assert_memory_equal(some[0], whole, cut * sizeof *whole);
            assert_memory_equal(some[1], whole + cut,
                                (range - cut) * sizeof *whole);
            continue;
        }
        for (uint32_t j = 0; j < out; j++) {
            total[j] = some[0][j] + some[1][j];
            near(total[j], whole[j]);
        }
    }
}

/* u^T times the sum of the row parts. */
static void check_combine(const struct coded *coded,
                          const struct matrix *matrix)
{
    const struct block_shape *shape = &coded->shape;
    double u[ROWS_MAX];
    double out[ROWS_MAX];

    random_vector(u, block_rows(shape), 5);
    multiply(coded, EVALUATE_COMBINE, u, out);
    for (uint32_t j = 0; j < block_pad(shape->cols); j++) {
        double unit[ROWS_MAX] = {0};
        double total = 0;

        unit[j] = 1;
        for (uint32_t i = 0; j < shape->cols && i < block_rows(shape); i++)
            total += u[i] * tall_ref(matrix, shape, coded->terms, coded->count,
                                     i, unit);
        near(out[j], total);
    }
    check_ranges(coded, EVALUATE_COMBINE, u, out);
}

static void check_products(const struct coded *coded,
                           const struct matrix *matrix)
{
    const struct block_shape *shape = &coded->shape;
    double in[ROWS_MAX];
    double out[ROWS_MAX];

    random_vector(in, shape->cols, 3);
    multiply(coded, EVALUATE_SCORES, in, out);
    for (uint32_t i = 0; i < block_rows(shape); i++)
        near(out[i],
             tall_ref(matrix, shape, coded->terms, coded->count, i, in));
    check_ranges(coded, EVALUATE_SCORES, in, out);
    check_combine(coded, matrix);
    if (shape->copies < 2)
        return;
    random_vector(in, shape->rows, 4);
    multiply(coded, EVALUATE_BACK, in, out);
    check_ranges(coded, EVALUATE_BACK, in, out);
    for (uint32_t j = 0; j < block_cols(shape); j++)
        near(out[j],
             wide_ref(matrix, shape, coded->terms, coded->count, j, in));
}

static void ship(const struct dataset *data, const struct coded *like,
                 struct coded *coded)
{
    const struct block_shape *shape = &like->shape;
    uint8_t *bytes = mem_new(coded_strip_bytes_max(shape), 1);
    const struct coded_strip made = {like->terms, like->count, bytes};

    assert_non_null(bytes);
    assert_int_equal(coded_init(coded, shape, like->terms, like->count),
                     ERR_OK);
    for (uint32_t strip = 0; strip < shape->copies * shape->chunks; strip++) {
        if (!block_has_strip(shape, strip))
            continue;
        assert_int_equal(coded_strips_encode(data, shape, &made, 1, strip),
                         ERR_OK);
        assert_int_equal(coded_strip_store(coded, strip, bytes,
                                           coded_strip_bytes(shape, strip)),
                         ERR_OK);
    }
    mem_free(bytes);
}

static struct block_term term_of(const struct block_shape *shape, uint32_t part,
                                 double factor)
{
    return (struct block_term){.part = part,
                               .first = part * shape->chunks / shape->parts,
                               .end = (part + 1) * shape->chunks / shape->parts,
                               .factor = factor};
}

/* All parts at once, and each alone: made here, shipped, by many threads. */
static void check_shape(uint32_t rows, uint32_t cols, uint32_t chunk_rows,
                        uint32_t parts, uint32_t copies)
{
    struct matrix matrix;
    struct dataset data;
    struct pool *pool;
    struct block_term terms[ROWS_MAX];

    make(&data, &matrix, rows, cols, chunk_rows);
    assert_int_equal(threads_new(3, &pool), ERR_OK);
    for (uint32_t only = 0; only <= parts; only++) {
        const struct block_shape shape = coded_shape(&data, parts, copies);
        const uint64_t tall = (uint64_t)block_rows(&shape) * data.stride;
        const uint64_t wide = coded_bytes(&shape) / sizeof(double) - tall;
        struct coded here;
        struct coded there;
        uint32_t count = 0;

        for (uint32_t part = 0; part < parts; part++) {
            if (only == part || only == parts)
                terms[count++] = term_of(
                    &shape, part, only == part ? 1 : rng_normal_at(5, part, 0));
        }
        assert_int_equal(coded_init(&here, &shape, terms, count), ERR_OK);
        assert_int_equal(coded_fill(&here, &data, pool, NULL), ERR_OK);
        check_products(&here, &matrix);
        ship(&data, &here, &there);
        assert_memory_equal(here.tall, there.tall, tall * sizeof(double));
        assert_memory_equal(here.wide, there.wide, wide * sizeof(double));
        coded_close(&here);
        coded_close(&there);
    }
    threads_free(pool);
    dataset_close(&data);
}

static void test_blocks(void **state)
{
    (void)state;
    for (uint32_t copies = 1; copies <= 2; copies++) {
        check_shape(1, 1, 8, 1, copies);
        /* Parts of 1 and 2 chunks, the last short. */
        check_shape(17, 5, 8, 2, copies);
        check_shape(96, 24, 8, 4, copies); /* Even. */
        check_shape(95, 23, 8, 5, copies); /* Nothing is. */
        check_shape(90, 3, 16, 6, copies); /* More parts than columns. */
        check_shape(33, 9, 64, 1, copies); /* One chunk. */
    }
}

/* Strips of several blocks that are shipped together, made into blocks again.
 */
static void ship_all(const struct dataset *data, struct coded *const *blocks,
                     uint32_t count)
{
    const struct block_shape *shape = &blocks[0]->shape;
    const size_t most = coded_strip_bytes_max(shape);
    struct coded_strip made[3];

    assert_true(count <= 3);
    for (uint32_t b = 0; b < count; b++) {
        made[b] = (struct coded_strip){blocks[b]->terms, blocks[b]->count,
                                       mem_new(most, 1)};
        assert_non_null(made[b].to);
    }
    for (uint32_t strip = 0; strip < shape->copies * shape->chunks; strip++) {
        if (!block_has_strip(shape, strip))
            continue;
        assert_int_equal(coded_strips_encode(data, shape, made, count, strip),
                         ERR_OK);
        for (uint32_t b = 0; b < count; b++)
            assert_int_equal(coded_strip_store(blocks[b], strip, made[b].to,
                                               coded_strip_bytes(shape, strip)),
                             ERR_OK);
    }
    for (uint32_t b = 0; b < count; b++)
        mem_free(made[b].to);
}

/* Blocks that are made together, one of a single part and one that has a strip
 * already among them, are those that are made by themselves; so are those
 * whose strips are `shipped` together. */
static void check_together(const struct dataset *data, bool shipped)
{
    const struct block_shape shape = coded_shape(data, 3, 2);
    struct coded together[3];
    struct coded alone[3];
    struct coded *blocks[3];
    struct block_term terms[3];

    for (uint32_t b = 0; b < 3; b++) {
        const uint32_t count = b == 1 ? 1 : 3;

        for (uint32_t k = 0; k < count; k++)
            terms[k] = term_of(&shape, b == 1 ? 2 : k, rng_normal_at(12, b, k));
        assert_int_equal(coded_init(&together[b], &shape, terms, count),
                         ERR_OK);
        assert_int_equal(coded_init(&alone[b], &shape, terms, count), ERR_OK);
        assert_int_equal(coded_fill(&alone[b], data, pool_serial(), NULL),
                         ERR_OK);
        blocks[b] = &together[b];
    }
    coded_close(&together[2]);
    ship(data, &alone[2], &together[2]);
    if (shipped)
        ship_all(data, blocks, 3);
    assert_int_equal(coded_fill_all(blocks, 3, data, pool_serial(), NULL),
                     ERR_OK);
    for (uint32_t b = 0; b < 3; b++) {
        assert_memory_equal(together[b].tall, alone[b].tall,
                            (size_t)block_rows(&shape) * block_pad(shape.cols) *
                                sizeof(double));
        assert_memory_equal(together[b].wide, alone[b].wide,
                            (size_t)block_cols(&shape) * block_pad(shape.rows) *
                                sizeof(double));
        coded_close(&together[b]);
        coded_close(&alone[b]);
    }
}

/* Sparse rows give the block of the same dense ones. */
static void test_sparse_rows(void **state)
{
    const struct dataset_shape sparse = {.storage = STORAGE_CSR,
                                         .rows = 40,
                                         .cols = 12,
                                         .chunk_rows = 8,
                                         .entries = 40};
    struct matrix matrix = {.rows = 40, .cols = 12};
    struct dataset data;
    struct coded coded;
    struct block_shape shape;
    struct block_term terms[3];

    (void)state;
    assert_int_equal(dataset_init_shape(&data, &sparse), ERR_OK);
    chunkset_fill(&data.present);
    for (uint32_t i = 0; i < 40; i++) {
        data.begin[i + 1] = i + 1;
        data.column[i] = 5 * i % 12;
        data.value[i] = (float)(1 + i);
        matrix.x[i][5 * i % 12] = 1 + i;
    }
    shape = coded_shape(&data, 3, 2);
    for (uint32_t part = 0; part < 3; part++)
        terms[part] = term_of(&shape, part, .5 + part);
    assert_int_equal(coded_init(&coded, &shape, terms, 3), ERR_OK);
    assert_int_equal(coded_fill(&coded, &data, pool_serial(), NULL), ERR_OK);
    check_products(&coded, &matrix);
    check_together(&data, false);
    check_together(&data, true);
    coded_close(&coded);
    dataset_close(&data);
}

/* Of every form that rows lie in. */
static void test_narrow_rows(void **state)
{
    (void)state;
    for (enum storage storage = STORAGE_F32; storage <= STORAGE_PIXEL;
         storage++) {
        const struct dataset_shape narrow = {
            .storage = storage, .rows = 61, .cols = 13, .chunk_rows = 8};
        struct matrix matrix = {.rows = 61, .cols = 13};
        struct dataset data;
        struct coded coded;
        struct block_shape shape;
        struct block_term terms[3];

        if (storage == STORAGE_INDEX || storage == STORAGE_CSR)
            continue;
        assert_int_equal(dataset_init_shape(&data, &narrow), ERR_OK);
        chunkset_fill(&data.present);
        for (uint32_t i = 0; i < 61; i++) {
            for (uint32_t j = 0; j < 13; j++)
                matrix.x[i][j] = rng_unit_at(8, i, j) < .5;
            storage_pack(storage, matrix.x[i], 13, dataset_row(&data, i));
        }
        shape = coded_shape(&data, 3, 2);
        for (uint32_t part = 0; part < 3; part++)
            terms[part] = term_of(&shape, part, .5 + part);
        assert_int_equal(coded_init(&coded, &shape, terms, 3), ERR_OK);
        assert_int_equal(coded_fill(&coded, &data, pool_serial(), NULL),
                         ERR_OK);
        check_products(&coded, &matrix);
        check_together(&data, false);
        check_together(&data, true);
        coded_close(&coded);
        dataset_close(&data);
    }
}

/* A block kept as fp32 has half the bytes, and the products, bit for bit, of
 * one in fp64 that has its numbers; made here and shipped. */
static void test_narrow_blocks(void **state)
{
    static const enum evaluation_kind kinds[] = {
        EVALUATE_SCORES, EVALUATE_COMBINE, EVALUATE_BACK};
    struct matrix matrix;
    struct dataset data;
    struct block_shape shape;
    struct block_term terms[3];
    struct coded full;
    struct coded made[2];
    double in[ROWS_MAX];
    double out[2][ROWS_MAX];
    size_t tall, wide;

    (void)state;
    make(&data, &matrix, 95, 23, 8);
    shape = coded_shape(&data, 3, 2);
    for (uint32_t part = 0; part < 3; part++)
        terms[part] = term_of(&shape, part, rng_normal_at(21, part, 0));
    assert_int_equal(coded_init(&full, &shape, terms, 3), ERR_OK);
    assert_int_equal(coded_fill(&full, &data, pool_serial(), NULL), ERR_OK);
    tall = (size_t)block_rows(&shape) * block_pad(shape.cols);
    wide = (size_t)block_cols(&shape) * block_pad(shape.rows);
    shape.narrow = true;
    assert_int_equal(coded_bytes(&shape), (tall + wide) * sizeof(float));
    assert_int_equal(coded_init(&made[0], &shape, terms, 3), ERR_OK);
    assert_int_equal(coded_fill(&made[0], &data, pool_serial(), NULL), ERR_OK);
    ship(&data, &made[0], &made[1]);
    for (size_t i = 0; i < tall + wide; i++) {
        double *x = i < tall ? (double *)full.tall + i
                             : (double *)full.wide + (i - tall);

        *x = (double)(float)*x;
    }
    random_vector(in, ROWS_MAX, 22);
    for (size_t k = 0; k < 3; k++) {
        multiply(&full, kinds[k], in, out[0]);
        for (size_t b = 0; b < 2; b++) {
            multiply(&made[b], kinds[k], in, out[1]);
            assert_memory_equal(out[0], out[1],
                                block_out(&shape, kinds[k]) * sizeof **out);
        }
    }
    coded_close(&full);
    coded_close(&made[0]);
    coded_close(&made[1]);
    dataset_close(&data);
}

/* --- many rows and columns -------------------------------------------------
 */

enum { MANY_ROWS = 1500, MANY_COLS = 1100 };

/* A block of several panels and blocks of columns: every instruction set and
 * any number of threads give the same bits. */
static void check_same(const struct coded *coded, enum evaluation_kind kind,
                       const double *in)
{
    const uint32_t count = block_out(&coded->shape, kind);
    double *first = mem_new(count, sizeof *first);
    double *out = mem_new(count, sizeof *out);
    struct computation asked = {.what = {.kind = kind, .w = in},
                                .end = block_range(&coded->shape, kind),
                                .vector = first};
    struct pool *pool;

    assert_non_null(first);
    assert_non_null(out);
    assert_int_equal(
        coded_multiply(coded, &asked, ISA_PORTABLE, pool_serial(), NULL),
        ERR_OK);
    asked.vector = out;
    for (uint32_t threads = 1; threads <= 3; threads++) {
        assert_int_equal(threads_new(threads, &pool), ERR_OK);
        for (enum isa isa = ISA_PORTABLE; isa <= isa_best(); isa++) {
            memset(out, 0xff, count * sizeof *out);
            assert_int_equal(coded_multiply(coded, &asked, isa, pool, NULL),
                             ERR_OK);
            assert_memory_equal(out, first, count * sizeof *out);
        }
        threads_free(pool);
    }
    mem_free(first);
    mem_free(out);
}

static void test_same_bits(void **state)
{
    struct dataset data;
    struct block_shape shape;
    struct block_term terms[2];
    struct coded coded;
    double *in = mem_new(MANY_ROWS, sizeof *in);
    double *out = mem_new(MANY_COLS + 8, sizeof *out);

    (void)state;
    assert_non_null(in);
    assert_non_null(out);
    assert_int_equal(dataset_init(&data, MANY_ROWS, MANY_COLS, 100), ERR_OK);
    chunkset_fill(&data.present);
    for (uint32_t i = 0; i < MANY_ROWS; i++) {
        float *row = dataset_row(&data, i);

        for (uint32_t j = 0; j < MANY_COLS; j++)
            row[j] = (float)rng_unit_at(9, i, j);
        in[i] = rng_normal_at(10, i, 0);
    }
    shape = coded_shape(&data, 2, 1);
    terms[0] = term_of(&shape, 0, 1);
    terms[1] = term_of(&shape, 1, -.5);
    assert_int_equal(coded_init(&coded, &shape, terms, 2), ERR_OK);
    assert_int_equal(coded_fill(&coded, &data, pool_serial(), NULL), ERR_OK);
    check_same(&coded, EVALUATE_SCORES, in);
    check_same(&coded, EVALUATE_COMBINE, in);
    multiply(&coded, EVALUATE_COMBINE, in, out);
    for (uint32_t j = 0; j < MANY_COLS; j += 97) {
        double total = 0;

        for (uint32_t i = 0; i < block_rows(&shape); i++)
            total +=
                in[i] * ((const double *)
                             coded.tall)[(size_t)i * block_pad(MANY_COLS) + j];
        near(out[j], total);
    }
    coded_close(&coded);
    dataset_close(&data);
    mem_free(in);
    mem_free(out);
}

/* A block of one copy is half as large, and has no strip of wide. */
static void test_one_copy(void **state)
{
    struct block_shape shape = {.rows = 96,
                                .cols = 24,
                                .chunk_rows = 8,
                                .chunks = 12,
                                .parts = 4,
                                .copies = 2};
    const uint64_t both = coded_bytes(&shape);

    (void)state;
    assert_true(block_has_strip(&shape, 12));
    assert_false(block_has_strip(&shape, 3));
    shape.copies = 1;
    assert_int_equal(2 * coded_bytes(&shape), both);
    for (uint32_t strip = 0; strip < 24; strip++)
        assert_int_equal(block_has_strip(&shape, strip), strip < 3);
}

static void test_strips_of_ranges(void **state)
{
    const struct block_shape shape = {.rows = 95,
                                      .cols = 23,
                                      .chunk_rows = 8,
                                      .chunks = 12,
                                      .parts = 4,
                                      .copies = 2};
    struct block_strips strips;

    (void)state;
    assert_int_equal(block_range(&shape, EVALUATE_SCORES), 24);
    assert_int_equal(block_range(&shape, EVALUATE_COMBINE), 24);
    assert_int_equal(block_range(&shape, EVALUATE_BACK), 6);
    strips = block_strips_of(&shape, EVALUATE_SCORES, 7, 9);
    assert_int_equal(strips.first, 0);
    assert_int_equal(strips.end, 2);
    strips = block_strips_of(&shape, EVALUATE_COMBINE, 8, 16);
    assert_int_equal(strips.first, 1);
    assert_int_equal(strips.end, 2);
    strips = block_strips_of(&shape, EVALUATE_SCORES, 24, 24);
    assert_int_equal(strips.first, strips.end);
    strips = block_strips_of(&shape, EVALUATE_BACK, 1, 2);
    assert_int_equal(strips.first, 12);
    assert_int_equal(strips.end, 24);
}

/* --- with codes ---------------------------------------------------------- */

/* What all slots answer. */
struct answers {
    struct code code;
    struct block_shape shape;
    double scores[SLOTS][ROWS_MAX];
    double back[SLOTS][COLS_MAX];
};

static void answer(struct answers *all, const struct dataset *data,
                   uint32_t slot, const double *w, const double *r)
{
    struct block_term terms[SLOTS];
    struct coded coded;
    uint32_t count = 0;

    for (uint32_t part = 0; part < all->code.parts; part++) {
        const double factor = code_entry(&all->code, slot, part);

        if (factor != 0)
            terms[count++] =
                (struct block_term){part, all->code.pieces[part].first,
                                    all->code.pieces[part].end, factor};
    }
    assert_int_equal(coded_init(&coded, &all->shape, terms, count), ERR_OK);
    assert_int_equal(coded_fill(&coded, data, pool_serial(), NULL), ERR_OK);
    multiply(&coded, EVALUATE_SCORES, w, all->scores[slot]);
    multiply(&coded, EVALUATE_BACK, r, all->back[slot]);
    coded_close(&coded);
}

/* Those who answered give every part of both products. */
static void check_set(const struct answers *all, const struct matrix *matrix,
                      uint32_t mask, const double *w, const double *r)
{
    const struct block_shape *shape = &all->shape;
    double made[SLOTS][ROWS_MAX > COLS_MAX ? ROWS_MAX : COLS_MAX];
    const double *scores[SLOTS], *back[SLOTS];
    double *part[SLOTS];
    const struct erasure_set *set;
    struct blockset answered = {0};

    for (uint32_t slot = 0; slot < all->code.slots; slot++) {
        if (mask >> slot & 1u)
            blockset_add(&answered, slot);
        part[slot] = made[slot];
    }
    assert_int_equal(erasure_pick(&all->code.erasure, &answered, ERASURE_RCOND,
                                  CODE_RESIDUAL_MAX, &set),
                     ERR_OK);
    assert_true(set->residual <= CODE_RESIDUAL_MAX);
    for (uint32_t i = 0; i < set->count; i++) {
        scores[i] = all->scores[set->block[i]];
        back[i] = all->back[set->block[i]];
    }
    erasure_decode(set, block_rows(shape), scores, part);
    for (uint32_t p = 0; p < all->code.parts; p++) {
        const struct block_term own = term_of(shape, p, 1);
        const uint32_t rows =
            block_first_row(shape, own.end) - block_first_row(shape, own.first);

        for (uint32_t i = 0; i < rows; i++)
            near(part[p][i], tall_ref(matrix, shape, &own, 1, i, w));
    }
    erasure_decode(set, block_cols(shape), back, part);
    for (uint32_t p = 0; p < all->code.parts; p++) {
        const struct block_term own = term_of(shape, p, 1);
        const uint32_t cols =
            block_first_col(shape, p + 1) - block_first_col(shape, p);

        for (uint32_t j = 0; j < cols; j++)
            near(part[p][j], wide_ref(matrix, shape, &own, 1, j, r));
    }
}

static void check_masks(const struct answers *all, const struct matrix *matrix,
                        const double *w, const double *r)
{
    const uint32_t n = all->code.slots;

    for (uint32_t mask = 0; mask < 1u << n; mask++) {
        if ((uint32_t)__builtin_popcount(mask) >= all->code.parts)
            check_set(all, matrix, mask, w, r);
    }
}

static void check_code(uint32_t n, uint32_t s, uint32_t chunk_rows)
{
    const struct preset_options preset = {
        .name = "mds", .stragglers = s, .workers = n, .seed = 11};
    struct answers all = {0};
    struct code_spec spec;
    struct matrix matrix;
    struct dataset data;
    double w[ROWS_MAX];
    double r[ROWS_MAX];

    make(&data, &matrix, 61, 13, chunk_rows);
    random_vector(w, 13, 1);
    random_vector(r, 61, 2);
    assert_int_equal(preset_spec(&preset, &spec, NULL), ERR_OK);
    assert_int_equal(
        code_build(&all.code, &spec, n, dataset_chunks(&data), NULL), ERR_OK);
    all.shape = coded_shape(&data, all.code.parts, 2);
    for (uint32_t slot = 0; slot < n; slot++)
        answer(&all, &data, slot, w, r);
    check_masks(&all, &matrix, w, r);
    code_close(&all.code);
    dataset_close(&data);
}

static void test_every_set_of_answers(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= SLOTS; n++) {
        for (uint32_t s = 0; s < n; s++) {
            check_code(n, s, 8);
            check_code(n, s, 24); /* Three chunks: fewer parts than n-s. */
        }
    }
}

/* --- what does not fit --------------------------------------------------- */

static void test_refusals(void **state)
{
    const struct block_shape large = {.rows = 1u << 20,
                                      .cols = 1u << 20,
                                      .chunk_rows = 256,
                                      .chunks = 4096,
                                      .parts = 2,
                                      .copies = 1};
    const struct block_shape shape = {.rows = 16,
                                      .cols = 8,
                                      .chunk_rows = 8,
                                      .chunks = 2,
                                      .parts = 2,
                                      .copies = 2};
    const struct block_term term = {.part = 0, .end = 1, .factor = 1};
    const double broken[64] = {(double)NAN};
    struct dataset data;
    struct matrix matrix;
    struct flag cancel;
    struct coded coded;

    (void)state;
    assert_int_equal(coded_init(&coded, &large, &term, 1), ERR_TOOBIG);
    assert_int_equal(coded_init(&coded, &shape, &term, 1), ERR_OK);
    assert_int_equal(coded_strip_bytes(&shape, 0), sizeof broken);
    assert_int_equal(
        coded_strip_store(&coded, 0, (const uint8_t *)broken, sizeof broken),
        ERR_FORMAT);
    assert_int_equal(coded_strip_store(&coded, 0, (const uint8_t *)broken,
                                       sizeof broken - 8),
                     ERR_FORMAT);
    make(&data, &matrix, 16, 8, 8);
    flag_lower(&cancel);
    flag_raise(&cancel);
    assert_int_equal(coded_fill(&coded, &data, pool_serial(), &cancel),
                     ERR_CANCELLED);
    flag_lower(&cancel);
    assert_int_equal(coded_fill(&coded, &data, pool_serial(), &cancel), ERR_OK);
    check_products(&coded, &matrix);
    coded_close(&coded);
    dataset_close(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_sparse_rows),
        cmocka_unit_test(test_narrow_rows),
        cmocka_unit_test(test_narrow_blocks),
        cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_one_copy),
        cmocka_unit_test(test_strips_of_ranges),
        cmocka_unit_test(test_every_set_of_answers),
        cmocka_unit_test(test_refusals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

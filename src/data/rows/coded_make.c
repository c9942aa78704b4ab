/*
 * coded_make.c - sums of parts of the data, for several blocks in one pass.
 *
 * Of dense data some values of every part are turned into doubles, few enough
 * to stay in L1 while all blocks are made from them; of sparse data each entry
 * is added where it belongs.
 */
#include "data/rows/coded_make.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "math/vec.h"

/* Doubles of all parts that are at hand at a time: half of the smallest L1. */
#define AT_HAND 2048u
/* Of each part: whole vectors, and enough of them to be worth a call. */
#define COLS_MIN 64u
/* Rows of a chunk that are turned into columns of wide together: a line. */
#define TURNED 8u

/* --- tall ---------------------------------------------------------------- */

/* A strip: the chunks that it is made from, by part. */
struct slice {
    const struct dataset *data;
    const struct block_shape *shape;
    const struct coded_make *makes;
    uint32_t count;
    uint32_t *first; /* Row of the part's chunk, ... */
    uint32_t *rows;  /* ... of which there are so many; no block has it: 0. */
    double *values;  /* Of each part, `width` each. */
    const double **from; /* Terms of every block, `parts` each, ... */
    double *factor;      /* ... and their factors. */
    uint32_t width;
    enum isa isa;
};

static void slice_close(struct slice *slice)
{
    mem_free(slice->first);
    mem_free(slice->rows);
    mem_free(slice->values);
    mem_free(slice->from);
    mem_free(slice->factor);
}

static enum err slice_init(struct slice *slice)
{
    const uint32_t parts = slice->shape->parts;
    const uint32_t fit = AT_HAND / parts / COLS_MIN * COLS_MIN;

    slice->width = fit > COLS_MIN ? fit : COLS_MIN;
    slice->first = mem_new(parts, sizeof *slice->first);
    slice->rows = mem_new(parts, sizeof *slice->rows);
    slice->values =
        mem_new((size_t)parts * slice->width, sizeof *slice->values);
    slice->from = mem_new((size_t)parts * slice->count, sizeof(const double *));
    slice->factor =
        mem_new((size_t)parts * slice->count, sizeof *slice->factor);
    slice->isa = isa_best();
    if (slice->first != NULL && slice->rows != NULL && slice->values != NULL &&
        slice->from != NULL && slice->factor != NULL)
        return ERR_OK;
    slice_close(slice);
    return ERR_NOMEM;
}

static void find_chunks(struct slice *slice, uint32_t strip)
{
    const struct block_shape *shape = slice->shape;

    for (uint32_t b = 0; b < slice->count; b++) {
        CHECK(slice->makes[b].count <= shape->parts);
        for (uint32_t k = 0; k < slice->makes[b].count; k++) {
            const struct block_term *term = &slice->makes[b].terms[k];
            const uint32_t chunk = term->first + strip;
            const uint32_t first = block_first_row(shape, chunk);

            slice->first[term->part] = first;
            slice->rows[term->part] =
                chunk < term->end ? block_first_row(shape, chunk + 1) - first
                                  : 0;
        }
    }
}

/* What comes next is fetched while sums are made of what is at hand: each part
 * is a stream of its own, too short at a time for the machine to see it.  An
 * address, not a pointer: it may run past the end of the data. */
static void touch(uintptr_t next, size_t bytes)
{
    for (size_t line = 0; line < bytes; line += 64)
        /* NOLINTNEXTLINE(performance-no-int-to-ptr): see above. */
        __builtin_prefetch((const void *)(next + line), 0, 2);
}

/* `count` values of every part from the first on, as if rows were one long one:
 * they and those of tall are padded alike.  Behind the end of a part there are
 * zeros. */
static void unpack(struct slice *slice, size_t first, uint32_t count)
{
    const struct dataset *data = slice->data;
    const size_t lanes = storage_row_bytes(data->storage, KERNEL_LANES);
    struct dense_rows rows = dataset_chunk(data, 0);

    rows.rows = 1;
    for (uint32_t part = 0; part < slice->shape->parts; part++) {
        const size_t there = (size_t)slice->rows[part] * data->stride;
        const size_t left = there > first ? there - first : 0;
        const uint32_t some = left < count ? (uint32_t)left : count;
        double *values = slice->values + (size_t)part * slice->width;

        if (some > 0) {
            rows.x = (const uint8_t *)dataset_row(data, slice->first[part]) +
                     first / KERNEL_LANES * lanes;
            rows.stride = some;
            touch((uintptr_t)rows.x + slice->width / KERNEL_LANES * lanes,
                  slice->width / KERNEL_LANES * lanes);
            kernel_widen(slice->isa, &rows, values);
        }
        memset(values + some, 0, (count - some) * sizeof *values);
    }
}

/* What is added up lies in the same place all the time. */
static void find_terms(struct slice *slice)
{
    for (uint32_t b = 0; b < slice->count; b++) {
        const struct coded_make *make = &slice->makes[b];
        const size_t at = (size_t)b * slice->shape->parts;

        for (uint32_t k = 0; k < make->count; k++) {
            slice->from[at + k] =
                slice->values + (size_t)make->terms[k].part * slice->width;
            slice->factor[at + k] = make->terms[k].factor;
        }
    }
}

/* Blocks are larger than caches: the sums go past them, and what lies there is
 * not fetched only to be overwritten. */
static void dense_strip(struct slice *slice, uint32_t rows)
{
    const size_t total = (size_t)rows * slice->data->stride;
    const size_t parts = slice->shape->parts;

    find_terms(slice);
    for (size_t first = 0; first < total; first += slice->width) {
        const size_t left = total - first;
        const uint32_t count =
            left < slice->width ? (uint32_t)left : slice->width;

        unpack(slice, first, count);
        for (uint32_t b = 0; b < slice->count; b++)
            vec_weigh_past(slice->factor + b * parts, slice->from + b * parts,
                           slice->makes[b].count, count,
                           slice->makes[b].to + first);
    }
    vec_past_end();
}

static double value_at(const struct dataset *data, uint64_t entry)
{
    return data->value == NULL ? 1 : (double)data->value[entry];
}

static void sparse_row(const struct slice *slice, const struct coded_make *make,
                       uint32_t i, double *to)
{
    const struct dataset *data = slice->data;

    for (uint32_t k = 0; k < make->count; k++) {
        const uint32_t part = make->terms[k].part;
        const double factor = make->terms[k].factor;
        const uint32_t row = slice->first[part] + i;

        if (i >= slice->rows[part])
            continue;
        for (uint64_t e = data->begin[row]; e < data->begin[row + 1]; e++)
            to[data->column[e]] += factor * value_at(data, e);
    }
}

static void sparse_strip(const struct slice *slice, uint32_t rows)
{
    const size_t stride = block_pad(slice->shape->cols);

    for (uint32_t i = 0; i < rows; i++) {
        for (uint32_t b = 0; b < slice->count; b++) {
            double *to = slice->makes[b].to + i * stride;

            memset(to, 0, stride * sizeof *to);
            sparse_row(slice, &slice->makes[b], i, to);
        }
    }
}

enum err coded_make_tall(const struct dataset *data,
                         const struct block_shape *shape,
                         const struct coded_make *makes, uint32_t count,
                         uint32_t strip)
{
    struct slice slice = {
        .data = data, .shape = shape, .makes = makes, .count = count};
    const uint32_t rows =
        block_first_row(shape, strip + 1) - block_first_row(shape, strip);
    const enum err err = slice_init(&slice);

    if (err != ERR_OK)
        return err;
    find_chunks(&slice, strip);
    if (dataset_is_sparse(data))
        sparse_strip(&slice, rows);
    else
        dense_strip(&slice, rows);
    slice_close(&slice);
    return ERR_OK;
}

/* --- wide ---------------------------------------------------------------- */

/* Some rows of a chunk. */
struct turn {
    const struct dataset *data;
    const struct block_shape *shape;
    double *row;         /* Of the data, as doubles. */
    double *sums;        /* TURNED times block_cols, of one block. */
    const double **from; /* As in struct slice. */
    double *factor;
};

static void turn_close(struct turn *turn)
{
    mem_free(turn->row);
    mem_free(turn->sums);
    mem_free(turn->from);
    mem_free(turn->factor);
}

static enum err turn_init(struct turn *turn)
{
    const struct block_shape *shape = turn->shape;

    turn->row = mem_new((size_t)TURNED * shape->cols, sizeof *turn->row);
    turn->sums =
        mem_new((size_t)TURNED * block_cols(shape), sizeof *turn->sums);
    turn->from = mem_new(shape->parts, sizeof *turn->from);
    turn->factor = mem_new(shape->parts, sizeof *turn->factor);
    if (turn->row != NULL && turn->sums != NULL && turn->from != NULL &&
        turn->factor != NULL)
        return ERR_OK;
    turn_close(turn);
    return ERR_NOMEM;
}

/* Parts have the same number of columns, or some have one more. */
static void turn_sums(struct turn *turn, const struct coded_make *make,
                      const double *row, double *to)
{
    const struct block_shape *shape = turn->shape;
    const uint32_t common = shape->cols / shape->parts;

    for (uint32_t k = 0; k < make->count; k++) {
        turn->from[k] = row + block_first_col(shape, make->terms[k].part);
        turn->factor[k] = make->terms[k].factor;
    }
    vec_weigh(turn->factor, turn->from, make->count, common, to);
    if (common == block_cols(shape))
        return;
    to[common] = 0;
    for (uint32_t k = 0; k < make->count; k++) {
        const uint32_t part = make->terms[k].part;

        if (block_first_col(shape, part + 1) - block_first_col(shape, part) >
            common)
            to[common] += turn->factor[k] * turn->from[k][common];
    }
}

/* Rows [i, i + rows) of the chunk, which are in turn->row. */
static void turn_block(struct turn *turn, const struct coded_make *make,
                       uint32_t i, uint32_t rows, size_t stride)
{
    const uint32_t cols = block_cols(turn->shape);

    for (uint32_t r = 0; r < rows; r++)
        turn_sums(turn, make, turn->row + (size_t)r * turn->shape->cols,
                  turn->sums + (size_t)r * cols);
    for (uint32_t j = 0; j < cols; j++) {
        for (uint32_t r = 0; r < rows; r++)
            make->to[j * stride + i + r] = turn->sums[(size_t)r * cols + j];
    }
}

enum err coded_make_wide(const struct dataset *data,
                         const struct block_shape *shape,
                         const struct coded_make *makes, uint32_t count,
                         uint32_t chunk, size_t stride)
{
    struct turn turn = {.data = data, .shape = shape};
    const uint32_t first = block_first_row(shape, chunk);
    const uint32_t rows = block_first_row(shape, chunk + 1) - first;
    const enum err err = turn_init(&turn);

    if (err != ERR_OK)
        return err;
    for (uint32_t i = 0; i < rows; i += TURNED) {
        const uint32_t some = rows - i < TURNED ? rows - i : TURNED;

        for (uint32_t r = 0; r < some; r++)
            dataset_row_values(data, first + i + r,
                               turn.row + (size_t)r * shape->cols);
        for (uint32_t b = 0; b < count; b++)
            turn_block(&turn, &makes[b], i, some, stride);
    }
    turn_close(&turn);
    return ERR_OK;
}

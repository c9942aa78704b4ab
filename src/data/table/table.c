/*
 * table.c - cells of binary tables (IDX, npy): sizes, byte orders and integer
 * types are one table here, so that the two formats share everything but their
 * headers.
 */
#include "data/table/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "data/table/csv.h"
#include "data/text/text_blocks.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "cells are loaded as they lie in the file: little-endian only"
#endif

enum { PIECE_CELLS = 256, BYTE_VALUES = 256, TURNED_ENTRIES = 1 << 17 };

size_t cell_bytes(enum cell cell)
{
    static const uint8_t bytes[] = {
        [CELL_U8] = 1,  [CELL_I8] = 1,  [CELL_U16] = 2,  [CELL_I16] = 2,
        [CELL_U32] = 4, [CELL_I32] = 4, [CELL_U64] = 8,  [CELL_I64] = 8,
        [CELL_F32] = 4, [CELL_F64] = 8, [CELL_BOOL] = 1,
    };

    return bytes[cell];
}

static inline uint64_t load_bits(const uint8_t *at, size_t size,
                                 bool big_endian)
{
    uint64_t bits = 0;

    memcpy(&bits, at, size);
    return big_endian ? __builtin_bswap64(bits) >> (64 - 8 * size) : bits;
}

static inline double load_cell(enum cell cell, size_t size, bool big_endian,
                               const uint8_t *at)
{
    const uint64_t bits = load_bits(at, size, big_endian);
    uint32_t low;
    float narrow;
    double wide;

    switch (cell) {
    case CELL_BOOL:
        return bits != 0;
    case CELL_U8:
    case CELL_U16:
    case CELL_U32:
    case CELL_U64:
        return (double)bits;
    case CELL_I8:
        return (double)(int8_t)bits;
    case CELL_I16:
        return (double)(int16_t)bits;
    case CELL_I32:
        return (double)(int32_t)bits;
    case CELL_I64:
        return (double)(int64_t)bits;
    case CELL_F32:
        low = (uint32_t)bits;
        memcpy(&narrow, &low, sizeof narrow);
        return (double)narrow;
    case CELL_F64:
        break;
    }
    memcpy(&wide, &bits, sizeof wide);
    return wide;
}

double cell_load(enum cell cell, const void *at)
{
    return load_cell(cell, cell_bytes(cell), false, at);
}

static double cell_value(const struct table *table, const uint8_t *at)
{
    return load_cell(table->cell, cell_bytes(table->cell), table->big_endian,
                     at);
}

static enum err say_short(struct why *why)
{
    return why_set(why, ERR_TRUNCATED,
                   "the file ends too early; fetch it again");
}

static enum err say_more(struct why *why)
{
    return why_set(why, ERR_FORMAT,
                   "bytes follow the last row; the header counts fewer rows "
                   "than there are");
}

/* Rows of two dimensions are images, of three with channels. */
bool table_dimension(struct table *table, uint32_t i, uint64_t size)
{
    const uint32_t side = size <= DATA_COLS_MAX ? (uint32_t)size : 0;

    if (i == 0) {
        table->rows = size;
        return true;
    }
    /* Rows of two dimensions or three are images, of one those of a table. */
    if (i == 2)
        table->image = (struct image){
            table->cols <= DATA_COLS_MAX ? (uint32_t)table->cols : 0, side, 1};
    else if (i == 3)
        table->image.channels = side;
    else
        table->image = (struct image){0};
    return !__builtin_mul_overflow(table->cols, size, &table->cols);
}

enum err table_header(struct unpacker *in, void *out, size_t size,
                      struct why *why)
{
    size_t got = 0;
    const enum err err = unpacker_fill(in, out, size, &got, why);

    if (err != ERR_OK)
        return err;
    return got == size ? ERR_OK : say_short(why);
}

static enum err expect_end(struct unpacker *in, struct why *why)
{
    uint8_t byte;
    size_t got = 0;
    const enum err err = unpacker_fill(in, &byte, 1, &got, why);

    if (err != ERR_OK)
        return err;
    return got == 0 ? ERR_OK : say_more(why);
}

/* What threads know of the rows they read. */
struct filing {
    const struct table *table;
    const struct columns *columns; /* NULL: every column is a feature. */
    const double *labels;          /* NULL: none, or one of the columns. */
    double divisor;                /* Of features. */
    double byte[BYTE_VALUES];      /* CELL_U8: the feature that each byte stands
                                      for, which spares a division. */
};

/* Inlined for each kind of cell, so that no loop asks for the kind. */
__attribute__((always_inline)) static inline void
load_as(enum cell cell, size_t size, const struct filing *filing,
        const uint8_t *at, size_t count, double *out)
{
    const bool big_endian = filing->table->big_endian;
    const double divisor = filing->divisor;

    for (size_t k = 0; k < count; k++)
        out[k] = load_cell(cell, size, big_endian, at + k * size) / divisor;
}

static void load_cells(const struct filing *filing, const uint8_t *at,
                       size_t count, double *out)
{
    switch (filing->table->cell) {
    case CELL_U8:
        for (size_t k = 0; k < count; k++)
            out[k] = filing->byte[at[k]];
        break;
    case CELL_I8:
        load_as(CELL_I8, 1, filing, at, count, out);
        break;
    case CELL_U16:
        load_as(CELL_U16, 2, filing, at, count, out);
        break;
    case CELL_I16:
        load_as(CELL_I16, 2, filing, at, count, out);
        break;
    case CELL_U32:
        load_as(CELL_U32, 4, filing, at, count, out);
        break;
    case CELL_I32:
        load_as(CELL_I32, 4, filing, at, count, out);
        break;
    case CELL_U64:
        load_as(CELL_U64, 8, filing, at, count, out);
        break;
    case CELL_I64:
        load_as(CELL_I64, 8, filing, at, count, out);
        break;
    case CELL_F32:
        load_as(CELL_F32, 4, filing, at, count, out);
        break;
    case CELL_F64:
        load_as(CELL_F64, 8, filing, at, count, out);
        break;
    case CELL_BOOL:
        load_as(CELL_BOOL, 1, filing, at, count, out);
        break;
    }
}

/* What a column is: the number of its feature, or another role. */
static uint32_t role_of(const struct filing *filing, uint64_t col)
{
    return filing->columns == NULL ? (uint32_t)col : filing->columns->role[col];
}

/* What is wrong with the first bad cell of a row. */
static enum err say_cell(const struct filing *filing, const uint8_t *row,
                         const struct sparse *rows, struct why *why)
{
    const struct table *const table = filing->table;
    const size_t size = cell_bytes(table->cell);

    for (uint64_t col = 0; col < table->cols; col++) {
        const double value = cell_value(table, row + col * size);
        const uint32_t role = role_of(filing, col);

        if (role != COLUMN_UNUSED && !isfinite(value))
            return why_set(why, ERR_RANGE, "column %llu: not a finite number%s",
                           (unsigned long long)col + 1,
                           isnan(value) && role < COLUMN_FEATURES
                               ? "; fill such values in, or train with "
                                 "--missing mean, median, zero or indicator"
                               : "");
        if (role == COLUMN_WEIGHT && !csv_is_weight(value)) {
            char text[32];

            (void)snprintf(text, sizeof text, "%.17g", value);
            return why_in(why, csv_say_weight(text, why), "column %llu",
                          (unsigned long long)col + 1);
        }
        if (role < COLUMN_FEATURES &&
            !sparse_in_range(rows, value / filing->divisor))
            return why_set(
                why, ERR_RANGE, "column %llu: %g is too large; at most %s",
                (unsigned long long)col + 1, value, sparse_limit(rows->wide));
    }
    return why_set(why, ERR_RANGE, "the label is not a finite number");
}

/* Features from column `first` to before `end` of a row to `rows`, which has
 * room; false if one of them is out of range. */
static bool add_features(const struct filing *filing, const uint8_t *row,
                         uint64_t first, uint64_t end, struct sparse *rows)
{
    const size_t size = cell_bytes(filing->table->cell);
    const uint32_t shift = (uint32_t)first - role_of(filing, first);
    size_t used = rows->start[rows->rows];
    bool good = true;

    for (uint64_t col = first; col < end; col += PIECE_CELLS) {
        const size_t count =
            end - col < PIECE_CELLS ? (size_t)(end - col) : PIECE_CELLS;
        double piece[PIECE_CELLS];

        load_cells(filing, row + col * size, count, piece);
        for (size_t k = 0; k < count; k++) {
            /* Written always and kept if it is not zero. */
            rows->index[used] = (uint32_t)(col + k) - shift;
            rows->value[used] = piece[k];
            used += piece[k] != 0;
            good &= sparse_in_range(rows, piece[k]);
        }
    }
    rows->start[rows->rows] = used;
    return good;
}

/* Stretches of features, one after the other. */
static bool add_all(const struct filing *filing, const uint8_t *row,
                    struct sparse *rows)
{
    const uint64_t cols = filing->table->cols;
    bool good = true;

    if (filing->columns == NULL)
        return add_features(filing, row, 0, cols, rows);
    for (uint64_t first = 0; first < cols; first++) {
        uint64_t end = first;

        while (end < cols && role_of(filing, end) < COLUMN_FEATURES)
            end++;
        if (end > first)
            good &= add_features(filing, row, first, end, rows);
        first = end;
    }
    return good;
}

/* NaN if there is none; false if there is one and it is not finite. */
static bool find_label(const struct filing *filing, const uint8_t *row,
                       uint64_t number, double *label)
{
    const struct table *const table = filing->table;

    *label = nan("");
    if (filing->labels != NULL)
        *label = filing->labels[number];
    else if (filing->columns != NULL && filing->columns->label < table->cols)
        *label = cell_value(table, row + filing->columns->label *
                                             cell_bytes(table->cell));
    else
        return true;
    return isfinite(*label);
}

static bool is_weighted(const struct filing *filing)
{
    return filing->columns != NULL &&
           filing->columns->weight < filing->table->cols;
}

/* That of the last row, if rows have any; false if it is none. */
static bool add_weight(const struct filing *filing, const uint8_t *row,
                       struct sparse *rows)
{
    const struct table *const table = filing->table;
    double weight;

    if (!is_weighted(filing))
        return true;
    weight = cell_value(table, row + filing->columns->weight *
                                         cell_bytes(table->cell));
    rows->weight[rows->rows - 1] = weight;
    return csv_is_weight(weight);
}

static enum err read_row(const struct filing *filing, const uint8_t *row,
                         uint64_t number, struct sparse *rows, struct why *why)
{
    const struct table *const table = filing->table;
    double label;
    bool good;
    enum err err;

    if (number >= table->rows)
        return say_more(why);
    good = find_label(filing, row, number, &label);
    err = sparse_reserve(rows, table->cols);
    if (err == ERR_OK)
        err = sparse_add_row(rows, label);
    if (err != ERR_OK)
        return why_set(why, err, "%s", err_text(err));
    if (good && add_weight(filing, row, rows) && add_all(filing, row, rows))
        return ERR_OK;
    err = say_cell(filing, row, rows, why);
    return why_in(why, err, "row %llu", (unsigned long long)number + 1);
}

static uint32_t features_of(const struct filing *filing)
{
    return filing->columns == NULL ? (uint32_t)filing->table->cols
                                   : filing->columns->features;
}

static enum err read_block(const struct text_block *block, const void *options,
                           struct sparse *rows, struct why *why)
{
    const struct filing *const filing = options;
    const struct table *const table = filing->table;
    const size_t bytes = table->cols * cell_bytes(table->cell);
    const uint8_t *const first = (const uint8_t *)block->text;

    for (size_t at = 0; at < block->size; at += bytes) {
        const enum err err = read_row(
            filing, first + at, block->lines_before + at / bytes, rows, why);

        if (err != ERR_OK)
            return err;
    }
    rows->cols = features_of(filing);
    rows->weighted = is_weighted(filing);
    return ERR_OK;
}

static enum err check_shape(const struct table *table, struct why *why)
{
    if (table->rows == 0 || table->cols == 0)
        return why_set(why, ERR_FORMAT, "no rows or no columns");
    if (table->rows > DATA_ROWS_MAX || table->cols > DATA_COLS_MAX)
        return why_set(why, ERR_TOOBIG,
                       "%llu rows of %llu columns; at most %u and %u are "
                       "supported",
                       (unsigned long long)table->rows,
                       (unsigned long long)table->cols, DATA_ROWS_MAX,
                       DATA_COLS_MAX);
    return ERR_OK;
}

/* The next `count` numbers. */
static enum err read_values(struct unpacker *in, const struct table *table,
                            uint64_t first, size_t count, double *values,
                            struct why *why)
{
    const size_t size = cell_bytes(table->cell);
    uint8_t bytes[PIECE_CELLS * sizeof(uint64_t)];
    const enum err err = table_header(in, bytes, count * size, why);

    if (err != ERR_OK)
        return err;
    for (size_t k = 0; k < count; k++) {
        values[k] = cell_value(table, bytes + k * size);
        if (!isfinite(values[k]) && !(table->gaps && isnan(values[k])))
            return why_set(why, ERR_RANGE, "value %llu is not finite",
                           (unsigned long long)(first + k) + 1);
    }
    return ERR_OK;
}

enum err table_values(struct unpacker *in, const struct table *table,
                      double **values, struct why *why)
{
    const uint64_t count = table->rows * table->cols;
    double *made = NULL;
    size_t room = 0;
    enum err err = check_shape(table, why);

    /* Grows with what is there: a header may claim anything. */
    for (uint64_t i = 0; err == ERR_OK && i < count; i += PIECE_CELLS) {
        const size_t more =
            count - i < PIECE_CELLS ? (size_t)(count - i) : PIECE_CELLS;

        if (i + more > room) {
            double *grown = mem_grow(made, (size_t)i, (size_t)i + more,
                                     sizeof *made, &room);

            if (grown == NULL) {
                err = why_set(why, ERR_NOMEM, "out of memory");
                break;
            }
            made = grown;
        }
        err = read_values(in, table, i, more, made + i, why);
    }
    if (err == ERR_OK)
        err = expect_end(in, why);
    if (err != ERR_OK) {
        mem_free(made);
        return err;
    }
    *values = made;
    return ERR_OK;
}

/* Cells that lie by columns, as rows of doubles: such as any other table. */
static enum err turn(const struct table *table, const double *values,
                     const struct filing *filing, struct stage *stage,
                     struct why *why)
{
    struct sparse rows = {.wide = stage->wide};
    double *const row = mem_new(table->cols, sizeof *row);
    enum err err =
        row == NULL ? why_set(why, ERR_NOMEM, "out of memory") : ERR_OK;

    for (uint64_t i = 0;
         err == ERR_OK && row != NULL && values != NULL && i < table->rows;
         i++) {
        for (uint64_t j = 0; j < table->cols; j++)
            row[j] = values[j * table->rows + i];
        err = read_row(filing, (const uint8_t *)row, i, &rows, why);
        if (err != ERR_OK ||
            (i + 1 < table->rows && sparse_entries(&rows) < TURNED_ENTRIES))
            continue;
        rows.cols = features_of(filing);
        rows.weighted = is_weighted(filing);
        err = stage_add(stage, &rows);
        sparse_clear(&rows);
        if (err != ERR_OK)
            (void)why_set(why, err, "%s", err_text(err));
    }
    mem_free(row);
    sparse_close(&rows);
    return err;
}

static enum err stage_turned(struct unpacker *in, const struct filing *filing,
                             struct stage *stage, struct why *why)
{
    struct table table = *filing->table;
    struct filing doubles = *filing;
    double *values = NULL;
    enum err err;

    table.gaps = true; /* Refused with row and column instead. */
    err = table_values(in, &table, &values, why);
    if (err != ERR_OK)
        return err;
    table.cell = CELL_F64;
    table.big_endian = false;
    doubles.table = &table;
    err = turn(&table, values, &doubles, stage, why);
    mem_free(values);
    return err;
}

/* What bytes stand for is the stage's to say, or the format's; the divisor. */
static uint32_t settle_byte(const struct table *table, struct stage *stage)
{
    stage->bytes = table->cell == CELL_U8;
    if (stage->byte == 0)
        stage->byte = table->byte;
    return stage->bytes ? stage->byte : 1;
}

enum err table_stage(struct unpacker *in, const struct table *table,
                     const struct columns *columns, const double *labels,
                     struct pool *pool, struct stage *stage, struct why *why)
{
    struct filing filing = {.table = table,
                            .columns = columns,
                            .labels = labels,
                            .divisor = settle_byte(table, stage)};
    const struct text_format format = {.read = read_block, .options = &filing};
    size_t rest = 0;
    enum err err = check_shape(table, why);

    stage->image = table->image;
    for (uint32_t i = 0; i < BYTE_VALUES; i++)
        filing.byte[i] = (double)i / filing.divisor;
    if (err == ERR_OK && table->by_columns)
        return stage_turned(in, &filing, stage, why);
    if (err == ERR_OK)
        err = records_read(in, table->cols * cell_bytes(table->cell), &format,
                           pool, stage, &rest, why);
    if (err != ERR_OK)
        return err;
    if (stage_rows(stage) < table->rows)
        return why_in(why, say_short(why), "row %llu",
                      (unsigned long long)stage_rows(stage) + 1);
    return rest > 0 ? say_more(why) : ERR_OK;
}

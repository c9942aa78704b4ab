#include "data/table.h"

#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"

enum { STAGE_ENTRIES = 1 << 18, PIECE_CELLS = 1 << 12 };

size_t cell_bytes(enum cell cell)
{
    static const uint8_t bytes[] = {
        [CELL_U8] = 1,  [CELL_I8] = 1,  [CELL_U16] = 2,  [CELL_I16] = 2,
        [CELL_U32] = 4, [CELL_I32] = 4, [CELL_U64] = 8,  [CELL_I64] = 8,
        [CELL_F32] = 4, [CELL_F64] = 8, [CELL_BOOL] = 1,
    };

    return bytes[cell];
}

static uint64_t load_bits(const uint8_t *at, size_t size, bool big_endian)
{
    uint64_t bits = 0;

    for (size_t i = 0; i < size; i++)
        bits |= (uint64_t)at[i] << 8 * (big_endian ? size - 1 - i : i);
    return bits;
}

double cell_value(const struct table *table, const uint8_t *at)
{
    const size_t size = cell_bytes(table->cell);
    const uint64_t bits = load_bits(at, size, table->big_endian);
    uint32_t low;
    float narrow;
    double wide;

    switch (table->cell) {
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

static enum err say_short(struct why *why)
{
    return why_set(why, ERR_TRUNCATED,
                   "the file ends too early; fetch it again");
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
    return got == 0
               ? ERR_OK
               : why_set(why, ERR_FORMAT,
                         "bytes follow the last row; the header counts fewer "
                         "rows than there are");
}

/* Where rows go. */
struct filing {
    const struct table *table;
    uint64_t label_column;
    struct stage *stage;
    struct sparse rows;
    uint8_t piece[PIECE_CELLS * 8];
};

static enum err add_cell(struct filing *to, uint64_t col, const uint8_t *at,
                         struct why *why)
{
    struct sparse *const rows = &to->rows;
    const double value = cell_value(to->table, at);
    const float narrow = (float)(value / to->table->divisor);
    const size_t used = rows->start[rows->rows];

    if (!isfinite(value))
        return why_set(why, ERR_RANGE, "column %llu: not a finite number",
                       (unsigned long long)col + 1);
    if (col == to->label_column) {
        rows->label[rows->rows - 1] = value;
        return ERR_OK;
    }
    if (isinf(narrow))
        return why_set(why, ERR_RANGE,
                       "column %llu: %g is too large; at most 3.4e38 fits "
                       "single precision",
                       (unsigned long long)col + 1, value);
    if (narrow == 0)
        return ERR_OK;
    rows->index[used] = (uint32_t)(col - (col > to->label_column));
    rows->value[used] = narrow;
    rows->start[rows->rows]++;
    return ERR_OK;
}

/* Piece by piece, so that memory follows the bytes that are there and not what
 * the header claims. */
static enum err read_row(struct unpacker *in, struct filing *to, double label,
                         struct why *why)
{
    const uint64_t cols = to->table->cols;
    const size_t size = cell_bytes(to->table->cell);
    enum err err = sparse_add_row(&to->rows, label);

    if (err != ERR_OK)
        return why_set(why, err, "%s", err_text(err));
    for (uint64_t first = 0; first < cols; first += PIECE_CELLS) {
        const size_t count =
            cols - first < PIECE_CELLS ? (size_t)(cols - first) : PIECE_CELLS;

        err = table_header(in, to->piece, count * size, why);
        if (err == ERR_OK && sparse_reserve(&to->rows, count) != ERR_OK)
            err = why_set(why, ERR_NOMEM, "out of memory");
        for (size_t k = 0; err == ERR_OK && k < count; k++)
            err = add_cell(to, first + k, to->piece + k * size, why);
        if (err != ERR_OK)
            return err;
    }
    return ERR_OK;
}

static enum err flush(struct filing *to, struct why *why)
{
    const struct table *const table = to->table;
    enum err err;

    to->rows.cols = (uint32_t)(table->cols - (to->label_column < table->cols));
    err = stage_add(to->stage, &to->rows);
    sparse_clear(&to->rows);
    return err == ERR_OK ? ERR_OK : why_set(why, err, "%s", err_text(err));
}

static bool is_full(const struct sparse *rows)
{
    return sparse_entries(rows) >= STAGE_ENTRIES || rows->rows >= STAGE_ENTRIES;
}

static enum err read_rows(struct unpacker *in, struct filing *to,
                          const double *labels, struct why *why)
{
    for (uint64_t i = 0; i < to->table->rows; i++) {
        enum err err = read_row(in, to, labels == NULL ? 0 : labels[i], why);

        if (err != ERR_OK)
            return why_in(why, err, "row %llu", (unsigned long long)i + 1);
        if (is_full(&to->rows) || i + 1 == to->table->rows)
            err = flush(to, why);
        if (err != ERR_OK)
            return err;
    }
    return expect_end(in, why);
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

enum err table_stage(struct unpacker *in, const struct table *table,
                     uint64_t label_column, const double *labels,
                     struct stage *stage, struct why *why)
{
    struct filing *to;
    enum err err = check_shape(table, why);

    if (err != ERR_OK)
        return err;
    to = mem_new(1, sizeof *to);
    if (to == NULL)
        return why_set(why, ERR_NOMEM, "out of memory");
    to->table = table;
    to->label_column = label_column;
    to->stage = stage;
    err = read_rows(in, to, labels, why);
    sparse_close(&to->rows);
    mem_free(to);
    return err;
}

enum err table_values(struct unpacker *in, const struct table *table,
                      double **values, struct why *why)
{
    const size_t size = cell_bytes(table->cell);
    const uint64_t count = table->rows * table->cols;
    double *made = NULL;
    size_t room = 0;
    enum err err = check_shape(table, why);

    if (err != ERR_OK)
        return err;
    /* Grows with what is there: a header may claim anything. */
    for (uint64_t i = 0; i < count; i++) {
        uint8_t bytes[8];

        if (i == room) {
            double *grown =
                mem_grow(made, (size_t)i, (size_t)i + 1, sizeof *made, &room);

            if (grown == NULL) {
                err = why_set(why, ERR_NOMEM, "out of memory");
                break;
            }
            made = grown;
        }
        err = table_header(in, bytes, size, why);
        if (err != ERR_OK)
            break;
        made[i] = cell_value(table, bytes);
        if (!isfinite(made[i])) {
            err = why_set(why, ERR_RANGE, "value %llu is not finite",
                          (unsigned long long)i + 1);
            break;
        }
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

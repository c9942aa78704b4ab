/*
 * arrow.c - Arrow's columns become a frame.
 */
#include "data/read/arrow.h"

#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "data/table/cell.h"
#include "data/table/dictionary.h"

/* --- types ---------------------------------------------------------------- */

static bool is_words(const char *format)
{
    return strcmp(format, "u") == 0 || strcmp(format, "U") == 0;
}

static bool is_bits(const char *format)
{
    return strcmp(format, "b") == 0;
}

static bool cell_of(const char *format, enum cell *cell)
{
    static const struct {
        char format;
        enum cell cell;
    } types[] = {{'c', CELL_I8},  {'C', CELL_U8},  {'s', CELL_I16},
                 {'S', CELL_U16}, {'i', CELL_I32}, {'I', CELL_U32},
                 {'l', CELL_I64}, {'L', CELL_U64}, {'f', CELL_F32},
                 {'g', CELL_F64}};

    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (format[0] == types[i].format && format[1] == '\0') {
            *cell = types[i].cell;
            return true;
        }
    }
    return false;
}

static const char *name_of(const struct ArrowSchema *column)
{
    return column->name != NULL ? column->name : "";
}

static enum err check_column(const struct ArrowSchema *column, struct why *why)
{
    const char *const format = column->dictionary != NULL
                                   ? column->dictionary->format
                                   : column->format;
    enum cell cell;

    if (column->dictionary != NULL
            ? is_words(format) && cell_of(column->format, &cell)
            : is_words(format) || is_bits(format) || cell_of(format, &cell))
        return ERR_OK;
    return why_set(why, ERR_UNSUPPORTED,
                   "column \"%.64s\" is of Arrow's type %.32s; numbers, bools "
                   "and words are taken, so cast it or leave it out",
                   name_of(column), format);
}

static enum err check_schema(const struct ArrowSchema *schema, struct why *why)
{
    enum err err = ERR_OK;

    if (strcmp(schema->format, "+s") != 0 || schema->n_children < 1)
        return why_set(why, ERR_SHAPE, "the stream holds no table of columns");
    if (schema->n_children > DATA_COLS_MAX)
        return why_set(why, ERR_TOOBIG, "more than %u columns", DATA_COLS_MAX);
    for (int64_t j = 0; err == ERR_OK && j < schema->n_children; j++)
        err = check_column(schema->children[j], why);
    return err;
}

/* --- reading -------------------------------------------------------------- */

static enum err say_stream(struct ArrowArrayStream *stream, struct why *why)
{
    const char *said = stream->get_last_error(stream);

    return why_set(why, ERR_IO, "the stream failed: %.300s",
                   said != NULL ? said : "it does not say why");
}

static enum err add_batch(struct arrow_table *table, struct ArrowArray *batch,
                          struct why *why)
{
    struct ArrowArray *grown = table->batch;

    if (table->count == table->capacity)
        grown = mem_grow(table->batch, table->count, table->count + 1,
                         sizeof *grown, &table->capacity);
    if (grown == NULL) {
        batch->release(batch);
        return why_set(why, ERR_NOMEM, "out of memory");
    }
    table->batch = grown;
    table->batch[table->count++] = *batch;
    table->rows += (uint64_t)batch->length;
    if (batch->n_children != table->schema.n_children)
        return why_set(why, ERR_SHAPE, "a batch has other columns");
    if (table->rows > DATA_ROWS_MAX)
        return why_set(why, ERR_TOOBIG, "more than %u rows", DATA_ROWS_MAX);
    return ERR_OK;
}

static enum err read_batches(struct ArrowArrayStream *stream,
                             struct arrow_table *table, struct why *why)
{
    enum err err = ERR_OK;

    while (err == ERR_OK) {
        struct ArrowArray batch = {0};

        if (stream->get_next(stream, &batch) != 0)
            return say_stream(stream, why);
        if (batch.release == NULL)
            break; /* The end. */
        err = add_batch(table, &batch, why);
    }
    if (err == ERR_OK && table->rows == 0)
        err = why_set(why, ERR_SHAPE, "no rows");
    return err;
}

enum err arrow_read(struct ArrowArrayStream *stream, struct arrow_table *table,
                    struct why *why)
{
    enum err err = ERR_OK;

    *table = (struct arrow_table){0};
    if (stream->get_schema(stream, &table->schema) != 0)
        err = say_stream(stream, why);
    if (err == ERR_OK)
        err = check_schema(&table->schema, why);
    if (err == ERR_OK)
        err = read_batches(stream, table, why);
    stream->release(stream);
    if (err != ERR_OK)
        arrow_close(table);
    return err;
}

void arrow_close(struct arrow_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        table->batch[i].release(&table->batch[i]);
    if (table->schema.release != NULL)
        table->schema.release(&table->schema);
    mem_free(table->batch);
    *table = (struct arrow_table){0};
}

/* --- fields --------------------------------------------------------------- */

static bool bit_of(const void *bits, int64_t i)
{
    return (((const uint8_t *)bits)[i / 8] >> i % 8 & 1) != 0;
}

static bool is_null(const struct ArrowArray *column, int64_t i)
{
    return column->null_count != 0 && column->buffers[0] != NULL &&
           !bit_of(column->buffers[0], column->offset + i);
}

/* NaN: missing. */
static double number_at(const struct ArrowSchema *schema,
                        const struct ArrowArray *column, int64_t i)
{
    const int64_t at = column->offset + i;
    enum cell cell = CELL_F64;
    bool known;

    if (is_null(column, i))
        return nan("");
    if (is_bits(schema->format))
        return bit_of(column->buffers[1], at) ? 1 : 0;
    known = cell_of(schema->format, &cell);
    CHECK(known);
    return cell_load(cell, (const char *)column->buffers[1] +
                               at * (int64_t)cell_bytes(cell));
}

/* A word of a column without a dictionary; false: missing. */
static bool plain_word(const char *format, const struct ArrowArray *column,
                       int64_t i, struct span *word)
{
    const int64_t at = column->offset + i;
    const char *const text = column->buffers[2];
    int64_t first, end;

    if (is_null(column, i))
        return false;
    if (format[0] == 'U') {
        first = ((const int64_t *)column->buffers[1])[at];
        end = ((const int64_t *)column->buffers[1])[at + 1];
    } else {
        first = ((const int32_t *)column->buffers[1])[at];
        end = ((const int32_t *)column->buffers[1])[at + 1];
    }
    *word =
        (struct span){end > first ? text + first : "", (size_t)(end - first)};
    return true;
}

static bool word_at(const struct ArrowSchema *schema,
                    const struct ArrowArray *column, int64_t i,
                    struct span *word)
{
    double index;

    if (schema->dictionary == NULL)
        return plain_word(schema->format, column, i, word);
    index = number_at(schema, column, i);
    if (!(index >= 0 && index < (double)column->dictionary->length))
        return false;
    return plain_word(schema->dictionary->format, column->dictionary,
                      (int64_t)index, word);
}

/* --- the frame ------------------------------------------------------------ */

/* Numbers of column `j`, all batches; NaN where one is missing. */
static double *numbers_of(const struct arrow_table *table, uint32_t j)
{
    double *const out = mem_new(table->rows, sizeof *out);
    size_t row = 0;

    for (size_t b = 0; out != NULL && b < table->count; b++)
        for (int64_t i = 0; i < table->batch[b].length; i++)
            out[row++] = number_at(table->schema.children[j],
                                   table->batch[b].children[j],
                                   table->batch[b].offset + i) +
                         0.0;
    return out;
}

static enum err fill_words(const struct arrow_table *table, uint32_t j,
                           struct frame_column *column)
{
    struct dictionary words = {0};
    enum err err = ERR_OK;
    size_t row = 0;

    column->categorical = true;
    column->code = mem_new(table->rows, sizeof *column->code);
    if (column->code == NULL)
        return ERR_NOMEM;
    for (size_t b = 0; b < table->count; b++)
        for (int64_t i = 0; err == ERR_OK && i < table->batch[b].length; i++) {
            struct span word;

            if (word_at(table->schema.children[j], table->batch[b].children[j],
                        table->batch[b].offset + i, &word))
                err = dictionary_look_up(&words, word, &column->code[row]);
            else
                column->code[row] = FRAME_MISSING;
            row++;
        }
    if (err == ERR_OK)
        err = dictionary_settle(column, &words, (uint32_t)table->rows);
    dictionary_close(&words);
    return err;
}

static bool holds_words(const struct ArrowSchema *column)
{
    return column->dictionary != NULL || is_words(column->format);
}

/* What the column of labels says: numbers, or the numbers of its words. */
static enum err fill_labels(const struct arrow_table *table, uint32_t j,
                            struct frame *frame)
{
    struct frame_column *const classes = &frame->classes;
    enum err err;

    if (!holds_words(table->schema.children[j])) {
        mem_free(frame->label);
        frame->label = numbers_of(table, j);
        return frame->label == NULL ? ERR_NOMEM : ERR_OK;
    }
    err = fill_words(table, j, classes);
    for (uint32_t i = 0; err == ERR_OK && i < frame->rows; i++)
        if (classes->code[i] != FRAME_MISSING)
            frame->label[i] = classes->numeric
                                  ? classes->category[classes->code[i]].value
                                  : (double)classes->code[i];
    return err;
}

static enum err fill_column(const struct arrow_table *table, uint32_t j,
                            struct frame *frame)
{
    const uint32_t role = frame->csv.columns.role[j];
    struct frame_column *column;

    if (role == COLUMN_LABEL)
        return fill_labels(table, j, frame);
    if (role == COLUMN_WEIGHT) {
        frame->weight = numbers_of(table, j);
        return frame->weight == NULL ? ERR_NOMEM : ERR_OK;
    }
    if (role >= COLUMN_FEATURES)
        return ERR_OK;
    column = &frame->column[role];
    if (holds_words(table->schema.children[j]))
        return fill_words(table, j, column);
    column->number = numbers_of(table, j);
    return column->number == NULL ? ERR_NOMEM : ERR_OK;
}

static bool is_missing(const struct frame_column *column, uint32_t row)
{
    return column->categorical ? column->code[row] == FRAME_MISSING
                               : !isfinite(column->number[row]);
}

static enum err check_fields(const struct frame *frame, bool gaps,
                             bool unlabelled, struct why *why)
{
    for (uint32_t i = 0; i < frame->rows; i++) {
        if (!unlabelled && isnan(frame->label[i]))
            return why_set(why, ERR_RANGE, "row %u: the label is missing", i);
        if (frame->weight != NULL && !csv_is_weight(frame->weight[i]))
            return why_set(why, ERR_RANGE,
                           "row %u: a weight must be above 0 and at most 1e12",
                           i);
        for (uint32_t j = 0; j < frame->csv.cols; j++) {
            const uint32_t role = frame->csv.columns.role[j];

            if (role < COLUMN_FEATURES && is_missing(&frame->column[role], i) &&
                (!gaps || (!frame->column[role].categorical &&
                           isinf(frame->column[role].number[i]))))
                return why_set(why, ERR_RANGE,
                               "row %u, column \"%.64s\": missing or not "
                               "finite; --missing mean, median, zero or "
                               "indicator fills missing values in",
                               i, csv_name(&frame->csv, j));
        }
    }
    return ERR_OK;
}

/* The names, one after the other, as a header gives them. */
static enum err take_names(const struct arrow_table *table, struct csv *form)
{
    size_t size = 1, used = 0;

    form->cols = (uint32_t)table->schema.n_children;
    form->header = true;
    for (uint32_t j = 0; j < form->cols; j++)
        size += strlen(name_of(table->schema.children[j])) + 1;
    form->names = mem_new(size, 1);
    for (uint32_t j = 0; form->names != NULL && j < form->cols; j++) {
        const char *const name = name_of(table->schema.children[j]);

        memcpy(form->names + used, name, strlen(name) + 1);
        used += strlen(name) + 1;
    }
    return form->names == NULL ? ERR_NOMEM : ERR_OK;
}

enum err arrow_frame(const struct arrow_table *table, bool gaps,
                     bool unlabelled, struct csv *form, struct frame *frame,
                     struct why *why)
{
    struct frame made = {.rows = (uint32_t)table->rows};
    enum err err = take_names(table, form);

    if (err != ERR_OK)
        return why_set(why, err, "out of memory");
    err = columns_assign(form, &form->wanted, &form->columns, why);
    if (err != ERR_OK)
        return err;
    made.csv = *form; /* The frame's from now on. */
    *form = (struct csv){0};
    made.cols = made.csv.columns.features;
    made.column = mem_new(made.cols, sizeof *made.column);
    made.label = mem_new(made.rows, sizeof *made.label);
    if (made.column == NULL || made.label == NULL)
        err = ERR_NOMEM;
    for (uint32_t i = 0; err == ERR_OK && made.label != NULL && i < made.rows;
         i++)
        made.label[i] = nan("");
    for (uint32_t j = 0; err == ERR_OK && j < made.csv.cols; j++)
        err = fill_column(table, j, &made);
    err = err == ERR_OK ? check_fields(&made, gaps, unlabelled, why)
                        : why_set(why, err, "out of memory");
    if (err == ERR_OK)
        *frame = made;
    else
        frame_close(&made);
    return err;
}

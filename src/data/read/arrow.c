/*
 * arrow.c - Arrow's columns become a frame.
 */
#include "data/read/arrow.h"

#include <fenv.h>
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

static bool is_index(const char *format)
{
    enum cell cell;

    return cell_of(format, &cell) && cell != CELL_F32 && cell != CELL_F64;
}

static enum err check_column(const struct ArrowSchema *column, struct why *why)
{
    const struct ArrowSchema *const words =
        column != NULL ? column->dictionary : NULL;
    const char *format;
    enum cell cell;

    if (column == NULL || column->format == NULL ||
        (words != NULL && words->format == NULL))
        return why_set(why, ERR_SHAPE,
                       "the stream does not say what each of "
                       "its columns holds");
    if (words != NULL && !is_index(column->format))
        return why_set(why, ERR_SHAPE,
                       "column \"%.64s\": the indices of its dictionary are "
                       "not integers",
                       name_of(column));
    format = words != NULL ? words->format : column->format;
    if (is_words(format) ||
        (words == NULL && (is_bits(format) || cell_of(format, &cell))))
        return ERR_OK;
    return why_set(why, ERR_UNSUPPORTED,
                   "column \"%.64s\" is of Arrow's type %.32s; numbers, bools "
                   "and words are taken, so cast it or leave it out",
                   name_of(column), format);
}

static enum err check_schema(const struct ArrowSchema *schema, struct why *why)
{
    enum err err = ERR_OK;

    if (schema->format == NULL || strcmp(schema->format, "+s") != 0 ||
        schema->n_children < 1 || schema->children == NULL)
        return why_set(why, ERR_SHAPE, "the stream holds no table of columns");
    if (schema->n_children > DATA_COLS_MAX)
        return why_set(why, ERR_TOOBIG, "more than %u columns", DATA_COLS_MAX);
    for (int64_t j = 0; err == ERR_OK && j < schema->n_children; j++)
        err = check_column(schema->children[j], why);
    return err;
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

/* Where word `i` begins and ends in the text of a column. */
static void word_ends(const char *format, const struct ArrowArray *column,
                      int64_t i, int64_t *first, int64_t *end)
{
    const int64_t at = column->offset + i;

    if (format[0] == 'U') {
        *first = ((const int64_t *)column->buffers[1])[at];
        *end = ((const int64_t *)column->buffers[1])[at + 1];
    } else {
        *first = ((const int32_t *)column->buffers[1])[at];
        *end = ((const int32_t *)column->buffers[1])[at + 1];
    }
}

/* A word of a column without a dictionary; false: missing. */
static bool plain_word(const char *format, const struct ArrowArray *column,
                       int64_t i, struct span *word)
{
    const char *const text = column->buffers[2];
    int64_t first, end;

    if (is_null(column, i))
        return false;
    word_ends(format, column, i, &first, &end);
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
    if (isnan(index))
        return false;
    return plain_word(schema->dictionary->format, column->dictionary,
                      (int64_t)index, word);
}

/* --- what a batch must be -------------------------------------------------
 * The interface carries no sizes of buffers, so what it does say must agree
 * before a buffer is read.  A fault is the rest of a sentence; NULL: none. */

/* Below it, sums and bytes of lengths and offsets stay within 64 bits. */
#define LENGTH_MAX (INT64_MAX / 32)

static bool has_range(const struct ArrowArray *array)
{
    return array->length >= 0 && array->length <= LENGTH_MAX &&
           array->offset >= 0 && array->offset <= LENGTH_MAX;
}

static const char *fault_of_words(const char *format,
                                  const struct ArrowArray *array, int64_t begin,
                                  int64_t end)
{
    for (int64_t i = begin; i < end; i++) {
        int64_t first, last;

        word_ends(format, array, i, &first, &last);
        if (first < 0 || last < first)
            return "a word begins below 0 or ends before it begins";
        if (last > first && array->buffers[2] == NULL)
            return "the text of its words is missing";
    }
    return NULL;
}

/* Of the fields `begin` to `end`, without a dictionary. */
static const char *fault_of_array(const char *format,
                                  const struct ArrowArray *array, int64_t begin,
                                  int64_t end)
{
    if (!has_range(array))
        return "its length or offset is below 0 or too large";
    if (array->length < end)
        return "it is shorter than its batch";
    if (begin == end)
        return NULL;
    if (array->buffers == NULL || array->n_buffers < 2 + is_words(format) ||
        array->buffers[1] == NULL)
        return "a buffer is missing";
    if (array->null_count > 0 && array->buffers[0] == NULL)
        return "it has nulls but does not say where";
    return is_words(format) ? fault_of_words(format, array, begin, end) : NULL;
}

static const char *fault_of_indices(const struct ArrowSchema *schema,
                                    const struct ArrowArray *column,
                                    int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i++) {
        const double index = number_at(schema, column, i);

        if (index < 0 || index >= (double)column->dictionary->length)
            return "an index is outside its dictionary";
    }
    return NULL;
}

static const char *fault_of_column(const struct ArrowSchema *schema,
                                   const struct ArrowArray *column,
                                   int64_t begin, int64_t end)
{
    const char *fault =
        column == NULL ? "it is missing"
                       : fault_of_array(schema->format, column, begin, end);

    if (fault != NULL || schema->dictionary == NULL || begin == end)
        return fault;
    if (column->dictionary == NULL)
        return "its dictionary is missing";
    fault = fault_of_array(schema->dictionary->format, column->dictionary, 0,
                           column->dictionary->length);
    return fault != NULL ? fault : fault_of_indices(schema, column, begin, end);
}

/* Rows that are null as a whole would count as rows of their columns. */
static bool has_null_rows(const struct ArrowArray *batch)
{
    if (batch->n_buffers < 1 || batch->buffers == NULL ||
        batch->buffers[0] == NULL)
        return batch->null_count > 0;
    for (int64_t i = 0; i < batch->length; i++)
        if (is_null(batch, i))
            return true;
    return false;
}

/* `rows` came before it. */
static enum err check_batch(const struct ArrowSchema *schema,
                            const struct ArrowArray *batch, uint64_t rows,
                            struct why *why)
{
    if (batch->n_children != schema->n_children || batch->children == NULL)
        return why_set(why, ERR_SHAPE, "a batch has other columns");
    if (!has_range(batch))
        return why_set(why, ERR_SHAPE,
                       "the length or offset of a batch is below 0 or too "
                       "large");
    if (rows + (uint64_t)batch->length > DATA_ROWS_MAX)
        return why_set(why, ERR_TOOBIG, "more than %u rows", DATA_ROWS_MAX);
    if (has_null_rows(batch))
        return why_set(why, ERR_SHAPE,
                       "a batch has rows that are null as a whole; leave them "
                       "out");
    for (int64_t j = 0; j < schema->n_children; j++) {
        const char *const fault =
            fault_of_column(schema->children[j], batch->children[j],
                            batch->offset, batch->offset + batch->length);

        if (fault != NULL)
            return why_set(why, ERR_SHAPE, "column \"%.64s\" of a batch: %s",
                           name_of(schema->children[j]), fault);
    }
    return ERR_OK;
}

/* --- reading -------------------------------------------------------------- */

static enum err say_stream(struct ArrowArrayStream *stream, struct why *why)
{
    const char *said =
        stream->get_last_error != NULL ? stream->get_last_error(stream) : NULL;

    return why_set(why, ERR_IO, "the stream failed: %.300s",
                   said != NULL ? said : "it does not say why");
}

static enum err add_batch(struct arrow_table *table, struct ArrowArray *batch,
                          struct why *why)
{
    struct ArrowArray *grown = table->batch;
    enum err err;

    if (table->count == table->capacity)
        grown = mem_grow(table->batch, table->count, table->count + 1,
                         sizeof *grown, &table->capacity);
    if (grown == NULL) {
        batch->release(batch);
        return why_set(why, ERR_NOMEM, "out of memory");
    }
    table->batch = grown;
    table->batch[table->count++] = *batch;
    err = check_batch(&table->schema, batch, table->rows, why);
    if (err == ERR_OK)
        table->rows += (uint64_t)batch->length;
    return err;
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
    if (stream->get_schema == NULL || stream->get_next == NULL) {
        stream->release(stream);
        return why_set(why, ERR_SHAPE,
                       "the stream has no get_schema or no get_next");
    }
    if (stream->get_schema(stream, &table->schema) != 0)
        err = say_stream(stream, why);
    if (err == ERR_OK)
        err = check_schema(&table->schema, why);
    if (err == ERR_OK)
        err = read_batches(stream, table, why);
    stream->release(stream);
    (void)fesetenv(FE_DFL_ENV); /* Its functions may have left other modes. */
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
                               "finite; fill missing values in, or train with "
                               "--missing mean, median, zero or indicator",
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
    struct frame made;
    enum err err = take_names(table, form);

    if (err != ERR_OK)
        return why_set(why, err, "out of memory");
    err = frame_begin(form, (uint32_t)table->rows, &made, why);
    for (uint32_t j = 0; err == ERR_OK && j < made.csv.cols; j++) {
        err = fill_column(table, j, &made);
        if (err != ERR_OK)
            (void)why_set(why, err, "out of memory");
    }
    if (err == ERR_OK)
        err = check_fields(&made, gaps, unlabelled, why);
    if (err == ERR_OK)
        *frame = made;
    else
        frame_close(&made);
    return err;
}

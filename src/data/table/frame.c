/*
 * frame.c - a table by columns, read line by line by one thread: what an
 * encoder is fitted to.  Every column of words has a dictionary while it is
 * read, which gives the categories their numbers when all rows are there.
 */
#include "data/table/frame.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "data/table/dictionary.h"
#include "data/text/letters.h"
#include "data/text/number.h"

/* --- reading --------------------------------------------------------------
 */

struct frame_reader {
    struct frame *frame;
    const struct frame_options *options;
    char separator;           /* 0: not known before the first line. */
    struct dictionary *words; /* One for each column, the label's the last. */
    size_t capacity;          /* Rows there is room for. */
    char *scratch;
    size_t scratch_size;
};

static void column_close(struct frame_column *column)
{
    for (uint32_t i = 0; i < column->categories; i++)
        mem_free(column->category[i].text);
    mem_free(column->category);
    mem_free(column->number);
    mem_free(column->code);
}

enum err frame_begin(struct csv *form, uint32_t rows, struct frame *frame,
                     struct why *why)
{
    const enum err err =
        columns_assign(form, &form->wanted, &form->columns, why);

    *frame = (struct frame){0};
    if (err != ERR_OK)
        return err;
    frame->rows = rows;
    frame->csv = *form; /* The frame's from now on. */
    *form = (struct csv){0};
    frame->cols = frame->csv.columns.features;
    frame->column = mem_new(frame->cols, sizeof *frame->column);
    frame->label = mem_new(rows, sizeof *frame->label);
    if (frame->column == NULL || frame->label == NULL)
        return why_set(why, ERR_NOMEM, "out of memory");
    for (uint32_t i = 0; i < rows; i++)
        frame->label[i] = nan("");
    return ERR_OK;
}

void frame_close(struct frame *frame)
{
    for (uint32_t j = 0; frame->column != NULL && j < frame->cols; j++)
        column_close(&frame->column[j]);
    mem_free(frame->column);
    column_close(&frame->classes);
    mem_free(frame->label);
    mem_free(frame->weight);
    csv_close(&frame->csv);
    *frame = (struct frame){0};
}

uint32_t frame_of_csv(const struct frame *frame, uint32_t col)
{
    const uint32_t role = frame->csv.columns.role[col];

    return role < COLUMN_FEATURES ? role : frame->cols;
}

static struct frame_column *column_of(struct frame *frame, uint32_t col)
{
    const uint32_t role = frame->csv.columns.role[col];

    return role < COLUMN_FEATURES ? &frame->column[role]
           : role == COLUMN_LABEL ? &frame->classes
                                  : NULL;
}

/* Mostly words: a word among numbers is a slip that should be told, and so are
 * numbers in disguise. */
static bool holds_words(const struct survey_column *fields, bool label)
{
    if (label && fields->booleans > 0 && fields->numbers == 0)
        return true;
    return fields->words > fields->numbers + fields->disguised;
}

static void mark_surveyed(struct frame *frame, const struct survey *survey,
                          bool features)
{
    for (uint32_t i = 0; i < frame->csv.cols && i < survey->cols; i++) {
        struct frame_column *const column = column_of(frame, i);
        const bool label = column == &frame->classes;

        if (column != NULL && (features || label) &&
            holds_words(&survey->column[i], label))
            column->categorical = true;
    }
}

/* One item of the list. */
static enum err mark_item(struct frame *frame, struct span name,
                          const struct survey *survey, struct why *why)
{
    struct frame_column *column;
    uint32_t col = 0;

    if (span_is(span_trim(name), "all")) {
        for (uint32_t j = 0; j < frame->cols; j++)
            frame->column[j].categorical = true;
        return ERR_OK;
    }
    if (span_is(span_trim(name), "auto") && survey != NULL) {
        mark_surveyed(frame, survey, true);
        return ERR_OK;
    }
    if (csv_find(&frame->csv, name, &col, why) != ERR_OK)
        return why_in(why, ERR_UNKNOWN, "--categorical");
    column = column_of(frame, col);
    if (column != NULL)
        column->categorical = true;
    return ERR_OK;
}

/* Mark the columns of the comma-separated list. */
static enum err mark_categories(struct frame *frame,
                                const struct frame_options *options,
                                struct why *why)
{
    const struct survey *const survey = options->survey;
    const char *list = options->categorical;
    enum err err = ERR_OK;

    if (list != NULL && strcmp(list, "none") == 0)
        return ERR_OK;
    if (survey != NULL)
        mark_surveyed(frame, survey, list == NULL);
    while (err == ERR_OK && list != NULL && *list != '\0') {
        const struct span name = {list, strcspn(list, ",")};

        list += name.size + (list[name.size] == ',');
        err = mark_item(frame, name, survey, why);
    }
    return err;
}

/* As the encoder was fitted. */
static void mark_kinds(struct frame *frame, const struct frame_options *options)
{
    for (uint32_t j = 0; j < frame->cols; j++)
        frame->column[j].categorical = options->kinds[j];
    frame->classes.categorical =
        options->label_words && frame->csv.columns.label < frame->csv.cols;
}

static enum err begin(struct frame_reader *reader, const char *line,
                      size_t size, struct why *why)
{
    const struct frame_options *const options = reader->options;
    struct frame *const frame = reader->frame;
    enum err err;

    frame->csv = (struct csv){.wanted = options->wanted,
                              .header_wanted = options->header,
                              .separator = reader->separator};
    err = csv_begin(&frame->csv, line, size, why);
    if (err != ERR_OK)
        return err;
    frame->cols = frame->csv.columns.features;
    frame->column = mem_new(frame->cols, sizeof *frame->column);
    reader->words = mem_new((size_t)frame->cols + 1, sizeof *reader->words);
    if (frame->column == NULL || reader->words == NULL)
        return why_set(why, ERR_NOMEM, "out of memory");
    if (options->kinds != NULL)
        mark_kinds(frame, options);
    else
        err = mark_categories(frame, options, why);
    return err;
}

/* A quarter more: of many long columns, twice as much would lie idle. */
static size_t more_rows(size_t capacity)
{
    return capacity + capacity / 4 + 64;
}

/* All arrays keep step. */
static void *grow_array(void *old, size_t used, size_t capacity, size_t size)
{
    void *const grown = mem_new(more_rows(capacity), size);

    if (grown != NULL && used > 0)
        memcpy(grown, old, used * size);
    if (grown != NULL)
        mem_free(old);
    return grown;
}

static enum err grow_column(struct frame_column *column, size_t used,
                            size_t capacity)
{
    if (column->categorical) {
        uint32_t *code = grow_array(column->code, used, capacity, sizeof *code);

        if (code == NULL)
            return ERR_NOMEM;
        column->code = code;
    } else {
        double *number =
            grow_array(column->number, used, capacity, sizeof *number);

        if (number == NULL)
            return ERR_NOMEM;
        column->number = number;
    }
    return ERR_OK;
}

static enum err grow_rows(struct frame_reader *reader)
{
    struct frame *const frame = reader->frame;
    const size_t used = frame->rows;
    const size_t old = reader->capacity;
    double *label = grow_array(frame->label, used, old, sizeof *label);

    if (label == NULL)
        return ERR_NOMEM;
    frame->label = label;
    for (uint32_t j = 0; j < frame->cols; j++) {
        if (grow_column(&frame->column[j], used, old) != ERR_OK)
            return ERR_NOMEM;
    }
    if (frame->csv.columns.weight < frame->csv.cols) {
        double *weight = grow_array(frame->weight, used, old, sizeof *weight);

        if (weight == NULL)
            return ERR_NOMEM;
        frame->weight = weight;
    }
    if (frame->classes.categorical &&
        grow_column(&frame->classes, used, old) != ERR_OK)
        return ERR_NOMEM;
    reader->capacity = more_rows(old);
    return ERR_OK;
}

static struct csv_setting setting_of(const struct frame_reader *reader,
                                     uint32_t col)
{
    const struct csv *const csv = &reader->frame->csv;
    const struct survey *const survey = reader->options->survey;
    const bool known = survey != NULL && col < survey->cols;

    return (struct csv_setting){.label = csv->columns.role[col] == COLUMN_LABEL,
                                .col = col,
                                .separator = csv->separator,
                                .grouped =
                                    known && survey->column[col].grouped > 0,
                                .decimals = known && survey->decimals};
}

static enum err put_number(struct frame_reader *reader, struct span field,
                           uint32_t col, double *value, struct why *why)
{
    const struct frame_options *const options = reader->options;
    const struct csv_setting setting = setting_of(reader, col);
    const bool label = setting.label;

    if (!csv_is_missing(field)) {
        const enum err err = csv_number(field, &setting, value, why);

        return err == ERR_FORMAT && options->kinds != NULL
                   ? csv_say_unlike(
                         field, &setting,
                         label && options->missing_labels
                             ? "; --label none predicts without labels"
                             : "",
                         why)
                   : err;
    }
    if (!label && !options->missing && options->kinds != NULL)
        return why_set(why, ERR_FORMAT,
                       "a missing value ('%s'), and the model was trained to "
                       "refuse them; fill it in, or train with --missing mean",
                       quote(field).text);
    if (label && !options->missing_labels)
        return why_set(why, ERR_FORMAT,
                       "the label is missing ('%s'); leave the row out",
                       quote(field).text);
    if (!label && !options->missing)
        return csv_number(field, &setting, value, why);
    *value = nan("");
    return ERR_OK;
}

static enum err put_word(struct frame_reader *reader, struct span field,
                         uint32_t col, uint32_t *code, struct why *why)
{
    const struct frame_options *const options = reader->options;
    const uint32_t j = frame_of_csv(reader->frame, col);
    const uint32_t known = reader->words[j].count;
    double none;
    enum err err;

    if (memchr(field.at, '\0', field.size) != NULL)
        return why_set(why, ERR_FORMAT, "a NUL byte; is this a text file?");
    if (options->markers && csv_is_missing(field)) {
        *code = FRAME_MISSING;
        return put_number(reader, field, col, &none, why);
    }
    err = dictionary_look_up(&reader->words[j], field, code);
    if (err != ERR_OK)
        return why_set(why, err, "%s", err_text(err));
    return reader->words[j].count > known ? letters_check(field, why) : ERR_OK;
}

static enum err put_field(struct frame_reader *reader, uint32_t col,
                          struct span field, struct why *why)
{
    struct frame *const frame = reader->frame;
    struct frame_column *const column = column_of(frame, col);
    const uint32_t j = frame_of_csv(frame, col);
    const uint32_t row = frame->rows;

    if (frame->csv.columns.role[col] == COLUMN_WEIGHT)
        return csv_weight(field, &frame->weight[row], why);
    if (column == NULL)
        return ERR_OK;
    if (column->categorical)
        return put_word(reader, field, col, &column->code[row], why);
    return put_number(
        reader, field, col,
        j == frame->cols ? &frame->label[row] : &column->number[row], why);
}

/* Files that were put together carry their headers along. */
static enum err say_header(const struct csv *csv, uint32_t col,
                           struct span field, enum err err, struct why *why)
{
    if (!csv->header || field.size == 0 || !span_is(field, csv_name(csv, col)))
        return err;
    return why_set(why, err,
                   "'%s' is the column's name: the header again; leave the "
                   "line out",
                   quote(field).text);
}

static uint64_t count_feeds(const char *from, const char *to)
{
    uint64_t feeds = 0;

    while (from < to)
        feeds += *from++ == '\n';
    return feeds;
}

/* A row may go on over several lines: *number becomes that in which a field
 * begins that is refused. */
static enum err read_fields(struct frame_reader *reader, struct span line,
                            uint64_t *number, struct why *why)
{
    struct frame *const frame = reader->frame;
    const char *const row = line.at;
    bool more = true;
    uint32_t col = 0;

    for (; more; col++) {
        const char *const begin = line.at;
        struct span field = {0};
        enum err err = csv_field(frame->csv.separator, &line, reader->scratch,
                                 &field, &more, why);

        if (err == ERR_OK && col < frame->csv.cols)
            err = put_field(reader, col, field, why);
        if (err == ERR_FORMAT && col < frame->csv.cols)
            err = say_header(&frame->csv, col, field, err, why);
        if (err != ERR_OK) {
            *number += count_feeds(row, begin);
            return why_in(why, err, "%s", csv_shown(&frame->csv, col).text);
        }
    }
    if (col != frame->csv.cols)
        return why_set(why, ERR_FORMAT, "%u columns, expected %u", col,
                       frame->csv.cols);
    return ERR_OK;
}

static enum err read_row(struct frame_reader *reader, struct span line,
                         uint64_t *number, struct why *why)
{
    struct frame *const frame = reader->frame;
    enum err err = ERR_OK;

    if (line.size + 1 > reader->scratch_size) {
        mem_free(reader->scratch);
        reader->scratch_size = 2 * line.size + 1;
        reader->scratch = mem_new(reader->scratch_size, 1);
        if (reader->scratch == NULL)
            err = ERR_NOMEM;
    }
    if (err == ERR_OK && frame->rows == reader->capacity)
        err = grow_rows(reader);
    if (err == ERR_OK && frame->rows >= DATA_ROWS_MAX)
        err = ERR_TOOBIG;
    if (err != ERR_OK)
        return why_set(why, err, "%s", err_text(err));
    frame->label[frame->rows] = nan(""); /* Unless there is one. */
    err = read_fields(reader, line, number, why);
    frame->rows += err == ERR_OK;
    return err;
}

static bool is_blank(struct span line)
{
    size_t blanks = 0;

    while (blanks < line.size && line.at[blanks] == ' ')
        blanks++;
    return blanks == line.size;
}

/* The line, and what may be the cause. */
static enum err say_line(const struct csv *csv, uint64_t number, enum err err,
                         struct why *why)
{
    const char *const doubt = csv_doubt(csv);
    size_t used;

    if (why == NULL)
        return err;
    used = strlen(why->text);
    if (err == ERR_FORMAT || err == ERR_SHAPE)
        (void)snprintf(why->text + used, sizeof why->text - used, "%s", doubt);
    return why_in(why, err, "line %llu", (unsigned long long)number);
}

static enum err read_rows(struct frame_reader *reader,
                          struct text_source *source, struct why *why)
{
    bool begun = false;

    for (;;) {
        struct span line;
        uint64_t number = 0;
        enum err err = csv_line(
            source, begun ? reader->frame->csv.separator : reader->separator,
            &line, &number, why);

        if (err != ERR_OK)
            return err;
        if (line.at == NULL)
            break;
        if (is_blank(line) ||
            (!begun && csv_says_separator(line, &reader->separator)))
            continue;
        if (!begun)
            err = begin(reader, line.at, line.size, why);
        if (err == ERR_OK && (begun || !reader->frame->csv.header))
            err = read_row(reader, line, &number, why);
        begun = true;
        if (err != ERR_OK)
            return say_line(&reader->frame->csv, number, err, why);
    }
    if (reader->frame->rows == 0)
        return why_set(why, ERR_FORMAT,
                       begun ? "no rows, the first line is the header alone"
                             : "no rows; expected lines with commas or tabs "
                               "between fields");
    return ERR_OK;
}

/* --- the end of the rows ---------------------------------------------------
 */

/* Labels that turn out to be numbers are what they say. */
static enum err finish_labels(struct frame_reader *reader)
{
    struct frame *const frame = reader->frame;
    struct frame_column *const classes = &frame->classes;

    if (dictionary_settle(classes, &reader->words[frame->cols], frame->rows) !=
        ERR_OK)
        return ERR_NOMEM;
    for (uint32_t i = 0; i < frame->rows; i++) {
        const uint32_t code = classes->code[i];

        if (code != FRAME_MISSING)
            frame->label[i] =
                classes->numeric ? classes->category[code].value : (double)code;
    }
    return ERR_OK;
}

static enum err finish(struct frame_reader *reader, struct why *why)
{
    struct frame *const frame = reader->frame;

    CHECK(reader->words != NULL); /* There are rows. */
    for (uint32_t j = 0; j < frame->cols; j++) {
        if (frame->column[j].categorical &&
            dictionary_settle(&frame->column[j], &reader->words[j],
                              frame->rows) != ERR_OK)
            return why_set(why, ERR_NOMEM, "out of memory");
    }
    if (frame->classes.categorical && finish_labels(reader) != ERR_OK)
        return why_set(why, ERR_NOMEM, "out of memory");
    return ERR_OK;
}

enum err frame_read(struct text_source *source,
                    const struct frame_options *options, struct frame *frame,
                    struct why *why)
{
    struct frame made = {0};
    struct frame_reader reader = {
        .frame = &made, .options = options, .separator = options->separator};
    enum err err = read_rows(&reader, source, why);

    if (err == ERR_OK)
        err = finish(&reader, why);
    for (uint32_t j = 0; reader.words != NULL && j <= made.cols; j++)
        dictionary_close(&reader.words[j]);
    mem_free(reader.words);
    mem_free(reader.scratch);
    if (err != ERR_OK) {
        frame_close(&made);
        return err;
    }
    *frame = made;
    return ERR_OK;
}

void frame_drop(struct frame *frame, uint32_t col)
{
    CHECK(col < frame->cols);
    column_close(&frame->column[col]);
    memmove(frame->column + col, frame->column + col + 1,
            (frame->cols - col - 1) * sizeof *frame->column);
    frame->cols--;
}

void frame_renumber(struct frame_column *column, uint32_t rows,
                    const uint32_t *fresh)
{
    for (uint32_t i = 0; i < rows; i++) {
        if (column->code[i] != FRAME_MISSING)
            column->code[i] = fresh[column->code[i]];
    }
}

/* Number the categories that some row has afresh; the rest go. */
static enum err drop_unused(struct frame_column *column, uint32_t rows)
{
    uint32_t *fresh = mem_new(column->categories, sizeof *fresh);
    uint32_t count = 0;

    if (fresh == NULL)
        return ERR_NOMEM;
    for (uint32_t i = 0; i < rows; i++) {
        if (column->code[i] != FRAME_MISSING)
            fresh[column->code[i]] = 1;
    }
    for (uint32_t i = 0; i < column->categories; i++) {
        if (fresh[i] == 0) {
            mem_free(column->category[i].text);
            continue;
        }
        column->category[count] = column->category[i];
        fresh[i] = count++;
    }
    column->categories = count;
    frame_renumber(column, rows, fresh);
    mem_free(fresh);
    return ERR_OK;
}

static void move_row(struct frame *frame, uint32_t from, uint32_t to)
{
    frame->label[to] = frame->label[from];
    if (frame->weight != NULL)
        frame->weight[to] = frame->weight[from];
    if (frame->classes.categorical)
        frame->classes.code[to] = frame->classes.code[from];
    for (uint32_t j = 0; j < frame->cols; j++) {
        struct frame_column *const column = &frame->column[j];

        if (column->categorical)
            column->code[to] = column->code[from];
        else
            column->number[to] = column->number[from];
    }
}

enum err frame_keep_labels(struct frame *frame, double a, double b)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < frame->rows; i++) {
        if (frame->label[i] == a || frame->label[i] == b)
            move_row(frame, i, kept++);
    }
    frame->rows = kept;
    for (uint32_t j = 0; j < frame->cols; j++) {
        if (frame->column[j].categorical &&
            drop_unused(&frame->column[j], kept) != ERR_OK)
            return ERR_NOMEM;
    }
    return ERR_OK;
}

uint32_t frame_category(const struct frame_column *column, const char *text)
{
    double value = 0;
    uint32_t low = 0;
    uint32_t high = column->categories;

    if (column->numeric &&
        number_parse(text, strlen(text), &value) != NUMBER_OK)
        return column->categories;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const struct category *const one = &column->category[middle];
        const bool less =
            column->numeric ? one->value < value : strcmp(one->text, text) < 0;

        if (less)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < column->categories &&
        (column->numeric ? column->category[low].value == value
                         : strcmp(column->category[low].text, text) == 0))
        return low;
    return column->categories;
}

uint32_t *frame_translate(const struct frame_column *from,
                          const struct frame_column *known)
{
    uint32_t *const code = mem_new(from->categories, sizeof *code);

    for (uint32_t i = 0; code != NULL && i < from->categories; i++)
        code[i] = frame_category(known, from->category[i].text);
    return code;
}

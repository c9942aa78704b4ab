/*
 * encode.c - one-hot encoding, standardisation and imputation as they were
 * fitted (encode_fit.c), applied to the rows of a frame; and the names of the
 * columns that come out.
 */
#include "data/table/encode.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/span.h"
#include "data/table/encode_parts.h"

enum { STAGE_ENTRIES = 1 << 17 }; /* Entries of a block, about. */

static const char *const scalings[] = {
    [SCALE_NONE] = "none",
    [SCALE_STANDARD] = "standard",
    [SCALE_MINMAX] = "minmax",
};
static const char *const fillings[] = {[MISSING_REFUSE] = "refuse",
                                       [MISSING_MEAN] = "mean",
                                       [MISSING_MEDIAN] = "median",
                                       [MISSING_ZERO] = "zero",
                                       [MISSING_INDICATOR] = "indicator"};

static bool find_name(const char *name, const char *const *names, size_t count,
                      size_t *found)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(name, names[i]) == 0) {
            *found = i;
            return true;
        }
    }
    return false;
}

bool scaling_parse(const char *name, enum scaling *scaling)
{
    size_t found = 0;

    if (!find_name(name, scalings, sizeof scalings / sizeof *scalings, &found))
        return false;
    *scaling = (enum scaling)found;
    return true;
}

const char *scaling_name(enum scaling scaling)
{
    return scalings[scaling];
}

bool missing_parse(const char *name, enum missing *missing)
{
    size_t found = 0;

    if (!find_name(name, fillings, sizeof fillings / sizeof *fillings, &found))
        return false;
    *missing = (enum missing)found;
    return true;
}

const char *missing_name(enum missing missing)
{
    return fillings[missing];
}

static void known_close(struct frame_column *known)
{
    for (uint32_t i = 0; i < known->categories; i++)
        mem_free(known->category[i].text);
    mem_free(known->category);
}

void encoder_close(struct encoder *encoder)
{
    for (uint32_t j = 0; encoder->column != NULL && j < encoder->columns; j++)
        known_close(&encoder->column[j].known);
    for (uint32_t p = 0; encoder->pair != NULL && p < encoder->pairs; p++)
        mem_free(encoder->pair[p].key);
    known_close(&encoder->classes);
    schema_close(&encoder->schema);
    mem_free(encoder->column);
    mem_free(encoder->pair);
    *encoder = (struct encoder){0};
}

bool encoder_fills(const struct encoder *encoder)
{
    for (uint32_t j = 0; j < encoder->columns; j++) {
        if (encoder->column[j].gap != GAP_REFUSE)
            return true;
    }
    return false;
}

bool encoder_scales(const struct encoder *encoder)
{
    for (uint32_t j = 0; j < encoder->columns; j++) {
        const struct encoded_column *const column = &encoder->column[j];

        if (!column->categorical &&
            (column->offset != 0 || column->factor != 1))
            return true;
    }
    return false;
}

bool encoder_plain_columns(const struct encoder *encoder)
{
    for (uint32_t j = 0; j < encoder->columns; j++) {
        const struct encoded_column *const column = &encoder->column[j];

        if (column->categorical || column->offset != 0 || column->factor != 1 ||
            column->gap != GAP_REFUSE)
            return false;
    }
    return encoder->kind == ENCODER_TABLE && encoder->pairs == 0;
}

bool encoder_is_plain(const struct encoder *encoder)
{
    return encoder->classes.categories == 0 && encoder_plain_columns(encoder);
}

enum err encoder_plain(struct encoder *encoder, struct schema *schema)
{
    struct encoder made = {.kind = ENCODER_TABLE,
                           .schema = *schema,
                           .columns = schema->features,
                           .cols = schema->features};

    *schema = (struct schema){0};
    made.column = mem_new(made.columns, sizeof *made.column);
    if (made.column == NULL) {
        encoder_close(&made);
        return ERR_NOMEM;
    }
    for (uint32_t j = 0; j < made.columns; j++)
        made.column[j] = (struct encoded_column){.first = j, .factor = 1};
    *encoder = made;
    return ERR_OK;
}

static uint32_t width_of(const struct encoded_column *column)
{
    return (column->categorical ? column->known.categories : 1) +
           (column->gap == GAP_FLAG ? 1 : 0);
}

enum err encoder_place_columns(struct encoder *encoder)
{
    uint64_t next = 0;

    for (uint32_t j = 0; j < encoder->columns; j++) {
        struct encoded_column *const column = &encoder->column[j];

        column->first = (uint32_t)next;
        next += width_of(column);
        if (next > DATA_COLS_MAX)
            return ERR_TOOBIG;
    }
    for (uint32_t p = 0; p < encoder->pairs; p++) {
        encoder->pair[p].first = (uint32_t)next;
        next += encoder->pair[p].count;
        if (next > DATA_COLS_MAX)
            return ERR_TOOBIG;
    }
    encoder->cols = (uint32_t)next + (encoder->constant ? 1 : 0);
    return encoder->cols > DATA_COLS_MAX ? ERR_TOOBIG : ERR_OK;
}

/* The categories of a frame under the numbers that were fitted. */
struct translation {
    uint32_t **code; /* Of each column; NULL for numbers. */
    uint32_t columns;
    uint32_t *label; /* Of the classes; NULL if labels are numbers. */
};

static void translation_close(struct translation *words)
{
    for (uint32_t j = 0; words->code != NULL && j < words->columns; j++)
        mem_free(words->code[j]);
    mem_free(words->code);
    mem_free(words->label);
}

static enum err translate(const struct encoder *encoder,
                          const struct frame *frame, struct translation *words)
{
    words->code = mem_new(frame->cols, sizeof *words->code);
    if (words->code == NULL)
        return ERR_NOMEM;
    words->columns = frame->cols;
    for (uint32_t j = 0; j < frame->cols; j++) {
        if (!frame->column[j].categorical)
            continue;
        words->code[j] =
            frame_translate(&frame->column[j], &encoder->column[j].known);
        if (words->code[j] == NULL)
            return ERR_NOMEM;
    }
    if (encoder->classes.categories == 0 || !frame->classes.categorical)
        return ERR_OK;
    words->label = frame_translate(&frame->classes, &encoder->classes);
    return words->label == NULL ? ERR_NOMEM : ERR_OK;
}

/* Labels as numbers: as they are, the number of a word, or of no class. */
static double label_of(const struct encoder *encoder, const struct frame *frame,
                       const struct translation *words, uint32_t row)
{
    if (encoder->classes.categories == 0 || isnan(frame->label[row]))
        return frame->label[row];
    return words->label != NULL ? words->label[frame->classes.code[row]]
                                : encoder->classes.categories;
}

static void count_unknown(const struct encoder *encoder,
                          const struct frame *frame,
                          const struct translation *words,
                          struct unknown_words *unknown)
{
    for (uint32_t j = 0; j < frame->cols; j++) {
        const struct frame_column *const from = &frame->column[j];

        for (uint32_t i = 0; from->categorical && i < frame->rows; i++) {
            if (from->code[i] == FRAME_MISSING ||
                words->code[j][from->code[i]] <
                    encoder->column[j].known.categories)
                continue;
            if (unknown->fields++ > 0)
                continue;
            unknown->column = j;
            (void)snprintf(unknown->text, sizeof unknown->text, "%s",
                           from->category[from->code[i]].text);
        }
    }
}

/* The category of a row under the fitted numbers; one that has no column is
 * at least `categories`. */
static uint32_t code_of(const struct frame *frame,
                        const struct translation *words, uint32_t column,
                        uint32_t row)
{
    const uint32_t code = frame->column[column].code[row];

    return code == FRAME_MISSING ? code : words->code[column][code];
}

static enum err add_pairs(const struct encoder *encoder,
                          const struct frame *frame,
                          const struct translation *words, uint32_t row,
                          struct sparse *rows)
{
    for (uint32_t p = 0; p < encoder->pairs; p++) {
        const struct encoded_pair *const pair = &encoder->pair[p];
        const uint64_t key = pair_key(code_of(frame, words, pair->of.a, row),
                                      code_of(frame, words, pair->of.b, row));
        const uint64_t *const found =
            bsearch(&key, pair->key, pair->count, sizeof key, pair_order);

        if (found != NULL &&
            sparse_add(rows, pair->first + (uint32_t)(found - pair->key), 1) !=
                ERR_OK)
            return ERR_NOMEM;
    }
    return ERR_OK;
}

static enum err add_number(const struct encoded_column *column, double value,
                           struct sparse *rows)
{
    const bool missing = isnan(value);
    enum err err = ERR_OK;

    value =
        ((missing ? column->fill : value) - column->offset) * column->factor;
    if (!sparse_in_range(rows, value))
        return ERR_RANGE;
    if (value != 0)
        err = sparse_add(rows, column->first, value);
    if (err == ERR_OK && missing && column->gap == GAP_FLAG)
        err = sparse_add(rows, column->first + 1, 1);
    return err;
}

static enum err add_word(const struct encoded_column *column, uint32_t code,
                         struct sparse *rows)
{
    const uint32_t categories = column->known.categories;

    if (code < categories)
        return sparse_add(rows, column->first + code, 1);
    return code == FRAME_MISSING && column->gap == GAP_FLAG
               ? sparse_add(rows, column->first + categories, 1)
               : ERR_OK;
}

static enum err add_row(const struct encoder *encoder,
                        const struct frame *frame,
                        const struct translation *words, uint32_t row,
                        struct sparse *rows)
{
    enum err err = sparse_add_row(rows, label_of(encoder, frame, words, row));

    if (err == ERR_OK && frame->weight != NULL)
        rows->weight[rows->rows - 1] = frame->weight[row];
    rows->weighted = frame->weight != NULL;
    for (uint32_t j = 0; err == ERR_OK && j < encoder->columns; j++) {
        const struct encoded_column *const column = &encoder->column[j];

        err = column->categorical
                  ? add_word(column, code_of(frame, words, j, row), rows)
                  : add_number(column, frame->column[j].number[row], rows);
    }
    if (err == ERR_OK)
        err = add_pairs(encoder, frame, words, row, rows);
    if (err == ERR_OK && encoder->constant)
        err = sparse_add(rows, encoder->cols - 1, 1);
    return err;
}

static enum err add_row_or_say(const struct encoder *encoder,
                               const struct frame *frame,
                               const struct translation *words, uint32_t row,
                               struct sparse *rows, struct why *why)
{
    const enum err err = add_row(encoder, frame, words, row, rows);

    if (err == ERR_RANGE)
        return why_set(why, err, "row %u: a value is too large; at most %s",
                       row + 1, sparse_limit(rows->wide));
    return err == ERR_OK ? err : why_set(why, err, "%s", err_text(err));
}

static bool is_full(const struct sparse *rows)
{
    return rows->rows >= STAGE_ENTRIES || sparse_entries(rows) >= STAGE_ENTRIES;
}

static enum err flush(const struct encoder *encoder, struct sparse *rows,
                      struct stage *stage, struct why *why)
{
    enum err err;

    rows->cols = encoder->cols;
    err = stage_add(stage, rows);
    sparse_clear(rows);
    return err == ERR_OK ? err : why_set(why, err, "%s", err_text(err));
}

static enum err check_columns(const struct encoder *encoder,
                              const struct frame *frame, struct why *why)
{
    if (frame->cols != encoder->columns)
        return why_set(why, ERR_SHAPE,
                       "%u columns beside the label, the training table has "
                       "%u",
                       frame->cols, encoder->columns);
    for (uint32_t j = 0; j < frame->cols; j++) {
        if (frame->column[j].categorical != encoder->column[j].categorical)
            return why_set(why, ERR_SHAPE,
                           "column %u is of another kind than in the training "
                           "table",
                           j + 1);
    }
    return ERR_OK;
}

/* Does the table fit, and which of its words are which of ours? */
static enum err begin_rows(const struct encoder *encoder,
                           const struct frame *frame, struct translation *words,
                           struct why *why)
{
    enum err err = check_columns(encoder, frame, why);

    if (err != ERR_OK)
        return err;
    err = translate(encoder, frame, words);
    return err == ERR_OK ? err : why_set(why, err, "%s", err_text(err));
}

static enum err say_unknown_label(const struct encoder *encoder,
                                  const struct frame *frame, uint32_t row,
                                  struct why *why)
{
    const struct frame_column *const classes = &frame->classes;
    char list[LIST_SIZE] = "";

    for (uint32_t k = 0; k < encoder->classes.categories; k++)
        list_add(list, sizeof list,
                 quote_text(encoder->classes.category[k].text).text);
    return why_set(
        why, ERR_MISMATCH,
        "row %u: label '%s' is not one of the training set's: %s", row + 1,
        quote_text(classes->category[classes->code[row]].text).text, list);
}

enum err encoder_check_labels(const struct encoder *encoder,
                              const struct frame *frame, struct why *why)
{
    const struct frame_column *const classes = &frame->classes;
    uint32_t *code, row = 0;

    if (encoder->classes.categories == 0 || !classes->categorical)
        return ERR_OK;
    code = frame_translate(classes, &encoder->classes);
    if (code == NULL)
        return why_set(why, ERR_NOMEM, "out of memory");
    while (row < frame->rows &&
           (classes->code[row] == FRAME_MISSING ||
            code[classes->code[row]] < encoder->classes.categories))
        row++;
    mem_free(code);
    return row == frame->rows ? ERR_OK
                              : say_unknown_label(encoder, frame, row, why);
}

enum err encoder_apply(const struct encoder *encoder, const struct frame *frame,
                       struct stage *stage, struct unknown_words *unknown,
                       struct why *why)
{
    struct sparse rows = {.wide = stage->wide};
    struct translation words = {0};
    enum err err = begin_rows(encoder, frame, &words, why);

    for (uint32_t i = 0; err == ERR_OK && i < frame->rows; i++) {
        err = add_row_or_say(encoder, frame, &words, i, &rows, why);
        if (err == ERR_OK && (i + 1 == frame->rows || is_full(&rows)))
            err = flush(encoder, &rows, stage, why);
    }
    *unknown = (struct unknown_words){0};
    if (err == ERR_OK)
        count_unknown(encoder, frame, &words, unknown);
    translation_close(&words);
    sparse_close(&rows);
    return err;
}

enum err encoder_rows(const struct encoder *encoder, const struct frame *frame,
                      struct sparse *rows, struct why *why)
{
    struct sparse made = {0};
    struct translation words = {0};
    enum err err = begin_rows(encoder, frame, &words, why);

    for (uint32_t i = 0; err == ERR_OK && i < frame->rows; i++)
        err = add_row_or_say(encoder, frame, &words, i, &made, why);
    translation_close(&words);
    if (err != ERR_OK) {
        sparse_close(&made);
        return err;
    }
    made.cols = encoder->cols;
    *rows = made;
    return ERR_OK;
}

/* --- names ------------------------------------------------------------------
 */

static const char *name_of(const struct encoder *encoder, uint32_t column,
                           char number[16])
{
    if (encoder->schema.name != NULL)
        return encoder->schema.name[column];
    (void)snprintf(number, 16, "%u",
                   encoder->schema.at != NULL ? encoder->schema.at[column] + 1
                                              : column + 1);
    return number;
}

static void name_pair(const struct encoder *encoder,
                      const struct encoded_pair *pair, uint64_t key, char *text,
                      size_t size)
{
    const struct encoded_column *const column = encoder->column;
    char a[16];
    char b[16];

    (void)snprintf(text, size, "%s=%s & %s=%s", name_of(encoder, pair->of.a, a),
                   column[pair->of.a].known.category[key >> 32].text,
                   name_of(encoder, pair->of.b, b),
                   column[pair->of.b].known.category[(uint32_t)key].text);
}

static void name_column(const struct encoder *encoder, uint32_t j,
                        uint32_t place, char *text, size_t size)
{
    const struct frame_column *const known = &encoder->column[j].known;
    char number[16];
    const char *const name = name_of(encoder, j, number);

    if (encoder->column[j].categorical && place < known->categories)
        (void)snprintf(text, size, "%s=%s", name, known->category[place].text);
    else if (encoder->column[j].categorical || place > 0)
        (void)snprintf(text, size, "%s missing", name);
    else
        (void)snprintf(text, size, "%s", name);
}

/* The last of the columns that begin at or before `col`. */
static uint32_t column_at(const struct encoder *encoder, uint32_t col)
{
    uint32_t low = 0;
    uint32_t high = encoder->columns;

    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;

        if (encoder->column[middle].first <= col)
            low = middle;
        else
            high = middle;
    }
    return low;
}

void encoder_name(const struct encoder *encoder, uint32_t col, char *text,
                  size_t size)
{
    uint32_t j;

    for (uint32_t p = 0; p < encoder->pairs; p++) {
        const struct encoded_pair *const pair = &encoder->pair[p];

        if (col >= pair->first && col - pair->first < pair->count) {
            name_pair(encoder, pair, pair->key[col - pair->first], text, size);
            return;
        }
    }
    if (encoder->kind != ENCODER_TABLE) {
        (void)snprintf(text, size, "%u", col + (encoder->from_zero ? 0 : 1));
        return;
    }
    j = column_at(encoder, col);
    /* Columns that hold nothing begin where the next one does. */
    name_column(encoder, j, col - encoder->column[j].first, text, size);
}

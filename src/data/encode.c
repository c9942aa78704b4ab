#include "data/encode.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { STAGE_ENTRIES = 1 << 17 }; /* Entries of a block, about. */

bool scaling_parse(const char *name, enum scaling *scaling)
{
    static const char *const names[] = {"none", "standard", "minmax"};

    for (int i = 0; i < 3; i++) {
        if (strcmp(name, names[i]) == 0) {
            *scaling = (enum scaling)i;
            return true;
        }
    }
    return false;
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
    mem_free(encoder->column);
    mem_free(encoder->pair);
    mem_free(encoder->label);
    *encoder = (struct encoder){0};
}

static void fit_standard(const double *x, uint32_t rows,
                         struct encoded_column *to)
{
    double sum = 0;
    double squares = 0;

    for (uint32_t i = 0; i < rows; i++)
        sum += x[i];
    to->offset = sum / (double)rows;
    for (uint32_t i = 0; i < rows; i++)
        squares += (x[i] - to->offset) * (x[i] - to->offset);
    to->factor = squares > 0 ? 1 / sqrt(squares / (double)rows) : 0;
}

static void fit_minmax(const double *x, uint32_t rows,
                       struct encoded_column *to)
{
    double low = x[0];
    double high = x[0];

    for (uint32_t i = 1; i < rows; i++) {
        low = x[i] < low ? x[i] : low;
        high = x[i] > high ? x[i] : high;
    }
    to->offset = low;
    to->factor = high > low ? 1 / (high - low) : 0;
}

static void fit_number(const struct frame_column *from, uint32_t rows,
                       enum scaling scaling, struct encoded_column *to)
{
    to->offset = 0;
    to->factor = 1;
    if (scaling == SCALE_STANDARD)
        fit_standard(from->number, rows, to);
    else if (scaling == SCALE_MINMAX)
        fit_minmax(from->number, rows, to);
}

static enum err copy_categories(const struct frame_column *from,
                                struct frame_column *to)
{
    to->categorical = true;
    to->numeric = from->numeric;
    to->category = mem_new(from->categories, sizeof *to->category);
    if (to->category == NULL)
        return ERR_NOMEM;
    for (uint32_t i = 0; i < from->categories; i++) {
        to->category[i].value = from->category[i].value;
        to->category[i].text = mem_text(from->category[i].text);
        if (to->category[i].text == NULL)
            return ERR_NOMEM;
        to->categories++;
    }
    return ERR_OK;
}

static int by_key(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

static uint64_t pair_key(uint32_t a, uint32_t b)
{
    return (uint64_t)a << 32 | b;
}

static enum err fit_pair(const struct frame *frame, struct encoded_pair *pair)
{
    const uint32_t *const a = frame->column[pair->of.a].code;
    const uint32_t *const b = frame->column[pair->of.b].code;

    pair->key = mem_new(frame->rows, sizeof *pair->key);
    if (pair->key == NULL)
        return ERR_NOMEM;
    for (uint32_t i = 0; i < frame->rows; i++)
        pair->key[i] = pair_key(a[i], b[i]);
    qsort(pair->key, frame->rows, sizeof *pair->key, by_key);
    for (uint32_t i = 0; i < frame->rows; i++) {
        if (i == 0 || pair->key[i] != pair->key[i - 1])
            pair->key[pair->count++] = pair->key[i];
    }
    return ERR_OK;
}

static bool is_excepted(const struct encode_options *options, uint32_t a,
                        uint32_t b)
{
    for (uint32_t i = 0; i < options->except_count; i++) {
        const struct column_pair *const one = &options->except[i];

        if ((one->a == a && one->b == b) || (one->a == b && one->b == a))
            return true;
    }
    return false;
}

static enum err fit_pairs(struct encoder *encoder, const struct frame *frame,
                          const struct encode_options *options)
{
    const size_t most = (size_t)frame->cols * (frame->cols - 1) / 2;

    if (!options->all_pairs)
        return ERR_OK;
    encoder->pair = mem_new(most, sizeof *encoder->pair);
    if (encoder->pair == NULL)
        return ERR_NOMEM;
    for (uint32_t a = 0; a < frame->cols; a++) {
        for (uint32_t b = a + 1; b < frame->cols; b++) {
            struct encoded_pair *const pair = &encoder->pair[encoder->pairs];

            if (!frame->column[a].categorical ||
                !frame->column[b].categorical || is_excepted(options, a, b))
                continue;
            *pair = (struct encoded_pair){.of = {a, b}};
            encoder->pairs++;
            if (fit_pair(frame, pair) != ERR_OK)
                return ERR_NOMEM;
        }
    }
    return ERR_OK;
}

static enum err fit_columns(struct encoder *encoder, const struct frame *frame,
                            enum scaling scaling)
{
    encoder->column = mem_new(frame->cols, sizeof *encoder->column);
    if (encoder->column == NULL)
        return ERR_NOMEM;
    encoder->columns = frame->cols;
    for (uint32_t j = 0; j < frame->cols; j++) {
        const struct frame_column *const from = &frame->column[j];
        struct encoded_column *const to = &encoder->column[j];

        to->categorical = from->categorical;
        if (!from->categorical)
            fit_number(from, frame->rows, scaling, to);
        else if (copy_categories(from, &to->known) != ERR_OK)
            return ERR_NOMEM;
    }
    return ERR_OK;
}

/* How the label's column is found again, and its words. */
static enum err fit_label(struct encoder *encoder, const struct frame *frame)
{
    const struct csv *const csv = &frame->csv;
    char number[16];

    (void)snprintf(number, sizeof number, "%u", csv->label + 1);
    encoder->label = mem_text(csv->header ? csv_name(csv, csv->label) : number);
    if (encoder->label == NULL)
        return ERR_NOMEM;
    if (!frame->classes.categorical || frame->classes.numeric)
        return ERR_OK;
    return copy_categories(&frame->classes, &encoder->classes);
}

enum err encoder_place_columns(struct encoder *encoder)
{
    uint64_t next = 0;

    for (uint32_t j = 0; j < encoder->columns; j++) {
        struct encoded_column *const column = &encoder->column[j];

        column->first = (uint32_t)next;
        next += column->categorical ? column->known.categories : 1;
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

enum err encoder_fit(struct encoder *encoder, const struct frame *frame,
                     const struct encode_options *options, struct why *why)
{
    struct encoder made = {.constant = options->constant};
    enum err err = fit_columns(&made, frame, options->scaling);

    if (err == ERR_OK)
        err = fit_label(&made, frame);
    if (err == ERR_OK)
        err = fit_pairs(&made, frame, options);
    if (err == ERR_OK)
        err = encoder_place_columns(&made);
    if (err != ERR_OK) {
        encoder_close(&made);
        return err == ERR_TOOBIG
                   ? why_set(why, err,
                             "more than %u columns after encoding; leave "
                             "columns with so many categories out",
                             DATA_COLS_MAX)
                   : why_set(why, err, "%s", err_text(err));
    }
    *encoder = made;
    return ERR_OK;
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

static uint32_t *translate_column(const struct frame_column *from,
                                  const struct frame_column *known)
{
    uint32_t *const code = mem_new(from->categories, sizeof *code);

    for (uint32_t i = 0; code != NULL && i < from->categories; i++)
        code[i] = frame_category(known, from->category[i].text);
    return code;
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
            translate_column(&frame->column[j], &encoder->column[j].known);
        if (words->code[j] == NULL)
            return ERR_NOMEM;
    }
    if (encoder->classes.categories == 0 || !frame->classes.categorical)
        return ERR_OK;
    words->label = translate_column(&frame->classes, &encoder->classes);
    return words->label == NULL ? ERR_NOMEM : ERR_OK;
}

/* Labels as numbers: as they are, the number of a word, or of no class. */
static double label_of(const struct encoder *encoder, const struct frame *frame,
                       const struct translation *words, uint32_t row)
{
    if (frame->csv.label >= frame->csv.cols)
        return nan("");
    if (encoder->classes.categories == 0)
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
            if (words->code[j][from->code[i]] <
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

static enum err add_pairs(const struct encoder *encoder,
                          const struct frame *frame,
                          const struct translation *words, uint32_t row,
                          struct sparse *rows)
{
    for (uint32_t p = 0; p < encoder->pairs; p++) {
        const struct encoded_pair *const pair = &encoder->pair[p];
        const uint32_t a =
            words->code[pair->of.a][frame->column[pair->of.a].code[row]];
        const uint32_t b =
            words->code[pair->of.b][frame->column[pair->of.b].code[row]];
        const uint64_t key = pair_key(a, b);
        const uint64_t *const found =
            bsearch(&key, pair->key, pair->count, sizeof key, by_key);

        if (found != NULL &&
            sparse_add(rows, pair->first + (uint32_t)(found - pair->key), 1) !=
                ERR_OK)
            return ERR_NOMEM;
    }
    return ERR_OK;
}

static enum err add_row(const struct encoder *encoder,
                        const struct frame *frame,
                        const struct translation *words, uint32_t row,
                        struct sparse *rows)
{
    enum err err = sparse_add_row(rows, label_of(encoder, frame, words, row));

    for (uint32_t j = 0; err == ERR_OK && j < encoder->columns; j++) {
        const struct encoded_column *const column = &encoder->column[j];
        const struct frame_column *const from = &frame->column[j];

        if (column->categorical) {
            const uint32_t code = words->code[j][from->code[row]];

            if (code < column->known.categories)
                err = sparse_add(rows, column->first + code, 1);
        } else {
            const double value =
                (from->number[row] - column->offset) * column->factor;

            if (!sparse_in_range(rows, value))
                return ERR_RANGE;
            if (value != 0)
                err = sparse_add(rows, column->first, value);
        }
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
        return why_set(
            why, err, "row %u: a value is too large; at most %s precision",
            row + 1, rows->wide ? "1.8e308 fits double" : "3.4e38 fits single");
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

/*
 * encode.c - one-hot encoding, standardisation and imputation: fitted to a
 * frame, or to some of its rows, and applied to others.  The columns of the
 * training table and their order are part of what is fitted.
 */
#include "data/table/encode.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/span.h"

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

bool encoder_is_fitted(const struct encoder *encoder)
{
    return encoder->indexed || encoder->column != NULL;
}

bool encoder_is_of_table(const struct encoder *encoder)
{
    return encoder->column != NULL;
}

bool encoder_fills(const struct encoder *encoder)
{
    for (uint32_t j = 0; j < encoder->columns; j++) {
        if (encoder->column[j].gap != GAP_REFUSE)
            return true;
    }
    return false;
}

bool encoder_is_plain(const struct encoder *encoder)
{
    for (uint32_t j = 0; j < encoder->columns; j++) {
        const struct encoded_column *const column = &encoder->column[j];

        if (column->categorical || column->offset != 0 || column->factor != 1 ||
            column->gap != GAP_REFUSE)
            return false;
    }
    return encoder->column != NULL && encoder->pairs == 0 &&
           encoder->classes.categories == 0;
}

enum err encoder_plain(struct encoder *encoder, struct schema *schema)
{
    struct encoder made = {.schema = *schema,
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

/* --- fitting ----------------------------------------------------------------
 */

/* Values and deviations are measured in units of 2^-540 or 2^540 where their
 * squares, or sums, might be 0 or beyond all numbers. */
#define SIZE_LEAST 1e-140
#define SIZE_MOST  1e140
#define SIZE_UNIT  0x1p540

/* The rows of a column that are fitted to, and how many. */
struct sample {
    double *x;
    uint32_t count;
    uint32_t missing; /* NaN among them. */
};

/* Deviations below what rounding alone may leave of a constant column count as
 * none: n times the error of a mean, as scikit-learn has it. */
static bool is_constant(double variance, double mean, double n)
{
    const double slip = n * mean * DBL_EPSILON;

    return variance <= n * DBL_EPSILON * variance + slip * slip;
}

/* What to multiply deviations from the mean by; values, if that is 0. */
static double unit_of(const double *x, uint32_t count, double mean)
{
    double most = 0;

    for (uint32_t i = 0; i < count; i++)
        most = fmax(most, fabs(x[i] - mean));
    return most < SIZE_LEAST ? SIZE_UNIT : most > SIZE_MOST ? 1 / SIZE_UNIT : 1;
}

static double mean_of(const double *x, uint32_t count)
{
    const double unit = fmin(unit_of(x, count, 0), 1);
    double sum = 0;

    for (uint32_t i = 0; i < count; i++)
        sum += x[i] * unit;
    return sum / (double)count / unit;
}

static void fit_standard(const struct sample *sample, struct encoded_column *to)
{
    const double n = (double)sample->count;
    double squares = 0;
    double unit;

    to->offset = mean_of(sample->x, sample->count);
    unit = unit_of(sample->x, sample->count, to->offset);
    for (uint32_t i = 0; i < sample->count; i++) {
        const double x = sample->x[i] * unit - to->offset * unit;

        squares += x * x;
    }
    to->factor = is_constant(squares / n, to->offset * unit, n)
                     ? 0
                     : fmin(unit / sqrt(squares / n), DBL_MAX);
}

static void fit_minmax(const struct sample *sample, struct encoded_column *to)
{
    double low = sample->x[0];
    double high = sample->x[0];

    for (uint32_t i = 1; i < sample->count; i++) {
        low = sample->x[i] < low ? sample->x[i] : low;
        high = sample->x[i] > high ? sample->x[i] : high;
    }
    to->offset = low;
    to->factor = high - low > 10 * DBL_EPSILON * fmax(fabs(low), fabs(high))
                     ? 1 / (high - low)
                     : 0;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;

    return x < y ? -1 : x > y;
}

/* Of the values that are there; sorts them. */
static double median_of(double *x, uint32_t count)
{
    qsort(x, count, sizeof *x, by_size);
    return count % 2 == 1 ? x[count / 2]
                          : x[count / 2 - 1] / 2 + x[count / 2] / 2;
}

/* What missing values become, and put it in their place. */
static void fit_fill(struct sample *sample, enum missing how, double *present,
                     struct encoded_column *to)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < sample->count; i++) {
        if (!isnan(sample->x[i]))
            present[count++] = sample->x[i];
    }
    to->gap =
        how == MISSING_INDICATOR && sample->missing > 0 ? GAP_FLAG : GAP_FILL;
    to->fill = how == MISSING_ZERO || count == 0 ? 0
               : how == MISSING_MEDIAN           ? median_of(present, count)
                                                 : mean_of(present, count);
    for (uint32_t i = 0; i < sample->count; i++) {
        if (isnan(sample->x[i]))
            sample->x[i] = to->fill;
    }
}

static void take_sample(const struct frame_column *from, uint32_t rows,
                        const bool *without, struct sample *sample)
{
    for (uint32_t i = 0; i < rows; i++) {
        if (without != NULL && without[i])
            continue;
        sample->missing += isnan(from->number[i]) ? 1 : 0;
        sample->x[sample->count++] = from->number[i];
    }
}

static enum err fit_number(const struct frame_column *from, uint32_t rows,
                           const struct encode_options *options,
                           struct encoded_column *to)
{
    struct sample sample = {.x = mem_new(rows, sizeof(double))};
    double *present = mem_new(rows, sizeof *present);
    const bool good = sample.x != NULL && present != NULL;

    to->factor = 1;
    if (good) {
        take_sample(from, rows, options->without, &sample);
        if (options->missing != MISSING_REFUSE)
            fit_fill(&sample, options->missing, present, to);
        if (options->scaling == SCALE_STANDARD && sample.count > 0)
            fit_standard(&sample, to);
        else if (options->scaling == SCALE_MINMAX && sample.count > 0)
            fit_minmax(&sample, to);
    }
    mem_free(sample.x);
    mem_free(present);
    return good ? ERR_OK : ERR_NOMEM;
}

/* Which categories the rows have that are fitted to, and whether one of them
 * has none. */
static enum err find_used(const struct frame_column *from, uint32_t rows,
                          const bool *without, bool **used, bool *gaps)
{
    bool *const made = mem_new(from->categories, sizeof *made);

    if (made == NULL)
        return ERR_NOMEM;
    *gaps = false;
    for (uint32_t i = 0; i < rows; i++) {
        if (without != NULL && without[i])
            continue;
        if (from->code[i] == FRAME_MISSING)
            *gaps = true;
        else
            made[from->code[i]] = true;
    }
    *used = made;
    return ERR_OK;
}

/* Those of `used`, or all if it is NULL. */
static enum err copy_categories(const struct frame_column *from,
                                const bool *used, struct frame_column *to)
{
    to->categorical = true;
    to->numeric = from->numeric;
    to->category = mem_new(from->categories, sizeof *to->category);
    if (to->category == NULL)
        return ERR_NOMEM;
    for (uint32_t i = 0; i < from->categories; i++) {
        struct category *const one = &to->category[to->categories];

        if (used != NULL && !used[i])
            continue;
        one->value = from->category[i].value;
        one->text = mem_text(from->category[i].text);
        if (one->text == NULL)
            return ERR_NOMEM;
        to->categories++;
    }
    return ERR_OK;
}

static enum err fit_words(const struct frame_column *from, uint32_t rows,
                          const struct encode_options *options,
                          struct encoded_column *to)
{
    bool *used = NULL;
    bool gaps = false;
    enum err err = find_used(from, rows, options->without, &used, &gaps);

    if (err == ERR_OK)
        err = copy_categories(from, used, &to->known);
    mem_free(used);
    if (options->missing != MISSING_REFUSE)
        to->gap =
            options->missing == MISSING_INDICATOR && gaps ? GAP_FLAG : GAP_FILL;
    return err;
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

/* The categories of a column under the numbers that were fitted. */
static uint32_t *translate_column(const struct frame_column *from,
                                  const struct frame_column *known)
{
    uint32_t *const code = mem_new(from->categories, sizeof *code);

    for (uint32_t i = 0; code != NULL && i < from->categories; i++)
        code[i] = frame_category(known, from->category[i].text);
    return code;
}

/* Under the fitted numbers. */
static enum err fit_pair(const struct encoder *encoder,
                         const struct frame *frame, const bool *without,
                         struct encoded_pair *pair)
{
    const struct frame_column *const a = &frame->column[pair->of.a];
    const struct frame_column *const b = &frame->column[pair->of.b];
    uint32_t *const new_a =
        translate_column(a, &encoder->column[pair->of.a].known);
    uint32_t *const new_b =
        translate_column(b, &encoder->column[pair->of.b].known);
    uint32_t count = 0;

    pair->key = mem_new(frame->rows, sizeof *pair->key);
    if (pair->key == NULL || new_a == NULL || new_b == NULL) {
        mem_free(new_a);
        mem_free(new_b);
        return ERR_NOMEM;
    }
    for (uint32_t i = 0; i < frame->rows; i++) {
        if ((without == NULL || !without[i]) && a->code[i] != FRAME_MISSING &&
            b->code[i] != FRAME_MISSING)
            pair->key[count++] = pair_key(new_a[a->code[i]], new_b[b->code[i]]);
    }
    mem_free(new_a);
    mem_free(new_b);
    if (count > 1)
        qsort(pair->key, count, sizeof *pair->key, by_key);
    for (uint32_t i = 0; i < count; i++) {
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
            if (fit_pair(encoder, frame, options->without, pair) != ERR_OK)
                return ERR_NOMEM;
        }
    }
    return ERR_OK;
}

static enum err fit_columns(struct encoder *encoder, const struct frame *frame,
                            const struct encode_options *options)
{
    enum err err = ERR_OK;

    encoder->column = mem_new(frame->cols, sizeof *encoder->column);
    if (encoder->column == NULL)
        return ERR_NOMEM;
    encoder->columns = frame->cols;
    for (uint32_t j = 0; err == ERR_OK && j < frame->cols; j++) {
        const struct frame_column *const from = &frame->column[j];
        struct encoded_column *const to = &encoder->column[j];

        to->categorical = from->categorical;
        err = from->categorical ? fit_words(from, frame->rows, options, to)
                                : fit_number(from, frame->rows, options, to);
    }
    return err;
}

/* How columns are found again, and the words of labels.  A frame that lost
 * columns since it was read has no schema. */
static enum err fit_schema(struct encoder *encoder, const struct frame *frame)
{
    enum err err = ERR_OK;

    if (frame->cols == frame->csv.columns.features)
        err = schema_of(&encoder->schema, &frame->csv, &frame->csv.columns);
    encoder->schema.numeric = false;
    for (uint32_t j = 0; j < encoder->columns; j++)
        encoder->schema.numeric |= !encoder->column[j].categorical;
    if (err != ERR_OK || !frame->classes.categorical || frame->classes.numeric)
        return err;
    return copy_categories(&frame->classes, NULL, &encoder->classes);
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

enum err encoder_fit(struct encoder *encoder, const struct frame *frame,
                     const struct encode_options *options, struct why *why)
{
    struct encoder made = {.constant = options->constant};
    enum err err = fit_columns(&made, frame, options);

    if (err == ERR_OK)
        err = fit_schema(&made, frame);
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
            bsearch(&key, pair->key, pair->count, sizeof key, by_key);

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
    code = translate_column(classes, &encoder->classes);
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
    if (encoder->column == NULL) {
        (void)snprintf(text, size, "%u", col + (encoder->from_zero ? 0 : 1));
        return;
    }
    j = column_at(encoder, col);
    /* Columns that hold nothing begin where the next one does. */
    name_column(encoder, j, col - encoder->column[j].first, text, size);
}

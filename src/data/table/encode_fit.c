/*
 * encode_fit.c - fitting an encoder: means and deviations, fills for missing
 * values, categories and the pairs of them that occur, all from the rows that a
 * model is trained on and from no others.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "data/rows/standard.h"
#include "data/table/encode_parts.h"

/* The rows of a column that are fitted to, and how many. */
struct sample {
    double *x;
    uint32_t count;
    uint32_t missing; /* NaN among them. */
};

static void fit_standard(const struct sample *sample, struct encoded_column *to)
{
    const struct standard standard =
        standard_of(sample->x, NULL, sample->count);

    to->offset = standard.mean;
    to->factor = standard.factor;
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
                                       : standard_mean(present, count);
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

/* Under the fitted numbers. */
static enum err fit_pair(const struct encoder *encoder,
                         const struct frame *frame, const bool *without,
                         struct encoded_pair *pair)
{
    const struct frame_column *const a = &frame->column[pair->of.a];
    const struct frame_column *const b = &frame->column[pair->of.b];
    uint32_t *const new_a =
        frame_translate(a, &encoder->column[pair->of.a].known);
    uint32_t *const new_b =
        frame_translate(b, &encoder->column[pair->of.b].known);
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
        qsort(pair->key, count, sizeof *pair->key, pair_order);
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

enum err encoder_fit(struct encoder *encoder, const struct frame *frame,
                     const struct encode_options *options, struct why *why)
{
    struct encoder made = {.kind = ENCODER_TABLE,
                           .constant = options->constant};
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

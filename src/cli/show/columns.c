/*
 * columns.c - which columns are to blame: for a run that did not converge, or a
 * penalty that weighs on some columns alone.
 */
#include "cli/show/columns.h"

#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "data/rows/reading.h"

/* Columns that differ in size by so much, or are so much further from 0 than
 * they are wide, slow every optimiser; FAR is enough to slow lbfgs. */
#define UNEVEN 1e3
#define FAR    30

struct column {
    uint32_t place;   /* As encoder_name counts. */
    double low, high; /* Values; 0 is one of sparse rows that have others. */
    double rest;      /* The largest that is far smaller than the largest. */
    uint32_t far;     /* Rows that are not. */
    uint32_t values;  /* Rows that are not 0, which reading leaves out. */
};

static double size_of(const struct column *column)
{
    return fmax(fabs(column->low), fabs(column->high));
}

static double value_at(const struct reading_row *row, uint32_t t)
{
    if (row->wide != NULL)
        return row->wide[t];
    return row->value != NULL ? (double)row->value[t] : 1;
}

static void widen(struct column *column, double x)
{
    column->low = fmin(column->low, x);
    column->high = fmax(column->high, x);
}

static void widen_by_row(struct column *columns, const struct reading_row *row)
{
    for (uint32_t t = 0; t < row->count; t++) {
        widen(&columns[row->index[t]], value_at(row, t));
        columns[row->index[t]].values++;
    }
}

static void part_by_row(struct column *columns, const struct reading_row *row)
{
    for (uint32_t t = 0; t < row->count; t++) {
        struct column *column = &columns[row->index[t]];
        const double size = fabs(value_at(row, t));

        if (size * UNEVEN >= size_of(column))
            column->far++;
        else
            column->rest = fmax(column->rest, size);
    }
}

static enum err read_columns(const struct dataset *data, struct column *columns)
{
    struct reading reading = {0};
    enum err err = reading_init(&reading, data);

    for (uint32_t j = 0; j < data->cols; j++)
        columns[j] =
            (struct column){data->original != NULL ? data->original[j] : j,
                            HUGE_VAL,
                            -HUGE_VAL,
                            0,
                            0,
                            0};
    for (uint32_t i = 0; err == ERR_OK && i < data->rows; i++) {
        const struct reading_row row = reading_at(&reading, i);

        widen_by_row(columns, &row);
    }
    for (uint32_t j = 0; j < data->cols; j++)
        if (dataset_is_sparse(data) || columns[j].values < data->rows)
            widen(&columns[j], 0);
    for (uint32_t i = 0; err == ERR_OK && i < data->rows; i++) {
        const struct reading_row row = reading_at(&reading, i);

        part_by_row(columns, &row);
    }
    reading_close(&reading);
    return err;
}

/* The columns of the largest and the smallest values; false if they are not
 * far apart. */
static bool find_uneven(const struct column *columns, uint32_t count,
                        struct column *big, struct column *small)
{
    *big = (struct column){0};
    *small = (struct column){.low = -HUGE_VAL};
    for (uint32_t j = 0; j < count; j++) {
        const double size = size_of(&columns[j]);

        if (size > size_of(big))
            *big = columns[j];
        if (size > 0 && size < size_of(small))
            *small = columns[j];
    }
    return size_of(big) > UNEVEN * size_of(small);
}

/* The column that is furthest from 0 for its spread; false if none is further
 * than so many times that. */
static bool find_far(const struct column *columns, uint32_t count, double least,
                     struct column *far)
{
    double most = least;

    *far = (struct column){0};
    for (uint32_t j = 0; j < count; j++) {
        const double spread = columns[j].high - columns[j].low;
        const double share = spread > 0 ? size_of(&columns[j]) / spread : 0;

        if (share > most) {
            most = share;
            *far = columns[j];
        }
    }
    return most > least;
}

/* A column in which a few values are so much larger than all others that they
 * may stand for something else: -999999999 for what is not known. */
static bool find_odd(const struct column *columns, uint32_t count,
                     uint32_t rows, struct column *odd)
{
    for (uint32_t j = 0; j < count; j++) {
        *odd = columns[j];
        if (odd->rest > 0 && odd->far < rows - odd->far &&
            size_of(odd) > UNEVEN * UNEVEN * odd->rest)
            return true;
    }
    return false;
}

struct quote columns_name(const struct setup *setup, uint32_t place)
{
    char name[64];

    encoder_name(&setup->encoder, place, name, sizeof name);
    return quote_text(name);
}

static struct quote column_name(const struct setup *setup,
                                const struct column *column)
{
    return columns_name(setup, column->place);
}

static void odd_text(const struct setup *setup, const struct column *odd)
{
    (void)printf("           column %s has %u value%s as large as %.10g beside "
                 "others of at most %.3g: if that stands for what is not "
                 "known, %s\n",
                 column_name(setup, odd).text, odd->far,
                 odd->far == 1 ? "" : "s",
                 size_of(odd) == odd->high ? odd->high : odd->low, odd->rest,
                 setup->encoder.kind == ENCODER_TABLE
                     ? "empty those fields and use --missing"
                     : "leave those out of the file");
}

static void far_text(const struct setup *setup, const struct column *far)
{
    (void)printf("           column %s (%.10g to %.10g) is far from 0 for "
                 "its spread, which slows it: %s\n",
                 column_name(setup, far).text, far->low, far->high,
                 setup->encoder.kind == ENCODER_TABLE
                     ? "--scale standard"
                     : "subtract a number from it in the file");
}

static void uneven_text(const struct setup *setup, const struct column *big,
                        const struct column *small)
{
    (void)printf("           columns %s (up to %.3g) and %s (up to %.3g) "
                 "are of very different size, which slows it: %s\n",
                 column_name(setup, big).text, size_of(big),
                 column_name(setup, small).text, size_of(small),
                 setup->encoder.kind == ENCODER_TABLE
                     ? "--scale standard"
                     : "bring them to one size in the file");
}

static void slow_columns_text(const struct setup *setup,
                              const struct column *columns, uint32_t count)
{
    struct column big, small, one;
    const bool uneven = find_uneven(columns, count, &big, &small);

    if (find_odd(columns, count, setup->data.rows, &one))
        odd_text(setup, &one);
    else if (find_far(columns, count, uneven ? UNEVEN : FAR, &one))
        far_text(setup, &one);
    else if (uneven)
        uneven_text(setup, &big, &small);
}

/* How far values are apart as the weight meets them: about their mean where an
 * intercept takes that, else about 0. */
static double reach_of(const struct setup *setup, const struct column *column)
{
    return setup->intercept ? column->high - column->low : 2 * size_of(column);
}

/* Of one column with variance v the weight is, of what it would be without the
 * penalty, c v / (c v + 2 l2), c the curvature of the loss; and v is at most a
 * quarter of the spread squared.  A column is named if that is below a half,
 * and another's spread is far larger. */
static void held_columns_text(const struct setup *setup,
                              const struct column *columns, uint32_t count)
{
    const double least =
        sqrt(8 * setup->optim.l2 / model_ops(setup->model)->curvature);
    double most = 0, held = least;
    uint32_t wide = 0, narrow = 0;

    for (uint32_t j = 0; j < count; j++) {
        const double reach = reach_of(setup, &columns[j]);

        if (reach > most) {
            most = reach;
            wide = j;
        }
        if (reach > 0 && reach < held) {
            held = reach;
            narrow = j;
        }
    }
    if (held < least && most > UNEVEN * held)
        (void)printf("           the penalty holds down the weight of column "
                     "%s, whose spread is %.3g where that of %s is %.3g: %s, "
                     "or a smaller --l2\n",
                     column_name(setup, &columns[narrow]).text, held,
                     column_name(setup, &columns[wide]).text, most,
                     setup->encoder.kind == ENCODER_TABLE
                         ? "--scale standard"
                         : "bring them to one size in the file");
}

/* All but the constant. */
static void columns_text(const struct setup *setup,
                         void (*text)(const struct setup *,
                                      const struct column *, uint32_t))
{
    const struct dataset *data = &setup->data;
    struct column *columns = mem_new(data->cols, sizeof *columns);

    if (columns != NULL && data->y != NULL &&
        read_columns(data, columns) == ERR_OK)
        text(setup, columns, data->cols - (setup->intercept ? 1 : 0));
    mem_free(columns);
}

void columns_slow_text(const struct setup *setup)
{
    columns_text(setup, slow_columns_text);
}

void columns_held_text(const struct setup *setup)
{
    if (setup->optim.l2 > 0)
        columns_text(setup, held_columns_text);
}

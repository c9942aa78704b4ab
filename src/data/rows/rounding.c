/*
 * rounding.c - what fp32 would cost a column: its largest rounding error as a
 * share of its spread.  A column that would lose too much makes the data set
 * fp64.
 */
#include "data/rows/rounding.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

struct ends {
    double low, high;
    double error;  /* The largest. */
    uint32_t rows; /* In which it is not zero. */
    bool fraction; /* Some value is not whole. */
};

#define WHOLE_MAX 0x1p24 /* fp32 holds all whole numbers up to it. */

/* Half a unit in the last of 24 bits, if what was read is not there any more.
 */
static double error_of(double value, bool exact)
{
    return exact ? fabs((double)(float)value - value) : fabs(value) * 0x1p-24;
}

static void take_value(struct ends *ends, double value, bool exact)
{
    const double error = error_of(value, exact);

    if (ends->rows == 0 || value < ends->low)
        ends->low = value;
    if (ends->rows == 0 || value > ends->high)
        ends->high = value;
    ends->error = error > ends->error ? error : ends->error;
    ends->rows += value != 0;
    /* Beyond it nothing that was rounded has a fraction. */
    ends->fraction = ends->fraction ||
                     (fabs(value) < 0x1p62 && (double)(int64_t)value != value);
}

/* Few columns of sparse rows have no zero: only those are looked at, after a
 * first pass that counts. */
static enum err take_sparse(const struct dataset *data, struct ends *ends)
{
    const uint64_t end = data->begin[data->rows];
    uint32_t *const count = mem_new(data->cols, sizeof *count);

    if (count == NULL)
        return ERR_NOMEM;
    for (uint64_t k = 0; k < end; k++)
        count[data->column[k]]++;
    for (uint64_t k = 0; k < end; k++) {
        const uint32_t j = data->column[k];

        if (count[j] == data->rows)
            take_value(&ends[j],
                       data->value == NULL ? 1 : (double)data->value[k], false);
    }
    mem_free(count);
    return ERR_OK;
}

/* May a column of fp32 values between these lose anything? */
static bool may_lose(float low, float high)
{
    const double size = fmax((double)high, -(double)low);

    return size > WHOLE_MAX ||
           size * 0x1p-24 > ROUNDING_HARM * ((double)high - (double)low);
}

__attribute__((optimize("O3"))) static void widen(const float *restrict row,
                                                  uint32_t count,
                                                  float *restrict low,
                                                  float *restrict high)
{
    for (uint32_t j = 0; j < count; j++) {
        low[j] = row[j] < low[j] ? row[j] : low[j];
        high[j] = row[j] > high[j] ? row[j] : high[j];
    }
}

/* A row that fp32 holds, as it lies or in `room`. */
static const float *floats_of(const struct dataset *data, uint32_t row,
                              float *room)
{
    if (data->storage == STORAGE_F32)
        return dataset_row(data, row);
    storage_floats(data->storage, dataset_row(data, row), data->stride, room);
    return room;
}

/* The first column of fp32 rows that may lose something, and one behind the
 * last: most tables have none, which a pass without a branch can tell. */
static enum err find_suspects(const struct dataset *data, uint32_t features,
                              uint32_t *first, uint32_t *end)
{
    float *const low = mem_new((size_t)data->stride * 3, sizeof *low);
    float *high, *room;

    *first = *end = 0;
    if (low == NULL)
        return ERR_NOMEM;
    high = low + data->stride;
    room = high + data->stride;
    memcpy(low, floats_of(data, 0, room), data->stride * sizeof *low);
    memcpy(high, low, data->stride * sizeof *high);
    for (uint32_t i = 1; i < data->rows; i++)
        widen(floats_of(data, i, room), data->stride, low, high);
    for (uint32_t j = features; j-- > 0;) {
        if (!may_lose(low[j], high[j]))
            continue;
        *first = j;
        *end = *end == 0 ? j + 1 : *end;
    }
    mem_free(low);
    return ERR_OK;
}

static enum err take_dense(const struct dataset *data, uint32_t features,
                           struct ends *ends)
{
    double *const row = mem_new(data->stride, sizeof *row);
    uint32_t first = 0, end = features;
    enum err err = row == NULL ? ERR_NOMEM : ERR_OK;

    if (err == ERR_OK && data->storage != STORAGE_F64)
        err = find_suspects(data, features, &first, &end);
    for (uint32_t i = 0; err == ERR_OK && first < end && i < data->rows; i++) {
        dataset_row_values(data, i, row);
        for (uint32_t j = first; j < end; j++)
            take_value(&ends[j], row[j], data->storage == STORAGE_F64);
    }
    mem_free(row);
    return err;
}

/* How much of its spread a column loses.  One that is constant has none: as
 * read, nothing is lost; once rounded, all may be. */
static double share_of(const struct dataset *data, const struct ends *ends)
{
    const double spread = ends->high - ends->low;

    if (ends->rows < data->rows || ends->error == 0)
        return 0;
    if (spread == 0)
        return data->storage == STORAGE_F64 ? 0 : 1;
    return ends->error / spread;
}

static bool loses_whole(const struct dataset *data, const struct ends *ends)
{
    return !ends->fraction && ends->error > 0 &&
           (data->storage == STORAGE_F64 ||
            fmax(ends->high, -ends->low) > WHOLE_MAX);
}

static void judge(const struct dataset *data, uint32_t features,
                  const struct ends *ends, struct rounding *found)
{
    *found = (struct rounding){0};
    for (uint32_t j = 0; j < data->cols; j++) {
        const uint32_t column = data->original == NULL ? j : data->original[j];
        const double share = share_of(data, &ends[j]);

        if (column >= features ||
            (!(share > ROUNDING_HARM) && !loses_whole(data, &ends[j])))
            continue;
        found->columns++;
        if (found->columns == 1 || share > found->share) {
            found->worst = column;
            found->share = share;
        }
    }
}

enum err rounding_find(const struct dataset *data, uint32_t features,
                       struct rounding *found)
{
    struct ends *const ends = mem_new(data->cols, sizeof *ends);
    enum err err = ends == NULL ? ERR_NOMEM : ERR_OK;

    if (err == ERR_OK && dataset_is_sparse(data))
        err = take_sparse(data, ends);
    else if (err == ERR_OK)
        err = take_dense(data, features, ends);
    if (err == ERR_OK)
        judge(data, features, ends, found);
    mem_free(ends);
    return err;
}

void rounding_text(const struct rounding *rounding, bool certain,
                   char text[ROUNDING_TEXT])
{
    if (rounding->share >= 1)
        (void)snprintf(text, ROUNDING_TEXT,
                       "single precision (fp32) %s tell its values apart",
                       certain ? "cannot" : "may not");
    else if (rounding->share > ROUNDING_HARM)
        (void)snprintf(text, ROUNDING_TEXT,
                       "single precision (fp32) %s values by up to %.3g %% of "
                       "the range they span",
                       certain ? "would move" : "may move",
                       100 * rounding->share);
    else
        (void)snprintf(text, ROUNDING_TEXT,
                       "single precision (fp32) does not hold its whole "
                       "numbers (beyond 16777216)");
}

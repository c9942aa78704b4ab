#include "data/rounding.h"

#include <math.h>

#include "base/mem.h"

struct ends {
    double low, high;
    double error;  /* The largest. */
    uint32_t rows; /* In which it is not zero. */
};

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
}

static void take_sparse(const struct dataset *data, struct ends *ends)
{
    const uint64_t end = data->begin[data->rows];

    for (uint64_t k = 0; k < end; k++)
        take_value(&ends[data->column[k]],
                   data->value == NULL ? 1 : (double)data->value[k], false);
}

static enum err take_dense(const struct dataset *data, struct ends *ends)
{
    double *const row = mem_new(data->stride, sizeof *row);

    if (row == NULL)
        return ERR_NOMEM;
    for (uint32_t i = 0; i < data->rows; i++) {
        dataset_row_values(data, i, row);
        for (uint32_t j = 0; j < data->cols; j++)
            take_value(&ends[j], row[j], data->storage == STORAGE_F64);
    }
    mem_free(row);
    return ERR_OK;
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

static void judge(const struct dataset *data, uint32_t features,
                  const struct ends *ends, struct rounding *found)
{
    *found = (struct rounding){0};
    for (uint32_t j = 0; j < data->cols; j++) {
        const uint32_t column = data->original == NULL ? j : data->original[j];
        const double share = share_of(data, &ends[j]);

        if (column >= features || !(share > ROUNDING_HARM))
            continue;
        found->columns++;
        if (share > found->share) {
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
        take_sparse(data, ends);
    else if (err == ERR_OK)
        err = take_dense(data, ends);
    if (err == ERR_OK)
        judge(data, features, ends, found);
    mem_free(ends);
    return err;
}

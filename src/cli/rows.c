#include "cli/rows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "data/split.h"

/* Labels of two classes are -1 and +1 inside. */
static void weigh_label(struct dataset *data, double y, double factor)
{
    for (uint32_t row = 0; row < data->rows; row++)
        if (data->y[row] == y)
            data->weight[row] *= factor;
}

static void weigh_balanced(struct dataset *data)
{
    uint32_t positive = 0;

    for (uint32_t row = 0; row < data->rows; row++)
        positive += data->y[row] > 0;
    weigh_label(data, 1, (double)data->rows / (2.0 * (double)positive));
    weigh_label(data, -1,
                (double)data->rows / (2.0 * (double)(data->rows - positive)));
}

/* One LABEL=WEIGHT; *at moves behind it. */
static enum err weigh_item(struct dataset *data, const char **at,
                           struct why *why)
{
    const char *const item = *at;
    const int length = (int)strcspn(item, ",");
    char *end;
    double label, weight;

    errno = 0;
    label = strtod(item, &end);
    if (end == item || *end != '=')
        return why_set(why, ERR_RANGE,
                       "--class-weight %.*s: expected LABEL=WEIGHT,... or "
                       "balanced",
                       length, item);
    *at = end + 1;
    weight = strtod(*at, &end);
    if (end == *at || end != item + length || errno != 0 ||
        !(weight > 0 && weight <= 1e12))
        return why_set(why, ERR_RANGE,
                       "--class-weight %.*s: the weight must be above 0 and "
                       "at most 1e12",
                       length, item);
    if (label != data->label[0] && label != data->label[1])
        return why_set(why, ERR_RANGE,
                       "--class-weight %.*s: there is no such label; there are "
                       "%.17g and %.17g",
                       length, item, data->label[0], data->label[1]);
    weigh_label(data, label == data->label[1] ? 1 : -1, weight);
    *at = end + (*end == ',');
    return ERR_OK;
}

enum err rows_weigh(struct dataset *data, const char *list, struct why *why)
{
    enum err err;

    if (data->classes != 2)
        return why_set(why, ERR_SHAPE,
                       "--class-weight needs data with two labels");
    err = dataset_add_weights(data);
    if (err != ERR_OK)
        return why_set(why, err, "--class-weight: out of memory");
    if (strcmp(list, "balanced") == 0) {
        weigh_balanced(data);
        return ERR_OK;
    }
    while (*list != '\0' && err == ERR_OK)
        err = weigh_item(data, &list, why);
    return err;
}

bool rows_is_part(const char *text, double *part)
{
    char *end;
    double value;

    if (text == NULL)
        return false;
    value = strtod(text, &end);
    if (end == text || *end != '\0' || !(value > 0 && value < 1))
        return false;
    *part = value;
    return true;
}

uint32_t rows_hold_out(uint32_t rows, double part, uint64_t seed,
                       uint32_t *order)
{
    const double held = ceil(part * (double)rows);

    split_permutation(rows, (uint32_t)seed, order);
    return held >= (double)rows ? rows : (uint32_t)held;
}

enum err rows_split(struct dataset *data, double part, uint64_t seed,
                    struct dataset *held, struct why *why)
{
    struct dataset first = {0};
    struct dataset rest = {0};
    uint32_t *order = mem_new(data->rows, sizeof *order);
    uint32_t count;
    enum err err;

    if (order == NULL)
        return why_set(why, ERR_NOMEM, "--valid: out of memory");
    count = rows_hold_out(data->rows, part, seed, order);
    if (count == data->rows) {
        mem_free(order);
        return why_set(why, ERR_SHAPE,
                       "--valid %.16g of %u rows leaves none to train on", part,
                       data->rows);
    }
    err = split_take(data, order, count, &first);
    if (err == ERR_OK)
        err = split_take(data, order + count, data->rows - count, &rest);
    mem_free(order);
    if (err != ERR_OK) {
        dataset_close(&first);
        return why_set(why, err, "--valid: cannot split the rows: %s",
                       err_text(err));
    }
    dataset_close(data);
    *data = rest;
    *held = first;
    return ERR_OK;
}

void rows_weights_out(const struct dataset *data, const double *inside,
                      double *outside)
{
    for (uint32_t j = 0; j < data->cols; j++)
        outside[data->original == NULL ? j : data->original[j]] = inside[j];
}

void rows_weights_in(const struct dataset *data, const double *outside,
                     double *inside)
{
    for (uint32_t j = 0; j < data->cols; j++)
        inside[j] = outside[data->original == NULL ? j : data->original[j]];
    for (uint32_t j = data->cols; j < data->stride; j++)
        inside[j] = 0;
}

#include "cli/rows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "data/split.h"

uint32_t rows_class(const struct dataset *data, uint32_t row)
{
    const double y = data->y[row];

    return y > 0 ? (uint32_t)y : 0;
}

/* Whose weights are changed, and what its labels are. */
struct scales {
    struct dataset *data;
    bool as_read;
};

static uint32_t class_of(const struct scales *scales, uint32_t row)
{
    const struct dataset *const data = scales->data;
    uint32_t class = 0;

    if (!scales->as_read)
        return rows_class(data, row);
    while (data->label[class] != data->y[row])
        class ++;
    return class;
}

static void weigh_class(const struct scales *scales, uint32_t class,
                        double factor)
{
    for (uint32_t row = 0; row < scales->data->rows; row++)
        if (class_of(scales, row) == class)
            scales->data->weight[row] *= factor;
}

/* A class may have no rows left, if --valid took them. */
static void weigh_balanced(const struct scales *scales)
{
    const struct dataset *const data = scales->data;
    uint32_t count[CLASSES_MAX] = {0};

    for (uint32_t row = 0; row < data->rows; row++)
        count[class_of(scales, row)]++;
    for (uint32_t k = 0; k < data->classes; k++)
        if (count[k] > 0)
            weigh_class(scales, k,
                        (double)data->rows /
                            ((double)data->classes * (double)count[k]));
}

static enum err refuse_label(const struct dataset *data, const char *item,
                             int length, struct why *why)
{
    const double *const label = data->label;

    if (data->classes == 2)
        return why_set(why, ERR_RANGE,
                       "--class-weight %.*s: there is no such label; there are "
                       "%.17g and %.17g",
                       length, item, label[0], label[1]);
    return why_set(why, ERR_RANGE,
                   "--class-weight %.*s: there is no such label; there are %u "
                   "from %.17g to %.17g",
                   length, item, data->classes, label[0],
                   label[data->classes - 1]);
}

/* One LABEL=WEIGHT; *at moves behind it. */
static enum err weigh_item(const struct scales *scales, const char **at,
                           struct why *why)
{
    const struct dataset *const data = scales->data;
    const char *const item = *at;
    const int length = (int)strcspn(item, ",");
    uint32_t class = 0;
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
    while (class < data->classes && data->label[class] != label)
        class ++;
    if (class == data->classes)
        return refuse_label(data, item, length, why);
    weigh_class(scales, class, weight);
    *at = end + (*end == ',');
    return ERR_OK;
}

enum err rows_weigh(struct dataset *data, bool as_read, const char *list,
                    struct why *why)
{
    const struct scales scales = {data, as_read};
    enum err err;

    if (data->classes < 2)
        return why_set(why, ERR_SHAPE,
                       "--class-weight needs data with two labels or more, at "
                       "most %u",
                       CLASSES_MAX);
    err = dataset_add_weights(data);
    if (err != ERR_OK)
        return why_set(why, err, "--class-weight: out of memory");
    if (strcmp(list, "balanced") == 0) {
        weigh_balanced(&scales);
        return ERR_OK;
    }
    while (*list != '\0' && err == ERR_OK)
        err = weigh_item(&scales, &list, why);
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

enum err rows_weights_carry(const struct dataset *from,
                            const struct dataset *to, uint32_t outputs,
                            const double *w, double *inside)
{
    double *const outside = mem_new(from->cols, sizeof *outside);

    CHECK(to->cols == from->cols);
    if (outside == NULL)
        return ERR_NOMEM;
    for (uint32_t k = 0; k < outputs; k++) {
        rows_weights_out(from, w + (size_t)k * from->stride, outside);
        rows_weights_in(to, outside, inside + (size_t)k * to->stride);
    }
    mem_free(outside);
    return ERR_OK;
}

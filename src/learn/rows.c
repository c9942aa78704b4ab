/*
 * rows.c - row weights by class, hold-out by stratified permutation, and the
 * order of weights between a job and its file.
 */
#include "learn/rows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "data/rows/split.h"
#include "learn/classes.h"

uint32_t rows_class(const struct dataset *data, uint32_t row)
{
    const double y = data->y[row];

    return y > 0 ? (uint32_t)y : 0;
}

/* Whose weights are changed, and what its labels are. */
struct scales {
    struct dataset *data;
    const struct frame_column *words;
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

static enum err refuse_label(const struct scales *scales, const char *item,
                             int length, struct why *why)
{
    char list[256];

    classes_text(scales->data, scales->words, CLASSES_LISTED, list,
                 sizeof list);
    return why_set(why, ERR_RANGE,
                   "--class-weight %.*s: there is no such label; there are %s",
                   length, item, list);
}

/* The word that `item` begins with, before a '='; the longest, as words may
 * have one in them. */
static bool find_word(const struct scales *scales, const char *item,
                      uint32_t *class, const char **behind)
{
    const struct frame_column *const words = scales->words;
    size_t longest = 0;

    for (uint32_t k = 0; k < words->categories; k++) {
        const char *const word = words->category[k].text;
        const size_t size = strlen(word);

        if (strncmp(item, word, size) == 0 && item[size] == '=' &&
            size >= longest) {
            longest = size;
            *class = k;
            *behind = item + size + 1;
        }
    }
    return *behind != NULL;
}

static bool find_number(const struct scales *scales, const char *item,
                        uint32_t *class, const char **behind)
{
    const struct dataset *const data = scales->data;
    char *end;
    const double label = strtod(item, &end);

    if (scales->words->categories > 0 || end == item || *end != '=')
        return false;
    *behind = end + 1;
    for (*class = 0; *class < data->classes; ++*class)
        if (data->label[*class] == label)
            return true;
    return false;
}

/* One LABEL=WEIGHT; *at moves behind it. */
static enum err weigh_item(const struct scales *scales, const char **at,
                           struct why *why)
{
    const char *const item = *at;
    const int length = (int)strcspn(item, ",");
    const char *behind = NULL;
    uint32_t class = 0;
    char *end;
    double weight;

    if (memchr(item, '=', strlen(item)) == NULL)
        return why_set(why, ERR_RANGE,
                       "--class-weight %.*s: expected LABEL=WEIGHT,... or "
                       "balanced",
                       length, item);
    if (!find_word(scales, item, &class, &behind) &&
        !find_word(scales, item + strspn(item, " "), &class, &behind) &&
        !find_number(scales, item, &class, &behind))
        return refuse_label(scales, item, length, why);
    errno = 0;
    weight = strtod(behind, &end);
    if (end == behind || (*end != ',' && *end != '\0') || errno != 0 ||
        !(weight > 0 && weight <= 1e12))
        return why_set(why, ERR_RANGE,
                       "--class-weight %.*s: the weight must be above 0 and "
                       "at most 1e12",
                       (int)(behind - item + (ptrdiff_t)strcspn(behind, ",")),
                       item);
    weigh_class(scales, class, weight);
    *at = end + (*end == ',');
    return ERR_OK;
}

enum err rows_weigh(struct dataset *data, const struct frame_column *words,
                    bool as_read, const char *list, struct why *why)
{
    const struct scales scales = {data, words, as_read};
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

/* Stable: rows of a class stay in their order. */
static void sort_by_class(const struct dataset *data, const uint32_t *order,
                          uint32_t *sorted)
{
    uint32_t at[CLASSES_MAX + 1] = {0};

    for (uint32_t i = 0; i < data->rows; i++)
        at[rows_class(data, i) + 1]++;
    for (uint32_t k = 0; k < data->classes; k++)
        at[k + 1] += at[k];
    for (uint32_t i = 0; i < data->rows; i++)
        sorted[at[rows_class(data, order[i])]++] = order[i];
}

enum err rows_shuffle(const struct dataset *data, bool classes, uint64_t seed,
                      uint32_t *order)
{
    uint32_t *sorted;

    split_permutation(data->rows, (uint32_t)seed, order);
    if (!classes || data->classes < 2)
        return ERR_OK;
    sorted = mem_new(data->rows, sizeof *sorted);
    if (sorted == NULL)
        return ERR_NOMEM;
    sort_by_class(data, order, sorted);
    memcpy(order, sorted, data->rows * sizeof *order);
    mem_free(sorted);
    return ERR_OK;
}

/* Those that are held out first, each kind in the order of the permutation. */
static uint32_t sort_held(const uint32_t *shuffled, const bool *held,
                          uint32_t rows, uint32_t *order)
{
    uint32_t count = 0;

    for (int kind = 1; kind >= 0; kind--)
        for (uint32_t i = 0; i < rows; i++)
            if (held[shuffled[i]] == (kind == 1))
                order[count++] = shuffled[i];
    count = 0;
    for (uint32_t i = 0; i < rows; i++)
        count += held[i];
    return count;
}

/* Every 1/part-th of the rows sorted by class. */
static void mark_held(const uint32_t *sorted, uint32_t rows, double part,
                      bool *held)
{
    for (uint32_t i = 0; i < rows; i++)
        held[sorted[i]] = ceil(part * ((double)i + 1)) > ceil(part * (double)i);
}

enum err rows_hold_out(const struct dataset *data, bool classes, double part,
                       uint64_t seed, uint32_t *order, uint32_t *held)
{
    const double wanted = ceil(part * (double)data->rows);
    uint32_t *shuffled;
    bool *marks;
    enum err err;

    if (!classes || data->classes < 2) {
        split_permutation(data->rows, (uint32_t)seed, order);
        *held = wanted >= (double)data->rows ? data->rows : (uint32_t)wanted;
        return ERR_OK;
    }
    shuffled = mem_new(data->rows, sizeof *shuffled);
    marks = mem_new(data->rows, sizeof *marks);
    err = shuffled == NULL || marks == NULL
              ? ERR_NOMEM
              : rows_shuffle(data, true, seed, order);
    if (err == ERR_OK) {
        mark_held(order, data->rows, part, marks);
        split_permutation(data->rows, (uint32_t)seed, shuffled);
        *held = sort_held(shuffled, marks, data->rows, order);
    }
    mem_free(shuffled);
    mem_free(marks);
    return err;
}

enum err rows_split(struct dataset *data, const uint32_t *order, uint32_t held,
                    struct dataset *out, struct why *why)
{
    struct dataset first = {0};
    struct dataset rest = {0};
    enum err err = split_take(data, order, held, &first);

    if (err == ERR_OK)
        err = split_take(data, order + held, data->rows - held, &rest);
    if (err != ERR_OK) {
        dataset_close(&first);
        return why_set(why, err, "--valid: cannot split the rows: %s",
                       err_text(err));
    }
    dataset_close(data);
    *data = rest;
    *out = first;
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

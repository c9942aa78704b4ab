/*
 * labels.c - labels become classes: two, few whole numbers, or words; whatever
 * else is a number to be regressed on.
 */
#include "data/rows/labels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "data/span.h"

const char *label_write(double label, char text[LABEL_TEXT_SIZE])
{
    int digits = 15; /* Any decimal of so many; 17 are always enough. */
    char *comma;

    if (fabs(label) < LABELS_WHOLE_END && label == floor(label)) {
        (void)snprintf(text, LABEL_TEXT_SIZE, "%.0f", label);
        return text;
    }
    do
        (void)snprintf(text, LABEL_TEXT_SIZE, "%.*g", digits, label);
    while (digits++ < 17 && strtod(text, NULL) != label);
    comma = strchr(text, ','); /* The user's locale may have one. */
    if (comma != NULL)
        *comma = '.';
    return text;
}

/* Distinct labels in ascending order. */
struct label_set {
    uint32_t count;
    double label[CLASSES_MAX];
    uint32_t seen[CLASSES_MAX];
};

/* Where `label` is among the sorted ones, or would be. */
static uint32_t label_place(const double *sorted, uint32_t count, double label)
{
    uint32_t low = 0;
    uint32_t high = count;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;

        if (sorted[middle] < label)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* False once there is no room. */
static bool label_add(struct label_set *set, double label)
{
    const uint32_t at = label_place(set->label, set->count, label);

    if (isnan(label)) /* A row to be judged, without a label. */
        return true;
    if (at < set->count && set->label[at] == label) {
        set->seen[at]++;
        return true;
    }
    if (set->count == CLASSES_MAX)
        return false;
    memmove(set->label + at + 1, set->label + at,
            (set->count - at) * sizeof *set->label);
    memmove(set->seen + at + 1, set->seen + at,
            (set->count - at) * sizeof *set->seen);
    set->label[at] = label;
    set->seen[at] = 1;
    set->count++;
    return true;
}

/* False if there are more than CLASSES_MAX. */
static bool find_labels(const struct dataset *data, struct label_set *set)
{
    for (uint32_t row = 0; row < data->rows; row++) {
        if (!label_add(set, data->y[row]))
            return false;
    }
    return true;
}

static bool all_whole(const double *label, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (label[i] != floor(label[i]))
            return false;
    }
    return true;
}

static enum err say_unknown(uint32_t row, double label, const double *labels,
                            uint32_t count, struct why *why)
{
    char list[LIST_SIZE] = "";
    char number[LABEL_TEXT_SIZE];

    for (uint32_t k = 0; k < count; k++)
        list_add(list, sizeof list, label_write(labels[k], number));
    return why_set(why, ERR_MISMATCH,
                   "row %u: label %s is not one of the training set's: %s",
                   row + 1, label_write(label, number), list);
}

/* Replace each label by its number, or by -1 and +1 if there are two and
 * `signs`. */
static enum err map_labels(struct dataset *data, const double *labels,
                           uint32_t count, bool signs, struct why *why)
{
    for (uint32_t row = 0; row < data->rows; row++) {
        const uint32_t at = label_place(labels, count, data->y[row]);

        if (at == count || labels[at] != data->y[row])
            return say_unknown(row, data->y[row], labels, count, why);
    }
    for (uint32_t row = 0; row < data->rows; row++) {
        const uint32_t at = label_place(labels, count, data->y[row]);

        data->y[row] = signs && count == 2 ? (at == 1 ? 1 : -1) : (double)at;
    }
    return ERR_OK;
}

bool labels_spread(double least, double most, uint32_t count)
{
    return count > LABELS_SPREAD_MIN &&
           most - least + 1 > LABELS_SPREAD * (double)count;
}

/* Classes, where nobody said what they are? */
static bool look_like_classes(const struct label_set *set)
{
    if (set->count == 2)
        return true;
    if (set->count > LABELS_CLASSES_MAX || !all_whole(set->label, set->count))
        return false;
    if (labels_spread(set->label[0], set->label[set->count - 1], set->count))
        return false;
    for (uint32_t k = 0; k < set->count; k++)
        if (set->seen[k] < LABELS_SEEN_MIN)
            return false;
    return true;
}

/* Two labels of the file may have become one, and whoever asks the model is
 * told labels that the file does not have. */
static enum err refuse_rounded(const struct dataset *data, struct why *why)
{
    uint32_t row = 0;

    while (row < data->rows && !(fabs(data->y[row]) >= LABELS_WHOLE_END))
        row++;
    if (row == data->rows)
        return ERR_OK;
    return why_set(why, ERR_RANGE,
                   "row %u: a label of about %.6g; as numbers, whole labels of "
                   "2^53 or more are rounded and run together; --categorical "
                   "auto,COLUMN takes those of a csv for words, --model linear "
                   "fits them as numbers; else number the classes 0, 1, 2",
                   row + 1, data->y[row]);
}

/* As numbers they would be their places in the alphabet. */
static enum err refuse_words(struct why *why)
{
    return why_set(why, ERR_RANGE,
                   "the labels are more than %u different words, and so many "
                   "classes are not told apart; name the column of the labels "
                   "(--label), or, if those words are numbers, take what is no "
                   "digit or decimal point out of them",
                   CLASSES_MAX);
}

static enum err settle_own(struct dataset *data, struct label_set *set,
                           const struct label_options *options, struct why *why)
{
    const bool counted = find_labels(data, set);
    const bool numbers = !options->regression && !options->classes &&
                         !options->words && set->count > 1 &&
                         !look_like_classes(set);
    const uint32_t count = counted && !numbers ? set->count : 0;
    enum err err = ERR_OK;

    if (!options->regression && options->words && !counted)
        return refuse_words(why);
    if (!options->regression && count > 0)
        err = refuse_rounded(data, why);
    if (err != ERR_OK)
        return err;
    err = dataset_set_labels(data, set->label, count);
    if (err != ERR_OK)
        return why_set(why, err, "%s", err_text(err));
    if (options->regression || count < 2)
        return ERR_OK;
    return map_labels(data, set->label, count,
                      !options->classes && !options->numbered, why);
}

enum err labels_settle(struct dataset *data,
                       const struct label_options *options, struct why *why)
{
    struct label_set *set;
    enum err err;

    if (options->labels != NULL && !options->regression) {
        err = map_labels(data, options->labels, options->label_count,
                         !options->classes, why);
        if (err != ERR_OK)
            return err;
        err = dataset_set_labels(data, options->labels, options->label_count);
        return err == ERR_OK ? err : why_set(why, err, "%s", err_text(err));
    }
    set = mem_new(1, sizeof *set);
    if (set == NULL)
        return why_set(why, ERR_NOMEM, "out of memory");
    err = settle_own(data, set, options, why);
    mem_free(set);
    return err;
}

#include "data/source.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "data/gen.h"
#include "data/libsvm.h"
#include "data/sparse.h"
#include "data/text_source.h"

/* Distinct labels in ascending order. */
struct label_set {
    uint32_t count;
    double label[CLASSES_MAX];
};

/* False once there is no room. */
static bool label_add(struct label_set *set, double label)
{
    uint32_t low = 0;
    uint32_t high = set->count;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;

        if (set->label[middle] < label)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < set->count && set->label[low] == label)
        return true;
    if (set->count == CLASSES_MAX)
        return false;
    memmove(set->label + low + 1, set->label + low,
            (set->count - low) * sizeof *set->label);
    set->label[low] = label;
    set->count++;
    return true;
}

static uint32_t count_labels(const struct dataset *data, struct label_set *set)
{
    for (uint32_t row = 0; row < data->rows; row++) {
        if (!label_add(set, data->y[row]))
            return 0;
    }
    return set->count;
}

/* Replace each label of the pair by -1 or +1. */
static enum err map_labels(struct dataset *data, const double *pair,
                           struct why *why)
{
    for (uint32_t row = 0; row < data->rows; row++) {
        if (data->y[row] != pair[0] && data->y[row] != pair[1])
            return why_set(why, ERR_MISMATCH,
                           "row %u: label %.17g is not one of the training "
                           "set's, %.17g and %.17g",
                           row + 1, data->y[row], pair[0], pair[1]);
    }
    for (uint32_t row = 0; row < data->rows; row++)
        data->y[row] = data->y[row] == pair[1] ? 1 : -1;
    data->label[0] = pair[0];
    data->label[1] = pair[1];
    return ERR_OK;
}

static enum err settle_labels(struct dataset *data,
                              const struct source_options *options,
                              struct why *why)
{
    struct label_set *const set = mem_new(1, sizeof *set);
    enum err err = ERR_OK;

    if (set == NULL)
        return why_set(why, ERR_NOMEM, "out of memory");
    data->classes = count_labels(data, set);
    if (options->labels != NULL)
        err = map_labels(data, options->labels, why);
    else if (!options->regression && data->classes == 2)
        err = map_labels(data, set->label, why);
    mem_free(set);
    return err;
}

static enum err load_stream(struct text_source *stream,
                            const struct source_options *options,
                            struct dataset *data, struct why *why)
{
    const struct densify how = {
        .chunk_rows = options->chunk_rows,
        .cols_min = options->cols_min,
        .cols_max = options->cols_max,
        .intercept = options->intercept,
    };
    struct sparse sparse = {0};
    struct dataset made = {0};
    enum err err = libsvm_read(stream, &sparse, why);

    if (err == ERR_OK)
        err = sparse_densify(&sparse, &how, &made, why);
    sparse_close(&sparse);
    if (err == ERR_OK)
        err = settle_labels(&made, options, why);
    if (err != ERR_OK) {
        dataset_close(&made);
        return err;
    }
    *data = made;
    return ERR_OK;
}

static enum err load_file(const struct source_options *options,
                          struct dataset *data, struct why *why)
{
    struct text_source stream = {0};
    enum err err = text_open(&stream, options->spec, why);

    if (err == ERR_OK)
        err = load_stream(&stream, options, data, why);
    text_close(&stream);
    if (err != ERR_OK)
        return why_in(why, err, "%s",
                      strcmp(options->spec, "-") == 0 ? "standard input"
                                                      : options->spec);
    return ERR_OK;
}

enum err source_load(const struct source_options *options,
                     struct dataset *train, struct dataset *test,
                     bool *has_test, struct why *why)
{
    CHECK(options->spec != NULL);
    if (gen_is_spec(options->spec))
        return gen_load(options, train, test, has_test, why);
    if (has_test != NULL)
        *has_test = false;
    return load_file(options, train, why);
}

/*
 * npz.c - a reader for numpy's archives: which member holds the rows and which
 * the labels, and scipy's CSR matrices.
 */
#include "data/read/npz.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ending.h"
#include "base/mem.h"
#include "data/read/npy.h"
#include "data/read/table_source.h"
#include "data/text/zip.h"
#include "os/file/input.h"

enum { STAGE_ENTRIES = 1 << 17, WORD_MAX = 1 << 12, NAMES_SIZE = 160 };

/* --- dense ------------------------------------------------------------------
 */

/* The names that people give to rows and labels; those that say nothing are
 * believed only where there are no others. */
static const struct pair {
    const char *rows, *labels;
    bool nameless;
} pairs[] = {
    {"X.npy", "y.npy", false},
    {"x.npy", "y.npy", false},
    {"data.npy", "target.npy", false},
    {"x_train.npy", "y_train.npy", false}, /* As Keras keeps its data sets. */
    {"X_train.npy", "y_train.npy", false},
    {"arr_0.npy", "arr_1.npy", true},
};

/* All members but two, which may be NULL. */
static void list_members(const struct zip *zip, const struct zip_member *rows,
                         const struct zip_member *labels,
                         char names[NAMES_SIZE])
{
    static const char more[] = ", ...";
    size_t used = 0;

    (void)snprintf(names, NAMES_SIZE, "none");
    for (uint32_t i = 0; i < zip->count; i++) {
        const struct quote name = quote_text(zip->member[i].name);
        const size_t size = strlen(name.text) + (used > 0 ? 2 : 0);

        if (&zip->member[i] == rows || &zip->member[i] == labels)
            continue;
        if (used + size + sizeof more > NAMES_SIZE) {
            memcpy(names + used, more, sizeof more);
            return;
        }
        (void)snprintf(names + used, NAMES_SIZE - used, "%s%s",
                       used > 0 ? ", " : "", name.text);
        used += size;
    }
}

static enum err say_members(const struct zip *zip, struct why *why)
{
    char names[NAMES_SIZE];

    list_members(zip, NULL, NULL, names);
    return why_set(why, ERR_FORMAT,
                   "expected arrays X and y, data and target, x_train and "
                   "y_train, arr_0 and arr_1, a single one, or a CSR matrix of "
                   "scipy.sparse; there are: "
                   "%s",
                   names);
}

static void note_rest(const struct source_options *options,
                      const struct zip *zip, const struct zip_member *rows,
                      const struct zip_member *labels)
{
    char names[NAMES_SIZE];

    list_members(zip, rows, labels, names);
    source_note(options, "%s: %s and %s are taken; left alone: %s",
                source_shown(options), quote_text(rows->name).text,
                quote_text(labels->name).text, names);
}

static enum err find_arrays(const struct source_options *options,
                            const struct zip *zip,
                            const struct zip_member **rows,
                            const struct zip_member **labels, struct why *why)
{
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        *rows = zip_find(zip, pairs[i].rows);
        *labels = zip_find(zip, pairs[i].labels);
        if (*rows == NULL)
            continue;
        if (zip->count == (*labels == NULL ? 1 : 2))
            return ERR_OK;
        if (*labels != NULL && !pairs[i].nameless) {
            note_rest(options, zip, *rows, *labels);
            return ERR_OK;
        }
    }
    *rows = zip->member;
    *labels = NULL;
    return zip->count == 1 ? ERR_OK : say_members(zip, why);
}

static enum err read_vector(const struct zip *zip,
                            const struct zip_member *member, double **values,
                            uint64_t *count, struct why *why)
{
    struct unpacker *in = NULL;
    enum err err = zip_read(zip, member, &in, why);

    if (err == ERR_OK)
        err = npy_labels(in, values, count, why);
    unpacker_close(in);
    return err == ERR_OK
               ? err
               : why_in(why, err, "%s", quote_text(member->name).text);
}

/* What the user says goes before what the archive has. */
static enum err find_labels(const struct source_options *options,
                            const struct zip *zip,
                            const struct zip_member *member, double **labels,
                            uint64_t *count, struct why *why)
{
    if (options->labels_file != NULL)
        return table_read_labels(options->labels_file, labels, count, why);
    if (member == NULL || options->label != NULL)
        return ERR_OK;
    return read_vector(zip, member, labels, count, why);
}

static enum err read_dense(const struct source_options *options,
                           const struct zip *zip, struct stage *stage,
                           struct why *why)
{
    const struct zip_member *rows = NULL;
    const struct zip_member *known = NULL;
    struct unpacker *in = NULL;
    double *labels = NULL;
    uint64_t count = 0;
    enum err err = find_arrays(options, zip, &rows, &known, why);

    if (err == ERR_OK)
        err = find_labels(options, zip, known, &labels, &count, why);
    if (err == ERR_OK)
        err = zip_read(zip, rows, &in, why);
    if (err == ERR_OK) {
        err = table_stage_npy(options, in, labels, count, stage, why);
        if (err != ERR_OK)
            err = why_in(why, err, "%s", quote_text(rows->name).text);
    }
    unpacker_close(in);
    mem_free(labels);
    return err;
}

/* --- scipy.sparse -----------------------------------------------------------
 */

/* Row i is index and value[begin[i] .. begin[i + 1]). */
struct csr {
    double *shape, *begin, *index, *value;
    uint64_t shapes, begins, indices, values;
    double *label;
    uint64_t labels;
};

static void csr_close(struct csr *csr)
{
    mem_free(csr->shape);
    mem_free(csr->begin);
    mem_free(csr->index);
    mem_free(csr->value);
    mem_free(csr->label);
}

/* The word of "format.npy": behind its header. */
static enum err read_form(const struct zip *zip, char *form, size_t room,
                          struct why *why)
{
    char bytes[WORD_MAX];
    struct unpacker *in = NULL;
    size_t got = 0;
    size_t head = 10;
    enum err err = zip_read(zip, zip_find(zip, "format.npy"), &in, why);

    if (err == ERR_OK)
        err = unpacker_fill(in, bytes, sizeof bytes, &got, why);
    unpacker_close(in);
    if (err != ERR_OK)
        return err;
    if (npy_is_magic(bytes, got) && got >= head)
        head += (size_t)(uint8_t)bytes[8] | (size_t)(uint8_t)bytes[9] << 8;
    if (head >= got || got - head >= room)
        return why_set(why, ERR_FORMAT,
                       "format.npy does not hold the name of a form");
    memcpy(form, bytes + head, got - head);
    form[got - head] = '\0';
    return ERR_OK;
}

static enum err check_form(const struct zip *zip, struct why *why)
{
    char form[16] = "";
    const enum err err = read_form(zip, form, sizeof form, why);

    if (err != ERR_OK || strcmp(form, "csr") == 0)
        return err;
    return why_set(why, ERR_UNSUPPORTED,
                   "a sparse matrix stored as %s; save x.tocsr() instead",
                   quote_text(form).text);
}

static enum err read_parts(const struct zip *zip, struct csr *csr,
                           struct why *why)
{
    const struct {
        const char *name;
        double **values;
        uint64_t *count;
    } parts[] = {
        {"shape.npy", &csr->shape, &csr->shapes},
        {"indptr.npy", &csr->begin, &csr->begins},
        {"indices.npy", &csr->index, &csr->indices},
        {"data.npy", &csr->value, &csr->values},
    };
    enum err err = ERR_OK;

    for (size_t i = 0; err == ERR_OK && i < sizeof parts / sizeof *parts; i++) {
        const struct zip_member *const member = zip_find(zip, parts[i].name);

        err = member == NULL
                  ? why_set(why, ERR_FORMAT, "there is no %s", parts[i].name)
                  : read_vector(zip, member, parts[i].values, parts[i].count,
                                why);
    }
    return err;
}

static bool is_whole(double value, double most)
{
    return value >= 0 && value <= most && value == floor(value);
}

static enum err check_csr(const struct source_options *options,
                          const struct csr *csr, struct why *why)
{
    const double *const shape = csr->shape;

    if (csr->shapes != 2 || !is_whole(shape[0], DATA_ROWS_MAX) ||
        !is_whole(shape[1], DATA_COLS_MAX) || shape[0] < 1 || shape[1] < 1)
        return why_set(why, ERR_FORMAT,
                       "its shape is not that of 1 to %u rows of 1 to %u "
                       "columns",
                       DATA_ROWS_MAX, DATA_COLS_MAX);
    if ((double)csr->begins != shape[0] + 1 || csr->indices != csr->values ||
        csr->begin[0] != 0 ||
        csr->begin[csr->begins - 1] != (double)csr->values)
        return why_set(why, ERR_FORMAT,
                       "its arrays do not fit each other; save it again");
    if (csr->label != NULL && (double)csr->labels != shape[0])
        return why_set(why, ERR_MISMATCH,
                       "%.0f rows, but there are %llu labels", shape[0],
                       (unsigned long long)csr->labels);
    if (options->cols_max != 0 &&
        shape[1] + (options->intercept ? 1 : 0) > (double)options->cols_max)
        return why_set(why, ERR_SHAPE, "%.0f columns; the model has %u",
                       shape[1],
                       options->cols_max - (options->intercept ? 1 : 0));
    return ERR_OK;
}

struct entry {
    uint32_t index;
    double value;
};

static int by_index(const void *a, const void *b)
{
    const uint32_t x = ((const struct entry *)a)->index;
    const uint32_t y = ((const struct entry *)b)->index;

    return x < y ? -1 : x > y;
}

/* scipy does not promise that a row's columns ascend. */
static enum err take_entries(const struct csr *csr, uint64_t row,
                             struct entry *entry, size_t *count,
                             struct why *why)
{
    const double first = csr->begin[row];
    const double end = csr->begin[row + 1];
    const size_t from =
        is_whole(first, (double)csr->values) ? (size_t)first : csr->values;

    if (!is_whole(end, (double)csr->values) || end < first ||
        end - first > csr->shape[1])
        return why_set(why, ERR_FORMAT,
                       "indptr.npy does not ascend, or there are more values "
                       "than columns");
    *count = (size_t)(end - first);
    for (size_t k = 0; k < *count; k++) {
        if (!is_whole(csr->index[from + k], csr->shape[1] - 1))
            return why_set(why, ERR_FORMAT, "there is no column %.17g",
                           csr->index[from + k]);
        entry[k] = (struct entry){(uint32_t)csr->index[from + k],
                                  csr->value[from + k]};
    }
    if (*count > 1)
        qsort(entry, *count, sizeof *entry, by_index);
    return ERR_OK;
}

static enum err add_entries(struct sparse *rows, const struct entry *entry,
                            size_t count, struct why *why)
{
    enum err err = ERR_OK;

    for (size_t k = 0; err == ERR_OK && k < count; k++) {
        if (k > 0 && entry[k].index == entry[k - 1].index)
            return why_set(why, ERR_FORMAT,
                           "column %u twice; x.sum_duplicates() adds them up",
                           entry[k].index + 1);
        if (!sparse_in_range(rows, entry[k].value))
            return why_set(
                why, ERR_RANGE, "column %u: %g is too large; at most %s",
                entry[k].index + 1, entry[k].value, sparse_limit(rows->wide));
        if (entry[k].value != 0)
            err = sparse_add(rows, entry[k].index, entry[k].value);
    }
    return err == ERR_OK ? err : why_set(why, err, "%s", err_text(err));
}

static enum err add_row(const struct csr *csr, uint64_t row,
                        struct entry *entry, struct sparse *rows,
                        struct why *why)
{
    size_t count = 0;
    enum err err =
        sparse_add_row(rows, csr->label == NULL ? nan("") : csr->label[row]);

    if (err != ERR_OK)
        return why_set(why, err, "%s", err_text(err));
    err = take_entries(csr, row, entry, &count, why);
    if (err == ERR_OK)
        err = add_entries(rows, entry, count, why);
    return err == ERR_OK
               ? err
               : why_in(why, err, "row %llu", (unsigned long long)row + 1);
}

static enum err stage_csr(const struct csr *csr, struct stage *stage,
                          struct why *why)
{
    const uint64_t count = csr->begins - 1;
    struct sparse rows = {.wide = stage->wide};
    struct entry *const entry = mem_new((size_t)csr->shape[1], sizeof *entry);
    enum err err =
        entry == NULL ? why_set(why, ERR_NOMEM, "out of memory") : ERR_OK;

    for (uint64_t i = 0; err == ERR_OK && i < count; i++) {
        err = add_row(csr, i, entry, &rows, why);
        if (err != ERR_OK || (i + 1 < count && rows.rows < STAGE_ENTRIES &&
                              sparse_entries(&rows) < STAGE_ENTRIES))
            continue;
        rows.cols = (uint32_t)csr->shape[1];
        err = stage_add(stage, &rows);
        sparse_clear(&rows);
        if (err != ERR_OK)
            (void)why_set(why, err, "%s", err_text(err));
    }
    mem_free(entry);
    sparse_close(&rows);
    return err;
}

static enum err check_wishes(const struct source_options *options,
                             struct why *why)
{
    if (table_wants_encoder(options))
        return table_refuse_encoder(why);
    if (options->labels_file == NULL && !options->unlabelled)
        return why_set(why, ERR_SHAPE,
                       "a sparse matrix has no labels; add --labels FILE.npy");
    return ERR_OK;
}

static enum err read_sparse(const struct source_options *options,
                            const struct zip *zip, struct stage *stage,
                            struct why *why)
{
    struct csr csr = {0};
    enum err err = check_wishes(options, why);

    if (err == ERR_OK)
        err = check_form(zip, why);
    if (err == ERR_OK && options->labels_file != NULL)
        err = table_read_labels(options->labels_file, &csr.label, &csr.labels,
                                why);
    if (err == ERR_OK)
        err = read_parts(zip, &csr, why);
    if (err == ERR_OK)
        err = check_csr(options, &csr, why);
    if (err == ERR_OK)
        err = stage_csr(&csr, stage, why);
    csr_close(&csr);
    /* Columns are numbers, as in LIBSVM text. */
    if (err == ERR_OK && options->encoder != NULL &&
        options->encoder->kind == ENCODER_NONE)
        options->encoder->kind = ENCODER_ROWS;
    return err;
}

static bool has_array(const struct zip *zip)
{
    for (uint32_t i = 0; i < zip->count; i++) {
        const char *const name = zip->member[i].name;

        if (ending_is(name, strlen(name), ".npy"))
            return true;
    }
    return false;
}

static enum err read_zip(const struct source_options *options,
                         const struct zip *zip, struct stage *stage,
                         struct why *why)
{
    if (!has_array(zip) && zip_find(zip, "[Content_Types].xml") != NULL)
        return why_set(why, ERR_FORMAT,
                       "a workbook of Excel's, which is not read; save its "
                       "sheet as CSV");
    if (!has_array(zip))
        return why_set(why, ERR_FORMAT,
                       "a zip archive without arrays of numpy's (.npy); unzip "
                       "it, and name the file in it");
    return zip_find(zip, "format.npy") != NULL &&
                   zip_find(zip, "indptr.npy") != NULL
               ? read_sparse(options, zip, stage, why)
               : read_dense(options, zip, stage, why);
}

enum err npz_read(const struct source_options *options, struct stage *stage,
                  struct why *why)
{
    struct zip zip = {0};
    enum err err;

    if (options->text.at != NULL)
        err = zip_open_memory(&zip, options->text.at, options->text.size, why);
    else if (input_is_stream(options->spec))
        err = why_set(why, ERR_UNSUPPORTED,
                      "an npz file is read from its end: name a file");
    else
        err = zip_open(&zip, options->spec, why);
    if (err == ERR_OK)
        err = read_zip(options, &zip, stage, why);
    zip_close(&zip);
    return err;
}

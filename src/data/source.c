#include "data/source.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "data/cache.h"
#include "data/csv.h"
#include "data/gen.h"
#include "data/idx.h"
#include "data/labels.h"
#include "data/libsvm.h"
#include "data/npy.h"
#include "data/stage.h"
#include "data/unpack.h"

enum format { FORMAT_LIBSVM, FORMAT_CSV, FORMAT_TSV, FORMAT_IDX, FORMAT_NPY };

#define FORMATS 5

static struct pool *pool_of(const struct source_options *options)
{
    return options->pool != NULL ? options->pool : pool_serial();
}

static const char *shown(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

/* Does `path`, less ".gz" or ".zst", end with `ending`? */
static bool has_ending(const char *path, const char *ending)
{
    static const char *const packed[] = {"", ".gz", ".zst"};
    const size_t size = strlen(path);

    for (size_t i = 0; i < sizeof packed / sizeof *packed; i++) {
        const size_t tail = strlen(packed[i]);
        const size_t own = strlen(ending);

        if (size >= own + tail && strcmp(path + size - tail, packed[i]) == 0 &&
            memcmp(path + size - tail - own, ending, own) == 0)
            return true;
    }
    return false;
}

static enum err find_format(const struct source_options *options,
                            enum format *format, struct why *why)
{
    static const char *const names[FORMATS] = {"libsvm", "csv", "tsv", "idx",
                                               "npy"};
    struct unpacker *in = NULL;
    uint8_t first[16];
    size_t got = 0;
    enum err err;

    for (int i = 0; options->format != NULL && i < FORMATS; i++) {
        *format = (enum format)i;
        if (strcmp(options->format, names[i]) == 0)
            return ERR_OK;
    }
    if (options->format != NULL)
        return why_set(why, ERR_UNKNOWN,
                       "no format %.32s; there are libsvm, csv, tsv, idx and "
                       "npy",
                       options->format);
    *format = has_ending(options->spec, ".csv")   ? FORMAT_CSV
              : has_ending(options->spec, ".tsv") ? FORMAT_TSV
                                                  : FORMAT_LIBSVM;
    if (*format != FORMAT_LIBSVM || strcmp(options->spec, "-") == 0)
        return ERR_OK;
    err = unpacker_open(options->spec, &in, why);
    if (err == ERR_OK)
        err = unpacker_fill(in, first, sizeof first, &got, why);
    unpacker_close(in);
    if (err == ERR_OK && npy_is_magic(first, got))
        *format = FORMAT_NPY;
    else if (err == ERR_OK && idx_is_magic(first, got))
        *format = FORMAT_IDX;
    return err;
}

static bool wants_encoder(const struct source_options *options)
{
    return options->categorical != NULL || options->pairs ||
           options->scaling != SCALE_NONE;
}

static bool has_fitted(const struct source_options *options)
{
    return options->encoder != NULL && options->encoder->column != NULL;
}

static void note_unknown(const struct source_options *options,
                         const struct frame *frame,
                         const struct unknown_words *unknown)
{
    const uint32_t col =
        unknown->column + (unknown->column >= frame->csv.label);
    const struct span word = {unknown->text, strlen(unknown->text)};
    struct why sentence = {0};

    if (unknown->fields == 0 || options->note == NULL)
        return;
    (void)why_set(&sentence, ERR_UNKNOWN,
                  "%s: %llu field%s with a category that the training table "
                  "does not have, the first '%s' in column %u%s%.32s%s; such "
                  "fields count as no category",
                  shown(options->spec), (unsigned long long)unknown->fields,
                  unknown->fields == 1 ? "" : "s", quote(word).text, col + 1,
                  frame->csv.header ? " (" : "", csv_name(&frame->csv, col),
                  frame->csv.header ? ")" : "");
    options->note(options->note_context, sentence.text);
}

static enum err encode_frame(const struct source_options *options,
                             const struct frame *frame, struct stage *stage,
                             struct why *why)
{
    const struct encode_options how = {.scaling = options->scaling,
                                       .all_pairs = options->pairs};
    struct encoder own = {0};
    struct encoder *const encoder =
        options->encoder != NULL ? options->encoder : &own;
    struct unknown_words unknown = {0};
    enum err err = ERR_OK;

    if (encoder->column == NULL)
        err = encoder_fit(encoder, frame, &how, why);
    if (err == ERR_OK)
        err = encoder_apply(encoder, frame, stage, &unknown, why);
    if (err == ERR_OK)
        note_unknown(options, frame, &unknown);
    encoder_close(&own);
    return err;
}

/* Read the table as the encoder was fitted to one; *kinds is to be freed. */
static enum err like_fitted(const struct encoder *encoder,
                            struct frame_options *how, bool **kinds)
{
    bool *const made = mem_new(encoder->columns, sizeof *made);

    if (made == NULL)
        return ERR_NOMEM;
    for (uint32_t j = 0; j < encoder->columns; j++)
        made[j] = encoder->column[j].categorical;
    how->kinds = made;
    how->kind_count = encoder->columns;
    how->label_words = encoder->classes.categories > 0;
    if (how->label == NULL)
        how->label = encoder->label;
    *kinds = made;
    return ERR_OK;
}

static enum err stage_frame(const struct source_options *options,
                            char separator, struct stage *stage,
                            struct why *why)
{
    struct frame_options how = {.label = options->label,
                                .categorical = options->categorical,
                                .separator = separator};
    struct text_source text = {0};
    struct frame frame = {0};
    bool *kinds = NULL;
    enum err err = text_open(&text, options->spec, why);

    if (err == ERR_OK && has_fitted(options) &&
        like_fitted(options->encoder, &how, &kinds) != ERR_OK)
        err = why_set(why, ERR_NOMEM, "out of memory");
    if (err == ERR_OK)
        err = frame_read(&text, &how, &frame, why);
    if (err == ERR_OK)
        err = encode_frame(options, &frame, stage, why);
    frame_close(&frame);
    mem_free(kinds);
    text_close(&text);
    return err;
}

static enum err stage_csv(const struct source_options *options, char separator,
                          struct stage *stage, struct why *why)
{
    struct csv csv = {.label_wanted = options->label, .separator = separator};
    enum err err;

    if (wants_encoder(options) || has_fitted(options))
        return stage_frame(options, separator, stage, why);
    err = csv_stage(options->spec, &csv, pool_of(options), stage, why);
    csv_close(&csv);
    return err;
}

/* A file of labels, IDX or npy. */
static enum err read_labels(const char *path, double **labels, uint64_t *count,
                            struct why *why)
{
    struct unpacker *in = NULL;
    uint8_t first[8];
    size_t got = 0;
    bool npy;
    enum err err = unpacker_open(path, &in, why);

    if (err == ERR_OK)
        err = unpacker_fill(in, first, sizeof first, &got, why);
    unpacker_close(in);
    in = NULL;
    npy = npy_is_magic(first, got);
    if (err == ERR_OK)
        err = unpacker_open(path, &in, why);
    if (err == ERR_OK)
        err = npy ? npy_labels(in, labels, count, why)
                  : idx_labels(in, labels, count, why);
    unpacker_close(in);
    return err == ERR_OK ? err : why_in(why, err, "--labels %s", path);
}

static enum err label_number(const struct source_options *options,
                             uint64_t *column, struct why *why)
{
    const char *at = options->label;

    *column = 0;
    for (; at != NULL && *at >= '0' && *at <= '9' && *column < UINT32_MAX; at++)
        *column = *column * 10 + (uint64_t)(*at - '0');
    if (at != NULL && (*at != '\0' || *column == 0))
        return why_set(why, ERR_UNKNOWN,
                       "--label %.32s: columns of an npy file have numbers "
                       "only, from 1",
                       options->label);
    return ERR_OK;
}

static enum err stage_binary(const struct source_options *options,
                             enum format format, struct stage *stage,
                             struct why *why)
{
    struct unpacker *in = NULL;
    double *labels = NULL;
    uint64_t count = 0;
    uint64_t column = 0;
    enum err err = label_number(options, &column, why);

    if (err == ERR_OK && options->labels_file != NULL)
        err = read_labels(options->labels_file, &labels, &count, why);
    else if (err == ERR_OK && format == FORMAT_IDX)
        err = why_set(why, ERR_SHAPE,
                      "an IDX file has no labels; add --labels FILE");
    if (err == ERR_OK)
        err = unpacker_open(options->spec, &in, why);
    if (err == ERR_OK)
        err = format == FORMAT_IDX
                  ? idx_stage(in, labels, count, pool_of(options), stage, why)
                  : npy_stage(in, labels, count, column, pool_of(options),
                              stage, why);
    unpacker_close(in);
    mem_free(labels);
    return err;
}

static enum err fill_stage(const struct source_options *options,
                           struct stage *stage, struct why *why)
{
    enum format format = FORMAT_LIBSVM;
    const enum err err = find_format(options, &format, why);

    if (err != ERR_OK)
        return err;
    switch (format) {
    case FORMAT_CSV:
        return stage_csv(options, 0, stage, why);
    case FORMAT_TSV:
        return stage_csv(options, '\t', stage, why);
    case FORMAT_IDX:
    case FORMAT_NPY:
        return stage_binary(options, format, stage, why);
    case FORMAT_LIBSVM:
        break;
    }
    if (wants_encoder(options))
        return why_set(why, ERR_UNSUPPORTED,
                       "--categorical, --pairs and --scale are for CSV and "
                       "TSV tables");
    return libsvm_stage(options->spec, pool_of(options), stage, why);
}

static enum err build(const struct source_options *options, struct stage *stage,
                      struct dataset *data, struct why *why)
{
    struct stage_options how = {
        .chunk_rows = options->chunk_rows,
        .cols_min = options->cols_min,
        .cols_max = options->cols_max,
        .intercept = options->intercept,
        .choose = options->storage == NULL,
        .like = options->like,
    };

    if (options->like != NULL) {
        how.cols_min = options->like->cols;
        how.cols_max = options->like->cols;
    }
    if (options->storage != NULL &&
        !storage_parse(options->storage, &how.storage))
        return why_set(why, ERR_UNKNOWN,
                       "no storage %.32s; there are f32, f64, bf16, i8, bit, "
                       "index and csr",
                       options->storage);
    return stage_build(stage, &how, pool_of(options), data, why);
}

static enum err settle(const struct source_options *options,
                       struct dataset *data, struct why *why)
{
    struct label_options how = {
        .regression = options->regression,
        .classes = options->classes,
        .labels = options->labels,
        .label_count = options->label_count == 0 ? 2 : options->label_count,
    };

    if (options->like != NULL && options->like->classes >= 2) {
        how.labels = options->like->label;
        how.label_count = options->like->classes;
    }
    return labels_settle(data, &how, why);
}

/* Will the data set be f64? */
static bool wants_wide(const struct source_options *options)
{
    enum storage storage;

    if (options->storage == NULL)
        return options->like != NULL && options->like->storage == STORAGE_F64;
    return storage_parse(options->storage, &storage) && storage == STORAGE_F64;
}

static enum err load_file(const struct source_options *options,
                          struct dataset *data, struct why *why)
{
    struct stage stage = {.wide = wants_wide(options)};
    struct dataset made = {0};
    enum err err = fill_stage(options, &stage, why);

    if (err == ERR_OK)
        err = build(options, &stage, &made, why);
    stage_close(&stage);
    if (err == ERR_OK)
        err = settle(options, &made, why);
    if (err != ERR_OK) {
        dataset_close(&made);
        return why_in(why, err, "%s", shown(options->spec));
    }
    *data = made;
    return ERR_OK;
}

/* The cache serves plain loads: what depends on another data set or leaves an
 * encoder behind is read from the text. */
static bool may_cache(const struct source_options *options)
{
    return options->cache != NULL && strcmp(options->spec, "-") != 0 &&
           options->like == NULL && options->encoder == NULL;
}

static enum err load_cached(const struct source_options *options,
                            struct dataset *data, struct why *why)
{
    struct cache_place place;
    struct why trouble = {0};
    enum err err;

    /* What cannot be hashed cannot be read either, or is a pipe. */
    if (cache_place(options, &place, NULL) != ERR_OK)
        return load_file(options, data, why);
    err = cache_load(&place, pool_of(options), data, &trouble);
    if (err == ERR_OK)
        return ERR_OK;
    if (err != ERR_NOTFOUND && options->note != NULL)
        options->note(options->note_context, trouble.text);
    err = load_file(options, data, why);
    /* A copy of rows that are not those hashed would be believed later on. */
    if (err != ERR_OK || !cache_place_holds(&place, options))
        return err;
    if (cache_store(&place, data, pool_of(options), &trouble) != ERR_OK &&
        options->note != NULL)
        options->note(options->note_context, trouble.text);
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
    return may_cache(options) ? load_cached(options, train, why)
                              : load_file(options, train, why);
}

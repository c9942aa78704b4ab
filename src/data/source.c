/*
 * source.c - from a name to a data set: which reader, whether a cache has it,
 * and whether it must be read once more as fp64 or with indices from 0.
 */
#include "data/source.h"

#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/ending.h"
#include "base/mem.h"
#include "data/make/gen.h"
#include "data/read/cache.h"
#include "data/read/idx.h"
#include "data/read/libsvm.h"
#include "data/read/npy.h"
#include "data/read/npz.h"
#include "data/read/table_source.h"
#include "data/rows/labels.h"
#include "data/rows/rounding.h"
#include "data/rows/stage.h"
#include "data/text/sniff.h"
#include "data/text/unpack.h"
#include "data/text/zip.h"
#include "os/file/file.h"
#include "os/file/input.h"

enum format {
    FORMAT_LIBSVM,
    FORMAT_CSV,
    FORMAT_TSV,
    FORMAT_IDX,
    FORMAT_NPY,
    FORMAT_NPZ
};

#define FORMATS     6
#define SNIFF_BYTES 4096u /* Of a text, to know its form by. */

/* Does `path`, less ".gz" or ".zst", end with `ending`? */
static bool has_ending(const char *path, const char *ending)
{
    static const char *const packed[] = {"", ".gz", ".zst"};
    const size_t size = strlen(path);

    for (size_t i = 0; i < sizeof packed / sizeof *packed; i++)
        if (ending_is(path, size, packed[i]) &&
            ending_is(path, size - strlen(packed[i]), ending))
            return true;
    return false;
}

static enum err say_foreign(const char *what, struct why *why)
{
    return why_set(why, ERR_FORMAT,
                   "%s, which is not read; LIBSVM, CSV, IDX, npy and npz are: "
                   "plain, gzip or zstd",
                   what);
}

/* A text that is called a table, but begins as what no table is.  One that
 * cannot be opened is its reader's to tell. */
static enum err check_table(const char *path, struct why *why)
{
    struct unpacker *in = NULL;
    char first[SNIFF_BYTES];
    size_t got = 0;
    enum err err;

    if (input_is_stream(path))
        return ERR_OK;
    err = unpacker_open(path, &in, NULL);
    if (err == ERR_OK)
        err = unpacker_fill(in, first, sizeof first, &got, NULL);
    unpacker_close(in);
    if (err == ERR_OK && sniff_markup(first, got) != NULL)
        return say_foreign(sniff_markup(first, got), why);
    if (err == ERR_OK && zip_is_magic(first, got))
        return say_foreign("a zip archive, as Excel's workbooks are", why);
    return ERR_OK;
}

static bool is_table(enum format format)
{
    return format == FORMAT_CSV || format == FORMAT_TSV;
}

static enum err find_format(const struct source_options *options,
                            enum format *format, struct why *why)
{
    static const char *const names[FORMATS] = {"libsvm", "csv", "tsv",
                                               "idx",    "npy", "npz"};
    struct unpacker *in = NULL;
    char first[SNIFF_BYTES];
    size_t got = 0;
    enum err err;

    for (int i = 0; options->format != NULL && i < FORMATS; i++) {
        *format = (enum format)i;
        if (strcmp(options->format, names[i]) == 0)
            return is_table(*format) ? check_table(options->spec, why) : ERR_OK;
    }
    if (options->format != NULL)
        return why_set(why, ERR_UNKNOWN,
                       "no format %.32s; there are libsvm, csv, tsv, idx, npy "
                       "and npz",
                       options->format);
    if (strstr(options->spec, "://") != NULL)
        return why_set(why, ERR_UNSUPPORTED,
                       "rows are read from files; `curl -fLO %.200s` fetches "
                       "it first",
                       options->spec);
    *format = has_ending(options->spec, ".csv")   ? FORMAT_CSV
              : has_ending(options->spec, ".tsv") ? FORMAT_TSV
              : has_ending(options->spec, ".npz") ? FORMAT_NPZ
                                                  : FORMAT_LIBSVM;
    if (is_table(*format))
        return check_table(options->spec, why);
    if (*format != FORMAT_LIBSVM || input_is_stream(options->spec))
        return ERR_OK;
    err = sniff_network(options->spec, why);
    if (err != ERR_OK)
        return err;
    err = unpacker_open(options->spec, &in, why);
    if (err == ERR_OK)
        err = unpacker_fill(in, first, sizeof first, &got, why);
    unpacker_close(in);
    if (err == ERR_OK && sniff_is_model(first, got))
        return why_set(why, ERR_FORMAT,
                       "a model, not rows: `muster predict DATA MODEL` says "
                       "what it makes of rows, --init MODEL goes on from it");
    if (err == ERR_OK && sniff_foreign(first, got) != NULL)
        return say_foreign(sniff_foreign(first, got), why);
    if (err == ERR_OK && npy_is_magic(first, got))
        *format = FORMAT_NPY;
    else if (err == ERR_OK && zip_is_magic(first, got))
        *format = FORMAT_NPZ;
    else if (err == ERR_OK && idx_is_magic(first, got))
        *format = FORMAT_IDX;
    else if (err == ERR_OK && sniff_is_table(first, got))
        *format = FORMAT_CSV;
    return err;
}

/* Indices that the model does not have: of a file that starts at 1 where the
 * model starts at 0, all columns would be taken for their neighbours. */
static enum err check_indices(const struct source_options *options,
                              const struct stage *stage, bool from_zero,
                              struct why *why)
{
    const uint32_t features =
        options->cols_max - (options->intercept && options->cols_max > 0);

    if (options->cols_max == 0 || stage_cols(stage) <= features)
        return ERR_OK;
    if (from_zero && stage_lacks_first(stage))
        return why_set(why, ERR_SHAPE,
                       "the model was trained with --zero-based, on indices 0 "
                       "to %u, but here is no index 0 and there is an index "
                       "%llu: count from 0 here too",
                       features - 1, (unsigned long long)stage_cols(stage) - 1);
    source_note(options,
                "%s: the model has %u features; those beyond, up to index "
                "%llu, are left alone",
                source_shown(options), features,
                (unsigned long long)stage_cols(stage) - (from_zero ? 1 : 0));
    return ERR_OK;
}

/* Where both ways of counting are possible, which was taken. */
static void note_first_index(const struct source_options *options,
                             const struct stage *stage, bool from_zero)
{
    const uint32_t features =
        options->cols_max - (options->intercept && options->cols_max > 0);

    if (from_zero && !options->zero_based && stage_lacks_first(stage))
        source_note(options,
                    "%s: here is no index 0; indices are taken to start at 0 "
                    "all the same, as those of the model's training rows",
                    source_shown(options));
    if (!from_zero && stage_cols(stage) + 1 == features)
        source_note(options,
                    "%s: indices go up to %u only, and the model has %u "
                    "features; if they start at 0 here, add --zero-based",
                    source_shown(options), features - 1, features);
}

/* Whether an index 0 is the model's first feature only the user knows. */
static enum err say_index_zero(struct why *why)
{
    return why_set(why, ERR_MISMATCH,
                   "there is an index 0, and the model's rows started at 1; if "
                   "they are the same features, counted from 0 here, add "
                   "--zero-based; if the training rows were counted from 0, "
                   "but had no index 0, train again with --zero-based");
}

/* Which version of the file its name leads to; all zero: none. */
static struct input_identity version_of(const char *path)
{
    struct input_identity version = {0};
    struct input input;

    if (input_open(&input, path, NULL) == ERR_OK) {
        version = input.identity;
        input_close(&input);
    }
    return version;
}

/* Rows whose indices start at 0 if one of them is 0: then read once more, and
 * it must be the same file that the finding is of. */
static enum err read_indexed(const struct source_options *options, bool known,
                             bool *from_zero, struct stage *stage,
                             struct why *why)
{
    const bool twice = !known && !input_is_stream(options->spec);
    const struct input_identity before =
        twice ? version_of(options->spec) : (struct input_identity){0};
    struct input_identity after;
    bool index_zero = false;
    enum err err = libsvm_stage(options->spec, *from_zero, source_pool(options),
                                stage, &index_zero, why);

    if (index_zero && known)
        return say_index_zero(why);
    if (!index_zero || !twice)
        return err;
    *from_zero = true;
    stage_clear(stage);
    if (why != NULL)
        *why = (struct why){0};
    err = libsvm_stage(options->spec, true, source_pool(options), stage,
                       &index_zero, why);
    after = version_of(options->spec);
    if (err == ERR_OK &&
        (before.inode != after.inode || !input_unchanged(&before, &after)))
        err = unpacker_say_changed(why);
    if (err == ERR_OK)
        source_note(options,
                    "%s: there is an index 0, so indices are "
                    "taken to start at 0 (--zero-based)",
                    options->spec);
    return err;
}

static enum err stage_libsvm(const struct source_options *options,
                             struct stage *stage, struct why *why)
{
    struct encoder *const encoder = options->encoder;
    const bool known = encoder != NULL && encoder->kind != ENCODER_NONE;
    bool from_zero = options->zero_based;
    enum err err;

    if (table_wants_encoder(options))
        return table_refuse_encoder(why);
    if (known)
        from_zero |= encoder->from_zero;
    err = read_indexed(options, known, &from_zero, stage, why);
    if (err == ERR_OK && known)
        err = check_indices(options, stage, from_zero, why);
    if (err == ERR_OK && known)
        note_first_index(options, stage, from_zero);
    if (err == ERR_OK && encoder != NULL && !known) {
        encoder->kind = ENCODER_ROWS;
        encoder->from_zero = from_zero;
    }
    return err;
}

/* What somebody said of labels must not be passed over. */
static enum err refuse_labels(const struct source_options *options,
                              enum format format, struct why *why)
{
    const bool table = format == FORMAT_CSV || format == FORMAT_TSV;

    if (options->labels_file != NULL && (table || format == FORMAT_LIBSVM))
        return why_set(why, ERR_UNSUPPORTED,
                       "--labels is for idx, npy and npz; %s",
                       table ? "the label of a table is a column, --label "
                               "COLUMN"
                             : "a line of LIBSVM text begins with its label");
    if (options->label != NULL && strcmp(options->label, LABEL_NONE) != 0 &&
        format == FORMAT_LIBSVM)
        return why_set(why, ERR_UNSUPPORTED,
                       "--label %.64s is for tables; a line of LIBSVM text "
                       "begins with its label (--input csv: this is a table)",
                       options->label);
    return ERR_OK;
}

static enum err fill_stage(const struct source_options *options,
                           struct stage *stage, struct why *why)
{
    enum format format = FORMAT_LIBSVM;
    enum err err;

    if (options->memory != NULL)
        return table_read_memory(options, stage, why);
    err = find_format(options, &format, why);
    if (err == ERR_OK)
        err = refuse_labels(options, format, why);
    if (err != ERR_OK)
        return err;
    switch (format) {
    case FORMAT_CSV:
        return table_read_csv(options, 0, stage, why);
    case FORMAT_TSV:
        return table_read_csv(options, '\t', stage, why);
    case FORMAT_IDX:
        return table_read_idx(options, stage, why);
    case FORMAT_NPY:
        return table_read_npy(options, stage, why);
    case FORMAT_NPZ:
        return npz_read(options, stage, why);
    case FORMAT_LIBSVM:
        break;
    }
    return stage_libsvm(options, stage, why);
}

static enum err describe(const struct source_options *options,
                         struct stage_options *how, struct why *why)
{
    *how = (struct stage_options){
        .chunk_rows = options->chunk_rows,
        .cols_min = options->cols_min,
        .cols_max = options->cols_max,
        .intercept = options->intercept,
        .choose = options->storage == NULL,
        .like = options->like,
    };

    if (options->like != NULL) {
        how->cols_min = options->like->cols;
        how->cols_max = options->like->cols;
    }
    if (options->storage != NULL &&
        !storage_parse(options->storage, &how->storage))
        return why_set(why, ERR_UNKNOWN,
                       "no storage %.32s; there are f32, f64, bf16, i8, u8, "
                       "pixel, bit, index and csr",
                       options->storage);
    return ERR_OK;
}

static enum err build(const struct source_options *options, struct stage *stage,
                      struct dataset *data, struct why *why)
{
    struct stage_options how;
    const enum err err = describe(options, &how, why);

    return err == ERR_OK
               ? stage_build(stage, &how, source_pool(options), data, why)
               : err;
}

static enum err settle(const struct source_options *options,
                       struct dataset *data, struct why *why)
{
    struct label_options how = {
        .regression = options->regression,
        .classes = options->classes,
        .numbered = options->numbered,
        .words = options->encoder != NULL &&
                 options->encoder->classes.categories > 0,
        .labels = options->labels,
        .label_count = options->label_count == 0 ? 2 : options->label_count,
    };

    for (uint32_t i = 0; !options->unlabelled && i < data->rows; i++) {
        if (isnan(data->y[i]))
            return why_set(why, ERR_SHAPE,
                           "there are no labels; --label COLUMN says where "
                           "they are");
    }
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

static enum err finish(const struct source_options *options,
                       struct stage *stage, struct dataset *data,
                       struct why *why)
{
    struct dataset made = {0};
    enum err err = build(options, stage, &made, why);

    if (err == ERR_OK)
        err = settle(options, &made, why);
    if (err != ERR_OK) {
        dataset_close(&made);
        return err;
    }
    *data = made;
    return ERR_OK;
}

/* Dense rows of the calling program's, without a stage in between. */
static enum err pack_rows(const struct source_options *options,
                          struct dataset *data, struct why *why)
{
    struct dataset made = {0};
    struct stage_options how;
    struct memory_rows from = *options->memory;
    enum err err = describe(options, &how, why);

    from.byte = options->encoder->byte;
    if (err == ERR_OK)
        err = memory_pack(&from, wants_wide(options), &how,
                          source_pool(options), &made, why);
    if (err == ERR_OK)
        err = settle(options, &made, why);
    if (err == ERR_OK)
        err = table_keep_plain(options, (uint32_t)options->memory->cols, why);
    if (err == ERR_OK)
        *data = made;
    else
        dataset_close(&made);
    return err;
}

static enum err read_file(const struct source_options *options,
                          struct dataset *data, struct why *why)
{
    const bool known = options->encoder->kind != ENCODER_NONE;
    struct stage stage = {.wide = wants_wide(options),
                          .taken = options->taken,
                          .byte = options->encoder->byte};
    const bool packs = table_packs(options);
    bool bytes = packs && options->memory->cell == CELL_U8;
    uint32_t byte = stage.byte > 0 ? stage.byte : 1;
    enum err err = packs ? pack_rows(options, data, why) : ERR_UNSUPPORTED;

    if (err == ERR_UNSUPPORTED) {
        err = fill_stage(options, &stage, why);
        if (!packs) {
            bytes = stage.bytes;
            byte = stage.byte;
        }
        if (err == ERR_OK) /* Empties the stage. */
            err = finish(options, &stage, data, why);
    }
    if (err == ERR_OK && !known) {
        options->encoder->wide = data->storage == STORAGE_F64;
        options->encoder->byte = bytes ? byte : storage_byte(data->storage);
    }
    if (err == ERR_OK && bytes) {
        data->white = (double)UINT8_MAX / byte;
        data->known_scale = options->encoder->byte > 0;
    }
    stage_close(&stage);
    return err == ERR_OK ? err : why_in(why, err, "%s", source_shown(options));
}

static uint32_t features_of(const struct source_options *options,
                            const struct dataset *data)
{
    return data->cols - (options->intercept ? 1 : 0);
}

static void note_rounding(const struct source_options *options,
                          const struct rounding *rounding, bool kept)
{
    const char *advice =
        kept ? "so all are kept in double (--storage f32 rounds them)"
        : options->encoder->kind == ENCODER_TABLE
            ? "--storage f64 or --scale standard keeps them"
            : "--storage f64 keeps them";
    char name[64], loss[ROUNDING_TEXT];

    encoder_name(options->encoder, rounding->worst, name, sizeof name);
    rounding_text(rounding, kept, loss);
    source_note(options, "%s: column \"%s\"%s: %s, %s", source_shown(options),
                quote_text(name).text,
                rounding->columns > 1 ? " and others" : "", loss, advice);
}

static enum err find_rounding(const struct source_options *options,
                              const struct dataset *data,
                              struct rounding *rounding, struct why *why)
{
    if (rounding_find(data, features_of(options, data), rounding) == ERR_OK)
        return ERR_OK;
    return why_set(why, ERR_NOMEM,
                   "%s: not enough memory to look at its columns (ulimit -v)",
                   source_shown(options));
}

/* All that two readings of a file made. */
static void exchange(const struct source_options *one, struct dataset *data,
                     const struct source_options *two, struct dataset *other)
{
    const struct dataset rows = *data;
    const struct encoder encoder = *one->encoder;

    *data = *other;
    *other = rows;
    *one->encoder = *two->encoder;
    *two->encoder = encoder;
    if (one->keep != NULL) {
        const struct frame frame = *one->keep;

        *one->keep = *two->keep;
        *two->keep = frame;
    }
}

/* The file once more, as f64: instead of `data` if rounding does harm. */
static enum err read_wide(const struct source_options *options,
                          struct dataset *data, struct why *why)
{
    struct source_options again = *options;
    struct encoder encoder = {0};
    struct frame frame = {0};
    struct dataset wide = {0};
    struct rounding rounding;
    enum err err;

    again.storage = storage_name(STORAGE_F64);
    again.encoder = &encoder;
    again.keep = options->keep == NULL ? NULL : &frame;
    again.note = NULL; /* All is said. */
    err = read_file(&again, &wide, why);
    if (err == ERR_OK)
        err = find_rounding(options, &wide, &rounding, why);
    if (err == ERR_OK && rounding.columns > 0) {
        note_rounding(options, &rounding, true);
        exchange(options, data, &again, &wide);
    }
    dataset_close(&wide);
    encoder_close(&encoder);
    frame_close(&frame);
    return err;
}

/* Values beside 0 that fp32 has no numbers for. */
static void note_lost(const struct source_options *options,
                      const struct dataset *data)
{
    if (data->rounding > ROUNDING_HARM)
        source_note(options,
                    "%s: values below 1e-38 are lost in fp32; --storage f64 "
                    "keeps them",
                    source_shown(options));
}

/* Values are fp32 unless that would cost a column what it has to say. */
static enum err load_file(const struct source_options *options,
                          struct dataset *data, struct why *why)
{
    const bool ours = options->storage == NULL && options->like == NULL &&
                      options->encoder->kind == ENCODER_NONE; /* To choose. */
    struct rounding rounding = {0};
    enum err err = read_file(options, data, why);

    if (err != ERR_OK || !ours || data->rounded == 0)
        return err;
    err = find_rounding(options, data, &rounding, why);
    if (err == ERR_OK && rounding.columns > 0) {
        /* A stream cannot be read twice, and a sparse table may be too
         * large for dense rows. */
        if ((options->spec != NULL && input_is_stream(options->spec)) ||
            dataset_is_sparse(data))
            note_rounding(options, &rounding, false);
        else
            err = read_wide(options, data, why);
    }
    if (err == ERR_OK)
        note_lost(options, data);
    else
        dataset_close(data);
    return err;
}

static enum err shape_rows(const struct source_options *options,
                           struct dataset *data, struct why *why)
{
    const enum err err = image_settle(&data->image, options->shape,
                                      features_of(options, data), why);

    if (err == ERR_OK)
        return err;
    dataset_close(data);
    return why_in(why, err, "%s", source_shown(options));
}

enum err source_encode(const struct source_options *options,
                       const struct frame *frame, const bool *without,
                       struct encoder *encoder, struct dataset *data,
                       struct why *why)
{
    struct stage stage = {.wide = wants_wide(options)};
    enum err err = table_encode(options, frame, without, encoder, &stage, why);

    if (err == ERR_OK)
        err = finish(options, &stage, data, why);
    if (err == ERR_OK)
        encoder->wide = data->storage == STORAGE_F64;
    stage_close(&stage);
    return err == ERR_OK ? shape_rows(options, data, why) : err;
}

/* Of a table its columns are kept as they are read, which no cache has. */
static bool keeps_table(const struct source_options *options)
{
    enum format format = FORMAT_LIBSVM;

    return options->keep != NULL &&
           (find_format(options, &format, NULL) != ERR_OK ||
            format != FORMAT_LIBSVM);
}

/* The cache serves training sets: what depends on another data set is read
 * from the text. */
static bool may_cache(const struct source_options *options)
{
    return options->cache != NULL && options->memory == NULL &&
           !input_is_stream(options->spec) && options->like == NULL &&
           !keeps_table(options) && options->encoder->kind == ENCODER_NONE;
}

static enum err fill_cache(const struct source_options *options,
                           const struct cache_place *place,
                           struct dataset *data, struct why *why)
{
    struct why trouble = {0};
    const enum err err = load_file(options, data, why);

    /* A copy of rows that are not those hashed would be believed later on. */
    if (err != ERR_OK || !cache_place_holds(place, options))
        return err;
    if (cache_store(place, data, options->encoder, source_pool(options),
                    &trouble) != ERR_OK)
        source_note(options, "%s", trouble.text);
    return ERR_OK;
}

static enum err load_cached(const struct source_options *options,
                            struct dataset *data, struct why *why)
{
    struct cache_place place;
    struct why trouble = {0};
    enum err err;

    /* Whoever can put a copy there chooses what is trained on. */
    if (file_exists(options->cache) &&
        file_check_folder(options->cache, &trouble) != ERR_OK) {
        source_note(options, "--cache is not used: %s", trouble.text);
        return load_file(options, data, why);
    }
    /* What cannot be hashed cannot be read either, or is a pipe. */
    if (cache_place(options, &place, NULL) != ERR_OK)
        return load_file(options, data, why);
    err = cache_load(&place, source_pool(options), data, options->encoder,
                     &trouble);
    if (err == ERR_OK)
        return ERR_OK;
    if (err != ERR_NOTFOUND)
        source_note(options, "%s", trouble.text);
    return fill_cache(options, &place, data, why);
}

/* Images of MNIST's naming whose labels nobody named have them beside them. */
static void find_labels(struct source_options *options,
                        char path[FILE_PATH_SIZE])
{
    enum format format = FORMAT_LIBSVM;

    if (options->memory != NULL || options->labels_file != NULL ||
        (options->label != NULL && strcmp(options->label, LABEL_NONE) == 0) ||
        !idx_labels_name(options->spec, path, FILE_PATH_SIZE) ||
        !file_exists(path) || find_format(options, &format, NULL) != ERR_OK ||
        format != FORMAT_IDX)
        return;
    options->labels_file = path;
    source_note(options, "%s: its labels are %s, by its name",
                source_shown(options), path);
}

static enum err load_file_or_copy(const struct source_options *options,
                                  struct dataset *data, struct why *why)
{
    return may_cache(options) ? load_cached(options, data, why)
                              : load_file(options, data, why);
}

/* Without labels that nobody named: of rows that need none, a file that lies
 * there is no reason to fail. */
static enum err load_alone(struct source_options *options, struct dataset *data,
                           struct why *why)
{
    const char *const found = options->labels_file;
    const struct why trouble = why != NULL ? *why : (struct why){0};
    enum err err;

    options->labels_file = NULL;
    err = load_file_or_copy(options, data, why);
    if (err == ERR_OK)
        source_note(options, "%s: left alone: %s", found, trouble.text);
    return err;
}

/* With an encoder of its own where the caller has no use for one. */
static enum err load_rows(const struct source_options *options,
                          struct dataset *data, struct why *why)
{
    struct source_options own = *options;
    struct encoder encoder = {0};
    char labels[FILE_PATH_SIZE];
    enum err err;

    if (own.encoder == NULL)
        own.encoder = &encoder;
    find_labels(&own, labels);
    err = load_file_or_copy(&own, data, why);
    if (err != ERR_OK && own.unlabelled && own.labels_file == labels)
        err = load_alone(&own, data, why);
    encoder_close(&encoder);
    return err;
}

/* Generators have no columns to say anything about. */
static enum err refuse_gen(const struct source_options *options,
                           struct why *why)
{
    const struct {
        bool given;
        const char *flag;
    } files[] = {
        {options->label != NULL, "label"},
        {options->labels_file != NULL, "labels"},
        {options->drop != NULL, "drop"},
        {options->weight != NULL, "weight"},
        {options->categorical != NULL, "categorical"},
        {options->pairs, "pairs"},
        {options->separator != NULL, "separator"},
        {options->format != NULL, "input"},
        {options->zero_based, "zero-based"},
        {source_scales(options), "scale"},
        {options->missing != MISSING_REFUSE, "missing"},
        {options->header != HEADER_AUTO, "header"},
    };

    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (files[i].given)
            return why_set(why, ERR_UNSUPPORTED,
                           "%s: --%s is for files; generated rows have labels "
                           "and columns of their own",
                           options->spec, files[i].flag);
    return ERR_OK;
}

enum err source_load(const struct source_options *options,
                     struct dataset *train, struct dataset *test,
                     bool *has_test, struct why *why)
{
    const bool generated = options->memory == NULL && options->spec != NULL &&
                           gen_is_spec(options->spec);
    enum err err;

    CHECK(options->spec != NULL || options->memory != NULL);
    if (generated && refuse_gen(options, why) != ERR_OK)
        return ERR_UNSUPPORTED;
    if (has_test != NULL)
        *has_test = false;
    err = generated ? gen_load(options, train, test, has_test, why)
                    : load_rows(options, train, why);
    if (err == ERR_OK)
        err = shape_rows(options, train, why);
    if (has_test == NULL || !*has_test)
        return err;
    if (err == ERR_OK)
        test->image = train->image;
    else
        dataset_close(test);
    *has_test = err == ERR_OK;
    return err;
}

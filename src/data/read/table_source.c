/*
 * table_source.c - the road of a table: numbers packed as they are read, or, at
 * the first word, a frame and an encoder.
 */
#include "data/read/table_source.h"

#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "data/read/arrow.h"
#include "data/read/idx.h"
#include "data/read/npy.h"
#include "data/read/table_glimpse.h"
#include "data/read/table_notes.h"
#include "data/table/csv.h"
#include "data/table/frame.h"
#include "data/text/letters.h"
#include "data/text/unpack.h"
#include "os/file/input.h"

enum { SLURP_BYTES = 1 << 16 };

bool table_wants_encoder(const struct source_options *options)
{
    return options->categorical != NULL || options->pairs ||
           source_scales(options) || options->missing != MISSING_REFUSE ||
           options->drop != NULL || options->weight != NULL;
}

enum err table_refuse_encoder(struct why *why)
{
    return why_set(why, ERR_UNSUPPORTED,
                   "--categorical, --pairs, --scale, --missing, --drop and "
                   "--weight are for tables: csv, tsv, npy and dense npz");
}

/* The encoder of a table that was read before; NULL: there is none. */
static const struct encoder *fitted(const struct source_options *options)
{
    return options->encoder != NULL && options->encoder->kind == ENCODER_TABLE
               ? options->encoder
               : NULL;
}

static struct columns_wanted wanted_of(const struct source_options *options)
{
    return (struct columns_wanted){
        .label = options->label,
        .drop = options->drop,
        .weight = options->weight,
        .known = fitted(options) != NULL ? &fitted(options)->schema : NULL};
}

/* Must a table of numbers go through a frame, whatever is in it? */
static bool numbers_need_frame(const struct source_options *options)
{
    if (fitted(options) != NULL)
        return !encoder_plain_columns(fitted(options));
    return options->categorical != NULL || options->pairs ||
           source_scales(options) || options->missing != MISSING_REFUSE;
}

/* Columns of a table to be scaled as a matter of course? */
static bool scales_tables(const struct source_options *options)
{
    return fitted(options) == NULL && options->scaling != SCALE_NONE &&
           options->scaling_implied && options->shape == NULL;
}

/* One that may have words? */
static bool needs_frame(const struct source_options *options)
{
    return fitted(options) != NULL
               ? !encoder_is_plain(fitted(options))
               : numbers_need_frame(options) || scales_tables(options);
}

/* --- frames -----------------------------------------------------------------
 */

enum err table_encode(const struct source_options *options,
                      const struct frame *frame, const bool *without,
                      struct encoder *encoder, struct stage *stage,
                      struct why *why)
{
    const bool image = options->shape != NULL || frame->image.height > 0;
    const struct encode_options how = {
        .scaling =
            image && options->scaling_implied ? SCALE_NONE : options->scaling,
        .all_pairs = options->pairs,
        .missing = options->missing,
        .without = without};
    struct unknown_words unknown = {0};
    enum err err = ERR_OK;

    stage->image = frame->image;
    if (encoder->kind != ENCODER_TABLE) {
        err = encoder_fit(encoder, frame, &how, why);
        if (err == ERR_OK && without == NULL)
            table_note_meanless(options, frame);
    }
    if (err == ERR_OK)
        err = encoder_apply(encoder, frame, stage, &unknown, why);
    if (err == ERR_OK && without == NULL)
        table_note_unknown(options, frame, &unknown);
    return err;
}

/* And keep it, if asked for. */
static enum err encode_frame(const struct source_options *options,
                             struct frame *frame, struct stage *stage,
                             struct why *why)
{
    struct encoder own = {0};
    struct encoder *const encoder =
        options->encoder != NULL ? options->encoder : &own;
    enum err err = ERR_OK;

    if (fitted(options) != NULL && !options->unlabelled)
        err = encoder_check_labels(encoder, frame, why);
    if (err == ERR_OK)
        err = table_encode(options, frame, NULL, encoder, stage, why);

    encoder_close(&own);
    if (err == ERR_OK && options->keep != NULL) {
        *options->keep = *frame;
        *frame = (struct frame){0};
    }
    return err;
}

static enum err open_text(const struct source_options *options,
                          const struct span *text, struct text_source *source,
                          struct why *why)
{
    enum err err;

    if (text == NULL)
        return text_open(source, options->spec, why);
    err = text_open_memory(source, text->at, text->size);
    return err == ERR_OK ? err : why_set(why, err, "%s", err_text(err));
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
    how->label_words = encoder->classes.categories > 0;
    how->missing = encoder_fills(encoder);
    *kinds = made;
    return ERR_OK;
}

/* What is in the columns of a table that nothing is fitted to yet. */
static enum err look_first(const struct source_options *options,
                           const struct span *text, struct frame_options *how,
                           struct survey *survey, struct why *why)
{
    struct text_source source = {0};
    enum err err = open_text(options, text, &source, why);

    if (err == ERR_OK)
        err = survey_read(&source, how, survey, why);
    text_close(&source);
    how->survey = survey;
    how->wanted.empty = options->shares ? NULL : survey->empty;
    how->header = survey->header ? HEADER_YES : HEADER_NO;
    return err;
}

static bool is_auto(const char *categorical)
{
    return categorical == NULL || strcmp(categorical, "auto") == 0;
}

static enum err read_frame(const struct source_options *options, char separator,
                           const struct span *text, struct frame *frame,
                           struct why *why)
{
    struct frame_options how = {.wanted = wanted_of(options),
                                .header = options->header,
                                .separator = separator,
                                .categorical = is_auto(options->categorical)
                                                   ? NULL
                                                   : options->categorical,
                                .markers = true,
                                .missing = options->missing != MISSING_REFUSE,
                                .missing_labels = options->unlabelled};
    struct text_source source = {0};
    struct survey survey = {0};
    bool *kinds = NULL;
    enum err err = ERR_OK;

    if (fitted(options) == NULL)
        err = look_first(options, text, &how, &survey, why);
    else if (like_fitted(fitted(options), &how, &kinds) != ERR_OK)
        err = why_set(why, ERR_NOMEM, "out of memory");
    if (err == ERR_OK)
        err = open_text(options, text, &source, why);
    if (err == ERR_OK)
        err = frame_read(&source, &how, frame, why);
    if (err == ERR_OK) {
        table_note_header(options, &frame->csv,
                          how.survey != NULL ? survey.again : frame->csv.cols);
        table_note_empty(options, &frame->csv);
        frame->csv.wanted.empty = NULL; /* The survey's. */
    }
    text_close(&source);
    survey_close(&survey);
    mem_free(kinds);
    return err;
}

static enum err stage_frame(const struct source_options *options,
                            char separator, const struct span *text,
                            struct stage *stage, struct why *why)
{
    struct frame frame = {0};
    enum err err = read_frame(options, separator, text, &frame, why);

    if (err == ERR_OK) {
        table_note_columns(options, &frame.csv);
        table_note_codes(options, &frame.csv, &frame);
        table_note_glimpse(options, text, &frame.csv, &frame);
        if (fitted(options) == NULL && is_auto(options->categorical)) {
            table_note_words(options, &frame);
            table_note_names(options, &frame);
            err = table_refuse_names(&frame, why);
        }
        if (fitted(options) == NULL && err == ERR_OK)
            table_note_alike(options, &frame);
        if (err == ERR_OK)
            err = encode_frame(options, &frame, stage, why);
    }
    frame_close(&frame);
    return err;
}

/* --- csv --------------------------------------------------------------------
 */

/* Keep the columns of a table whose numbers were taken as they are. */
static enum err keep_columns(const struct source_options *options,
                             const struct csv *form, struct why *why)
{
    struct schema schema = {0};
    enum err err;

    if (options->encoder == NULL || fitted(options) != NULL)
        return ERR_OK;
    err = schema_of(&schema, form, &form->columns);
    if (err == ERR_OK)
        err = encoder_plain(options->encoder, &schema);
    return err == ERR_OK ? err : why_set(why, err, "%s", err_text(err));
}

static enum err stage_numbers(const struct source_options *options,
                              char separator, const struct span *text,
                              struct stage *stage, struct why *why)
{
    struct csv csv = {.wanted = wanted_of(options),
                      .header_wanted = options->header,
                      .separator = separator};
    enum err err =
        csv_stage(options->spec, text, &csv, source_pool(options), stage, why);

    if (err == ERR_OK)
        err = keep_columns(options, &csv, why);
    if (err == ERR_OK) {
        table_note_header(options, &csv, csv.cols);
        table_note_columns(options, &csv);
        table_note_codes(options, &csv, NULL);
        table_note_glimpse(options, text, &csv, NULL);
    }
    csv_close(&csv);
    return err;
}

/* May a frame hold what plain rows of numbers did not? */
static bool may_mend(enum err err)
{
    return err == ERR_FORMAT || err == ERR_UNSUPPORTED || err == ERR_UNKNOWN ||
           err == ERR_SHAPE;
}

static enum err read_csv(const struct source_options *options, char separator,
                         const struct span *text, struct stage *stage,
                         struct why *why)
{
    enum err err = ERR_FORMAT;

    if (!needs_frame(options))
        err = stage_numbers(options, separator, text, stage, why);
    if (!may_mend(err))
        return err;
    stage_clear(stage);
    if (why != NULL)
        *why = (struct why){0}; /* It may well succeed. */
    return stage_frame(options, separator, text, stage, why);
}

/* All of a stream, which cannot be read twice. */
static enum err slurp(const char *path, struct span *text, struct why *why)
{
    struct unpacker *in = NULL;
    char *data = NULL;
    size_t size = 0;
    size_t room = 0;
    size_t got = 1;
    enum err err = unpacker_open(path, &in, why);

    while (err == ERR_OK && got > 0) {
        char *const grown = mem_grow(data, size, size + SLURP_BYTES, 1, &room);

        if (grown == NULL) {
            err = why_set(why, ERR_NOMEM, "out of memory");
            break;
        }
        data = grown;
        err = unpacker_fill(in, data + size, room - size, &got, why);
        if (err == ERR_OK && size == 0)
            err = letters_begin(data, got, why);
        if (err == ERR_OK && memchr(data + size, '\0', got) != NULL)
            err = why_set(why, ERR_FORMAT,
                          "a NUL byte; is this a text file, and not UTF-16?");
        size += err == ERR_OK ? got : 0;
    }
    unpacker_close(in);
    if (err != ERR_OK) {
        mem_free(data);
        return err;
    }
    *text = (struct span){data, size};
    return ERR_OK;
}

enum err table_separator(const char *text, char *separator, struct why *why)
{
    if (strcmp(text, "tab") == 0)
        text = "\t";
    *separator = text[0];
    return text[0] != '\0' && text[1] == '\0' &&
                   strchr("\"\r\n", text[0]) == NULL
               ? ERR_OK
               : why_set(why, ERR_RANGE,
                         "--separator %.8s: one character, or tab", text);
}

enum err table_read_csv(const struct source_options *options, char separator,
                        struct stage *stage, struct why *why)
{
    struct span text = {0};
    void *held;
    enum err err = options->separator != NULL
                       ? table_separator(options->separator, &separator, why)
                       : ERR_OK;

    if (err != ERR_OK)
        return err;
    if (options->text.at != NULL)
        return read_csv(options, separator, &options->text, stage, why);
    if (!input_is_stream(options->spec))
        return read_csv(options, separator, NULL, stage, why);
    err = slurp(options->spec, &text, why);
    if (err != ERR_OK)
        return err;
    err = read_csv(options, separator, &text, stage, why);
    memcpy(&held, &text.at, sizeof held); /* It is ours. */
    mem_free(held);
    return err;
}

/* --- binary -----------------------------------------------------------------
 */

enum err table_read_labels(const char *path, double **labels, uint64_t *count,
                           struct why *why)
{
    struct unpacker *in = NULL;
    uint8_t first[8];
    size_t got = 0;
    bool npy;
    enum err err = input_is_stream(path)
                       ? why_set(why, ERR_UNSUPPORTED,
                                 "labels are not read from a pipe: name a file")
                       : unpacker_open(path, &in, why);

    if (err == ERR_OK)
        err = unpacker_fill(in, first, sizeof first, &got, why);
    unpacker_close(in);
    in = NULL;
    npy = npy_is_magic(first, got);
    if (err == ERR_OK && !npy && !idx_is_magic(first, got))
        err = why_set(why, ERR_FORMAT,
                      "neither npy nor IDX; labels of a file of their own are "
                      "read from these two, and an npz takes X and y together");
    if (err == ERR_OK)
        err = unpacker_open(path, &in, why);
    if (err == ERR_OK)
        err = npy ? npy_labels(in, labels, count, why)
                  : idx_labels(in, labels, count, why);
    unpacker_close(in);
    return err == ERR_OK ? err : why_in(why, err, "--labels %s", path);
}

static bool takes_gaps(const struct source_options *options)
{
    return fitted(options) != NULL ? encoder_fills(fitted(options))
                                   : options->missing != MISSING_REFUSE;
}

static enum err refuse_words(const struct source_options *options,
                             struct why *why)
{
    const struct encoder *const encoder = fitted(options);
    bool words =
        encoder == NULL && (!is_auto(options->categorical) || options->pairs);

    for (uint32_t j = 0; encoder != NULL && j < encoder->columns; j++)
        words |= encoder->column[j].categorical;
    return words ? why_set(why, ERR_UNSUPPORTED,
                           "columns of categories are for csv and tsv; this "
                           "table holds numbers only")
                 : ERR_OK;
}

/* Of a file of numbers no label is one of a model's words.  Rows to be judged
 * do without. */
static enum err forget_labels(const struct source_options *options,
                              struct stage *stage, struct why *why)
{
    const struct encoder *const encoder = fitted(options);
    bool there = false;

    if (encoder == NULL || encoder->classes.categories == 0)
        return ERR_OK;
    for (size_t k = 0; k < stage->count; k++)
        for (uint32_t i = 0; i < stage->block[k].census.rows; i++) {
            there |= !isnan(stage->block[k].label[i]);
            stage->block[k].label[i] = nan("");
        }
    if (there && !options->unlabelled)
        return why_set(why, ERR_MISMATCH,
                       "its labels are numbers, and those of the training "
                       "rows are words; write these rows as csv, with words");
    if (there)
        source_note(options,
                    "%s: its labels are numbers, and those of the model are "
                    "words, so nothing is told of how many are right",
                    source_shown(options));
    return ERR_OK;
}

enum err table_stage_npy(const struct source_options *options,
                         struct unpacker *in, const double *labels,
                         uint64_t count, struct stage *stage, struct why *why)
{
    const struct npy_images images = {source_pool(options), stage};
    struct csv form = {.wanted = wanted_of(options)};
    struct frame frame = {0};
    enum err err = refuse_words(options, why);

    if (err == ERR_OK &&
        (numbers_need_frame(options) || scales_tables(options)))
        err = npy_frame(in, labels, count, takes_gaps(options), &form, &frame,
                        numbers_need_frame(options) ? NULL : &images, why);
    else if (err == ERR_OK)
        err = npy_stage(in, labels, count, &form, source_pool(options), stage,
                        why);
    if (err == ERR_OK)
        err = frame.rows > 0 ? encode_frame(options, &frame, stage, why)
                             : keep_columns(options, &form, why);
    if (err == ERR_OK)
        err = forget_labels(options, stage, why);
    frame_close(&frame);
    csv_close(&form);
    return err;
}

bool table_packs(const struct source_options *options)
{
    return options->memory != NULL && options->memory->x != NULL &&
           !numbers_need_frame(options) && !scales_tables(options) &&
           options->drop == NULL && options->weight == NULL &&
           options->label == NULL;
}

enum err table_keep_plain(const struct source_options *options,
                          uint32_t features, struct why *why)
{
    struct schema schema = {0};
    enum err err = ERR_OK;

    if (options->encoder == NULL || options->encoder->kind != ENCODER_NONE)
        return ERR_OK;
    err = schema_plain(&schema, features);
    if (err == ERR_OK)
        err = encoder_plain(options->encoder, &schema);
    return err == ERR_OK ? err : why_set(why, err, "%s", err_text(err));
}

/* A dense array as a frame: what is scaled or filled in is so by columns. */
static enum err stage_array(const struct source_options *options,
                            struct stage *stage, struct why *why)
{
    struct csv form = {.wanted = wanted_of(options)};
    struct frame frame = {0};
    const uint32_t classes =
        fitted(options) != NULL ? options->encoder->classes.categories : 0;
    enum err err = refuse_words(options, why);

    if (err == ERR_OK)
        err = memory_frame(options->memory, takes_gaps(options), &form, &frame,
                           why);
    /* A program's labels are numbers of classes, whatever words these are; of a
     * file of numbers none would be known. */
    if (classes > 0)
        options->encoder->classes.categories = 0;
    if (err == ERR_OK)
        err = encode_frame(options, &frame, stage, why);
    if (classes > 0)
        options->encoder->classes.categories = classes;
    frame_close(&frame);
    csv_close(&form);
    return err;
}

/* A column is what it was when the encoder was fitted. */
static enum err check_kinds(const struct encoder *encoder,
                            const struct frame *frame, struct why *why)
{
    for (uint32_t j = 0; encoder != NULL && j < frame->cols; j++)
        if (encoder->column[j].categorical != frame->column[j].categorical)
            return why_set(why, ERR_MISMATCH,
                           "feature %u is %s, and was %s in the training table",
                           j + 1,
                           frame->column[j].categorical ? "words" : "numbers",
                           frame->column[j].categorical ? "numbers" : "words");
    return ERR_OK;
}

static enum err stage_arrow(const struct source_options *options,
                            struct stage *stage, struct why *why)
{
    struct csv form = {.wanted = wanted_of(options)};
    struct frame frame = {0};
    enum err err = arrow_frame(options->memory->arrow, takes_gaps(options),
                               options->unlabelled, &form, &frame, why);

    if (err == ERR_OK)
        err = check_kinds(fitted(options), &frame, why);
    if (err == ERR_OK)
        err = encode_frame(options, &frame, stage, why);
    frame_close(&frame);
    csv_close(&form);
    return err;
}

enum err table_read_memory(const struct source_options *options,
                           struct stage *stage, struct why *why)
{
    struct memory_rows from = *options->memory;
    enum err err;

    if (from.arrow != NULL)
        return stage_arrow(options, stage, why);
    if (from.x != NULL && !table_packs(options))
        return stage_array(options, stage, why);
    from.byte = stage->byte;
    if (fitted(options) == NULL ? table_wants_encoder(options)
                                : !encoder_plain_columns(fitted(options)))
        return table_refuse_encoder(why);
    err = memory_stage(&from, source_pool(options), stage, why);
    if (err == ERR_OK && from.x != NULL)
        err = table_keep_plain(options, (uint32_t)from.cols, why);
    else if (err == ERR_OK && options->encoder != NULL &&
             options->encoder->kind == ENCODER_NONE)
        options->encoder->kind = ENCODER_ROWS;
    return err;
}

static enum err stage_idx(const struct source_options *options,
                          struct unpacker *in, const double *labels,
                          uint64_t count, struct stage *stage, struct why *why)
{
    struct csv form = {.wanted = {.label = LABEL_NONE}};
    uint64_t cols = 0;
    enum err err =
        idx_stage(in, labels, count, &cols, source_pool(options), stage, why);

    if (err != ERR_OK)
        return err;
    CHECK(cols <= DATA_COLS_MAX); /* Or it would not have been read. */
    form.cols = (uint32_t)cols;
    err = columns_assign(&form, &form.wanted, &form.columns, why);
    if (err == ERR_OK)
        err = keep_columns(options, &form, why);
    csv_close(&form);
    return err;
}

static enum err read_binary(const struct source_options *options, bool idx,
                            struct stage *stage, struct why *why)
{
    struct unpacker *in = NULL;
    double *labels = NULL;
    uint64_t count = 0;
    enum err err = ERR_OK;

    if (options->labels_file != NULL)
        err = table_read_labels(options->labels_file, &labels, &count, why);
    if (err == ERR_OK)
        err = unpacker_open(options->spec, &in, why);
    if (err == ERR_OK)
        err = idx ? stage_idx(options, in, labels, count, stage, why)
                  : table_stage_npy(options, in, labels, count, stage, why);
    unpacker_close(in);
    mem_free(labels);
    return err;
}

enum err table_read_npy(const struct source_options *options,
                        struct stage *stage, struct why *why)
{
    return read_binary(options, false, stage, why);
}

enum err table_read_idx(const struct source_options *options,
                        struct stage *stage, struct why *why)
{
    enum err err;

    if (options->labels_file == NULL && !options->unlabelled)
        return why_set(why, ERR_SHAPE,
                       "an IDX file has no labels; add --labels FILE");
    if (fitted(options) == NULL ? table_wants_encoder(options)
                                : !encoder_plain_columns(fitted(options)))
        return table_refuse_encoder(why);
    err = read_binary(options, true, stage, why);
    return err == ERR_OK ? forget_labels(options, stage, why) : err;
}

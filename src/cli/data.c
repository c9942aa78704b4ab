/*
 * data.c - `muster data info|entropy|prepare`.
 */
#include "cli/data.h"

#include <stdio.h>
#include <string.h>

#include "data/make/prepare.h"
#include "data/rows/labels.h"
#include "data/source.h"
#include "learn/card/json.h"
#include "learn/classes.h"
#include "learn/recipe/input.h"
#include "os/run/threads.h"

#define LABELS_SHOWN 12u

struct info {
    const struct dataset *data;
    const struct encoder *encoder; /* What words the labels were. */
    const uint32_t *count;         /* Rows of each class; NULL: numbers. */
    double density;
    const char *digest;
};

static void note(void *context, const char *sentence)
{
    const struct cli *const cli = context;

    say_note(cli, "muster: %s", sentence);
}

/* Values that are not zero. */
static uint64_t count_nonzero(const struct dataset *data)
{
    uint64_t nonzero = 0;

    if (dataset_is_sparse(data))
        return data->begin[data->rows];
    for (uint32_t i = 0; i < data->rows; i++) {
        const void *const row = dataset_row(data, i);

        for (uint32_t j = 0; j < data->cols; j++)
            nonzero += storage_get(data->storage, row, j) != 0;
    }
    return nonzero;
}

static uint64_t count_bytes(const struct dataset *data)
{
    const uint64_t entry =
        sizeof *data->column + (data->value == NULL ? 0 : sizeof *data->value);

    if (dataset_is_sparse(data))
        return data->entries * entry +
               ((uint64_t)data->rows + 1) * sizeof *data->begin;
    return data->rows * storage_row_bytes(data->storage, data->stride);
}

static bool mapped(const struct dataset *data)
{
    for (uint32_t i = 0; i < data->rows; i++) {
        if (data->y[i] != (data->classes == 2 ? (data->y[i] > 0 ? 1 : -1)
                                              : (double)(uint32_t)data->y[i]) ||
            data->y[i] >= (double)data->classes)
            return false;
    }
    return data->classes >= 2;
}

/* Rows of each class, in the order of the labels. */
static void count_classes(const struct dataset *data, uint32_t *count)
{
    for (uint32_t i = 0; i < data->rows; i++) {
        const uint32_t class =
            data->classes == 2 ? data->y[i] > 0 : (uint32_t)data->y[i];

        count[class]++;
    }
}

static json_t *label_json(const struct info *info, uint32_t k)
{
    const struct frame_column *const words = &info->encoder->classes;

    return k < words->categories ? json_string(words->category[k].text)
                                 : json_real(info->data->label[k]);
}

static json_t *labels_json(const struct info *info)
{
    const struct dataset *const data = info->data;
    json_t *const list = json_array();

    for (uint32_t i = 0; i < data->classes; i++)
        (void)json_array_append_new(
            list, json_pack("{s:o, s:I}", "label", label_json(info, i), "rows",
                            (json_int_t)info->count[i]));
    return list;
}

static void label_range(const struct dataset *data, double *low, double *high)
{
    *low = data->y[0];
    *high = data->y[0];
    for (uint32_t i = 1; i < data->rows; i++) {
        *low = data->y[i] < *low ? data->y[i] : *low;
        *high = data->y[i] > *high ? data->y[i] : *high;
    }
}

static void info_json(const struct info *info)
{
    const struct dataset *const data = info->data;
    json_t *const object = json_pack(
        "{s:I, s:I, s:s, s:f, s:I, s:I, s:f, s:I, s:s}", "rows",
        (json_int_t)data->rows, "cols", (json_int_t)data->cols, "storage",
        storage_name(data->storage), "density", info->density, "bytes",
        (json_int_t)count_bytes(data), "rounded", (json_int_t)data->rounded,
        "rounding", data->rounding, "classes", (json_int_t)data->classes,
        "digest", info->digest);
    double low;
    double high;

    label_range(data, &low, &high);
    if (image_columns(&data->image) > 0)
        (void)json_object_set_new(
            object, "image",
            json_pack("[i, i, i]", (int)data->image.height,
                      (int)data->image.width, (int)data->image.channels));
    if (info->count != NULL)
        (void)json_object_set_new(object, "labels", labels_json(info));
    else
        (void)json_object_set_new(object, "label_range",
                                  json_pack("[f, f]", low, high));
    say_json(object);
}

static void info_text(const struct info *info)
{
    const struct dataset *const data = info->data;
    char name[CLASS_TEXT], least[LABEL_TEXT_SIZE], most[LABEL_TEXT_SIZE];
    double low;
    double high;

    (void)printf("rows      %u\ncolumns   %u\nstorage   %s, %.1f MiB\n"
                 "density   %.4g\n",
                 data->rows, data->cols, storage_name(data->storage),
                 (double)count_bytes(data) / 0x1p20, info->density);
    if (image_columns(&data->image) > 0)
        (void)printf("image     %ux%ux%u\n", data->image.height,
                     data->image.width, data->image.channels);
    if (data->rounded > 0)
        (void)printf("rounded   %llu values to fp32, by %.2g of their size at "
                     "most; --storage f64 keeps them\n",
                     (unsigned long long)data->rounded, data->rounding);
    if (info->count == NULL) {
        label_range(data, &low, &high);
        (void)printf("labels    numbers from %s to %s\n",
                     label_write(low, least), label_write(high, most));
    } else {
        (void)printf("labels   ");
        for (uint32_t i = 0; i < data->classes && i < LABELS_SHOWN; i++)
            (void)printf(" %s (%u)",
                         class_text(data, &info->encoder->classes, i, name),
                         info->count[i]);
        (void)printf("%s\n", data->classes > LABELS_SHOWN ? " ..." : "");
    }
    (void)printf("digest    %s\n", info->digest);
}

static int show_info(struct cli *cli, const struct dataset *data,
                     const struct encoder *encoder)
{
    uint32_t count[CLASSES_MAX] = {0};
    const struct digest digest = dataset_digest(data);
    char hex[DIGEST_TEXT];
    const struct info info = {
        .data = data,
        .encoder = encoder,
        .count = mapped(data) ? count : NULL,
        .density = (double)count_nonzero(data) /
                   ((double)data->rows * (double)data->cols),
        .digest = digest_text(&digest, hex),
    };

    if (info.count != NULL)
        count_classes(data, count);
    if (cli->json)
        info_json(&info);
    else
        info_text(&info);
    return EXIT_DONE;
}

/* Read the data and show what is asked of it. */
static int data_read(struct cli *cli, const char *what,
                     int (*show)(struct cli *cli, const struct dataset *data,
                                 const struct encoder *encoder))
{
    struct source_options source = input_options(&cli->options.recipe);
    struct dataset data = {0};
    struct encoder encoder = {0};
    struct pool *pool = NULL;
    struct why why = {0};
    int code = EXIT_DONE;
    enum err err =
        threads_new(option_text(&cli->options, OPT_THREADS) == NULL
                        ? threads_available()
                        : (uint32_t)option_count(&cli->options, OPT_THREADS),
                    &pool);

    if (err != ERR_OK)
        return say_error(cli, EXIT_FAILED,
                         "cannot start threads; try --threads 1");
    source.spec = what;
    source.pool = pool;
    source.note = note;
    source.note_context = cli;
    source.encoder = &encoder;
    err = source_load(&source, &data, NULL, NULL, &why);
    threads_free(pool);
    if (err == ERR_OK) {
        code = show(cli, &data, &encoder);
        dataset_close(&data);
    }
    encoder_close(&encoder);
    return err == ERR_OK ? code : say_why(cli, err, &why);
}

static json_t *part_json(const struct prepared_part *part)
{
    return json_pack("{s:o, s:I, s:I, s:I}", "file", name_json(part->path),
                     "rows", (json_int_t)part->rows, "positives",
                     (json_int_t)part->positives, "cols",
                     (json_int_t)part->cols);
}

static void show_prepared(const struct prepared *made)
{
    say_name("", made->train.path, "  ");
    (void)printf("%u rows\n", made->train.rows);
    say_name("", made->test.path, "  ");
    (void)printf("%u rows\n%u columns, at most %u values a row\n",
                 made->test.rows, made->cols, made->entries_most);
}

static int data_prepare(struct cli *cli, const char *what)
{
    const char *from = option_text(&cli->options, OPT_RAW);
    const char *out = option_text(&cli->options, OPT_TO);
    struct prepared made = {0};
    struct why why = {0};
    enum err err;

    if (from == NULL || out == NULL)
        return say_error(cli, EXIT_USAGE,
                         "data prepare takes --raw FOLDER of the raw files "
                         "and --to PREFIX of the new ones");
    err = prepare_data(what, from, out, &made, &why);
    if (err != ERR_OK)
        return say_why(cli, err, &why);
    if (cli->json)
        say_json(json_pack("{s:s, s:I, s:I, s:o, s:o}", "name", made.name,
                           "cols", (json_int_t)made.cols, "entries_most",
                           (json_int_t)made.entries_most, "train",
                           part_json(&made.train), "test",
                           part_json(&made.test)));
    else
        show_prepared(&made);
    if (!cli->json && made.train.cols < made.cols)
        (void)printf("columns %u to %u are 0 in every training row; LIBSVM "
                     "text leaves zeros out, so that `train` reads %u "
                     "columns\n",
                     made.train.cols + 1, made.cols, made.train.cols);
    return EXIT_DONE;
}

int data_command(struct cli *cli)
{
    const char *action = option_text(&cli->options, OPT_DATA_ACTION);
    const char *what = option_text(&cli->options, OPT_WHAT);

    if (action == NULL || what == NULL)
        return say_error(cli, EXIT_USAGE,
                         "write `muster data info DATA`, `data entropy "
                         "DATA`, `data prepare NAME` or `data get NAME|URL`");
    if (strcmp(action, "info") == 0)
        return data_read(cli, what, show_info);
    if (strcmp(action, "entropy") == 0)
        return data_read(cli, what, data_entropy);
    if (strcmp(action, "prepare") == 0)
        return data_prepare(cli, what);
    return data_get(cli, what);
}

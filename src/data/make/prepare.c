/*
 * prepare.c - recipes for five public data sets: columns, encoding and split as
 * published work had them, so that figures can be compared.
 */
#include "data/make/prepare.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "data/read/idx.h"
#include "data/read/libsvm.h"
#include "data/rows/split.h"
#include "data/table/encode.h"
#include "data/table/frame.h"
#include "os/file/file.h"
#include "os/file/output.h"

#define PATH_SIZE 1024u

/* One call of prepare_data. */
struct kitchen {
    const char *from, *prefix;
    struct prepared *report;
    struct why *why;
};

struct dish {
    const char *name;
    enum err (*cook)(struct kitchen *kitchen);
};

/* --- files ----------------------------------------------------------------
 */

/* The first of the names, packed or not, that is in the folder. */
static bool find_file(const struct kitchen *kitchen, const char *const *names,
                      char path[PATH_SIZE])
{
    static const char *const packed[] = {"", ".gz", ".zst"};

    for (; *names != NULL; names++) {
        for (size_t i = 0; i < sizeof packed / sizeof *packed; i++) {
            if (snprintf(path, PATH_SIZE, "%s/%s%s", kitchen->from, *names,
                         packed[i]) < (int)PATH_SIZE &&
                file_exists(path))
                return true;
        }
    }
    return false;
}

static enum err want_file(const struct kitchen *kitchen,
                          const char *const *names, char path[PATH_SIZE])
{
    if (find_file(kitchen, names, path))
        return ERR_OK;
    return why_set(kitchen->why, ERR_NOTFOUND,
                   "%.200s: no %s (or .gz, .zst) in it; get the file and name "
                   "its folder with --raw",
                   kitchen->from, names[0]);
}

/* Returns the number of its last column, 0 if there is none. */
static uint32_t write_row(struct output *output, const struct sparse *rows,
                          uint32_t row)
{
    char text[64];
    int size = snprintf(text, sizeof text, "%.17g", rows->label[row]);
    uint32_t last = 0;

    output_write(output, text, (size_t)size);
    for (size_t k = rows->start[row]; k < rows->start[row + 1]; k++) {
        const float value = (float)rows->value[k]; /* Nine digits hold it. */

        if (value == 0)
            continue;
        last = rows->index[k] + 1;
        size = value == 1
                   ? snprintf(text, sizeof text, " %u:1", rows->index[k] + 1)
                   : snprintf(text, sizeof text, " %u:%.9g", rows->index[k] + 1,
                              (double)value);
        output_write(output, text, (size_t)size);
    }
    output_write(output, "\n", 1);
    return last;
}

/* order NULL: as they stand. */
static enum err write_part(struct kitchen *kitchen, const char *suffix,
                           const struct sparse *rows, const uint32_t *order,
                           uint32_t count, struct prepared_part *part)
{
    struct output *output;
    enum err err;

    (void)snprintf(part->path, sizeof part->path, "%s-%s.svm", kitchen->prefix,
                   suffix);
    part->rows = count;
    CHECK(rows->start != NULL);
    err = output_open(&output, part->path, OUTPUT_WHOLE, 0644, kitchen->why);
    if (err != ERR_OK)
        return err;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t row = order == NULL ? i : order[i];
        const uint32_t entries =
            (uint32_t)(rows->start[row + 1] - rows->start[row]);

        const uint32_t last = write_row(output, rows, row);

        if (last > part->cols)
            part->cols = last;
        part->positives += rows->label[row] > 0;
        if (entries > kitchen->report->entries_most)
            kitchen->report->entries_most = entries;
    }
    if (rows->cols > kitchen->report->cols)
        kitchen->report->cols = rows->cols;
    return output_commit(output, kitchen->why);
}

static enum err write_split(struct kitchen *kitchen, const struct sparse *rows)
{
    const uint32_t tests = split_test_rows(rows->rows);
    uint32_t *order = mem_new(rows->rows, sizeof *order);
    enum err err;

    if (order == NULL)
        return why_set(kitchen->why, ERR_NOMEM, "out of memory");
    split_permutation(rows->rows, 0, order);
    err = write_part(kitchen, "train", rows, order + tests, rows->rows - tests,
                     &kitchen->report->train);
    if (err == ERR_OK)
        err = write_part(kitchen, "test", rows, order, tests,
                         &kitchen->report->test);
    mem_free(order);
    return err;
}

/* --- tables ---------------------------------------------------------------
 */

static enum err read_frame(const struct kitchen *kitchen,
                           const char *const *names,
                           const struct frame_options *how, struct frame *frame)
{
    char path[PATH_SIZE];
    struct text_source text = {0};
    enum err err = want_file(kitchen, names, path);

    if (err != ERR_OK)
        return err;
    err = text_open(&text, path, kitchen->why);
    if (err == ERR_OK)
        err = frame_read(&text, how, frame, kitchen->why);
    text_close(&text);
    return err == ERR_OK ? err : why_in(kitchen->why, err, "%s", path);
}

static enum err find_column(const struct kitchen *kitchen,
                            const struct frame *frame, const char *name,
                            uint32_t *col)
{
    uint32_t found = 0;
    const enum err err = csv_find(
        &frame->csv, (struct span){name, strlen(name)}, &found, kitchen->why);

    if (err == ERR_OK)
        *col = frame_of_csv(frame, found);
    return err;
}

static enum err encode_and_write(struct kitchen *kitchen,
                                 const struct frame *frame,
                                 const struct encode_options *how)
{
    struct encoder encoder = {0};
    struct sparse rows = {0};
    enum err err = encoder_fit(&encoder, frame, how, kitchen->why);

    if (err == ERR_OK)
        err = encoder_rows(&encoder, frame, &rows, kitchen->why);
    if (err == ERR_OK)
        err = write_split(kitchen, &rows);
    encoder_close(&encoder);
    sparse_close(&rows);
    return err;
}

static enum err cook_amazon(struct kitchen *kitchen)
{
    static const char *const names[] = {"train.csv", NULL};
    static const char *const except_names[][2] = {
        {"ROLE_TITLE", "ROLE_FAMILY"}, {"ROLE_ROLLUP_1", "ROLE_ROLLUP_2"}};
    const struct frame_options how = {.wanted = {.label = "ACTION"},
                                      .categorical = "all"};
    struct column_pair except[2] = {0};
    const struct encode_options encode = {.all_pairs = true,
                                          .except = except,
                                          .except_count = 2,
                                          .constant = true};
    struct frame frame = {0};
    enum err err = read_frame(kitchen, names, &how, &frame);

    for (int i = 0; err == ERR_OK && i < 2; i++) {
        err = find_column(kitchen, &frame, except_names[i][0], &except[i].a);
        if (err == ERR_OK)
            err =
                find_column(kitchen, &frame, except_names[i][1], &except[i].b);
    }
    for (uint32_t i = 0; err == ERR_OK && i < frame.rows; i++)
        frame.label[i] = 2 * frame.label[i] - 1;
    if (err == ERR_OK)
        err = encode_and_write(kitchen, &frame, &encode);
    frame_close(&frame);
    return err;
}

static enum err cook_kc(struct kitchen *kitchen)
{
    static const char *const names[] = {"kc_house_data.csv", NULL};
    const struct frame_options how = {.wanted = {.label = "price"},
                                      .categorical = "all"};
    const struct encode_options encode = {.constant = true};
    struct frame frame = {0};
    uint32_t id = 0;
    uint32_t date = 0;
    enum err err = read_frame(kitchen, names, &how, &frame);

    if (err == ERR_OK)
        err = find_column(kitchen, &frame, "date", &date);
    if (err == ERR_OK)
        err = find_column(kitchen, &frame, "id", &id);
    if (err == ERR_OK) {
        /* The later first, so that the other keeps its place. */
        frame_drop(&frame, date > id ? date : id);
        frame_drop(&frame, date > id ? id : date);
        for (uint32_t i = 0; i < frame.rows; i++)
            frame.label[i] /= 1e6;
        err = encode_and_write(kitchen, &frame, &encode);
    }
    frame_close(&frame);
    return err;
}

static enum err cook_covtype(struct kitchen *kitchen)
{
    static const char *const names[] = {"covtype.data", "covtype_16pct.data",
                                        NULL};
    const struct frame_options how = {.categorical = "all"};
    const struct encode_options encode = {.constant = true};
    struct frame frame = {0};
    enum err err = read_frame(kitchen, names, &how, &frame);

    if (err == ERR_OK) {
        err = frame_keep_labels(&frame, 1, 2);
        if (err == ERR_OK && frame.rows < 2)
            err = why_set(kitchen->why, ERR_FORMAT,
                          "%.200s: no rows of classes 1 and 2", kitchen->from);
        for (uint32_t i = 0; err == ERR_OK && i < frame.rows; i++)
            frame.label[i] = frame.label[i] == 1 ? -1 : 1;
        if (err == ERR_OK)
            err = encode_and_write(kitchen, &frame, &encode);
    }
    frame_close(&frame);
    return err;
}

/* --- credit ---------------------------------------------------------------
 */

enum {
    RAW_LIMIT = 1,
    RAW_SEX,
    RAW_EDUCATION,
    RAW_MARRIAGE,
    RAW_AGE,
    RAW_PAY = 6,
    RAW_AMOUNT = 18,
    RAW_COLS = 24,
};

static uint32_t credit_limit(double x)
{
    if (x < 80000)
        return 1 + (uint32_t)floor(x / 10000);
    return x < 100000 ? 9 : 10;
}

static uint32_t credit_age(double x)
{
    if (x < 22)
        return 21;
    if (x < 40)
        return 21 + (uint32_t)floor((x - 20) / 2);
    return x < 45 ? 31 : x < 50 ? 32 : 33;
}

static uint32_t credit_amount(double x)
{
    static const double edges[] = {500,    1000,   2000,   5000,  7500,
                                   10000,  12500,  15000,  17500, 20000,
                                   30000,  40000,  50000,  75000, 100000,
                                   125000, 150000, 175000, 200000};
    uint32_t passed = 0;

    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++)
        passed += edges[i] <= x;
    return passed;
}

uint32_t prepare_credit_row(const double *raw, uint32_t feature[24])
{
    uint32_t count = 0;

    feature[count++] = credit_limit(raw[RAW_LIMIT]);
    feature[count++] = 10 + (uint32_t)raw[RAW_SEX];
    if (raw[RAW_EDUCATION] >= 5)
        feature[count++] = 17;
    else if (raw[RAW_EDUCATION] >= 1)
        feature[count++] = 12 + (uint32_t)raw[RAW_EDUCATION];
    if (raw[RAW_MARRIAGE] >= 1)
        feature[count++] = 17 + (uint32_t)raw[RAW_MARRIAGE];
    feature[count++] = credit_age(raw[RAW_AGE]);
    for (uint32_t i = 0; i < 6; i++) {
        const double x = raw[RAW_PAY + i];

        feature[count++] = 34 + 11 * i + (x < 0 ? 0 : (uint32_t)x + 1);
    }
    for (uint32_t i = 0; i < 6; i++)
        feature[count++] = 100 + 20 * i + credit_amount(raw[RAW_AMOUNT + i]);
    return count;
}

/* The report's own files, which hold its split. */
static enum err cook_credit_part(struct kitchen *kitchen, const char *path,
                                 const char *suffix, struct prepared_part *part)
{
    struct text_source text = {0};
    struct sparse rows = {0};
    enum err err = text_open(&text, path, kitchen->why);

    if (err == ERR_OK)
        err = libsvm_read(&text, &rows, kitchen->why);
    text_close(&text);
    if (err != ERR_OK)
        return why_in(kitchen->why, err, "%s", path);
    err = write_part(kitchen, suffix, &rows, NULL, rows.rows, part);
    sparse_close(&rows);
    return err;
}

static enum err encode_credit(const struct frame *frame, struct sparse *rows)
{
    for (uint32_t i = 0; i < frame->rows; i++) {
        uint32_t feature[24];
        double raw[RAW_COLS];
        uint32_t count;
        enum err err = sparse_add_row(rows, frame->label[i] > 0 ? 1 : -1);

        for (uint32_t j = 0; j < RAW_COLS; j++)
            raw[j] = frame->column[j].number[i];
        count = prepare_credit_row(raw, feature);
        for (uint32_t k = 0; err == ERR_OK && k < count; k++)
            err = sparse_add(rows, feature[k] - 1, 1);
        if (err != ERR_OK)
            return err;
    }
    return ERR_OK;
}

/* From the raw table: same features, our split. */
static enum err cook_credit_raw(struct kitchen *kitchen)
{
    static const char *const names[] = {"default_of_credit_card_clients.csv",
                                        NULL};
    const struct frame_options how = {0};
    struct frame frame = {0};
    struct sparse rows = {0};
    enum err err = read_frame(kitchen, names, &how, &frame);

    if (err == ERR_OK && frame.cols != RAW_COLS)
        err = why_set(kitchen->why, ERR_FORMAT,
                      "%.200s: the table has %u columns beside the label, "
                      "expected %d",
                      kitchen->from, frame.cols, RAW_COLS);
    if (err == ERR_OK && encode_credit(&frame, &rows) != ERR_OK)
        err = why_set(kitchen->why, ERR_NOMEM, "out of memory");
    if (err == ERR_OK)
        err = write_split(kitchen, &rows);
    frame_close(&frame);
    sparse_close(&rows);
    return err;
}

static enum err cook_credit(struct kitchen *kitchen)
{
    static const char *const train[] = {"credit219_train.liblinear", NULL};
    static const char *const test[] = {"credit219_test.liblinear", NULL};
    char train_path[PATH_SIZE];
    char test_path[PATH_SIZE];
    enum err err;

    if (!find_file(kitchen, train, train_path) ||
        !find_file(kitchen, test, test_path))
        return cook_credit_raw(kitchen);
    err =
        cook_credit_part(kitchen, train_path, "train", &kitchen->report->train);
    if (err == ERR_OK)
        err = cook_credit_part(kitchen, test_path, "test",
                               &kitchen->report->test);
    return err;
}

/* --- mnist ----------------------------------------------------------------
 */

static enum err read_idx(struct kitchen *kitchen, const char *const *images,
                         const char *const *labels, struct sparse *rows)
{
    char path[PATH_SIZE];
    struct unpacker *in = NULL;
    struct stage stage = {0};
    double *label = NULL;
    uint64_t cols = 0;
    uint64_t count = 0;
    enum err err = want_file(kitchen, labels, path);

    if (err == ERR_OK)
        err = unpacker_open(path, &in, kitchen->why);
    if (err == ERR_OK)
        err = idx_labels(in, &label, &count, kitchen->why);
    unpacker_close(in);
    in = NULL;
    if (err == ERR_OK)
        err = want_file(kitchen, images, path);
    if (err == ERR_OK)
        err = unpacker_open(path, &in, kitchen->why);
    if (err == ERR_OK)
        err = idx_stage(in, label, count, &cols, pool_serial(), &stage,
                        kitchen->why);
    unpacker_close(in);
    mem_free(label);
    if (err == ERR_OK && stage_unpack(&stage, rows) != ERR_OK)
        err = why_set(kitchen->why, ERR_NOMEM, "out of memory");
    stage_close(&stage);
    return err == ERR_OK ? err : why_in(kitchen->why, err, "%s", path);
}

static enum err cook_mnist(struct kitchen *kitchen)
{
    static const char *const files[4][3] = {
        {"train-images-idx3-ubyte", "train-images.idx3-ubyte", NULL},
        {"train-labels-idx1-ubyte", "train-labels.idx1-ubyte", NULL},
        {"t10k-images-idx3-ubyte", "t10k-images.idx3-ubyte", NULL},
        {"t10k-labels-idx1-ubyte", "t10k-labels.idx1-ubyte", NULL},
    };
    struct sparse rows = {0};
    enum err err = read_idx(kitchen, files[0], files[1], &rows);

    if (err == ERR_OK)
        err = write_part(kitchen, "train", &rows, NULL, rows.rows,
                         &kitchen->report->train);
    sparse_close(&rows);
    if (err == ERR_OK)
        err = read_idx(kitchen, files[2], files[3], &rows);
    if (err == ERR_OK)
        err = write_part(kitchen, "test", &rows, NULL, rows.rows,
                         &kitchen->report->test);
    sparse_close(&rows);
    return err;
}

enum err prepare_data(const char *name, const char *from, const char *prefix,
                      struct prepared *report, struct why *why)
{
    static const struct dish dishes[] = {{"amazon", cook_amazon},
                                         {"kc", cook_kc},
                                         {"covtype", cook_covtype},
                                         {"credit", cook_credit},
                                         {"mnist", cook_mnist}};
    struct prepared made = {0};
    struct kitchen kitchen = {
        .from = from, .prefix = prefix, .report = &made, .why = why};

    for (size_t i = 0; i < sizeof dishes / sizeof *dishes; i++) {
        enum err err;

        if (strcmp(name, dishes[i].name) != 0)
            continue;
        if (strlen(prefix) > PATH_SIZE - 32)
            return why_set(why, ERR_RANGE, "--to: the name is too long");
        made.name = dishes[i].name;
        err = dishes[i].cook(&kitchen);
        if (err == ERR_OK)
            *report = made;
        return err;
    }
    return why_set(why, ERR_UNKNOWN,
                   "no recipe for %.32s; there are amazon, kc, covtype, credit "
                   "and mnist",
                   name);
}

/*
 * Files are written and loaded as a user would name them: labels must be
 * mapped as documented, a test set must take its training set's shape, and
 * every sentence must begin with the file.  The credit data, where at hand,
 * must have the rows its README counts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/source.h"

#define FILE_NAME "test_source.tmp"

static void write_text(const char *text)
{
    FILE *file = fopen(FILE_NAME, "wb");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static struct dataset load(const char *text,
                           const struct source_options *options)
{
    struct source_options named = *options;
    struct dataset data = {0};
    struct dataset test = {0};
    struct why why = {0};
    bool has_test = true;

    write_text(text);
    named.spec = FILE_NAME;
    assert_int_equal(source_load(&named, &data, &test, &has_test, &why),
                     ERR_OK);
    assert_false(has_test);
    assert_null(test.x);
    return data;
}

static void test_two_labels_are_mapped(void **state)
{
    struct dataset data =
        load("2 1:1\n1 1:2\n2 1:3\n", &(struct source_options){0});

    (void)state;
    assert_int_equal(data.classes, 2);
    assert_true(data.label[0] == 1 && data.label[1] == 2);
    assert_true(data.y[0] == 1 && data.y[1] == -1 && data.y[2] == 1);
    dataset_close(&data);
}

static void test_other_labels_are_kept(void **state)
{
    struct dataset data =
        load("2.5 1:1\n1 1:2\n7 1:3\n", &(struct source_options){0});

    (void)state;
    assert_int_equal(data.classes, 0);
    assert_true(data.y[0] == 2.5 && data.y[2] == 7);
    dataset_close(&data);
    data = load("2 1:1\n1 1:2\n", &(struct source_options){.regression = true});
    assert_int_equal(data.classes, 2);
    assert_true(data.y[0] == 2 && data.y[1] == 1);
    dataset_close(&data);
    data = load("5 1:1\n5 1:2\n", &(struct source_options){0});
    assert_int_equal(data.classes, 1);
    assert_true(data.y[0] == 5);
    dataset_close(&data);
}

#define FIVE(text) text text text text text

static void test_whole_labels_are_numbered(void **state)
{
    struct dataset data =
        load(FIVE("20 1:1\n-3 1:2\n7 1:3\n"), &(struct source_options){0});
    const struct source_options like = {.like = &data};
    struct dataset test = load("7 1:1\n20 1:1\n", &like);

    (void)state;
    assert_int_equal(data.classes, 3);
    assert_true(data.y[0] == 2 && data.y[1] == 0 && data.y[2] == 1);
    assert_true(data.label[0] == -3 && data.label[2] == 20);
    assert_int_equal(test.classes, 3);
    assert_true(test.y[0] == 1 && test.y[1] == 2);
    dataset_close(&data);
    dataset_close(&test);
    /* One is too rare: they are numbers. */
    data = load(FIVE("20 1:1\n-3 1:2\n") "7 1:3\n7 1:3\n7 1:3\n7 1:3\n",
                &(struct source_options){0});
    assert_int_equal(data.classes, 0);
    assert_true(data.y[0] == 20 && data.y[10] == 7);
    dataset_close(&data);
    data = load("2.5 1:1\n1 1:2\n7 1:3\n",
                &(struct source_options){.classes = true});
    assert_true(data.y[0] == 1 && data.y[1] == 0 && data.y[2] == 2);
    dataset_close(&data);
}

/* Two labels are classes 0 and 1 if classes are asked for, else signs. */
static void test_two_labels_are_numbered(void **state)
{
    const struct source_options classes = {.classes = true};
    struct dataset data = load("7 1:1\n-3 1:2\n7 1:3\n", &classes);
    const struct source_options like = {.like = &data, .classes = true};
    struct dataset test = load("-3 1:1\n7 1:1\n", &like);
    struct dataset made[2];
    struct why why = {0};

    (void)state;
    assert_int_equal(data.classes, 2);
    assert_true(data.y[0] == 1 && data.y[1] == 0 && data.y[2] == 1);
    assert_true(test.y[0] == 0 && test.y[1] == 1);
    dataset_close(&data);
    dataset_close(&test);
    for (int i = 0; i < 2; i++)
        assert_int_equal(
            source_load(&(struct source_options){.spec = "gen:gmm:50,3",
                                                 .classes = i == 1},
                        &made[i], NULL, NULL, &why),
            ERR_OK);
    for (uint32_t row = 0; row < 50; row++)
        assert_true(made[1].y[row] == (made[0].y[row] + 1) / 2);
    dataset_close(&made[0]);
    dataset_close(&made[1]);
}

static void test_many_labels_are_not_counted(void **state)
{
    static char text[CLASSES_MAX * 16];
    struct dataset data;
    size_t at = 0;

    (void)state;
    for (unsigned i = 0; i < CLASSES_MAX; i++)
        at +=
            (size_t)snprintf(text + at, 16, "%u 1:1\n", (i * 7) % CLASSES_MAX);
    data =
        load(text, &(struct source_options){.chunk_rows = 8, .classes = true});
    assert_int_equal(data.classes, CLASSES_MAX);
    dataset_close(&data);
    (void)snprintf(text + at, 16, "9999 1:1\n");
    data = load(text, &(struct source_options){0});
    assert_int_equal(data.classes, 0);
    dataset_close(&data);
}

static void test_test_set_follows_training_set(void **state)
{
    struct dataset train =
        load("3 2:1\n5 3:1\n", &(struct source_options){.intercept = true});
    const struct source_options options = {.cols_min = train.cols,
                                           .cols_max = train.cols,
                                           .intercept = true,
                                           .labels = train.label};
    struct dataset test = load("5 1:1 9:9\n5 1:4\n", &options);
    double row[4];

    (void)state;
    assert_int_equal(train.cols, 4);
    assert_int_equal(test.cols, 4);
    assert_true(test.y[0] == 1 && test.y[1] == 1);
    dataset_row_values(&test, 0, row);
    assert_true(row[0] == 1 && row[1] == 0 && row[3] == 1);
    dataset_close(&train);
    dataset_close(&test);
}

/* Values of a text as they stand: fp64 if asked for, and for what is to be like
 * such rows; the same through the cache. */
static void test_values_of_fp64(void **state)
{
    static const char text[] = "1 1:0.1 2:1e300\n-1 1:16777217\n";
    struct dataset wide =
        load(text, &(struct source_options){.storage = "f64"});
    struct dataset like = load(text, &(struct source_options){.like = &wide});
    struct dataset narrow =
        load("1 1:0.1 2:4\n-1 1:16777217\n", &(struct source_options){0});
    const struct dataset *const both[] = {&wide, &like};
    double row[2];

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(both[i]->storage, STORAGE_F64);
        dataset_row_values(both[i], 0, row);
        assert_true(row[0] == 0.1 && row[1] == 1e300);
        dataset_row_values(both[i], 1, row);
        assert_true(row[0] == 16777217 && row[1] == 0);
    }
    assert_int_equal(narrow.storage, STORAGE_F32);
    assert_int_equal(narrow.rounded, 2);
    assert_true(narrow.rounding < 0x1p-24 && narrow.rounding > 0x1p-27);
    dataset_close(&wide);
    dataset_close(&like);
    dataset_close(&narrow);
}

static void assert_sentence(const char *text, const double *labels,
                            enum err err, const char *sentence)
{
    const struct source_options options = {.spec = FILE_NAME, .labels = labels};
    struct dataset data = {0};
    struct why why = {0};

    write_text(text);
    assert_int_equal(source_load(&options, &data, NULL, NULL, &why), err);
    assert_string_equal(why.text, sentence);
    assert_null(data.x);
}

static void test_sentences(void **state)
{
    static const double pair[] = {-1, 1};
    const struct source_options missing = {.spec = "no_such.svm"};
    struct dataset data = {0};
    struct why why = {0};

    (void)state;
    assert_sentence("1 1:1\n-1 x:1\n", NULL, ERR_FORMAT,
                    FILE_NAME ": line 2: index 'x' is not a whole number; "
                              "LIBSVM indices are 1, 2, 3, ...");
    assert_sentence("", NULL, ERR_FORMAT,
                    FILE_NAME ": no rows; expected lines such as "
                              "'+1 1:0.5 3:2'");
    assert_sentence("1\n2\n", NULL, ERR_SHAPE,
                    FILE_NAME ": no features in any row; nothing to learn "
                              "from");
    assert_sentence("1 1:1\n\n2.5 1:1\n", pair, ERR_MISMATCH,
                    FILE_NAME ": row 2: label 2.5 is not one of the training "
                              "set's: -1, 1");
    assert_int_equal(source_load(&missing, &data, NULL, NULL, &why),
                     ERR_NOTFOUND);
    assert_string_equal(why.text, "no_such.svm: no such file; check the name");
}

static void test_standard_input(void **state)
{
    const struct source_options options = {.spec = "-"};
    struct dataset data = {0};
    struct why why = {0};

    (void)state;
    write_text("1 1:1\n0 2:1\n");
    assert_non_null(freopen(FILE_NAME, "rb", stdin));
    assert_int_equal(source_load(&options, &data, NULL, NULL, &why), ERR_OK);
    assert_int_equal(data.rows, 2);
    dataset_close(&data);
    assert_int_equal(source_load(&options, &data, NULL, NULL, &why),
                     ERR_FORMAT);
    assert_string_equal(why.text, "standard input: no rows; expected lines "
                                  "such as '+1 1:0.5 3:2'");
}

static void test_credit_data(void **state)
{
    const char *const root = getenv("ROOT");
    char path[4096];
    const struct source_options options = {.spec = path};
    struct dataset data = {0};
    struct why why = {0};
    uint32_t positive = 0;
    enum err err;

    (void)state;
    (void)snprintf(path, sizeof path,
                   "%s/../shared/data/credit_default/"
                   "credit219_train.liblinear.gz",
                   root == NULL ? "." : root);
    err = source_load(&options, &data, NULL, NULL, &why);
    if (err == ERR_NOTFOUND) {
        print_message("%s is not there; skipped\n", path);
        skip();
    }
    assert_int_equal(err, ERR_OK);
    assert_int_equal(data.rows, 20000);
    assert_int_equal(data.cols, 219);
    assert_true(data.label[0] == -1 && data.label[1] == 1);
    for (uint32_t i = 0; i < data.rows; i++)
        positive += data.y[i] > 0;
    assert_int_equal(positive, 4408);
    dataset_close(&data);
}

static int remove_file(void **state)
{
    (void)state;
    (void)unlink(FILE_NAME);
    return 0;
}

#define OTHER_NAME "test_source.other.tmp"
#define LINK_NAME  "test_source.link.tmp"

static void append_line(void)
{
    FILE *file = fopen(FILE_NAME, "ab");

    assert_non_null(file);
    assert_true(fputs("1 1:0.5\n", file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* Somebody writes to the file while it is read. */
static void run_and_append(struct pool *pool, pool_item item, void *context,
                           uint32_t items)
{
    (void)pool;
    pool_serial()->run(pool_serial(), item, context, items);
    append_line();
}

/* The name leads to another file once the first has been read. */
static void run_and_turn(struct pool *pool, pool_item item, void *context,
                         uint32_t items)
{
    (void)pool;
    pool_serial()->run(pool_serial(), item, context, items);
    (void)unlink(LINK_NAME);
    assert_int_equal(symlink(OTHER_NAME, LINK_NAME), 0);
}

static void refuse_change(const char *name, struct pool *pool,
                          const char *sentence)
{
    const struct source_options options = {.spec = name, .pool = pool};
    struct dataset data = {0};
    struct why why = {0};

    assert_int_equal(source_load(&options, &data, NULL, NULL, &why), ERR_IO);
    assert_string_equal(why.text, sentence);
}

/* Rows of a file that changes must not be taken for rows counted from 0. */
static void test_file_that_changes(void **state)
{
    struct pool append = {.threads = 1, .run = run_and_append};
    struct pool turn = {.threads = 1, .run = run_and_turn};

    (void)state;
    write_text("1 1:1\n-1 2:1\n1 3:1\n");
    refuse_change(FILE_NAME, &append,
                  FILE_NAME ": changed while it was read; try again when it "
                            "is complete");
    write_text("1 1:1\n-1 2:1\n1 3:1\n");
    assert_int_equal(rename(FILE_NAME, OTHER_NAME), 0);
    write_text("1 0:1\n-1 1:1\n1 2:1\n");
    (void)unlink(LINK_NAME);
    assert_int_equal(symlink(FILE_NAME, LINK_NAME), 0);
    refuse_change(LINK_NAME, &turn,
                  LINK_NAME ": changed while it was read; try again when it "
                            "is complete");
    assert_int_equal(unlink(LINK_NAME), 0);
    assert_int_equal(unlink(OTHER_NAME), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_of_fp64),
        cmocka_unit_test(test_two_labels_are_mapped),
        cmocka_unit_test(test_other_labels_are_kept),
        cmocka_unit_test(test_whole_labels_are_numbered),
        cmocka_unit_test(test_two_labels_are_numbered),
        cmocka_unit_test(test_many_labels_are_not_counted),
        cmocka_unit_test(test_test_set_follows_training_set),
        cmocka_unit_test(test_sentences),
        cmocka_unit_test(test_file_that_changes),
        cmocka_unit_test(test_standard_input),
        cmocka_unit_test(test_credit_data),
    };

    return cmocka_run_group_tests(tests, NULL, remove_file);
}

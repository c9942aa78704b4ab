/*
 * The recipes, on the real data where they are at hand, must give the shapes
 * and counts that were published; on small tables of the same form, rows that
 * can be checked by eye.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "data/make/prepare.h"
#include "data/read/libsvm.h"
#include "data/table/frame.h"

#define FOLDER "test_prepare.tmp"

static const struct {
    const char *name, *folder;
    uint32_t train, train_positive, test, test_positive, cols, entries;
} published[] = {
    {"amazon", "amazon_access", 26215, 24690, 6554, 6182, 241915, 44},
    {"kc", "kc_housing", 17290, 17290, 4323, 4323, 27654, 19},
    {"covtype", "covertype", 63377, 36147, 15845, 9181, 13983, 55},
    {"credit", "credit_default", 20000, 4408, 10000, 2228, 219, 17},
};

static const char *data_folder(void)
{
    static char path[4096];
    const char *const root = getenv("ROOT");

    (void)snprintf(path, sizeof path, "%s/../shared/data",
                   root == NULL ? "." : root);
    if (access(path, R_OK) != 0) {
        print_message("%s is not there; skipped\n", path);
        return NULL;
    }
    return path;
}

static void test_published_shapes(void **state)
{
    const char *const data = data_folder();

    (void)state;
    if (data == NULL)
        skip();
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        char folder[4200];
        struct prepared made = {0};
        struct why why = {0};

        (void)snprintf(folder, sizeof folder, "%s/%s", data,
                       published[i].folder);
        assert_int_equal(
            prepare_data(published[i].name, folder, FOLDER "/out", &made, &why),
            ERR_OK);
        assert_int_equal(made.train.rows, published[i].train);
        assert_int_equal(made.train.positives, published[i].train_positive);
        assert_int_equal(made.test.rows, published[i].test);
        assert_int_equal(made.test.positives, published[i].test_positive);
        assert_int_equal(made.cols, published[i].cols);
        assert_int_equal(made.entries_most, published[i].entries);
    }
}

static uint64_t row_hash(const uint32_t *feature, uint32_t count, bool positive)
{
    uint64_t hash = positive;

    for (uint32_t i = 0; i < count; i++)
        hash = (hash ^ feature[i]) * UINT64_C(0x9e3779b97f4a7c15) >> 1;
    return hash;
}

/* The two files of the report, as a multiset of rows. */
static uint64_t sum_of_files(const char *data)
{
    static const char *const names[] = {"train", "test"};
    uint64_t sum = 0;

    for (int i = 0; i < 2; i++) {
        struct text_source text = {0};
        struct sparse rows = {0};
        struct why why = {0};
        char path[4200];

        (void)snprintf(path, sizeof path,
                       "%s/credit_default/credit219_%s.liblinear.gz", data,
                       names[i]);
        assert_int_equal(text_open(&text, path, &why), ERR_OK);
        assert_int_equal(libsvm_read(&text, &rows, &why), ERR_OK);
        for (uint32_t r = 0; r < rows.rows; r++) {
            uint32_t feature[24];
            const uint32_t count =
                (uint32_t)(rows.start[r + 1] - rows.start[r]);

            for (uint32_t k = 0; k < count; k++)
                feature[k] = rows.index[rows.start[r] + k] + 1;
            sum += row_hash(feature, count, rows.label[r] > 0);
        }
        sparse_close(&rows);
        text_close(&text);
    }
    return sum;
}

static void test_credit_rule(void **state)
{
    const char *const data = data_folder();
    const struct frame_options options = {0};
    struct text_source text = {0};
    struct frame frame = {0};
    struct why why = {0};
    char path[4200];
    uint64_t sum = 0;

    (void)state;
    if (data == NULL)
        skip();
    (void)snprintf(path, sizeof path,
                   "%s/credit_default/default_of_credit_card_clients.csv.gz",
                   data);
    assert_int_equal(text_open(&text, path, &why), ERR_OK);
    assert_int_equal(frame_read(&text, &options, &frame, &why), ERR_OK);
    assert_int_equal(frame.rows, 30000);
    for (uint32_t i = 0; i < frame.rows; i++) {
        double raw[24];
        uint32_t feature[24];

        for (uint32_t j = 0; j < 24; j++)
            raw[j] = frame.column[j].number[i];
        sum += row_hash(feature, prepare_credit_row(raw, feature),
                        frame.label[i] > 0);
    }
    assert_true(sum == sum_of_files(data));
    frame_close(&frame);
    text_close(&text);
}

static void write_file(const char *name, const void *bytes, size_t size)
{
    char path[256];
    FILE *file;

    (void)snprintf(path, sizeof path, FOLDER "/%s", name);
    file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void assert_file(const char *name, const char *wanted)
{
    static char text[4096];
    char path[256];
    FILE *file;
    size_t size;

    (void)snprintf(path, sizeof path, FOLDER "/%s", name);
    file = fopen(path, "rb");
    assert_non_null(file);
    size = fread(text, 1, sizeof text - 1, file);
    text[size] = '\0';
    assert_int_equal(fclose(file), 0);
    assert_string_equal(text, wanted);
}

static void test_small_tables(void **state)
{
    static const char houses[] = "id,date,price,bedrooms,zipcode\n"
                                 "1,\"2014\",1.225e+006,3,\"98001\"\n"
                                 "2,\"2014\",5e5,2.0,98002\n"
                                 "3,\"2015\",250000,2,98001\n";
    static const char trees[] = "5,1,1\n6,1,2\n7,2,7\n5,2,2\n";
    struct prepared made = {0};
    struct why why = {0};

    (void)state;
    write_file("kc_house_data.csv", houses, sizeof houses - 1);
    assert_int_equal(prepare_data("kc", FOLDER, FOLDER "/kc", &made, &why),
                     ERR_OK);
    assert_int_equal(made.cols, 5);
    assert_file("kc-test.svm", "0.25 1:1 3:1 5:1\n");
    assert_file("kc-train.svm", "0.5 1:1 4:1 5:1\n"
                                "1.2250000000000001 2:1 3:1 5:1\n");
    write_file("covtype.data", trees, sizeof trees - 1);
    assert_int_equal(prepare_data("covtype", FOLDER, FOLDER "/ct", &made, &why),
                     ERR_OK);
    assert_int_equal(made.cols, 5); /* 5 6 | 1 2 | 1: 7 is not there. */
    assert_int_equal(made.train.rows + made.test.rows, 3);
}

/* The raw table, worked out by hand from the rule of the report. */
static void test_raw_credit(void **state)
{
#define CLIENT                                                                 \
    "7,20000,2,2,1,24,2,2,-1,-1,-2,-2,3913,3102,689,0,0,0,0,689,0,0,0,0,1\n"
    static const char clients[] = CLIENT CLIENT;
    static const char narrow[] = "1,2,3\n4,5,6\n";
    static const char wanted[] =
        "1 3:1 12:1 14:1 18:1 23:1 37:1 48:1 56:1 67:1 78:1 89:1 100:1 121:1 "
        "140:1 160:1 180:1 200:1\n";
    struct prepared made = {0};
    struct why why = {0};

    (void)state;
    write_file("default_of_credit_card_clients.csv", clients,
               sizeof clients - 1);
    assert_int_equal(prepare_data("credit", FOLDER, FOLDER "/c", &made, &why),
                     ERR_OK);
    assert_int_equal(made.train.rows, 1);
    assert_int_equal(made.train.positives + made.test.positives, 2);
    assert_file("c-train.svm", wanted);
    assert_file("c-test.svm", wanted);
    write_file("default_of_credit_card_clients.csv", narrow, sizeof narrow - 1);
    assert_int_equal(prepare_data("credit", FOLDER, FOLDER "/c", &made, &why),
                     ERR_FORMAT);
    assert_string_equal(why.text, FOLDER ": the table has 2 columns beside the "
                                         "label, expected 24");
#undef CLIENT
}

static void test_small_images(void **state)
{
    static const char image[] = "\0\0\x08\x03\0\0\0\1\0\0\0\1\0\0\0\3\0\xff\0";
    static const char label[] = "\0\0\x08\x01\0\0\0\1\5";
    struct prepared made = {0};
    struct why why = {0};

    (void)state;
    write_file("train-images-idx3-ubyte", image, sizeof image - 1);
    write_file("train-labels-idx1-ubyte", label, sizeof label - 1);
    write_file("t10k-images.idx3-ubyte", image, sizeof image - 1);
    assert_int_equal(prepare_data("mnist", FOLDER, FOLDER "/m", &made, &why),
                     ERR_NOTFOUND);
    write_file("t10k-labels.idx1-ubyte", label, sizeof label - 1);
    assert_int_equal(prepare_data("mnist", FOLDER, FOLDER "/m", &made, &why),
                     ERR_OK);
    assert_file("m-train.svm", "5 2:1\n");
    assert_int_equal(made.cols, 3);
    assert_int_equal(made.train.cols, 2); /* What a reader of that knows. */
}

static void test_sentences(void **state)
{
    struct prepared made = {0};
    struct why why = {0};
    char longest[5000];

    (void)state;
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    assert_int_equal(prepare_data("kc", FOLDER, longest, &made, &why),
                     ERR_RANGE);
    assert_string_equal(why.text, "--to: the name is too long");
    assert_int_equal(prepare_data("iris", FOLDER, "x", &made, &why),
                     ERR_UNKNOWN);
    assert_string_equal(why.text, "no recipe for iris; there are amazon, kc, "
                                  "covtype, credit and mnist");
    assert_int_equal(prepare_data("amazon", FOLDER, "x", &made, &why),
                     ERR_NOTFOUND);
    assert_string_equal(why.text,
                        FOLDER ": no train.csv (or .gz, .zst) in it; get the "
                               "file and name its folder with --raw");
}

static int make_folder(void **state)
{
    (void)state;
    return system("rm -rf " FOLDER " && mkdir " FOLDER);
}

static int remove_folder(void **state)
{
    (void)state;
    return system("rm -rf " FOLDER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published_shapes),
        cmocka_unit_test(test_credit_rule),
        cmocka_unit_test(test_small_tables),
        cmocka_unit_test(test_raw_credit),
        cmocka_unit_test(test_small_images),
        cmocka_unit_test(test_sentences),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

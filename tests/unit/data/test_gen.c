/*
 * A digest pins the generated bits (they must be the same on every machine
 * and for ever); moments and label frequencies are compared with the recipe.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "data/make/gen.h"
#include "data/source.h"

static void load(const char *spec, uint64_t seed, bool intercept,
                 struct dataset *train, struct dataset *test)
{
    const struct source_options options = {
        .spec = spec, .seed = seed, .intercept = intercept};
    struct why why = {0};
    bool has_test = false;

    assert_int_equal(source_load(&options, train, test, &has_test, &why),
                     ERR_OK);
    assert_true(has_test);
}

static void test_known_digest(void **state)
{
    struct dataset train = {0}, test = {0};
    struct digest digest;
    char text[DIGEST_TEXT];

    (void)state;
    load("gen:gmm:500,20", 1, false, &train, &test);
    digest = dataset_digest(&train);
    assert_string_equal(
        digest_text(&digest, text),
        "494223891ab9ab9e268458715d81b12de0efb041ed2665d53f2e381757fc949c");
    dataset_close(&train);
    dataset_close(&test);
}

static void test_known_digits(void **state)
{
    const struct source_options digits = {.spec = "gen:digits:100", .seed = 1};
    struct dataset train = {0}, test = {0};
    struct digest digest;
    struct why why = {0};
    char text[DIGEST_TEXT];

    (void)state;
    assert_int_equal(source_load(&digits, &train, NULL, NULL, &why), ERR_OK);
    digest = dataset_digest(&train);
    assert_string_equal(
        digest_text(&digest, text),
        "8ba8067dac09cdca9b840827b933b16347d4915737b8beafab44892b742b6031");
    dataset_close(&train);
    load("gen:linear:100,10", 1, false, &train, &test);
    digest = dataset_digest(&train);
    assert_string_equal(
        digest_text(&digest, text),
        "3dcb7a5cfbd18f59d2e7b7f2bf4d4335c76f4d4d21578875b41a081b496a291b");
    dataset_close(&train);
    dataset_close(&test);
}

static void test_shapes(void **state)
{
    struct dataset train = {0}, test = {0};

    (void)state;
    load("gen:gmm", 1, false, &train, &test);
    assert_int_equal(train.rows, 20000);
    assert_int_equal(train.cols, 100);
    assert_int_equal(test.rows, 4000);
    dataset_close(&train);
    dataset_close(&test);
    load("gen:gmm:11,7", 1, true, &train, &test);
    assert_int_equal(train.rows, 11);
    assert_int_equal(test.rows, 3);
    assert_int_equal(train.cols, 8);
    for (uint32_t i = 0; i < 11; i++)
        assert_true(((float *)train.x)[i * train.stride + 7] == 1);
    dataset_close(&train);
    dataset_close(&test);
}

/* Row r, column c are the same whatever the number of rows, and the test part
 * is what a longer table would go on with. */
static void test_rows_do_not_depend_on_rows(void **state)
{
    struct dataset a = {0}, b = {0}, a_test = {0}, b_test = {0};

    (void)state;
    load("gen:gmm:50,9", 3, false, &a, &a_test);
    load("gen:gmm:60,9", 3, false, &b, &b_test);
    assert_memory_equal(a.x, b.x, 50 * a.stride * sizeof(float));
    assert_memory_equal(a_test.x, dataset_row(&b, 50),
                        10 * a.stride * sizeof(float));
    assert_memory_equal(a_test.y, b.y + 50, 10 * sizeof *a.y);
    dataset_close(&a);
    dataset_close(&b);
    dataset_close(&a_test);
    dataset_close(&b_test);
}

/* Each coordinate has mean 0 and variance 100/p + (1.5/p)^2. */
static void test_moments(void **state)
{
    struct dataset train = {0}, test = {0};
    double sum = 0;
    double squares = 0;
    double positive = 0;
    const double p = 10;
    const double count = 10000 * p;

    (void)state;
    load("gen:gmm:10000,10", 5, false, &train, &test);
    for (uint32_t i = 0; i < train.rows; i++) {
        positive += train.y[i] > 0;
        assert_true(fabs(train.y[i]) == 1);
        for (uint32_t j = 0; j < train.cols; j++) {
            const double x = (double)((float *)train.x)[i * train.stride + j];

            sum += x;
            squares += x * x;
        }
    }
    assert_true(fabs(sum / count) < 0.05);
    assert_true(fabs(squares / count / (100 / p + 2.25 / p / p) - 1) < 0.03);
    assert_true(fabs(positive / 10000 - 0.5) < 0.03);
    dataset_close(&train);
    dataset_close(&test);
}

/* Regression data: y is what the features say, and a little noise. */
static void test_linear(void **state)
{
    struct dataset train = {0}, test = {0};
    double sum = 0;
    double squares = 0;

    (void)state;
    load("gen:linear:5000,20", 5, false, &train, &test);
    assert_int_equal(train.classes, 0);
    assert_int_equal(train.cols, 20);
    assert_int_equal(test.rows, 1000);
    for (uint32_t i = 0; i < train.rows; i++) {
        sum += train.y[i];
        squares += train.y[i] * train.y[i];
    }
    assert_true(fabs(sum / 5000) < 0.1);
    assert_true(squares / 5000 > 0.2 && squares / 5000 < 4);
    dataset_close(&train);
    dataset_close(&test);
}

/* The nearest class mean tells most digits apart: they are digits, and not
 * too easy. */
static void test_digits(void **state)
{
    static double mean[10][784];
    static double x[784];
    struct dataset train = {0}, test = {0};
    uint32_t count[10] = {0};
    uint32_t right = 0;

    (void)state;
    load("gen:digits:2000", 7, false, &train, &test);
    assert_int_equal(train.classes, 10);
    assert_int_equal(train.cols, 784);
    assert_int_equal(train.storage, STORAGE_PIXEL);
    assert_int_equal(train.image.height, 28);
    assert_int_equal(test.image.width, 28);
    assert_int_equal(test.rows, 400);
    for (uint32_t i = 0; i < train.rows; i++) {
        dataset_row_values(&train, i, x);
        count[(uint32_t)train.y[i]]++;
        for (uint32_t j = 0; j < 784; j++)
            mean[(uint32_t)train.y[i]][j] += x[j];
    }
    for (uint32_t d = 0; d < 10; d++)
        assert_true(count[d] > 120 && count[d] < 280);
    for (uint32_t i = 0; i < test.rows; i++) {
        uint32_t best = 0;
        double least = HUGE_VAL;

        dataset_row_values(&test, i, x);
        for (uint32_t d = 0; d < 10; d++) {
            double far = 0;

            for (uint32_t j = 0; j < 784; j++) {
                const double diff = x[j] - mean[d][j] / count[d];

                far += diff * diff;
            }
            if (far < least) {
                least = far;
                best = d;
            }
        }
        right += best == (uint32_t)test.y[i];
    }
    assert_true(right > 260 && right < 396);
    dataset_close(&train);
    dataset_close(&test);
}

static void test_storage(void **state)
{
    const struct source_options wide = {.spec = "gen:digits:20",
                                        .storage = "f32"};
    const struct source_options bytes = {.spec = "gen:digits:20",
                                         .storage = "pixel"};
    const struct source_options twice = {.spec = "gen:gmm:20,3",
                                         .storage = "f64"};
    const struct source_options narrow = {.spec = "gen:gmm:20,3",
                                          .storage = "i8"};
    struct dataset data = {0};
    struct why why = {0};

    (void)state;
    assert_int_equal(source_load(&wide, &data, NULL, NULL, &why), ERR_OK);
    assert_int_equal(data.storage, STORAGE_F32);
    dataset_close(&data);
    assert_int_equal(source_load(&bytes, &data, NULL, NULL, &why), ERR_OK);
    assert_int_equal(data.storage, STORAGE_PIXEL);
    dataset_close(&data);
    assert_int_equal(source_load(&twice, &data, NULL, NULL, &why), ERR_OK);
    assert_int_equal(data.storage, STORAGE_F64);
    dataset_close(&data);
    assert_int_equal(source_load(&narrow, &data, NULL, NULL, &why), ERR_RANGE);
    assert_string_equal(why.text, "gen:gmm:20,3: storage i8 does not hold its "
                                  "values; use f32");
}

static void test_logistic(void **state)
{
    (void)state;
    for (int i = -3500; i <= 3500; i++) {
        const double t = 0.013 * i;
        const double wanted = 1 / (1 + exp(-t));

        assert_true(fabs(gen_logistic(t) - wanted) < 1e-15);
    }
    assert_true(gen_logistic(0) == 0.5);
    assert_true(gen_logistic(HUGE_VAL) == 1);
    assert_true(gen_logistic(-HUGE_VAL) == 0);
}

static void test_bad_specs(void **state)
{
    static const char *const bad[] = {"gen:gmm:",
                                      "gen:gmm:5",
                                      "gen:gmm:0,5",
                                      "gen:gmm:5,0",
                                      "gen:gmm:5,",
                                      "gen:gmm:,5",
                                      "gen:gmm:5,5x",
                                      "gen:gmm:-5,5",
                                      "gen:gmm:5, 5",
                                      "gen:gmm:5,5,5",
                                      "gen:gmm:1073741825,1",
                                      "gen:gmm:1,16777217",
                                      "gen:gmm:99999999999999999999999,1"};
    static const char *const unknown[] = {"gen:", "gen:foo", "gen:gmmx",
                                          "gen:GMM"};
    struct dataset train = {0};
    struct why why = {0};

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const struct source_options options = {.spec = bad[i]};

        assert_int_equal(source_load(&options, &train, NULL, NULL, &why),
                         ERR_RANGE);
        assert_non_null(strstr(why.text, "expected gen:gmm:ROWS,COLS"));
        assert_memory_equal(why.text, bad[i], strlen(bad[i]));
    }
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        const struct source_options options = {.spec = unknown[i]};

        assert_int_equal(source_load(&options, &train, NULL, NULL, &why),
                         ERR_UNKNOWN);
        assert_non_null(
            strstr(why.text, "use gen:gmm, gen:linear or gen:digits"));
    }
    {
        const struct source_options options = {
            .spec = "gen:gmm:1073741824,16777216"};

        assert_int_equal(source_load(&options, &train, NULL, NULL, &why),
                         ERR_TOOBIG);
        assert_string_equal(why.text,
                            "gen:gmm:1073741824,16777216: larger than the "
                            "limit; ask for fewer rows or columns");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_digest),
        cmocka_unit_test(test_known_digits),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_rows_do_not_depend_on_rows),
        cmocka_unit_test(test_moments),
        cmocka_unit_test(test_linear),
        cmocka_unit_test(test_digits),
        cmocka_unit_test(test_storage),
        cmocka_unit_test(test_logistic),
        cmocka_unit_test(test_bad_specs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

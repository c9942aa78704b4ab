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

#include "data/gen.h"

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
        "2ccc3a351df8d4bd4e276464d5f88afe3c4c9e476b36d40968ed104c3a152a7d");
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
        assert_true(train.x[i * train.stride + 7] == 1);
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
    assert_memory_equal(a.x, b.x, 50 * a.stride * sizeof *a.x);
    assert_memory_equal(a_test.x, b.x + 50 * b.stride,
                        10 * a.stride * sizeof *a.x);
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
            const double x = (double)train.x[i * train.stride + j];

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
        assert_non_null(strstr(why.text, "use gen:gmm or gen:gmm:ROWS,COLS"));
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
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_rows_do_not_depend_on_rows),
        cmocka_unit_test(test_moments),
        cmocka_unit_test(test_logistic),
        cmocka_unit_test(test_bad_specs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * AUC by sorting is compared with the definition over all pairs on scores full
 * of ties; the other metrics with a second, plain computation in long double.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "model/linear/problem.h"
#include "model/make_data.h"
#include "model/metrics.h"

static double naive_auc(const struct scored *rows, size_t count)
{
    double wins = 0;
    double pairs = 0;

    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < count; j++) {
            if (!rows[i].positive || rows[j].positive)
                continue;
            pairs += 1;
            if (rows[i].score > rows[j].score)
                wins += 1;
            else if (rows[i].score == rows[j].score)
                wins += 0.5;
        }
    }
    return wins / pairs;
}

static void test_auc_is_its_definition(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct scored rows[60];
        struct rng rng;
        size_t count;
        double wanted;

        rng_init(&rng, seed);
        count = 2 + (size_t)rng_below(&rng, 58);
        for (size_t i = 0; i < count; i++)
            rows[i] = (struct scored){(double)rng_between(&rng, -4, 4) *
                                          (seed % 2 == 0 ? 1 : 1e-9),
                                      rng_chance(&rng, 0.4)};
        rows[0].positive = true;
        rows[1].positive = false;
        wanted = naive_auc(rows, count);
        if (!(fabs(metrics_auc(rows, count) - wanted) < 1e-15))
            fail_msg("seed %llu", (unsigned long long)seed);
    }
}

/* Many rows, of all sizes, some of them tied, both zeros among them. */
static void draw_rows(uint64_t seed, struct scored *rows, size_t count)
{
    struct rng rng;

    rng_init(&rng, seed);
    for (size_t i = 0; i < count; i++) {
        const double drawn = (double)rng_between(&rng, -1000, 1000);
        const int size = (int)rng_between(&rng, -1060, 1000);

        rows[i] = (struct scored){i % 3 == 0 ? drawn * 0.0 : ldexp(drawn, size),
                                  rng_chance(&rng, 0.3)};
        if (seed % 2 == 0)
            rows[i].score = drawn / 1024;
    }
}

static void test_auc_of_many(void **state)
{
    enum { COUNT = 3000 };
    struct scored *const rows = mem_new(COUNT, sizeof *rows);

    (void)state;
    assert_non_null(rows);
    for (uint64_t seed = 0; seed < 4; seed++) {
        double wanted;

        draw_rows(seed, rows, COUNT);
        wanted = naive_auc(rows, COUNT);
        assert_true(fabs(metrics_auc(rows, COUNT) - wanted) < 1e-12);
        for (size_t i = 1; i < COUNT; i++)
            assert_true(rows[i - 1].score <= rows[i].score);
    }
    mem_free(rows);
}

static void test_auc_corners(void **state)
{
    struct scored rows[4] = {{1, true}, {0, false}, {-0.0, true}, {-1, false}};

    (void)state;
    assert_true(metrics_auc(rows, 4) == 0.875);
    rows[0].positive = rows[1].positive = rows[2].positive = rows[3].positive =
        true;
    assert_true(isnan(metrics_auc(rows, 4)));
    assert_true(isnan(metrics_auc(rows, 0)));
}

/* Sums over rows, in long double, from scores by a plain loop. */
struct plain {
    long double logloss, mse, r2;
    int right, said, were, both;
};

static long double plain_variance(const struct dataset *data)
{
    long double sum = 0, squares = 0;

    for (uint32_t i = 0; i < data->rows; i++) {
        sum += (long double)data->y[i];
        squares += (long double)data->y[i] * (long double)data->y[i];
    }
    sum /= data->rows;
    return squares / data->rows - sum * sum;
}

static struct plain plain_metrics(const struct dataset *data, const double *w)
{
    struct plain plain = {0};

    for (uint32_t i = 0; i < data->rows; i++) {
        const long double y = (long double)data->y[i];
        long double z = 0;

        for (uint32_t j = 0; j < data->cols; j++)
            z += (long double)((const float *)dataset_row(data, i))[j] *
                 (long double)w[j];
        plain.logloss += log1pl(expl(-y * z));
        plain.mse += (z - y) * (z - y);
        plain.right += (z > 0) == (y > 0);
        plain.said += z > 0;
        plain.were += y > 0;
        plain.both += z > 0 && y > 0;
    }
    plain.logloss /= data->rows;
    plain.mse /= data->rows;
    plain.r2 = 1 - plain.mse / plain_variance(data);
    return plain;
}

static void measure(enum model_kind kind, uint64_t seed, struct metrics *got,
                    struct plain *plain, uint32_t *rows)
{
    struct rng rng;
    struct dataset data;
    double w[24] = {0};

    rng_init(&rng, seed);
    data = make_data(&rng, 100, 17, 0, kind == MODEL_LINEAR);
    for (uint32_t j = 0; j < data.cols; j++)
        w[j] = 0.3 * rng_normal_at(seed, j, 7);
    {
        const struct problem problem = {
            .data = &data, .model = model_ops(kind), .isa = isa_best()};

        assert_int_equal(metrics_measure(got, &problem, w), ERR_OK);
    }
    *plain = plain_metrics(&data, w);
    *rows = data.rows;
    dataset_close(&data);
}

static bool near(double got, long double wanted)
{
    return fabsl((long double)got - wanted) < 1e-12L * (1 + fabsl(wanted));
}

static void test_classifiers(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        const enum model_kind kind = seed % 2 == 0 ? MODEL_LOGISTIC : MODEL_SVM;
        struct metrics got;
        struct plain plain;
        uint32_t rows;

        measure(kind, seed, &got, &plain, &rows);
        assert_true(near(got.accuracy, (long double)plain.right / rows));
        assert_true(near(got.precision, (long double)plain.both / plain.said));
        assert_true(near(got.recall, (long double)plain.both / plain.were));
        assert_true(
            near(got.f1, 2.0L * plain.both / (plain.said + plain.were)));
        assert_true(got.auc >= 0 && got.auc <= 1);
        assert_true(isnan(got.mse) && isnan(got.r2));
        if (kind == MODEL_LOGISTIC)
            assert_true(near(got.logloss, plain.logloss));
        else
            assert_true(isnan(got.logloss));
    }
}

static void test_regression(void **state)
{
    struct metrics got;
    struct plain plain;
    uint32_t rows;

    (void)state;
    measure(MODEL_LINEAR, 4, &got, &plain, &rows);
    assert_true(near(got.mse, plain.mse));
    assert_true(near(got.r2, plain.r2));
    assert_true(isnan(got.accuracy) && isnan(got.auc) && isnan(got.logloss) &&
                isnan(got.precision) && isnan(got.recall) && isnan(got.f1));
}

/* Scores of 0 say -1: nothing is said to be positive, which is no error. */
static void test_zero_weights(void **state)
{
    struct rng rng;
    struct dataset data;
    const double w[8] = {0};
    struct metrics got;

    (void)state;
    rng_init(&rng, 9);
    data = make_data(&rng, 30, 8, 0, false);
    {
        const struct problem problem = {.data = &data,
                                        .model = model_ops(MODEL_LOGISTIC),
                                        .isa = ISA_PORTABLE};

        assert_int_equal(metrics_measure(&got, &problem, w), ERR_OK);
    }
    assert_true(got.precision == 0 && got.recall == 0 && got.f1 == 0);
    assert_true(got.auc == 0.5);
    assert_true(fabs(got.logloss - log(2)) < 1e-14);
    dataset_close(&data);
}

static void test_scores_that_overflow(void **state)
{
    struct rng rng;
    struct dataset data;
    double w[8];
    struct metrics got;

    (void)state;
    rng_init(&rng, 9);
    data = make_data(&rng, 30, 8, 0, false);
    for (int j = 0; j < 8; j++)
        w[j] = 1.7e308;
    {
        const struct problem problem = {.data = &data,
                                        .model = model_ops(MODEL_LOGISTIC),
                                        .isa = ISA_PORTABLE};

        assert_int_equal(metrics_measure(&got, &problem, w), ERR_RANGE);
    }
    dataset_close(&data);
}

/* Rows of weight 0 do not count, all others once. */
static void test_rows_left_out(void **state)
{
    static const double z[] = {2, -1, 0.5, -3, 1, 9};
    static const double y[] = {1, -1, -1, 1, 1, -1};
    static const double weight[] = {1, 7, 0.5, 1, 1, 0};
    const struct scored_rows some = {z, y, weight, 6, 1, false};
    const struct scored_rows first = {z, y, NULL, 5, 1, false};
    const struct scored_rows none = {z, y, weight + 5, 1, 1, false};
    struct metrics a = metrics_none(), b = metrics_none();

    (void)state;
    for (int kind = MODEL_LINEAR; kind <= MODEL_HINGE; kind++) {
        const struct model_ops *model = model_ops((enum model_kind)kind);

        assert_int_equal(metrics_of_scores(&a, model, ISA_PORTABLE, &some),
                         ERR_OK);
        assert_int_equal(metrics_of_scores(&b, model, ISA_PORTABLE, &first),
                         ERR_OK);
        for (int i = 0; i < METRICS; i++) {
            const double x = metric_value(&a, (enum metric)i);
            const double w = metric_value(&b, (enum metric)i);

            assert_true(x == w || (isnan(x) && isnan(w)));
        }
        assert_int_equal(metrics_of_scores(&a, model, ISA_PORTABLE, &none),
                         ERR_SHAPE);
    }
    assert_true(b.accuracy == 3.0 / 5 && isnan(b.mse));
}

static void test_names(void **state)
{
    enum metric metric = METRICS;

    (void)state;
    for (int i = 0; i < METRICS; i++) {
        assert_int_equal(metric_parse(metric_name((enum metric)i), &metric),
                         ERR_OK);
        assert_int_equal(metric, i);
        assert_int_equal(metric_rises(metric),
                         metric != METRIC_LOGLOSS && metric != METRIC_MSE);
    }
    assert_int_equal(metric_parse("beauty", &metric), ERR_UNKNOWN);
}

static double r2_of(const struct scored_rows *in)
{
    struct metrics got;

    assert_int_equal(
        metrics_of_scores(&got, model_ops(MODEL_LINEAR), isa_best(), in),
        ERR_OK);
    return got.r2;
}

/* Labels far from 0, a row that is left out, and labels that are all one. */
static void test_r2(void **state)
{
    const double y[] = {1e6 + 1, HUGE_VAL, 1e6 + 3, 1e6 + 5};
    const double z[] = {1e6 + 1, 0, 1e6 + 3, 1e6 + 1};
    const double same[] = {2, 2, 2, 2};
    const double weight[] = {1, 0, .5, 7};
    struct scored_rows in = {.z = z, .y = y, .weight = weight, .rows = 4};

    (void)state;
    assert_true(fabs(r2_of(&in) - -1) < 1e-12);
    in.y = same;
    in.weight = NULL;
    assert_true(isnan(r2_of(&in)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_auc_is_its_definition),
        cmocka_unit_test(test_auc_of_many),
        cmocka_unit_test(test_auc_corners),
        cmocka_unit_test(test_classifiers),
        cmocka_unit_test(test_regression),
        cmocka_unit_test(test_zero_weights),
        cmocka_unit_test(test_scores_that_overflow),
        cmocka_unit_test(test_rows_left_out),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_r2),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * The best constant: rows of weight 0 are as if they were not there, whatever
 * their labels are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "learn/family/constant.h"

static struct constant of_model(const struct dataset *data,
                                enum model_kind model)
{
    struct constant constant;

    assert_int_equal(constant_of(data, model_ops(model), &constant), ERR_OK);
    return constant;
}

static struct constant of(const struct dataset *data)
{
    return of_model(data, data->classes > 0 ? MODEL_SOFTMAX : MODEL_LINEAR);
}

/* Infinite, 0 * y would be no number; of 1e308, the square is infinite. */
static void test_numbers(void **state)
{
    double y[] = {1, HUGE_VAL, 3, 1e308};
    double weight[] = {1, 0, 1, 0};
    const struct dataset data = {.rows = 4, .y = y, .weight = weight};

    (void)state;
    assert_true(of(&data).loss == 1);
}

static void test_classes(void **state)
{
    double y[] = {0, 2, 1, 2, 0, 2};
    double weight[] = {1, 0, 2, 0, 1, 0};
    const struct dataset data = {
        .rows = 6, .classes = 3, .y = y, .weight = weight};
    const struct constant constant = of(&data);

    (void)state;
    assert_true(fabs(constant.loss - 4 * log(2)) < 1e-12);
    assert_true(constant.share == 2.0 / 3);
}

/* Of that score in every row, by the model's own loss. */
static double loss_of(enum model_kind model, const struct dataset *data,
                      double z)
{
    double sum = 0;

    for (uint32_t i = 0; i < data->rows; i++)
        sum += data->weight[i] *
               loss_at(model_ops(model)->loss, z, data->y[i]).loss;
    return sum;
}

static void test_two_classes(void **state)
{
    static const enum model_kind models[] = {MODEL_LOGISTIC, MODEL_SVM,
                                             MODEL_HINGE};
    double y[] = {-1, 1, -1, -1, 1};
    double weight[] = {1, 3, 1, .5, 0};
    const struct dataset data = {
        .rows = 5, .classes = 2, .y = y, .weight = weight};

    (void)state;
    for (int m = 0; m < 3; m++) {
        const struct constant constant = of_model(&data, models[m]);
        double best = HUGE_VAL;

        for (int k = -3000; k <= 3000; k++)
            best = fmin(best, loss_of(models[m], &data, k / 1000.0));
        assert_true(fabs(constant.loss - best) < 1e-5);
        assert_true(constant.share == .75);
    }
}

/* That is no lack of memory. */
static void test_no_row_counts(void **state)
{
    double y[] = {0, 1};
    double weight[] = {0, 0};
    struct dataset data = {.rows = 2, .classes = 2, .y = y, .weight = weight};

    (void)state;
    assert_true(of(&data).share == 0);
    assert_true(of(&data).loss == 0);
    data.classes = 0;
    assert_true(of(&data).loss == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_two_classes),
        cmocka_unit_test(test_no_row_counts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

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

static struct constant of(const struct dataset *data)
{
    struct constant constant;

    assert_int_equal(constant_of(data, data->classes > 0, &constant), ERR_OK);
    return constant;
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
        cmocka_unit_test(test_no_row_counts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

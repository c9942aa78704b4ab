/*
 * Whether an objective still fell when a run was over: means of quarters by
 * hand, runs that are too short for them, and a run that goes on with more
 * steps.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "optim/trend.h"

static struct trend of_run(uint32_t first, uint32_t steps,
                           const struct trend *before)
{
    struct trend trend = before == NULL ? (struct trend){0} : *before;

    for (uint32_t step = first; step < steps; step++)
        trend_take(&trend, step, steps, 100 - step);
    return trend;
}

/* Of 8 steps 4, 5 and 6, 7: 95.5 and 93.5. */
static void test_quarters(void **state)
{
    struct trend trend = of_run(0, 8, NULL);

    (void)state;
    assert_true(trend_fall(&trend) == 2);
    assert_int_equal(trend.count[0], 2);
    assert_int_equal(trend.count[1], 2);
}

static void test_too_few_steps(void **state)
{
    (void)state;
    for (uint32_t steps = 0; steps < 4; steps++) {
        const struct trend trend = of_run(0, steps, NULL);

        assert_true(trend_fall(&trend) == 0);
    }
}

/* Quarters of the whole run, as one that was never interrupted has them; or
 * nothing is known, where they began before. */
static void test_more_steps(void **state)
{
    const struct trend eight = of_run(0, 8, NULL);
    const struct trend whole = of_run(0, 24, NULL);
    const struct trend resumed = of_run(8, 24, &eight);

    (void)state;
    assert_true(trend_fall(&resumed) == trend_fall(&whole));
}

/* One that is gone on with in its last half compares what it has. */
static void test_some_steps_are_missing(void **state)
{
    struct trend trend = of_run(5, 8, NULL);

    (void)state;
    assert_true(trend_fall(&trend) == 1.5);
    trend = of_run(6, 8, NULL);
    assert_true(trend_fall(&trend) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quarters),
        cmocka_unit_test(test_too_few_steps),
        cmocka_unit_test(test_more_steps),
        cmocka_unit_test(test_some_steps_are_missing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * A table worked out by hand, and draws from an exponential of which most are
 * cut short: what is drawn in their place must have its mean and spread.
 */
#include "plan/survival.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"

#define MANY 4000u

static void close_to(double got, double wanted, double share)
{
    if (fabs(got - wanted) > share * fabs(wanted))
        fail_msg("got %g, wanted %g within %g", got, wanted, share);
}

/* 1, 2+, 3, 4+, 5: 4/5, then 4/5 2/3, then 0. */
static void test_by_hand(void **state)
{
    struct survival_time times[] = {
        {5, false}, {2, true}, {1, false}, {4, true}, {3, false}};
    struct survival survival;

    (void)state;
    assert_int_equal(survival_init(&survival, times, 5), ERR_OK);
    assert_int_equal(survival.ends, 3);
    close_to(survival.beyond[0], .8, 1e-12);
    close_to(survival.beyond[1], .8 * 2 / 3, 1e-12);
    assert_true(fabs(survival.beyond[2]) < 1e-12);
    assert_true(survival_draw(&survival, 0, .9) == 1);
    assert_true(survival_draw(&survival, 0, .6) == 3);
    assert_true(survival_draw(&survival, 2, .7) == 3);
    assert_true(survival_draw(&survival, 2, .5) == 5);
    assert_true(survival_draw(&survival, 5, .5) > 5);
    survival_close(&survival);
}

/* Half of them are cut by an end that comes as soon. */
static void test_exponential(void **state)
{
    static struct survival_time times[MANY];
    struct survival survival;
    struct rng rng;
    double sum = 0, square = 0;

    (void)state;
    rng_init(&rng, 9);
    for (uint32_t i = 0; i < MANY; i++) {
        const double t = -log(1 - rng_unit(&rng));
        const double end = -log(1 - rng_unit(&rng));

        times[i] = (struct survival_time){t < end ? t : end, t > end};
    }
    assert_int_equal(survival_init(&survival, times, MANY), ERR_OK);
    assert_true(survival.ends < MANY * .55);
    close_to(survival.mean, 1, .1);
    for (uint32_t i = 0; i < MANY; i++) {
        const double t = times[i].cut ? survival_draw(&survival, times[i].t,
                                                      1 - rng_unit(&rng))
                                      : times[i].t;

        assert_true(t >= times[i].t);
        sum += t / MANY;
        square += t * t / MANY;
    }
    close_to(sum, 1, .1);
    close_to(square, 2, .2);
    survival_close(&survival);
}

static void test_nothing_ended(void **state)
{
    struct survival_time times[] = {{5, true}, {2, true}};
    struct survival survival;

    (void)state;
    assert_int_equal(survival_init(&survival, times, 2), ERR_OK);
    assert_int_equal(survival.ends, 0);
    survival_close(&survival);
    assert_int_equal(survival_init(&survival, times, 0), ERR_OK);
    survival_close(&survival);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_exponential),
        cmocka_unit_test(test_nothing_ended),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

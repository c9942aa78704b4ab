/*
 * Two clocks and a road with known delays: the estimate must lie within the
 * error it states, whatever the delays were, and never get worse by a slower
 * round trip.
 */
#include "core/link/offset.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/rng.h"

#define HOUR_US (3600 * SECOND_US)

static void test_unknown_before_the_first_echo(void **state)
{
    const struct offset none = {0};

    (void)state;
    assert_int_equal(offset_error(&none, 5), OFFSET_UNKNOWN);
}

static void test_symmetric_road_is_exact(void **state)
{
    struct offset offset = {0};

    (void)state;
    offset_sample(&offset, 1000, 501050, 1100, 0);
    assert_int_equal(offset.ahead_us, 500000);
    assert_int_equal(offset_error(&offset, 1100), 50);
    offset = (struct offset){0};
    offset_sample(&offset, 1000, 501050, 1100, 30); /* A relay's word. */
    assert_int_equal(offset_error(&offset, 1100), 80);
}

static void test_truth_is_within_the_error(void **state)
{
    struct rng rng;

    (void)state;
    rng_init(&rng, 3);
    for (int run = 0; run < 200; run++) {
        const int64_t ahead = rng_between(&rng, -HOUR_US, HOUR_US);
        struct offset offset = {0};
        time_us now = HOUR_US + 1;

        for (int i = 0; i < 50; i++) {
            const int64_t there = rng_between(&rng, 0, 100 * MS_US);
            const int64_t back = rng_between(&rng, 0, 100 * MS_US);
            const int64_t before = offset_error(&offset, now + there + back);

            offset_sample(&offset, now, now + there + ahead, now + there + back,
                          0);
            now += there + back;
            assert_true(labs((long)(offset.ahead_us - ahead)) <=
                        offset_error(&offset, now) + 1);
            assert_true(before == OFFSET_UNKNOWN ||
                        offset_error(&offset, now) <= before);
            assert_int_equal(offset.trip_us, there + back);
            now += 50 * MS_US;
        }
    }
}

/* 100 ppm apart: an old good sample gives way to a new worse one in time. */
static void test_error_grows_with_age(void **state)
{
    struct offset offset = {0};

    (void)state;
    offset_sample(&offset, 0, 1000, 20, 0);
    assert_int_equal(offset_error(&offset, 20 + SECOND_US), 10 + 100);
    offset_sample(&offset, SECOND_US, SECOND_US + 2000, SECOND_US + 400, 0);
    assert_int_equal(offset.ahead_us, 1000 - 10);
    offset_sample(&offset, 2 * SECOND_US, 2 * SECOND_US + 1500,
                  2 * SECOND_US + 400, 0);
    assert_int_equal(offset.ahead_us, 1300);
}

static void test_impossible_times_are_ignored(void **state)
{
    struct offset offset = {0};

    (void)state;
    offset_sample(&offset, 100, 50, 99, 0); /* Back before it was sent. */
    offset_sample(&offset, -1, 50, 99, 0);
    offset_sample(&offset, 1, INT64_MAX, 99, 0);
    offset_sample(&offset, 1, INT64_MIN, 99, 0);
    offset_sample(&offset, 1, 5, OFFSET_CLOCK_MAX + 1, 0);
    assert_false(offset.known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unknown_before_the_first_echo),
        cmocka_unit_test(test_symmetric_road_is_exact),
        cmocka_unit_test(test_truth_is_within_the_error),
        cmocka_unit_test(test_error_grows_with_age),
        cmocka_unit_test(test_impossible_times_are_ignored),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

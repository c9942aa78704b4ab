/*
 * Known values pin the streams (a change of one bit would change every
 * generated data set and code); ranges are tried at 0, 1 and their maximum,
 * and averages are compared with the distribution's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "base/rng.h"

/* xoshiro256** by its authors' reference code, from state 1, 2, 3, 4. */
static void test_known_stream(void **state)
{
    static const uint64_t known[] = {
        11520,
        0,
        1509978240,
        1215971899390074240,
        1216172134540287360,
        607988272756665600,
    };
    struct rng rng = {{1, 2, 3, 4}};

    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_true(rng_next(&rng) == known[i]);
}

static void test_same_seed_same_stream(void **state)
{
    struct rng a, b, c;
    int equal = 0;

    (void)state;
    rng_init(&a, 7);
    rng_init(&b, 7);
    rng_init(&c, 8);
    for (int i = 0; i < 100; i++) {
        const uint64_t x = rng_next(&a);

        assert_true(x == rng_next(&b));
        equal += x == rng_next(&c);
    }
    assert_int_equal(equal, 0);
}

static void test_split_leaves_parent(void **state)
{
    struct rng rng, copy, one, two;

    (void)state;
    rng_init(&rng, 7);
    copy = rng;
    one = rng_split(&rng, 1);
    two = rng_split(&rng, 2);
    assert_memory_equal(&rng, &copy, sizeof rng);
    assert_true(rng_next(&one) != rng_next(&two));
    one = rng_split(&rng, 1);
    two = rng_split(&rng, 1);
    assert_true(rng_next(&one) == rng_next(&two));
}

static void test_below_range(void **state)
{
    static const uint64_t bounds[] = {
        1, 2, 3, 255, UINT64_C(1) << 63, (UINT64_C(1) << 63) + 1, UINT64_MAX};
    struct rng rng;

    (void)state;
    rng_init(&rng, 1);
    for (size_t k = 0; k < sizeof bounds / sizeof *bounds; k++) {
        for (int i = 0; i < 1000; i++)
            assert_true(rng_below(&rng, bounds[k]) < bounds[k]);
    }
    assert_true(rng_below(&rng, 1) == 0);
}

static void test_below_reaches_all(void **state)
{
    struct rng rng;
    unsigned seen[6] = {0};

    (void)state;
    rng_init(&rng, 2);
    for (int i = 0; i < 6000; i++)
        seen[rng_below(&rng, 6)]++;
    for (int i = 0; i < 6; i++)
        assert_in_range(seen[i], 850, 1150); /* Five sigma. */
}

static void test_between_ends(void **state)
{
    struct rng rng;
    bool low = false;
    bool high = false;

    (void)state;
    rng_init(&rng, 3);
    assert_true(rng_between(&rng, 5, 5) == 5);
    assert_true(rng_between(&rng, INT64_MIN, INT64_MIN) == INT64_MIN);
    for (int i = 0; i < 100; i++) {
        const int64_t x = rng_between(&rng, -1, 1);

        assert_true(x >= -1 && x <= 1);
        low = low || x == -1;
        high = high || x == 1;
    }
    assert_true(low && high);
    (void)rng_between(&rng, INT64_MIN, INT64_MAX - 1);
}

static void test_unit_and_chance(void **state)
{
    struct rng rng;
    double sum = 0;

    (void)state;
    rng_init(&rng, 4);
    for (int i = 0; i < 10000; i++) {
        const double x = rng_unit(&rng);

        assert_true(x >= 0 && x < 1);
        sum += x;
        assert_false(rng_chance(&rng, 0));
        assert_true(rng_chance(&rng, 1));
    }
    assert_true(fabs(sum / 10000 - 0.5) < 0.015);
}

static void test_at_depends_on_all(void **state)
{
    (void)state;
    assert_true(rng_at(1, 2, 3) == rng_at(1, 2, 3));
    assert_true(rng_at(1, 2, 3) != rng_at(1, 3, 2));
    assert_true(rng_at(1, 2, 3) != rng_at(2, 2, 3));
    assert_true(rng_at(0, 0, 0) != rng_at(0, 0, 1));
    assert_true(rng_at(0, 0, 0) != rng_at(0, 1, 0));
    assert_true(rng_unit_at(0, 0, 0) < 1);
    assert_true(rng_at(UINT64_MAX, UINT64_MAX, UINT64_MAX) != 0);
}

static void test_normal_moments(void **state)
{
    enum { DRAWS = 20000 };
    double sum = 0;
    double squares = 0;

    (void)state;
    for (uint64_t i = 0; i < DRAWS; i++) {
        const double x = rng_normal_at(5, i, 0);

        assert_true(x > -6 && x < 6);
        sum += x;
        squares += x * x;
    }
    assert_true(fabs(sum / DRAWS) < 0.035);
    assert_true(fabs(squares / DRAWS - 1) < 0.05);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_stream),
        cmocka_unit_test(test_same_seed_same_stream),
        cmocka_unit_test(test_split_leaves_parent),
        cmocka_unit_test(test_below_range),
        cmocka_unit_test(test_below_reaches_all),
        cmocka_unit_test(test_between_ends),
        cmocka_unit_test(test_unit_and_chance),
        cmocka_unit_test(test_at_depends_on_all),
        cmocka_unit_test(test_normal_moments),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * The generator is held against published figures: the authors' own first
 * outputs and the 10000th, and the reference delay stream of the systems that
 * Muster replaces (seed 0, eight workers, mean half a second).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "base/mt19937.h"

/* The authors' default seed; C++ promises the 10000th value. */
static void test_published_outputs(void **state)
{
    struct mt19937 mt;
    uint32_t x = 0;

    (void)state;
    mt19937_init(&mt, 5489);
    assert_true(mt19937_next(&mt) == 3499211612u);
    assert_true(mt19937_next(&mt) == 581869302u);
    for (int i = 2; i < 10000; i++)
        x = mt19937_next(&mt);
    assert_true(x == 4123659995u);
}

/* numpy.random.seed(0); random_sample() */
static void test_unit_is_numpys(void **state)
{
    struct mt19937 mt;

    (void)state;
    mt19937_init(&mt, 0);
    assert_true(mt19937_unit(&mt) == 0.5488135039273248);
    assert_true(mt19937_unit(&mt) == 0.7151893663724195);
    assert_true(mt19937_unit(&mt) == 0.6027633760716439);
}

static void test_reference_delays(void **state)
{
    static const double delay[] = {0.39793725, 0.62796538, 0.46161157,
                                   0.39360058, 0.27552425, 0.51907965,
                                   0.2877596,  1.11176221};
    struct mt19937 mt;

    (void)state;
    mt19937_init(&mt, 0);
    for (size_t i = 0; i < sizeof delay / sizeof *delay; i++)
        assert_true(fabs(-0.5 * log(1 - mt19937_unit(&mt)) - delay[i]) < 5e-9);
}

static void test_unit_range(void **state)
{
    static const uint32_t seeds[] = {0, 1, UINT32_MAX};

    (void)state;
    for (size_t s = 0; s < 3; s++) {
        struct mt19937 mt;

        mt19937_init(&mt, seeds[s]);
        for (int i = 0; i < 2000; i++) {
            const double u = mt19937_unit(&mt);

            assert_true(u >= 0 && u < 1);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published_outputs),
        cmocka_unit_test(test_unit_is_numpys),
        cmocka_unit_test(test_reference_delays),
        cmocka_unit_test(test_unit_range),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

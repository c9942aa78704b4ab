/*
 * Floats on a grid: every instruction set against llrint, halves, edges of the
 * range, and what must be refused.
 */
#include "math/net/sums.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"

enum { MANY = 103, CASES = 200 };

static float any(struct rng *rng)
{
    switch (rng_below(rng, 4)) {
    case 0:
        return (float)rng_between(rng, -9, 9) * 0x1p-21f; /* Halves at 2^20. */
    case 1:
        return (float)ldexp(rng_unit(rng) - 0.5, (int)rng_between(rng, -60, 0));
    default:
        return (float)(rng_unit(rng) - 0.5);
    }
}

static void every_isa_rounds_alike(void **state)
{
    struct rng rng;

    (void)state;
    rng_init(&rng, 13);
    for (uint32_t test = 0; test < CASES; test++) {
        const size_t count = (size_t)rng_between(&rng, 0, MANY);
        const int exponent = (int)rng_between(&rng, 18, 50);
        int64_t expected[MANY];
        double top = 0;
        float x[MANY];

        for (size_t i = 0; i < count; i++) {
            x[i] = any(&rng);
            expected[i] = 7 + llrint(ldexp((double)x[i], exponent));
            top = fmax(top, fabs(ldexp((double)x[i], exponent)));
        }
        for (enum isa isa = 0; isa < ISAS; isa++) {
            int64_t sum[MANY];
            double largest = 0;

            if (!isa_runs(isa))
                continue;
            for (size_t i = 0; i < count; i++)
                sum[i] = 7;
            assert_true(sums_add(isa, x, count, exponent, sum, &largest));
            assert_memory_equal(sum, expected, count * sizeof *sum);
            assert_true(largest == top);
        }
    }
}

static void what_does_not_fit_is_refused(void **state)
{
    static const float wrong[] = {0x1p51f, -0x1p51f, NAN, INFINITY, -INFINITY};
    static const size_t places[] = {0, 5, 13, 63, MANY - 1};

    (void)state;
    for (enum isa isa = 0; isa < ISAS; isa++) {
        for (size_t w = 0; w < 5 && isa_runs(isa); w++) {
            for (size_t p = 0; p < 5; p++) {
                int64_t sum[MANY] = {0};
                float x[MANY] = {0};
                double largest = 0;

                x[places[p]] = 0x1.fffffep50f;
                assert_true(sums_add(isa, x, MANY, 0, sum, &largest));
                x[places[p]] = wrong[w];
                assert_false(sums_add(isa, x, MANY, 0, sum, &largest));
                assert_int_equal(sums_finite(isa, x, MANY), w < 2);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_isa_rounds_alike),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

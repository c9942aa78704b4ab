/*
 * Every instruction set narrows and counts as portable C does: any count, any
 * alignment, values that vanish, overflow, round or are no numbers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "math/kernel/narrow.h"

enum { COUNT_MAX = 67, SEEDS = 400 };

static double draw(struct rng *rng)
{
    static const double odd[] = {
        0.0,
        -0.0,
        INFINITY,
        -INFINITY,
        NAN,
        1.0,
        0.1,
        1e300,
        -1e300,
        (double)FLT_MAX,
        (double)FLT_MAX * 1.5,
        (double)FLT_MIN,
        1e-40,
        -1e-46,
        1e-300,
        -3.5,
    };

    if (rng_chance(rng, 0.5))
        return odd[rng_below(rng, sizeof odd / sizeof *odd)];
    return ldexp(rng_unit(rng) - 0.5, (int)rng_below(rng, 300) - 150);
}

static void test_variants_agree(void **state)
{
    double from[COUNT_MAX + 1];
    float to[COUNT_MAX], portable[COUNT_MAX];
    struct rng rng;

    (void)state;
    rng_init(&rng, 3);
    for (uint32_t seed = 0; seed < SEEDS; seed++) {
        const size_t count = (size_t)rng_below(&rng, COUNT_MAX + 1);
        struct narrowed want;

        for (size_t k = 0; k <= COUNT_MAX; k++)
            from[k] = draw(&rng);
        want = narrow(ISA_PORTABLE, from + seed % 2, count, portable);
        for (uint32_t isa = 0; isa < ISAS; isa++) {
            struct narrowed got;

            if (!isa_runs((enum isa)isa))
                continue;
            got = narrow((enum isa)isa, from + seed % 2, count, to);
            assert_memory_equal(&got, &want, sizeof got);
            assert_memory_equal(to, portable, count * sizeof *to);
        }
    }
}

static void test_counts(void **state)
{
    static const double from[] = {1, 0.1, 0, -0.0, 1e-40, NAN, 1e39, -2};
    float to[8];

    (void)state;
    for (uint32_t isa = 0; isa < ISAS; isa++) {
        struct narrowed n;

        if (!isa_runs((enum isa)isa))
            continue;
        n = narrow((enum isa)isa, from, 8, to);
        assert_int_equal(n.spoiled, 2); /* NaN and 1e39. */
        assert_int_equal(n.zero, 2);
        assert_int_equal(n.rounded, 4);
        assert_int_equal(n.normal, 4); /* 1, 0.1, -2 and infinity. */
        assert_false(signbit(to[3]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_variants_agree),
        cmocka_unit_test(test_counts),
    };

    return cmocka_run_group_tests_name("narrow", tests, NULL, NULL);
}

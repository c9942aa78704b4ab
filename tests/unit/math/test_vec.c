/*
 * The fast loops are compared, bit for bit, with the header's definition read
 * off element by element, at lengths around every boundary.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "math/vec.h"

#define COUNT_MAX 5000u

static double a[COUNT_MAX];
static double b[COUNT_MAX];

static void fill(uint64_t seed)
{
    struct rng rng;

    rng_init(&rng, seed);
    for (unsigned i = 0; i < COUNT_MAX; i++) {
        a[i] = ldexp(rng_unit(&rng) - 0.5, (int)rng_between(&rng, -40, 40));
        b[i] = ldexp(rng_unit(&rng) - 0.5, (int)rng_between(&rng, -40, 40));
    }
}

static double dot_ref(size_t count)
{
    double sum = 0.0;

    for (size_t i = 0; i < count; i += 1024) {
        double lane[8] = {0};

        for (size_t j = i; j < count && j < i + 1024; j++)
            lane[j % 8] += a[j] * b[j];
        for (unsigned width = 4; width > 0; width /= 2) {
            for (unsigned l = 0; l < width; l++)
                lane[l] += lane[l + width];
        }
        sum += lane[0];
    }
    return sum;
}

static void test_dot(void **state)
{
    const size_t counts[] = {0,    1,    7,    8,    9,    15,   1023, 1024,
                             1025, 1032, 2047, 2048, 2049, 4999, 5000};

    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        fill(seed);
        for (unsigned c = 0; c < sizeof counts / sizeof *counts; c++) {
            const double want = dot_ref(counts[c]);
            const double got = vec_dot(a, b, counts[c]);

            if (memcmp(&want, &got, sizeof got) != 0)
                fail_msg("seed %llu: %zu coordinates", (unsigned long long)seed,
                         counts[c]);
        }
    }
}

static void test_norm(void **state)
{
    const double v[] = {3.0, 0.0, -4.0};

    (void)state;
    assert_true(vec_norm(v, 3) == 5.0);
    assert_true(vec_norm(v, 0) == 0.0);
    assert_true(vec_norm(v + 1, 1) == 0.0);
}

static void test_finite(void **state)
{
    const double bad[] = {(double)NAN, -(double)NAN, (double)INFINITY,
                          -(double)INFINITY};
    double v[19] = {0.0, -0.0, 0x1p-1074, -1.7e308, 1.7e308};

    (void)state;
    assert_true(vec_finite(v, 19));
    assert_true(vec_finite(v, 0));
    for (unsigned i = 0; i < 4; i++) {
        for (unsigned j = 0; j < 19; j++) {
            const double kept = v[j];

            v[j] = bad[i];
            assert_false(vec_finite(v, 19));
            assert_true(vec_finite(v, j));
            v[j] = kept;
        }
    }
}

static void test_largest(void **state)
{
    double v[19] = {0.25, -0.0, 0x1p-1074};

    (void)state;
    assert_true(vec_largest(v, 0) == 0);
    for (unsigned j = 0; j < 19; j++) {
        const double kept = v[j];

        v[j] = -3;
        assert_true(vec_largest(v, 19) == 3);
        v[j] = (double)NAN;
        assert_true(isinf(vec_largest(v, 19)));
        v[j] = kept;
    }
    assert_true(vec_largest(v, 19) == 0.25);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dot),
        cmocka_unit_test(test_norm),
        cmocka_unit_test(test_finite),
        cmocka_unit_test(test_largest),
    };

    return cmocka_run_group_tests_name("math/vec", tests, NULL, NULL);
}

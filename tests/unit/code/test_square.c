/*
 * Random systems are solved to rounding, with rows that must be swapped among
 * them; singular ones are refused.
 */
#include "code/square.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/rng.h"

#define MOST 24u

static void test_solves(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= MOST; n++) {
        double a[MOST * MOST];
        double x[2 * MOST];
        double b[2 * MOST] = {0};

        for (uint32_t i = 0; i < n * n; i++)
            a[i] = i % (n + 1) == 0 && n > 1 ? 0 : rng_normal_at(n, i, 0);
        for (uint32_t k = 0; k < 2 * n; k++)
            x[k] = rng_normal_at(n, k, 1);
        for (uint32_t k = 0; k < 2; k++) {
            for (uint32_t i = 0; i < n * n; i++)
                b[k * n + i / n] += a[i] * x[k * n + i % n];
        }
        assert_int_equal(square_solve(a, b, n, 2), ERR_OK);
        for (uint32_t k = 0; k < 2 * n; k++)
            assert_true(fabs(b[k] - x[k]) < 1e-10);
    }
}

static void test_singular(void **state)
{
    const double a[] = {1, 2, 3, 2, 4, 6, 1, 0, 1};
    double b[] = {1, 1, 1};

    (void)state;
    assert_int_equal(square_solve(a, b, 3, 1), ERR_UNDECODABLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_solves),
        cmocka_unit_test(test_singular),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

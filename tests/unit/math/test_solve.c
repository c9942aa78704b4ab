/*
 * Systems are made from a known solution and must give it back; least squares
 * must leave a residual orthogonal to every column, whatever the rank.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "math/solve.h"

#define MAX 30u

struct system {
    double a[MAX * MAX];
    double x[MAX];
    double b[MAX];
};

/* b = A x; of the columns only `rank` are independent. */
static void make(struct system *s, uint64_t seed, uint32_t rows, uint32_t cols,
                 uint32_t rank)
{
    for (uint32_t i = 0; i < rows; i++) {
        s->b[i] = 0.0;
        for (uint32_t j = 0; j < cols; j++) {
            s->x[j] = rng_normal_at(seed, 0, j);
            s->a[i * cols + j] =
                j < rank ? rng_normal_at(seed, 1 + i, j)
                         : s->a[i * cols] - 2.0 * s->a[i * cols + rank - 1];
            s->b[i] += s->a[i * cols + j] * s->x[j];
        }
    }
}

static void test_square(void **state)
{
    (void)state;
    for (uint32_t n = 0; n <= MAX; n++) {
        struct system s;
        double b[MAX];

        make(&s, n, n, n, n);
        memcpy(b, s.b, sizeof b);
        assert_int_equal(solve_square(s.a, b, n), ERR_OK);
        for (uint32_t j = 0; j < n; j++) {
            if (!(fabs(b[j] - s.x[j]) < 1e-9))
                fail_msg("seed %u: unknown %u is %g, not %g", n, j, b[j],
                         s.x[j]);
        }
    }
}

/* Row-major, not column-major: a triangular system tells. */
static void test_row_major(void **state)
{
    double a[] = {1.0, 2.0, 0.0, 1.0};
    double b[] = {5.0, 2.0};

    (void)state;
    assert_int_equal(solve_square(a, b, 2), ERR_OK);
    assert_true(fabs(b[0] - 1.0) < 1e-14);
    assert_true(fabs(b[1] - 2.0) < 1e-14);
}

static void test_singular(void **state)
{
    (void)state;
    for (uint32_t n = 3; n <= MAX; n++) {
        struct system s;

        make(&s, n, n, n, n - 1);
        assert_int_equal(solve_square(s.a, s.b, n), ERR_UNDECODABLE);
    }
}

static void test_not_finite(void **state)
{
    double a[] = {1.0, (double)NAN, 0.0, 1.0};
    double b[] = {1.0, (double)NAN};

    (void)state;
    assert_int_equal(solve_square(a, b, 2), ERR_RANGE);
    assert_int_equal(solve_least_squares(a, b, 2, 2), ERR_RANGE);
}

static void assert_least(uint32_t rows, uint32_t cols, uint32_t rank)
{
    const uint32_t seed = rows * 100 + cols;
    struct system s;
    struct system kept;

    make(&s, seed, rows, cols, rank);
    s.b[rows / 2] += 1.0; /* No longer in the range of A if that is small. */
    kept = s;
    assert_int_equal(solve_least_squares(s.a, s.b, rows, cols), ERR_OK);
    for (uint32_t j = 0; j < cols; j++) {
        double dot = 0.0;

        for (uint32_t i = 0; i < rows; i++) {
            double residual = kept.b[i];

            for (uint32_t k = 0; k < cols; k++)
                residual -= kept.a[i * cols + k] * s.b[k];
            dot += residual * kept.a[i * cols + j];
        }
        if (!(fabs(dot) < 1e-9))
            fail_msg("seed %u: column %u is not orthogonal: %g", seed, j, dot);
    }
}

static void test_least_squares(void **state)
{
    double b[3] = {1.0, 2.0, 3.0};

    (void)state;
    assert_least(20, 6, 6);
    assert_least(6, 20, 6);
    assert_least(12, 12, 12);
    assert_least(25, 8, 5);
    assert_least(1, 1, 1);
    assert_int_equal(solve_least_squares(NULL, b, 0, 3), ERR_OK);
    assert_true(b[0] == 0.0 && b[1] == 0.0 && b[2] == 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_square),        cmocka_unit_test(test_row_major),
        cmocka_unit_test(test_singular),      cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_least_squares),
    };

    return cmocka_run_group_tests_name("math/solve", tests, NULL, NULL);
}

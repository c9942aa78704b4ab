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

/* Row-major as they are made; what is solved is column by column. */
static enum err solve(struct system *s, uint32_t rows, uint32_t cols)
{
    struct solve_room room;
    double a[MAX * MAX];
    enum err err = solve_room_init(&room, rows, cols);

    assert_int_equal(err, ERR_OK);
    for (uint32_t i = 0; i < rows; i++) {
        for (uint32_t j = 0; j < cols; j++)
            a[j * rows + i] = s->a[i * cols + j];
    }
    err = solve_shortest(&room, a, s->b, rows, cols);
    solve_room_close(&room);
    return err;
}

static void test_square(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= MAX; n++) {
        struct system s;

        make(&s, n, n, n, n);
        assert_int_equal(solve(&s, n, n), ERR_OK);
        for (uint32_t j = 0; j < n; j++) {
            if (!(fabs(s.b[j] - s.x[j]) < 1e-9))
                fail_msg("seed %u: unknown %u is %g, not %g", n, j, s.b[j],
                         s.x[j]);
        }
    }
}

static void test_column_major(void **state)
{
    double a[] = {1.0, 0.0, 2.0, 1.0};
    double b[] = {5.0, 2.0};
    struct solve_room room;

    (void)state;
    assert_int_equal(solve_room_init(&room, 2, 2), ERR_OK);
    assert_int_equal(solve_shortest(&room, a, b, 2, 2), ERR_OK);
    assert_true(fabs(b[0] - 1.0) < 1e-14);
    assert_true(fabs(b[1] - 2.0) < 1e-14);
    solve_room_close(&room);
}

/* Entries whose squares are beyond any double. */
static void test_far_scales(void **state)
{
    static const double sizes[] = {1e-300, 1e-170, 1e170, 1e300};

    (void)state;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        struct system s;

        make(&s, k, 9, 9, 9);
        for (size_t i = 0; i < 81; i++)
            s.a[i] *= sizes[k];
        assert_int_equal(solve(&s, 9, 9), ERR_OK);
        for (uint32_t j = 0; j < 9; j++)
            assert_true(fabs(s.b[j] * sizes[k] - s.x[j]) < 1e-9);
    }
}

static void test_not_finite(void **state)
{
    struct system s = {.a = {1.0, (double)NAN, 0.0, 1.0}, .b = {1.0, 1.0}};
    struct system right = {.a = {1.0, 0.0, 0.0, 1.0}, .b = {1.0, (double)NAN}};
    struct system large = {.a = {1.0, (double)INFINITY, 0.0, 1.0}};

    (void)state;
    assert_int_equal(solve(&s, 2, 2), ERR_RANGE);
    assert_int_equal(solve(&right, 2, 2), ERR_RANGE);
    assert_int_equal(solve(&large, 2, 2), ERR_RANGE);
}

/* Column j is the first less twice the last of rank; so the shortest solution
 * has nothing along that. */
static void assert_shortest(const struct system *s, uint32_t cols,
                            uint32_t rank)
{
    for (uint32_t j = rank; j < cols; j++) {
        const double along = s->b[j] - s->b[0] + 2 * s->b[rank - 1];

        if (!(fabs(along) < 1e-9))
            fail_msg("column %u: %g too long", j, along);
    }
}

static void assert_least(uint32_t rows, uint32_t cols, uint32_t rank)
{
    const uint32_t seed = rows * 100 + cols;
    struct system s;
    struct system kept;

    make(&s, seed, rows, cols, rank);
    s.b[rows / 2] += 1.0; /* No longer in the range of A if that is small. */
    kept = s;
    assert_int_equal(solve(&s, rows, cols), ERR_OK);
    if (rank < rows && rank < cols)
        assert_shortest(&s, cols, rank);
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
    (void)state;
    assert_least(20, 6, 6);
    assert_least(6, 20, 6);
    assert_least(12, 12, 12);
    assert_least(25, 8, 5);
    assert_least(30, 30, 3);
    assert_least(1, 1, 1);
    assert_least(1, 30, 1);
    assert_least(30, 1, 1);
}

/* Of many that fit the shortest is in the span of the rows: adding a multiple
 * of any other that fits makes it longer. */
static void test_shortest_of_many(void **state)
{
    struct system s, kept;
    double length = 0, known = 0, dot = 0;

    (void)state;
    make(&s, 5, 8, 20, 20);
    kept = s;
    assert_int_equal(solve(&s, 8, 20), ERR_OK);
    for (uint32_t j = 0; j < 20; j++) {
        length += s.b[j] * s.b[j];
        known += s.x[j] * s.x[j];
        dot += s.b[j] * (kept.x[j] - s.b[j]);
    }
    assert_true(length < known);
    assert_true(fabs(dot) < 1e-9);
}

static void test_nothing_there(void **state)
{
    struct system s = {.b = {1.0, 2.0, 3.0}};

    (void)state;
    assert_int_equal(solve(&s, 3, 2), ERR_OK);
    assert_true(s.b[0] == 0.0 && s.b[1] == 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_square),
        cmocka_unit_test(test_column_major),
        cmocka_unit_test(test_far_scales),
        cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_least_squares),
        cmocka_unit_test(test_shortest_of_many),
        cmocka_unit_test(test_nothing_there),
    };

    return cmocka_run_group_tests_name("math/solve", tests, NULL, NULL);
}

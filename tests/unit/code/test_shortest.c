/*
 * Random systems: the equations are met, and the solution has no part that the
 * equations do not ask for (it is a combination of their rows).
 */
#include "code/shortest.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/rng.h"

static void fill(struct shortest *room, uint32_t rows, uint32_t n,
                 uint64_t seed)
{
    for (uint32_t i = 0; i < rows; i++) {
        for (uint32_t j = 0; j < n; j++)
            shortest_row(room, i)[j] = rng_normal_at(seed, i, j);
        room->right[i] = rng_normal_at(seed, i, 1000);
    }
}

static double dot(const double *a, const double *b, uint32_t n)
{
    double sum = 0;

    for (uint32_t j = 0; j < n; j++)
        sum += a[j] * b[j];
    return sum;
}

static void test_solves(void **state)
{
    struct shortest room;

    (void)state;
    assert_int_equal(shortest_init(&room, 20), ERR_OK);
    for (uint32_t n = 1; n <= 20; n++) {
        for (uint32_t rows = 0; rows <= n; rows++) {
            double y[20];

            fill(&room, rows, n, n * 100 + rows);
            assert_int_equal(shortest_solve(&room, rows, n), ERR_OK);
            for (uint32_t i = 0; i < rows; i++) {
                double sum = 0;

                for (uint32_t j = 0; j < n; j++)
                    sum += shortest_row(&room, i)[j] * room.x[j];
                assert_true(fabs(sum - room.right[i]) < 1e-11);
            }
            /* Adding anything orthogonal to the rows makes it longer. */
            for (uint32_t j = 0; j < n; j++)
                y[j] = rng_normal_at(3, n, j);
            for (uint32_t k = 0; k < rows; k++) {
                double along = 0;

                for (uint32_t j = 0; j < n; j++)
                    along += room.unit[k * 20 + j] * y[j];
                for (uint32_t j = 0; j < n; j++)
                    y[j] -= along * room.unit[k * 20 + j];
            }
            assert_true(fabs(dot(y, room.x, n)) < 1e-10);
        }
    }
    shortest_close(&room);
}

static void test_dependent_rows(void **state)
{
    struct shortest room;

    (void)state;
    assert_int_equal(shortest_init(&room, 3), ERR_OK);
    fill(&room, 2, 3, 1);
    for (uint32_t j = 0; j < 3; j++)
        shortest_row(&room, 2)[j] =
            shortest_row(&room, 0)[j] - 2 * shortest_row(&room, 1)[j];
    assert_int_equal(shortest_solve(&room, 3, 3), ERR_UNDECODABLE);
    shortest_row(&room, 1)[0] = NAN;
    assert_int_equal(shortest_solve(&room, 2, 3), ERR_UNDECODABLE);
    shortest_close(&room);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_solves),
        cmocka_unit_test(test_dependent_rows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

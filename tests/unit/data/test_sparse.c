/*
 * Growing tables keep what they hold.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <string.h>

#include "data/rows/sparse.h"

/* 1:10 3:30 | (empty) | 2:20 */
static struct sparse three_rows(void)
{
    struct sparse sparse = {0};

    assert_int_equal(sparse_add_row(&sparse, 5), ERR_OK);
    assert_int_equal(sparse_add(&sparse, 0, 10), ERR_OK);
    assert_int_equal(sparse_add(&sparse, 2, 30), ERR_OK);
    assert_int_equal(sparse_add_row(&sparse, 6), ERR_OK);
    assert_int_equal(sparse_add_row(&sparse, 7), ERR_OK);
    assert_int_equal(sparse_add(&sparse, 1, 20), ERR_OK);
    return sparse;
}

static void test_rows(void **state)
{
    struct sparse sparse = three_rows();

    (void)state;
    assert_int_equal(sparse.rows, 3);
    assert_int_equal(sparse.cols, 3);
    assert_int_equal(sparse_entries(&sparse), 3);
    assert_int_equal(sparse.start[2], sparse.start[1]);
    sparse_clear(&sparse);
    assert_int_equal(sparse_entries(&sparse), 0);
    assert_int_equal(sparse_reserve(&sparse, 100), ERR_OK);
    assert_true(sparse.index_capacity >= 100);
    sparse_close(&sparse);
}

static void test_growth_keeps_rows(void **state)
{
    struct sparse sparse = {0};

    (void)state;
    for (uint32_t row = 0; row < 500; row++) {
        assert_int_equal(sparse_add_row(&sparse, row), ERR_OK);
        for (uint32_t j = 0; j < row % 7; j++)
            assert_int_equal(sparse_add(&sparse, j, row + j), ERR_OK);
    }
    for (uint32_t row = 0; row < 500; row++) {
        assert_true(sparse.label[row] == row);
        assert_int_equal(sparse.start[row + 1] - sparse.start[row], row % 7);
        for (uint32_t j = 0; j < row % 7; j++)
            assert_true(sparse.value[sparse.start[row] + j] == row + j);
    }
    sparse_close(&sparse);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_growth_keeps_rows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

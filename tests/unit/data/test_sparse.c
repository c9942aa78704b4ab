/*
 * Small tables are made dense by hand and by sparse_densify, with and without
 * intercept and column limits; sizes that must be refused are pretended, not
 * allocated.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <string.h>

#include "data/sparse.h"

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

static void assert_dense(const struct densify *how, uint32_t cols,
                         const float *wanted)
{
    struct sparse sparse = three_rows();
    struct dataset data = {0};
    struct why why = {0};

    assert_int_equal(sparse_densify(&sparse, how, &data, &why), ERR_OK);
    assert_int_equal(data.rows, 3);
    assert_int_equal(data.cols, cols);
    assert_int_equal(data.stride, 8);
    assert_true(chunkset_full(&data.present));
    for (uint32_t i = 0; i < 3; i++) {
        assert_true(data.y[i] == 5 + i);
        for (uint32_t j = 0; j < 8; j++)
            assert_true(data.x[i * 8 + j] ==
                        (j < cols ? wanted[i * cols + j] : 0));
    }
    dataset_close(&data);
    sparse_close(&sparse);
}

static void test_shapes(void **state)
{
    static const float plain[] = {10, 0, 30, 0, 0, 0, 0, 20, 0};
    static const float intercept[] = {10, 0, 30, 1, 0, 0, 0, 1, 0, 20, 0, 1};
    static const float wider[] = {10, 0, 30, 0,  1, 0, 0, 0,
                                  0,  1, 0,  20, 0, 0, 1};
    static const float narrow[] = {10, 0, 1, 0, 0, 1, 0, 20, 1};

    (void)state;
    assert_dense(&(struct densify){.chunk_rows = 2}, 3, plain);
    assert_dense(&(struct densify){.intercept = true}, 4, intercept);
    assert_dense(&(struct densify){.intercept = true, .cols_min = 5}, 5, wider);
    assert_dense(
        &(struct densify){.intercept = true, .cols_min = 3, .cols_max = 3}, 3,
        narrow);
}

static void assert_refused(const struct sparse *sparse, enum err err,
                           const char *sentence)
{
    const struct densify how = {0};
    struct dataset data = {0};
    struct why why = {0};

    assert_int_equal(sparse_densify(sparse, &how, &data, &why), err);
    assert_string_equal(why.text, sentence);
    assert_null(data.x);
}

static void test_empty_is_refused(void **state)
{
    struct sparse sparse = {0};

    (void)state;
    assert_refused(&sparse, ERR_SHAPE, "no rows");
    assert_int_equal(sparse_add_row(&sparse, 1), ERR_OK);
    assert_refused(&sparse, ERR_SHAPE,
                   "no features in any row; nothing to learn from");
    sparse_close(&sparse);
}

static void test_sizes_are_refused(void **state)
{
    struct sparse sparse = {0};

    (void)state;
    for (int row = 0; row < 2500; row++)
        assert_int_equal(sparse_add_row(&sparse, 1), ERR_OK);
    sparse.cols = 1u << 24;
    assert_refused(&sparse, ERR_TOOBIG,
                   "2500 rows of 16777216 columns would take 156.2 GiB, nearly "
                   "all zeros; that needs sparse kernels, which this version "
                   "does not have");
    sparse.start[2500] = (size_t)1 << 34; /* Pretended, never read. */
    assert_refused(&sparse, ERR_TOOBIG,
                   "2500 rows of 16777216 columns would take 156.2 GiB; at "
                   "most 128 GiB are supported");
    sparse_close(&sparse);
}

static void test_growth_keeps_rows(void **state)
{
    struct sparse sparse = {0};

    (void)state;
    for (uint32_t row = 0; row < 500; row++) {
        assert_int_equal(sparse_add_row(&sparse, row), ERR_OK);
        for (uint32_t j = 0; j < row % 7; j++)
            assert_int_equal(sparse_add(&sparse, j, (float)(row + j)), ERR_OK);
    }
    for (uint32_t row = 0; row < 500; row++) {
        assert_true(sparse.label[row] == row);
        assert_int_equal(sparse.start[row + 1] - sparse.start[row], row % 7);
        for (uint32_t j = 0; j < row % 7; j++)
            assert_true(sparse.value[sparse.start[row] + j] ==
                        (float)(row + j));
    }
    sparse_close(&sparse);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_empty_is_refused),
        cmocka_unit_test(test_sizes_are_refused),
        cmocka_unit_test(test_growth_keeps_rows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

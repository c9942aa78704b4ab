/*
 * Sparse tables are renumbered and read back: every row must hold the columns
 * and values that it had, in ascending order of the new numbers.  Tables are
 * wide and long enough for every digit of the sort, with rows that are empty,
 * that fill a group and that are longer than one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "data/rows/renumber.h"
#include "os/run/threads.h"

enum { ROWS = 700, LONG_ROW = 20000 };

/* Columns of a row: `step` apart on average, so that rows differ in length. */
static uint32_t step_of(uint32_t row, uint32_t cols)
{
    if (row == 5)
        return cols / LONG_ROW == 0 ? 1 : cols / LONG_ROW;
    return cols / (1 + row % 60) + 1;
}

static uint32_t fill_row(uint32_t row, uint32_t cols, uint32_t *column)
{
    const uint32_t step = step_of(row, cols);
    uint32_t count = 0;
    uint64_t at = rng_at(cols, row, 0) % step;

    if (row % 7 == 3)
        return 0;
    while (at < cols) {
        column[count++] = (uint32_t)at;
        at += 1 + rng_at(cols, row, count) % step;
    }
    return count;
}

/* The value that goes with a column of a row. */
static float value_of(uint32_t row, uint32_t column)
{
    return (float)(int)(rng_at(77, row, column) % 2000) - 1000;
}

static void make(struct dataset *data, enum storage storage, uint32_t cols)
{
    uint32_t *const column = mem_new(cols, sizeof *column);
    struct dataset_shape shape = {
        .storage = storage, .rows = ROWS, .cols = cols, .chunk_rows = 300};
    uint64_t at = 0;

    assert_non_null(column);
    for (uint32_t row = 0; row < ROWS; row++)
        shape.entries += fill_row(row, cols, column);
    assert_int_equal(dataset_init_shape(data, &shape), ERR_OK);
    for (uint32_t row = 0; row < ROWS; row++) {
        const uint32_t count = fill_row(row, cols, column);

        for (uint32_t k = 0; k < count; k++) {
            data->column[at] = column[k];
            if (data->value != NULL)
                data->value[at] = value_of(row, column[k]);
            at++;
        }
        data->begin[row + 1] = at;
    }
    chunkset_fill(&data->present);
    mem_free(column);
}

static int by_number(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a;
    const uint32_t y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

static void assert_row(const struct dataset *data, uint32_t row,
                       uint32_t *found, uint32_t *wanted)
{
    const uint64_t first = data->begin[row];
    const uint32_t count = (uint32_t)(data->begin[row + 1] - first);

    assert_int_equal(count, fill_row(row, data->cols, wanted));
    for (uint32_t k = 0; k < count; k++) {
        found[k] = data->original[data->column[first + k]];
        if (k > 0)
            assert_true(data->column[first + k - 1] < data->column[first + k]);
        if (data->value != NULL)
            assert_true(data->value[first + k] == value_of(row, found[k]));
    }
    qsort(found, count, sizeof *found, by_number);
    assert_memory_equal(found, wanted, count * sizeof *found);
}

static void check(enum storage storage, uint32_t cols, struct pool *pool)
{
    struct dataset data = {0};
    uint32_t *const found = mem_new(cols, sizeof *found);
    uint32_t *const wanted = mem_new(cols, sizeof *wanted);

    assert_true(found != NULL && wanted != NULL);
    make(&data, storage, cols);
    assert_int_equal(renumber_columns(&data, NULL, false, pool), ERR_OK);
    for (uint32_t row = 0; row < ROWS; row++)
        assert_row(&data, row, found, wanted);
    dataset_close(&data);
    mem_free(found);
    mem_free(wanted);
}

static void test_widths(void **state)
{
    /* One, two and three digits, at their edges. */
    static const uint32_t cols[] = {1, 2, 512, 513, 40000, 1 << 18, 300001};

    (void)state;
    for (size_t i = 0; i < sizeof cols / sizeof *cols; i++) {
        check(STORAGE_INDEX, cols[i], pool_serial());
        check(STORAGE_CSR, cols[i], pool_serial());
    }
}

static void test_threads(void **state)
{
    struct pool *pool;

    (void)state;
    assert_int_equal(threads_new(3, &pool), ERR_OK);
    check(STORAGE_CSR, 40000, pool);
    check(STORAGE_INDEX, 300001, pool);
    threads_free(pool);
}

static void test_like(void **state)
{
    struct dataset train = {0};
    struct dataset test = {0};
    struct dataset other = {0};

    (void)state;
    make(&train, STORAGE_CSR, 5000);
    make(&test, STORAGE_CSR, 5000);
    make(&other, STORAGE_CSR, 4999);
    assert_int_equal(renumber_columns(&train, NULL, true, pool_serial()),
                     ERR_OK);
    assert_int_equal(train.original[4999], 4999);
    assert_int_equal(renumber_columns(&test, &train, true, pool_serial()),
                     ERR_OK);
    assert_memory_equal(test.original, train.original,
                        5000 * sizeof *test.original);
    assert_memory_equal(test.column, train.column,
                        train.entries * sizeof *test.column);
    assert_int_equal(renumber_columns(&other, &train, true, pool_serial()),
                     ERR_SHAPE);
    assert_null(other.original);
    dataset_close(&train);
    dataset_close(&test);
    dataset_close(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_widths),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_like),
    };

    return cmocka_run_group_tests_name("renumber", tests, NULL, NULL);
}

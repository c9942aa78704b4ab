/*
 * The permutation is compared with values that numpy printed for two seeds,
 * and for many sizes must be a permutation; the cut data set must hold the
 * named rows in the named order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/mem.h"
#include "data/rows/split.h"

/* numpy.random.RandomState(seed).permutation(10) */
static void test_numpys_permutations(void **state)
{
    static const uint32_t seed_0[] = {2, 8, 4, 9, 1, 6, 7, 3, 0, 5};
    static const uint32_t seed_42[] = {8, 1, 5, 0, 7, 2, 9, 4, 3, 6};
    uint32_t order[10];

    (void)state;
    split_permutation(10, 0, order);
    assert_memory_equal(order, seed_0, sizeof order);
    split_permutation(10, 42, order);
    assert_memory_equal(order, seed_42, sizeof order);
}

static void test_every_row_once(void **state)
{
    (void)state;
    for (uint32_t rows = 0; rows < 300; rows++) {
        uint32_t order[300];
        bool seen[300] = {false};

        split_permutation(rows, rows, order);
        for (uint32_t i = 0; i < rows; i++) {
            assert_true(order[i] < rows);
            assert_false(seen[order[i]]);
            seen[order[i]] = true;
        }
    }
}

static void test_test_rows(void **state)
{
    (void)state;
    assert_int_equal(split_test_rows(0), 0);
    assert_int_equal(split_test_rows(1), 1);
    assert_int_equal(split_test_rows(5), 1);
    assert_int_equal(split_test_rows(6), 2);
    assert_int_equal(split_test_rows(32769), 6554); /* Amazon. */
    assert_int_equal(split_test_rows(21613), 4323); /* KC Housing. */
    assert_int_equal(split_test_rows(DATA_ROWS_MAX), 214748365);
}

static void test_parts_hold_their_rows(void **state)
{
    static const uint32_t seed_0[] = {2, 8, 4, 9, 1, 6, 7, 3, 0, 5};
    struct dataset data = {0}, train = {0}, test = {0};
    uint32_t order[10];

    (void)state;
    assert_int_equal(dataset_init(&data, 10, 3, 8), ERR_OK);
    for (uint32_t i = 0; i < 10; i++) {
        data.y[i] = i;
        ((float *)data.x)[i * data.stride + 2] = (float)(100 + i);
    }
    data.label[1] = 7;
    data.classes = 2;
    chunkset_fill(&data.present);
    split_permutation(10, 0, order);
    assert_int_equal(split_take(&data, order, 2, &test), ERR_OK);
    assert_int_equal(split_take(&data, order + 2, 8, &train), ERR_OK);
    assert_int_equal(test.rows, 2);
    assert_int_equal(train.rows, 8);
    for (uint32_t i = 0; i < 10; i++) {
        const struct dataset *part = i < 2 ? &test : &train;
        const uint32_t row = i < 2 ? i : i - 2;

        assert_true(part->y[row] == seed_0[i]);
        assert_true(((float *)part->x)[row * 8 + 2] ==
                    (float)(100 + seed_0[i]));
        assert_true(part->label[1] == 7 && part->classes == 2);
        assert_true(chunkset_full(&part->present));
    }
    dataset_close(&data);
    dataset_close(&train);
    dataset_close(&test);
}

/* Row i has columns i and 20, weight i + 1; the columns are renumbered. */
static void make_sparse(struct dataset *data, enum storage storage)
{
    const struct dataset_shape shape = {.storage = storage,
                                        .rows = 10,
                                        .cols = 21,
                                        .chunk_rows = 4,
                                        .entries = 19,
                                        .weighted = true};
    uint64_t at = 0;

    assert_int_equal(dataset_init_shape(data, &shape), ERR_OK);
    data->original = mem_new(21, sizeof *data->original);
    assert_non_null(data->original);
    for (uint32_t j = 0; j < 21; j++)
        data->original[j] = 20 - j;
    for (uint32_t i = 0; i < 10; i++) {
        const uint32_t column[] = {i, 20};

        /* Row 3 lacks its first column. */
        for (uint32_t k = i == 3; k < 2; k++) {
            data->column[at] = column[k];
            if (storage == STORAGE_CSR)
                data->value[at] = (float)(10 * i + k);
            at++;
        }
        data->begin[i + 1] = at;
        data->y[i] = i;
        data->weight[i] = i + 1;
    }
    assert_int_equal(dataset_set_labels(data, data->y, 10), ERR_OK);
    chunkset_fill(&data->present);
}

static void assert_sparse_row(const struct dataset *part, uint32_t row,
                              uint32_t was)
{
    const uint64_t first = part->begin[row];

    assert_true(part->y[row] == was && part->weight[row] == was + 1);
    assert_int_equal(part->begin[row + 1] - first, was == 3 ? 1 : 2);
    assert_int_equal(part->column[first], was == 3 ? 20 : was);
    if (part->value != NULL)
        assert_true(part->value[first] == (float)(10 * was + (was == 3)));
}

static void test_sparse_parts(void **state)
{
    static const enum storage forms[] = {STORAGE_INDEX, STORAGE_CSR};
    static const uint32_t order[] = {7, 3, 0};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct dataset data = {0}, part = {0};

        make_sparse(&data, forms[i]);
        assert_int_equal(split_take(&data, order, 3, &part), ERR_OK);
        assert_int_equal(part.rows, 3);
        assert_int_equal(part.entries, 5);
        assert_int_equal(part.classes, 10);
        assert_memory_equal(part.original, data.original,
                            21 * sizeof *part.original);
        for (uint32_t row = 0; row < 3; row++)
            assert_sparse_row(&part, row, order[row]);
        dataset_close(&data);
        dataset_close(&part);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numpys_permutations),
        cmocka_unit_test(test_every_row_once),
        cmocka_unit_test(test_test_rows),
        cmocka_unit_test(test_parts_hold_their_rows),
        cmocka_unit_test(test_sparse_parts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

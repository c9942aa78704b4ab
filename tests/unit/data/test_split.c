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
#include "data/split.h"

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

    (void)state;
    assert_int_equal(dataset_init(&data, 10, 3, 8), ERR_OK);
    for (uint32_t i = 0; i < 10; i++) {
        data.y[i] = i;
        ((float *)data.x)[i * data.stride + 2] = (float)(100 + i);
    }
    data.label[1] = 7;
    data.classes = 2;
    chunkset_fill(&data.present);
    assert_int_equal(split_dataset(&data, 0, &train, &test), ERR_OK);
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

static void test_one_row_cannot_be_cut(void **state)
{
    struct dataset data = {0}, train = {0}, test = {0};

    (void)state;
    assert_int_equal(dataset_init(&data, 1, 1, 8), ERR_OK);
    chunkset_fill(&data.present);
    assert_int_equal(split_dataset(&data, 0, &train, &test), ERR_SHAPE);
    assert_null(train.x);
    dataset_close(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numpys_permutations),
        cmocka_unit_test(test_every_row_once),
        cmocka_unit_test(test_test_rows),
        cmocka_unit_test(test_parts_hold_their_rows),
        cmocka_unit_test(test_one_row_cannot_be_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Random tables, cut into blocks of any size and kind, must come out of the
 * stage with the values that went in, in every form that holds them, with and
 * without intercept and limits on columns.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/rng.h"
#include "data/rows/stage.h"

enum { ROWS = 300, COLS = 40 };

/* What row i, column j of table `seed` holds. */
static double value_at(uint64_t seed, uint32_t i, uint32_t j)
{
    const uint64_t draw = rng_at(seed, i, j);
    const uint64_t every = seed % 3 == 0 ? 2 : 20; /* Dense, sparse. */

    if (draw % every != 0)
        return 0;
    switch (seed % 4) {
    case 0:
        return 1;
    case 1:
        return (double)(draw >> 32 & 127);
    case 2:
        return (double)(draw >> 32 & 127) / 64;
    default:
        return (double)((float)(draw >> 32 & 1023) / 1000);
    }
}

static void fill(struct stage *stage, uint64_t seed)
{
    struct sparse rows = {0};

    for (uint32_t i = 0; i < ROWS; i++) {
        assert_int_equal(sparse_add_row(&rows, i), ERR_OK);
        for (uint32_t j = 0; j < COLS; j++) {
            const double value = value_at(seed, i, j);

            /* Some zeros are written out, some negative. */
            if (value != 0 || j % 11 == 0)
                assert_int_equal(
                    sparse_add(&rows, j, value == 0 ? -0.0 : value), ERR_OK);
        }
        if (rng_at(seed, i, 1000) % 50 == 0 || i + 1 == ROWS) {
            assert_int_equal(stage_add(stage, &rows), ERR_OK);
            sparse_clear(&rows);
        }
    }
    sparse_close(&rows);
}

/* The fuzz targets of the readers found it: narrow forms were chosen by what
 * fp32 makes of a value and filled from the value itself, so that 1e-60 among
 * zeros and ones became a one, and 2.9999999999 among small integers a two. */
static void test_narrow_forms_hold_what_fp32_holds(void **state)
{
    static const double tables[][4] = {
        {0, 1, 1e-60, -1e-60},
        {2.9999999999999996, -0.99999999999, 7, 1e-50},
        {0.5, 0.24999999999999997, 1e-300, 2},
    };

    (void)state;
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
        struct sparse rows = {0};
        struct sparse back = {0};
        struct stage stage = {0};
        size_t at = 0;

        assert_int_equal(sparse_add_row(&rows, 1), ERR_OK);
        for (uint32_t j = 0; j < 4; j++)
            assert_int_equal(sparse_add(&rows, j, tables[t][j]), ERR_OK);
        assert_int_equal(stage_add(&stage, &rows), ERR_OK);
        assert_int_equal(stage_unpack(&stage, &back), ERR_OK);
        for (uint32_t j = 0; j < 4; j++) {
            const double value = (double)(float)tables[t][j];

            if (value == 0)
                continue;
            assert_true(at < sparse_entries(&back));
            assert_int_equal(back.index[at], j);
            assert_true(back.value[at++] == value);
        }
        assert_int_equal(sparse_entries(&back), at);
        sparse_close(&rows);
        sparse_close(&back);
        stage_close(&stage);
    }
}

static void assert_values(const struct dataset *data, uint64_t seed,
                          bool intercept)
{
    const uint32_t features = data->cols - intercept;
    double row[64];
    double natural[64];

    for (uint32_t i = 0; i < ROWS; i++) {
        assert_true(data->y[i] == i);
        dataset_row_values(data, i, row);
        for (uint32_t j = 0; j < data->cols; j++)
            natural[data->original == NULL ? j : data->original[j]] = row[j];
        for (uint32_t j = 0; j < features; j++)
            assert_true(natural[j] == (j < COLS ? value_at(seed, i, j) : 0));
        if (intercept)
            assert_true(natural[data->cols - 1] == 1 &&
                        row[data->cols - 1] == 1);
    }
}

static void test_every_form(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 60; seed++) {
        for (uint32_t form = 0; form <= STORAGES; form++) {
            const struct stage_options options = {
                .chunk_rows = 32,
                .choose = form == STORAGES,
                .storage = (enum storage)(form % STORAGES),
                .intercept = seed % 2 == 0,
                .cols_min = seed % 5 == 0 ? 50 : 0,
                .cols_max = seed % 7 == 0 ? 30 : 0};
            struct stage stage = {0};
            struct dataset data = {0};
            struct why why = {0};
            enum err err;

            fill(&stage, seed);
            assert_int_equal(stage_rows(&stage), ROWS);
            err = stage_build(&stage, &options, pool_serial(), &data, &why);
            assert_int_equal(stage.count, 0);
            if (err != ERR_OK) {
                assert_false(options.choose);
                assert_int_equal(err, ERR_RANGE);
                assert_non_null(strstr(why.text, "leave the choice"));
                continue;
            }
            assert_true(chunkset_full(&data.present));
            assert_values(&data, seed, options.intercept);
            dataset_close(&data);
        }
    }
}

/* A block that lies within one long line of text. */
static void test_block_without_rows(void **state)
{
    const struct sparse none = {.cols = DATA_COLS_MAX};
    struct stage stage = {0};

    (void)state;
    assert_int_equal(stage_add(&stage, &none), ERR_OK);
    assert_int_equal(stage_rows(&stage), 0);
    stage_close(&stage);
}

/* The digest of narrow and wide forms differs, that of two cuts does not. */
static void test_cut_into_blocks_does_not_matter(void **state)
{
    struct digest digest[2];

    (void)state;
    for (int k = 0; k < 2; k++) {
        const struct stage_options options = {.choose = true};
        struct stage stage = {0};
        struct sparse rows = {0};
        struct dataset data = {0};
        struct why why = {0};

        fill(&stage, 7);
        if (k == 1) { /* All in one block. */
            assert_int_equal(stage_unpack(&stage, &rows), ERR_OK);
            stage_close(&stage);
            assert_int_equal(stage_add(&stage, &rows), ERR_OK);
            sparse_close(&rows);
        }
        assert_int_equal(
            stage_build(&stage, &options, pool_serial(), &data, &why), ERR_OK);
        digest[k] = dataset_digest(&data);
        dataset_close(&data);
    }
    assert_true(digest_equal(&digest[0], &digest[1]));
}

static void test_numbering(void **state)
{
    const struct stage_options options = {
        .storage = STORAGE_CSR, .intercept = true, .chunk_rows = 8};
    struct stage stage = {0};
    struct sparse rows = {0};
    struct dataset data = {0};
    struct dataset test = {0};
    struct stage_options like = {.choose = true, .intercept = true};
    struct why why = {0};

    /* Column 5 in every row, 2 in two, 9 once before 7 once; 10 columns. */
    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(sparse_add_row(&rows, i), ERR_OK);
        if (i > 0)
            assert_int_equal(sparse_add(&rows, 2, 3), ERR_OK);
        assert_int_equal(sparse_add(&rows, 5, 4), ERR_OK);
        assert_int_equal(sparse_add(&rows, i == 0 ? 9 : 7, i == 2 ? 0 : 2),
                         ERR_OK);
    }
    assert_int_equal(stage_add(&stage, &rows), ERR_OK);
    assert_int_equal(stage_build(&stage, &options, pool_serial(), &data, &why),
                     ERR_OK);
    assert_int_equal(data.cols, 11);
    assert_int_equal(data.original[0], 5);
    assert_int_equal(data.original[1], 2);
    assert_int_equal(data.original[2], 9);
    assert_int_equal(data.original[3], 7);
    assert_int_equal(data.original[4], 0);
    assert_int_equal(data.original[10], 10);
    assert_int_equal(data.column[0], 0);
    assert_int_equal(data.column[1], 2);
    assert_int_equal(data.column[2], 10);
    /* A test set has the training set's numbers, whatever its own counts. */
    like.like = &data;
    like.cols_min = 11;
    like.cols_max = 11;
    assert_int_equal(stage_add(&stage, &rows), ERR_OK);
    assert_int_equal(stage_build(&stage, &like, pool_serial(), &test, &why),
                     ERR_OK);
    assert_true(dataset_is_sparse(&test));
    assert_memory_equal(test.original, data.original,
                        11 * sizeof *data.original);
    dataset_close(&test);
    dataset_close(&data);
    sparse_close(&rows);
}

/* Two blocks, the second of values that fp32 holds. */
static struct dataset build_odd(bool wide)
{
    static const double value[2][3] = {{0.1, 16777217, 1e-300}, {0.5, 2, -3}};
    const struct stage_options options = {
        .choose = !wide, .storage = STORAGE_F64, .intercept = true};
    struct stage stage = {.wide = wide};
    struct dataset data = {0};
    struct why why = {0};

    for (uint32_t i = 0; i < 2; i++) {
        struct sparse rows = {.wide = wide};

        assert_int_equal(sparse_add_row(&rows, i), ERR_OK);
        for (uint32_t j = 0; j < 3; j++)
            assert_int_equal(sparse_add(&rows, j, value[i][j]), ERR_OK);
        assert_int_equal(stage_add(&stage, &rows), ERR_OK);
        sparse_close(&rows);
    }
    assert_int_equal(stage_build(&stage, &options, pool_serial(), &data, &why),
                     ERR_OK);
    return data;
}

static void test_values_of_fp64(void **state)
{
    struct dataset wide = build_odd(true);
    struct dataset narrow = build_odd(false);
    double row[4];

    (void)state;
    assert_int_equal(wide.storage, STORAGE_F64);
    dataset_row_values(&wide, 0, row);
    assert_true(row[0] == 0.1 && row[1] == 16777217 && row[2] == 1e-300);
    dataset_row_values(&wide, 1, row);
    assert_true(row[0] == 0.5 && row[1] == 2 && row[2] == -3 && row[3] == 1);
    assert_int_equal(wide.rounded, 0);
    assert_true(wide.rounding == 0);
    assert_int_equal(narrow.storage, STORAGE_F32);
    dataset_row_values(&narrow, 0, row);
    assert_true(row[0] == (double)0.1f && row[1] == 16777216 && row[2] == 0);
    assert_int_equal(narrow.rounded, 3);
    assert_true(narrow.rounding == 1); /* 1e-300 is lost. */
    dataset_close(&wide);
    dataset_close(&narrow);
}

static void test_range(void **state)
{
    const struct sparse narrow = {0};
    const struct sparse wide = {.wide = true};

    (void)state;
    assert_true(sparse_in_range(&narrow, 0x1.fffffep127)); /* The largest. */
    assert_true(sparse_in_range(&narrow, -0x1.fffffefffffffp127));
    assert_false(sparse_in_range(&narrow, 0x1.ffffffp127)); /* Rounds up. */
    assert_false(sparse_in_range(&narrow, -1e300));
    assert_true(sparse_in_range(&wide, -1e300));
    assert_false(sparse_in_range(&wide, HUGE_VAL));
    assert_false(sparse_in_range(&wide, nan("")));
    assert_false(sparse_in_range(&narrow, nan("")));
}

static void test_refusals(void **state)
{
    const struct stage_options options = {.choose = true};
    struct stage stage = {0};
    struct sparse rows = {0};
    struct dataset data = {0};
    struct why why = {0};

    (void)state;
    assert_int_equal(stage_build(&stage, &options, pool_serial(), &data, &why),
                     ERR_SHAPE);
    assert_string_equal(why.text, "no rows");
    assert_int_equal(sparse_add_row(&rows, 1), ERR_OK);
    assert_int_equal(stage_add(&stage, &rows), ERR_OK);
    assert_int_equal(stage_build(&stage, &options, pool_serial(), &data, &why),
                     ERR_SHAPE);
    assert_string_equal(why.text,
                        "no features in any row; nothing to learn from");
    sparse_close(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_narrow_forms_hold_what_fp32_holds),
        cmocka_unit_test(test_every_form),
        cmocka_unit_test(test_block_without_rows),
        cmocka_unit_test(test_cut_into_blocks_does_not_matter),
        cmocka_unit_test(test_numbering),
        cmocka_unit_test(test_values_of_fp64),
        cmocka_unit_test(test_range),
        cmocka_unit_test(test_refusals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

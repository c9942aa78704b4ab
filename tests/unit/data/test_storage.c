/*
 * The choice of a form is a table of cases; every form gives back, value by
 * value and row by row, what was put into it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <string.h>

#include "data/rows/storage.h"

static void test_fits(void **state)
{
    (void)state;
    assert_int_equal(value_fits(0), VALUES_ALL);
    assert_int_equal(value_fits(1), VALUES_ALL);
    assert_int_equal(value_fits(-128), VALUES_I8 | VALUES_BF16 | VALUES_F32);
    assert_int_equal(value_fits(127),
                     VALUES_I8 | VALUES_U8 | VALUES_BF16 | VALUES_F32);
    assert_int_equal(value_fits(128), VALUES_U8 | VALUES_BF16 | VALUES_F32);
    assert_int_equal(value_fits(255), VALUES_U8 | VALUES_BF16 | VALUES_F32);
    assert_int_equal(value_fits(256), VALUES_BF16 | VALUES_F32);
    assert_int_equal(value_fits((double)0.2f), VALUES_PIXEL | VALUES_F32);
    assert_int_equal(value_fits((double)-0.2f), VALUES_F32);
    for (int k = 0; k <= 255; k++)
        assert_true(value_fits((double)(float)(k / 255.0)) & VALUES_PIXEL);
    assert_int_equal(value_fits(257), VALUES_F32);
    assert_int_equal(value_fits(0.5), VALUES_BF16 | VALUES_F32);
    assert_int_equal(value_fits((double)0.1f), VALUES_F32);
    assert_int_equal(value_fits((double)-1e30f), VALUES_F32);
    assert_int_equal(value_fits(0.1), 0);
    assert_int_equal(value_fits(16777217), 0);
    assert_int_equal(value_fits(1e300), 0);
    assert_int_equal(value_fits(1e-300), 0);
}

#define FITS_BF16 (VALUES_BF16 | VALUES_F32)
#define FITS_I8   (VALUES_I8 | FITS_BF16)

static void test_choice(void **state)
{
    static const struct {
        struct census census;
        enum storage storage;
    } cases[] = {
        {{10, 10, 1, VALUES_ALL, 0, 0}, STORAGE_BIT},
        {{10, 10, 1, FITS_I8, 0, 0}, STORAGE_I8},
        {{10, 10, 1, VALUES_U8 | FITS_BF16, 0, 0}, STORAGE_U8},
        {{10, 10, 1, VALUES_PIXEL | VALUES_F32, 0, 0}, STORAGE_PIXEL},
        {{10, 10, 1, FITS_BF16, 0, 0}, STORAGE_F32},
        {{10, 10, 1, VALUES_F32, 0, 0}, STORAGE_F32},
        {{1 << 16, 1 << 10, 1 << 26, FITS_BF16, 0, 0}, STORAGE_F32},
        {{(1 << 16) + 1, 1 << 10, 1 << 26, FITS_BF16, 0, 0}, STORAGE_BF16},
        {{(1 << 16) + 1, 1 << 10, 1 << 26, VALUES_F32, 0, 0}, STORAGE_F32},
        {{1000, 1000, 125000, VALUES_F32, 0, 0}, STORAGE_F32},
        {{1000, 1000, 125000, 0, 0, 0}, STORAGE_F32}, /* Never f64 by itself. */
        {{1000, 1000, 124999, VALUES_F32, 0, 0}, STORAGE_CSR},
        {{1000, 1000, 31250, VALUES_ALL, 0, 0}, STORAGE_BIT},
        {{1000, 1000, 31249, VALUES_ALL, 0, 0}, STORAGE_INDEX},
        {{20000, 219, 16 * 20000, VALUES_ALL, 0, 0}, STORAGE_BIT},
        {{26215, 241915, 44 * 26215, VALUES_ALL, 0, 0}, STORAGE_INDEX},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(storage_choose(&cases[i].census), cases[i].storage);
        assert_true(storage_holds(cases[i].storage, &cases[i].census));
    }
    assert_false(storage_holds(STORAGE_BIT, &cases[1].census));
    assert_false(storage_holds(STORAGE_INDEX, &cases[1].census));
    assert_false(storage_holds(STORAGE_I8, &cases[2].census));
    assert_false(storage_holds(STORAGE_U8, &cases[3].census));
    assert_false(storage_holds(STORAGE_PIXEL, &cases[2].census));
    assert_false(storage_holds(STORAGE_BF16, &cases[5].census));
}

/* Waiting rows take the least room, and lose nothing. */
static void test_smallest(void **state)
{
    static const struct {
        struct census census;
        enum storage storage;
    } cases[] = {
        {{10, 10, 1, VALUES_ALL, 0, 0}, STORAGE_BIT},
        {{10, 10, 1, FITS_I8, 0, 0}, STORAGE_I8},
        {{10, 10, 1, FITS_BF16, 0, 0}, STORAGE_BF16},
        {{10, 10, 1, VALUES_F32, 0, 0}, STORAGE_F32},
        {{10, 10, 1, 0, 0, 0}, STORAGE_F64},
        {{1000, 1000, 1000, 0, 0, 0}, STORAGE_F64},
        {{1000, 1000, 1000, VALUES_F32, 0, 0}, STORAGE_CSR},
        {{1000, 1000, 1000, VALUES_ALL, 0, 0}, STORAGE_INDEX},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(storage_smallest(&cases[i].census), cases[i].storage);
}

static void test_names(void **state)
{
    enum storage storage;

    (void)state;
    for (uint32_t i = 0; i < STORAGES; i++) {
        assert_true(storage_parse(storage_name((enum storage)i), &storage));
        assert_int_equal(storage, i);
    }
    assert_false(storage_parse("f16", &storage));
}

static void test_rows_come_back(void **state)
{
    static const struct {
        enum storage storage;
        double values[9];
    } cases[] = {
        {STORAGE_F32, {0.5, -0x1.8p99, 0, 1, 7, -0.25, 0x1p-140, 3, 16777216}},
        {STORAGE_BF16, {0.5, -2, 0, 1, 256, 1.5, -0.125, 3, 4}},
        {STORAGE_I8, {-128, 127, 0, 1, 7, -5, 100, 3, 4}},
        {STORAGE_U8, {255, 128, 0, 1, 7, 254, 100, 3, 4}},
        {STORAGE_PIXEL,
         {(double)(1 / 255.0f), (double)(254 / 255.0f), 0, 1,
          (double)(127 / 255.0f), (double)(128 / 255.0f), (double)(3 / 255.0f),
          (double)0.2f, (double)0.4f}},
        {STORAGE_BIT, {1, 0, 0, 1, 1, 1, 0, 1, 1}},
        {STORAGE_F64, {0.1, -2.5e300, 0, 1, 16777217, 1e-310, 7, 3, 4}},
    };

    (void)state;
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const enum storage storage = cases[i].storage;
        const double *const values = cases[i].values;
        uint64_t row[16];
        double out[9];

        memset(row, 0xff, sizeof row);
        storage_pack(storage, values, 9, row);
        storage_unpack(storage, row, 9, out);
        assert_memory_equal(out, values, sizeof out);
        memset(row, 0, sizeof row);
        for (uint32_t j = 0; j < 9; j++) {
            storage_put(storage, row, j, 1);
            storage_put(storage, row, j, values[j]);
        }
        for (uint32_t j = 0; j < 9; j++)
            assert_true(storage_get(storage, row, j) == values[j]);
    }
    assert_int_equal(storage_row_bytes(STORAGE_F32, 16), 64);
    assert_int_equal(storage_row_bytes(STORAGE_BF16, 16), 32);
    assert_int_equal(storage_row_bytes(STORAGE_I8, 16), 16);
    assert_int_equal(storage_row_bytes(STORAGE_U8, 16), 16);
    assert_int_equal(storage_row_bytes(STORAGE_PIXEL, 16), 16);
    assert_int_equal(storage_row_bytes(STORAGE_BIT, 16), 2);
    assert_int_equal(storage_row_bytes(STORAGE_F64, 16), 128);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fits),           cmocka_unit_test(test_choice),
        cmocka_unit_test(test_smallest),       cmocka_unit_test(test_names),
        cmocka_unit_test(test_rows_come_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

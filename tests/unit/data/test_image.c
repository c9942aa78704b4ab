/*
 * Rows that are images: shapes as texts, what a data set remembers of them, its
 * rows as floats whatever the storage, and whose values are pixels.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "data/rows/split.h"
#include "data/source.h"

enum { ROWS = 30, COLS = 12 };

static double x[ROWS][COLS];
static double y[ROWS];

static void shapes_are_texts(void **state)
{
    static const char *const bad[] = {
        "",       "28",   "x28",    "28x",   "28x28x",     "28x28x1x1",
        "0x3",    "3x-1", "28 x28", "3x3.5", "16777217x1", "99999999999x1",
        "28x28y1"};
    struct image image = {0};
    struct why why;

    (void)state;
    assert_int_equal(image_parse("28x20x3", &image, NULL), ERR_OK);
    assert_int_equal(image.height, 28);
    assert_int_equal(image.width, 20);
    assert_int_equal(image.channels, 3);
    assert_int_equal(image_columns(&image), 28 * 20 * 3);
    assert_int_equal(image_parse("7x9", &image, NULL), ERR_OK);
    assert_int_equal(image.channels, 1);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(image_parse(bad[i], &image, &why), ERR_RANGE);
        assert_non_null(strstr(why.text, bad[i]));
        assert_int_equal(image.height, 7);
    }
}

/* Zeros and ones with a tenth of ones if `sparse`, else small numbers. */
static void fill(bool sparse)
{
    for (uint32_t i = 0; i < ROWS; i++) {
        y[i] = i % 2;
        for (uint32_t j = 0; j < COLS; j++)
            x[i][j] = sparse ? (i * 7 + j * j) % 10 == 3 : (i * 5 + j * 3) % 9;
    }
}

static struct dataset load(const char *storage, const char *shape,
                           bool intercept)
{
    const struct memory_rows rows = {.rows = ROWS,
                                     .cols = COLS,
                                     .cell = CELL_F64,
                                     .x = x,
                                     .row_step = sizeof *x,
                                     .col_step = sizeof **x,
                                     .label = y};
    const struct source_options options = {.memory = &rows,
                                           .storage = storage,
                                           .shape = shape,
                                           .intercept = intercept};
    struct dataset data = {0};

    assert_int_equal(source_load(&options, &data, NULL, NULL, NULL), ERR_OK);
    return data;
}

static void rows_become_floats(void **state)
{
    static const char *const storages[] = {"f32", "f64",   "bf16", "i8",   "u8",
                                           "bit", "pixel", "csr",  "index"};
    const uint32_t rows[] = {29, 0, 3, 3};

    (void)state;
    for (size_t s = 0; s < sizeof storages / sizeof *storages; s++) {
        for (int intercept = 0; intercept < 2; intercept++) {
            float out[4][COLS];
            struct dataset data;

            fill(s >= 5);
            data = load(storages[s], NULL, intercept != 0);
            dataset_floats(&data, rows, 4, COLS, out[0]);
            for (uint32_t i = 0; i < 4; i++) {
                for (uint32_t j = 0; j < COLS; j++)
                    assert_float_equal(out[i][j], x[rows[i]][j], 0);
            }
            dataset_close(&data);
        }
    }
}

static void a_part_is_of_images_too(void **state)
{
    const uint32_t order[] = {4, 2};
    struct dataset data, part = {0};

    (void)state;
    fill(false);
    data = load(NULL, "2x3x2", true);
    assert_int_equal(image_columns(&data.image), COLS);
    assert_int_equal(split_take(&data, order, 2, &part), ERR_OK);
    assert_int_equal(part.image.height, 2);
    assert_int_equal(part.image.width, 3);
    assert_int_equal(part.image.channels, 2);
    dataset_close(&part);
    dataset_close(&data);
}

static double divisor(const char *storage, const char *shape)
{
    struct dataset data = load(storage, shape, false);
    struct image_sizes sizes;

    assert_int_equal(image_sizes(&data, &sizes), ERR_OK);
    dataset_close(&data);
    return image_divisor(&sizes);
}

static void pixels_are_told_by_their_values(void **state)
{
    (void)state;
    fill(false); /* 0 to 8, as scikit-learn's digits are 0 to 16. */
    assert_float_equal(divisor(NULL, "3x4"), 8, 0);
    assert_float_equal(divisor("f32", "3x4"), 8, 0);
    assert_float_equal(divisor("u8", "3x4"), 8, 0);
    assert_float_equal(divisor("csr", "3x4"), 8, 0);
    assert_float_equal(divisor(NULL, NULL), 1, 0);
    x[ROWS - 1][2] = 128;
    assert_float_equal(divisor("f32", "3x4"), 255, 0);
    assert_float_equal(divisor("u8", "3x4"), 255, 0);
    x[ROWS - 1][2] = 127;
    assert_float_equal(divisor("f32", "3x4"), 127, 0);
    assert_float_equal(divisor("u8", "3x4"), 127, 0);
    x[ROWS - 1][2] = 254.5;
    assert_float_equal(divisor(NULL, "3x4"), 255, 0);
    x[ROWS - 1][2] = 65535;
    assert_float_equal(divisor(NULL, "3x4"), 65535, 0);
    x[ROWS - 1][2] = -10;
    assert_float_equal(divisor(NULL, "3x4"), 10, 0);
    x[ROWS - 1][2] = 0.5; /* Somebody scaled these. */
    assert_float_equal(divisor(NULL, "3x4"), 1, 0);
    fill(true);
    assert_float_equal(divisor(NULL, "3x4"), 1, 0);
}

/* Whatever their storage. */
static void sizes_are_those_of_values(void **state)
{
    static const char *const storages[] = {"f32", "pixel", "u8"};
    static const double value[] = {0x1.414142p-2, 200}; /* 80 / 255. */
    struct image_sizes sizes;

    (void)state;
    for (int k = 0; k < 3; k++) {
        struct dataset data;

        memset(x, 0, sizeof x);
        x[2][3] = k < 2 ? value[0] : value[1];
        x[3][0] = k < 2 ? 0 : 130;
        data = load(storages[k], "3x4", false);
        assert_int_equal(image_sizes(&data, &sizes), ERR_OK);
        assert_float_equal(sizes.least, 0, 0);
        assert_true(sizes.most == (k < 2 ? value[0] : value[1]));
        assert_true(image_largest(&sizes) == sizes.most);
        dataset_close(&data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_are_texts),
        cmocka_unit_test(rows_become_floats),
        cmocka_unit_test(a_part_is_of_images_too),
        cmocka_unit_test(pixels_are_told_by_their_values),
        cmocka_unit_test(sizes_are_those_of_values),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

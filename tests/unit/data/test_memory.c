/*
 * Rows of the calling program's: the data set of an array is that of a file
 * with the same numbers, whatever the order and the type of the array.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "data/read/memory.h"
#include "data/source.h"

enum { ROWS = 700, COLS = 130 };

/* Numbers of a kind: whole and small, bits, or any; most 0 if `thin`. */
enum kind { ANY, SMALL, BITS, BYTES, PIXELS };

static double number(enum kind kind, bool thin, uint32_t i, uint32_t j)
{
    const uint32_t u = (i * 2654435761u + j * 40503u) ^ (i << 7);

    if (thin && u % 61 != 0)
        return 0;
    return kind == BITS     ? (thin ? 1 : u >> 3 & 1)
           : kind == SMALL  ? (double)(u >> 5 & 31) - 7
           : kind == BYTES  ? (double)(u >> 5 & 255)
           : kind == PIXELS ? (u >> 5 & 255) / 255.0
                            : (double)(int32_t)u / 12345.67;
}

static double table[ROWS][COLS], label[ROWS], turned[COLS][ROWS];

static void fill(enum kind kind, bool thin)
{
    for (uint32_t i = 0; i < ROWS; i++) {
        label[i] = i % 3 == 0;
        for (uint32_t j = 0; j < COLS; j++)
            turned[j][i] = table[i][j] = number(kind, thin, i, j);
    }
}

static struct digest load(const struct source_options *options,
                          enum storage *storage)
{
    struct dataset data = {0};
    struct digest digest;
    struct why why = {0};

    if (source_load(options, &data, NULL, NULL, &why) != ERR_OK)
        fail_msg("%s", why.text);
    digest = dataset_digest(&data);
    *storage = data.storage;
    dataset_close(&data);
    return digest;
}

static struct digest load_memory(const struct memory_rows *rows,
                                 enum storage *storage)
{
    const struct source_options options = {.memory = rows, .intercept = true};

    return load(&options, storage);
}

/* The same numbers as a table of text. */
static struct digest load_text(enum storage *storage)
{
    const size_t room = (size_t)ROWS * (COLS * 25 + 8);
    char *const text = mem_new(room, 1);
    struct source_options options = {
        .spec = "x.csv", .header = HEADER_NO, .intercept = true};
    struct digest digest;
    size_t used = 0;

    assert_non_null(text);
    for (uint32_t i = 0; i < ROWS; i++) {
        for (uint32_t j = 0; j < COLS; j++)
            used += (size_t)snprintf(text + used, room - used, "%.17g,",
                                     table[i][j]);
        used += (size_t)snprintf(text + used, room - used, "%g\n", label[i]);
    }
    options.text = (struct span){text, used};
    digest = load(&options, storage);
    mem_free(text);
    return digest;
}

static struct memory_rows by_rows(void)
{
    return (struct memory_rows){.rows = ROWS,
                                .cols = COLS,
                                .cell = CELL_F64,
                                .x = table,
                                .row_step = sizeof table[0],
                                .col_step = sizeof table[0][0],
                                .label = label};
}

static struct memory_rows by_columns(void)
{
    struct memory_rows rows = by_rows();

    rows.x = turned;
    rows.row_step = sizeof turned[0][0];
    rows.col_step = sizeof turned[0];
    return rows;
}

static void check(enum kind kind, bool thin, enum storage wanted)
{
    enum storage text, c, fortran;
    const struct memory_rows rows = by_rows();
    const struct memory_rows columns = by_columns();
    struct digest one, two;

    fill(kind, thin);
    one = load_text(&text);
    two = load_memory(&rows, &c);
    assert_int_equal(text, wanted);
    assert_int_equal(c, wanted);
    assert_memory_equal(&one, &two, sizeof one);
    two = load_memory(&columns, &fortran);
    assert_int_equal(fortran, wanted);
    assert_memory_equal(&one, &two, sizeof one);
}

static void array_is_as_text(void **state)
{
    (void)state;
    check(ANY, false, STORAGE_F32);
    check(SMALL, false, STORAGE_I8);
    check(BITS, false, STORAGE_BIT);
    check(BYTES, false, STORAGE_U8);
    check(PIXELS, false, STORAGE_PIXEL);
    check(ANY, true, STORAGE_CSR);
    check(BITS, true, STORAGE_INDEX);
}

static void bytes_are_as_numbers(void **state)
{
    static uint8_t bytes[ROWS][COLS];
    struct memory_rows rows = by_rows();
    enum storage wide, narrow;
    struct digest one, two;

    (void)state;
    fill(BYTES, false);
    one = load_memory(&rows, &wide);
    for (uint32_t i = 0; i < ROWS; i++)
        for (uint32_t j = 0; j < COLS; j++)
            bytes[i][j] = (uint8_t)table[i][j];
    rows.cell = CELL_U8;
    rows.x = bytes;
    rows.row_step = sizeof bytes[0];
    rows.col_step = 1;
    two = load_memory(&rows, &narrow);
    assert_int_equal(wide, STORAGE_U8);
    assert_int_equal(narrow, STORAGE_U8);
    assert_memory_equal(&one, &two, sizeof one);
}

/* Whole numbers that fp32 does not hold are kept. */
static void rounding_is_seen(void **state)
{
    const struct memory_rows rows = by_rows();
    enum storage text, here;
    struct digest one, two;

    (void)state;
    fill(ANY, false);
    for (uint32_t i = 0; i < ROWS; i++)
        table[i][5] = 1.7e9 + i;
    one = load_text(&text);
    two = load_memory(&rows, &here);
    assert_int_equal(text, STORAGE_F64);
    assert_int_equal(here, STORAGE_F64);
    assert_memory_equal(&one, &two, sizeof one);
}

static void every_cell(void **state)
{
    static int8_t small[ROWS][COLS];
    static float narrow[ROWS][COLS];
    struct memory_rows rows = by_rows();
    enum storage storage;
    struct digest one, two;

    (void)state;
    fill(SMALL, false);
    one = load_memory(&rows, &storage);
    for (uint32_t i = 0; i < ROWS; i++)
        for (uint32_t j = 0; j < COLS; j++) {
            small[i][j] = (int8_t)table[i][j];
            narrow[i][j] = (float)table[i][j];
        }
    rows.x = small;
    rows.cell = CELL_I8;
    rows.col_step = 1;
    rows.row_step = sizeof small[0];
    two = load_memory(&rows, &storage);
    assert_memory_equal(&one, &two, sizeof one);
    rows.x = narrow;
    rows.cell = CELL_F32;
    rows.col_step = sizeof narrow[0][0];
    rows.row_step = sizeof narrow[0];
    two = load_memory(&rows, &storage);
    assert_memory_equal(&one, &two, sizeof one);
}

/* Entries of a row in falling order: they are sorted. */
static void csr_is_as_dense(void **state)
{
    static int32_t begin[ROWS + 1];
    static int64_t column[ROWS * COLS];
    static double value[ROWS * COLS];
    const struct memory_rows dense = by_rows();
    struct memory_rows csr = {.rows = ROWS,
                              .cols = COLS,
                              .cell = CELL_F64,
                              .begin = begin,
                              .begin_cell = CELL_I32,
                              .column = column,
                              .column_cell = CELL_I64,
                              .value = value,
                              .label = label};
    enum storage storage;
    struct digest one, two;
    int32_t used = 0;

    (void)state;
    fill(ANY, true);
    for (uint32_t i = 0; i < ROWS; i++) {
        for (uint32_t j = COLS; j-- > 0;)
            if (table[i][j] != 0) {
                column[used] = j;
                value[used++] = table[i][j];
            }
        begin[i + 1] = used;
    }
    one = load_memory(&dense, &storage);
    two = load_memory(&csr, &storage);
    assert_int_equal(storage, STORAGE_CSR);
    assert_memory_equal(&one, &two, sizeof one);
}

/* Wide rows in any order: backwards, and in long leaps. */
static void wide_rows_are_sorted(void **state)
{
    enum { WIDE = 100003 }; /* A prime: the leaps meet every column. */
    static const int64_t begin[] = {0, WIDE, 2 * WIDE};
    static int32_t up[2 * WIDE], other[2 * WIDE];
    static double up_value[2 * WIDE], other_value[2 * WIDE];
    struct memory_rows rows = {.rows = 2,
                               .cols = WIDE,
                               .cell = CELL_F64,
                               .begin = begin,
                               .begin_cell = CELL_I64,
                               .column = up,
                               .column_cell = CELL_I32,
                               .value = up_value,
                               .label = label};
    enum storage storage;
    struct digest one, two;

    (void)state;
    fill(ANY, true);
    for (int64_t k = 0; k < 2 * WIDE; k++) {
        up[k] = (int32_t)(k % WIDE);
        other[k] = (int32_t)(k < WIDE ? WIDE - 1 - k : k * 40503 % WIDE);
        up_value[k] = up[k] + 0.5;
        other_value[k] = other[k] + 0.5;
    }
    one = load_memory(&rows, &storage);
    rows.column = other;
    rows.value = other_value;
    two = load_memory(&rows, &storage);
    assert_memory_equal(&one, &two, sizeof one);
}

static void refuse(const struct memory_rows *rows, enum err wanted,
                   const char *sentence)
{
    const struct source_options options = {.memory = rows};
    struct dataset data = {0};
    struct why why = {0};

    assert_int_equal(source_load(&options, &data, NULL, NULL, &why), wanted);
    assert_string_equal(why.text, sentence);
}

static void what_cannot_be(void **state)
{
    static int32_t begin[3] = {0, 2, 3}, column[3] = {4, 4, 9};
    static double value[3] = {1, 2, 3};
    struct memory_rows rows = by_rows();
    struct memory_rows csr = {.rows = 2,
                              .cols = 9,
                              .cell = CELL_F64,
                              .begin = begin,
                              .begin_cell = CELL_I32,
                              .column = column,
                              .column_cell = CELL_I32,
                              .value = value,
                              .label = label};

    (void)state;
    fill(ANY, false);
    table[501][7] = (double)NAN;
    refuse(&rows, ERR_RANGE,
           "the rows: row 501, column 7: nan is not a finite number");
    table[501][7] = 1e300;
    refuse(&rows, ERR_RANGE,
           "the rows: row 501, column 7: 1e+300 is too large; at most 3.4e38 "
           "fits single precision, larger ones need --storage f64");
    rows.rows = 0;
    refuse(&rows, ERR_SHAPE, "the rows: no rows or no columns");
    refuse(&csr, ERR_RANGE,
           "the rows: row 0: two entries of one column; add them up first");
    column[0] = 1;
    refuse(&csr, ERR_RANGE,
           "the rows: row 1: an entry of a column that is not there");
    column[2] = 8;
    begin[1] = 3, begin[2] = 2;
    refuse(&csr, ERR_RANGE,
           "the rows: row 1: its entries end before they begin, or are more "
           "than there are columns");
}

/* --scale goes by way of a frame: the same rows as those of the text. */
static void scaled(void **state)
{
    const struct memory_rows rows = by_rows();
    const struct source_options options = {.memory = &rows,
                                           .scaling = SCALE_STANDARD};
    struct dataset data = {0};
    double row[COLS], sum = 0;

    (void)state;
    fill(SMALL, false);
    assert_int_equal(source_load(&options, &data, NULL, NULL, NULL), ERR_OK);
    for (uint32_t i = 0; i < ROWS; i++) {
        dataset_row_values(&data, i, row);
        sum += row[3];
    }
    assert_true(fabs(sum) < 1e-3);
    dataset_close(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(array_is_as_text),
        cmocka_unit_test(bytes_are_as_numbers),
        cmocka_unit_test(rounding_is_seen),
        cmocka_unit_test(every_cell),
        cmocka_unit_test(csr_is_as_dense),
        cmocka_unit_test(wide_rows_are_sorted),
        cmocka_unit_test(what_cannot_be),
        cmocka_unit_test(scaled),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

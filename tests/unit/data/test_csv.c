/*
 * Tables as people write them, and as they break them: each good one is
 * compared with rows written by hand, each bad one with its sentence.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "data/table/csv.h"

static enum err read_text(const char *text, const char *label,
                          struct sparse *rows, struct why *why)
{
    struct csv csv = {.wanted = {.label = label}};
    const struct text_format format = {
        .read = csv_block, .begin = csv_block_begin, .options = &csv};
    struct stage stage = {0};
    enum err err = text_blocks_read_memory(text, strlen(text), 16, &format,
                                           pool_serial(), &stage, why);

    if (err == ERR_OK)
        err = stage_unpack(&stage, rows);
    stage_close(&stage);
    csv_close(&csv);
    return err;
}

/* Two rows: label 7 with features 1 0 2.5, label 8 with 0 0 -3. */
static void assert_two_rows(const char *text, const char *label)
{
    struct sparse rows = {0};
    struct why why = {0};

    assert_int_equal(read_text(text, label, &rows, &why), ERR_OK);
    assert_int_equal(rows.rows, 2);
    assert_int_equal(rows.cols, 3);
    assert_true(rows.label[0] == 7 && rows.label[1] == 8);
    assert_int_equal(rows.start[1], 2);
    assert_int_equal(rows.start[2], 3);
    assert_int_equal(rows.index[0], 0);
    assert_int_equal(rows.index[1], 2);
    assert_int_equal(rows.index[2], 2);
    assert_true(rows.value[0] == 1);
    assert_true(rows.value[1] == 2.5);
    assert_true(rows.value[2] == -3);
    sparse_close(&rows);
}

static void test_good_tables(void **state)
{
    (void)state;
    assert_two_rows("1,0,2.5,7\n0,0,-3,8\n", NULL);
    assert_two_rows("1,0,2.5,7\r\n0,0,-3,8", NULL);
    assert_two_rows("\xef\xbb\xbf"
                    "a,b,c,y\n1,0,2.5,7\n0,0,-3,8\n",
                    NULL);
    assert_two_rows("a,y,b,c\n1,7,0,2.5\n\n0,8,0,-3\n", "y");
    assert_two_rows("a,y,b,c\n1,7,0,2.5\n0,8,0,-3\n", "2");
    assert_two_rows("1\t0\t2.5\t7\n0\t0\t-3\t8\n", "4");
    assert_two_rows("1;0;2.5;7\n0;0;-3;8\n", NULL);
    assert_two_rows("\"1\",0,\"2.5\",7\n0,\"0\" , -3 ,8\n", NULL);
    assert_two_rows("\"the \"\"a\"\", b\",b,c,\"y y\"\n1,0,25e-1,7\n"
                    "0,0,-3e+000,8\n",
                    "y y");
}

static void assert_refused(const char *text, const char *label, enum err err,
                           const char *sentence)
{
    struct sparse rows = {0};
    struct why why = {0};

    assert_int_equal(read_text(text, label, &rows, &why), err);
    assert_string_equal(why.text, sentence);
    assert_int_equal(rows.rows, 0);
}

static void test_bad_tables(void **state)
{
    (void)state;
    assert_refused("1,2,3\n4,5\n", NULL, ERR_FORMAT,
                   "line 2: 2 columns, expected 3");
    assert_refused("1,2,3\n4,5,6,7\n", NULL, ERR_FORMAT,
                   "line 2: 4 columns, expected 3");
    assert_refused("a,b\n1,2\n3,x\n", NULL, ERR_FORMAT,
                   "line 3: column 2 (b): 'x' is not a number; if it stands "
                   "for what is not known, leave the row out; if the column "
                   "holds words, add --categorical auto,:2");
    assert_refused("1,2\n3,nan\n", NULL, ERR_FORMAT,
                   "line 2: column 2: 'nan' is a missing value; --missing "
                   "mean, median, zero or indicator fills such fields in, "
                   "--drop leaves the column out");
    assert_refused("1,2\n3,inf\n", NULL, ERR_RANGE,
                   "line 2: column 2: inf; values must be finite: leave the "
                   "row out");
    assert_refused(
        "1,2\ninf,3\n", NULL, ERR_RANGE,
        "line 2: column 1: inf; values must be finite: write a number, or "
        "nothing at all and train with --missing mean");
    assert_refused("1,2\n1e39,3\n", NULL, ERR_RANGE,
                   "line 2: column 1: 1e+39 is too large; at most 3.4e38 fits "
                   "single precision, larger ones need --storage f64");
    assert_refused("1,2\n1e999,3\n", NULL, ERR_RANGE,
                   "line 2: column 1: 1e999 is too large; at most 1.8e308 fits "
                   "double precision");
    assert_refused("1,2\n,3\n", NULL, ERR_FORMAT,
                   "line 2: column 1: the field is empty; --missing mean, "
                   "median, zero or indicator fills such fields in, --drop "
                   "leaves the column out");
    assert_refused("1,2\n\"3,4\n", NULL, ERR_FORMAT,
                   "line 2: column 1: a quote is opened and not closed "
                   "again; a quote that belongs to the text is written twice");
    assert_refused("1,2\n\"3\"4,5\n", NULL, ERR_FORMAT,
                   "line 2: column 1: '4' after a closing quote; put a "
                   "separator between fields");
    assert_refused(
        "a,b\n1,2\n", "c", ERR_UNKNOWN,
        "line 1: --label: no column 'c'; there are a, b, or numbers 1 "
        "to 2");
    assert_refused(
        "1,2\n", "3", ERR_UNKNOWN,
        "line 1: --label: no column '3'; there is no header, so give a "
        "number from 1 to 2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good_tables),
        cmocka_unit_test(test_bad_tables),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

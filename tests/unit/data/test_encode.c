/*
 * A small table, encoded by hand and by the encoder: categories, pairs,
 * scaling, and a second table with things the first has not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "data/table/encode.h"

static struct frame read_frame(const char *text, const char *categorical)
{
    const struct frame_options options = {.categorical = categorical};
    struct text_source source = {0};
    struct frame frame = {0};
    struct why why = {0};

    assert_int_equal(text_open_memory(&source, text, strlen(text)), ERR_OK);
    assert_int_equal(frame_read(&source, &options, &frame, &why), ERR_OK);
    text_close(&source);
    return frame;
}

static const char table[] = "colour,size,weight,y\n"
                            "red,10,1,1\n"
                            "blue,9.0,2,0\n"
                            "red,9,3,1\n"
                            "\"green\",10,6,0\n";

static void test_categories_are_sorted(void **state)
{
    struct frame frame = read_frame(table, "colour,size");

    (void)state;
    assert_int_equal(frame.rows, 4);
    assert_int_equal(frame.cols, 3);
    assert_int_equal(frame.column[0].categories, 3);
    assert_string_equal(frame.column[0].category[0].text, "blue");
    assert_string_equal(frame.column[0].category[2].text, "red");
    assert_int_equal(frame.column[1].categories, 2); /* 9 is 9.0. */
    assert_true(frame.column[1].category[0].value == 9);
    assert_int_equal(frame.column[1].code[1], 0);
    assert_int_equal(frame.column[1].code[2], 0);
    assert_int_equal(frame_category(&frame.column[0], "green"), 1);
    assert_int_equal(frame_category(&frame.column[0], "pink"), 3);
    assert_int_equal(frame_category(&frame.column[1], "1e1"), 1);
    assert_int_equal(frame_category(&frame.column[1], "x"), 2);
    frame_close(&frame);
}

static void assert_row(const struct sparse *rows, uint32_t row,
                       const double *wanted)
{
    double x[16] = {0};

    for (size_t k = rows->start[row]; k < rows->start[row + 1]; k++)
        x[rows->index[k]] = rows->value[k];
    assert_memory_equal(x, wanted, rows->cols * sizeof *x);
}

static void test_one_hot_and_pairs(void **state)
{
    /* blue green red | 9 10 | weight | (blue,9) (green,10) (red,9) (red,10) |
     * 1 */
    static const double wanted[4][11] = {
        {0, 0, 1, 0, 1, 1, 0, 0, 0, 1, 1},
        {1, 0, 0, 1, 0, 2, 1, 0, 0, 0, 1},
        {0, 0, 1, 1, 0, 3, 0, 0, 1, 0, 1},
        {0, 1, 0, 0, 1, 6, 0, 1, 0, 0, 1},
    };
    static const double other[11] = {0, 0, 0, 1, 0, 5, 0, 0, 0, 0, 1};
    const struct encode_options options = {.all_pairs = true, .constant = true};
    struct frame frame = read_frame(table, "1,size");
    struct frame test = read_frame("a,b,c,y\npink,9,5,1\n", "1,2");
    struct frame short_one = read_frame("a,b,y\npink,9,1\n", "1,2");
    struct encoder encoder = {0};
    struct sparse rows = {0};
    struct why why = {0};

    (void)state;
    assert_int_equal(encoder_fit(&encoder, &frame, &options, &why), ERR_OK);
    assert_int_equal(encoder.cols, 11);
    assert_int_equal(encoder_rows(&encoder, &frame, &rows, &why), ERR_OK);
    for (uint32_t i = 0; i < 4; i++)
        assert_row(&rows, i, wanted[i]);
    sparse_close(&rows);
    assert_int_equal(encoder_rows(&encoder, &test, &rows, &why), ERR_OK);
    assert_row(&rows, 0, other);
    sparse_close(&rows);
    assert_int_equal(encoder_rows(&encoder, &short_one, &rows, &why),
                     ERR_SHAPE);
    assert_string_equal(why.text, "2 columns beside the label, the training "
                                  "table has 3");
    frame_close(&frame);
    frame_close(&test);
    frame_close(&short_one);
    encoder_close(&encoder);
}

static void assert_scales(const char *text)
{
    struct frame frame = read_frame(text, NULL);
    const struct encode_options standard = {.scaling = SCALE_STANDARD};
    struct encoder encoder = {0};
    struct sparse rows = {0};
    struct why why = {0};

    assert_int_equal(encoder_fit(&encoder, &frame, &standard, &why), ERR_OK);
    assert_int_equal(encoder_rows(&encoder, &frame, &rows, &why), ERR_OK);
    assert_true(fabs(rows.value[0] + 2 / sqrt(14.0 / 4)) < 1e-6);
    sparse_close(&rows);
    encoder_close(&encoder);
    frame_close(&frame);
}

/* Values whose squares would be 0, or beyond all numbers; sums, too. */
static void test_scaling_of_extremes(void **state)
{
    (void)state;
    assert_scales("1e-200,1,0\n2e-200,1,0\n3e-200,1,0\n6e-200,1,0\n");
    assert_scales("1e200,1,0\n2e200,1,0\n3e200,1,0\n6e200,1,0\n");
    assert_scales("2e307,1,0\n4e307,1,0\n6e307,1,0\n12e307,1,0\n");
}

static void test_scaling(void **state)
{
    struct frame frame = read_frame("1,5,0\n2,5,0\n3,5,0\n6,5,0\n", NULL);
    const struct encode_options standard = {.scaling = SCALE_STANDARD};
    const struct encode_options minmax = {.scaling = SCALE_MINMAX};
    struct encoder encoder = {0};
    struct sparse rows = {0};
    struct why why = {0};
    const double deviation = sqrt(14.0 / 4);

    (void)state;
    assert_int_equal(encoder_fit(&encoder, &frame, &standard, &why), ERR_OK);
    assert_int_equal(encoder_rows(&encoder, &frame, &rows, &why), ERR_OK);
    assert_true(fabs(rows.value[0] + 2 / deviation) < 1e-6);
    assert_int_equal(rows.start[3], 2); /* 3 is the mean, 5 constant. */
    sparse_close(&rows);
    encoder_close(&encoder);
    assert_int_equal(encoder_fit(&encoder, &frame, &minmax, &why), ERR_OK);
    assert_int_equal(encoder_rows(&encoder, &frame, &rows, &why), ERR_OK);
    assert_int_equal(rows.start[1], 0);
    assert_true((float)rows.value[0] == 0.2f && rows.value[2] == 1);
    sparse_close(&rows);
    encoder_close(&encoder);
    frame_close(&frame);
}

static void test_keep_and_drop(void **state)
{
    struct frame frame = read_frame("a,x,1\nb,y,2\nc,x,3\nb,z,1\n", "all");

    (void)state;
    assert_int_equal(frame_keep_labels(&frame, 1, 3), ERR_OK);
    assert_int_equal(frame.rows, 3);
    assert_int_equal(frame.column[0].categories, 3);
    assert_int_equal(frame.column[1].categories, 2); /* y is gone. */
    assert_int_equal(frame.column[1].code[2], 1);
    frame_drop(&frame, 0);
    assert_int_equal(frame.cols, 1);
    assert_string_equal(frame.column[0].category[1].text, "z");
    frame_close(&frame);
}

static void test_many_rows_grow(void **state)
{
    static char text[20000 * 8];
    struct frame frame;
    size_t at = 0;

    (void)state;
    for (unsigned i = 0; i < 10000; i++)
        at += (size_t)snprintf(text + at, 16, "%u,w%u,1\n", i, i % 777);
    frame = read_frame(text, "2");
    assert_int_equal(frame.rows, 10000);
    assert_int_equal(frame.column[1].categories, 777);
    for (unsigned i = 0; i < 10000; i++)
        assert_true(frame.column[0].number[i] == i);
    frame_close(&frame);
}

static void test_sentences(void **state)
{
    static const struct {
        const char *text, *sentence;
    } cases[] = {
        {"a,b\nx,1\ny\n", "line 3: 1 columns, expected 2"},
        {"a,b\nx,z\n", "line 2: column 2 (b): 'z' is not a number; if it "
                       "stands for what is not known, leave the row out; if "
                       "the column holds words, add --categorical "
                       "auto,:2"},
        {"a,b\n", "no rows, the first line is the header alone"},
        {"y\n1\n", "line 1: no column is left to be a feature"},
        {"a,b,y\n\"u\n\nv\",\"w\nx,1\n",
         "line 4: column 2 (b): a quote is opened and not closed again; a "
         "quote that belongs to the text is written twice"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct frame_options options = {.categorical = "all"};
        struct text_source source = {0};
        struct frame frame = {0};
        struct why why = {0};

        assert_int_equal(
            text_open_memory(&source, cases[i].text, strlen(cases[i].text)),
            ERR_OK);
        assert_int_not_equal(frame_read(&source, &options, &frame, &why),
                             ERR_OK);
        assert_string_equal(why.text, cases[i].sentence);
        text_close(&source);
    }
}

/* How many lines are read of a text before its columns are known. */
static uint64_t lines_surveyed(const char *text, size_t size)
{
    const struct frame_options options = {0};
    struct text_source source = {0};
    struct survey survey = {0};
    struct why why = {0};
    uint64_t lines;

    assert_int_equal(text_open_memory(&source, text, size), ERR_OK);
    assert_int_equal(survey_read(&source, &options, &survey, &why), ERR_OK);
    lines = source.line;
    survey_close(&survey);
    text_close(&source);
    return lines;
}

/* A file that will be refused is not read to its end first: nor one with a
 * quote that nobody closed, of which CSV_LINE_MAX is what has to be seen. */
static void test_survey_ends_at_what_is_no_row(void **state)
{
    static const char few[] = "a,b,y\n1,x,0\n1,y\n2,x,1\n3,y,0\n";
    static const char many[] = "a,b,y\n1,x,0\n1,x,0,1\n2,x,1\n3,y,0\n";
    static const char good[] = "a,b,y\n1,x,0\n\n2,x,1\n3,y,0\n";
    static const char opened[] = "a,b,y\n1,\"";
    static const char row[8] = {'2', ',', 'x', ',', '1', ',', '2', '\n'};
    const size_t rows = CSV_LINE_MAX / 8 + 1000;
    char *const text = test_malloc(sizeof opened + 8 * rows);
    size_t size = sizeof opened - 1;

    (void)state;
    assert_int_equal(lines_surveyed(good, sizeof good - 1), 5);
    assert_int_equal(lines_surveyed(few, sizeof few - 1), 3);
    assert_int_equal(lines_surveyed(many, sizeof many - 1), 3);
    memcpy(text, opened, size);
    for (size_t i = 0; i < rows; i++, size += 8)
        memcpy(text + size, row, sizeof row);
    assert_in_range(lines_surveyed(text, size), rows - 1100, rows - 900);
    test_free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_categories_are_sorted),
        cmocka_unit_test(test_one_hot_and_pairs),
        cmocka_unit_test(test_scaling),
        cmocka_unit_test(test_scaling_of_extremes),
        cmocka_unit_test(test_keep_and_drop),
        cmocka_unit_test(test_many_rows_grow),
        cmocka_unit_test(test_sentences),
        cmocka_unit_test(test_survey_ends_at_what_is_no_row),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

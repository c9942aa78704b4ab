/*
 * Tables as people have them are written to a file and loaded twice: once as a
 * training table, which leaves a schema behind, and once as another table that
 * must fit it.  Rows must come out under the training table's columns, or one
 * sentence that says why they cannot.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "data/source.h"

#define FILE_NAME "table_source.csv"

static char notes[4096];

static void keep_note(void *context, const char *sentence)
{
    (void)context;
    assert_true(strlen(notes) + strlen(sentence) + 2 < sizeof notes);
    (void)strncat(notes, sentence, sizeof notes - strlen(notes) - 1);
    (void)strncat(notes, "\n", sizeof notes - strlen(notes) - 1);
}

static void write_file(const char *text)
{
    FILE *const file = fopen(FILE_NAME, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

static enum err try_load(const char *text, const struct source_options *options,
                         struct dataset *data, struct why *why)
{
    struct source_options own = *options;
    enum err err;

    own.spec = FILE_NAME;
    own.note = keep_note;
    notes[0] = '\0';
    *why = (struct why){0};
    write_file(text);
    err = source_load(&own, data, NULL, NULL, why);
    (void)unlink(FILE_NAME);
    return err;
}

static struct dataset load(const char *text,
                           const struct source_options *options)
{
    struct dataset data = {0};
    struct why why;

    if (try_load(text, options, &data, &why) != ERR_OK)
        fail_msg("%s", why.text);
    return data;
}

static struct encoder fit(const char *text, struct source_options options)
{
    struct encoder encoder = {0};
    struct dataset data;

    options.encoder = &encoder;
    options.regression = true;
    data = load(text, &options);
    dataset_close(&data);
    return encoder;
}

/* Row 0 of `text` under the encoder; its label. */
static double judge(const char *text, struct encoder *encoder,
                    struct source_options options, double *row)
{
    struct dataset data;
    double label;

    options.encoder = encoder;
    options.regression = true;
    options.unlabelled = true;
    data = load(text, &options);
    dataset_row_values(&data, 0, row);
    label = data.y[0];
    dataset_close(&data);
    return label;
}

static void assert_row(const char *text, struct encoder *encoder,
                       const double *wanted, double label)
{
    double row[8];
    const double found = judge(text, encoder, (struct source_options){0}, row);

    assert_true(isnan(label) ? isnan(found) : found == label);
    for (uint32_t j = 0; j < encoder->cols; j++)
        assert_true(row[j] == wanted[j]);
}

static void assert_refused(const char *text, struct source_options options,
                           const char *sentence)
{
    struct dataset data = {0};
    struct why why;

    assert_int_not_equal(try_load(text, &options, &data, &why), ERR_OK);
    assert_string_equal(why.text, sentence);
}

static void test_columns_are_found_by_name(void **state)
{
    static const double wanted[] = {1, 2, 3};
    struct encoder encoder =
        fit("a,b,c,y\n1,2,3,0\n4,5,6,1\n", (struct source_options){0});

    (void)state;
    assert_row("a,b,c,y\n1,2,3,0\n", &encoder, wanted, 0);
    assert_row("c,y,b,a\n3,0,2,1\n", &encoder, wanted, 0);
    assert_row("a,b,c\n1,2,3\n", &encoder, wanted, NAN);
    assert_row("c,b,a\n3,2,1\n", &encoder, wanted, NAN);
    assert_row("id,c,b,a\nx,3,2,1\n", &encoder, wanted, NAN);
    assert_string_equal(notes, FILE_NAME
                        ": 1 column that the model was not trained on is left "
                        "alone, the first is column 1 (id)\n" FILE_NAME
                        ": no column y, the label of the training table, so "
                        "nothing is judged (--label NAME takes another "
                        "column)\n");
    assert_refused("a,c,y\n1,3,0\n",
                   (struct source_options){.encoder = &encoder},
                   FILE_NAME ": line 1: no column 'b', which the model was "
                             "trained on (3 features); columns are matched by "
                             "their names");
    encoder_close(&encoder);
}

/* A pass over all names for each column would take minutes. */
static void test_many_columns(void **state)
{
    enum { COLS = 500000, WIDTH = 8 };
    const struct source_options options = {0};
    char *const text = mem_new(3 * COLS + 3, WIDTH);
    struct dataset data;
    char *end = text;

    (void)state;
    assert_non_null(text);
    for (uint32_t i = 0; i < COLS; i++)
        end += sprintf(end, "c%u,", i);
    end += sprintf(end, "y\n");
    for (uint32_t row = 0; row < 2; row++) {
        for (uint32_t i = 0; i < COLS; i++)
            end += sprintf(end, "%u,", (i + row) % 2);
        end += sprintf(end, "%u\n", row);
    }
    data = load(text, &options);
    assert_int_equal(data.cols, COLS);
    dataset_close(&data);
    mem_free(text);
}

static void test_columns_are_found_by_place(void **state)
{
    static const double wanted[] = {1, 2, 3};
    const struct source_options second = {.label = "2"};
    struct encoder encoder = fit("1,0,2,3\n4,1,5,6\n", second);
    double row[3];

    (void)state;
    assert_row("1,0,2,3\n", &encoder, wanted, 0);
    assert_row("1,2,3\n", &encoder, wanted, NAN);
    assert_row("p,q,r\n1,2,3\n", &encoder, wanted, NAN);
    assert_true(judge("1,2,3,7\n", &encoder,
                      (struct source_options){.label = "4"}, row) == 7);
    assert_true(row[0] == 1 && row[1] == 2 && row[2] == 3);
    assert_true(isnan(judge("1,0,2,3\n", &encoder,
                            (struct source_options){.label = "none"}, row)));
    assert_true(row[0] == 1 && row[1] == 2 && row[2] == 3);
    assert_refused("1,2\n", (struct source_options){.encoder = &encoder},
                   FILE_NAME ": line 1: 2 columns; the model was trained on 3 "
                             "features, so a table without names has 3 "
                             "columns, or 4 with the label as column 2");
    encoder_close(&encoder);
}

/* Whether the one column more is the label or what was dropped nobody knows. */
static void test_dropped_columns(void **state)
{
    static const double wanted[] = {1, 2};
    struct encoder encoder =
        fit("9,1,2,0\n8,4,5,1\n", (struct source_options){.drop = "1"});

    (void)state;
    assert_int_equal(encoder.cols, 2);
    assert_row("9,1,2,0\n", &encoder, wanted, 0);
    assert_row("1,2\n", &encoder, wanted, NAN);
    assert_refused("9,1,2\n", (struct source_options){.encoder = &encoder},
                   FILE_NAME ": line 1: 3 columns; the model was trained on 2 "
                             "of 4 columns, so a table without names has 4 "
                             "columns, or 2 without labels");
    encoder_close(&encoder);
    encoder = fit("id,a,b,y\nx1,1,2,0\nx2,4,5,1\n",
                  (struct source_options){.drop = "id"});
    assert_int_equal(encoder.cols, 2);
    assert_string_equal(encoder.schema.name[0], "a");
    encoder_close(&encoder);
    assert_refused("a,y\n1,2\n", (struct source_options){.drop = "z"},
                   FILE_NAME ": line 1: --drop: no column 'z'; there are a, "
                             "y, or numbers 1 to 2");
}

static void test_words_become_categories(void **state)
{
    static const double male[] = {22, 0, 1, 7};
    struct encoder encoder =
        fit("age,sex,fare,y\n22,male,7,no\n30,female,8,yes\n40,male,9,no\n",
            (struct source_options){0});

    (void)state;
    assert_string_equal(notes, FILE_NAME
                        ": columns of words become one 0/1 column for each "
                        "word: sex (2) (--drop leaves columns out)\n");
    assert_int_equal(encoder.classes.categories, 2);
    assert_row("sex,fare,age,y\nmale,7,22,yes\n", &encoder, male, 1);
    encoder_close(&encoder);
    /* A word among numbers is a slip. */
    assert_refused("a,y\n1,0\n2,1\nthree,0\n4,1\n", (struct source_options){0},
                   FILE_NAME ": line 4: column 1 (a): 'three' is not a number; "
                             "if it stands for what is not known, empty the "
                             "field and add --missing mean; if the column "
                             "holds words, add --categorical auto,:1");
    assert_refused("a,b,y\nu,1,0\nv,2,1\n",
                   (struct source_options){.categorical = "none"},
                   FILE_NAME ": line 2: column 1 (a): 'u' is not a number; if "
                             "it stands for what is not known, empty the field "
                             "and add --missing mean; if the column holds "
                             "words, add --categorical auto,:1");
}

/* What is read a second time is kept as wide as it was asked for, and leaves
 * no sentence behind. */
static void test_second_reading(void **state)
{
    const struct source_options wide = {.storage = "f64"};
    struct dataset data = {0};
    struct why why;
    double row[3];

    (void)state;
    assert_int_equal(try_load("w,x,y\nu,.1,0\nv,.2,1\n", &wide, &data, &why),
                     ERR_OK);
    assert_string_equal(why.text, "");
    dataset_row_values(&data, 0, row);
    assert_true(row[0] == 1 && row[1] == 0 && row[2] == .1);
    dataset_close(&data);
    assert_int_equal(
        try_load("1 0:.1\n-1 1:.2\n",
                 &(struct source_options){.storage = "f64", .format = "libsvm"},
                 &data, &why),
        ERR_OK);
    assert_string_equal(why.text, "");
    dataset_row_values(&data, 0, row);
    assert_true(row[0] == .1);
    dataset_close(&data);
}

static void test_booleans(void **state)
{
    static const double wanted[] = {1, 5};
    struct encoder encoder =
        fit("a,b,y\nTrue,5,False\nfalse,6,True\n", (struct source_options){0});

    (void)state;
    assert_int_equal(encoder.cols, 2);
    assert_int_equal(encoder.classes.categories, 2);
    assert_string_equal(encoder.classes.category[1].text, "True");
    assert_row("a,b,y\nTrue,5,True\n", &encoder, wanted, 1);
    assert_row("a,b\ntrue,5\n", &encoder, wanted, NAN);
    encoder_close(&encoder);
}

static void test_missing_fields(void **state)
{
    static const char text[] = "a,w,y\n1,u,0\n,v,1\n4,NA,0\n1,u,1\n";
    static const struct {
        enum missing how;
        double a;
        uint32_t cols;
    } cases[] = {{MISSING_MEAN, 2, 3},
                 {MISSING_MEDIAN, 1, 3},
                 {MISSING_ZERO, 0, 3},
                 {MISSING_INDICATOR, 2, 5}};
    double row[8];

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct encoder encoder =
            fit(text, (struct source_options){.missing = cases[i].how});

        assert_int_equal(encoder.cols, cases[i].cols);
        (void)judge("a,w\n?,null\n", &encoder, (struct source_options){0}, row);
        assert_true(row[0] == cases[i].a);
        if (cases[i].how == MISSING_INDICATOR)
            assert_true(row[1] == 1 && row[2] == 0 && row[3] == 0 &&
                        row[4] == 1);
        else
            assert_true(row[1] == 0 && row[2] == 0);
        encoder_close(&encoder);
    }
    assert_refused(text, (struct source_options){0},
                   FILE_NAME ": line 3: column 1 (a): the field is empty; "
                             "--missing mean, median, zero or indicator fills "
                             "such fields in, --drop leaves the column out");
    assert_refused("a,y\n1,0\n2,NA\n",
                   (struct source_options){.missing = MISSING_MEAN},
                   FILE_NAME ": line 3: column 2 (y): the label is missing "
                             "('NA'); leave the row out");
}

/* A model that was never shown gaps does not know what to put there; rows to
 * be judged need no label. */
static void test_missing_fields_to_be_judged(void **state)
{
    struct encoder encoder =
        fit("a,b,y\n1,2,0\n3,4,1\n", (struct source_options){0});
    const double wanted[] = {1, 2};

    (void)state;
    assert_refused("a,b,y\n1,,0\n",
                   (struct source_options){.encoder = &encoder},
                   FILE_NAME ": line 2: column 2 (b): a missing value (''), "
                             "and the model was trained to refuse them; fill "
                             "it in, or train with --missing mean");
    assert_row("a,b,y\n1,2,NA\n", &encoder, wanted, NAN);
    encoder_close(&encoder);
}

static uint32_t rows_of(const char *text, struct source_options options)
{
    struct dataset data = load(text, &options);
    const uint32_t rows = data.rows;

    dataset_close(&data);
    return rows;
}

static void test_headers(void **state)
{
    const struct source_options no = {.header = HEADER_NO};
    const struct source_options yes = {.header = HEADER_YES};

    (void)state;
    /* numpy's names; years; an index in front. */
    assert_int_equal(rows_of("0,1\n5,1\n6,0\n", (struct source_options){0}), 2);
    assert_int_equal(
        rows_of("2020,2021,2022\n5,1,0\n6,0,1\n", (struct source_options){0}),
        2);
    assert_string_equal(notes, FILE_NAME
                        ": the first line counts up from 2020 and is taken for "
                        "a header (--header no: it is a row)\n");
    assert_int_equal(rows_of("2020,2021,2022\n5,1,0\n6,0,1\n", no), 3);
    assert_int_equal(
        rows_of(",0,1\n0,5,1\n1,6,0\n", (struct source_options){0}), 2);
    assert_non_null(strstr(notes, "leave it out with --drop :1"));
    assert_int_equal(rows_of("5,1\n6,0\n", (struct source_options){0}), 2);
    assert_int_equal(rows_of("5,1\n6,0\n", yes), 1);
    /* Words and numbers in one header. */
    assert_int_equal(
        rows_of("age,2020,y\n5,1,0\n6,0,1\n", (struct source_options){0}), 2);
    assert_int_equal(
        rows_of("nanos,infos,y\n5,1,0\n6,0,1\n", (struct source_options){0}),
        2);
    /* Words only: names do not come again, values do. */
    assert_int_equal(
        rows_of("w,y\nu,p\nv,q\nu,p\n", (struct source_options){0}), 3);
    assert_int_equal(
        rows_of("u,p\nv,q\nu,p\nv,q\n", (struct source_options){0}), 4);
}

static void test_separators(void **state)
{
    (void)state;
    assert_int_equal(
        rows_of("a;b;y\n1;2;0\n3;4;1\n", (struct source_options){0}), 2);
    assert_int_equal(rows_of("a|b|y\r\n1|\"2\"|0\r\n3|4|1\r\n",
                             (struct source_options){.separator = "|"}),
                     2);
    assert_int_equal(rows_of("\xef\xbb\xbf"
                             "a\tb\ty\n1\t2\t0\n",
                             (struct source_options){.separator = "tab"}),
                     1);
    assert_refused("a,y\n1,0\n", (struct source_options){.separator = "::"},
                   FILE_NAME ": --separator ::: one character, or tab");
}

/* A column that is constant but for rounding must not blow up what is a little
 * beside it. */
static void test_constant_column(void **state)
{
    char text[16384] = "a,b,y\n";
    struct encoder encoder;
    double row[2];

    (void)state;
    for (int i = 0; i < 1000; i++)
        (void)snprintf(text + strlen(text), 16, ".1,%d,%d\n", i % 7, i % 2);
    encoder = fit(text, (struct source_options){.scaling = SCALE_STANDARD});
    (void)judge("a,b\n.2,3\n", &encoder, (struct source_options){0}, row);
    assert_true(fabs(row[0]) < 1);
    encoder_close(&encoder);
}

static void test_zero_based_rows(void **state)
{
    static const char text[] = "1 0:5 2:7\n-1 1:6\n";
    struct encoder encoder = {0};
    struct source_options options = {.format = "libsvm", .encoder = &encoder};
    struct dataset data = load(text, &options);
    double row[3];

    (void)state;
    assert_string_equal(notes, FILE_NAME
                        ": there is an index 0, so indices are taken to start "
                        "at 0 (--zero-based)\n");
    assert_true(encoder.kind == ENCODER_ROWS && encoder.from_zero);
    assert_int_equal(data.cols, 3);
    dataset_row_values(&data, 0, row);
    assert_true(row[0] == 5 && row[1] == 0 && row[2] == 7);
    dataset_close(&data);
    /* Rows without a 0 are still counted as the model's. */
    data = load("1 1:6\n", &options);
    dataset_row_values(&data, 0, row);
    assert_true(row[0] == 0 && row[1] == 6);
    dataset_close(&data);
    encoder_close(&encoder);
}

/* Which spelling names a category must not depend on the order of rows. */
static void test_category_of_two_spellings(void **state)
{
    static const char *const texts[] = {"a,y\n9.0,0\n9,1\n7,0\n",
                                        "a,y\n9,0\n9.0,1\n7,0\n"};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct encoder encoder =
            fit(texts[i], (struct source_options){.categorical = "all"});

        assert_string_equal(encoder.column[0].known.category[1].text, "9");
        encoder_close(&encoder);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns_are_found_by_name),
        cmocka_unit_test(test_many_columns),
        cmocka_unit_test(test_columns_are_found_by_place),
        cmocka_unit_test(test_dropped_columns),
        cmocka_unit_test(test_words_become_categories),
        cmocka_unit_test(test_second_reading),
        cmocka_unit_test(test_booleans),
        cmocka_unit_test(test_missing_fields),
        cmocka_unit_test(test_missing_fields_to_be_judged),
        cmocka_unit_test(test_headers),
        cmocka_unit_test(test_separators),
        cmocka_unit_test(test_constant_column),
        cmocka_unit_test(test_zero_based_rows),
        cmocka_unit_test(test_category_of_two_spellings),
    };

    return cmocka_run_group_tests_name("table_source", tests, NULL, NULL);
}

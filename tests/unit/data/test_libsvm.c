/*
 * A table of texts that must be read, with the rows they hold, and a table of
 * texts that must be refused, with the exact sentence the user will see.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "data/read/libsvm.h"

static enum err read_text(const char *text, size_t size, struct sparse *sparse,
                          struct why *why)
{
    struct text_source source = {0};
    enum err err;

    assert_int_equal(text_open_memory(&source, text, size), ERR_OK);
    err = libsvm_read(&source, sparse, why);
    text_close(&source);
    return err;
}

static void test_rows(void **state)
{
    static const char text[] = "\xef\xbb\xbf"
                               "+1 1:0.5 3:2\r\n"
                               "\n"
                               "# a comment of its own\n"
                               "  -1\t2:1.225e+006  # tail: 5:nan\n"
                               "3.25\n"
                               "0 00002:-1e-3 16777216:3.4e38";
    static const double labels[] = {1, -1, 3.25, 0};
    static const size_t starts[] = {0, 2, 3, 3, 5};
    static const uint32_t indices[] = {0, 2, 1, 1, 16777215};
    static const double values[] = {0.5, 2, 1225000, -1e-3, 3.4e38};
    struct sparse sparse = {0};
    struct why why = {0};

    (void)state;
    assert_int_equal(read_text(text, sizeof text - 1, &sparse, &why), ERR_OK);
    assert_int_equal(sparse.rows, 4);
    assert_int_equal(sparse.cols, 16777216);
    assert_memory_equal(sparse.label, labels, sizeof labels);
    assert_memory_equal(sparse.start, starts, sizeof starts);
    assert_memory_equal(sparse.index, indices, sizeof indices);
    assert_memory_equal(sparse.value, values, sizeof values);
    sparse_close(&sparse);
}

static const struct {
    const char *text;
    enum err err;
    const char *sentence;
} refusals[] = {
    {"", ERR_FORMAT, "no rows; expected lines such as '+1 1:0.5 3:2'"},
    {"\n# nothing\n\r\n", ERR_FORMAT,
     "no rows; expected lines such as '+1 1:0.5 3:2'"},
    {"1 1:1\n1 0:1\n", ERR_MISMATCH,
     "line 2: index 0; LIBSVM indices start at 1, or at 0 with --zero-based"},
    {"1 000:1\n", ERR_MISMATCH,
     "line 1: index 0; LIBSVM indices start at 1, or at 0 with --zero-based"},
    {"\n\n1 5:1 3:1", ERR_FORMAT,
     "line 3: index 3 after 5; indices must increase along a line"},
    {"1 3:1 3:1", ERR_FORMAT,
     "line 1: index 3 twice; give each feature once a line"},
    {"1 16777217:1", ERR_TOOBIG,
     "line 1: index 16777217; at most 16777216 features are supported"},
    {"1 99999999999999999999999:1", ERR_TOOBIG,
     "line 1: index 99999999999999999999999; at most 16777216 features are "
     "supported"},
    {"1 -3:1", ERR_FORMAT,
     "line 1: index '-3' is not a whole number; LIBSVM indices are 1, 2, 3, "
     "..."},
    {"1 :1", ERR_FORMAT,
     "line 1: index '' is not a whole number; LIBSVM indices are 1, 2, 3, "
     "..."},
    {"1 1.5:1", ERR_FORMAT,
     "line 1: index '1.5' is not a whole number; LIBSVM indices are 1, 2, 3, "
     "..."},
    {"1 5", ERR_FORMAT,
     "line 1: '5' is not index:value; if this is a table with blanks, add "
     "--input csv --separator ' '"},
    {"1 1:1\r1 1:1\n", ERR_FORMAT,
     "line 1: feature 1: value '1?1' is not a number"},
    {"1 5: 3", ERR_FORMAT,
     "line 1: feature 5: value missing; write 5:VALUE without blanks"},
    {"1 5:abc", ERR_FORMAT, "line 1: feature 5: value 'abc' is not a number"},
    {"1 5:0x10", ERR_FORMAT, "line 1: feature 5: value '0x10' is not a number"},
    {"1 5:1:2", ERR_FORMAT, "line 1: feature 5: value '1:2' is not a number"},
    {"1 5:1,5", ERR_FORMAT, "line 1: feature 5: value '1,5' is not a number"},
    {"1 5:NaN", ERR_RANGE,
     "line 1: feature 5: value NaN; values must be finite"},
    {"1 5:-inf", ERR_RANGE,
     "line 1: feature 5: value -inf; values must be finite"},
    {"1 5:1e39", ERR_RANGE,
     "line 1: feature 5: value 1e39 is too large; at most 3.4e38 fits single "
     "precision, larger ones need --storage f64"},
    {"1 5:-1e999", ERR_RANGE,
     "line 1: feature 5: value -1e999 is too large; at most 1.8e308 fits "
     "double precision"},
    {"1:2 2:3", ERR_FORMAT,
     "line 1: label missing; a line starts with a number, then index:value "
     "pairs"},
    {"abc 1:1", ERR_FORMAT,
     "line 1: label 'abc' is not a number; if this is a table, add --input "
     "csv"},
    {"1,2 1:1", ERR_FORMAT,
     "line 1: label '1,2' is not a number; if this is a table, add --input "
     "csv"},
    {"nan 1:1", ERR_RANGE, "line 1: label nan; labels must be finite"},
    {"1e999 1:1", ERR_RANGE, "line 1: label 1e999 is too large"},
    {"2 qid:3 1:1", ERR_UNSUPPORTED,
     "line 1: qid: ranking data are not supported; remove the qid: fields"},
    {"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx 1:1", ERR_FORMAT,
     "line 1: label 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...' is not a number; if "
     "this is a table, add --input csv"},
    {"\xff-\x01 1:1", ERR_FORMAT,
     "line 1: label '?-?' is not a number; if this is a table, add --input "
     "csv"},
};

static void test_refusals(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        const char *const text = refusals[i].text;
        struct sparse sparse = {0};
        struct why why = {0};

        assert_int_equal(read_text(text, strlen(text), &sparse, &why),
                         refusals[i].err);
        assert_string_equal(why.text, refusals[i].sentence);
        assert_int_equal(sparse.rows, 0);
        assert_null(sparse.start);
    }
}

static void test_nul_byte(void **state)
{
    static const char text[] = "1 1:1\0"
                               "2\n";
    struct sparse sparse = {0};
    struct why why = {0};

    (void)state;
    assert_int_equal(read_text(text, sizeof text - 1, &sparse, &why),
                     ERR_FORMAT);
    assert_string_equal(why.text,
                        "line 1: feature 1: value '1?2' is not a number");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_nul_byte),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Texts that are a matrix and texts that are not, each with its sentence.
 */
#include "code/matrix_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void test_reads(void **state)
{
    static const char *const texts[] = {
        "1,0,2.5\n0,-1e-3,4\n",
        "# made by hand\n\n 1 , 0\t, 2.5\r\n0,-0.001,4",
        "1 0 2.5\n0 -.001 4\n#",
    };
    const double want[] = {1, 0, 2.5, 0, -1e-3, 4};

    (void)state;
    for (uint32_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct code_matrix matrix = {0};
        struct why why = {0};

        if (matrix_parse(&matrix, texts[i], strlen(texts[i]), &why) != ERR_OK)
            fail_msg("%s", why.text);
        assert_int_equal(matrix.rows, 2);
        assert_int_equal(matrix.cols, 3);
        assert_memory_equal(matrix.entry, want, sizeof want);
        matrix_close(&matrix);
        matrix_close(&matrix);
    }
}

static void test_refuses(void **state)
{
    static const struct {
        const char *text, *why;
        enum err err;
    } rows[] = {
        {"1,2\n3\n", "line 2: 1 numbers, expected 2 as in the first row",
         ERR_FORMAT},
        {"1,2\n\n3,4,5\n", "line 3: 3 numbers, expected 2 as in the first row",
         ERR_FORMAT},
        {"1,x\n", "line 1: `x` is not a number", ERR_FORMAT},
        {"1,,2\n", "line 1: `` is not a number", ERR_FORMAT},
        {"1,2,\n", "line 1: `` is not a number", ERR_FORMAT},
        {"1,nan\n", "line 1: nan is not finite", ERR_FORMAT},
        {"1,-inf\n", "line 1: -inf is not finite", ERR_FORMAT},
        {"1,1e999\n", "line 1: `1e999` is not a number", ERR_FORMAT},
        {"", "there is no matrix in it", ERR_SHAPE},
        {"# nothing\n\n", "there is no matrix in it", ERR_SHAPE},
        {"1,2\n0,0\n", "row 2 is all zeros: that worker would do nothing",
         ERR_SHAPE},
        {"1,0\n2,0\n", "column 2 is all zeros: nobody would compute that part",
         ERR_SHAPE},
    };

    (void)state;
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct code_matrix matrix = {0};
        struct why why = {0};

        assert_int_equal(
            matrix_parse(&matrix, rows[i].text, strlen(rows[i].text), &why),
            rows[i].err);
        assert_string_equal(why.text, rows[i].why);
        assert_null(matrix.entry);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads),
        cmocka_unit_test(test_refuses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

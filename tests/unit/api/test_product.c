/*
 * muster_product by forked workers: slices of arrays of any type, deaths on the
 * way, a stop, and what is refused before anybody is forked.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "muster.h"

enum { ROWS = 30, INNER = 7, COUNT = 5 };

static double a[ROWS][INNER];
static float b[COUNT][INNER]; /* B's columns, one after the other. */

static struct muster_matrix matrix_a(void)
{
    struct muster_matrix matrix = MUSTER_INIT(struct muster_matrix);

    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < INNER; j++)
            a[i][j] = sin(i + 3 * j);
    matrix.values = a;
    matrix.type = MUSTER_DOUBLE;
    matrix.rows = ROWS;
    matrix.columns = INNER;
    matrix.row_step = sizeof a[0];
    matrix.column_step = sizeof a[0][0];
    return matrix;
}

static struct muster_matrix matrix_b(void)
{
    struct muster_matrix matrix = MUSTER_INIT(struct muster_matrix);

    for (int j = 0; j < COUNT; j++)
        for (int i = 0; i < INNER; i++)
            b[j][i] = (float)cos(2 * i - j);
    matrix.values = b;
    matrix.type = MUSTER_FLOAT;
    matrix.rows = INNER;
    matrix.columns = COUNT;
    matrix.row_step = sizeof b[0][0];
    matrix.column_step = sizeof b[0];
    return matrix;
}

static struct muster_recipe *recipe_of(const char *code, const char *chaos)
{
    struct muster_recipe *recipe;

    assert_int_equal(muster_recipe_new(&recipe, NULL), MUSTER_OK);
    assert_int_equal(muster_set(recipe, "n", "4", NULL), MUSTER_OK);
    assert_int_equal(muster_set(recipe, "code", code, NULL), MUSTER_OK);
    if (chaos != NULL)
        assert_int_equal(muster_set(recipe, "chaos", chaos, NULL), MUSTER_OK);
    return recipe;
}

static void assert_product(const double *out)
{
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COUNT; j++) {
            double sum = 0;

            for (int k = 0; k < INNER; k++)
                sum += a[i][k] * (double)b[j][k];
            assert_true(fabs(out[i * COUNT + j] - sum) < 1e-12);
        }
    }
}

static void test_workers_die(void **state)
{
    static const struct {
        const char *code, *chaos;
    } cases[] = {{"mds:k=2", NULL},
                 {"mds:k=2", "kill:w1@1,kill:w3@3"},
                 {"uncoded", "kill:w2@2"}};
    const struct muster_matrix left = matrix_a(), right = matrix_b();

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct muster_recipe *recipe = recipe_of(cases[i].code, cases[i].chaos);
        struct muster_product_info info =
            MUSTER_INIT(struct muster_product_info);
        double out[ROWS * COUNT];
        char why[MUSTER_WHY_SIZE];

        assert_int_equal(muster_product(recipe, &left, &right, out, &info, why),
                         MUSTER_OK);
        assert_string_equal(why, "");
        assert_product(out);
        assert_true(info.residual <= 1e-12);
        assert_int_equal(info.approximate, 0);
        assert_true(info.seconds > 0);
        muster_recipe_free(recipe);
    }
}

static int stop_at_two(void *context, const struct muster_progress *progress)
{
    (void)context;
    return progress->step >= 2;
}

static void test_stopped(void **state)
{
    const struct muster_matrix left = matrix_a(), right = matrix_b();
    struct muster_recipe *recipe = recipe_of("mds:k=2", NULL);
    double out[ROWS * COUNT] = {0};

    (void)state;
    assert_int_equal(muster_set(recipe, "delay", "shifted:0.2,0", NULL),
                     MUSTER_OK);
    muster_listen(recipe, stop_at_two, NULL, NULL);
    assert_int_equal(muster_product(recipe, &left, &right, out, NULL, NULL),
                     MUSTER_STOPPED);
    for (int i = 0; i < ROWS * COUNT; i++)
        assert_true(out[i] == 0);
    muster_recipe_free(recipe);
}

static void refused(const char *code, const struct muster_matrix *left,
                    const struct muster_matrix *right,
                    struct muster_product_info *info, enum muster_status status,
                    const char *sentence)
{
    struct muster_recipe *recipe = recipe_of(code, NULL);
    double out[ROWS * COUNT];
    char why[MUSTER_WHY_SIZE];

    assert_int_equal(muster_product(recipe, left, right, out, info, why),
                     status);
    assert_non_null(strstr(why, sentence));
    muster_recipe_free(recipe);
}

static void test_refused(void **state)
{
    struct muster_product_info large = {.size = sizeof large + 8};
    struct muster_matrix left = matrix_a(), right = matrix_b();

    (void)state;
    refused("steal", &left, &right, NULL, MUSTER_BAD_OPTION,
            "code steal adds up sums over rows");
    refused("mds:k=5", &left, &right, NULL, MUSTER_BAD_OPTION,
            "k=5 answers are more than the 4 workers");
    refused("mds", NULL, &right, NULL, MUSTER_BAD_OPTION, "no matrix");
    refused("mds", &left, &right, &large, MUSTER_BAD_VERSION, "");
    right.rows--;
    refused("mds", &left, &right, NULL, MUSTER_BAD_DATA,
            "A has 7 columns and B has 6 rows");
    right.rows++;
    left.rows = 2;
    refused("mds:k=3", &left, &right, NULL, MUSTER_BAD_DATA, "A has 2 rows");
    left.rows = ROWS;
    a[1][2] = NAN;
    refused("mds", &left, &right, NULL, MUSTER_BAD_DATA, "row 2, column 3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_workers_die),
        cmocka_unit_test(test_stopped),
        cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

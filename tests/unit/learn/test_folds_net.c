/*
 * Cross-validation and grids of networks: the model of a fold is the one that a
 * training on a file of its rows alone gives, bit for bit, so that nothing it
 * chose has seen the rows that are left out; and those are judged by it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "learn/fit.h"
#include "learn/grid.h"

#define ALL_FILE  "test_folds_net_all.csv"
#define PART_FILE "test_folds_net_part.csv"
#define REST_FILE "test_folds_net_rest.csv"
#define ROWS      120u
#define FOLDS     3u

static struct recipe recipe, plain;
static struct setup setup, alone;
static struct folds folds;
static struct trial trial;
static struct grid grid;
static struct why why;

static int end(void **state)
{
    (void)state;
    grid_close(&grid);
    trial_close(&trial);
    folds_close(&folds);
    setup_close(&setup);
    setup_close(&alone);
    recipe_close(&recipe);
    recipe_close(&plain);
    why = (struct why){0};
    (void)unlink(ALL_FILE);
    (void)unlink(PART_FILE);
    (void)unlink(REST_FILE);
    return 0;
}

/* Columns far from mean 0 and deviation 1, and one row far from the others. */
static void write_row(FILE *file, bool classes, uint32_t row)
{
    const double x = 50 + 7 * (row % 11) + (row == 37 ? 500 : 0);
    const double z = 0.001 * (row * row % 17);
    const double y = classes ? (row % 11 > 4) : 900 + 3 * x + 0.25 * row;

    assert_true(fprintf(file, "%.9g,%.9g,%.9g\n", x, z, y) > 0);
}

/* Rows that the first fold leaves out, or the others; without folds all. */
static void write_rows(const char *name, bool classes, const struct folds *of,
                       bool held)
{
    FILE *file = fopen(name, "wb");

    assert_non_null(file);
    assert_true(fprintf(file, "x,z,y\n") > 0);
    for (uint32_t row = 0; row < ROWS; row++)
        if (of == NULL || (of->of[row] == 0) == held)
            write_row(file, classes, row);
    assert_int_equal(fclose(file), 0);
}

/* What is said of a training: pairs of names and texts, a NULL behind them. */
static void load(struct recipe *said, struct setup *made, const char *data,
                 const char *net, const char *const *more)
{
    assert_int_equal(recipe_init(said, &why), ERR_OK);
    assert_int_equal(recipe_set(said, "data", data, &why), ERR_OK);
    assert_int_equal(recipe_set(said, "net", net, &why), ERR_OK);
    assert_int_equal(recipe_set(said, "threads", "2", &why), ERR_OK);
    for (; *more != NULL; more += 2)
        assert_int_equal(recipe_set(said, more[0], more[1], &why), ERR_OK);
    assert_int_equal(setup_workers(made, said, &why), ERR_OK);
    if (setup_load(made, said, &why) != ERR_OK)
        fail_msg("%s", why.text);
}

static const char *net_of(bool classes)
{
    return classes ? "dense4 relu dense2" : "dense4 tanh dense1";
}

/* The first fold against a training on its rows. */
static void compare(bool classes, const struct folds *of,
                    const struct trial *judged, const char *const *more)
{
    struct train_result result;
    struct fit fit = {.setup = &alone};
    const struct fold *const fold = &judged->fold[0];
    struct metrics metrics;

    write_rows(PART_FILE, classes, of, false);
    write_rows(REST_FILE, classes, of, true);
    load(&plain, &alone, PART_FILE, net_of(classes), more);
    assert_int_equal(fit_alone(&fit, &result, &why), ERR_OK);
    assert_true(digest_equal(&fold->hash, &result.hash));
    assert_int_equal(fold->steps, result.steps);
    assert_int_equal(fit_settle(&alone, &result), ERR_OK);
    assert_true(fold->objective ==
                result.outcome.objective * alone.shown_factor);
    metrics = setup_measure(&alone, &alone.test, result.weights);
    if (classes)
        assert_true(fabs(metrics.logloss - fold->metrics.logloss) < 1e-12);
    else
        assert_true(fabs(metrics.mse / fold->metrics.mse - 1) < 1e-12);
    train_result_close(&result);
}

static void check_folds(void **state, bool classes, const char *batch,
                        const char *shuffle)
{
    const struct trial_hooks nobody = {0};
    const char *const more[] = {
        "folds", "3", "passes", "5", "batch", batch, "shuffle", shuffle, NULL,
    };
    const char *const again[] = {
        "test", REST_FILE, "passes", "5",  "batch",
        batch,  "shuffle", shuffle,  NULL,
    };

    write_rows(ALL_FILE, classes, NULL, false);
    load(&recipe, &setup, ALL_FILE, net_of(classes), more);
    assert_int_equal(
        folds_validate(&setup, &recipe, &nobody, &folds, &trial, &why), ERR_OK);
    assert_int_equal(trial.folds, FOLDS);
    compare(classes, &folds, &trial, again);
    (void)end(state);
}

/* Of all rows in every step, and of batches. */
static void test_classes(void **state)
{
    check_folds(state, true, "128", "rows");
    check_folds(state, true, "16", "rows");
}

static void test_numbers(void **state)
{
    check_folds(state, false, "128", "rows");
    check_folds(state, false, "16", "rows");
    check_folds(state, false, "16", "local");
}

/* Whoever names a rate has no cosine, as in a plain training, though the line
 * before a grid speaks of one. */
static void test_grid(void **state)
{
    const struct trial_hooks nobody = {0};
    const char *const more[] = {"folds", "3", NULL};
    const char *const again[] = {"test",         REST_FILE, "lr",
                                 "0.01",         "batch",   "16",
                                 "weight-decay", "0.001",   NULL};
    const char *const all[] = {"lr",           "0.01",  "batch", "16",
                               "weight-decay", "0.001", NULL};

    (void)state;
    write_rows(ALL_FILE, false, NULL, false);
    load(&recipe, &setup, ALL_FILE, net_of(false), more);
    assert_int_equal(recipe_set(&recipe, "grid",
                                "lr=0.01 batch=16 weight-decay=0.001", &why),
                     ERR_OK);
    assert_int_equal(grid_check(&recipe, &why), ERR_OK);
    assert_int_equal(grid_parse(&grid, recipe_text(&recipe, OPT_GRID), &why),
                     ERR_OK);
    assert_int_equal(grid_prepare(&grid, &setup, &recipe, &why), ERR_OK);
    assert_int_equal(grid_search(&grid, &setup, &nobody, &why), ERR_OK);
    compare(false, &grid.folds, &grid.trial[0], again);
    /* The best on all rows is that of who says so at once. */
    assert_int_equal(grid_take_best(&grid, &setup, &recipe, &why), ERR_OK);
    setup_close(&alone);
    recipe_close(&plain);
    load(&plain, &alone, ALL_FILE, net_of(false), all);
    assert_true(setup.optim.schedule == alone.optim.schedule);
    assert_int_equal(setup.optim.steps, alone.optim.steps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_classes, end),
        cmocka_unit_test_teardown(test_numbers, end),
        cmocka_unit_test_teardown(test_grid, end),
    };

    return cmocka_run_group_tests_name("folds_net", tests, NULL, NULL);
}

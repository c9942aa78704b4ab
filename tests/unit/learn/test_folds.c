/*
 * Cross-validation and grids over generated rows: what they find depends
 * neither on the number of threads nor on who came first, and they can be
 * stopped.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "learn/grid.h"

static struct recipe recipe;
static struct setup setup;
static struct folds folds;
static struct trial trial;
static struct grid grid;
static struct why why;

static void set(const char *name, const char *text)
{
    assert_int_equal(recipe_set(&recipe, name, text, &why), ERR_OK);
}

static void prepare(const char *threads)
{
    assert_int_equal(recipe_init(&recipe, &why), ERR_OK);
    set("data", "gen:gmm:700,4");
    set("folds", "5");
    set("threads", threads);
    assert_int_equal(setup_workers(&setup, &recipe, &why), ERR_OK);
    assert_int_equal(setup_load(&setup, &recipe, &why), ERR_OK);
}

static int end(void **state)
{
    (void)state;
    grid_close(&grid);
    trial_close(&trial);
    folds_close(&folds);
    setup_close(&setup);
    recipe_close(&recipe);
    why = (struct why){0};
    return 0;
}

static void test_threads_change_nothing(void **state)
{
    const struct trial_hooks nobody = {0};
    struct digest first = {0};

    for (int i = 0; i < 2; i++) {
        struct digest hash;

        prepare(i == 0 ? "1" : "3");
        assert_int_equal(
            folds_validate(&setup, &recipe, &nobody, &folds, &trial, &why),
            ERR_OK);
        assert_int_equal(trial.folds, 5);
        assert_true(trial.metrics.accuracy > 0.5);
        hash = hash_f64(trial.scores, setup.data.rows);
        if (i == 0)
            first = hash;
        assert_true(digest_equal(&first, &hash));
        (void)end(state);
    }
}

/* All rows are judged, each by a model that did not see it. */
static void test_every_row_once(void **state)
{
    uint32_t size[5] = {0};

    (void)state;
    prepare("1");
    assert_int_equal(folds_draw(&folds, &setup, 5, 7, &why), ERR_OK);
    for (uint32_t row = 0; row < setup.data.rows; row++)
        size[folds.of[row]]++;
    for (uint32_t i = 0; i < 5; i++)
        assert_in_range(size[i], setup.data.rows / 5 - 1,
                        setup.data.rows / 5 + 1);
    folds_close(&folds);
    assert_int_equal(folds_draw(&folds, &setup, setup.data.rows + 1, 7, &why),
                     ERR_SHAPE);
}

static void count_done(void *context, const struct trial *of, uint32_t fold)
{
    uint32_t *done = context;

    (void)of;
    (void)fold;
    ++*done;
}

static void test_grid(void **state)
{
    uint32_t done = 0;
    const struct trial_hooks hooks = {.context = &done, .done = count_done};

    (void)state;
    prepare("1");
    set("grid", "l2=0.001,100 optim=newton,lbfgs");
    assert_int_equal(grid_check(&recipe, &why), ERR_OK);
    assert_int_equal(grid_parse(&grid, recipe_text(&recipe, OPT_GRID), &why),
                     ERR_OK);
    assert_int_equal(grid_prepare(&grid, &setup, &recipe, &why), ERR_OK);
    assert_int_equal(grid_search(&grid, &setup, &hooks, &why), ERR_OK);
    assert_int_equal(grid.count, 4);
    assert_int_equal(done, 20);
    for (uint32_t i = 1; i < grid.count; i++)
        assert_true(grid.trial[grid.order[i - 1]].metrics.accuracy >=
                    grid.trial[grid.order[i]].metrics.accuracy);
    assert_int_equal(grid_take_best(&grid, &setup, &recipe, &why), ERR_OK);
    assert_string_equal(recipe_text(&recipe, OPT_L2),
                        recipe_text(&grid.trial[grid.order[0]].recipe, OPT_L2));
}

static void test_stop(void **state)
{
    struct flag stop = {0};
    const struct trial_hooks hooks = {.stop = &stop};

    (void)state;
    prepare("1");
    flag_raise(&stop);
    assert_int_equal(
        folds_validate(&setup, &recipe, &hooks, &folds, &trial, &why),
        ERR_CANCELLED);
}

static void test_grid_refusals(void **state)
{
    (void)state;
    prepare("1");
    set("grid", "threads=1,2");
    assert_int_equal(grid_check(&recipe, &why), ERR_RANGE);
    set("grid", "l2=0.1,-1");
    assert_int_equal(grid_check(&recipe, &why), ERR_RANGE);
    assert_string_equal(why.text, "--grid: --l2 -1: expected a number from 0 "
                                  "to 1e+300");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_threads_change_nothing, end),
        cmocka_unit_test_teardown(test_every_row_once, end),
        cmocka_unit_test_teardown(test_grid, end),
        cmocka_unit_test_teardown(test_stop, end),
        cmocka_unit_test_teardown(test_grid_refusals, end),
    };

    return cmocka_run_group_tests_name("folds", tests, NULL, NULL);
}

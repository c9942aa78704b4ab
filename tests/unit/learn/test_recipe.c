/*
 * Choices are set by name and text, as a program does it: values are checked
 * and copied, the stronger origin stays, and a refusal comes with its sentence
 * and changes nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "learn/recipe/recipe.h"

static struct recipe recipe;
static struct why why;

static int begin(void **state)
{
    (void)state;
    why = (struct why){0};
    return recipe_init(&recipe, &why) == ERR_OK ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    recipe_close(&recipe);
    return 0;
}

static void refuse(const char *name, const char *text, enum err err,
                   const char *sentence)
{
    assert_int_equal(recipe_set(&recipe, name, text, &why), err);
    assert_string_equal(why.text, sentence);
}

/* Every default stands, and what is worked out later has no value yet. */
static void test_defaults(void **state)
{
    (void)state;
    for (int id = 0; id < RECIPE_OPTIONS; id++) {
        const char *initial = recipe_row(id)->initial;

        assert_false(recipe_given(&recipe, id));
        if (initial == NULL)
            assert_null(recipe_text(&recipe, id));
        else
            assert_string_equal(recipe_text(&recipe, id), initial);
    }
    assert_int_equal(recipe_count(&recipe, OPT_STRAGGLERS), 1);
    assert_true(recipe_real(&recipe, OPT_DECAY) == 1);
    assert_false(recipe_flag(&recipe, OPT_SYNC));
}

/* By name, by alias, with underscores; the caller's text is not needed again.
 */
static void test_names(void **state)
{
    char text[] = "logistic";

    (void)state;
    assert_int_equal(recipe_set(&recipe, "model", text, &why), ERR_OK);
    memset(text, 'x', sizeof text - 1);
    assert_string_equal(recipe_text(&recipe, OPT_MODEL), "logistic");
    assert_int_equal(recipe_set(&recipe, "class_weight", "balanced", &why),
                     ERR_OK);
    assert_string_equal(recipe_text(&recipe, OPT_CLASS_WEIGHT), "balanced");
    assert_int_equal(recipe_set(&recipe, "c", "0.5", &why), ERR_OK);
    assert_true(recipe_real(&recipe, OPT_COST) == 0.5);
    assert_true(recipe_given(&recipe, OPT_COST));
    assert_int_equal(recipe_set(&recipe, "sync", "true", &why), ERR_OK);
    assert_string_equal(recipe_text(&recipe, OPT_SYNC), "yes");
    assert_int_equal(recipe_set(&recipe, "workers", "2:5", &why), ERR_OK);
    assert_int_equal(recipe.setting[OPT_WORKERS].high, 5);
}

static void test_refusals(void **state)
{
    (void)state;
    assert_int_equal(recipe_set(&recipe, "l2", "0.5", &why), ERR_OK);
    refuse("l2", "-1", ERR_RANGE,
           "--l2 -1: expected a number from 0 to 1e+300");
    assert_true(recipe_real(&recipe, OPT_L2) == 0.5);
    refuse("model", "far", ERR_RANGE,
           "--model far: expected one of: linear logistic svm hinge softmax");
    refuse("optim", "Adam", ERR_RANGE,
           "--optim Adam: expected one of: gd agd momentum nesterov adam adamw "
           "lbfgs newton sgd; did you mean adam?");
    refuse("class-wieght", "balanced", ERR_UNKNOWN,
           "no choice is called class-wieght; did you mean class-weight?");
    refuse("plot", "x.svg", ERR_UNKNOWN, "no choice is called plot");
    refuse("out", "", ERR_RANGE, "--out: the value is empty; expected PATH");
}

static void test_origins(void **state)
{
    (void)state;
    assert_int_equal(
        recipe_put(&recipe, OPT_STEPS, "7", ORIGIN_ENVIRONMENT, &why), ERR_OK);
    assert_int_equal(recipe_put(&recipe, OPT_STEPS, "8", ORIGIN_DEFAULT, &why),
                     ERR_OK);
    assert_int_equal(recipe_count(&recipe, OPT_STEPS), 7);
    assert_int_equal(recipe_set(&recipe, "steps", "9", &why), ERR_OK);
    assert_int_equal(recipe_count(&recipe, OPT_STEPS), 9);
}

/* A copy stands by itself, also for values put over its own text. */
static void test_copy(void **state)
{
    struct recipe copy = {0};

    (void)state;
    assert_int_equal(recipe_set(&recipe, "optim", "gd", &why), ERR_OK);
    assert_int_equal(recipe_copy(&copy, &recipe, &why), ERR_OK);
    assert_int_equal(recipe_set(&recipe, "optim", "adam", &why), ERR_OK);
    assert_string_equal(recipe_text(&copy, OPT_OPTIM), "gd");
    assert_int_equal(recipe_put(&copy, OPT_OPTIM, recipe_text(&copy, OPT_OPTIM),
                                ORIGIN_FLAG, &why),
                     ERR_OK);
    assert_string_equal(recipe_text(&copy, OPT_OPTIM), "gd");
    recipe_close(&copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_defaults, begin, end),
        cmocka_unit_test_setup_teardown(test_names, begin, end),
        cmocka_unit_test_setup_teardown(test_refusals, begin, end),
        cmocka_unit_test_setup_teardown(test_origins, begin, end),
        cmocka_unit_test_setup_teardown(test_copy, begin, end),
    };

    return cmocka_run_group_tests_name("recipe", tests, NULL, NULL);
}

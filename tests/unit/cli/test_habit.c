/*
 * LIBLINEAR's flags are parsed as a user types them; the options that they
 * imply are compared, and every refusal must come with its sentence.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "cli/options/options.h"
#include "learn/recipe/habit.h"

static const struct option_shape train = {
    .command = CMD_TRAIN,
    .positional = {OPT_DATA, OPT_SAVE},
    .positional_count = 2,
};

static struct options options;
static struct why why;

static enum err settle(const char *line)
{
    static char copy[256];
    char *words[16];
    int count = 0;
    enum err err;

    (void)snprintf(copy, sizeof copy, "%s", line);
    for (char *at = copy; *at != '\0' && count < 16;) {
        words[count++] = at;
        at += strcspn(at, " ");
        while (*at == ' ')
            *at++ = '\0';
    }
    options_close(&options);
    why = (struct why){0};
    err = options_parse(&options, &train, count, words, &why);
    return err != ERR_OK ? err : habit_settings(&options.recipe, &why);
}

static void refuse(const char *line, const char *sentence)
{
    assert_int_not_equal(settle(line), ERR_OK);
    assert_string_equal(why.text, sentence);
}

static void test_types(void **state)
{
    static const struct {
        const char *line, *model;
    } types[] = {{"-s 0", "logistic"}, {"-s 1", "svm"},
                 {"-s 2", "svm"},      {"-s 3", "hinge"},
                 {"-s 7", "logistic"}, {"-s 11", "linear"},
                 {"-s 12", "linear"}};

    (void)state;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const bool kinks = strcmp(types[i].model, "hinge") == 0;

        assert_int_equal(settle(types[i].line), ERR_OK);
        assert_true(habit_given(&options.recipe));
        assert_string_equal(option_text(&options, OPT_MODEL), types[i].model);
        if (kinks)
            assert_null(option_text(&options, OPT_OPTIM));
        else
            assert_string_equal(option_text(&options, OPT_OPTIM), "newton");
        assert_int_equal(option_count(&options, OPT_STEPS),
                         kinks ? 10000 : 1000);
    }
}

/* Without -s, -c, -e or -B nothing changes; what is said stays said. */
static void test_what_is_left_alone(void **state)
{
    (void)state;
    assert_int_equal(settle("-v 5"), ERR_OK);
    assert_false(habit_given(&options.recipe));
    assert_null(option_text(&options, OPT_OPTIM));
    assert_int_equal(settle("-c 2 --optim gd --steps 7 -B -1"), ERR_OK);
    assert_true(habit_given(&options.recipe));
    assert_string_equal(option_text(&options, OPT_OPTIM), "gd");
    assert_int_equal(option_count(&options, OPT_STEPS), 7);
    assert_null(option_text(&options, OPT_MODEL));
    /* Asked twice (a grid does) it says the same. */
    assert_int_equal(settle("-s 0 -B 1"), ERR_OK);
    assert_int_equal(habit_settings(&options.recipe, &why), ERR_OK);
}

/* A constant unless told otherwise; with LIBLINEAR's flags only by -B 1. */
static void test_intercept(void **state)
{
    static const struct {
        const char *line;
        bool learnt;
    } cases[] = {{"-v 5", true},          {"--no-intercept", false},
                 {"-s 0", false},         {"-c 2", false},
                 {"-s 0 -B -1", false},   {"-s 0 -B 1", true},
                 {"-B 1", true},          {"--grid l2=1,c=2", true},
                 {"--grid c=1,2", false}, {"--grid c=1,2 -B 1", true}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(settle(cases[i].line), ERR_OK);
        assert_int_equal(habit_intercept(&options.recipe), cases[i].learnt);
    }
    assert_int_equal(settle("-B 1"), ERR_OK);
    assert_true(habit_given(&options.recipe)); /* And so it has the penalty. */
}

static void test_eps(void **state)
{
    (void)state;
    assert_int_equal(settle("-s 0"), ERR_OK);
    assert_true(habit_eps(&options.recipe, false) == 0.01);
    assert_true(habit_eps(&options.recipe, true) == 0.0001);
    assert_int_equal(settle("-s 0 -e 0.5"), ERR_OK);
    assert_true(habit_eps(&options.recipe, false) == 0.5);
}

static void test_refusals(void **state)
{
    (void)state;
    refuse("-s 6",
           "-s 6: the L1 penalty is not there; 0, 1, 2, 3, 7, 11 and 12 are");
    refuse("-s 9", "-s 9: LIBLINEAR has no such type; there are 0 to 7, 11, "
                   "12 and 13");
    refuse("-B 0.5", "-B 0.5: only 1 (a constant is learnt) and -1 (none) are "
                     "there");
    refuse("-p 0.1", "-p 0.1: only 0 (least squares) is there");
    refuse("-s 0 --model svm",
           "-s and --model say the same thing; give one of them");
    refuse("-c 1 --l2 1", "-c and --l2 say the same thing; give one of them");
    refuse("-e 1 --tol 1", "-e and --tol say the same thing; give one of them");
    refuse("-B 1 --no-intercept",
           "-B and --no-intercept say the same thing; give one of them");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_what_is_left_alone),
        cmocka_unit_test(test_intercept),
        cmocka_unit_test(test_eps),
        cmocka_unit_test(test_refusals),
    };
    const int failed = cmocka_run_group_tests_name("habit", tests, NULL, NULL);

    options_close(&options);
    return failed;
}

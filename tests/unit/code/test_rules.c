/*
 * The table refuses what the promises say it does, in the words of whoever
 * asks; every row can be broken, and each has a sentence that can be told.
 */
#include "code/rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "code/preset.h"
#include "optim/optim.h"

static struct code_spec spec_of(const char *name)
{
    static double entry[16];
    static const struct code_matrix matrix = {4, 4, entry};
    const struct preset_options options = {
        .name = name,
        .stragglers = strcmp(name, "matrix") == 0 ? 0 : 1,
        .collect = strcmp(name, "agc") == 0 ? 3 : 0,
        .workers = 4,
        .matrix = &matrix};
    struct code_spec spec = {0};

    assert_int_equal(preset_spec(&options, &spec, NULL), ERR_OK);
    return spec;
}

static void test_each_rule_is_told(void **state)
{
    uint32_t count;
    const struct rule *list = rule_list(&count);

    (void)state;
    for (uint32_t i = 0; i < count; i++) {
        const trait_set one = list[i].any & -list[i].any;
        const struct choices choices = {.traits = list[i].all | one,
                                        .code = "CODE",
                                        .optim = "OPTIM",
                                        .model = "MODEL"};
        struct why why = {0};

        assert_int_equal(rules_check(&choices, &why), ERR_SHAPE);
        assert_false(rules_allow(choices.traits));
        assert_null(strchr(why.text, '<'));
        assert_true(strlen(why.text) < WHY_SIZE - 1);
    }
}

/* No rule stands in the shadow of one above it. */
static void test_no_rule_is_dead(void **state)
{
    uint32_t count;
    const struct rule *list = rule_list(&count);

    (void)state;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t j = 0; j < i; j++) {
            const bool covered =
                (list[j].all & ~list[i].all) == 0 &&
                (list[j].any == 0 || (list[j].any & list[i].all) != 0 ||
                 (list[i].any != 0 && (list[i].any & ~list[j].any) == 0));

            assert_false(covered);
        }
    }
}

static void test_all_traits_have_names(void **state)
{
    (void)state;
    for (int i = 0; i < TRAITS; i++)
        assert_non_null(trait_name((enum trait)i));
}

/* A function of the user's has sums, not rows: nothing there to code. */
static void test_mds_takes_no_function(void **state)
{
    const struct code_spec spec = spec_of("mds");
    struct choices choices = {.traits = TRAIT(FUNCTION), .fields = true};
    struct why why = {0};

    (void)state;
    choices_code(&choices, &spec);
    assert_int_equal(rules_check(&choices, &why), ERR_SHAPE);
    assert_string_equal(
        why.text, "code mds needs the rows themselves or a file; take steal");
}

static void test_lbfgs_takes_no_ignore(void **state)
{
    const struct code_spec spec = spec_of("ignore");
    struct choices choices = {.fields = true};
    struct why why = {0};

    (void)state;
    choices_code(&choices, &spec);
    choices_class(&choices, code_spec_class(&spec), EXACT_APPROX);
    choices_optim(&choices, "lbfgs");
    assert_int_equal(rules_check(&choices, &why), ERR_SHAPE);
    assert_string_equal(why.text,
                        "optim lbfgs compares sums over all rows, and code "
                        "ignore leaves some out; take an exact code (steal, "
                        "frc, rep, uncoded) or optim agd");
    choices.fields = false;
    assert_int_equal(rules_check(&choices, &why), ERR_SHAPE);
    assert_non_null(strstr(why.text, "--optim lbfgs compares"));
}

/* What was typed is named as it was typed. */
static void test_names_what_was_said(void **state)
{
    struct choices choices = {.traits = TRAIT(ALONE)};
    struct why why = {0};

    (void)state;
    choices_add(&choices, TRAIT(NEEDS_WORKERS), "delay");
    choices_add(&choices, TRAIT(NEEDS_WORKERS), "chaos");
    assert_int_equal(rules_check(&choices, &why), ERR_SHAPE);
    assert_string_equal(why.text,
                        "--delay needs workers; add -n N, the number of them");
    choices.fields = true;
    assert_int_equal(rules_check(&choices, &why), ERR_SHAPE);
    assert_string_equal(why.text,
                        "delay needs workers; add n N, the number of them");
}

/* Which codes' answers can be compared, and which have room for owners. */
static void test_codes(void **state)
{
    static const struct {
        const char *name;
        bool verify, owners, relays, shared;
    } want[] = {
        {"uncoded", true, true, true, true},
        {"ignore", false, true, true, true},
        {"frc", true, false, true, true},
        {"rep", true, false, true, true},
        {"cyclic", false, false, true, true},
        {"cb", false, false, true, true},
        {"partial-frc", true, false, true, true},
        {"partial-cyclic", false, false, true, true},
        {"matrix", false, false, true, true},
        {"mds", false, false, false, false},
        {"agc", true, false, true, true},
        {"sgc", false, false, true, true},
        {"flexent", false, false, false, true},
        {"local", false, false, true, true},
        {"stream", true, false, true, true},
        {"steal", true, true, true, true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        const struct code_spec spec = spec_of(want[i].name);
        const trait_set traits = code_traits(&spec);

        assert_int_equal(rules_allow(traits | TRAIT(CHECKED)), want[i].verify);
        assert_int_equal(rules_allow(traits | TRAIT(OWNERS)), want[i].owners);
        assert_int_equal(rules_allow(traits | TRAIT(RELAYS)), want[i].relays);
        assert_int_equal(rules_allow(traits | TRAIT(SHARED)), want[i].shared);
        assert_true(rules_allow(traits | TRAIT(WORKERS)));
        assert_true(traits == preset_traits(want[i].name));
    }
    assert_true(preset_traits("nothing") == 0);
}

/* A deadline ends a step as `ignore` does: nobody waits for the second. */
static void test_a_deadline_is_hasty(void **state)
{
    struct code_spec spec = spec_of("agc");

    (void)state;
    assert_true(rules_allow(code_traits(&spec) | TRAIT(CHECKED)));
    spec.stop = STOP_DEADLINE;
    assert_false(rules_allow(code_traits(&spec) | TRAIT(CHECKED)));
}

/* Every optimiser is known here by its name. */
static void test_optimisers(void **state)
{
    static const enum optim_kind kinds[] = {
        OPTIM_GD,    OPTIM_AGD,   OPTIM_MOMENTUM, OPTIM_NESTEROV, OPTIM_ADAM,
        OPTIM_ADAMW, OPTIM_LBFGS, OPTIM_NEWTON,   OPTIM_SGD};

    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct choices choices = {0};

        choices_optim(&choices, optim_name(kinds[i]));
        assert_true(choices.traits != 0);
        assert_string_equal(choices.optim, optim_name(kinds[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_rule_is_told),
        cmocka_unit_test(test_no_rule_is_dead),
        cmocka_unit_test(test_all_traits_have_names),
        cmocka_unit_test(test_mds_takes_no_function),
        cmocka_unit_test(test_lbfgs_takes_no_ignore),
        cmocka_unit_test(test_names_what_was_said),
        cmocka_unit_test(test_codes),
        cmocka_unit_test(test_a_deadline_is_hasty),
        cmocka_unit_test(test_optimisers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Each preset must be the point on the axes that its name promises, and the
 * words of refusals must name what exists.
 */
#include "code/preset.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "code/code_fixture.h"

static void test_points(void **state)
{
    static const struct code_spec want[] = {
        {"uncoded", PLACE_ONCE, SCHED_ALL, STOP_ALL, ESTIMATE_EXACT, 0, 0,
         false, 7},
        {"ignore", PLACE_ONCE, SCHED_ALL, STOP_FIRST, ESTIMATE_RATIO, 3, 5,
         false, 7},
        {"frc", PLACE_REP, SCHED_ALL, STOP_COVER, ESTIMATE_EXACT, 3, 0, true,
         7},
        {"rep", PLACE_REP, SCHED_ALL, STOP_COVER, ESTIMATE_EXACT, 3, 0, false,
         7},
        {"cyclic", PLACE_CYCLIC, SCHED_ALL, STOP_FIRST, ESTIMATE_EXACT, 3, 5,
         false, 7},
        {"agc", PLACE_REP, SCHED_ALL, STOP_COLLECT, ESTIMATE_REFERENCE, 3, 2,
         false, 7},
        {"steal", PLACE_REP, SCHED_STEAL, STOP_COVER, ESTIMATE_EXACT, 3, 0,
         false, 7},
    };
    uint32_t count;
    const struct preset *list = preset_list(&count);

    (void)state;
    assert_int_equal(count, sizeof want / sizeof *want);
    for (uint32_t i = 0; i < count; i++) {
        const struct code_spec spec =
            spec_of((struct shape){list[i].name, 8, 3, 2, 8});

        assert_string_equal(spec.name, want[i].name);
        assert_int_equal(spec.placement, want[i].placement);
        assert_int_equal(spec.schedule, want[i].schedule);
        assert_int_equal(spec.stop, want[i].stop);
        assert_int_equal(spec.estimate, want[i].estimate);
        assert_int_equal(spec.stragglers, want[i].stragglers);
        assert_int_equal(spec.k, want[i].k);
        assert_int_equal(spec.divisible, want[i].divisible);
        assert_int_equal(spec.seed, want[i].seed);
        assert_true(strlen(list[i].line) > 0);
    }
}

static void test_aliases(void **state)
{
    (void)state;
    assert_string_equal(spec_of((struct shape){"ksync", 8, 1, 0, 8}).name,
                        "ignore");
    assert_string_equal(spec_of((struct shape){"erasurehead", 8, 1, 3, 8}).name,
                        "agc");
}

static void test_unknown(void **state)
{
    struct preset_options options = {.name = "magic", .workers = 4};
    struct code_spec spec = {.k = 77};
    struct why why = {0};

    (void)state;
    assert_int_equal(preset_spec(&options, &spec, &why), ERR_UNKNOWN);
    assert_string_equal(why.text,
                        "no code named magic; there are uncoded, ignore "
                        "(ksync), frc, rep, cyclic, agc (erasurehead), steal");
    options.name = "agc";
    options.collect = 2;
    options.estimate = "guess";
    assert_int_equal(preset_spec(&options, &spec, &why), ERR_UNKNOWN);
    assert_string_equal(why.text, "no estimate named guess; there are exact, "
                                  "reference, ratio");
    assert_int_equal(spec.k, 77); /* Written only on success. */
}

static void test_estimate_option(void **state)
{
    const struct preset_options ratio = {
        .name = "agc", .collect = 2, .workers = 4, .estimate = "ratio"};
    const struct preset_options exact = {
        .name = "agc", .collect = 2, .workers = 4, .estimate = "exact"};
    struct code_spec spec;
    struct code code = {0};
    struct why why = {0};

    (void)state;
    assert_int_equal(preset_spec(&ratio, &spec, &why), ERR_OK);
    assert_int_equal(spec.estimate, ESTIMATE_RATIO);
    assert_int_equal(preset_spec(&exact, &spec, &why), ERR_OK);
    assert_int_equal(code_build(&code, &spec, 4, 8, &why), ERR_SHAPE);
    assert_string_equal(why.text,
                        "code agc may end a step with data missing, which "
                        "estimate exact does not allow; use reference or "
                        "ratio, or the code `rep`");
}

static void test_collect_is_asked_for(void **state)
{
    (void)state;
    refuse((struct shape){"agc", 8, 1, 0, 8}, ERR_SHAPE,
           "needs --collect K, the number of workers to wait for, 1 to 8");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_points),
        cmocka_unit_test(test_aliases),
        cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_estimate_option),
        cmocka_unit_test(test_collect_is_asked_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

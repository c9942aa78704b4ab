/*
 * Each preset must be the point on the axes that its name promises, and the
 * words of refusals must name what exists.
 */
#include "code/preset.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "code/code_fixture.h"

static void test_points(void **state)
{
    static const struct {
        const char *name;
        enum placement placement;
        enum schedule schedule;
        enum stop stop;
        enum estimate estimate;
        uint32_t stragglers, k;
        bool divisible;
    } want[] = {
        {"uncoded", PLACE_ONCE, SCHED_ALL, STOP_ALL, ESTIMATE_EXACT, 0, 0,
         false},
        {"ignore", PLACE_ONCE, SCHED_ALL, STOP_FIRST, ESTIMATE_RATIO, 3, 5,
         false},
        {"frc", PLACE_REP, SCHED_ALL, STOP_COVER, ESTIMATE_EXACT, 3, 0, true},
        {"rep", PLACE_REP, SCHED_ALL, STOP_COVER, ESTIMATE_EXACT, 3, 0, false},
        {"cyclic", PLACE_CYCLIC, SCHED_ALL, STOP_FIRST, ESTIMATE_EXACT, 3, 5,
         false},
        {"cb", PLACE_CB, SCHED_ALL, STOP_FIRST, ESTIMATE_EXACT, 3, 5, false},
        {"partial-frc", PLACE_PARTIAL_FRC, SCHED_ALL, STOP_COVER,
         ESTIMATE_EXACT, 3, 0, true},
        {"partial-cyclic", PLACE_PARTIAL_CYCLIC, SCHED_ALL, STOP_FIRST,
         ESTIMATE_EXACT, 3, 5, false},
        {"matrix", PLACE_MATRIX, SCHED_ALL, STOP_FIRST, ESTIMATE_EXACT, 3, 5,
         false},
        {"mds", PLACE_MDS, SCHED_ALL, STOP_FIRST, ESTIMATE_EXACT, 3, 5, false},
        {"cec", PLACE_CEC, SCHED_ALL, STOP_FIRST, ESTIMATE_EXACT, 10, 6, false},
        {"agc", PLACE_REP, SCHED_ALL, STOP_COLLECT, ESTIMATE_REFERENCE, 3, 2,
         false},
        {"sgc", PLACE_SGC, SCHED_ALL, STOP_FIRST, ESTIMATE_UNBIASED, 3, 5,
         false},
        {"flexent", PLACE_SHADOW, SCHED_ALL, STOP_SHADOW, ESTIMATE_SHRINK, 3, 0,
         false},
        {"local", PLACE_LOCAL, SCHED_ALL, STOP_ALL, ESTIMATE_RATIO, 0, 0,
         false},
        {"stream", PLACE_SHIFT, SCHED_STREAM, STOP_COVER, ESTIMATE_EXACT, 3, 0,
         false},
        {"steal", PLACE_REP, SCHED_STEAL, STOP_COVER, ESTIMATE_EXACT, 3, 0,
         false},
    };
    (void)state;
    for (uint32_t i = 0; i < sizeof want / sizeof *want; i++) {
        const struct code_spec spec =
            spec_of((struct shape){want[i].name, 8, 3, 2, 8});

        assert_string_equal(spec.name, want[i].name);
        assert_int_equal(spec.placement, want[i].placement);
        assert_int_equal(spec.schedule, want[i].schedule);
        assert_int_equal(spec.stop, want[i].stop);
        assert_int_equal(spec.estimate, want[i].estimate);
        assert_int_equal(spec.stragglers, want[i].stragglers);
        assert_int_equal(spec.k, want[i].k);
        assert_int_equal(spec.divisible, want[i].divisible);
        assert_int_equal(spec.seed, 7);
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
    uint32_t count;
    const struct preset *list = preset_list(&count);

    (void)state;
    assert_int_equal(preset_spec(&options, &spec, &why), ERR_UNKNOWN);
    assert_non_null(strstr(why.text, "no code named magic; there are uncoded, "
                                     "ignore (ksync), frc, "));
    for (uint32_t i = 0; i < count; i++) {
        assert_non_null(strstr(why.text, list[i].name));
        assert_true(strlen(list[i].line) > 0);
    }
    options.name = "agc";
    options.collect = 2;
    options.estimate = "guess";
    assert_int_equal(preset_spec(&options, &spec, &why), ERR_UNKNOWN);
    assert_string_equal(why.text, "no estimate named guess; there are exact, "
                                  "reference (abandon), ratio (rescale), "
                                  "unbiased, shadow, shrink");
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
                        "estimate exact does not allow; add "
                        "estimate=reference or estimate=ratio, or wait for all "
                        "data: stop=cover");
}

static enum err stop_of(const char *text, struct code_spec *spec,
                        struct why *why)
{
    const struct preset_options options = {
        .name = "rep", .stop = text, .workers = 4, .estimate = "ratio"};

    return preset_spec(&options, spec, why);
}

static void test_stop_option(void **state)
{
    static const struct {
        const char *text, *words;
    } wrong[] = {
        {"soon", "no stop rule named soon; there are all, cover, first:K"},
        {"first", "first needs a value, as in first:3"},
        {"first:0", "first:0: expected a whole number above zero"},
        {"first:2.5", "expected a whole number"},
        {"first:x", "expected a whole number"},
        {"cover:2", "cover takes no value"},
        {"deadline:0", "deadline:0: expected seconds above zero"},
        {"deadline:nan", "expected seconds above zero"},
        {"deadline:-1", "expected seconds above zero"},
    };
    struct code_spec spec = {0};
    struct why why = {0};

    (void)state;
    assert_int_equal(stop_of("groups:2", &spec, &why), ERR_OK);
    assert_int_equal(spec.stop, STOP_GROUPS);
    assert_int_equal(spec.k, 2);
    assert_int_equal(stop_of("deadline:0.25", &spec, &why), ERR_OK);
    assert_int_equal(spec.stop, STOP_DEADLINE);
    assert_true(spec.deadline_s == 0.25);
    assert_int_equal(spec.k, 0);
    for (uint32_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_not_equal(stop_of(wrong[i].text, &spec, &why), ERR_OK);
        if (strstr(why.text, wrong[i].words) == NULL)
            fail_msg("`%s` does not say `%s`", why.text, wrong[i].words);
    }
}

/* What follows a colon is for whoever reads files. */
static void test_names_with_files(void **state)
{
    (void)state;
    assert_true(preset_takes_file("matrix:a.csv"));
    assert_true(preset_takes_file("cb:a.csv"));
    assert_false(preset_takes_file("rep:a.csv"));
    assert_false(preset_takes_file("mat:a.csv"));
    assert_string_equal(spec_of((struct shape){"matrix:x", 8, 1, 0, 8}).name,
                        "matrix");
    refuse((struct shape){"matrix", 8, 1, 0, 8}, ERR_SHAPE,
           "--code matrix:FILE.csv");
}

static void test_collect_is_asked_for(void **state)
{
    (void)state;
    refuse((struct shape){"agc", 8, 1, 0, 8}, ERR_SHAPE,
           "needs collect=K, the number of workers to wait for, 1 to 8");
}

/* --- texts --------------------------------------------------------------- */

static struct preset_options parsed(char *text)
{
    struct preset_options options = {.stragglers = 1, .workers = 8};
    struct why why = {0};

    if (preset_parse(text, &options, &why) != ERR_OK)
        print_message("%s\n", why.text);
    assert_string_equal(why.text, "");
    return options;
}

static void test_text(void **state)
{
    char plain[] = "steal";
    char counts[] = "agc:s=2:collect=5:estimate=ratio";
    char stop[] = "rep:stop=deadline:0.5:estimate=ratio";
    char every[] = "local:h=once:stop=first:3";
    char speeds[] = "cb:speeds=1,2,4";
    struct preset_options options = parsed(plain);

    (void)state;
    assert_string_equal(options.name, "steal");
    assert_int_equal(options.stragglers, 1);
    options = parsed(counts);
    assert_string_equal(options.name, "agc");
    assert_int_equal(options.stragglers, 2);
    assert_int_equal(options.collect, 5);
    assert_string_equal(options.estimate, "ratio");
    options = parsed(stop);
    assert_string_equal(options.stop, "deadline:0.5");
    assert_string_equal(options.estimate, "ratio");
    options = parsed(every);
    assert_int_equal(options.every, PRESET_ONCE);
    assert_string_equal(options.stop, "first:3");
    options = parsed(speeds);
    assert_string_equal(options.speed_text, "1,2,4");
    assert_null(options.file);
}

/* k answers of n is the other way to say s. */
static void test_enough(void **state)
{
    char text[] = "mds:k=6";
    struct preset_options options = parsed(text);
    struct code_spec spec;
    struct why why = {0};

    (void)state;
    options.workers = 8;
    assert_int_equal(preset_spec(&options, &spec, &why), ERR_OK);
    assert_int_equal(spec.stragglers, 2);
    assert_int_equal(spec.k, 6);
    options.workers = 5;
    assert_int_equal(preset_spec(&options, &spec, &why), ERR_SHAPE);
    assert_non_null(strstr(why.text, "k=6 answers are more than the 5"));
}

/* A file's name may have colons and equal signs, but no key. */
static void test_text_of_a_file(void **state)
{
    char file[] = "matrix:a=b:c.csv:decode=one-step:s=0";
    char alias[] = "erasurehead:collect=3";
    struct preset_options options = parsed(file);

    (void)state;
    assert_string_equal(options.name, "matrix");
    assert_string_equal(options.file, "a=b:c.csv");
    assert_int_equal(options.decoding, DECODE_ONE_STEP);
    assert_int_equal(options.stragglers, 0);
    assert_int_equal(parsed(alias).collect, 3);
}

static void test_text_refused(void **state)
{
    static const struct {
        const char *text;
        enum err err;
        const char *why;
    } cases[] = {
        {"mist", ERR_UNKNOWN, "no code named mist"},
        {"", ERR_UNKNOWN, "no code named"},
        {"frc:pieces=3", ERR_SHAPE, "no setting `pieces`; there are s, stop"},
        {"frc:mine.csv", ERR_SHAPE, "no setting `mine.csv`"},
        {"ignore:staleness", ERR_SHAPE, "no setting `staleness`"},
        {"uncoded:s=1", ERR_SHAPE, "no setting `s`"},
        {"rep:k=2", ERR_SHAPE, "no setting `k`"},
        {"frc:s=1:s=0", ERR_SHAPE, "s is set twice"},
        {"steal:pieces=65", ERR_RANGE, "from 1 to 64"},
        {"steal:pieces=", ERR_RANGE, "expected a whole number"},
        {"steal:s=-1", ERR_RANGE, "expected a whole number"},
        {"local", ERR_SHAPE, "needs h=H"},
        {"local:h=0", ERR_RANGE, "above zero, or once"},
        {"matrix:m.csv:decode=well", ERR_RANGE, "optimal or one-step"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct preset_options options = {.workers = 4};
        struct why why = {0};
        char text[64];

        (void)snprintf(text, sizeof text, "%s", cases[i].text);
        assert_int_equal(preset_parse(text, &options, &why), cases[i].err);
        if (strstr(why.text, cases[i].why) == NULL)
            fail_msg("%s: %s", cases[i].text, why.text);
    }
}

/* What `local` averages after each step of gd is a sum; a pass of sgd is not.
 */
static void test_every_step(void **state)
{
    struct preset_options options = {.name = "local", .workers = 4, .every = 1};
    struct code_spec spec;

    (void)state;
    assert_int_equal(preset_spec(&options, &spec, NULL), ERR_OK);
    assert_int_equal(spec.placement, PLACE_ONCE);
    options.by_rows = true;
    assert_int_equal(preset_spec(&options, &spec, NULL), ERR_OK);
    assert_int_equal(spec.placement, PLACE_LOCAL);
    assert_int_equal(spec.every, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_points),
        cmocka_unit_test(test_aliases),
        cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_estimate_option),
        cmocka_unit_test(test_stop_option),
        cmocka_unit_test(test_names_with_files),
        cmocka_unit_test(test_collect_is_asked_for),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_enough),
        cmocka_unit_test(test_text_of_a_file),
        cmocka_unit_test(test_text_refused),
        cmocka_unit_test(test_every_step),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * The reference stream is compared with published figures to their last digit;
 * the others with their mean and tail over many draws.  Each refusal is
 * checked by its sentence.
 */
#include "plan/delay.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define DRAWS 20000u

static struct delay parsed(const char *text)
{
    struct delay delay = {0};
    struct why why = {0};

    if (delay_parse(text, 11, &delay, &why) != ERR_OK)
        fail_msg("%s", why.text);
    return delay;
}

static void test_reference_figures(void **state)
{
    static const char *const want[] = {"0.39793725", "0.62796538", "0.46161157",
                                       "0.39360058", "0.27552425", "0.51907965",
                                       "0.28775960", "1.11176221"};
    const struct delay delay = parsed("reference");
    const struct delay twice = parsed("reference:1");

    (void)state;
    for (uint32_t slot = 0; slot < 8; slot++) {
        const struct delay_draw draw = delay_draw(&delay, 0, slot, "w");
        char text[32];

        (void)snprintf(text, sizeof text, "%.8f", draw.add_s);
        assert_string_equal(text, want[slot]);
        assert_true(draw.factor == 0);
        assert_true(delay_draw(&twice, 0, slot, "w").add_s == 2 * draw.add_s);
    }
}

static double mean_of(const struct delay *delay, bool factor)
{
    double sum = 0;

    for (uint32_t i = 0; i < DRAWS; i++) {
        const struct delay_draw draw =
            delay_draw(delay, i / 100, i % 100, "w0");

        assert_true(isfinite(draw.add_s) && draw.add_s >= 0);
        assert_true(isfinite(draw.factor) && draw.factor >= 0);
        sum += factor ? draw.factor : draw.add_s;
    }
    return sum / DRAWS;
}

static void near(double value, double want, double slack)
{
    if (fabs(value - want) > slack)
        fail_msg("%g is not within %g of %g", value, slack, want);
}

/* Five standard errors; the draws are fixed, so that it passes or fails for
 * good. */
static void test_means(void **state)
{
    const struct delay exponential = parsed("exp:0.25");
    const struct delay shifted = parsed("shifted:2,0.5");
    const struct delay pareto = parsed("pareto:1,3");
    const struct delay bimodal = parsed("bimodal:0.1,4");
    const struct delay scaled = parsed("exp:0.25/scale");

    (void)state;
    near(mean_of(&exponential, false), 0.25, 5 * 0.25 / sqrt(DRAWS));
    near(mean_of(&shifted, false), 2.5, 5 * 0.5 / sqrt(DRAWS));
    near(mean_of(&pareto, false), 1.5, 5 * 0.87 / sqrt(DRAWS));
    near(mean_of(&bimodal, true), 0.3, 5 * 0.9 / sqrt(DRAWS));
    near(mean_of(&scaled, true), 0.25, 5 * 0.25 / sqrt(DRAWS));
    assert_true(mean_of(&bimodal, false) == 0);
    assert_true(mean_of(&scaled, false) == 0);
}

static void test_tails_stay_finite(void **state)
{
    const struct delay heavy = parsed("pareto:5,0.001");

    (void)state;
    assert_true(mean_of(&heavy, false) > 1);
}

static void test_worker(void **state)
{
    const struct delay delay = parsed("worker:w3=3");

    (void)state;
    assert_true(delay_draw(&delay, 5, 0, "w3").factor == 2);
    assert_true(delay_draw(&delay, 5, 0, "w31").factor == 0);
    assert_true(delay_draw(&delay, 5, 0, NULL).factor == 0);
}

static void test_joined(void **state)
{
    const struct delay delay = parsed("shifted:1,0+worker:w3=3+shifted:2,0");
    const struct delay exponent = parsed("shifted:1e+2,0+shifted:.5,0");
    const struct delay same = parsed("exp:1+exp:1");
    const struct delay one = parsed("exp:1");
    const struct delay none = parsed("");

    (void)state;
    assert_int_equal(delay.count, 3);
    assert_true(delay_draw(&delay, 0, 0, "w3").add_s == 3);
    assert_true(delay_draw(&delay, 0, 0, "w3").factor == 2);
    assert_true(delay_draw(&exponent, 0, 0, "w").add_s == 100.5);
    /* Two terms of one kind are two draws, not one doubled. */
    assert_true(delay_draw(&same, 0, 0, "w").add_s !=
                2 * delay_draw(&one, 0, 0, "w").add_s);
    assert_int_equal(none.count, 0);
    assert_true(delay_draw(&none, 9, 9, "w").add_s == 0);
}

/* A pure function: the seed, the step and the slot matter, nothing else. */
static void test_pure(void **state)
{
    const struct delay delay = parsed("exp:1");
    struct delay other = delay;
    const double first = delay_draw(&delay, 3, 4, "a").add_s;

    (void)state;
    assert_true(delay_draw(&delay, 3, 4, "b").add_s == first);
    assert_true(delay_draw(&delay, 4, 3, "a").add_s != first);
    other.seed++;
    assert_true(delay_draw(&other, 3, 4, "a").add_s != first);
}

static void test_refusals(void **state)
{
    static const struct {
        const char *text;
        enum err err;
        const char *sentence;
    } rows[] = {
        {"slow", ERR_UNKNOWN,
         "delay slow: no such kind; there are reference, exp, shifted, pareto, "
         "bimodal, worker"},
        {"exp", ERR_FORMAT, "delay exp: it is written exp:MEAN"},
        {"exp:", ERR_FORMAT, "delay exp:: it is written exp:MEAN"},
        {"exp:1,2", ERR_FORMAT, "delay exp:1,2: it is written exp:MEAN"},
        {"exp:-1", ERR_RANGE, "delay exp:-1: -1 is negative"},
        {"exp:nan", ERR_FORMAT, "delay exp:nan: `nan` is not a number"},
        {"exp:inf", ERR_FORMAT, "delay exp:inf: `inf` is not a number"},
        {"exp:1e999", ERR_RANGE, "delay exp:1e999: 1e999 is too large"},
        {"exp:1s", ERR_FORMAT, "delay exp:1s: `1s` is not a number"},
        {"exp:0x1p", ERR_FORMAT, "delay exp:0x1p: `0x1p` is not a number"},
        {"exp:1+", ERR_FORMAT, "delay exp:1+: `1+` is not a number"},
        {"shifted:1", ERR_FORMAT,
         "delay shifted:1: it is written shifted:A,MEAN"},
        {"shifted:1,", ERR_FORMAT,
         "delay shifted:1,: it is written shifted:A,MEAN"},
        {"pareto:1,0", ERR_RANGE,
         "delay pareto:1,0: 0 is below 0.001 in pareto:XM,ALPHA"},
        {"bimodal:1.5,2", ERR_RANGE,
         "delay bimodal:1.5,2: 1.5 is above 1 in bimodal:P,FACTOR"},
        {"bimodal:.5,.5", ERR_RANGE,
         "delay bimodal:.5,.5: 0.5 is below 1 in bimodal:P,FACTOR"},
        {"worker:w1", ERR_FORMAT,
         "delay worker:w1: it is written worker:NAME=FACTOR"},
        {"worker:=2", ERR_FORMAT,
         "delay worker:=2: it is written worker:NAME=FACTOR"},
        {"worker:w1=", ERR_FORMAT,
         "delay worker:w1=: it is written worker:NAME=FACTOR"},
        {"worker:w1=.5", ERR_RANGE,
         "delay worker:w1=.5: 0.5 is below 1 in worker:NAME=FACTOR"},
        {"reference/slow", ERR_UNKNOWN,
         "delay reference/slow: no such kind; there are reference, exp, "
         "shifted, pareto, bimodal, worker"},
        {"exp:1+exp:1+exp:1+exp:1+exp:1+exp:1+exp:1+exp:1+exp:1", ERR_TOOBIG,
         "delay: more than 8 joined with +"},
    };

    (void)state;
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct delay delay = {.count = 77};
        struct why why = {0};

        assert_int_equal(delay_parse(rows[i].text, 0, &delay, &why),
                         rows[i].err);
        assert_string_equal(why.text, rows[i].sentence);
        assert_int_equal(delay.count, 77); /* Written only on success. */
    }
}

static void test_long_names(void **state)
{
    char text[400] = "worker:";
    struct delay delay;

    (void)state;
    memset(text + 7, 'x', 64);
    memcpy(text + 71, "=2", 3);
    assert_int_equal(strlen(parsed(text).term[0].worker), 64);
    memset(text + 7, 'x', 65);
    memcpy(text + 72, "=2", 3);
    assert_int_equal(delay_parse(text, 0, &delay, NULL), ERR_TOOBIG);
    memset(text + 7, 'x', 300);
    assert_int_equal(delay_parse(text, 0, &delay, NULL), ERR_TOOBIG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference_figures),
        cmocka_unit_test(test_means),
        cmocka_unit_test(test_tails_stay_finite),
        cmocka_unit_test(test_worker),
        cmocka_unit_test(test_joined),
        cmocka_unit_test(test_pure),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_long_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

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
         "lognormal, weibull, bimodal, worker, dead, trace"},
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
         "shifted, pareto, lognormal, weibull, bimodal, worker, dead, "
         "trace"},
        {"dead:1.5", ERR_RANGE, "delay dead:1.5: 1.5 is above 1 in dead:P"},
        {"exp:1/rack:0", ERR_RANGE,
         "delay exp:1/rack:0: 0 is below 1 in /rack:N"},
        {"exp:1/rack:2.5", ERR_RANGE,
         "delay exp:1/rack:2.5: 2.5 in /rack:N is no whole number"},
        {"exp:1/burst:.1", ERR_FORMAT,
         "delay exp:1/burst:.1: it is written /burst:ENTER,LEAVE"},
        {"exp:1/burst:.1,0", ERR_RANGE,
         "delay exp:1/burst:.1,0: a chance of 0 in /burst:ENTER,LEAVE"},
        {"exp:1/burst:.6,.6", ERR_RANGE,
         "delay exp:1/burst:.6,.6: ENTER and LEAVE of /burst add up to 1.2, "
         "above 1"},
        {"trace", ERR_FORMAT, "delay trace: it is written trace:FILE"},
        {"trace:a/b/persistent", ERR_SHAPE,
         "delay trace:a/b/persistent: a trace says itself who is slow when; "
         "only /scale, /times and /share go with it"},
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
    assert_int_equal(strlen(parsed(text).term[0].name), 64);
    memset(text + 7, 'x', 65);
    memcpy(text + 72, "=2", 3);
    assert_int_equal(delay_parse(text, 0, &delay, NULL), ERR_TOOBIG);
    memset(text + 7, 'x', 380);
    assert_int_equal(delay_parse(text, 0, &delay, NULL), ERR_TOOBIG);
}

/* How often two draws agree: in neighbouring steps, in neighbouring slots. */
static void agreement(const struct delay *delay, double *steps, double *slots)
{
    uint32_t same_step = 0;
    uint32_t same_slot = 0;

    for (uint32_t i = 0; i < DRAWS; i++) {
        const uint32_t step = i / 100;
        const uint32_t slot = i % 100;
        const double one = delay_draw(delay, step, slot, NULL).factor;

        same_step += delay_draw(delay, step + 1, slot, NULL).factor == one;
        same_slot += delay_draw(delay, step, slot ^ 1u, NULL).factor == one;
    }
    *steps = (double)same_step / DRAWS;
    *slots = (double)same_slot / DRAWS;
}

static void test_persistent_and_racks(void **state)
{
    const struct delay each = parsed("exp:1/scale");
    const struct delay once = parsed("exp:1/scale/persistent");
    const struct delay racks = parsed("exp:1/rack:2/scale");
    double steps;
    double slots;

    (void)state;
    agreement(&each, &steps, &slots);
    assert_true(steps == 0 && slots == 0);
    agreement(&once, &steps, &slots);
    assert_true(steps == 1 && slots == 0);
    agreement(&racks, &steps, &slots);
    assert_true(steps == 0 && slots == 1);
}

/* Enters with .02 and leaves with .18: a tenth of the time slow, and a step is
 * as the one before but for 2 x .1 x .18 of them. */
static void test_burst(void **state)
{
    const struct delay delay = parsed("bimodal:1,3/burst:.02,.18");
    double steps;
    double slots;

    (void)state;
    near(mean_of(&delay, true), 2 * .1, .03);
    agreement(&delay, &steps, &slots);
    near(steps, 1 - 2 * .1 * .18, .01);
    near(slots, 1 - 2 * .1 * .9, .03);
}

static void test_dead_and_times(void **state)
{
    const struct delay dead = parsed("dead:.25");
    const struct delay times = parsed("shifted:3,0/times");
    const struct delay less = parsed("shifted:.5,0/times");
    const struct delay share = parsed("shifted:4,0/share");

    (void)state;
    near(mean_of(&dead, false), .25 * DELAY_NEVER_S, .02 * DELAY_NEVER_S);
    assert_true(delay_draw(&times, 0, 0, NULL).factor == 2);
    assert_true(delay_draw(&less, 0, 0, NULL).factor == 0);
    assert_true(delay_draw(&share, 0, 0, NULL).share_s == 4);
    assert_true(delay_draw(&share, 0, 0, NULL).add_s == 0);
}

static void test_more_means(void **state)
{
    const struct delay lognormal = parsed("lognormal:2,.5");
    const struct delay weibull = parsed("weibull:2,2");

    (void)state;
    near(mean_of(&lognormal, false), 2 * exp(.125), .03);
    near(mean_of(&weibull, false), 2 * sqrt(acos(-1)) / 2, .03);
}

/* A row is that many draws, for every kind and suffix. */
static void test_row(void **state)
{
    const struct delay delay = parsed(
        "reference/rack:3+exp:1/share/"
        "burst:.3,.4+worker:w7=3+worker:x=2+dead:.1"
        "+lognormal:1,1/scale/persistent+bimodal:.3,2+reference:1/times");

    (void)state;
    for (uint32_t step = 0; step < 20; step++) {
        struct delay_draw row[40];

        delay_row(&delay, step, 40, row);
        for (uint32_t slot = 0; slot < 40; slot++) {
            char name[8];
            struct delay_draw one;

            (void)snprintf(name, sizeof name, "w%u", slot);
            one = delay_draw(&delay, step, slot, name);
            assert_true(row[slot].add_s == one.add_s);
            assert_true(row[slot].factor == one.factor);
            assert_true(row[slot].share_s == one.share_s);
        }
    }
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
        cmocka_unit_test(test_persistent_and_racks),
        cmocka_unit_test(test_burst),
        cmocka_unit_test(test_dead_and_times),
        cmocka_unit_test(test_more_means),
        cmocka_unit_test(test_row),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Traces are made from known delays and must give them back: the family, the
 * parameters within a few standard errors, and what they depend on.  Draws are
 * fixed by the seed.
 */
#include "plan/fit.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "plan/delay.h"

#define STEPS   400u
#define WORKERS 25u

static void near(double value, double want, double share)
{
    if (!(fabs(value - want) <= share * fabs(want)))
        fail_msg("%.6g is not within %g of %.6g", value, share, want);
}

/* Two loads: STEPS steps with each. */
static struct delay_fit fitted(const char *text, double work_1, double work_2)
{
    struct delay delay;
    struct delay_trace trace = {0};
    struct delay_trace more = {0};
    struct delay_fit fit;
    struct why why = {{0}};

    assert_int_equal(delay_parse(text, 5, &delay, NULL), ERR_OK);
    assert_int_equal(
        delay_trace_generate(&trace, &delay, STEPS, WORKERS, work_1), ERR_OK);
    assert_int_equal(
        delay_trace_generate(&more, &delay, STEPS, WORKERS, work_2), ERR_OK);
    for (uint32_t i = 0; i < STEPS; i++)
        assert_int_equal(delay_trace_add(&trace,
                                         more.value + (size_t)i * WORKERS,
                                         WORKERS, work_2),
                         ERR_OK);
    if (fit_trace(&trace, &fit, &why) != ERR_OK)
        fail_msg("%s", why.text);
    delay_trace_close(&trace);
    delay_trace_close(&more);
    return fit;
}

static void test_families(void **state)
{
    static const struct {
        const char *text;
        struct law law;
    } rows[] = {
        {"exp:0.5", {DELAY_EXP, .5, 0}},
        {"shifted:2,0.5", {DELAY_SHIFTED, 2, .5}},
        {"pareto:0.5,3", {DELAY_PARETO, .5, 3}},
        {"lognormal:0.2,0.6", {DELAY_LOGNORMAL, .2, .6}},
        {"weibull:0.3,2.5", {DELAY_WEIBULL, .3, 2.5}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct delay_fit fit = fitted(rows[i].text, 1, 2);

        if (fit.law.kind != rows[i].law.kind)
            fail_msg("%s is taken for %s", rows[i].text, fit.text);
        near(fit.law.a, rows[i].law.a, .03);
        near(fit.law.b, rows[i].law.b, .04);
        assert_true(fit.ks < .02);
        assert_true(fit.loads_vary && !fit.scale);
        assert_true(!fit.persistent && !fit.bursty);
        assert_true(fit.dead == 0);
    }
}

static void test_scale(void **state)
{
    const struct delay_fit scaled = fitted("exp:0.5/scale", 1, 3);
    const struct delay_fit same = fitted("exp:0.5/scale", 2, 2);

    (void)state;
    assert_string_equal(law_name(scaled.law.kind), "exp");
    assert_true(scaled.loads_vary && scaled.scale);
    near(scaled.law.a, .5, .03);
    assert_non_null(strstr(scaled.text, "/scale"));
    /* One load says nothing. */
    assert_true(!same.loads_vary && !same.scale);
    near(same.law.a, 1, .03);
}

static void test_memory(void **state)
{
    const struct delay_fit persistent =
        fitted("lognormal:1,.5/persistent", 1, 2);
    const struct delay_fit bursts = fitted("bimodal:1,3/burst:.02,.18", 1, 1);

    (void)state;
    assert_true(persistent.persistent);
    assert_non_null(strstr(persistent.text, "/persistent"));
    assert_true(bursts.bursty && !bursts.persistent);
    assert_int_equal(bursts.law.kind, DELAY_BIMODAL);
    near(bursts.law.b, 3, 1e-6);
    near(bursts.enter, .02, .15);
    near(bursts.leave, .18, .15);
    assert_non_null(strstr(bursts.text, "bimodal:1,3/burst:0.0"));
}

static void test_bimodal_and_dead(void **state)
{
    const struct delay_fit fit = fitted("bimodal:.05,3+dead:.02", 2, 2);

    (void)state;
    assert_int_equal(fit.law.kind, DELAY_BIMODAL);
    near(fit.law.a, .05, .1);
    near(fit.law.b, 3, 1e-6);
    near(fit.dead, .02, .2);
    assert_non_null(strstr(fit.text, "+dead:0.0"));
}

/* What is fitted can be read back as a delay. */
static void test_text_is_a_delay(void **state)
{
    static const char *const texts[] = {
        "exp:0.5/scale", "lognormal:1,.5/persistent",
        "bimodal:1,3/burst:.02,.18", "bimodal:.05,3+dead:.02"};

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const struct delay_fit fit = fitted(texts[i], 1, 3);
        struct delay delay;
        struct why why = {{0}};

        if (delay_parse(fit.text, 0, &delay, &why) != ERR_OK)
            fail_msg("%s", why.text);
    }
}

static void test_too_little(void **state)
{
    struct delay_trace trace = {0};
    struct delay_fit fit;
    struct why why = {{0}};

    (void)state;
    assert_int_equal(delay_trace_parse(&trace, "1,2,3\n2,3,1\n", &why), ERR_OK);
    assert_int_equal(fit_trace(&trace, &fit, &why), ERR_SHAPE);
    assert_string_equal(why.text,
                        "only 6 delays to fit; at least 8 are needed");
    delay_trace_close(&trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_families),
        cmocka_unit_test(test_scale),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_bimodal_and_dead),
        cmocka_unit_test(test_text_is_a_delay),
        cmocka_unit_test(test_too_little),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * What is written is read back; each refusal is checked by its sentence, which
 * names the line.
 */
#include "plan/delay_trace.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/mem.h"
#include "plan/delay.h"

static struct delay_trace parsed(const char *text)
{
    struct delay_trace trace = {0};
    struct why why = {0};

    if (delay_trace_parse(&trace, text, &why) != ERR_OK)
        fail_msg("%s", why.text);
    return trace;
}

static void test_forms(void **state)
{
    struct delay_trace trace = parsed("# a comment\n\n1, 2\t,3\r\n"
                                      "# work 0.5\n 4,dead,.5e1\n");

    (void)state;
    assert_int_equal(trace.rows, 2);
    assert_int_equal(trace.cols, 3);
    assert_true(trace.work_s[0] == 0 && trace.work_s[1] == .5);
    assert_true(delay_trace_at(&trace, 0, 2) == 3);
    assert_true(delay_trace_at(&trace, 1, 1) == DELAY_NEVER_S);
    assert_true(delay_trace_at(&trace, 1, 2) == 5);
    /* Beyond the file it begins again. */
    assert_true(delay_trace_at(&trace, 2, 3) == 1);
    delay_trace_close(&trace);
}

/* Longer than 2: 3 and 5 were seen; longer than 9: nothing was. */
static void test_censored(void **state)
{
    struct delay_trace trace = parsed("1,>2,3\n5,>9,dead\n");

    (void)state;
    assert_int_equal(trace.censored, 2);
    assert_true(delay_trace_at(&trace, 0, 1) == 4);
    assert_true(delay_trace_at(&trace, 1, 1) == 9);
    delay_trace_close(&trace);
}

static void test_there_and_back(void **state)
{
    struct delay delay;
    struct delay_trace made = {0};
    struct delay_trace again;
    char *text;

    (void)state;
    assert_int_equal(delay_parse("exp:.5+exp:1/scale+dead:.1", 3, &delay, NULL),
                     ERR_OK);
    assert_int_equal(delay_trace_generate(&made, &delay, 50, 7, .25), ERR_OK);
    text = delay_trace_text(&made);
    assert_non_null(text);
    again = parsed(text);
    assert_int_equal(again.rows, 50);
    assert_int_equal(again.cols, 7);
    for (uint32_t step = 0; step < 50; step++) {
        assert_true(again.work_s[step] == .25);
        for (uint32_t slot = 0; slot < 7; slot++) {
            const struct delay_draw draw = delay_draw(&delay, step, slot, NULL);
            const double want = fmin(draw.add_s + .25 * draw.factor, 1e9);
            const double got = delay_trace_at(&again, step, slot);

            assert_true(fabs(got - want) <= 1e-5 * want);
        }
    }
    mem_free(text);
    delay_trace_close(&made);
    delay_trace_close(&again);
}

static void test_realistic_is_a_delay(void **state)
{
    struct delay delay;

    (void)state;
    assert_int_equal(delay_parse(delay_trace_realistic, 0, &delay, NULL),
                     ERR_OK);
    assert_true(delay.count > 3);
}

static void test_refusals(void **state)
{
    static const struct {
        const char *text;
        const char *sentence;
    } rows[] = {
        {"", "no step in it"},
        {"# only this\n", "no step in it"},
        {"1,2\n1,2,3\n", "line 2: 3 numbers, the lines before have 2"},
        {"1,2\n\n1\n", "line 3: 1 numbers, the lines before have 2"},
        {"1,-2\n", "line 1: -2 is negative; a delay is not"},
        {"1,nan\n", "line 1: `nan` is not a number"},
        {"1,inf\n", "line 1: `inf` is not a number"},
        {"1,0x2\n", "line 1: `0x2` is not a number"},
        {"1\n2s\n", "line 2: `2s` is not a number"},
        {"1,,2\n", "line 1: `` is not a number"},
        {"# work -1\n1\n", "line 1: -1 is negative; a delay is not"},
        {"step,w0\n1,2\n", "line 1: `step` is not a number"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct delay_trace trace = {.rows = 77};
        struct why why = {0};

        assert_int_equal(delay_trace_parse(&trace, rows[i].text, &why),
                         ERR_FORMAT);
        assert_string_equal(why.text, rows[i].sentence);
        assert_int_equal(trace.rows, 77); /* Written only on success. */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_censored),
        cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_realistic_is_a_delay),
        cmocka_unit_test(test_refusals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

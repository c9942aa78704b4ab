/*
 * --code auto in the whole system: it changes the code where that pays and
 * nowhere else, what it changed to outlives the coordinator, and the model has
 * the bits of one machine alone whatever was changed and whoever died.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sim/sim_case.h"

#define STEPS 80u

struct heard {
    uint32_t count;
    char last[SIM_TEXT];
};

static void hear(void *context, const char *sentence)
{
    struct heard *heard = context;

    heard->count++;
    (void)snprintf(heard->last, sizeof heard->last, "%s", sentence);
}

static void run(const char *delay, const struct sim_fault *fault,
                uint32_t drill, struct heard *heard, struct sim_result *result)
{
    struct sim_case test;

    sim_case_init(&test, "steal", 8, 1);
    *heard = (struct heard){0};
    test.options.adapt = true;
    test.options.drill = drill;
    test.options.optim.steps = STEPS;
    test.options.switched = hear;
    test.options.switched_context = heard;
    test.options.script = fault;
    test.options.script_count = fault != NULL;
    assert_int_equal(delay_parse(delay, 5, &test.options.delay, NULL), ERR_OK);
    sim_case_passes(&test, result);
    assert_true(result->hash_expected);
    assert_true(digest_equal(&result->hash, &result->expected));
    sim_result_close(result);
    sim_case_close(&test);
}

static void test_changes_where_it_pays(void **state)
{
    struct heard heard;
    struct sim_result result;

    (void)state;
    run("exp:.2", NULL, 0, &heard, &result);
    assert_true(heard.count >= 1);
    assert_int_equal(result.stats.switches, heard.count);
    assert_int_equal(result.stats.views, 1 + heard.count);
    assert_non_null(strstr(heard.last, "instead of steal s=1"));
    assert_non_null(strstr(heard.last, "less time a step expected (95 %: "));
}

static void test_stays_where_nothing_is_slow(void **state)
{
    struct heard heard;
    struct sim_result result;

    (void)state;
    run("", NULL, 0, &heard, &result);
    assert_int_equal(heard.count, 0);
    assert_int_equal(result.stats.views, 1);
}

/* A coordinator killed after the change goes on with what it had changed to:
 * otherwise it would have to change again. */
static void test_outlives_the_coordinator(void **state)
{
    const struct sim_fault kill = {
        .kind = FAULT_KILL, .step = 60, .for_us = 50 * MS_US};
    struct heard quiet;
    struct heard heard;
    struct sim_result result;

    (void)state;
    run("exp:.2", NULL, 0, &quiet, &result);
    run("exp:.2", &kill, 0, &heard, &result);
    assert_int_equal(result.lives, 2);
    assert_int_equal(heard.count, quiet.count);
    assert_string_equal(heard.last, quiet.last);
    assert_int_equal(result.stats.switches, 0); /* Of the second life. */
}

/* Changes every second step, a fault at each of many places. */
static void test_faults_among_changes(void **state)
{
    static const enum fault_kind kinds[] = {
        FAULT_KILL, FAULT_POWER, FAULT_CRASH, FAULT_LEAVE, FAULT_JOIN};
    struct heard heard;
    struct sim_result result;

    (void)state;
    for (uint32_t i = 0; i < 40; i++) {
        const struct sim_fault fault = {.kind = kinds[i % 5],
                                        .step = 3 + i,
                                        .worker = i % 8,
                                        .after_us = (time_us)(i % 7) * 500,
                                        .for_us = 40 * MS_US};

        run("", &fault, 2, &heard, &result);
        assert_true(heard.count >= STEPS / 2 - 5);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_changes_where_it_pays),
        cmocka_unit_test(test_stays_where_nothing_is_slow),
        cmocka_unit_test(test_outlives_the_coordinator),
        cmocka_unit_test(test_faults_among_changes),
    };

    return cmocka_run_group_tests_name("sim-adapt", tests, NULL, NULL);
}

/*
 * One run at a time: without faults every code ends with its promise kept; one
 * fault of each kind, at every step, does no harm and costs no more time than
 * promised; the same options give the same trace.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sim/sim_case.h"

static void run_code(const char *code, uint32_t n, uint32_t s)
{
    struct sim_case test;
    struct sim_result result;

    sim_case_init(&test, code, n, s);
    sim_case_passes(&test, &result);
    if (result.hash_expected)
        assert_true(digest_equal(&result.hash, &result.expected));
    assert_int_equal(result.lives, 1);
    sim_result_close(&result);
    test.options.shipped = 1; /* Again, with workers that hold no data. */
    sim_case_passes(&test, &result);
    sim_result_close(&result);
    sim_case_close(&test);
}

static void test_every_code_without_faults(void **state)
{
    (void)state;
    run_code("uncoded", 1, 0);
    run_code("uncoded", 5, 0);
    run_code("frc", 6, 1);
    run_code("rep", 7, 2);
    run_code("steal", 2, 1);
    run_code("steal", 8, 1);
    run_code("cyclic", 6, 2);
    run_code("ignore", 5, 1);
    run_code("agc", 6, 1);
    run_code("stream", 6, 2);
    run_code("cb", 6, 2);
    run_code("partial-frc", 6, 1);
    run_code("partial-cyclic", 6, 2);
    run_code("mds", 6, 2);
    run_code("sgc", 6, 2);
    run_code("flexent", 6, 2);
}

/* One hash, whatever the machines: the promise that everything rests on. */
static void test_one_hash_for_all_clusters(void **state)
{
    static const struct {
        const char *code;
        uint32_t n, s;
    } clusters[] = {{"uncoded", 1, 0}, {"uncoded", 8, 0},    {"frc", 4, 1},
                    {"rep", 5, 1},     {"steal", 3, 1},      {"steal", 8, 2},
                    {"stream", 5, 2},  {"partial-frc", 6, 2}};
    struct digest first = {{0}};

    (void)state;
    for (size_t i = 0; i < sizeof clusters / sizeof *clusters; i++) {
        struct sim_case test;
        struct sim_result result;

        sim_case_init(&test, clusters[i].code, clusters[i].n, clusters[i].s);
        sim_case_passes(&test, &result);
        if (i == 0)
            first = result.hash;
        assert_true(digest_equal(&result.hash, &first));
        sim_result_close(&result);
        sim_case_close(&test);
    }
}

static void run_fault(enum fault_kind kind, uint32_t step, const char *code)
{
    const struct sim_fault fault = {.kind = kind,
                                    .step = step,
                                    .worker = 1,
                                    .after_us = 1500,
                                    .for_us = 2500 * MS_US,
                                    .count = step};
    struct sim_case test;
    struct sim_result result;

    sim_case_init(&test, code, 4, 1);
    test.options.workers_max = 6;
    test.options.script = &fault;
    test.options.script_count = 1;
    test.options.checkpoint_steps = 3;
    sim_case_passes(&test, &result);
    sim_result_close(&result);
    sim_case_close(&test);
}

static void test_one_fault_of_each_kind_at_each_step(void **state)
{
    (void)state;
    for (int kind = 0; kind < FAULT_KINDS; kind++) {
        for (uint32_t step = 0; step < 12; step++) {
            run_fault((enum fault_kind)kind, step, "uncoded");
            run_fault((enum fault_kind)kind, step, "frc");
            run_fault((enum fault_kind)kind, step, "steal");
            run_fault((enum fault_kind)kind, step, "cyclic");
            run_fault((enum fault_kind)kind, step, "mds");
            run_fault((enum fault_kind)kind, step, "stream");
            run_fault((enum fault_kind)kind, step, "partial-cyclic");
            run_fault((enum fault_kind)kind, step, "ignore");
        }
    }
}

/* The longest time between two commits, and from the start to the first. */
static double worst_pause(const struct sim_result *result)
{
    double last_s = 0;
    double worst_s = 0;

    for (uint32_t i = 0; i < result->series_count; i++) {
        if (result->series[i].t_s - last_s > worst_s)
            worst_s = result->series[i].t_s - last_s;
        last_s = result->series[i].t_s;
    }
    return worst_s;
}

static double pause_after(enum fault_kind kind, const char *code)
{
    const struct sim_fault fault = {.kind = kind,
                                    .step = 4,
                                    .worker = 1,
                                    .after_us = MS_US,
                                    .for_us = 60 * SECOND_US};
    struct sim_case test;
    struct sim_result result;
    double pause_s;

    sim_case_init(&test, code, 4, 1);
    test.options.script = &fault;
    test.options.script_count = 1;
    test.options.series = true;
    sim_case_passes(&test, &result);
    assert_int_equal(result.faults, 1);
    pause_s = worst_pause(&result);
    sim_result_close(&result);
    sim_case_close(&test);
    return pause_s;
}

/* P7.  A step takes 5 ms here.  A redundant code does not notice.  Without
 * redundancy silence costs the suspicion limit (0.3 s) and the lost work, a
 * death that the socket shows next to nothing; never the 2 s until dead. */
static void test_pauses_are_short(void **state)
{
    (void)state;
    assert_true(pause_after(FAULT_FREEZE, "frc") < 0.05);
    assert_true(pause_after(FAULT_FREEZE, "cyclic") < 0.05);
    assert_true(pause_after(FAULT_FREEZE, "steal") < 0.05);
    assert_true(pause_after(FAULT_FREEZE, "uncoded") < 0.3 + 0.1);
    assert_true(pause_after(FAULT_LEAVE, "uncoded") < 0.05);
    assert_true(pause_after(FAULT_RESET, "uncoded") < 0.3 + 0.1);
}

static void test_same_options_same_trace(void **state)
{
    struct sim_case test;
    struct sim_result once;
    struct sim_result again;

    (void)state;
    sim_case_init(&test, "steal", 5, 1);
    test.options.faults = true;
    test.options.seed = 99;
    sim_case_passes(&test, &once);
    sim_case_passes(&test, &again);
    assert_true(once.faults > 0);
    assert_int_equal(once.trace_digest, again.trace_digest);
    assert_int_equal(once.events, again.events);
    sim_result_close(&again);
    test.options.seed = 100;
    sim_case_passes(&test, &again);
    assert_int_not_equal(once.trace_digest, again.trace_digest);
    sim_result_close(&once);
    sim_result_close(&again);
    sim_case_close(&test);
}

static void count_line(void *context, const char *line)
{
    assert_true(strlen(line) > 0);
    (*(uint32_t *)context)++;
}

/* Looking does not change what is seen. */
static void test_sink_changes_nothing(void **state)
{
    struct sim_case test;
    struct sim_result dark;
    struct sim_result seen;
    uint32_t lines = 0;

    (void)state;
    sim_case_init(&test, "rep", 5, 1);
    test.options.faults = true;
    sim_case_passes(&test, &dark);
    test.options.sink = count_line;
    test.options.sink_context = &lines;
    test.options.series = true;
    sim_case_passes(&test, &seen);
    assert_int_equal(dark.trace_digest, seen.trace_digest);
    assert_true(lines > 20);
    assert_true(seen.series_count >= test.options.optim.steps);
    sim_result_close(&dark);
    sim_result_close(&seen);
    sim_case_close(&test);
}

static void test_bad_options_are_refused(void **state)
{
    struct sim_case test;
    struct sim_result result;
    struct why why = {{0}};

    (void)state;
    sim_case_init(&test, "frc", 4, 1);
    test.options.slots = 3; /* 2 does not divide 3. */
    assert_int_equal(sim_run(&test.options, &result, &why), ERR_SHAPE);
    assert_true(strlen(why.text) > 0);
    test.options.slots = 0;
    assert_int_equal(sim_run(&test.options, &result, &why), ERR_SHAPE);
    test.options.slots = 4;
    test.options.problem = NULL;
    test.options.rows = 0;
    assert_int_equal(sim_run(&test.options, &result, &why), ERR_SHAPE);
    sim_case_close(&test);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_code_without_faults),
        cmocka_unit_test(test_one_hash_for_all_clusters),
        cmocka_unit_test(test_one_fault_of_each_kind_at_each_step),
        cmocka_unit_test(test_pauses_are_short),
        cmocka_unit_test(test_same_options_same_trace),
        cmocka_unit_test(test_sink_changes_nothing),
        cmocka_unit_test(test_bad_options_are_refused),
    };

    return cmocka_run_group_tests_name("sim", tests, NULL, NULL);
}

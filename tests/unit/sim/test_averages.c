/*
 * Code `local` in virtual time: every receipt of every run is computed again
 * from itself (the simulator's own check, averages.h), here with parts that
 * are missing for certain; a receipt that lies is found out; the same seed
 * gives the same model, other participants another.
 */
#include "sim/averages.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/sim_case.h"

static void init(struct sim_case *test, uint32_t n, enum optim_kind kind,
                 uint32_t every)
{
    struct optim_options *optim = &test->options.optim;

    sim_case_init(test, "local", n, 0);
    optim->kind = kind;
    optim->l2 = 0.5;
    optim->seed = 9;
    *optim = optim_averaged(optim, every);
}

static struct digest run(const struct sim_case *test, double *coverage)
{
    struct sim_result result;
    struct digest hash;

    sim_case_passes(test, &result);
    hash = result.hash;
    if (coverage != NULL)
        *coverage = result.coverage;
    sim_result_close(&result);
    return hash;
}

static void test_runs_repeat_themselves(void **state)
{
    static const enum optim_kind kinds[] = {OPTIM_GD, OPTIM_SGD};

    (void)state;
    for (int k = 0; k < 2; k++) {
        for (uint32_t every = 1; every <= 12; every += 3) {
            struct sim_case test;
            struct digest first, again;
            double coverage;

            init(&test, 6, kinds[k], every);
            first = run(&test, &coverage);
            assert_true(coverage == 1);
            test.options.shipped = 1; /* Workers that hold no data. */
            test.options.seed++;      /* Other roads, the same members. */
            again = run(&test, NULL);
            assert_true(digest_equal(&first, &again));
            sim_case_close(&test);
        }
    }
}

/* The two slowest are left out of every average: 14 of 20 chunks or less. */
static void test_missing_parts_are_told(void **state)
{
    struct sim_case test;
    struct digest all, some;
    struct why why = {{0}};
    double coverage;

    (void)state;
    init(&test, 6, OPTIM_GD, 3);
    all = run(&test, NULL);
    test.options.code.stop = STOP_FIRST;
    test.options.code.k = 4;
    assert_int_equal(delay_parse("exp:0.3", 4, &test.options.delay, &why),
                     ERR_OK);
    some = run(&test, &coverage);
    assert_true(coverage >= 0.6 && coverage <= 0.7);
    assert_false(digest_equal(&all, &some));
    sim_case_close(&test);
}

/* Alone it is what it stands for: gd, to rounding, and the oracle's bits. */
static void test_one_worker(void **state)
{
    struct sim_case test;
    struct sim_result result;
    struct digest once;

    (void)state;
    init(&test, 1, OPTIM_GD, 12);
    once = run(&test, NULL);
    sim_case_close(&test);
    sim_case_init(&test, "uncoded", 1, 0);
    test.options.optim.kind = OPTIM_GD;
    test.options.optim.l2 = 0.5;
    sim_case_passes(&test, &result);
    assert_true(digest_equal(&result.hash, &once));
    sim_result_close(&result);
    sim_case_close(&test);
}

static void test_lies_are_found_out(void **state)
{
    struct sim_case test;
    struct oracle oracle;
    struct averages averages;
    struct record record = {.kind = RECORD_STEP, .slots = 1, .rescale = 1};

    (void)state;
    init(&test, 1, OPTIM_GD, 4);
    assert_int_equal(oracle_init(&oracle, &test.problem, 8, 20,
                                 &test.options.optim, NULL, NULL,
                                 &test.options.held_out),
                     ERR_OK);
    assert_int_equal(averages_init(&averages, &oracle), ERR_OK);
    record.chunks = 20;
    for (record.step = 1; record.step <= 3; record.step++) {
        record.weights = oracle.hash[record.step];
        assert_null(averages_redo(&averages, &record));
    }
    record.step = 2;
    assert_non_null(averages_redo(&averages, &record)); /* Weights of 3. */
    record.weights = oracle.hash[2];
    assert_null(averages_redo(&averages, &record));
    record.chunks = 19;
    assert_non_null(averages_redo(&averages, &record));
    record.chunks = 20;
    record.rescale = 1.5;
    assert_non_null(averages_redo(&averages, &record));
    record.rescale = 1;
    record.slots = 2; /* Two parts go elsewhere. */
    assert_non_null(averages_redo(&averages, &record));
    record.slots = 1;
    record.silent[0] = 1;
    assert_non_null(averages_redo(&averages, &record));
    record.step = 0;
    assert_non_null(averages_redo(&averages, &record));
    averages_close(&averages);
    oracle_close(&oracle);
    sim_case_close(&test);
}

static void test_every_fault(void **state)
{
    (void)state;
    for (int kind = 0; kind < FAULT_KINDS; kind++) {
        for (uint32_t step = 0; step < 4; step++) {
            const struct sim_fault fault = {.kind = (enum fault_kind)kind,
                                            .step = step,
                                            .worker = 1,
                                            .after_us = 1500,
                                            .for_us = 2500 * MS_US,
                                            .count = step};
            struct sim_case test;

            init(&test, 4, OPTIM_GD, 3);
            test.options.workers_max = 6;
            test.options.script = &fault;
            test.options.script_count = 1;
            test.options.checkpoint_steps = 2;
            (void)run(&test, NULL);
            sim_case_close(&test);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs_repeat_themselves),
        cmocka_unit_test(test_missing_parts_are_told),
        cmocka_unit_test(test_one_worker),
        cmocka_unit_test(test_lies_are_found_out),
        cmocka_unit_test(test_every_fault),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

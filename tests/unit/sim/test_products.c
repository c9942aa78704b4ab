/*
 * Coded data in the simulator: the order statistic in virtual time, every
 * method and model, workers that are sent their blocks, silence of every set of
 * s, and codes that are made anew.  The checker compares the weights with one
 * machine's (CHECK-1: 1e-9).
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "code/preset.h"
#include "sim/sim_case.h"

enum { N = 5, S = 2 };

static void passes(const struct sim_case *test, struct sim_result *result)
{
    sim_case_passes(test, result);
    assert_int_equal(result->stats.exactness[EXACT_NUMERIC], result->steps);
    assert_true(result->stats.worst_residual <= CODE_RESIDUAL_MAX);
    assert_true(result->stats.worst_condition >= 1);
    assert_true(result->stats.worst_condition < 1e9);
    assert_true(result->coverage == 1);
}

static void test_every_method(void **state)
{
    static const enum optim_kind kinds[] = {OPTIM_GD, OPTIM_AGD, OPTIM_MOMENTUM,
                                            OPTIM_ADAM, OPTIM_LBFGS};

    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        for (int shipped = 0; shipped < 2; shipped++) {
            struct sim_case test;
            struct sim_result result;

            sim_case_init(&test, "mds", N, S);
            test.options.optim = optim_defaults(kinds[i]);
            test.options.optim.diagonal = false; /* Products have none. */
            test.options.optim.rows = test.data.rows;
            test.options.optim.l2 = .01;
            test.options.optim.steps = 5;
            test.options.shipped = shipped;
            passes(&test, &result);
            sim_result_close(&result);
            sim_case_close(&test);
        }
    }
}

static void test_every_model(void **state)
{
    static const enum model_kind kinds[] = {MODEL_LINEAR, MODEL_LOGISTIC,
                                            MODEL_SVM, MODEL_HINGE};

    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct sim_case test;
        struct sim_result result;

        sim_case_init(&test, "mds", N, S);
        test.problem.model = model_ops(kinds[i]);
        test.options.optim.rate = .05;
        assert_int_equal(dataset_add_weights(&test.data), ERR_OK);
        for (uint32_t row = 0; row < test.data.rows; row += 3)
            test.data.weight[row] = 2.5;
        passes(&test, &result);
        sim_result_close(&result);
        sim_case_close(&test);
    }
}

/* They die in the middle of the first product of a step, or of the second. */
static void check_silent(uint32_t one, uint32_t two, time_us after_us)
{
    const struct sim_fault faults[] = {
        {.kind = FAULT_CRASH, .step = 3, .worker = one, .after_us = after_us},
        {.kind = FAULT_CRASH, .step = 3, .worker = two, .after_us = after_us}};
    struct sim_case test;
    struct sim_result result;

    sim_case_init(&test, "mds", N, S);
    test.options.script = faults;
    test.options.script_count = 2;
    test.options.shipped = one % 2;
    passes(&test, &result);
    assert_int_equal(result.stats.redone, 0); /* Nobody had to begin anew. */
    assert_int_equal(result.stats.died, 2);
    sim_result_close(&result);
    sim_case_close(&test);
}

static void test_every_two_die(void **state)
{
    (void)state;
    for (uint32_t one = 0; one < N; one++) {
        for (uint32_t two = 0; two < one; two++) {
            check_silent(one, two, 500);
            check_silent(one, two, 5000);
        }
    }
}

/* More than s die, three join: blocks of other codes. */
static void test_other_numbers(void **state)
{
    static const struct sim_fault faults[] = {
        {.kind = FAULT_CRASH, .step = 2, .worker = 0, .after_us = 700},
        {.kind = FAULT_CRASH, .step = 2, .worker = 1, .after_us = 700},
        {.kind = FAULT_CRASH, .step = 3, .worker = 2, .after_us = 2700},
        {.kind = FAULT_JOIN, .step = 6},
        {.kind = FAULT_RESTART, .step = 8, .worker = 1},
        {.kind = FAULT_KILL, .step = 9, .for_us = 50 * MS_US}};

    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct sim_case test;
        struct sim_result result;

        sim_case_init(&test, "mds", N, S);
        test.options.seed = seed;
        test.options.script = faults;
        test.options.script_count = sizeof faults / sizeof *faults;
        test.options.workers_max = N + 3;
        test.options.shipped = .5;
        sim_case_passes(&test, &result);
        sim_result_close(&result);
        sim_case_close(&test);
    }
}

/* How long step 2 takes, with what happens in it. */
static double elastic_step_s(const struct sim_fault *fault)
{
    struct preset_options preset = {
        .name = "cec", .l = 10, .blocks = 20, .workers = 15, .seed = 1};
    struct sim_options options = sim_options_default();
    struct sim_result result;
    struct why why = {{0}};
    double took;

    assert_int_equal(preset_spec(&preset, &options.code, &why), ERR_OK);
    sim_bring_rows(&options);
    options.rows = 640;
    options.chunk_rows = 1;
    options.slots = preset.workers;
    options.chunk_us = 100 * MS_US;
    options.optim = optim_defaults(OPTIM_GD);
    options.optim.rows = options.rows;
    options.optim.steps = 4;
    options.settle_us = 1000 * SECOND_US;
    options.script = fault;
    options.script_count = fault != NULL;
    options.series = true;
    assert_int_equal(sim_run(&options, &result, &why), ERR_OK);
    assert_true(result.finished && !result.violated);
    assert_int_equal(result.series_count, 4);
    took = result.series[2].t_s - result.series[1].t_s;
    sim_result_close(&result);
    return took;
}

/* On the way back as on the way there: of 15, 14 are left, and do what is left
 * in 15/14 of the time, .3 x 1/14 = .02 of the step more.  What is being
 * computed, and what was begun and is coded anew, is a piece or two of 43 more
 * in each round. */
static void test_a_leave_on_the_way_back(void **state)
{
    const double whole = elastic_step_s(NULL);

    (void)state;
    for (uint32_t worker = 0; worker < 15; worker++) {
        const struct sim_fault fault = {.kind = FAULT_LEAVE,
                                        .step = 2,
                                        .worker = worker,
                                        .after_us =
                                            (time_us)(.7 * whole * 1e6)};
        const double took = elastic_step_s(&fault);

        assert_true(took > 1.01 * whole && took < 1.07 * whole);
    }
}

/* Fewer chunks than n-s: as many parts as chunks. */
static void test_few_chunks(void **state)
{
    struct sim_case test;
    struct sim_result result;

    (void)state;
    sim_case_init(&test, "mds", 24, 2);
    passes(&test, &result);
    sim_result_close(&result);
    sim_case_close(&test);
}

/* Two rounds of half the work, each to the k-th of n: delays in proportion are
 * paid once, added ones twice. */
static void check_time(const char *delay, double want)
{
    struct sim_case test;
    struct sim_result result;
    struct why why = {{0}};

    sim_case_init(&test, "mds", N, S);
    test.options.ideal = true;
    test.options.problem = NULL;
    test.options.rows = 12; /* Chunks; each of 5 blocks has 4 of them. */
    test.options.chunk_rows = 1;
    test.options.optim.rows = 12;
    test.options.chunk_us = 1000;
    assert_int_equal(delay_parse(delay, 1, &test.options.delay, &why), ERR_OK);
    sim_case_passes(&test, &result);
    assert_true(fabs(result.mean_step_s - want) < 1e-9);
    sim_result_close(&result);
    sim_case_close(&test);
}

static void test_order_statistic(void **state)
{
    (void)state;
    check_time("shifted:0,0", .004);
    check_time("worker:w1=9+worker:w4=9", .004); /* The two are not needed. */
    check_time("worker:w1=9+worker:w4=9+worker:w2=3", .012);
    check_time("shifted:.1,0", .204);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_method),
        cmocka_unit_test(test_every_model),
        cmocka_unit_test(test_every_two_die),
        cmocka_unit_test(test_other_numbers),
        cmocka_unit_test(test_a_leave_on_the_way_back),
        cmocka_unit_test(test_few_chunks),
        cmocka_unit_test(test_order_statistic),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Early stopping in the simulator: whoever dies, and at the end of whichever
 * pass, a run ends where one perfect machine ends, with the weights of its best
 * pass (sim/oracle.c decides that by itself), and its journal has every pass.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/sim_case.h"

#define PASS_STEPS 5u
#define PASSES     12u
#define PATIENCE   2u
#define SEEDS      200u

/* Falls for a while, then rises: a run passes this point on its way. */
static enum err distance(void *context, const double *weights, double *loss)
{
    const double *const to = context;

    *loss = 0;
    for (uint32_t j = 0; j < 5; j++)
        *loss += (weights[j] - to[j]) * (weights[j] - to[j]);
    return ERR_OK;
}

static double target[5] = {0.16, 0.16, 0.16, 0.16, 0.16};

static void init(struct sim_case *test, const char *code, uint32_t s)
{
    struct optim_options *const optim = &test->options.optim;

    sim_case_init(test, code, 4, s);
    optim->kind = OPTIM_GD;
    optim->rate = 0.05;
    optim->steps = PASSES * PASS_STEPS;
    optim->sampler = sampler_of(SAMPLER_ROWS, 160, 8, 32, 5);
    optim->held_out = true;
    optim->patience = PATIENCE;
    test->options.held_out = (struct held_out){distance, target};
}

/* Ends with one machine's model; returns its steps. */
static uint32_t run(const struct sim_case *test)
{
    struct sim_result result;
    struct why why = {{0}};
    uint32_t steps;

    if (sim_run(&test->options, &result, &why) != ERR_OK)
        fail_msg("seed %u: %s", (unsigned)test->options.seed, why.text);
    if (result.violated)
        fail_msg("seed %u: %s", (unsigned)test->options.seed, result.violation);
    assert_true(result.finished);
    assert_true(result.hash_expected);
    assert_true(digest_equal(&result.hash, &result.expected));
    steps = result.steps;
    sim_result_close(&result);
    return steps;
}

static void test_it_stops_early(void **state)
{
    struct sim_case test;
    uint32_t steps;

    (void)state;
    init(&test, "steal", 0);
    steps = run(&test);
    assert_true(steps > PATIENCE * PASS_STEPS);
    assert_true(steps < PASSES * PASS_STEPS);
    assert_int_equal(steps % PASS_STEPS, 0);
    test.options.optim.patience = 0;
    assert_int_equal(run(&test), PASSES * PASS_STEPS);
    test.options.optim.steps -= 2; /* The last pass is cut short. */
    test.options.optim.patience = PASSES;
    assert_int_equal(run(&test), PASSES * PASS_STEPS - 2);
    sim_case_close(&test);
}

/* The coordinator dies a little later each time: before, while and after it
 * measures, journals the pass and says goodbye. */
static void test_coordinator_dies_at_pass_ends(void **state)
{
    struct sim_case test;
    uint32_t steps;

    (void)state;
    init(&test, "steal", 0);
    steps = run(&test);
    for (uint32_t pass = 1; pass <= steps / PASS_STEPS; pass++) {
        for (time_us after = 0; after < 12 * MS_US; after += 500) {
            const struct sim_fault kill = {
                .kind = after % 1000 == 0 ? FAULT_KILL : FAULT_POWER,
                .step = pass * PASS_STEPS - 1,
                .after_us = after,
                .for_us = 20 * MS_US};

            test.options.script = &kill;
            test.options.script_count = 1;
            assert_int_equal(run(&test), steps);
        }
    }
    sim_case_close(&test);
}

static void test_faults(void **state)
{
    static const char *const codes[] = {"steal", "frc", "uncoded"};

    (void)state;
    for (uint32_t seed = 1; seed <= SEEDS; seed++) {
        struct sim_case test;

        init(&test, codes[seed % 3], seed % 3 == 1 ? 1 : 0);
        test.options.seed = seed;
        test.options.faults = true;
        test.options.fault_count = 8;
        test.options.fault_gap_us = 20 * MS_US;
        test.options.mix = fault_mix_default();
        test.options.checkpoint_steps = 1 + seed % 9;
        (void)run(&test);
        sim_case_close(&test);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_stops_early),
        cmocka_unit_test(test_coordinator_dies_at_pass_ends),
        cmocka_unit_test(test_faults),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * staleness in virtual time: no late answers give the bits of `ignore`; a
 * slow worker is used to the bound and no further; what is learnt comes near
 * to what exact sums give; every kind of fault is survived (the simulator's
 * CHECK-8 watches the age and the number of all that is counted).
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "code/preset.h"
#include "sim/sim_case.h"

#define WORKERS 4u
#define LONG    300u /* Steps, where what is learnt matters. */

static void init(struct sim_case *test, uint32_t staleness, const char *delay)
{
    const struct preset_options preset = {.name = "ignore",
                                          .stragglers = 1,
                                          .workers = WORKERS,
                                          .staleness = staleness};
    struct why why = {{0}};

    sim_case_init(test, "ignore", WORKERS, 1);
    test->options.optim.kind = OPTIM_GD;
    assert_int_equal(preset_spec(&preset, &test->options.code, &why), ERR_OK);
    assert_int_equal(delay_parse(delay, 5, &test->options.delay, &why), ERR_OK);
}

static struct sim_result run(const struct sim_case *test)
{
    struct sim_result result;

    sim_case_passes(test, &result);
    assert_true(result.stats.age_max <= test->options.code.staleness);
    return result;
}

static void test_none_is_ignore(void **state)
{
    struct sim_case test;
    struct sim_result stale;
    struct sim_result plain;

    (void)state;
    init(&test, 0, "exp:0.02");
    stale = run(&test);
    sim_case_close(&test);
    sim_case_init(&test, "ignore", WORKERS, 1);
    test.options.optim.kind = OPTIM_GD;
    assert_int_equal(delay_parse("exp:0.02", 5, &test.options.delay, NULL),
                     ERR_OK);
    plain = run(&test);
    assert_true(digest_equal(&stale.hash, &plain.hash));
    assert_int_equal(stale.trace_digest, plain.trace_digest);
    sim_result_close(&stale);
    sim_result_close(&plain);
    sim_case_close(&test);
}

/* One that takes eight times as long: for B = 1, 2, 3 the others wait for it
 * every so many steps, for 20 nobody has to. */
static void test_a_slow_worker_is_used_to_the_bound(void **state)
{
    static const uint32_t bounds[] = {1, 2, 3, 20};
    double before_s = HUGE_VAL;

    (void)state;
    for (int i = 0; i < 4; i++) {
        struct sim_case test;
        struct sim_result result;

        init(&test, bounds[i], "worker:w2=8");
        test.options.optim.steps = 60;
        result = run(&test);
        if (bounds[i] < 20)
            assert_int_equal(result.stats.age_max, bounds[i]);
        else
            assert_in_range(result.stats.age_max, 4, 8);
        assert_true(result.total_s < before_s);
        before_s = result.total_s;
        sim_result_close(&result);
        sim_case_close(&test);
    }
}

/* How far weights are from those of exact sums, in parts of their length. */
static double far_off(struct sim_case *test, const double *best, uint32_t dims)
{
    struct sim_result result;
    double apart = 0;
    double norm = 0;

    test->options.optim.steps = LONG;
    result = run(test);
    assert_int_equal(result.dims, dims);
    for (uint32_t j = 0; j < dims; j++) {
        apart += (result.weights[j] - best[j]) * (result.weights[j] - best[j]);
        norm += best[j] * best[j];
    }
    sim_result_close(&result);
    return sqrt(apart / norm);
}

/* `ignore` never sees the rows of the slow one; with late answers they have a
 * say, if a smaller one than the others': it answers every third step. */
static void test_late_rows_are_learnt_from(void **state)
{
    struct sim_case test;
    struct sim_result best;
    double without;
    double with;

    (void)state;
    sim_case_init(&test, "uncoded", WORKERS, 0);
    test.options.optim.kind = OPTIM_GD;
    test.options.optim.steps = LONG;
    sim_case_passes(&test, &best);
    sim_case_close(&test);
    init(&test, 0, "worker:w2=8");
    without = far_off(&test, best.weights, best.dims);
    sim_case_close(&test);
    init(&test, 2, "worker:w2=8");
    with = far_off(&test, best.weights, best.dims);
    sim_case_close(&test);
    print_message("off by %.3f without late answers, %.3f with\n", without,
                  with);
    assert_true(with < 0.75 * without);
    sim_result_close(&best);
}

static void test_runs_repeat_themselves(void **state)
{
    struct sim_case test;
    struct sim_result first;
    struct sim_result again;

    (void)state;
    init(&test, 2, "exp:0.02");
    first = run(&test);
    again = run(&test);
    assert_true(digest_equal(&first.hash, &again.hash));
    assert_true(first.stats.age_sum > 0);
    sim_result_close(&first);
    sim_result_close(&again);
    sim_case_close(&test);
}

static void test_every_fault(void **state)
{
    (void)state;
    for (int kind = 0; kind < FAULT_KINDS; kind++) {
        for (uint32_t step = 0; step < 8; step++) {
            const struct sim_fault fault = {.kind = (enum fault_kind)kind,
                                            .step = step,
                                            .worker = 1 + step % 2,
                                            .after_us = 1500,
                                            .for_us = 2500 * MS_US,
                                            .count = step};
            struct sim_case test;
            struct sim_result result;

            init(&test, 1 + step % 3, "worker:w2=5");
            test.options.workers_max = 6;
            test.options.script = &fault;
            test.options.script_count = 1;
            test.options.checkpoint_steps = 2;
            result = run(&test);
            sim_result_close(&result);
            sim_case_close(&test);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_none_is_ignore),
        cmocka_unit_test(test_a_slow_worker_is_used_to_the_bound),
        cmocka_unit_test(test_late_rows_are_learnt_from),
        cmocka_unit_test(test_runs_repeat_themselves),
        cmocka_unit_test(test_every_fault),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

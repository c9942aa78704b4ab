/*
 * Samples of another size while a run is under way (code flexent): it holds
 * from the next pass on, and a run whose coordinator dies, whenever it does,
 * ends with the model of one that did not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/sim_case.h"

#define PASS_STEPS 5u
#define STEPS      (4 * PASS_STEPS)
#define ASKED      7u /* In the second pass. */
#define SLOW       "worker:w1=1000"

static void init(struct sim_case *test)
{
    struct optim_options *const optim = &test->options.optim;
    struct why why = {{0}};

    sim_case_init(test, "flexent", 5, 1);
    optim->kind = OPTIM_GD;
    optim->rate = 0.05;
    optim->steps = STEPS;
    optim->sampler = sampler_of(SAMPLER_LOCAL, 160, 8, 32, 5);
    test->options.checkpoint_steps = 6;
    assert_int_equal(delay_parse(SLOW, 1, &test->options.delay, &why), ERR_OK);
}

static void ask(struct sim_case *test, uint32_t step, double size)
{
    struct sim_options *const options = &test->options;

    options->resize[options->resize_count++] =
        (struct sim_resize){.step = step, .after_us = 2 * MS_US, .size = size};
}

static struct digest run(const struct sim_case *test)
{
    struct sim_result result;
    struct why why = {{0}};
    struct digest hash;

    if (sim_run(&test->options, &result, &why) != ERR_OK)
        fail_msg("%s", why.text);
    if (result.violated)
        fail_msg("%s", result.violation);
    assert_true(result.finished);
    assert_int_equal(result.steps, STEPS);
    hash = result.hash;
    sim_result_close(&result);
    return hash;
}

/* Asked for once or twice in a pass, early or late: the last word counts, and
 * from the next one on. */
static void test_it_holds_from_the_next_pass(void **state)
{
    struct digest unchanged, changed, early, twice, last;
    struct sim_case test;

    (void)state;
    init(&test);
    unchanged = run(&test);
    ask(&test, ASKED, .6);
    changed = run(&test);
    assert_false(digest_equal(&unchanged, &changed));
    test.options.resize[0].step = PASS_STEPS;
    early = run(&test);
    assert_true(digest_equal(&changed, &early));
    test.options.resize[0].size = .3;
    ask(&test, ASKED, .6);
    twice = run(&test);
    assert_true(digest_equal(&changed, &twice));
    test.options.resize_count = 0;
    ask(&test, STEPS - 1, .6); /* No pass follows. */
    last = run(&test);
    assert_true(digest_equal(&unchanged, &last));
    sim_case_close(&test);
}

/* ... before the change is asked for, while it is journaled, before it holds
 * and after, with a checkpoint of before or after it. */
static void test_coordinator_dies(void **state)
{
    struct sim_case test;
    struct digest hash;

    (void)state;
    init(&test);
    ask(&test, ASKED, .6);
    ask(&test, ASKED + PASS_STEPS, .2);
    hash = run(&test);
    for (uint32_t step = ASKED; step < STEPS; step++) {
        for (time_us after = 0; after < 8 * MS_US; after += 1000) {
            const struct sim_fault kill = {
                .kind = after % 2000 == 0 ? FAULT_KILL : FAULT_POWER,
                .step = step,
                .after_us = after,
                .for_us = 20 * MS_US};
            struct digest again;

            test.options.script = &kill;
            test.options.script_count = 1;
            again = run(&test);
            if (step != ASKED && step != ASKED + PASS_STEPS)
                assert_true(digest_equal(&hash, &again));
        }
    }
    sim_case_close(&test);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_holds_from_the_next_pass),
        cmocka_unit_test(test_coordinator_dies),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

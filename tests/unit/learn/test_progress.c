/*
 * A made-up stream of trace events goes in; the picture of the run is compared.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "learn/watch/progress.h"

static struct progress progress;

static void event(enum trace_kind kind, const char *name, uint64_t chunks)
{
    struct trace trace = {.kind = kind, .link = -1, .b = chunks};

    (void)snprintf(trace.name, sizeof trace.name, "%s", name);
    progress_event(&progress, &trace);
}

static void start(uint32_t workers)
{
    progress_init(&progress);
    for (uint32_t i = 0; i < workers; i++) {
        char name[NAME_SIZE];

        (void)snprintf(name, sizeof name, "w%u", i);
        event(TRACE_JOINED, name, 0);
    }
    event(TRACE_ROUND, "", 0);
    progress_tick(&progress, PACE_WINDOW_US);
}

static void test_states(void **state)
{
    (void)state;
    start(3);
    assert_int_equal(progress_alive(&progress), 3);
    event(TRACE_SUSPECT, "w1", 0);
    assert_int_equal(progress.workers[1].state, PROGRESS_SUSPECT);
    event(TRACE_CLEARED, "w1", 0);
    assert_int_equal(progress.workers[1].state, PROGRESS_WORKING);
    event(TRACE_DIED, "w1", 0);
    event(TRACE_LEFT, "w2", 0);
    assert_int_equal(progress_alive(&progress), 1);
    assert_int_equal(progress.died, 1);
    assert_int_equal(progress.left, 1);
    event(TRACE_JOINED, "w1", 0);
    assert_int_equal(progress_alive(&progress), 2);
    assert_int_equal(progress.count, 3);
}

static void test_straggler(void **state)
{
    (void)state;
    start(4);
    for (uint32_t i = 0; i < 10; i++) {
        event(TRACE_TALLY, "w0", 4);
        event(TRACE_TALLY, "w1", 4);
        event(TRACE_TALLY, "w2", 3);
        event(TRACE_TALLY, "w3", 1);
    }
    progress_tick(&progress, 2 * PACE_WINDOW_US);
    assert_int_equal(progress.workers[2].state, PROGRESS_WORKING);
    assert_int_equal(progress.workers[3].state, PROGRESS_STRAGGLING);
    assert_int_equal(progress_straggled(&progress), 1);
    assert_int_equal(progress.pace_best, 40);
    /* It catches up; that it straggled is remembered. */
    for (uint32_t i = 0; i < 4; i++) {
        event(TRACE_TALLY, "w0", 4);
        event(TRACE_TALLY, "w1", 4);
        event(TRACE_TALLY, "w2", 4);
        event(TRACE_TALLY, "w3", 4);
    }
    progress_tick(&progress, 3 * PACE_WINDOW_US);
    assert_int_equal(progress.workers[3].state, PROGRESS_WORKING);
    assert_int_equal(progress_straggled(&progress), 1);
}

static void test_window(void **state)
{
    (void)state;
    start(1);
    event(TRACE_TALLY, "w0", 5);
    progress_tick(&progress, 2 * PACE_WINDOW_US - 1);
    assert_int_equal(progress.workers[0].pace, 0);
    progress_tick(&progress, 2 * PACE_WINDOW_US);
    assert_int_equal(progress.workers[0].pace, 5);
}

static void test_more_than_fit(void **state)
{
    (void)state;
    start(PROGRESS_WORKERS_MAX + 10);
    assert_int_equal(progress.count, PROGRESS_WORKERS_MAX);
    assert_int_equal(progress.joined, PROGRESS_WORKERS_MAX + 10);
    event(TRACE_TALLY, "w260", 1);
}

static void test_gone(void **state)
{
    (void)state;
    start(2);
    progress_gone(&progress, "w1");
    assert_int_equal(progress.workers[1].state, PROGRESS_DEAD);
    event(TRACE_JOINED, "w1", 0);
    assert_int_equal(progress.workers[1].state, PROGRESS_WORKING);
    event(TRACE_DONE, "", 0);
    progress_gone(&progress, "w1");
    assert_int_equal(progress.workers[1].state, PROGRESS_WORKING);
}

static void test_order(void **state)
{
    (void)state;
    progress_init(&progress);
    event(TRACE_JOINED, "w10", 0);
    event(TRACE_JOINED, "w2", 0);
    event(TRACE_JOINED, "w9", 0);
    event(TRACE_JOINED, "w2", 0);
    assert_true(progress.rejoined);
    assert_int_equal(progress.count, 3);
    assert_string_equal(progress.workers[0].name, "w2");
    assert_string_equal(progress.workers[1].name, "w9");
    assert_string_equal(progress.workers[2].name, "w10");
}

static void test_commit(void **state)
{
    struct trace trace = {.kind = TRACE_COMMIT, .value = 0.25};

    (void)state;
    start(1);
    trace.key.step = 10;
    progress_event(&progress, &trace);
    assert_int_equal(progress.step, 10);
    assert_true(progress.objective == 0.25);
}

/* Before its first commit a run that goes on is at the step of its first
 * round; before that, nobody knows which. */
static void test_goes_on(void **state)
{
    struct trace round = {.kind = TRACE_ROUND, .link = -1};
    struct trace died = {.kind = TRACE_DIED, .link = -1, .name = "w1"};
    char text[TRACE_TEXT];

    (void)state;
    progress_init(&progress);
    event(TRACE_JOINED, "w0", 0);
    event(TRACE_JOINED, "w1", 0);
    assert_string_equal(progress_sentence(&progress, &died, text), "w1 died");
    round.key.step = 1500;
    progress_event(&progress, &round);
    assert_string_equal(progress_sentence(&progress, &died, text),
                        "step 1500: w1 died");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_states), cmocka_unit_test(test_straggler),
        cmocka_unit_test(test_window), cmocka_unit_test(test_more_than_fit),
        cmocka_unit_test(test_commit), cmocka_unit_test(test_order),
        cmocka_unit_test(test_gone),   cmocka_unit_test(test_goes_on),
    };

    return cmocka_run_group_tests_name("watch", tests, NULL, NULL);
}

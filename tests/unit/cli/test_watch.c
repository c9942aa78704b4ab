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

#include "cli/show/watch.h"

static struct watch watch;

static void event(enum trace_kind kind, const char *name, uint64_t chunks)
{
    struct trace trace = {.kind = kind, .link = -1, .b = chunks};

    (void)snprintf(trace.name, sizeof trace.name, "%s", name);
    watch_event(&watch, &trace);
}

static void start(uint32_t workers)
{
    watch_init(&watch);
    for (uint32_t i = 0; i < workers; i++) {
        char name[NAME_SIZE];

        (void)snprintf(name, sizeof name, "w%u", i);
        event(TRACE_JOINED, name, 0);
    }
    event(TRACE_STEP, "", 0);
    watch_tick(&watch, PACE_WINDOW_US);
}

static void test_states(void **state)
{
    (void)state;
    start(3);
    assert_int_equal(watch_alive(&watch), 3);
    event(TRACE_SUSPECT, "w1", 0);
    assert_int_equal(watch.workers[1].state, WATCH_SUSPECT);
    event(TRACE_CLEARED, "w1", 0);
    assert_int_equal(watch.workers[1].state, WATCH_WORKING);
    event(TRACE_DIED, "w1", 0);
    event(TRACE_LEFT, "w2", 0);
    assert_int_equal(watch_alive(&watch), 1);
    assert_int_equal(watch.died, 1);
    assert_int_equal(watch.left, 1);
    event(TRACE_JOINED, "w1", 0);
    assert_int_equal(watch_alive(&watch), 2);
    assert_int_equal(watch.count, 3);
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
    watch_tick(&watch, 2 * PACE_WINDOW_US);
    assert_int_equal(watch.workers[2].state, WATCH_WORKING);
    assert_int_equal(watch.workers[3].state, WATCH_STRAGGLING);
    assert_int_equal(watch_straggled(&watch), 1);
    assert_int_equal(watch.pace_best, 40);
    /* It catches up; that it straggled is remembered. */
    for (uint32_t i = 0; i < 4; i++) {
        event(TRACE_TALLY, "w0", 4);
        event(TRACE_TALLY, "w1", 4);
        event(TRACE_TALLY, "w2", 4);
        event(TRACE_TALLY, "w3", 4);
    }
    watch_tick(&watch, 3 * PACE_WINDOW_US);
    assert_int_equal(watch.workers[3].state, WATCH_WORKING);
    assert_int_equal(watch_straggled(&watch), 1);
}

static void test_window(void **state)
{
    (void)state;
    start(1);
    event(TRACE_TALLY, "w0", 5);
    watch_tick(&watch, 2 * PACE_WINDOW_US - 1);
    assert_int_equal(watch.workers[0].pace, 0);
    watch_tick(&watch, 2 * PACE_WINDOW_US);
    assert_int_equal(watch.workers[0].pace, 5);
}

static void test_more_than_fit(void **state)
{
    (void)state;
    start(WATCH_WORKERS_MAX + 10);
    assert_int_equal(watch.count, WATCH_WORKERS_MAX);
    assert_int_equal(watch.joined, WATCH_WORKERS_MAX + 10);
    event(TRACE_TALLY, "w260", 1);
}

static void test_gone(void **state)
{
    (void)state;
    start(2);
    watch_gone(&watch, "w1");
    assert_int_equal(watch.workers[1].state, WATCH_DEAD);
    event(TRACE_JOINED, "w1", 0);
    assert_int_equal(watch.workers[1].state, WATCH_WORKING);
    event(TRACE_DONE, "", 0);
    watch_gone(&watch, "w1");
    assert_int_equal(watch.workers[1].state, WATCH_WORKING);
}

static void test_order(void **state)
{
    (void)state;
    watch_init(&watch);
    event(TRACE_JOINED, "w10", 0);
    event(TRACE_JOINED, "w2", 0);
    event(TRACE_JOINED, "w9", 0);
    event(TRACE_JOINED, "w2", 0);
    assert_true(watch.rejoined);
    assert_int_equal(watch.count, 3);
    assert_string_equal(watch.workers[0].name, "w2");
    assert_string_equal(watch.workers[1].name, "w9");
    assert_string_equal(watch.workers[2].name, "w10");
}

static void test_commit(void **state)
{
    struct trace trace = {.kind = TRACE_COMMIT, .value = 0.25};

    (void)state;
    start(1);
    trace.key.step = 10;
    watch_event(&watch, &trace);
    assert_int_equal(watch.step, 10);
    assert_true(watch.objective == 0.25);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_states), cmocka_unit_test(test_straggler),
        cmocka_unit_test(test_window), cmocka_unit_test(test_more_than_fit),
        cmocka_unit_test(test_commit), cmocka_unit_test(test_order),
        cmocka_unit_test(test_gone),
    };

    return cmocka_run_group_tests_name("watch", tests, NULL, NULL);
}

/*
 * Runs told by hand: what is kept of each step, that it stays bounded however
 * long the run, and that what is kept is spread evenly.
 */
#include "cli/show/history.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static struct trace make(enum trace_kind kind, time_us now, const char *name)
{
    struct trace trace = {.kind = kind, .now = now};

    (void)snprintf(trace.name, sizeof trace.name, "%s", name);
    return trace;
}

static void tell(struct history *history, enum trace_kind kind, time_us now,
                 const char *name)
{
    const struct trace trace = make(kind, now, name);

    history_event(history, &trace, 1);
}

static void answer(struct history *history, time_us now, const char *name,
                   int64_t compute_us, double factor)
{
    struct trace trace = make(TRACE_TALLY, now, name);

    trace.b = 3;
    trace.answer.compute_us = compute_us;
    trace.answer.delay_factor = factor;
    history_event(history, &trace, 1);
}

static void committed(struct history *history, time_us now, uint32_t step)
{
    struct trace trace = make(TRACE_COMMIT, now, "");

    trace.key.step = step;
    trace.value = .25;
    history_event(history, &trace, 4);
}

static void test_one_step(void **state)
{
    struct history history;
    const struct history_cell *cells;

    (void)state;
    history_init(&history);
    tell(&history, TRACE_JOINED, 5, "a");
    tell(&history, TRACE_JOINED, 6, "b");
    tell(&history, TRACE_JOINED, 7, "c");
    tell(&history, TRACE_LEFT, 8, "c");
    tell(&history, TRACE_ROUND, 1000, "");
    answer(&history, 1010, "a", 8, 0);
    answer(&history, 1030, "a", 10, .5); /* Slowed by half on purpose. */
    committed(&history, 1040, 1);
    assert_int_equal(history.step_count, 1);
    assert_int_equal(history.steps[0].took_us, 40);
    assert_true(history.steps[0].loss == 1); /* As it is shown. */
    cells = history.cells;
    assert_int_equal(cells[0].answered_us, 30);
    assert_int_equal(cells[0].compute_us, 8 + 15);
    assert_int_equal(cells[0].chunks, 6);
    assert_int_equal(cells[1].answered_us, -1);
    assert_int_equal(cells[2].answered_us, -2);
    history_close(&history);
}

/* Who came before the first round of a run that goes on came at its step. */
static void test_goes_on(void **state)
{
    struct history history;
    struct trace round = make(TRACE_ROUND, 1000, "");

    (void)state;
    history_init(&history);
    tell(&history, TRACE_JOINED, 5, "a");
    round.key.step = 1500;
    history_event(&history, &round, 1);
    assert_int_equal(history.events[0].step, 1500);
    history_close(&history);
}

/* A peer of a ring tells of its work in the step that opened as this one. */
static void told(struct history *history, time_us now, const char *name,
                 uint32_t step)
{
    struct trace trace = make(TRACE_TALLY, now, name);

    trace.link = -1;
    trace.b = 2;
    trace.key.step = step;
    trace.answer.compute_us = 5;
    history_event(history, &trace, 1);
}

static void opened(struct history *history, time_us now, uint32_t step)
{
    struct trace trace = make(TRACE_ROUND, now, "");

    trace.key.step = step;
    history_event(history, &trace, 1);
}

/* So did who came back to a coordinator that died: the new one tells of no step
 * before its first round.  What came in step 0 stays there. */
static void test_goes_on_after_its_coordinator(void **state)
{
    struct history history;

    (void)state;
    history_init(&history);
    opened(&history, 1000, 0);
    tell(&history, TRACE_JOINED, 1010, "a");
    committed(&history, 1040, 1);
    opened(&history, 1050, 1);
    committed(&history, 1060, 2);
    tell(&history, TRACE_JOINED, 1070, "a");
    opened(&history, 1080, 2);
    assert_int_equal(history.events[0].step, 0);
    assert_int_equal(history.events[1].step, 2);
    history_close(&history);
}

/* Peers tell by pipes of their own: of a step that ended, and of one that
 * another peer has told the end of before the next opens. */
static void test_peers_tell_late(void **state)
{
    struct history history;
    const struct history_cell *cells;

    (void)state;
    history_init(&history);
    tell(&history, TRACE_JOINED, 5, "a");
    tell(&history, TRACE_JOINED, 6, "b");
    opened(&history, 1000, 0);
    told(&history, 1010, "a", 0);
    committed(&history, 1040, 1);
    told(&history, 1050, "b", 0);
    opened(&history, 1060, 1);
    committed(&history, 1090, 2);
    opened(&history, 1100, 2);
    told(&history, 1120, "a", 1);
    told(&history, 1130, "a", 2);
    told(&history, 1140, "b", 7); /* Of a step that is not kept. */
    committed(&history, 1150, 3);
    cells = history.cells;
    assert_int_equal(cells[0].answered_us, 10);
    assert_int_equal(cells[1].answered_us, 50);
    assert_int_equal(cells[1].chunks, 2);
    cells += history.columns;
    assert_int_equal(cells[0].answered_us, 60);
    assert_int_equal(cells[1].answered_us, -1);
    cells += history.columns;
    assert_int_equal(cells[0].answered_us, 30);
    assert_int_equal(cells[0].chunks, 2);
    assert_int_equal(cells[1].answered_us, -1);
    history_close(&history);
}

static void test_long_runs_are_thinned_evenly(void **state)
{
    struct history history;
    const uint32_t steps = 9 * HISTORY_STEPS;

    (void)state;
    history_init(&history);
    tell(&history, TRACE_JOINED, 0, "a");
    for (uint32_t step = 1; step <= steps; step++) {
        tell(&history, TRACE_ROUND, step * 100, "");
        answer(&history, step * 100 + 10, "a", 8, 0);
        committed(&history, step * 100 + 20, step);
    }
    assert_true(history.step_count <= HISTORY_STEPS);
    assert_true(history.step_count >= HISTORY_STEPS / 2 - 1);
    for (uint32_t i = 1; i < history.step_count; i++) {
        const uint32_t gap = history.steps[i].step - history.steps[i - 1].step;

        assert_true(gap <= history.stride);
        assert_true(i < 2 || gap == history.stride);
        assert_int_equal(history.cells[i * history.columns].answered_us, 10);
    }
    assert_true(history.steps[history.step_count - 1].step + history.stride >
                steps);
    history_close(&history);
}

static void test_many_workers_are_bounded(void **state)
{
    struct history history;
    char name[16];

    (void)state;
    history_init(&history);
    for (uint32_t i = 0; i < 2 * HISTORY_WORKERS; i++) {
        (void)snprintf(name, sizeof name, "w%u", i);
        tell(&history, TRACE_JOINED, 0, name);
    }
    tell(&history, TRACE_ROUND, 1, "");
    assert_int_equal(history.count, HISTORY_WORKERS);
    assert_true((uint64_t)history.steps_max * history.columns <= HISTORY_CELLS);
    assert_true(history.steps_max > 100);
    assert_int_equal(history.event_count, HISTORY_EVENTS);
    assert_int_equal(history.events_lost, 2 * HISTORY_WORKERS - HISTORY_EVENTS);
    history_close(&history);
}

static void test_as_json(void **state)
{
    struct history history;
    json_t *json;
    const json_t *step;

    (void)state;
    history_init(&history);
    tell(&history, TRACE_JOINED, 0, "a");
    tell(&history, TRACE_ROUND, 10, "");
    answer(&history, 15, "a", 4, 0);
    committed(&history, 20, 1);
    json = history_json(&history);
    step = json_array_get(json_object_get(json, "steps"), 0);
    assert_int_equal(json_integer_value(json_object_get(step, "took_us")), 10);
    assert_int_equal(json_integer_value(json_object_get(step, "rounds")), 1);
    assert_int_equal(json_array_size(json_object_get(step, "cells")), 3);
    assert_int_equal(json_array_size(json_object_get(json, "events")), 1);
    json_decref(json);
    history_close(&history);
}

/* Room for events is short, and nobody has it for the number of the dead. */
static void test_all_deaths_count(void **state)
{
    struct history history;
    json_t *json;
    const json_t *deaths;

    (void)state;
    history_init(&history);
    for (uint32_t i = 0; i < 2 * HISTORY_EVENTS; i++)
        tell(&history, TRACE_DIED, i, "a");
    history_coordinator(&history, 0);
    history_coordinator(&history, 17);
    history_coordinator(&history, 17);
    history_coordinator(&history, 0);
    history_coordinator(&history, 18);
    json = history_json(&history);
    deaths = json_object_get(json, "deaths");
    assert_int_equal(json_array_size(json_object_get(json, "events")),
                     HISTORY_EVENTS);
    assert_int_equal(json_integer_value(json_object_get(deaths, "workers")),
                     2 * HISTORY_EVENTS);
    assert_int_equal(
        json_integer_value(json_object_get(deaths, "coordinators")), 1);
    json_decref(json);
    history_close(&history);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_goes_on),
        cmocka_unit_test(test_goes_on_after_its_coordinator),
        cmocka_unit_test(test_one_step),
        cmocka_unit_test(test_peers_tell_late),
        cmocka_unit_test(test_long_runs_are_thinned_evenly),
        cmocka_unit_test(test_many_workers_are_bounded),
        cmocka_unit_test(test_as_json),
        cmocka_unit_test(test_all_deaths_count),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * A run told by hand, written to a file and read back as JSON: every span on
 * its track, hedged pieces by that name, and the time from CANCEL to standing
 * still from the two ends that different processes saw.
 */
#include "cli/report/trace_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define PATH "trace.json"

static struct trace make(enum trace_kind kind, time_us now, const char *name)
{
    struct trace trace = {.kind = kind, .now = now, .link = -1};

    (void)snprintf(trace.name, sizeof trace.name, "%s", name);
    return trace;
}

static void tell(struct trace_file *file, enum trace_kind kind, time_us now,
                 const char *name, uint32_t step, uint64_t a)
{
    struct trace trace = make(kind, now, name);

    trace.key.step = step;
    trace.a = a;
    trace.value = .5;
    trace_file_event(file, &trace);
}

static void stint(struct trace_file *file, const char *name, struct stint what)
{
    struct trace trace = make(TRACE_STINT, what.began, name);

    trace.key.step = what.step;
    trace.stint = what;
    trace_file_event(file, &trace);
}

static void clock_said(struct trace_file *file, const char *name,
                       int64_t error_us)
{
    struct trace trace = make(TRACE_PULSE, 5000, name);

    trace.pulse.error_us = error_us;
    trace.pulse.ahead_us = 77;
    trace_file_event(file, &trace);
}

static json_t *read_back(void)
{
    json_t *all = json_load_file(PATH, 0, NULL);

    assert_non_null(all);
    (void)remove(PATH);
    return all;
}

/* The `nth` event of that name; NULL if there are not so many. */
static json_t *event(json_t *all, const char *name, size_t nth)
{
    for (size_t i = 0; i < json_array_size(all); i++) {
        json_t *one = json_array_get(all, i);

        if (strcmp(json_string_value(json_object_get(one, "name")), name) ==
                0 &&
            nth-- == 0)
            return one;
    }
    return NULL;
}

static json_int_t number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    assert_true(json_is_integer(value));
    return json_integer_value(value);
}

static void expect(const json_t *one, json_int_t pid, json_int_t tid,
                   json_int_t ts, json_int_t dur)
{
    assert_non_null(one);
    assert_int_equal(number(one, "pid"), pid);
    assert_int_equal(number(one, "tid"), tid);
    assert_int_equal(number(one, "ts"), ts);
    assert_int_equal(number(one, "dur"), dur);
}

static void test_a_step(void **state)
{
    struct trace_file file;
    json_t *all;

    (void)state;
    assert_int_equal(trace_file_open(&file, PATH, NULL), ERR_OK);
    tell(&file, TRACE_JOINED, 1000, "w0", 0, 0);
    tell(&file, TRACE_JOINED, 1000, "w1", 0, 0);
    tell(&file, TRACE_ROUND, 1100, "", 4, 0);
    tell(&file, TRACE_HEDGED, 1150, "w1", 4, 9);
    tell(&file, TRACE_ROUND, 1200, "", 4, 0); /* Its second round. */
    tell(&file, TRACE_COMMIT, 1500, "", 4, 0);
    stint(&file, "",
          (struct stint){
              .kind = STINT_COMMIT, .began = 1500, .took_us = 5, .step = 4});
    stint(&file, "w1",
          (struct stint){.kind = STINT_COMPUTE,
                         .began = 1160,
                         .took_us = 30,
                         .step = 4,
                         .piece = 9});
    stint(&file, "w0",
          (struct stint){.kind = STINT_COMPUTE,
                         .began = 1110,
                         .took_us = 40,
                         .step = 4,
                         .piece = 1});
    stint(&file, "w0",
          (struct stint){
              .kind = STINT_SEND, .began = 1150, .took_us = 3, .step = 4});
    assert_int_equal(trace_file_close(&file, NULL), ERR_OK);

    all = read_back();
    expect(event(all, "round", 0), 0, 0, 100, 100);
    expect(event(all, "round", 1), 0, 0, 200, 300);
    assert_null(event(all, "round", 2));
    expect(event(all, "step", 0), 0, 0, 100, 400);
    expect(event(all, "commit", 0), 0, 1, 500, 5);
    expect(event(all, "compute", 0), 1, 0, 110, 40);
    assert_null(event(all, "compute", 1)); /* w1's goes by another name. */
    expect(event(all, "hedged", 1), 2, 0, 160, 30);
    expect(event(all, "send", 0), 1, 1, 150, 3);
    json_decref(all);
}

static void test_from_cancel_to_stop(void **state)
{
    struct trace_file file;
    json_t *sum;
    const json_t *stop;

    (void)state;
    assert_int_equal(trace_file_open(&file, PATH, NULL), ERR_OK);
    for (uint32_t step = 0; step < 400; step++) {
        const time_us at = 1000 * (time_us)step;

        tell(&file, TRACE_ROUND, at, "", step, 0);
        tell(&file, TRACE_COMMIT, at + 500, "", step, 0);
        /* w0 stands still 100 us after the commit; once, 700. */
        stint(&file, "w0",
              (struct stint){.kind = STINT_CANCELLED,
                             .began = at,
                             .took_us = step == 60 ? 1200 : 600,
                             .step = step,
                             .stop_us = 20});
    }
    /* Of a round whose end nobody remembers. */
    stint(&file, "w0", (struct stint){.kind = STINT_CANCELLED, .took_us = 1});
    assert_int_equal(trace_file_close(&file, NULL), ERR_OK);
    sum = trace_file_json(&file, PATH);
    stop = json_object_get(sum, "cancel_to_stop");
    assert_int_equal(number(stop, "count"), 400);
    assert_true(json_real_value(json_object_get(stop, "max_s")) == 700e-6);
    assert_true(json_real_value(json_object_get(stop, "median_s")) > 98e-6);
    assert_true(json_real_value(json_object_get(stop, "median_s")) < 102e-6);
    json_decref(sum);
    json_decref(read_back());
}

static void test_the_worst_clock_is_told(void **state)
{
    struct trace_file file;
    json_t *all, *sum;

    (void)state;
    assert_int_equal(trace_file_open(&file, PATH, NULL), ERR_OK);
    clock_said(&file, "w0", -1); /* It does not know yet. */
    clock_said(&file, "w0", 80);
    clock_said(&file, "w1", 90);
    clock_said(&file, "w1", 95); /* No news. */
    clock_said(&file, "w1", 30);
    assert_int_equal(trace_file_close(&file, NULL), ERR_OK);
    sum = trace_file_json(&file, PATH);
    assert_true(json_real_value(json_object_get(sum, "clock_error_s")) ==
                80e-6);
    json_decref(sum);
    all = read_back();
    assert_non_null(event(all, "clock", 2));
    assert_null(event(all, "clock", 3));
    json_decref(all);
}

/* No such name comes over the wire; the file does not rely on it. */
static void test_hostile_names(void **state)
{
    struct trace_file file;
    json_t *all;

    (void)state;
    assert_int_equal(trace_file_open(&file, PATH, NULL), ERR_OK);
    tell(&file, TRACE_JOINED, 0, "\"},{\\a\n<script>", 0, 0);
    assert_int_equal(trace_file_close(&file, NULL), ERR_OK);
    all = read_back();
    assert_string_equal(
        json_string_value(json_object_get(
            json_object_get(event(all, "process_name", 1), "args"), "name")),
        "\"},{\\a\n<script>");
    json_decref(all);
}

static void test_no_file_no_trace(void **state)
{
    struct trace_file file = {0};

    (void)state;
    tell(&file, TRACE_ROUND, 0, "", 0, 0);
    assert_int_equal(file.events, 0);
    assert_int_equal(trace_file_close(&file, NULL), ERR_OK);
}

static void test_median_of_all_sizes(void **state)
{
    (void)state;
    for (int64_t us = 1; us < INT64_C(1) << 36; us = us * 3 + 1) {
        struct trace_stops stops = {0};
        int64_t median;

        trace_stops_add(&stops, us);
        trace_stops_add(&stops, us);
        trace_stops_add(&stops, us * 9);
        median = trace_stops_median(&stops);
        assert_true(median <= us);
        assert_true((double)median >= (double)us * .98 - 1);
        assert_int_equal(stops.max_us, us * 9);
    }
}

static void test_stop_within_a_tick(void **state)
{
    struct trace_stops stops = {0};

    (void)state;
    trace_stops_add(&stops, 0);
    assert_int_equal(trace_stops_median(&stops), 1);
    assert_int_equal(stops.max_us, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_step),
        cmocka_unit_test(test_from_cancel_to_stop),
        cmocka_unit_test(test_the_worst_clock_is_told),
        cmocka_unit_test(test_hostile_names),
        cmocka_unit_test(test_no_file_no_trace),
        cmocka_unit_test(test_median_of_all_sizes),
        cmocka_unit_test(test_stop_within_a_tick),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

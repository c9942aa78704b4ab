/*
 * A worker's account of its time, told by the test second by second: totals
 * and stints must add up to the time that passed, and the list never overruns.
 */
#include "core/link/pulse.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const struct job traced = {
    .beat_us = 50 * MS_US, .pulse_us = SECOND_US, .stints = true};

static void begin(struct pulse *pulse)
{
    pulse_init(pulse);
    pulse->tracing = true;
}

static void expect(const struct stint *stint, enum stint_kind kind,
                   time_us began, int64_t took_us)
{
    assert_int_equal(stint->kind, kind);
    assert_int_equal(stint->began, began);
    assert_int_equal(stint->took_us, took_us);
}

static void test_a_round(void **state)
{
    struct pulse pulse;
    struct msg_pulse msg;

    (void)state;
    begin(&pulse);
    pulse_idle(&pulse, 10);
    pulse_idle(&pulse, 15); /* Still. */
    pulse_compute(&pulse, 30, 7, 2);
    pulse_computed(&pulse, 50, 4);
    pulse_hold(&pulse, 50);
    pulse_idle(&pulse, 55); /* Held is not idle. */
    pulse_release(&pulse, 60);
    pulse_compute(&pulse, 60, 7, 3);
    pulse_cancel(&pulse, 70);
    pulse_computed(&pulse, 75, 0);
    pulse_idle(&pulse, 75);
    pulse_fill(&pulse, &traced, 80, true, &msg);

    assert_int_equal(msg.count, 4);
    expect(&msg.stints[0], STINT_WAIT, 10, 20);
    expect(&msg.stints[1], STINT_COMPUTE, 30, 20);
    assert_int_equal(msg.stints[1].step, 7);
    assert_int_equal(msg.stints[1].piece, 2);
    expect(&msg.stints[2], STINT_DELAYED, 50, 10);
    expect(&msg.stints[3], STINT_CANCELLED, 60, 15);
    assert_int_equal(msg.stints[3].stop_us, 5);
    assert_int_equal(msg.vitals.compute_us, 35);
    assert_int_equal(msg.vitals.cancelled_us, 15);
    assert_int_equal(msg.vitals.held_us, 10);
    assert_int_equal(msg.vitals.waited_us, 25); /* The last 5 included. */
    assert_int_equal(msg.vitals.chunks, 4);
    assert_int_equal(msg.vitals.cancels, 1);
    assert_int_equal(msg.error_us, OFFSET_UNKNOWN);
}

static void test_without_trace_only_totals(void **state)
{
    struct pulse pulse;
    struct msg_pulse msg;

    (void)state;
    pulse_init(&pulse);
    pulse_compute(&pulse, 5, 0, 0);
    pulse_computed(&pulse, 9, 1);
    pulse_fill(&pulse, &traced, 9, true, &msg);
    assert_int_equal(msg.count, 0);
    assert_int_equal(msg.vitals.compute_us, 4);
}

/* The message points at the list: it is free again a step later. */
static void test_sent_stints_are_left_alone(void **state)
{
    struct pulse pulse;
    struct msg_pulse msg;

    (void)state;
    begin(&pulse);
    pulse_compute(&pulse, 1, 0, 0);
    pulse_computed(&pulse, 2, 1);
    pulse_fill(&pulse, &traced, 2, true, &msg);
    pulse_compute(&pulse, 2, 0, 1);
    pulse_computed(&pulse, 3, 1);
    assert_int_equal(msg.count, 1);
    assert_int_equal(pulse.count, 1);
    pulse_step(&pulse);
    assert_int_equal(pulse.count, 0);
    pulse_add(&pulse, STINT_SEND, 2, 3, 9);
    assert_int_equal(pulse.stints[0].step, 9);
}

static void test_when_it_is_due(void **state)
{
    struct pulse pulse;
    struct msg_pulse msg;
    struct job job = traced;

    (void)state;
    begin(&pulse);
    assert_false(pulse_due(&pulse, &job, 0, false));
    assert_true(pulse_due(&pulse, &job, 0, true));
    pulse_fill(&pulse, &job, 0, true, &msg);
    assert_true(msg.full);
    pulse_step(&pulse);
    assert_false(pulse_due(&pulse, &job, SECOND_US - 1, true));
    assert_true(pulse_due(&pulse, &job, SECOND_US, true));
    pulse_compute(&pulse, 1, 0, 0);
    pulse_computed(&pulse, 2, 1);
    assert_true(pulse_due(&pulse, &job, 2, true)); /* A stint goes along ... */
    pulse_fill(&pulse, &job, 2, true, &msg);
    assert_false(msg.full); /* ... and puts off nothing. */
    assert_true(pulse_due(&pulse, &job, SECOND_US, true));
    pulse_step(&pulse);
    job.pulse_us = 0;
    assert_false(pulse_due(&pulse, &job, SECOND_US, true));
}

static void test_the_list_goes_out_before_it_is_full(void **state)
{
    struct pulse pulse;
    struct msg_pulse msg;
    uint32_t sent = 0;

    (void)state;
    begin(&pulse);
    for (time_us t = 0; t < 1000; t++) {
        pulse_step(&pulse);
        pulse_compute(&pulse, 2 * t, 0, 0);
        pulse_computed(&pulse, 2 * t + 1, 1);
        pulse_idle(&pulse, 2 * t + 1);
        if (!pulse_due(&pulse, &traced, 2 * t + 1, false))
            continue;
        pulse_fill(&pulse, &traced, 2 * t + 1, false, &msg);
        assert_true(msg.count <= STINTS_MAX);
        sent += msg.count;
    }
    pulse_step(&pulse);
    assert_int_equal(sent + pulse.count, 1000 + 999); /* None was lost. */
}

static void test_a_full_list_loses_the_newest(void **state)
{
    struct pulse pulse;

    (void)state;
    begin(&pulse);
    for (time_us t = 0; t < 2 * (time_us)STINTS_MAX; t++)
        pulse_add(&pulse, STINT_SEND, t, t + 1, 0);
    assert_int_equal(pulse.count, STINTS_MAX);
    assert_int_equal(pulse.stints[STINTS_MAX - 1].began, STINTS_MAX - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_round),
        cmocka_unit_test(test_without_trace_only_totals),
        cmocka_unit_test(test_sent_stints_are_left_alone),
        cmocka_unit_test(test_when_it_is_due),
        cmocka_unit_test(test_the_list_goes_out_before_it_is_full),
        cmocka_unit_test(test_a_full_list_loses_the_newest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

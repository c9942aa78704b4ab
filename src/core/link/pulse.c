/*
 * pulse.c - a worker's books of its own time: begin and end of computing,
 * waiting and delay, cut into stints and sent with a beat.
 */
#include "core/link/pulse.h"

#include "base/check.h"

#define STINTS_SPARE 8u /* More than one step adds. */

void pulse_init(struct pulse *pulse)
{
    *pulse = (struct pulse){.idle_at = TIME_NEVER,
                            .compute_at = TIME_NEVER,
                            .cancel_at = TIME_NEVER,
                            .held_at = TIME_NEVER};
}

const char *stint_name(enum stint_kind kind)
{
#define STINT_TEXT(code, text) text,
    static const char *const names[] = {STINT_LIST(STINT_TEXT)};
#undef STINT_TEXT

    CHECK(kind < STINT_KINDS);
    return names[kind];
}

void pulse_step(struct pulse *pulse)
{
    if (pulse->sent)
        pulse->count = 0;
    pulse->sent = false;
}

static struct stint *add(struct pulse *pulse, enum stint_kind kind,
                         time_us began, time_us ended)
{
    struct stint *stint;

    if (!pulse->tracing || pulse->sent || pulse->count == STINTS_MAX)
        return NULL;
    stint = &pulse->stints[pulse->count++];
    *stint = (struct stint){.kind = kind,
                            .step = pulse->step,
                            .piece = pulse->piece,
                            .began = began,
                            .took_us = ended - began};
    return stint;
}

void pulse_add(struct pulse *pulse, enum stint_kind kind, time_us began,
               time_us ended, uint32_t step)
{
    struct stint *stint;

    pulse_step(pulse);
    stint = add(pulse, kind, began, ended);
    if (stint != NULL)
        stint->step = step;
}

void pulse_idle(struct pulse *pulse, time_us now)
{
    if (pulse->idle_at == TIME_NEVER && pulse->compute_at == TIME_NEVER &&
        pulse->held_at == TIME_NEVER)
        pulse->idle_at = now;
}

void pulse_compute(struct pulse *pulse, time_us now, uint32_t step,
                   uint32_t piece)
{
    if (pulse->idle_at != TIME_NEVER) {
        pulse->vitals.waited_us += now - pulse->idle_at;
        if (now > pulse->idle_at)
            (void)add(pulse, STINT_WAIT, pulse->idle_at, now);
    }
    pulse->idle_at = TIME_NEVER;
    pulse->compute_at = now;
    pulse->cancel_at = TIME_NEVER;
    pulse->step = step;
    pulse->piece = piece;
}

void pulse_cancel(struct pulse *pulse, time_us now)
{
    pulse->cancel_at = now;
}

void pulse_computed(struct pulse *pulse, time_us now, uint32_t chunks)
{
    const bool cancelled = pulse->cancel_at != TIME_NEVER;
    const time_us began = pulse->compute_at;
    struct stint *stint;

    CHECK(began != TIME_NEVER);
    pulse->vitals.compute_us += now - began;
    if (cancelled) {
        pulse->vitals.cancelled_us += now - began;
        pulse->vitals.cancels++;
    } else {
        pulse->vitals.chunks += chunks;
    }
    stint = add(pulse, cancelled ? STINT_CANCELLED : STINT_COMPUTE, began, now);
    if (stint != NULL && cancelled)
        stint->stop_us = now - pulse->cancel_at;
    pulse->compute_at = TIME_NEVER;
    pulse->cancel_at = TIME_NEVER;
}

void pulse_hold(struct pulse *pulse, time_us now)
{
    pulse->held_at = now;
}

void pulse_release(struct pulse *pulse, time_us now)
{
    if (pulse->held_at == TIME_NEVER)
        return;
    pulse->vitals.held_us += now - pulse->held_at;
    if (now > pulse->held_at)
        (void)add(pulse, STINT_DELAYED, pulse->held_at, now);
    pulse->held_at = TIME_NEVER;
}

bool pulse_due(const struct pulse *pulse, const struct job *job, time_us now,
               bool beaten)
{
    if (pulse->count + STINTS_SPARE > STINTS_MAX)
        return true;
    if (job->pulse_us == 0)
        return false;
    /* Without beats, whenever there is nothing better to do. */
    if (job->beat_us == 0)
        return pulse->count > 0 && pulse->idle_at == now;
    return beaten && (pulse->count > 0 || now >= pulse->due_at);
}

/* What is under way counts up to now, or a piece of an hour would look like
 * an hour of sleep. */
static struct vitals so_far(const struct pulse *pulse, time_us now)
{
    struct vitals vitals = pulse->vitals;

    if (pulse->compute_at != TIME_NEVER)
        vitals.compute_us += now - pulse->compute_at;
    if (pulse->held_at != TIME_NEVER)
        vitals.held_us += now - pulse->held_at;
    if (pulse->idle_at != TIME_NEVER)
        vitals.waited_us += now - pulse->idle_at;
    return vitals;
}

void pulse_fill(struct pulse *pulse, const struct job *job, time_us now,
                bool beaten, struct msg_pulse *msg)
{
    const bool full = beaten && now >= pulse->due_at;

    *msg = (struct msg_pulse){
        .ahead_us = pulse->clock.ahead_us,
        .error_us = offset_error(&pulse->clock, now),
        .trip_us = pulse->clock.trip_us,
        .full = full,
        .vitals = so_far(pulse, now),
        .count = pulse->count,
        .stints = pulse->stints,
    };
    if (full)
        pulse->due_at = now + job->pulse_us;
    pulse->sent = true;
}

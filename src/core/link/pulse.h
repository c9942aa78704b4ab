/*
 * pulse.h - a worker's account of its own time.
 *
 * The worker calls these where something begins or ends; once in
 * job.pulse_us (with a beat), and before the list of stints is full, all of it
 * goes out as one PULSE.  Without job.stints only the totals are kept.
 */
#ifndef CORE_PULSE_H
#define CORE_PULSE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"
#include "core/link/offset.h"
#include "core/msg.h"
#include "core/stint.h"
#include "core/vitals.h"

struct pulse {
    struct vitals vitals;
    struct offset clock;
    bool tracing;
    time_us due_at; /* With fresh vitals, with the next beat from then on. */
    /* Since when; TIME_NEVER = not. */
    time_us idle_at, compute_at, cancel_at, held_at;
    uint32_t step, piece; /* Of what is computed or held. */
    struct stint stints[STINTS_MAX];
    uint32_t count;
    bool sent; /* They are in an action: make room at the next step. */
};

void pulse_init(struct pulse *pulse);
/* The list is free again if it was sent. */
void pulse_step(struct pulse *pulse);
/* Nothing to do from now on; said again and again is said once. */
void pulse_idle(struct pulse *pulse, time_us now);
void pulse_compute(struct pulse *pulse, time_us now, uint32_t step,
                   uint32_t piece);
void pulse_cancel(struct pulse *pulse, time_us now);
void pulse_computed(struct pulse *pulse, time_us now, uint32_t chunks);
void pulse_hold(struct pulse *pulse, time_us now);
/* The delay is over, or was called off. */
void pulse_release(struct pulse *pulse, time_us now);
/* The driver's stints; not while actions of a step are carried out.  A full
 * list loses the newest. */
void pulse_add(struct pulse *pulse, enum stint_kind kind, time_us began,
               time_us ended, uint32_t step);

/* Is it time?  `beaten`: a beat goes out in this step. */
bool pulse_due(const struct pulse *pulse, const struct job *job, time_us now,
               bool beaten);
void pulse_fill(struct pulse *pulse, const struct job *job, time_us now,
                bool beaten, struct msg_pulse *msg);

#endif /* CORE_PULSE_H */

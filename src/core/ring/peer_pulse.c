/*
 * peer_pulse.c - where this peer's time goes, and for how long each member owes
 * its part of the sum: what `muster status --why-slow` is answered from.
 *
 * A member owes from when this peer has opened the round until all of its part
 * of own slice is in; this peer itself, until it has computed.  Nothing that is
 * computed or agreed on depends on any of it: a PULSE may say what it likes.
 */
#include <string.h>

#include "core/ring/peer_parts.h"

/* One life of one process: the next one counts its time from zero. */
static struct slow *slow_of(struct peer_seat *seat)
{
    if (!seat->paced || seat->paced_life != seat->incarnation) {
        slow_init(&seat->slow);
        seat->paced = true;
        seat->paced_life = seat->incarnation;
    }
    return &seat->slow;
}

void pulse_before(struct peer *p, const struct event *event)
{
    const bool good = event->err == ERR_OK && !p->cancelled;

    pulse_step(&p->pulse);
    if (event->kind == EVENT_COMPUTED && p->pulse.compute_at != TIME_NEVER)
        pulse_computed(&p->pulse, p->now, good ? p->end - p->first : 0);
}

static void count_debts(struct peer *p)
{
    uint64_t owing = 0;

    for (uint32_t rank = 0; p->phase == PEER_ROUND && rank < p->view.count;
         rank++)
        if (rank == p->view.self ? p->computing
                                 : (p->here.ended >> rank & 1) == 0)
            owing |= SEAT(p->view.seat[rank]);
    for (uint32_t i = 0; i < p->seat_count; i++)
        slow_owes(slow_of(&p->seats[i]), (owing >> i & 1) != 0, p->now);
}

/* Others need not know what it did: whoever listens here does. */
static void trace_stints(struct peer *p, struct actions *actions)
{
    for (uint32_t i = 0; i < p->pulse.count; i++) {
        struct trace *trace = peer_trace(p, actions, TRACE_STINT);

        memcpy(trace->name, p->options.name, NAME_SIZE);
        trace->key.step = p->pulse.stints[i].step;
        trace->stint = p->pulse.stints[i];
    }
    p->pulse.sent = true;
}

static void tell(struct peer *p, const struct job *job, struct actions *actions)
{
    struct msg_pulse pulse;

    pulse_fill(&p->pulse, job, p->now, true, &pulse);
    pulse.count = 0;
    slow_take(slow_of(&p->seats[0]), &pulse.vitals, p->now);
    for (uint32_t i = 1; i < p->seat_count; i++)
        if (p->seats[i].link != PEER_NO_LINK)
            peer_send(p, actions, p->seats[i].link, MSG_PULSE)->pulse = pulse;
}

void pulse_after(struct peer *p, bool beaten, struct actions *actions)
{
    const struct job job = {.pulse_us = p->options.pulse_us,
                            .beat_us = p->options.beat_us};

    if (!p->computing)
        pulse_idle(&p->pulse, p->now);
    else if (p->pulse.compute_at == TIME_NEVER)
        pulse_compute(&p->pulse, p->now, p->key.step, p->view.self);
    if (p->computing && p->cancelled && p->pulse.cancel_at == TIME_NEVER)
        pulse_cancel(&p->pulse, p->now);
    count_debts(p);
    if (!pulse_due(&p->pulse, &job, p->now, beaten))
        return;
    trace_stints(p, actions);
    if (beaten && p->now >= p->pulse.due_at)
        tell(p, &job, actions);
}

void pulse_take(struct peer *p, uint32_t seat, const struct msg_pulse *pulse)
{
    struct slow *const slow = slow_of(&p->seats[seat]);

    if (!pulse->full)
        return;
    slow->ahead_us = pulse->ahead_us;
    slow->error_us = pulse->error_us;
    slow->trip_us = pulse->trip_us;
    slow_take(slow, &pulse->vitals, p->now);
}

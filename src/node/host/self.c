/*
 * self.c - a worker's vitals from the kernel: processor time, run-queue delay,
 * and stops, which are seen by an alarm that came late.
 */
#include "node/host/self.h"

#define STOP_LEAST_US (20 * MS_US) /* Less is the scheduler's, or ours. */

void self_init(struct self *self, time_us now)
{
    *self = (struct self){
        .due = TIME_NEVER, .seen = now, .unsent_since = TIME_NEVER};
    usage_thread(&self->then);
}

void self_woken(struct self *self, time_us now)
{
    const time_us asleep_until =
        self->due > self->seen ? self->due : self->seen;
    struct usage_thread usage;
    int64_t late;

    usage_thread(&usage);
    late = now - asleep_until - (usage.ran_us - self->then.ran_us) -
           (usage.starved_us - self->then.starved_us);
    if (self->due != TIME_NEVER && late >= STOP_LEAST_US)
        self->stopped_us += late;
    self->then = usage;
    self->seen = now;
}

void self_unsent(struct self *self, bool unsent, time_us now)
{
    if (unsent && self->unsent_since == TIME_NEVER) {
        self->unsent_since = now;
    } else if (!unsent && self->unsent_since != TIME_NEVER) {
        self->unsent_us += now - self->unsent_since;
        self->unsent_since = TIME_NEVER;
    }
}

void self_vitals(const struct self *self, uint32_t threads, uint64_t unsent,
                 time_us now, struct vitals *vitals)
{
    struct usage_others others;
    struct usage_thread own;

    usage_others(&others);
    usage_thread(&own);
    vitals->cpu_us = others.ran_us / threads;
    vitals->starved_us = others.starved_us / threads;
    vitals->faults = others.faults;
    vitals->loop_us = own.starved_us;
    vitals->stopped_us = self->stopped_us;
    vitals->unsent_bytes = unsent;
    vitals->unsent_us = self->unsent_us;
    if (self->unsent_since != TIME_NEVER)
        vitals->unsent_us += now - self->unsent_since;
}

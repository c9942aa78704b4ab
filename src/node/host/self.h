/*
 * self.h - what a worker's process knows of itself: the driver's half of its
 * vitals.
 *
 * A stop is seen from behind: the loop thread had set its alarm for `due`, is
 * woken later than that, and the kernel says that it neither ran nor queued
 * for a processor in between.
 */
#ifndef NODE_SELF_H
#define NODE_SELF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"
#include "core/vitals.h"
#include "os/run/usage.h"

struct self {
    time_us due;  /* The alarm; TIME_NEVER = none. */
    time_us seen; /* When we last looked, and what the kernel said then. */
    struct usage_thread then;
    int64_t stopped_us;
    time_us unsent_since; /* TIME_NEVER = all is sent. */
    int64_t unsent_us;
};

void self_init(struct self *self, time_us now);
/* The loop thread has been woken by its alarm. */
void self_woken(struct self *self, time_us now);
/* Answers are (not) waiting for the socket; returns since when. */
void self_unsent(struct self *self, bool unsent, time_us now);
/* The driver's half; `threads` compute. */
void self_vitals(const struct self *self, uint32_t threads, uint64_t unsent,
                 time_us now, struct vitals *vitals);

#endif /* NODE_SELF_H */

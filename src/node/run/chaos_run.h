/*
 * chaos_run.h - the faults of chaos.h, carried out by the supervisor.
 *
 * Those addressed by step happen when the trace says that the step opens, once
 * each, however often the step is opened again; those at random follow a
 * seeded clock.
 */
#ifndef NODE_CHAOS_RUN_H
#define NODE_CHAOS_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"
#include "base/time.h"
#include "node/host/chaos.h"
#include "node/run/crew.h"

struct chaos_run {
    const struct chaos *plan;
    struct crew *crew;
    void (*join)(void *context); /* One more local worker. */
    void *context;
    bool done[CHAOS_MAX];
    struct rng rng;
    bool begun;
    time_us kill_at, stop_at, join_at, coordinator_at;
    uint32_t killed, stopped;
};

void chaos_run_init(struct chaos_run *run, const struct chaos *plan,
                    struct crew *crew, void (*join)(void *context),
                    void *context);
/* Step `step` opens. */
void chaos_run_step(struct chaos_run *run, uint32_t step, time_us now);
void chaos_run_time(struct chaos_run *run, time_us now);
/* When chaos_run_time must be called again. */
time_us chaos_run_next(const struct chaos_run *run);
/* Will workers be added to a run whose step waits?  Not those of a step that is
 * still to come: it comes after the one that waits. */
bool chaos_run_joins(const struct chaos_run *run);

#endif /* NODE_CHAOS_RUN_H */

/*
 * replay.h - how long steps of a code take under given delays.
 *
 * The fast path of the simulator: what coordinator and worker would do with no
 * latency and no gradients, without their messages, so that a plan can try a
 * thousand steps of every code in a moment.  It is not a second model of the
 * system: `sim-test_replay` runs both on random configurations and demands the
 * same times to the microsecond.
 *
 *   chain   (replay.c)  schedules where a slot computes a list fixed at the
 *                       start: arrivals are sorted and counted in
 *   stale   (stale.c)   late answers count in later steps (staleness)
 *   steal   (steal.c)   work moves: an event loop with the coordinator's rules
 */
#ifndef PLAN_REPLAY_H
#define PLAN_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/time.h"
#include "code/code.h"
#include "plan/delay.h"

/* One step, seen from the coordinator. */
struct replay_step {
    time_us took_us;
    bool stalled;         /* It waited for one that never answers. */
    uint32_t chunks_in;   /* Covered; numeric codes: all. */
    uint32_t answers;     /* Messages with sums, up to the end. */
    uint64_t chunks_done; /* Computed by anybody, up to the end. */
    /* staleness: answers used, how many updates old in all and at most. */
    uint32_t aged, age_max;
    uint64_t age_sum;
};

/* What a slot did in the step, for pictures; microseconds from its opening. */
struct replay_slot {
    time_us began_us;    /* After finishing what the last step called off. */
    time_us computed_us; /* Its own computing ended, or was called off. */
    time_us answered_us; /* Its whole work was in; -1 = called off. */
};

struct arrival;
struct stale;
struct steal;

struct replay {
    const struct code *code; /* Borrowed. */
    uint32_t rounds;         /* Of a step: products are two. */
    time_us chunk_us;        /* To compute one chunk, in one of them. */
    uint32_t *work;          /* Initial pieces of all slots, one after other. */
    uint32_t *work_first;    /* slots + 1 of them. */
    time_us *free_at;        /* slots: busy with the last step until then. */
    struct arrival *arrivals;
    bool *piece_in;
    bool *slot_in;
    uint32_t *todo;            /* slots: pieces it still owes. */
    struct stale *stale;       /* staleness only. */
    struct steal *steal;       /* Schedule `steal` only. */
    struct replay_slot *slots; /* Of the last step. */
};

MUST_CHECK enum err replay_init(struct replay *replay, const struct code *code,
                                time_us chunk_us);
void replay_close(struct replay *replay);

/* One more step with these delays, one for each slot.  ERR_NOMEM is final. */
MUST_CHECK enum err replay_run(struct replay *replay,
                               const struct delay_draw *draws,
                               struct replay_step *step);

#endif /* PLAN_REPLAY_H */

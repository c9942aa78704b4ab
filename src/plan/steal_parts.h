/*
 * steal_parts.h - the two halves of steal.c to each other; nobody else's.
 */
#ifndef PLAN_STEAL_PARTS_H
#define PLAN_STEAL_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plan/replay_parts.h"

#define ASSIGNEES_MAX 5u /* As in core/star/coordinator.h. */

enum event_kind {
    ON_ROUND,
    ON_JOIN, /* A round, and one piece, for a slot without work of its own. */
    ON_CANCEL,
    ON_WORK,
    ON_DROP,
    ON_TALLY,
    ON_COMPUTED,
    ON_TIMER,
};

#define COORDINATOR UINT32_MAX

struct steal_event {
    time_us at;
    uint64_t sequence;
    enum event_kind kind;
    uint32_t slot;
    uint32_t piece;
    uint32_t number; /* Of the round, or of the computation. */
};

/* sim/world.c: a process has at most one timer that will ring in time. */
struct timer {
    time_us at, due;
};

struct queued {
    uint32_t piece;
    bool dropped;
};

struct thief {
    /* The worker. */
    struct queued *queue;
    uint32_t count, at;
    bool in_round, computing, cancelling, holding, delayed;
    uint32_t number; /* Of the computation. */
    uint32_t round;
    time_us began, release;
    struct delay_draw draw;
    struct timer timer;
    /* As the coordinator sees it. */
    bool called; /* Was sent this round. */
    uint32_t outstanding, answered;
    time_us answered_at;
};

struct steal_piece {
    bool in;
    uint32_t count;
    uint32_t assignee[ASSIGNEES_MAX];
};

struct steal {
    struct steal_event *heap;
    size_t count, capacity;
    uint64_t sequence;
    time_us now;
    struct thief *thieves;
    struct queued *queues;
    uint32_t queue_capacity;
    uint32_t *group_of; /* slots */
    struct steal_piece *pieces;
    struct timer tick;
    uint32_t round;
    time_us opened_at;
    uint32_t pieces_in, chunks_in, answers;
    uint64_t chunks_done;
    bool late;   /* The code's deadline has passed. */
    bool over;   /* The step is. */
    bool failed; /* An event was lost for want of memory. */
};

/* steal.c: what is to happen, by time and then in order of sending. */
void steal_push(struct steal *steal, struct steal_event event);
void steal_send(struct steal *steal, enum event_kind kind, uint32_t slot,
                uint32_t piece);
void steal_set_timer(struct steal *steal, uint32_t slot, time_us at);
/* Has it come?  Else it is set again. */
bool steal_timer_rings(struct steal *steal, uint32_t slot);

/* steal_worker.c: what happens to a worker. */
void steal_on_worker(struct replay *replay, const struct steal_event *event,
                     const struct delay_draw *draws);

#endif /* PLAN_STEAL_PARTS_H */

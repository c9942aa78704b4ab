/*
 * worker.h - the worker as a pure step machine.
 *
 * A worker dials the coordinator, says who it is, takes pieces of work in the
 * order given, computes one at a time and answers each with a tally (or all of
 * them together with one coded row).  It decides nothing: who computes what is
 * the coordinator's business.  Invariants WORK-n are in docs/protocol.md.
 *
 *     DIALLING --LINK_UP--> GREETING --WELCOME--> SERVING --LEAVE--> LEAVING
 *         ^---------------------+---- LINK_DOWN, silence ----+          |
 *                                                            BYE --> DONE
 */
#ifndef CORE_WORKER_H
#define CORE_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/chunkset.h"
#include "core/action.h"
#include "core/link/pulse.h"
#include "math/blocks.h"
#include "math/exact/tally.h"

#define WORKER_ACTIONS_MAX 64u

struct worker_options {
    char name[NAME_SIZE];
    uint64_t incarnation;
    uint32_t pid;
    struct digest arithmetic;
    bool resident;      /* All chunks are here already (forked locally). */
    struct digest data; /* Of what is resident. */
    bool keeps;         /* Has a disk of its own for chunks. */
    bool alone;         /* Has nothing to do with other workers. */
    bool stays;         /* Told that another job follows, FINISH is ERR_STALE:
                           whoever drives it begins anew. */
    bool owns;          /* Has private rows, of a job of digest `data`: ... */
    struct digest part; /* ... these, which are ... */
    uint32_t own_first, own_end; /* ... so many of its chunks. */
    time_us retry_us; /* First wait before dialling again; doubles. */
    time_us retry_max_us;
    time_us give_up_us; /* Unreachable for so long: FINISH; TIME_NEVER. */
};

enum worker_phase {
    WORKER_DIALLING,
    WORKER_GREETING,
    WORKER_SERVING,
    WORKER_LEAVING,
    WORKER_DONE,
};

struct worker_item {
    struct item item;
    bool dropped; /* Taken over by another before it was started. */
    bool coded;   /* Goes into the row. */
};

struct worker {
    struct worker_options options;
    enum worker_phase phase;
    time_us now;

    /* The link. */
    time_us dial_at; /* DIALLING: when to try next; NEVER = trying. */
    time_us retry_us;
    time_us lost_at; /* When the coordinator was last known good. */
    time_us heard_at;
    time_us hello_at;
    time_us greet_until; /* GREETING: then another way is tried. */
    time_us beat_at;     /* Next beat is due. */
    uint64_t sequence;
    uint64_t view_seen; /* WORK-1: never obey a lower view. */

    /* The job; opened by the first WELCOME, kept over reconnects. */
    bool open;
    struct job job;
    uint8_t brief[BRIEF_MAX]; /* Its brief. */
    struct chunkset held;
    struct chunkset near;     /* Can be fetched. */
    struct chunkset fetching; /* FETCH is out. */
    uint8_t *bits;            /* Behind HAVE. */
    bool counted_on;          /* HELLO said that HAVE would follow. */
    bool recalling;           /* RECALL is out. */
    bool recalled;            /* `near` is known. */
    struct tally tally;       /* In the driver's hands while `computing`. */
    struct tally sent; /* The one before: its answer may just be leaving. */
    double *row;       /* dims + 1, coded rounds; a product's numbers are
                          in the driver's hands too. */
    double *gradient;  /* dims + 1, scratch; in the driver's hands too. */
    enum evaluation_kind kind;
    uint32_t soft;      /* struct evaluation. */
    double *weights[2]; /* [live] of this round; the other may still be */
    double *direction[2];
    int16_t *exponent[2]; /* read by a compute that was called off. */
    uint32_t scaled[2];   /* So many exponents are there, ... */
    uint64_t scale[2];    /* ... of the scale with this name. */
    const double *w, *v;  /* In use: [live], or what the driver keeps ... */
    const int16_t *e;     /* (exponents only if it says so) */
    uint64_t kept;        /* ... by this number. */
    bool kept_scale;
    const int64_t *sum; /* Of the piece just computed. */
    uint32_t live;
    uint32_t sum_dims; /* Of this round's answers. */
    uint32_t in_use;   /* While computing: the one it reads. */

    /* The round. */
    bool in_round;
    struct round_key key;
    struct round_key over; /* Rounds up to this one were cancelled. */
    uint64_t assignment;
    bool coded;
    uint32_t coded_left;      /* Pieces that the row still lacks. */
    struct block_shape shape; /* Products: of what is multiplied ... */
    uint64_t block;           /* ... and the block that `held` is of, made
                                from: */
    struct block_term *block_terms;
    uint32_t block_count;
    double size; /* Of samples. */
    double delay_s, delay_factor, delay_share_s;
    bool delayed; /* The additive delay of this round is spent. */
    struct worker_item *queue;
    uint32_t queue_count, queue_capacity;
    uint32_t at;              /* queue[at] is computed now or next, ... */
    uint32_t joined;          /* ... and while it is, so many in all with it. */
    bool singly;              /* Products of this round: no others with it. */
    struct block_span *spans; /* SEGMENTS_MAX, in the driver's hands too. */
    uint32_t *answered;       /* The same, behind ROW. */
    double product_us[EVALUATE_LAST + 1]; /* A number of each kind took;
                                             0: not known. */
    bool computing;                       /* ACTION_COMPUTE is out. */
    bool cancelling; /* ... and its result is not wanted any more. */
    bool holding;    /* Computed, waiting for the injected delay. */
    time_us release_at;
    int64_t compute_us; /* Of the piece, or of the coded round so far. */
    time_us need_at;    /* Not before: ask again for missing chunks. */
    bool coded_failed;  /* A piece of the coded round was refused. */

    uint64_t chunks_done;
    bool beaten; /* In this step. */
    struct pulse pulse;
    bool backlog;  /* Answers are still on their way. */
    double rtt_us; /* Of beats and their echoes, smoothed. */
    bool leaving;
    time_us leave_at;         /* Next LEAVE is due. */
    time_us leave_until;      /* Go without BYE after this. */
    char reason[REASON_SIZE]; /* Behind ACTION_FINISH. */
};

void worker_init(struct worker *worker, const struct worker_options *options);
void worker_close(struct worker *worker);
/* ROOM-1: is a piece computed, or its answer held, so that the round it is of
 * stays where it was read in place? */
bool worker_stays(const struct worker *worker);

/* Advance by one event.  `actions` is emptied first. */
void worker_step(struct worker *worker, const struct event *event,
                 struct actions *actions);

#endif /* CORE_WORKER_H */

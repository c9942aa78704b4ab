/*
 * action.h - what a step machine is told, and what it asks for.
 *
 * One core, two drivers: src/node feeds events from sockets and clocks, src/sim
 * from a seed.  A machine reads no clock, no socket, no global; it is told the
 * time, answers with a list of actions, and the driver carries them out in
 * order before it calls again (SEND has copied the message when it returns).
 */
#ifndef CORE_ACTION_H
#define CORE_ACTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/chunkset.h"
#include "base/err.h"
#include "base/time.h"
#include "core/msg.h"
#include "core/trace.h"
#include "math/computation.h"

enum event_kind {
    EVENT_START,
    EVENT_TIME,      /* The time asked for with ACTION_TIMER has come. */
    EVENT_LINK_UP,   /* Worker, relay: connected to the one above. */
    EVENT_LINK_DOWN, /* Socket error or end; coordinator, relay: of `link`. */
    EVENT_MESSAGE,
    EVENT_TALLIES,   /* Coordinator: `arrivals`, as that many MESSAGEs in a row,
                        but that their sums are added up in one pass. */
    EVENT_COMPUTED,  /* Worker: the piece is in the tally, or not (err). */
    EVENT_JOURNALED, /* Coordinator: the record is written (err). */
    EVENT_CHECKPOINTED, /* Coordinator: `step` is durable (err). */
    EVENT_LEAVE,        /* Worker: SIGTERM or spot notice. */
    EVENT_STOP,         /* Coordinator: end at the next step boundary. */
    EVENT_SIZE,         /* Coordinator: samples of `size` from the next pass. */
    EVENT_RECALLED,     /* Worker: `near` is what can be fetched. */
    EVENT_FETCHED,      /* Worker: `chunk` is stored, or is not there (err). */
    EVENT_JUDGED,       /* Coordinator: its own tally of the piece (err). */
    EVENT_COMING,   /* Worker: a ROUND of `key` is arriving where the vectors
                       kept for its round lie. */
    EVENT_MEASURED, /* Coordinator: the loss of the held-out rows (err). */
    EVENT_SERVING,  /* Worker: peers reach it at `port`; 0: they do not. */
    EVENT_MOVED,    /* A ring's peer: bytes came by `link` of a message that is
                       not whole yet. */
};

/* A TALLY that came before others, and waited for them. */
struct arrival {
    time_us at; /* No earlier than the one before. */
    uint32_t link;
    const struct msg *msg;
};

#define ARRIVALS_MAX 64u

struct event {
    enum event_kind kind;
    time_us now;                    /* TALLIES: of the first. */
    uint32_t link;                  /* Coordinator, relay: who. */
    const struct msg *msg;          /* EVENT_MESSAGE. */
    const struct arrival *arrivals; /* TALLIES: */
    uint32_t arrival_count;         /* ... ARRIVALS_MAX at most. */
    enum err err;                   /* COMPUTED, JOURNALED, CHECKPOINTED. */
    int64_t compute_us;             /* COMPUTED. */
    const int64_t *sum;  /* COMPUTED: the sums are here, not in the tally,
                            until they are sent or the next COMPUTE; NULL:
                            they are in the tally. */
    uint32_t step;       /* CHECKPOINTED. */
    uint64_t backlog;    /* MESSAGE, TIME: bytes of bulk on their way to the
                            other side; late then, not lost. */
    uint32_t chunk, end; /* FETCHED: [chunk, end), all of one fate. */
    uint32_t peer;       /* FETCHED: as in the FETCH. */
    uint16_t port;       /* SERVING. */
    double loss;         /* MEASURED. */
    double size;         /* SIZE. */
    const struct chunkset *near; /* RECALLED, ... */
    const struct chunkset *held; /* ... and what is in memory; NULL: none. */
    const struct round_key *key; /* COMING. */
};

enum action_kind {
    ACTION_SEND,  /* msg to link. */
    ACTION_CLOSE, /* Drop the connection of link; no EVENT_LINK_DOWN comes. */
    ACTION_TIMER, /* EVENT_TIME at `at`; replaces the last one asked for. */
    ACTION_TRACE,
    ACTION_SHIP,       /* Coordinator: DATA of chunks [first, end) to link. */
    ACTION_JOURNAL,    /* Coordinator: append bytes; `sync`: make durable. */
    ACTION_CHECKPOINT, /* Coordinator: save bytes of `step` (core/run/store.h),
                          which stay as they are until CHECKPOINTED. */
    ACTION_FINISH,     /* The machine is done; err and reason say how. */
    ACTION_CONNECT,    /* Worker, relay: dial; LINK_UP or LINK_DOWN follows. */
    ACTION_OPEN,       /* Worker, relay: the job is known; make room for it. */
    ACTION_STORE,      /* Worker: keep msg->data; the machine counts it held. */
    ACTION_COMPUTE,    /* Worker: carry out the computation. */
    ACTION_CANCEL,  /* Worker: stop computing; COMPUTED (CANCELLED) follows. */
    ACTION_RECALL,  /* Worker: see what of msg->chunks can be read here;
                       RECALLED follows. */
    ACTION_FETCH,   /* Worker: read [first, end), or get them from the peer of
                       msg; FETCHED follows for each. */
    ACTION_SERVE,   /* Worker: let peers fetch, with the key of msg; SERVING
                       follows. */
    ACTION_JUDGE,   /* Coordinator: carry out the computation here; its vectors
                       and exponents are to be copied: the round may end. */
    ACTION_MEASURE, /* Coordinator: the loss of the held-out rows at
                       trainer_weights(), which stay until MEASURED. */
};

struct action {
    enum action_kind kind;
    uint32_t link;
    uint32_t leaf; /* SHIP: behind the relay on link; 0 = itself. */
    union {
        struct msg msg;     /* SEND; STORE; RECALL; FETCH; SERVE. */
        struct trace trace; /* TRACE. */
    };
    time_us at;           /* TIMER. */
    uint32_t first, end;  /* SHIP, FETCH. */
    const uint8_t *bytes; /* JOURNAL, CHECKPOINT: the machine's, copy them. */
    size_t size;
    bool sync;
    uint32_t step;      /* CHECKPOINT, RECEIPT. */
    enum err err;       /* FINISH. */
    const char *reason; /* FINISH: one sentence. */
    /* COMPUTE: what it points to is the driver's until COMPUTED.  JUDGE. */
    struct computation computation;
    uint64_t kept; /* COMPUTE: of the message whose vectors it has; 0: they are
                      the machine's. */
    struct block_share share; /* STORE of a strip. */
    const struct job *job;    /* OPEN. */
    const char *place;        /* CONNECT of a ring's peer: HOST:PORT. */
};

/* A list the driver owns; machines only add.  It grows to what the busiest
 * step so far needed and stays there; pointers from actions_add are good until
 * the next one. */
struct actions {
    struct action *list;
    size_t capacity;
    uint32_t count;
};

MUST_CHECK enum err actions_init(struct actions *actions, uint32_t capacity);
void actions_close(struct actions *actions);
/* A zeroed action of that kind at the end of the list. */
struct action *actions_add(struct actions *actions, enum action_kind kind);

#endif /* CORE_ACTION_H */

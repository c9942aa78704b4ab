/*
 * worker_node.h - core/worker/worker.h on a socket and a compute thread.
 *
 * `muster join` and the local workers of `muster train` are this one function.
 *
 *     loop thread                      compute thread (+ its pool)
 *       messages, beats, timers  --->    chunks [first, end) into the tally
 *       CANCEL: raise a flag             looks at the flag between units
 *                                <---    done
 *
 * A unit is a chunk, or what the evaluator computes at once.  Heartbeats are
 * the loop thread's only real work, so that no amount of computing delays them,
 * but for pieces so quick that the other thread's waking would take longer.
 */
#ifndef NODE_WORKER_NODE_H
#define NODE_WORKER_NODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/time.h"
#include "core/msg.h"
#include "data/rows/dataset.h"
#include "eval/user.h"
#include "math/kernel/kernel.h"
#include "node/host/chaos.h"
#include "node/owners/enrol.h"
#include "node/worker/supply.h"
#include "os/net/interface.h"
#include "os/net/net.h"
#include "os/net/notice.h"
#include "os/net/token.h"
#include "os/run/board.h"

/* How a worker stands, for people. */
struct worker_news {
    bool begins;           /* The job was just taken on. */
    const char *kind;      /* What computes: evaluator_ops.name. */
    uint32_t rows, chunks; /* Of the job. */
    uint32_t steps;        /* The one at hand, from 1; 0: none yet. */
    uint64_t chunks_done;  /* In this job so far. */
    time_us now;
};

/* In the loop's thread; at each beat, and once at the end. */
struct worker_watch {
    void (*see)(void *context, const struct worker_news *news);
    void *context;
};

struct worker_node_options {
    /* Of the coordinator, or of relays to it: who is not let in by one tries
     * the next. */
    const struct net_address *addresses;
    uint32_t address_count;
    const char *folder; /* Of the run, if it is here: ways.h.  May be NULL. */
    const struct token *token;
    char name[NAME_SIZE];
    enum isa isa;
    uint32_t threads;
    const struct dataset *resident;   /* All rows are here; NULL: shipped. */
    const struct owned *owned;        /* Private rows of our own; NULL: none. */
    const struct user_function *user; /* Instead of rows and a model. */
    struct digest data;               /* Of the resident rows; user_digest. */
    struct board *board;              /* NULL: none.  Borrowed. */
    uint32_t berth;                   /* There. */
    time_us give_up_us; /* Unreachable for so long; TIME_NEVER = never. */
    bool interrupt;     /* SIGINT, too, means leave. */
    const struct chaos *chaos;       /* Says when to lie; NULL = never. */
    const struct net_source *source; /* To dial from; NULL: any. */
    struct notice_options notice;    /* Checked; it means leave as well. */
    struct supply_options supply;    /* Without resident rows. */
    struct leftover *leftover; /* What the job before left, and this one leaves:
                                  the worker stays for another.  NULL: not. */
    bool *ring; /* Set: whoever is there is a peer of a ring.  May be NULL. */
    struct worker_watch watch; /* `see` NULL: nobody. */
};

/* Serve until the job is done or this worker is let go (ERR_OK), or until it
 * cannot go on (the sentence says why).  ERR_STALE: another job follows, for
 * one who stays.  ERR_CANCELLED: the user's function said stop. */
MUST_CHECK enum err worker_node_run(const struct worker_node_options *options,
                                    struct why *why);

/* For `muster join`: choose a name if NULL, run. */
struct join_options {
    const struct ways *ways;
    const char *interface; /* To dial from; NULL: any. */
    const char *name;      /* NULL: the host's name and the process id. */
    uint32_t threads;      /* 0: all processors. */
    time_us give_up_us;
    struct notice_options notice;
    struct supply_options supply;
    const struct user_function *user; /* NULL: a worker for anybody's rows. */
    struct source_options own;        /* Private rows; `spec` NULL: none. */
    bool *ring; /* Set: a ring is there (ERR_UNSUPPORTED), which is joined as
                   learn/ring/joined.h does.  May be NULL. */
    struct worker_watch watch; /* As above. */
};

/* `wanted` if it is a name, else one of the token's or the host's. */
MUST_CHECK enum err join_name(const char *wanted, const struct token *token,
                              char name[NAME_SIZE], struct why *why);

MUST_CHECK enum err join_run(const struct join_options *options,
                             struct why *why);

#endif /* NODE_WORKER_NODE_H */

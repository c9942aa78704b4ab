/*
 * trace.h - typed events for machines: the screen, the simulator's checkers,
 * tests and --trace all subscribe to this one stream.
 */
#ifndef CORE_TRACE_H
#define CORE_TRACE_H

#include <stdint.h>

#include "base/time.h"
#include "core/key.h"
#include "core/msg.h"
#include "core/stint.h"
#include "core/vitals.h"

#define TRACE_LIST(X)                                                          \
    X(TRACE_JOINED, "joined")       /* worker said HELLO and was let in */     \
    X(TRACE_DIED, "died")           /* error or silence; a ring's: a go on */  \
    X(TRACE_LEFT, "left")           /* in good order; likewise */              \
    X(TRACE_SUSPECT, "suspect")     /* silent past the limit */                \
    X(TRACE_CLEARED, "cleared")     /* suspect heard of again */               \
    X(TRACE_VIEW, "view")           /* membership agreed; a = slots */         \
    X(TRACE_ROUND, "step")          /* one of its rounds opened */             \
    X(TRACE_TALLY, "tally")         /* merged; a = piece, b = chunks */        \
    X(TRACE_DUPLICATE, "duplicate") /* covered already, dropped */             \
    X(TRACE_STALE, "stale")         /* other key, dropped */                   \
    X(TRACE_POISON, "poison")       /* a = kind of it; b = strikes so far */   \
    X(TRACE_HEDGED, "hedged")       /* a = piece given to worker too */        \
    X(TRACE_STOLEN, "stolen")       /* a = piece taken over by worker */       \
    X(TRACE_RESENT, "resent")       /* assignment sent again */                \
    X(TRACE_COMMIT, "commit")       /* step done; a = class, b = chunks in */  \
    X(TRACE_CHECKPOINT, "checkpoint") /* durable; step says up to where */     \
    X(TRACE_ROLLBACK, "rollback")     /* approximate run back to step */       \
    X(TRACE_ALARM, "alarm")           /* disk trouble; training goes on */     \
    X(TRACE_DONE, "done")             /* weights final */                      \
    X(TRACE_FAILED, "failed")                                                  \
    X(TRACE_SWITCH, "switch") /* another code; trace_switch_text says why */   \
    X(TRACE_STINT, "stint")   /* somebody did something; a = stints lost */    \
    X(TRACE_PULSE, "pulse")   /* a worker's account of its time */             \
    X(TRACE_BANNED, "banned") /* third strike; a = kind of the last one */     \
    X(TRACE_JUDGED, "judged") /* computed here; chunks [a, b) */               \
    X(TRACE_AWAY, "away")     /* owner of rows a.. (b of them) is; value: */   \
    X(TRACE_HOME, "home")     /* ... is back */                                \
    X(TRACE_PEER, "peer")     /* did not give chunk a; b = 1: wrong bytes */   \
    X(TRACE_SUM, "sum")       /* a relay's, merged: stands for a TALLYs */     \
    X(TRACE_STOP, "stop")     /* was asked for; at the next step boundary */   \
    X(TRACE_PASS, "pass")     /* one is over; a = step of the best so far */   \
    X(TRACE_SHORT, "short")   /* a machines are here, and b are needed */      \
    X(TRACE_ENOUGH, "enough") /* ... and now they are */                       \
    X(TRACE_SIZE, "size")     /* samples have it after `step`; value: it */

#define TRACE_ENUM(code, text) code,
enum trace_kind { TRACE_LIST(TRACE_ENUM) };
#undef TRACE_ENUM

/* What was merged of one worker, in a SUM; see trace_tally(). */
struct trace_answer {
    int32_t link; /* As in struct trace. */
    uint32_t piece, chunks;
    int64_t compute_us;
    double delay_factor; /* Slow on purpose: times the compute time. */
};

struct trace {
    time_us now;
    enum trace_kind kind;
    int32_t link; /* The worker concerned, -1 if none. */
    struct round_key key;
    uint64_t a, b;
    double value;         /* COMMIT: objective.  PASS: loss of held-out rows.
                             SIZE: share of rows.
                             AWAY: seconds that the step
                             waits; 0: it goes on without.  SWITCH: share of time saved;
                             a, b: its 95 % interval, in thousandths. */
    char name[NAME_SIZE]; /* The worker's name, or "".  SWITCH: the codes. */
    union {
        struct stint stint;      /* STINT, on the coordinator's clock. */
        char relay[NAME_SIZE];   /* JOINED: the relay it is behind, or "". */
        char fetcher[NAME_SIZE]; /* PEER: to whom. */
        struct {                 /* TALLY: of the answer. */
            int64_t compute_us;
            double delay_factor;
        } answer;
        const struct trace_answer *answers; /* SUM: a of them; the machine's,
                                               copy them. */
        struct {                            /* PULSE. */
            struct vitals vitals;
            int64_t ahead_us, error_us, trip_us; /* As in msg_pulse. */
        } pulse;
    };
};

/* Subscribers know no SUM: drivers give them, in its place, the TALLY of each
 * of its answers.  `name`: of the worker on the answer's link; "" if it is -1.
 * One event for all of them is what keeps a coordinator's work that of its
 * relays, whatever is behind them. */
struct trace trace_tally(const struct trace *sum,
                         const struct trace_answer *answer, const char *name);

const char *trace_name(enum trace_kind kind);
/* A SWITCH as a sentence; TRACE_TEXT is room enough.  Returns `out`. */
#define TRACE_TEXT 256u
const char *trace_switch_text(const struct trace *trace, char out[TRACE_TEXT]);

#endif /* CORE_TRACE_H */

/*
 * sim.h - the whole system in virtual time, from one seed.
 *
 * One coordinator, its disk and any number of workers run the machines of
 * src/core as they ship; only time, network, disk and the will to live are
 * models.  Every message goes through wire/codec, every gradient through
 * model/linear/problem, every record through core/run/store.  Checkers watch
 * from outside (sim/checker.h) and a run ends with a digest of all that
 * happened: the same options give the same digest on every machine.
 *
 * Nothing here reads a clock or prints: text goes to the caller's sink.
 * docs/simulator.md has the legend of the trace and how to replay a seed.
 */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/time.h"
#include "code/code.h"
#include "core/star/coordinator.h"
#include "core/trace.h"
#include "model/linear/problem.h"
#include "model/net/neural_model.h"
#include "optim/optim.h"
#include "plan/delay.h"

#define SIM_TEXT 256u

/* Every kind of fault; the text is its name in traces and mixes. */
#define FAULT_LIST(X)                                                          \
    X(FAULT_CRASH, "crash")         /* kill -9 of a worker; memory lost */     \
    X(FAULT_RESTART, "restart")     /* a dead worker comes back */             \
    X(FAULT_FREEZE, "freeze")       /* SIGSTOP of a worker for a while */      \
    X(FAULT_THAW, "thaw")           /* SIGCONT before its time */              \
    X(FAULT_LEAVE, "leave")         /* SIGTERM: in good order */               \
    X(FAULT_JOIN, "join")           /* new workers, one to three at once */    \
    X(FAULT_PARTITION, "partition") /* a worker is cut off, one or two ways */ \
    X(FAULT_RESET, "reset")         /* a connection breaks */                  \
    X(FAULT_BURST, "burst")         /* messages lost, doubled, reordered */    \
    X(FAULT_REPLAY, "replay")       /* old answers are heard again */          \
    X(FAULT_SLOW, "slow")           /* a worker computes 2 to 20 x longer */   \
    X(FAULT_POISON, "poison")       /* a worker sends NaN and nonsense */      \
    X(FAULT_KILL, "kill")           /* kill -9 of the coordinator */           \
    X(FAULT_POWER, "power")         /* ... its machine: unsynced data go */    \
    X(FAULT_DISK_CRASH, "diskcrash") /* either, at the n-th disk operation */  \
    X(FAULT_DISK_ERROR, "diskerror") /* one disk operation fails */            \
    X(FAULT_STALL, "stall")          /* SIGSTOP of the coordinator */          \
    X(FAULT_STOP, "stop")            /* SIGTERM of it: stops, is resumed */    \
    X(FAULT_LIE, "lie")              /* a worker lies, within the bound */     \
    X(FAULT_RELAY, "relay")          /* a relay dies, freezes or is cut off */ \
    X(FAULT_REFUSE, "refuse")        /* a worker says that nothing fits */

#define FAULT_ENUM(code, text) code,
enum fault_kind { FAULT_LIST(FAULT_ENUM) FAULT_KINDS };
#undef FAULT_ENUM

const char *fault_name(enum fault_kind kind);

/* How often each kind is drawn, relative to the others. */
struct fault_mix {
    uint32_t weight[FAULT_KINDS];
};

/* All kinds, weighted so that runs still get somewhere. */
struct fault_mix fault_mix_default(void);

/* One fault at a logical place: `after_us` after `step` first opens. */
struct sim_fault {
    enum fault_kind kind;
    uint32_t step;
    uint32_t worker; /* Whom; ignored where there is nobody to choose. */
    time_us after_us;
    time_us for_us; /* FREEZE, STALL, PARTITION, BURST; KILL, POWER: away. */
    uint32_t count; /* FAULT_DISK_CRASH, _ERROR: operations before it.  LIE: one
                       answer in so many is one; 0 = all. */
    uint32_t piece; /* LIE: about this one only, counted from 1; 0 = any. */
};

/* A line of the trace, without its newline. */
typedef void (*sim_sink)(void *context, const char *line);

/* A step that was committed, and the model after it. */
struct sim_step {
    double t_s; /* From the first round's opening. */
    uint32_t step;
    double loss;
    double error; /* Of its gradient: 0 if exact; NaN: not measured. */
    const double *weights;
};

typedef void (*sim_commit)(void *context, const struct sim_step *step);

/* `muster set`: another size of samples is asked for. */
#define SIM_RESIZES 4u
struct sim_resize {
    uint32_t step; /* So long after it has opened for the first time. */
    time_us after_us;
    double size;
};

struct sim_options {
    /* What is trained; NULL: no gradients (all sums zero), `rows` and
     * `chunk_rows` say how many chunks there are. */
    const struct problem *problem;
    const struct neural_model *net; /* Of the problem's rows; NULL: linear. */
    uint32_t rows, chunk_rows;
    struct optim_options optim; /* rows and steps included. */
    struct held_out held_out;   /* Where optim.held_out. */
    struct code_spec code;
    struct sim_resize resize[SIM_RESIZES]; /* Of its samples, ... */
    uint32_t resize_count;                 /* ... so many. */
    bool adapt;                            /* Change it where it pays, ... */
    enum exactness worst;                  /* ... within this class. */
    uint32_t drill; /* Change it every so many steps whatever it pays. */
    uint32_t slots;
    uint32_t workers;     /* Started at time 0; 0 = slots. */
    uint32_t workers_max; /* Joiners included; 0 = workers + 4. */
    struct delay delay;   /* Injected, as `--delay`. */
    uint32_t fanout;      /* Workers of one relay; 0 = no relays. */
    bool deep;            /* All relays but the first are behind others. */

    /* No latency, no beats, no disk: the ideal of a delay study. */
    bool ideal;
    time_us chunk_us;        /* Computing one chunk. */
    time_us latency_us;      /* Control plane, one way ... */
    time_us bulk_latency_us; /* ... and bulk plane. */
    time_us jitter_us;       /* Added, uniform. */
    double shipped;          /* Share of workers that are sent their data. */
    double kept;             /* ... and of these that keep it on disk. */
    bool shared;             /* They read it where all can, instead. */
    bool peers;              /* They fetch it from each other, too. */
    double in_place;         /* Share of workers that read weights where they
                                arrived. */
    uint32_t tray;           /* So many answers at most are told together; 0:
                                each at once. */
    bool follow;             /* Nothing is proved of the problem's values, and
                                they are taken ... */
    int follow_shift;        /* ... times 2^follow_shift (sim/followed.h). */
    bool own_data;           /* Workers bring the data along. */
    /* Private data: worker i has home i % home_count, and nothing else.  The
     * code is of placement `homes`. */
    const struct home *homes;
    uint32_t home_count;
    time_us beat_us, suspect_us, dead_us, resend_us;
    uint32_t checkpoint_steps;
    bool sync;
    bool verify;   /* Compare two answers to every piece, ... */
    double audit;  /* ... or to this share of them. */
    bool gullible; /* Lies are expected to get through: bits are not checked. */

    uint64_t seed;
    bool faults; /* Draw `fault_count` of them from the seed. */
    uint32_t fault_count;
    time_us fault_gap_us;   /* Mean time between two. */
    const bool *fault_skip; /* fault_count of them, or NULL: leave these out. */
    struct fault_mix mix;
    const struct sim_fault *script;
    uint32_t script_count;
    time_us settle_us; /* After the cure, a step in every such stretch, beside
                          the longest computation. */

    bool measure;      /* The true error of approximate steps, for `commit`. */
    bool series;       /* Keep (t, step, loss). */
    sim_commit commit; /* NULL: nobody wants to know. */
    void *commit_context;
    sim_sink switched; /* A sentence for every change of code; or NULL. */
    void *switched_context;
    sim_sink sink; /* NULL: no trace. */
    void *sink_context;
    /* Typed events, stints of the workers included, as `train --trace` has
     * them; NULL: nobody listens, and no PULSE is sent. */
    void (*watch)(void *context, const struct trace *trace);
    void *watch_context;
};

struct sim_point {
    double t_s;
    uint32_t step;
    double loss;
};

struct sim_result {
    bool finished;
    struct digest hash; /* Of the final weights. */
    bool hash_expected; /* There is a single-machine hash to compare with ... */
    struct digest expected;
    uint32_t steps;
    double total_s; /* First round opened to last commit. */
    double mean_step_s;
    double coverage; /* Mean share of chunks in a step. */
    double loss;     /* Objective at the last commit. */
    uint32_t faults; /* Injected. */
    uint32_t by_kind[FAULT_KINDS];
    uint64_t lost, doubled, reordered; /* Messages, in bursts. */
    uint32_t lives;                    /* Of the coordinator. */
    uint64_t messages;
    uint64_t coordinator_bytes; /* Sent to the coordinator and by it. */
    uint64_t events;
    uint64_t trace_digest;
    double end_s; /* Virtual time at the end. */
    bool violated;
    char violation[SIM_TEXT];
    uint32_t lies;        /* Answers that were lies. */
    uint32_t banned_step; /* Of the first ban; UINT32_MAX: there was none. */
    struct coordinator_stats stats; /* Of the last life. */
    double *weights; /* The final model: dims of them, NULL if not finished. */
    uint32_t dims;
    struct sim_point *series;
    uint32_t series_count;
};

/* Plausible times, no faults; the caller sets what is trained, and how. */
struct sim_options sim_options_default(void);
/* Workers come with all rows: nobody is sent any. */
void sim_bring_rows(struct sim_options *options);

/* Run to the end.  ERR_SHAPE and others, with a sentence, if it cannot start;
 * a broken promise is not an error but result->violated. */
MUST_CHECK enum err sim_run(const struct sim_options *options,
                            struct sim_result *result, struct why *why);
void sim_result_close(struct sim_result *result);

#endif /* SIM_SIM_H */

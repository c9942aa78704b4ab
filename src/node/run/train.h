/*
 * train.h - a training run with real processes.
 *
 * `muster train` is a supervisor: it loads the data, then forks the
 * coordinator and the local workers, so that they share its pages and so that
 * nothing outlives it.  A coordinator that dies is started again from journal
 * and checkpoint; workers dial it anew.
 *
 *     muster train (supervisor: screen, chaos, restarts)
 *       |-- coordinator     core/star/coordinator.h on sockets and a disk
 *       |-- worker w0 ..    core/worker/worker.h, a socket, compute threads
 *       |-- worker w7            ^ the same code as `muster join`
 *       '-- relay r0 ..     core/relay/relay.h between them, with --fanout
 *
 * The supervisor sees the run through the coordinator's trace stream.
 */
#ifndef NODE_TRAIN_H
#define NODE_TRAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "core/star/coordinator.h"
#include "core/trace.h"
#include "data/rows/dataset.h"
#include "eval/user.h"
#include "model/linear/problem.h"
#include "model/metrics.h"
#include "model/net/neural_model.h"
#include "node/host/chaos.h"
#include "node/owners/enrol.h"
#include "node/owners/parts.h"
#include "os/net/net.h"
#include "os/net/notice.h"
#include "os/net/token.h"
#include "plan/delay.h"

/* How weights and tallies reach local workers and come back. */
enum train_bulk {
    TRAIN_BULK_AUTO, /* Shared memory if it is to be had. */
    TRAIN_BULK_SHM,
    TRAIN_BULK_TCP,
    TRAIN_BULK_PLAIN, /* The same, not sealed; a ring's. */
};

/* May there be shared memory? */
static inline bool train_bulk_shares(enum train_bulk bulk)
{
    return bulk == TRAIN_BULK_AUTO || bulk == TRAIN_BULK_SHM;
}

/* The run's folder, locked, and its socket. */
struct train_door;

/* Something else to do; false: it failed, and the run is to be stopped. */
struct meanwhile {
    bool (*call)(void *context);
    void *context;
};

struct train_options {
    const struct dataset *data;  /* Of private data: hollow. */
    const struct parts *parts;   /* Private data; NULL: it is not. */
    const struct owned *owned;   /* ... in a ring: those of this machine. */
    time_us owner_us;            /* ... so long is waited for an owner. */
    struct train_door *door;     /* Open already; NULL: train_run opens it. */
    const struct bounds *bounds; /* Of the rows; NULL: to be measured. */
    enum model_kind model;
    const struct neural_model *net;   /* Instead of a linear model; or NULL. */
    const struct user_function *user; /* Instead of data and model. */
    enum isa isa;
    uint32_t threads; /* Of each worker. */
    struct optim_options optim;
    struct held_out held_out; /* Where optim.held_out; called in the
                                 coordinator's process. */
    struct code_spec code;
    bool adapt; /* --code auto: begin with `code`, change where it pays ... */
    enum exactness worst;   /* ... within this class. */
    double residual_max;    /* core/star/coordinator.h; 0: the code's. */
    uint32_t slots;         /* n of the code. */
    uint32_t local_workers; /* Forked here; 0 with --listen alone. */
    uint32_t workers_max;   /* Let in at once; 0 = as many as have room. */
    bool ring;              /* No coordinator: the local workers are peers. */
    const char *peers;      /* "HOST:PORT,..." of a ring to join; NULL: none. */
    const char *name;       /* Of its first local peer; NULL: by its host. */
    /* For machines that join it without data: what only src/learn reads. */
    const uint8_t *kit;
    size_t kit_size;
    uint32_t fanout;        /* Local workers of one relay; 0 = no relays. */
    const char *listen;     /* "HOST:PORT", NULL = loopback, any port. */
    const char *interface;  /* Network card, or its address; NULL: any. */
    const char *token_file; /* NULL: a key of its own, loopback. */
    const char *out;        /* Run folder, made if need be. */
    int *lock;    /* The folder's: the door has it from then on, and -1 is left.
                     NULL, -1: the door takes it. */
    bool scratch; /* ... which nobody else is to find. */
    bool passing; /* ... which goes when this process has read the result; if
                     it dies before, the last checkpoint is gone on from. */
    bool resume;
    bool gathered; /* The workers have just ended another run at this door:
                      nobody is waited for who is gone. */
    bool more;     /* Another run follows there: who joined stays for it. */
    /* Done when the processes have begun, in this thread, before they are
     * looked after; `call` may be NULL, and a ring does none. */
    struct meanwhile meanwhile;
    bool respawn; /* Restart local workers that died. */
    bool sync;
    enum train_bulk bulk;
    bool verify;          /* Two equal answers to every piece, ... */
    double audit;         /* ... or to this share of them. */
    uint64_t job;         /* 0 = draw one. */
    struct digest config; /* Of everything that decides the bits. */
    struct digest given;  /* ... but what was derived from private rows. */
    struct delay delay;
    struct chaos chaos;
    bool stints;        /* Trace what everybody did from when to when. */
    const char *shared; /* Where all read the data; NULL: shipped. */
    const char *ca;     /* ... authorities of its server; NULL: the system's. */
    bool ship_alone;    /* Workers fetch no chunks from each other. */
    struct notice_options notice; /* Told: as on SIGTERM. */
    time_us max_time_us; /* End at a step boundary after this; 0 = never. */
    /* Called by the supervisor for every trace event, and with NULL every
     * 100 ms or so for animation. */
    void (*watch)(void *context, const struct trace *trace);
    void *watch_context;
    const struct flag *stop; /* Once raised: end at a step boundary.  May be
                                NULL. */
};

/* Who runs where, for the screen and its invitation. */
struct train_process {
    char name[NAME_SIZE];
    int pid; /* 0 = gone. */
};

/* A step of code `local` that lacks some parts. */
struct train_missing {
    uint32_t step, slots;
    uint8_t silent[RECORD_SLOTS / 8]; /* As in the journal. */
};

#define TRAIN_MISSING_MAX 16u

/* Where a worker's time went, over all its lives.  The first half is counted
 * by answer; the second is what it said itself, up to a second before the
 * end. */
struct train_worker {
    char name[NAME_SIZE];
    char relay[NAME_SIZE];    /* Behind this one when it joined last; or "". */
    uint64_t answers, chunks; /* Merged. */
    uint64_t extra;           /* Pieces stolen or hedged for others. */
    uint64_t wasted;          /* Answers that came too late or twice. */
    int64_t compute_us;       /* Of the answers merged. */
    bool spoke;               /* Is there a second half? */
    struct vitals vitals;
    int64_t trip_us; /* The last round trip. */
};

struct train_result {
    bool finished;  /* false: stopped or preempted, state saved ... */
    uint32_t saved; /* ... as of this step: earlier if the disk failed. */
    int signal;     /* The signal that ended it, 0 = none. */
    int late;       /* One that came and did not end it; after an error, too. */
    bool timed_out; /* max_time_us ended it, nobody else. */
    struct digest hash;
    uint32_t steps;
    uint32_t opened;  /* So many began, of this life and those before. */
    double elapsed_s; /* First broadcast to last commit. */
    struct optim_outcome outcome;
    struct { /* Rows (node/fixed/noise.h); 0: not measured. */
        double start, model;
        double critical; /* Batch. */
    } noise;
    bool measured;          /* The verdict has scored the training rows: ... */
    struct metrics metrics; /* ... by the model. */
    struct { /* The model beside the best constant: learn/family/constant.h. */
        bool judged, beaten;
        double gained; /* Share of its loss; of numbers R^2. */
        double share;  /* Of the most frequent class. */
    } constant;
    struct { /* What the penalty leaves: learn/family/held.h. */
        bool judged;
        bool nothing; /* No loss is less than the best constant's. */
        double left;  /* Share of the weights. */
    } held;
    double worst_pause_s; /* Longest gap between two commits. */
    uint32_t coordinator_deaths;
    struct coordinator_stats stats; /* Summed over coordinator lives. */
    double *weights;                /* job dims; mem_free. */
    uint32_t dims;
    uint64_t evaluations;
    uint32_t port;
    bool shared;      /* Local workers shared memory with the coordinator. */
    uint32_t partial; /* Steps of code `local` that lack some; the first ... */
    struct train_missing missing[TRAIN_MISSING_MAX];
    uint32_t missing_count;
    struct train_worker *workers; /* By name; mem_free. */
    uint32_t worker_count;
};

/* Of out, lock, resume, listen, interface and token_file.  Whoever opened it
 * closes it. */
MUST_CHECK enum err train_door_open(const struct train_options *options,
                                    struct train_door **door, struct why *why);
void train_door_close(struct train_door *door); /* Accepts NULL. */
int train_door_fd(const struct train_door *door);
/* To dial, in `text`, which is returned. */
const char *train_door_address(const struct train_door *door,
                               char text[NET_TEXT_SIZE]);
const struct token *train_door_token(const struct train_door *door);

/* So long a run waits for all its workers, then it begins with those there. */
time_us train_patience(uint32_t slots, uint32_t local);

MUST_CHECK enum err train_run(const struct train_options *options,
                              struct train_result *result, struct why *why);

/* The weights that the run in `out` ended with, from mem_new, and after how
 * many steps; NULL if it is not over, or does not say. */
double *train_ended_with(const char *out, uint32_t *dims, uint32_t *steps);

/* Remove what a run made in `out` that did not come as far as its journal.
 * False: it did, or another run is going on there. */
bool train_forget(const char *out);

/* Frees what it points to; fine if that is nothing. */
void train_result_close(struct train_result *result);

/* The processes of the run in progress (call from watch only). */
const struct train_process *train_processes(uint32_t *count);

#endif /* NODE_TRAIN_H */

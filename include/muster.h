/*
 * muster.h - train with a gradient of your own, or sum with a loop of your own.
 *
 *     int gradient(void *context, const double *w, uint32_t chunk,
 *                  double *g, double *loss);      your function
 *
 *     struct muster_options options = MUSTER_OPTIONS;
 *     options.dims = 20, options.chunks = 8, options.rows = 1000;
 *     options.gradient = gradient;
 *     options.workers = 4;                        processes; 0 = this one
 *     struct muster_model *model;
 *     if (muster_train(&options, &model, why) == MUSTER_OK)
 *         use(muster_weights(model));
 *     muster_free(model);
 *
 * The data is yours; Muster sees `chunks` pieces of it by number.  What your
 * function returns for a chunk is written in fixed point and summed as
 * integers, which have no rounding and no order: the model is the same to the
 * bit for any number of threads, workers and machines, whoever was killed on
 * the way.  muster_hash names it.
 *
 * docs/api.md has the rules: errors, threads, fork, signals, the ABI.  The
 * calling thread's stack has 256 KiB at least, besides what your function
 * needs.
 *
 * ABI.  Structures begin with the version they were compiled for; fields are
 * only ever added at the end, and a zeroed field means its default.  A program
 * built with an older header keeps working with a newer library; a library
 * older than the header says MUSTER_BAD_VERSION.
 */
#ifndef MUSTER_H
#define MUSTER_H

#include <stdint.h>

#if defined(__GNUC__)
#define MUSTER_API __attribute__((visibility("default")))
#else
#define MUSTER_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define MUSTER_VERSION   2u
#define MUSTER_WHY_SIZE  512
#define MUSTER_HASH_SIZE 65 /* 64 hex digits and a NUL. */

enum muster_status {
    MUSTER_OK = 0,
    MUSTER_BAD_VERSION = 1, /* The header is newer than the library. */
    MUSTER_BAD_OPTION = 2,
    MUSTER_NO_MEMORY = 3,
    MUSTER_DIVERGED = 4, /* Weights, gradient or loss are not finite, or the
                            loss of a chunk is 2^60 and more. */
    MUSTER_STOPPED = 5,  /* Your function, your watch, a signal or
                            muster_cancel said so; of a training the model so
                            far is there. */
    MUSTER_UNSUPPORTED = 6,
    MUSTER_NOT_A_FUNCTION = 7, /* Two answers to the same question, or the
                                  folder is of a run with other options. */
    /* Since version 2. */
    MUSTER_FAILED = 8,  /* Disk, network, processes: the sentence says what. */
    MUSTER_REFUSED = 9, /* By the other side: token, release or data. */
    MUSTER_LOST = 10,   /* Nobody is left, or nobody can be reached. */
    MUSTER_TIMEOUT = 11,
    MUSTER_MISSED = 12, /* The others have gone on without this member. */
};

/* Gradient (dims numbers, zero on entry: add or assign) and loss of one chunk
 * at w: sums over its rows, not means.  Must depend on the arguments alone and
 * give the same bits each time (across machines that means -ffp-contract=off,
 * no -ffast-math, and no library whose results differ).  With threads > 1 it is
 * called by several threads at once, for different chunks; with workers, in
 * processes forked from this one.  Not 0: stop. */
typedef int (*muster_gradient)(void *context, const double *w, uint32_t chunk,
                               double *gradient, double *loss);

/* The Hessian of the chunk's loss at w times v, likewise.  For "newton". */
typedef int (*muster_hessvec)(void *context, const double *w, const double *v,
                              uint32_t chunk, double *product);

struct muster_progress {
    uint32_t version;
    uint32_t step;         /* Updates of the model so far. */
    uint64_t evaluations;  /* Passes over all chunks.  With workers: 0. */
    double objective;      /* Mean loss + l2 |w|^2. */
    double gradient_norm;  /* With workers: NaN. */
    const double *weights; /* With workers: NULL, they are elsewhere. */
};

/* After each update, in the caller's thread.  Not 0: stop; with workers some
 * more updates may have been made by then. */
typedef int (*muster_watch)(void *context,
                            const struct muster_progress *progress);

struct muster_options {
    uint32_t version; /* MUSTER_VERSION. */
    uint32_t dims;    /* Weights, > 0. */
    uint32_t chunks;  /* 1 to 65,536.  Part of the result's bits: choose it by
                         the data, not by the machine. */
    uint32_t steps;   /* Updates at most; 0 = 100. */
    uint64_t rows;    /* Behind all chunks, > 0: losses become means. */
    muster_gradient gradient;
    muster_hessvec hessvec; /* "newton" only. */
    muster_watch watch;     /* May be NULL. */
    void *context;          /* Of all three. */
    const char *optimiser;  /* "gd", "agd", "momentum", "adam", "lbfgs" (also
                               if NULL), "newton". */
    /* Of gd, agd, momentum (0 = 1) and adam (0 = 0.001); of lbfgs the first
     * step along the gradient (0 = of length 1). */
    double rate;
    double l2;  /* Objective: mean loss + l2 |w|^2. */
    double tol; /* Stop when the gradient's norm is at most this; 0 = never. */
    uint32_t threads; /* Of each process; 0 = 1. */
    uint32_t workers; /* Processes forked for the run; 0 = none. */
    /* Since version 2; all for runs with workers.  Without any a `code` that
     * would be refused with them, and a `folder`, are refused. */
    const char *code;    /* "steal" if NULL; any of `muster codes` but local
                            and matrix, or "auto". */
    uint32_t stragglers; /* s of the code; 0 = 1, of one worker 0. */
    uint32_t wanted;     /* Begin with so many workers, or 60 s later with
                            those there are; 0 = `workers`. */
    const char *listen;  /* "HOST:PORT" for muster_join of others; the folder's
                            file `address` has the port that was taken. */
    const char *token_file; /* Required off loopback (muster token new). */
    const char *folder;     /* Journal and checkpoints.  A run that is there
                               is continued.  NULL: none is left. */
    const char *name;       /* muster_join: of this worker; may be NULL. */
};

/* Also for struct muster_group_options and struct muster_sum_info. */
#ifdef __cplusplus
#define MUSTER_OPTIONS                                                         \
    {                                                                          \
        MUSTER_VERSION                                                         \
    }
#else
#define MUSTER_OPTIONS                                                         \
    {                                                                          \
        .version = MUSTER_VERSION                                              \
    }
#endif

struct muster_model;

/* From weights of zero.  With MUSTER_OK and MUSTER_STOPPED *model is the
 * caller's to muster_free; otherwise it is NULL and `why` (MUSTER_WHY_SIZE
 * characters, or NULL) holds one sentence.  With workers (or `listen`): one
 * call at a time in a process, which forks; see docs/api.md for what that asks
 * of it. */
MUSTER_API enum muster_status muster_train(const struct muster_options *options,
                                           struct muster_model **model,
                                           char *why);

/* Be a worker of a muster_train elsewhere that listens at `address`
 * ("HOST:PORT" and a token_file; or its folder, by the same user on the same
 * machine): the same program, with the same dims, chunks, rows and functions (a
 * chunk is computed to see that it is).  MUSTER_OK once the job is done or
 * SIGTERM or SIGINT made it leave, MUSTER_STOPPED if the function said so. */
MUSTER_API enum muster_status muster_join(const struct muster_options *options,
                                          const char *address, char *why);

MUSTER_API uint32_t muster_dims(const struct muster_model *model);
MUSTER_API const double *muster_weights(const struct muster_model *model);
MUSTER_API uint32_t muster_steps(const struct muster_model *model);
MUSTER_API uint64_t muster_evaluations(const struct muster_model *model);
MUSTER_API double muster_objective(const struct muster_model *model);
/* 1 if tol was reached, or no further step could improve the model and it is
 * estimated to be at its optimum; 0 also if it only could not go on. */
MUSTER_API int muster_converged(const struct muster_model *model);
/* Of one that was stopped: the signal that did it; 0 = none. */
MUSTER_API int muster_signal(const struct muster_model *model);
/* SHA-256 of the weights: equal on every machine. */
MUSTER_API const char *muster_hash(const struct muster_model *model);
MUSTER_API void muster_free(struct muster_model *model); /* Accepts NULL. */

/*
 * For a loop of your own: a group of processes that come and go, and the exact
 * sum of what each of them has.
 *
 *     muster_group_host(&options, &group, why)            in one process,
 *     muster_group_join(&options, "HOST:PORT", &group, why)  in the others;
 *     muster_sum(group, v, n, MUSTER_DOUBLE, 0, &info, why)  in all of them,
 *                                                            again and again
 *
 * Each call adds one vector of every living member.  The sum is as if computed
 * with unbounded precision and rounded once, at the end, to the nearest: the
 * same bits whatever the order, and the same in every process.  A vector is in
 * it whole or not at all.  Who dies before giving is left out, who joins takes
 * part from the next call on, and info says who is in.
 */
struct muster_group;

enum muster_type { MUSTER_DOUBLE = 1, MUSTER_FLOAT = 2 };

struct muster_group_options {
    uint32_t version;       /* MUSTER_VERSION. */
    uint32_t least;         /* Host: a call waits for so many; 0 = 1. */
    uint32_t members_max;   /* Host: 0 = 64; at most 1,024. */
    uint32_t give_up_s;     /* Unreachable for so long: MUSTER_LOST; 0 = 30. */
    uint64_t bytes_max;     /* Host: of a vector; 0 = 64 MiB.  Of every member
                               one is kept while a call is open. */
    const char *listen;     /* Host: "HOST:PORT"; NULL = loopback, any port. */
    const char *token_file; /* Required off loopback (muster token new). */
    const char *name;       /* Of this member; NULL: host name and process. */
};

struct muster_sum_info {
    uint32_t version;     /* MUSTER_VERSION, by the caller. */
    int32_t included;     /* 1: this vector is in the sum, 0: it is not, -1:
                             the link broke and nobody knows. */
    uint64_t call;        /* Its number: the same in every process. */
    uint32_t contributed; /* Vectors in the sum ... */
    uint32_t members;     /* ... of so many members. */
    const char *who;      /* Their names by comma; good until the next call. */
};

/* Host a group, and be its first member.  It ends with muster_group_leave. */
MUSTER_API enum muster_status
muster_group_host(const struct muster_group_options *options,
                  struct muster_group **group, char *why);
/* Returns once the host has let it in. */
MUSTER_API enum muster_status
muster_group_join(const struct muster_group_options *options,
                  const char *address, struct muster_group **group, char *why);
/* For muster_group_join of others: "HOST:PORT" of a group hosted here, which
 * asks for the token_file; without one a folder with the address and the key,
 * for processes of the same user on this machine.  "" of a group hosted
 * elsewhere. */
MUSTER_API const char *muster_group_address(const struct muster_group *group);

/* With MUSTER_OK `values` are the sum; otherwise they are as they were.
 * deadline_s > 0: not later than so many seconds after this member gave, the
 * call is closed with those who are in (if they are `least`); else it waits for
 * all who live.  MUSTER_OK with info->included 0: the others closed without
 * this vector; the sum is theirs.  MUSTER_STOPPED: cancelled; MUSTER_TIMEOUT:
 * too few were there in time; MUSTER_MISSED: the others are further by more
 * than a call; MUSTER_BAD_OPTION: of another size or type than the others';
 * MUSTER_LOST: the group is over.  One thread at a time. */
MUSTER_API enum muster_status
muster_sum(struct muster_group *group, void *values, uint64_t count,
           enum muster_type type, double deadline_s,
           struct muster_sum_info *info, char *why);
/* The muster_sum in progress, from another thread or a signal handler. */
MUSTER_API void muster_cancel(struct muster_group *group);
/* Frees the group; the host's ends it for all.  Accepts NULL. */
MUSTER_API void muster_group_leave(struct muster_group *group);

/* MUSTER_VERSION of the library. */
MUSTER_API uint32_t muster_version(void);

#ifdef __cplusplus
}
#endif

#endif /* MUSTER_H */

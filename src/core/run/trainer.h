/*
 * trainer.h - one training, without those who compute: optimiser, scale, early
 * stopping and ledger.
 *
 * optim.h's reverse communication, one level up.  The trainer says what to
 * evaluate and on which scale; whoever drives it brings the sums, or the word
 * that a chunk does not fit, and is told what comes next:
 *
 *     trainer_ask --ASKS--> evaluate --> trainer_feed   --> AGAIN, MORE: ask
 *                              |                            STEPPED: commit
 *                              +-------> trainer_refuse     DONE, ...: over
 *
 * Where rows are held out, their loss is brought as well, at the end of a pass
 * and before the next question: trainer_due, trainer_measured.
 *
 * There are three who drive it: core/star/coordinator.h, with a ledger, asks
 * its workers; core/ring/peer.h asks itself and its peers, and takes the state
 * of one that is ahead; node/fixed/lockstep.h, without a ledger, evaluates by
 * itself or as one rank of a collective, and asks again instead of committing.
 *
 * Only core/run/trainer.c assigns the fields or changes the ledger; others may
 * read both.
 */
#ifndef CORE_RUN_TRAINER_H
#define CORE_RUN_TRAINER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hash.h"
#include "code/code.h"
#include "core/run/early.h"
#include "core/run/ledger.h"
#include "math/exact/scale.h"
#include "optim/optim.h"

/* Receipts of a model of so many weights, and more, do not have their SHA-256,
 * which takes longer than all else in a step, but the name by which rounds go
 * (evaluation_name).  It tells by accident other weights from these, and so
 * whether a step that is computed again came out as before; it proves nothing
 * to who would rather be deceived.  The model that a run ends on has its
 * SHA-256, and so has every checkpoint as a file. */
#define RECEIPT_NAMED 4096u

/* A place where the driver wants the weights that a step makes, as well. */
struct mirror {
    /* Called when they are about to be written: room for them, the same until
     * they have gone out; NULL: none. */
    double *(*open)(struct mirror *self);
};

struct trainer_options {
    struct optim_options optim;
    struct scale *scale;   /* Borrowed; this run's alone, begun by init. */
    struct pool *pool;     /* Borrowed, for long vectors; NULL: none. */
    struct mirror *mirror; /* Borrowed; NULL: none. */
    uint32_t dims;    /* optim_dims: so many vectors, of each of which ... */
    uint32_t vectors; /* ... `length` are hashed, the rest is padding, 0. */
    uint32_t length;
    uint32_t sums_min; /* Sums may be longer than the optimiser's. */
    bool shares;       /* Steps may come in parts that others made. */
    bool kept;         /* There is a ledger; the star has one: */
    struct ledger_options ledger;
};

/* What a round, or the rounds of a step together, came to. */
struct total {
    double *sums; /* Decoded; the trainer may change them. */
    double loss;
    enum exactness exactness;
    double residual, condition; /* As in a receipt. */
    double rescale;
    uint32_t answered;
    uint32_t chunks;
    uint64_t age_sum; /* staleness: of the answers, in updates. */
    uint32_t age_max;
    uint32_t attempts; /* Rounds done again. */
    bool in_bound;     /* What was added up is no more than can be (P9). */
    bool gathered;     /* trainer_gather was called: `sums` are of the other
                          coordinates. */
};

enum trainer_next {
    TRAINER_ASKS,       /* `what` is to be evaluated, with `exponent`. */
    TRAINER_STANDS,     /* trainer_refuse: it is no fault of the scale. */
    TRAINER_AGAIN,      /* The same once more, on another scale. */
    TRAINER_MORE,       /* Another evaluation for the same step. */
    TRAINER_STEPPED,    /* The model was updated: a step is over. */
    TRAINER_DONE,       /* All is over, without an update. */
    TRAINER_DIVERGED,   /* Weights or loss are not finite. */
    TRAINER_RANGE,      /* A chunk fits no scale. */
    TRAINER_NO_FUNCTION /* Two answers to the same question. */
};

struct trainer {
    struct trainer_options options;
    struct optim optim;
    struct evaluation what; /* Asked; the optimiser's vectors. */
    int16_t *exponent;
    uint32_t sum_dims;    /* Of the longest sums. */
    struct early early;   /* What held-out rows say at the ends of passes. */
    struct total so_far;  /* Of the step at hand: its rounds. */
    struct digest hashed; /* Of the weights after step ... */
    uint32_t hashed_step; /* ... this; 0: none yet. */
    struct ledger ledger;
};

MUST_CHECK enum err trainer_init(struct trainer *trainer,
                                 const struct trainer_options *options);
void trainer_close(struct trainer *trainer);
/* Go on from what is on disk.  ERR_MISMATCH, ERR_FORMAT with a sentence. */
MUST_CHECK enum err trainer_resume(struct trainer *trainer,
                                   const struct recovery *recovery,
                                   const struct digest *config,
                                   bool promises_bits, struct why *why);
/* The same from the state alone. */
MUST_CHECK enum err trainer_load(struct trainer *trainer, const uint8_t *state,
                                 size_t size, struct why *why);
size_t trainer_state_bytes(const struct trainer *trainer);
/* What it writes is part of a folder's format (node/host/format.h). */
void trainer_save(const struct trainer *trainer, struct writer *out);

/* In mid-run (a ring's peers): to another's state, or back to an earlier one of
 * its own; after FORMAT it may be any, and is not to be used but for another
 * try.  `head` says whose journal it is (job and view), if there is a ledger:
 * a GAP or a ROLLBACK stands for the steps between. */
MUST_CHECK enum err trainer_take(struct trainer *trainer, const uint8_t *state,
                                 size_t size, const struct checkpoint *head,
                                 struct actions *actions);
/* ... to where all runs of it begin.  ERR_NOMEM. */
MUST_CHECK enum err trainer_restart(struct trainer *trainer,
                                    const struct checkpoint *head,
                                    struct actions *actions);

/* ASKS, DONE, DIVERGED.  Trials that cannot be evaluated are rejected. */
enum trainer_next trainer_ask(struct trainer *trainer);
/* Of what was asked so many of the first coordinates may be stepped in parts
 * (optim_shared), each by another one and from the sums alone; 0: none. */
uint32_t trainer_shared(const struct trainer *trainer);
/* Lay the step ready that such parts make (optim_gather_begin, optim_gather,
 * optim_gather_end); it is made by trainer_feed, or by nobody. */
void trainer_gather_begin(struct trainer *trainer);
void trainer_gather(struct trainer *trainer, const struct optim_part *part,
                    const double *sums);
void trainer_gather_end(struct trainer *trainer);
/* The sums of what was asked. */
enum trainer_next trainer_feed(struct trainer *trainer,
                               const struct total *total);
/* A chunk does not fit its scale. */
enum trainer_next trainer_refuse(struct trainer *trainer);
/* A round that is only a part of what was asked: noted for the receipt. */
void trainer_note(struct trainer *trainer, const struct total *total);
/* What the step came to; taken once, when it is over. */
struct total trainer_step_total(struct trainer *trainer);

/* A pass is over: the loss of the held-out rows at the weights so far is
 * wanted, before anything is asked or fed. */
bool trainer_due(const struct trainer *trainer);
/* That loss; what was decided by it is in `early`. */
void trainer_measured(struct trainer *trainer, double loss);

bool trainer_done(const struct trainer *trainer);
/* Between two steps? */
bool trainer_at_boundary(const struct trainer *trainer);

/* The model so far, and what receipts and replay go by: the SHA-256 of its
 * doubles without padding, or a name (RECEIPT_NAMED).  People always see the
 * SHA-256 of what they are handed (objective_hash). */
const double *trainer_weights(const struct trainer *trainer);
/* Where so many of the first of them lie, too; NULL: nowhere. */
const double *trainer_mirrored(const struct trainer *trainer, uint32_t *count);
/* What the training hands over, and how much: these weights, those of the best
 * pass, or all that `columns` was fed. */
const double *trainer_model(const struct trainer *trainer, uint32_t *count);
/* How far it has come, and why it ended. */
struct optim_outcome trainer_outcome(const struct trainer *trainer);
struct digest trainer_hash(const struct trainer *trainer);

/* --- with a ledger -------------------------------------------------------- */

/* The run begins, now. */
void trainer_start(struct trainer *trainer, time_us now);
/* An event has come: what was written for the last one is with the driver. */
void trainer_turn(struct trainer *trainer);

enum receipt_fate {
    RECEIPT_WRITTEN,    /* Go on. */
    RECEIPT_WAITS,      /* ... when JOURNALED comes. */
    RECEIPT_PUT_OFF,    /* Go on, then trainer_write_receipt. */
    RECEIPT_CONTRADICTS /* It was journaled before, with other contents. */
};

/* The step is over: its receipt, but what names the weights.  `sync`: durable
 * before anyone hears of it; `late`: it may wait for the next round. */
enum receipt_fate trainer_commit(struct trainer *trainer,
                                 struct record *receipt, bool sync, bool late,
                                 struct actions *actions);
/* May the receipt of the step that is over wait at all? */
bool trainer_may_put_off(const struct trainer *trainer);
/* The receipt that was put off, if there is one: the next round is among the
 * actions, or something else is about to be journaled, or the run ends. */
void trainer_write_receipt(struct trainer *trainer, struct actions *actions);
/* What was measured last: WRITTEN, WAITS, CONTRADICTS. */
enum receipt_fate trainer_commit_pass(struct trainer *trainer, uint64_t job,
                                      uint64_t view, bool sync,
                                      struct actions *actions);
/* Any other record. */
void trainer_journal(struct trainer *trainer, const struct record *record,
                     bool sync, struct actions *actions);
/* Make durable what was journaled. */
void trainer_sync(struct trainer *trainer, struct actions *actions);
/* JOURNALED.  True: the disk has failed just now. */
bool trainer_journaled(struct trainer *trainer, enum err err,
                       struct actions *actions);
bool trainer_checkpoint_due(const struct trainer *trainer, time_us now);
/* The model as it is; saved when its receipt, which may be put off, is durable.
 * `head` says whose: job, config and view. */
void trainer_checkpoint(struct trainer *trainer, const struct checkpoint *head,
                        time_us now, struct actions *actions);
/* CHECKPOINTED. */
void trainer_checkpointed(struct trainer *trainer, uint32_t step, enum err err);
void trainer_check(const struct trainer *trainer);

#endif /* CORE_RUN_TRAINER_H */

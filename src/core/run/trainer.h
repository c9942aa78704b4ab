/*
 * trainer.h - one training, without those who compute: optimiser, scale and
 * ledger.
 *
 * optim.h's reverse communication, one level up.  The trainer says what to
 * evaluate and on which scale; whoever drives it (core/star with its members,
 * node/fixed alone or with ranks) brings the sums, or the word that a chunk
 * does not fit, and is told what comes next:
 *
 *     trainer_ask --ASKS--> evaluate --> trainer_feed   --> AGAIN, MORE: ask
 *                              |                            STEPPED: receipt
 *                              +-------> trainer_refuse     DONE, ...: over
 *
 * Only core/run/trainer.c assigns the fields; others may read them.
 */
#ifndef CORE_RUN_TRAINER_H
#define CORE_RUN_TRAINER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hash.h"
#include "code/code.h"
#include "core/run/ledger.h"
#include "math/exact/scale.h"
#include "optim/optim.h"

struct trainer_options {
    struct optim_options optim;
    struct scale *scale; /* Borrowed; this run's alone, begun by init. */
    uint32_t dims;       /* Weights: `outputs` vectors, of which `cols` ... */
    uint32_t outputs;    /* ... weights are hashed, the rest is padding. */
    uint32_t cols;
    uint32_t sums_min; /* Sums may be longer than the optimiser's. */
    bool kept;         /* There is a ledger: */
    struct ledger_options ledger;
};

/* What a round, or the rounds of a step together, came to. */
struct total {
    double *sums; /* Decoded; the trainer may change them. */
    double loss;
    enum exactness exactness;
    double residual;
    double rescale;
    uint32_t answered;
    uint32_t chunks;
    uint64_t age_sum; /* staleness: of the answers, in updates. */
    uint32_t age_max;
    uint32_t attempts; /* Rounds done again. */
    bool in_bound;     /* What was added up is no more than can be (P9). */
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
    struct total step;    /* The step's rounds so far. */
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

/* ASKS, DONE, DIVERGED.  Trials that cannot be evaluated are rejected. */
enum trainer_next trainer_ask(struct trainer *trainer);
/* The sums of what was asked.  Nobody may be reading the weights
 * (trainer_busy). */
enum trainer_next trainer_feed(struct trainer *trainer,
                               const struct total *total);
/* A chunk does not fit its scale. */
enum trainer_next trainer_refuse(struct trainer *trainer);
/* A round that is only a part of what was asked: noted for the receipt. */
void trainer_note(struct trainer *trainer, const struct total *total);
/* What the step came to; asked once, when it is over. */
struct total trainer_step(struct trainer *trainer);

bool trainer_done(const struct trainer *trainer);
/* Between two steps? */
bool trainer_at_boundary(const struct trainer *trainer);
/* The driver is hashing the weights: they must stay. */
bool trainer_busy(const struct trainer *trainer);

/* The model so far, and its hash as people see it, not of padding. */
const double *trainer_weights(const struct trainer *trainer);
struct digest trainer_hash(const struct trainer *trainer);

/* --- with a ledger -------------------------------------------------------- */

enum trainer_receipt {
    RECEIPT_WRITTEN,    /* Go on. */
    RECEIPT_WAITS,      /* ... when JOURNALED comes. */
    RECEIPT_PUT_OFF,    /* Go on, then trainer_settle. */
    RECEIPT_CONTRADICTS /* It was journaled before, with other weights. */
};

/* The step is over: its receipt, but the hash.  `sync`: durable before anyone
 * hears of it; `late`: it may wait for the next round. */
enum trainer_receipt trainer_commit(struct trainer *trainer,
                                    struct record *receipt, bool sync,
                                    bool late, struct actions *actions);
/* Is the next round under way?  Then a thread may hash, else it is done now. */
void trainer_settle(struct trainer *trainer, bool under_way,
                    struct actions *actions);
/* RECEIPT: the driver has hashed the weights (NULL: has not). */
void trainer_hashed(struct trainer *trainer, const struct digest *digest,
                    struct actions *actions);
/* The receipt that was put off, if there is one: now, hash and all, because
 * something else is about to be journaled, or the run ends. */
void trainer_receipt(struct trainer *trainer, struct actions *actions);
/* Any other record. */
void trainer_journal(struct trainer *trainer, const struct record *record,
                     bool sync, struct actions *actions);
bool trainer_checkpoint_due(const struct trainer *trainer, time_us now);
/* `head` says whose: job, config and view. */
void trainer_checkpoint(struct trainer *trainer, const struct checkpoint *head,
                        time_us now, struct actions *actions);
void trainer_check(const struct trainer *trainer);

#endif /* CORE_RUN_TRAINER_H */

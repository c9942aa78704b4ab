/*
 * ledger.h - what of a run is durable: the journal's chain, receipts, steps
 * that were promised before, checkpoints.
 *
 * A part of a machine, with no disk of its own: what is to be written goes into
 * the actions (JOURNAL, CHECKPOINT), what came of it is told by events.  Here
 * live
 *
 *   INV-5    a receipt may be written after the next round has gone out, but
 *            before anything else is; and a step that is computed again gives
 *            what its receipt says
 *   STORE-2  the journal is durable before the checkpoint that follows it
 *
 * Only core/run/ledger.c assigns the fields; others may read them.
 */
#ifndef CORE_RUN_LEDGER_H
#define CORE_RUN_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/time.h"
#include "core/action.h"
#include "core/run/journal.h"
#include "core/run/store.h"

#define LEDGER_RECORDS 5u /* That one event can bring about. */

struct ledger_options {
    uint32_t checkpoint_steps; /* At most so many steps ... */
    time_us checkpoint_us;     /* ... or so much time between checkpoints. */
    bool sync;                 /* Every step durable before the next. */
};

/* What the journal says of a step that is computed again. */
struct promise {
    struct digest weights; /* Zero: its receipt was lost. */
    bool passed;           /* A pass ended with it, ... */
    uint32_t best_step;    /* ... and said so. */
    double loss;
};

struct ledger {
    struct ledger_options options;
    struct digest chain;
    uint32_t waits; /* JOURNALED events to come. */
    bool loose;     /* There are records that no sync was asked for. */
    bool broken;    /* The disk failed: no more records. */
    uint8_t records[LEDGER_RECORDS][RECORD_BYTES];
    uint32_t records_used; /* Of the event at hand. */

    bool due;              /* The receipt of the last step was put off, ... */
    struct record receipt; /* ... and is this, but for the weights. */

    uint8_t *checkpoint;      /* Encoded bytes; whoever saves them reads them
                                 until CHECKPOINTED. */
    size_t state_size;        /* There is room for so much in them. */
    bool checkpoint_busy;     /* One was taken, and CHECKPOINTED is to come. */
    bool checkpoint_taken;    /* It is not asked for yet: its receipt is not
                                 durable. */
    bool head_known;          /* The receipt was written. */
    struct checkpoint head;   /* Of the one that was taken. */
    uint32_t checkpoint_step; /* Last durable, or tried for the last time. */
    uint32_t saved_step;      /* Last durable: a resume goes on from it. */
    time_us checkpoint_at;    /* When the last one was taken. */

    bool resumed;           /* Began from what was on disk, ... */
    bool rollback;          /* ... with steps that cannot be redone. */
    uint32_t pass_step;     /* Of the last PASS that is there already. */
    struct promise *replay; /* Of steps to redo. */
    uint32_t replay_first, replay_count;
};

/* `state_size`: the most bytes a checkpoint holds besides its head. */
MUST_CHECK enum err ledger_init(struct ledger *ledger,
                                const struct ledger_options *options,
                                size_t state_size);
void ledger_close(struct ledger *ledger); /* Zeroed memory is safe to close. */

/* Go on after what is on disk, from `step`, which its checkpoint (if there is
 * one) is of.  Steps that were journaled after it are computed again and
 * compared, if a run `promises_bits`; if not, they are lost. */
MUST_CHECK enum err ledger_resume(struct ledger *ledger,
                                  const struct recovery *recovery,
                                  uint32_t step, bool promises_bits);
/* The run begins, now. */
void ledger_start(struct ledger *ledger, time_us now);
/* An event has come: what was written for the last one is with the driver. */
void ledger_turn(struct ledger *ledger);

/* Append a record; `sync` makes it durable.  Either is answered by JOURNALED.
 * No receipt may be owed: ledger_receipt comes first. */
void ledger_append(struct ledger *ledger, const struct record *record,
                   bool sync, struct actions *actions);
/* Make durable what was appended. */
void ledger_sync(struct ledger *ledger, struct actions *actions);
bool ledger_waits(const struct ledger *ledger);
/* JOURNALED.  True: the disk has failed just now. */
bool ledger_journaled(struct ledger *ledger, enum err err);

/* Was the step journaled before the run was resumed? */
bool ledger_replays(const struct ledger *ledger, uint32_t step);
/* ... and with other weights?  False also where that receipt was lost. */
bool ledger_contradicts(const struct ledger *ledger,
                        const struct record *receipt);
/* Does the journal lack this PASS, and has it come no further? */
bool ledger_wants_pass(const struct ledger *ledger, uint32_t step);
/* Has it another one of that step? */
bool ledger_contradicts_pass(const struct ledger *ledger,
                             const struct record *pass);

/* The model is not that of step `from` any more but of `to`, without steps in
 * between; nothing is due.  True: the journal has come further before a resume,
 * and needs no word of it. */
bool ledger_move(struct ledger *ledger, uint32_t from, uint32_t to);

/* May the receipt of this step wait for the next round? */
bool ledger_may_put_off(const struct ledger *ledger, uint32_t step);
void ledger_put_off(struct ledger *ledger, const struct record *receipt);
/* Was that of this step put off, and is not written yet? */
bool ledger_owes(const struct ledger *ledger, uint32_t step);
/* Write it, with what names the weights. */
void ledger_receipt(struct ledger *ledger, const struct digest *weights,
                    struct actions *actions);

bool ledger_checkpoint_due(const struct ledger *ledger, uint32_t step,
                           time_us now);
/* Take one: `head` but the state, which is what was written with ledger_state,
 * and but the weights' name, if its receipt is owed. */
struct writer ledger_state(struct ledger *ledger);
void ledger_take(struct ledger *ledger, const struct checkpoint *head,
                 const struct writer *state, time_us now);
/* Ask for what was taken, if its receipt is durable now (STORE-2). */
void ledger_file(struct ledger *ledger, struct actions *actions);
void ledger_checkpointed(struct ledger *ledger, uint32_t step, enum err err);

/* What must hold after every event; `step`: of the model. */
void ledger_check(const struct ledger *ledger, uint32_t step);

#endif /* CORE_RUN_LEDGER_H */

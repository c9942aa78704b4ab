/*
 * keeper.h - a ledger's folder for a driver: records are appended at once, a
 * checkpoint is written by a thread.
 *
 * The machine is told of both: of records one by one, after the event at hand
 * (keeper_journaled), of a checkpoint when it is durable (`saved`).
 */
#ifndef NODE_KEEPER_H
#define NODE_KEEPER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "core/action.h"
#include "core/run/ledger.h"
#include "core/run/store.h"
#include "os/file/folder.h"
#include "os/run/loop.h"

#define KEEPER_OWED (4 * LEDGER_RECORDS)

struct keeper {
    struct folder journal;
    enum err owed[KEEPER_OWED]; /* Answers to the machine. */
    uint32_t owed_count;

    struct folder checkpoints;
    loop_callback saved;
    void *context;
    struct task *task;    /* Its thread owns the fields below while busy. */
    const uint8_t *bytes; /* The machine's, until it is told. */
    size_t size;
    uint32_t step;
    struct saved last;
    enum err err;
};

/* What the folder holds is in `recovery`, which the caller closes.  Zeroed
 * before. */
MUST_CHECK enum err keeper_open(struct keeper *keeper, const char *folder,
                                struct recovery *recovery, struct why *why);
/* Before the first checkpoint: `saved` is called on the loop after each, of
 * `step`, with `err`. */
MUST_CHECK enum err keeper_start(struct keeper *keeper, struct loop *loop,
                                 loop_callback saved, void *context);
void keeper_close(struct keeper *keeper); /* Accepts a zeroed one. */

/* ACTION_JOURNAL, ACTION_CHECKPOINT. */
void keeper_journal(struct keeper *keeper, const struct action *action);
void keeper_checkpoint(struct keeper *keeper, const struct action *action);
/* The next JOURNALED that the machine is owed; false: none. */
bool keeper_journaled(struct keeper *keeper, enum err *err);

#endif /* NODE_KEEPER_H */

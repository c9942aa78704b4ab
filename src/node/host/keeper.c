/*
 * keeper.c - journal and checkpoints of a machine with a ledger, on disk.
 */
#include "node/host/keeper.h"

#include <string.h>

#include "base/check.h"
#include "os/log.h"

enum err keeper_open(struct keeper *keeper, const char *folder,
                     struct recovery *recovery, struct why *why)
{
    enum err err = folder_open(&keeper->journal, folder, why);

    if (err == ERR_OK)
        err = folder_open(&keeper->checkpoints, folder, why);
    if (err == ERR_OK)
        err = store_recover(&keeper->journal.disk, recovery, why);
    if (err == ERR_OK && recovery->lost.text[0] != '\0')
        log_line("%s", recovery->lost.text);
    return err;
}

static void save(void *context)
{
    struct keeper *keeper = context;

    keeper->err = store_save(&keeper->checkpoints.disk, keeper->bytes,
                             keeper->size, &keeper->last);
}

static void saved(void *context)
{
    struct keeper *keeper = context;

    keeper->saved(keeper->context);
}

enum err keeper_start(struct keeper *keeper, struct loop *loop,
                      loop_callback told, void *context)
{
    keeper->saved = told;
    keeper->context = context;
    return task_new(loop, save, saved, keeper, &keeper->task);
}

void keeper_close(struct keeper *keeper)
{
    task_free(keeper->task);
    folder_close(&keeper->journal);
    folder_close(&keeper->checkpoints);
}

void keeper_journal(struct keeper *keeper, const struct action *action)
{
    CHECK(keeper->owed_count < KEEPER_OWED);
    keeper->owed[keeper->owed_count++] = store_append(
        &keeper->journal.disk, action->bytes, action->size, action->sync);
}

void keeper_checkpoint(struct keeper *keeper, const struct action *action)
{
    CHECK(!task_busy(keeper->task));
    keeper->bytes = action->bytes;
    keeper->size = action->size;
    keeper->step = action->step;
    task_start(keeper->task);
}

bool keeper_journaled(struct keeper *keeper, enum err *err)
{
    if (keeper->owed_count == 0)
        return false;
    *err = keeper->owed[0];
    keeper->owed_count--;
    memmove(keeper->owed, keeper->owed + 1,
            keeper->owed_count * sizeof *keeper->owed);
    return true;
}

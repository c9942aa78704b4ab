/*
 * keep.c - journal and checkpoint of a run in one process, written when it is
 * interrupted, so that --resume goes on with it, alone or with workers.
 */
#include "node/host/keep.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/check.h"
#include "base/mem.h"
#include "code/code.h"
#include "core/run/store.h"
#include "node/host/format.h"
#include "os/file/file.h"
#include "os/file/folder.h"
#include "os/log.h"
#include "os/random.h"

struct keep {
    struct folder folder;
    char path[FILE_PATH_SIZE - 32];
    int lock;
    struct recovery found;
    struct digest config;
    uint64_t job, view;
    struct digest chain; /* Of the journal as it is on disk, ... */
    size_t journal_bytes;
    uint32_t journal_step;
    bool torn; /* ... unless a write failed: then it may be longer. */
    uint32_t saved;
    struct saved last;
};

static enum err recover(struct keep *keep, struct why *why)
{
    const struct journal_summary *journal = &keep->found.journal;
    const enum err err = store_recover(&keep->folder.disk, &keep->found, why);

    if (err != ERR_OK)
        return err;
    if (keep->found.lost.text[0] != '\0')
        log_line("%s", keep->found.lost.text);
    if (!digest_equal(&journal->config, &keep->config))
        return why_set(why, ERR_MISMATCH, "%s", STORE_OTHER_CONFIG);
    if (keep->found.has_checkpoint &&
        keep->found.checkpoint.job != journal->job)
        return why_set(why, ERR_MISMATCH,
                       "its checkpoint and its journal do not belong together");
    keep->job = journal->job;
    keep->view = journal->view;
    keep->chain = journal->chain;
    keep->journal_bytes = journal->valid_bytes;
    keep->journal_step = journal->step;
    keep->saved = keep->found.has_checkpoint ? keep->found.checkpoint.step : 0;
    return ERR_OK;
}

enum err keep_open(const char *path, const struct digest *config, bool resume,
                   struct keep **keep, struct why *why)
{
    struct keep *made = mem_new(1, sizeof *made);
    enum err err;

    if (made == NULL)
        return why_set(why, ERR_NOMEM, "%s", err_text(ERR_NOMEM));
    made->lock = -1;
    (void)snprintf(made->path, sizeof made->path, "%s", path);
    made->config = *config;
    made->job = random_u64();
    err = format_lock(path, resume, NULL, &made->lock, why);
    if (err == ERR_OK)
        err = folder_open(&made->folder, path, why);
    if (err == ERR_OK && resume) {
        err = recover(made, why);
        if (err != ERR_OK)
            (void)why_in(why, err, "%.200s", path);
    }
    if (err == ERR_OK)
        *keep = made;
    else
        keep_close(made);
    return err;
}

void keep_close(struct keep *keep)
{
    if (keep == NULL)
        return;
    recovery_close(&keep->found);
    folder_close(&keep->folder);
    if (keep->lock >= 0)
        file_unlock(keep->lock);
    mem_free(keep);
}

bool keep_state(const struct keep *keep, const uint8_t **state, size_t *size)
{
    if (!keep->found.has_checkpoint)
        return false;
    *state = keep->found.checkpoint.state;
    *size = keep->found.checkpoint.state_size;
    return true;
}

uint32_t keep_step(const struct keep *keep)
{
    return keep->saved;
}

/* The JOB, if it is the first, and how far it is. */
static size_t encode_records(const struct keep *keep, uint32_t step,
                             const struct digest *weights, uint32_t chunks,
                             struct digest *chain,
                             uint8_t out[2 * RECORD_BYTES])
{
    struct record record = {
        .kind = RECORD_JOB, .job = keep->job, .weights = keep->config};
    size_t size = 0;

    if (keep->journal_bytes == 0) {
        record_encode(&record, chain, out);
        size = RECORD_BYTES;
    }
    if (step <= keep->journal_step)
        return size; /* It was further before. */
    record.kind = RECORD_GAP;
    record.view = keep->view;
    record.step = step;
    record.chunks = chunks;
    record.exactness = EXACT_BITWISE;
    record.rescale = 1;
    record.weights = *weights;
    record_encode(&record, chain, out + size);
    return size + RECORD_BYTES;
}

static enum err append(struct keep *keep, uint32_t step,
                       const struct digest *weights, uint32_t chunks)
{
    struct disk *disk = &keep->folder.disk;
    uint8_t records[2 * RECORD_BYTES];
    struct digest chain = keep->chain;
    const size_t size =
        encode_records(keep, step, weights, chunks, &chain, records);
    enum err err = ERR_OK;

    if (keep->torn)
        err = disk->ops->cut(disk, JOURNAL_FILE, keep->journal_bytes);
    if (err == ERR_NOTFOUND)
        err = ERR_OK;
    if (err == ERR_OK && size > 0) {
        keep->torn = true;
        err = store_append(disk, records, size, true);
    }
    if (err != ERR_OK)
        return err;
    keep->torn = false;
    keep->chain = chain;
    keep->journal_bytes += size;
    if (step > keep->journal_step)
        keep->journal_step = step;
    return ERR_OK;
}

static enum err save(struct keep *keep, const struct trainer *trainer,
                     const struct digest *weights)
{
    const size_t size = trainer_state_bytes(trainer);
    uint8_t *bytes = mem_new(checkpoint_bytes(size), 1);
    struct checkpoint checkpoint = {.job = keep->job,
                                    .config = keep->config,
                                    .view = keep->view,
                                    .step = trainer->optim.step,
                                    .weights = *weights};
    enum err err = bytes == NULL ? ERR_NOMEM : ERR_OK;

    if (err == ERR_OK) {
        struct writer out = writer_on(checkpoint_state(bytes), size);

        trainer_save(trainer, &out);
        CHECK(out.ok);
        checkpoint.state = checkpoint_state(bytes);
        checkpoint.state_size = out.size;
        err = store_save(&keep->folder.disk, bytes,
                         checkpoint_encode(&checkpoint, bytes), &keep->last);
    }
    mem_free(bytes);
    return err;
}

enum err keep_save(struct keep *keep, const struct trainer *trainer,
                   uint32_t chunks, struct why *why)
{
    const uint32_t step = trainer->optim.step;
    const struct digest weights = trainer_hash(trainer);
    enum err err = append(keep, step, &weights, chunks);

    if (err == ERR_OK)
        err = save(keep, trainer, &weights);
    if (err != ERR_OK)
        return why_set(why, err,
                       "the state cannot be written (%s); see to "
                       "the disk",
                       disk_words(&keep->folder.disk, err));
    keep->saved = step;
    return ERR_OK;
}

void keep_discard(struct keep *keep)
{
    char path[FILE_PATH_SIZE];

    for (size_t i = 0; i < store_names.count; i++) {
        file_path_in(keep->path, store_names.name[i], path);
        file_remove(path);
    }
}

static void see_view(void *context, const struct record *record)
{
    *(bool *)context |= record->kind == RECORD_VIEW;
}

bool keep_is_alone(const char *path)
{
    struct folder folder;
    struct journal_summary journal = {0};
    bool viewed = false;
    enum err err = folder_open(&folder, path, NULL);

    if (err == ERR_OK)
        err = store_walk(&folder.disk, see_view, &viewed, &journal);
    folder_close(&folder);
    return err == ERR_OK && journal.records > 0 && !viewed;
}

/*
 * store.c - atomic checkpoints and the journal on a disk that may lose power:
 * write beside, sync, rename, sync the folder.  Recovery takes the newest whole
 * checkpoint and the valid prefix of the journal.
 */
#include "core/run/store.h"

#include <string.h>

#include "base/bugs.h"
#include "base/bytes.h"
#include "base/check.h"
#include "base/mem.h"

#define CHECKPOINT_MAGIC UINT64_C(0x31504b4352545355) /* "USTRCKP1" */
#define CHECKPOINT_HEAD  (8u + 8 + DIGEST_BYTES + 8 + 8 + DIGEST_BYTES + 8)
#define CHECKPOINT_TMP   "checkpoint.tmp"
#define JOURNAL_TMP      "journal.tmp"
#define BLOCK_BYTES      ((size_t)RECORD_BYTES << 12)
#define LOOK_BYTES       ((size_t)1 << 16)
/* More than anybody sees between two checkpoints: views only grow. */
#define VIEWS_LOST (UINT64_C(1) << 20)

static const char *const checkpoint_file[2] = {"checkpoint.0", "checkpoint.1"};

/* The journal last: without it there is no run. */
static const char *const files[] = {"checkpoint.0", "checkpoint.1",
                                    CHECKPOINT_TMP, JOURNAL_TMP, JOURNAL_FILE};
const struct names store_names = NAMES_OF(files);

size_t checkpoint_bytes(size_t state_size)
{
    return CHECKPOINT_HEAD + state_size;
}

uint8_t *checkpoint_state(uint8_t *out)
{
    return out + CHECKPOINT_HEAD;
}

size_t checkpoint_encode(const struct checkpoint *checkpoint, uint8_t *out)
{
    const size_t size = checkpoint_bytes(checkpoint->state_size);
    struct writer to = writer_on(out, CHECKPOINT_HEAD);

    put_u64(&to, CHECKPOINT_MAGIC);
    put_u64(&to, checkpoint->job);
    put_bytes(&to, checkpoint->config.bytes, DIGEST_BYTES);
    put_u64(&to, checkpoint->view);
    put_u64(&to, checkpoint->step);
    put_bytes(&to, checkpoint->weights.bytes, DIGEST_BYTES);
    put_u64(&to, checkpoint->state_size);
    CHECK(to.ok && to.size == CHECKPOINT_HEAD);
    if (checkpoint->state != checkpoint_state(out))
        memcpy(checkpoint_state(out), checkpoint->state,
               checkpoint->state_size);
    return size;
}

/* All but the state. */
static enum err get_head(struct reader *in, struct checkpoint *checkpoint)
{
    struct checkpoint read = {0};
    uint64_t step, state_size;

    if (get_u64(in) != CHECKPOINT_MAGIC)
        return ERR_FORMAT;
    read.job = get_u64(in);
    get_bytes(in, read.config.bytes, DIGEST_BYTES);
    read.view = get_u64(in);
    step = get_u64(in);
    get_bytes(in, read.weights.bytes, DIGEST_BYTES);
    state_size = get_u64(in);
    if (!in->ok || step > UINT32_MAX || state_size > SIZE_MAX / 2)
        return ERR_FORMAT;
    read.step = (uint32_t)step;
    read.state_size = state_size;
    *checkpoint = read;
    return ERR_OK;
}

enum err checkpoint_decode(const uint8_t *data, size_t size,
                           struct checkpoint *checkpoint)
{
    struct reader in = reader_on(data, size);
    struct checkpoint read;
    struct digest said = {{0}};
    struct digest is;

    if (get_head(&in, &read) != ERR_OK)
        return ERR_FORMAT;
    read.state = get_view(&in, read.state_size);
    is = hash_bytes(data, in.ok ? in.at : 0);
    get_bytes(&in, said.bytes, DIGEST_BYTES);
    if (!reader_done(&in) || !digest_equal(&said, &is))
        return ERR_FORMAT;
    *checkpoint = read;
    return ERR_OK;
}

/* Its head, and its digest if the file is as long as the head says: one that is
 * nothing but a hole may be longer than can be read. */
static enum err look(struct disk *disk, const char *name,
                     struct checkpoint *found, struct digest *said)
{
    uint8_t head[CHECKPOINT_HEAD];
    struct reader in;
    uint8_t end[DIGEST_BYTES + 1];
    size_t got;
    enum err err = disk->ops->read_at(disk, name, 0, head, sizeof head, &got);

    if (err != ERR_OK || got < sizeof head)
        return err != ERR_OK ? err : ERR_FORMAT;
    in = reader_on(head, sizeof head);
    err = get_head(&in, found);
    if (err == ERR_OK)
        err =
            disk->ops->read_at(disk, name, checkpoint_bytes(found->state_size),
                               end, sizeof end, &got);
    if (err != ERR_OK)
        return err;
    memcpy(said->bytes, end, DIGEST_BYTES);
    return got == DIGEST_BYTES ? ERR_OK : ERR_FORMAT;
}

/* Of the first bytes, as many at a time as the block holds. */
static enum err hash_file(struct disk *disk, const char *name, size_t size,
                          uint8_t *block, size_t most, struct digest *digest)
{
    struct hasher hasher;
    enum err err = ERR_OK;
    size_t got = 1;

    hasher_init(&hasher);
    for (size_t at = 0; err == ERR_OK && at < size && got > 0; at += got) {
        const size_t wanted = size - at < most ? size - at : most;

        err = disk->ops->read_at(disk, name, at, block, wanted, &got);
        if (err == ERR_OK)
            hasher_add(&hasher, block, got);
    }
    *digest = hasher_end(&hasher);
    return err;
}

/* ERR_FORMAT if it is not whole.  Without `data` there is no state: who only
 * looks does not need the memory, twice what a large model has in all. */
static enum err load(struct disk *disk, const char *name, uint8_t **data,
                     struct checkpoint *found)
{
    struct digest said = {{0}};
    struct digest is = {{0}};
    enum err err = look(disk, name, found, &said);
    const size_t size = err == ERR_OK ? checkpoint_bytes(found->state_size) : 0;
    const size_t most = data != NULL || size < LOOK_BYTES ? size : LOOK_BYTES;
    uint8_t *const block = err == ERR_OK ? mem_new(most, 1) : NULL;

    if (err == ERR_OK)
        err = block == NULL ? ERR_NOMEM
                            : hash_file(disk, name, size, block, most, &is);
    if (err == ERR_OK && !digest_equal(&said, &is))
        err = ERR_FORMAT;
    if (err != ERR_OK || data == NULL) {
        mem_free(block);
        return err;
    }
    found->state = checkpoint_state(block);
    *data = block;
    return ERR_OK;
}

/* Index of the newest whole checkpoint, -1 if there is none; `data` as in load.
 * ERR_IO and ERR_NOMEM are real failures; a missing or broken file is not.
 * Steps alternate when all goes well; after a crash the newest may be either,
 * so it is found by looking, not by counting. */
static enum err newest(struct disk *disk, int *index, uint8_t **data,
                       struct checkpoint *checkpoint)
{
    *index = -1;
    for (int i = 0; i < 2; i++) {
        struct checkpoint found;
        uint8_t *file = NULL;
        const enum err err =
            load(disk, checkpoint_file[i], data == NULL ? NULL : &file, &found);

        if (err == ERR_NOTFOUND || err == ERR_FORMAT)
            continue;
        if (err != ERR_OK)
            return err;
        if (*index >= 0 && found.step <= checkpoint->step) {
            mem_free(file);
            continue;
        }
        if (data != NULL) {
            mem_free(*data);
            *data = file;
        }
        *checkpoint = found;
        *index = i;
    }
    return ERR_OK;
}

static enum err write_whole(struct disk *disk, const char *name,
                            const uint8_t *checkpoint, size_t size,
                            struct digest *digest)
{
    enum err err;

    *digest = hash_bytes(checkpoint, size);
    err = disk->ops->write_new(disk, name, checkpoint, size);
    return err != ERR_OK
               ? err
               : disk->ops->append(disk, name, digest->bytes, DIGEST_BYTES);
}

/* Is it there as it was saved, by its head and its end? */
static bool is_there(struct disk *disk, const struct saved *last)
{
    struct checkpoint found;
    struct digest said;

    return last->known &&
           look(disk, checkpoint_file[last->index], &found, &said) == ERR_OK &&
           found.step == last->step && digest_equal(&said, &last->digest);
}

/* The file that is to be written over: the other one than the newest. */
static enum err choose(struct disk *disk, const struct saved *last, int *index)
{
    struct checkpoint found;
    int there = last->index;
    enum err err = ERR_OK;

    if (!is_there(disk, last))
        err = newest(disk, &there, NULL, &found);
    *index = there == 0 ? 1 : 0;
    return err;
}

static enum err make_durable(struct disk *disk, int index)
{
    const struct disk_ops *ops = disk->ops;
    enum err err =
        BUG(BUG_SKIP_FILE_SYNC) ? ERR_OK : ops->sync(disk, CHECKPOINT_TMP);

    if (err == ERR_OK)
        err = ops->rename(disk, CHECKPOINT_TMP, checkpoint_file[index]);
    if (err == ERR_OK && !BUG(BUG_SKIP_FOLDER_SYNC))
        err = ops->sync_folder(disk);
    return err;
}

enum err store_save(struct disk *disk, const uint8_t *checkpoint, size_t size,
                    struct saved *last)
{
    struct saved now = {.known = true};
    struct reader in = reader_on(checkpoint, size);
    struct checkpoint head;
    enum err err = choose(disk, last, &now.index);

    CHECK(get_head(&in, &head) == ERR_OK);
    now.step = head.step;
    *last = (struct saved){.known = false}; /* Nobody knows if this fails. */
    if (BUG(BUG_IN_PLACE))
        return write_whole(disk, checkpoint_file[1 - now.index], checkpoint,
                           size, &now.digest);
    if (err == ERR_OK)
        err = write_whole(disk, CHECKPOINT_TMP, checkpoint, size, &now.digest);
    /* Half a file must not take the room of the journal and the model. */
    if (err != ERR_OK)
        (void)disk->ops->cut(disk, CHECKPOINT_TMP, 0);
    if (err == ERR_OK)
        err = make_durable(disk, now.index);
    if (err == ERR_OK)
        *last = now;
    return err;
}

enum err store_append(struct disk *disk, const uint8_t *records, size_t size,
                      bool sync)
{
    enum err err = disk->ops->append(disk, JOURNAL_FILE, records, size);

    if (err == ERR_OK && sync)
        err = disk->ops->sync(disk, JOURNAL_FILE);
    if (err == ERR_OK && sync && !BUG(BUG_SKIP_FOLDER_SYNC))
        err = disk->ops->sync_folder(disk);
    return err;
}

/* The valid prefix into a new file.  What was read may be in memory only: a
 * sync that failed in an earlier life has marked those pages clean, and no
 * later sync of that file would write them.  It drops a torn end, too. */
static enum err rewrite_journal(struct disk *disk, const uint8_t *records,
                                size_t size)
{
    const struct disk_ops *ops = disk->ops;
    enum err err = ops->write_new(disk, JOURNAL_TMP, records, size);

    if (err == ERR_OK)
        err = ops->sync(disk, JOURNAL_TMP);
    if (err == ERR_OK)
        err = ops->rename(disk, JOURNAL_TMP, JOURNAL_FILE);
    if (err == ERR_OK)
        err = ops->sync_folder(disk);
    return err;
}

static enum err broken_rules(const struct journal_summary *journal,
                             struct why *why)
{
    return why_set(why, ERR_FORMAT,
                   "%s: record %u breaks the rules of a journal; it was "
                   "altered or is not Muster's",
                   JOURNAL_FILE, journal->records + 1);
}

enum err store_walk(struct disk *disk, record_visitor visit, void *context,
                    struct journal_summary *summary)
{
    uint8_t *block = mem_new(BLOCK_BYTES, 1);
    enum err err = block == NULL ? ERR_NOMEM : ERR_OK;
    size_t got = BLOCK_BYTES;

    *summary = (struct journal_summary){0};
    while (err == ERR_OK && got == BLOCK_BYTES && !summary->torn) {
        err = disk->ops->read_at(disk, JOURNAL_FILE, summary->valid_bytes,
                                 block, BLOCK_BYTES, &got);
        if (err == ERR_OK)
            err = journal_more(block, got, visit, context, summary);
    }
    mem_free(block);
    return err;
}

/* The valid prefix, and no more: a file may say that it is huge. */
static enum err read_journal(struct disk *disk, struct recovery *found,
                             struct why *why)
{
    size_t got = 0, capacity = 0;
    enum err err = store_walk(disk, NULL, NULL, &found->journal);

    if (err == ERR_FORMAT)
        return broken_rules(&found->journal, why);
    if (err == ERR_OK) {
        /* Room for a JOB and a GAP. */
        capacity = found->journal.valid_bytes + (size_t)2 * RECORD_BYTES;
        found->journal_bytes = mem_new(capacity, 1);
        if (found->journal_bytes == NULL)
            err = ERR_NOMEM;
    }
    if (err == ERR_OK)
        err = disk->ops->read_at(disk, JOURNAL_FILE, 0, found->journal_bytes,
                                 found->journal.valid_bytes, &got);
    if (err == ERR_OK && got < found->journal.valid_bytes)
        err = ERR_IO;
    return err == ERR_OK || err == ERR_NOTFOUND
               ? err
               : why_set(why, err, "%s: %s", JOURNAL_FILE,
                         err == ERR_DENIED ? "not a plain file"
                                           : err_text(err));
}

static void add_record(struct recovery *found, const struct record *record)
{
    struct journal_summary *journal = &found->journal;
    uint8_t *at = found->journal_bytes + journal->valid_bytes;
    struct digest chain = journal->chain;
    enum err err;

    record_encode(record, &chain, at);
    err = journal_more(at, RECORD_BYTES, NULL, NULL, journal);
    CHECK(err == ERR_OK && !journal->torn);
}

/* The checkpoint stands for the receipts that the journal lacks. */
static void bridge(struct recovery *found)
{
    const struct checkpoint *checkpoint = &found->checkpoint;
    struct journal_summary *journal = &found->journal;
    const uint32_t from = journal->step + 1;
    struct record record = {.kind = RECORD_JOB,
                            .job = checkpoint->job,
                            .weights = checkpoint->config};

    if (journal->records == 0)
        add_record(found, &record);
    /* Lost views are not counted again: each was a record. */
    record.kind = RECORD_GAP;
    record.view =
        journal->view > checkpoint->view ? journal->view : checkpoint->view;
    record.view += VIEWS_LOST;
    record.step = checkpoint->step;
    record.exactness = RECORD_CLASS_LOST;
    record.weights = checkpoint->weights;
    if (record.step > journal->step)
        add_record(found, &record);
    (void)why_set(&found->lost, ERR_OK,
                  "the journal is damaged: the receipts of steps %u to %u are "
                  "lost; the checkpoint of step %u is whole, and the run goes "
                  "on from it",
                  from, checkpoint->step, checkpoint->step);
}

/* Is the checkpoint of this run, and ahead of its journal? */
static bool is_ahead(const struct recovery *found)
{
    const struct checkpoint *checkpoint = &found->checkpoint;
    const struct journal_summary *journal = &found->journal;

    if (!found->has_checkpoint || found->journal_bytes == NULL)
        return false;
    return journal->records == 0 || (checkpoint->job == journal->job &&
                                     checkpoint->step > journal->step);
}

static enum err recover(struct disk *disk, struct recovery *found,
                        struct why *why)
{
    enum err err = read_journal(disk, found, why);
    bool torn;
    int index;

    if (err != ERR_OK && err != ERR_NOTFOUND)
        return err;
    err = newest(disk, &index, &found->file, &found->checkpoint);
    if (err != ERR_OK)
        return why_set(why, err, "checkpoint: %s",
                       err == ERR_DENIED ? "not a plain file" : err_text(err));
    found->has_checkpoint = index >= 0;
    torn = found->journal.torn;
    if (is_ahead(found))
        bridge(found);
    found->found = found->journal.records > 0;
    if ((found->journal.valid_bytes == 0 && !torn) || BUG(BUG_KEEP_TORN))
        return ERR_OK;
    err =
        rewrite_journal(disk, found->journal_bytes, found->journal.valid_bytes);
    if (err != ERR_OK)
        return why_set(why, err,
                       "%s: cannot be written anew (%s), and it must be before "
                       "the run goes on; see to the disk, then --resume",
                       JOURNAL_FILE, disk_words(disk, err));
    return ERR_OK;
}

enum err store_recover(struct disk *disk, struct recovery *out, struct why *why)
{
    struct recovery found = {0};
    const enum err err = recover(disk, &found, why);

    if (err != ERR_OK) {
        recovery_close(&found);
        return err;
    }
    *out = found;
    return ERR_OK;
}

void recovery_close(struct recovery *recovery)
{
    mem_free(recovery->file);
    mem_free(recovery->journal_bytes);
    *recovery = (struct recovery){0};
}

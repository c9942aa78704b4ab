/*
 * store.h - checkpoint and journal on a disk that may lose power (P5, P6).
 *
 * Two checkpoint files are written in turn, each by
 *     write checkpoint.tmp; sync it; rename it; sync the folder
 * so that at every moment one complete older one exists.  A file carries its
 * own digest; loading takes the newest that is whole.
 *   STORE-1  a checkpoint reported durable survives every later power cut.
 *   STORE-2  the journal holds every step of a durable checkpoint: it is
 *            synced first.
 */
#ifndef CORE_STORE_H
#define CORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/disk.h"
#include "base/err.h"
#include "base/hash.h"
#include "core/run/journal.h"
#include "core/run/names.h"

/* Why a run is not resumed whose journal has another config. */
#define STORE_OTHER_CONFIG                                                     \
    "the run there has other data or options, or a release of muster that "    \
    "computes other bits; resume with the same ones or choose another --out"

struct checkpoint {
    uint64_t job;
    struct digest config; /* Same data and options, or it is not ours. */
    uint64_t view;
    uint32_t step;
    struct digest weights;
    const uint8_t *state; /* Optimiser state. */
    size_t state_size;
};

/* All that a store has in its folder, besides what others put there: in the
 * order in which they may be removed, the journal last. */
extern const struct names store_names;

size_t checkpoint_bytes(size_t state_size); /* Without the digest. */
/* Where the state goes in `out`: it may be written there at once. */
uint8_t *checkpoint_state(uint8_t *out);
/* `out` has checkpoint_bytes; returns the bytes written. */
size_t checkpoint_encode(const struct checkpoint *checkpoint, uint8_t *out);
/* Views into `data`, digest and all.  ERR_FORMAT if it is not whole. */
MUST_CHECK enum err checkpoint_decode(const uint8_t *data, size_t size,
                                      struct checkpoint *checkpoint);

/* What a life has saved last; zeroed: nothing, as when it begins. */
struct saved {
    bool known;
    int index; /* Of its file; ... */
    uint32_t step;
    struct digest digest; /* ... it ends with this. */
};

/* What was encoded, and its digest: made here, since of a large model it takes
 * as long as some steps, and who saves is a thread of its own.  The older file
 * is written over.  Which one that is a life finds out once, by reading both:
 * later it looks whether what it saved last still has its head and its end,
 * which is all that a file loses that is cut, exchanged or removed.  (Damage
 * within it is seen by whoever reads it, and leaves the one that was written
 * before or, from here on, after it.) */
MUST_CHECK enum err store_save(struct disk *disk, const uint8_t *checkpoint,
                               size_t size, struct saved *last);
/* Append records; with `sync` they and their file's name are durable. */
MUST_CHECK enum err store_append(struct disk *disk, const uint8_t *records,
                                 size_t size, bool sync);

/* What is on disk after any crash. */
struct recovery {
    bool found; /* There is a run here. */
    struct journal_summary journal;
    bool has_checkpoint;
    struct checkpoint checkpoint;
    uint8_t *file;          /* Behind checkpoint.state. */
    uint8_t *journal_bytes; /* Valid prefix. */
    struct why lost; /* A sentence, if receipts of the checkpoint were lost. */
};

/* Read, choose, write the journal's valid prefix into a new file (durably): to
 * be called by the one who goes on with the run.  A folder without a journal is
 * not an error: found is false.  STORE-2 holds for power cuts; a journal that
 * was damaged otherwise may end before a checkpoint that is whole.  A GAP
 * stands for what it lost then: the model is worth more than its receipts. */
MUST_CHECK enum err store_recover(struct disk *disk, struct recovery *out,
                                  struct why *why);
void recovery_close(struct recovery *recovery);

/* Walk the journal without touching it, whatever its size: no more is read than
 * is valid.  ERR_NOTFOUND if there is none. */
MUST_CHECK enum err store_walk(struct disk *disk, record_visitor visit,
                               void *context, struct journal_summary *summary);

#endif /* CORE_STORE_H */

/*
 * supply.h - where a worker's chunks come from, other than the wire.
 *
 *     depot     chunks kept on this disk from earlier lives and jobs, by digest
 *     shared    a prepared file that all can read, by range
 *     peers     other workers, which the coordinator names (peer_fetch.h)
 *
 * Reading, hashing and writing is a thread's, one chunk at a time; what it
 * read is checked against the digest that the coordinator gave.  Chunks that
 * came over the wire are kept in the depot once nothing is wanted.
 */
#ifndef NODE_SUPPLY_H
#define NODE_SUPPLY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/chunkset.h"
#include "core/msg.h"
#include "data/rows/dataset.h"
#include "os/net/interface.h"
#include "os/run/loop.h"

struct supply_options {
    const char *depot; /* Folder; NULL: nothing is kept. */
    uint64_t depot_bytes;
    const char *shared; /* Where the shared file is here; NULL: as told. */
    bool strict;        /* Another machine's word opens nothing here (S2). */
    const char *ca;     /* Authorities of https servers; NULL: the system's. */
    bool alone;         /* Neither fetch from peers nor let them. */
    bool spoils;        /* Tests: give them wrong bytes. */
};

struct supply;

/* Chunks that are in memory from the job before, and what they are. */
struct leftover {
    struct dataset data;
    uint32_t chunks;
    struct digest *digests; /* NULL: nothing is left. */
};

void leftover_close(struct leftover *leftover); /* Zeroed is safe. */

/* What was wanted: a chunk, as shipped; or some that are not there. */
struct fetched {
    uint32_t first, end;
    uint32_t peer; /* Who should have given them; 0: they were near. */
    const uint8_t *bytes;
    size_t size;
    enum err err;
    const char *why; /* Not NULL: a sentence, and that is the end. */
};

/* Called on the loop. */
typedef void (*supply_fetched)(void *context, const struct fetched *fetched);

/* `data` is where chunks are put; it may be filled in later.  `name` and
 * `source` are for peers. */
MUST_CHECK enum err supply_new(struct loop *loop,
                               const struct supply_options *options,
                               const struct dataset *data, const char *name,
                               const struct net_source *source,
                               supply_fetched fetched, void *context,
                               struct supply **supply);
void supply_free(struct supply *supply); /* Accepts NULL. */

/* What the chunks are.  Errors with a sentence: the shared file cannot be
 * read, or holds something else. */
MUST_CHECK enum err supply_learn(struct supply *supply, const struct job *job,
                                 const struct msg_chunks *chunks,
                                 struct why *why);
/* What can be fetched; after supply_learn. */
const struct chunkset *supply_near(const struct supply *supply);
/* After supply_learn: which chunks of `present`, of the job whose chunks were
 * `leftover`, are chunks of this one. */
void supply_keeps(struct supply *supply, const struct leftover *leftover,
                  struct chunkset *present);
/* What the chunks are, for the next job: moved out, if it is known. */
void supply_leave(struct supply *supply, struct leftover *leftover);

void supply_want(struct supply *supply, uint32_t first, uint32_t end);
/* From a peer.  ERR_NOMEM: nothing will be heard of them. */
MUST_CHECK enum err supply_want_peer(struct supply *supply,
                                     const struct msg_fetch *msg,
                                     uint32_t first, uint32_t end);
/* The chunk is in `data` now: keep it on disk. */
void supply_keep(struct supply *supply, uint32_t chunk);

/* Nothing is wanted any more. */
void supply_end(struct supply *supply);
/* Chunks that are still to be written. */
uint32_t supply_unkept(const struct supply *supply);

#endif /* NODE_SUPPLY_H */

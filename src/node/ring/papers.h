/*
 * papers.h - what a machine that joins a ring is told, but for the rows: every
 * number that was derived from data or options where the ring began.
 *
 *     brief      for the evaluator: rows, model, sampler
 *     optimiser  rate, bounds of its steps, when to end
 *     digests    of the chunks, by which rows are believed, whoever sends them
 *     start      the weights to begin with, if they are not 0
 *     kit        of src/learn, who alone reads it: held-out rows, the model's
 *                file without its weights
 *
 * All peers have the same bytes, so that their digest names them (TERMS) and
 * any peer may give them.  Bytes that come in are read as if they lied.
 */
#ifndef NODE_RING_PAPERS_H
#define NODE_RING_PAPERS_H

#include <stddef.h>
#include <stdint.h>

#include "base/brief.h"
#include "base/err.h"
#include "base/hash.h"
#include "node/worker/peer_desk.h"
#include "optim/optim.h"

/* Borrowed, all of it. */
struct papers {
    struct brief brief;
    struct optim_options optim; /* Its `start` is not looked at. */
    uint32_t chunks;
    const uint8_t *digests; /* DIGEST_BYTES for each chunk. */
    uint32_t start_count;   /* 0: all weights begin at 0. */
    const uint8_t *start;   /* So many doubles, anywhere. */
    struct papers_view kit;
};

/* Made once, for all who ask. */
struct papers_kept {
    struct papers_view view; /* Bytes from mem_new; size 0: nobody may join. */
    struct digest digest;
    uint32_t chunks;
};

MUST_CHECK enum err papers_keep(const struct papers *papers,
                                struct papers_kept *kept);
void papers_drop(struct papers_kept *kept); /* Zeroed is safe. */

/* Views of `bytes`.  ERR_FORMAT. */
MUST_CHECK enum err papers_read(const uint8_t *bytes, size_t size,
                                struct papers *papers);

#endif /* NODE_RING_PAPERS_H */

/*
 * peer_fetch.h - chunks that this worker gets from its peers (docs/data.md).
 *
 *     FETCH names a peer --> dial it (1 s) --> WANT .. PART .. --> the digest
 *                                 |              | silence (2 s)     |
 *                                 '--------------+-------------------+--> no
 *
 * Bytes are believed by their digest alone.  A peer that cannot be reached,
 * falls silent, breaks off or gives other bytes is done with: all that was
 * wanted from it is reported as not there, and asked for where it always is.
 */
#ifndef NODE_PEER_FETCH_H
#define NODE_PEER_FETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hash.h"
#include "core/msg.h"
#include "os/net/interface.h"
#include "os/run/loop.h"

struct peer_fetch;

/* Chunks [first, end) of `peer`: one, with its bytes, or those that did not
 * come (ERR_MISMATCH: it gave others).  Called on the loop, never from inside
 * peer_fetch_want. */
typedef void (*peer_fetched)(void *context, uint32_t peer, uint32_t first,
                             uint32_t end, const uint8_t *bytes, size_t size,
                             enum err err);

struct peer_fetch_options {
    struct loop *loop;
    const char *name;                /* Ours, which the keys are for. */
    const struct net_source *source; /* To dial from; NULL: any. */
    bool alone;                      /* Dial nobody: all of it fails. */
    peer_fetched fetched;
    void *context;
};

/* Borrows what the options point to. */
MUST_CHECK enum err peer_fetch_new(const struct peer_fetch_options *options,
                                   struct peer_fetch **fetch);
void peer_fetch_free(struct peer_fetch *fetch); /* Accepts NULL. */
/* What the chunks are, and how large one may be; before the first want.
 * Borrows the digests. */
void peer_fetch_learn(struct peer_fetch *fetch, const struct digest *digests,
                      size_t chunk_bytes_max);
/* [first, end) from the peer of `msg`.  ERR_NOMEM: none of them. */
MUST_CHECK enum err peer_fetch_want(struct peer_fetch *fetch,
                                    const struct msg_fetch *msg, uint32_t first,
                                    uint32_t end);

#endif /* NODE_PEER_FETCH_H */

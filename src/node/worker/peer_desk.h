/*
 * peer_desk.h - what one peer wants of our chunks, and what it is given next.
 *
 * No sockets: node/worker/peer_server.c carries the messages.  A peer may want
 * PEER_WINDOW chunks at a time; it is given whole chunks, those that are here
 * first, cut into parts that are made only when they can be sent.
 */
#ifndef NODE_PEER_DESK_H
#define NODE_PEER_DESK_H

#include <stdbool.h>
#include <stdint.h>

#include "data/rows/dataset.h"
#include "wire/peer_codec.h"

#define PEER_WINDOW 16u

/* What a ring's peer gives beside its chunks, as chunk number `chunks`: what
 * they are, and what is made of them (node/ring/papers.h).  Borrowed; of size
 * 0: nothing. */
struct papers_view {
    const uint8_t *bytes;
    size_t size;
};

struct peer_desk {
    const struct dataset *data; /* Its present chunks are given. */
    uint32_t wanted[PEER_WINDOW];
    uint32_t count;
    struct papers_view papers; /* The caller's, after init. */
    uint32_t chunk;            /* Being given: ... */
    struct papers_view giving; /* ... these bytes; size 0: none is. */
    size_t at;
    uint8_t *bytes; /* Room for them. */
    size_t capacity;
};

void peer_desk_init(struct peer_desk *desk, const struct dataset *data);
void peer_desk_close(struct peer_desk *desk);

/* ERR_RANGE: there is no such chunk.  ERR_TOOBIG: too many at a time. */
MUST_CHECK enum err peer_desk_want(struct peer_desk *desk, uint32_t chunk);
/* The next part; its bytes are good until the next call.  ERR_NOTFOUND: nothing
 * that is wanted is here.  ERR_NOMEM. */
MUST_CHECK enum err peer_desk_next(struct peer_desk *desk,
                                   struct peer_msg *part);
/* Is anything wanted that is not here? */
bool peer_desk_waits(const struct peer_desk *desk);
bool peer_desk_idle(const struct peer_desk *desk);

#endif /* NODE_PEER_DESK_H */

/*
 * peer_basket.h - a chunk that comes in from a peer, part by part.
 *
 * Parts come in order and one chunk after the other, or the peer is not one of
 * ours.  No sockets: node/worker/peer_fetch.c has them.  The bytes are hashed
 * as they come, so that no large chunk keeps the loop.
 */
#ifndef NODE_PEER_BASKET_H
#define NODE_PEER_BASKET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "wire/peer_codec.h"

struct peer_basket {
    uint32_t chunk; /* Coming in, ... */
    uint8_t *bytes;
    size_t room;
    size_t size; /* ... of so many bytes; 0: none is. */
    size_t at;
    struct hasher hasher;
};

void peer_basket_close(struct peer_basket *basket); /* Zeroed is safe. */

/* Is a chunk half here? */
static inline bool peer_basket_open(const struct peer_basket *basket)
{
    return basket->size > 0;
}

/* ERR_FORMAT: it is not the part that follows, or of more than size_max.
 * ERR_NOMEM.  *whole: `chunk` is here, `at` bytes of this digest, until the
 * next part. */
MUST_CHECK enum err peer_basket_put(struct peer_basket *basket,
                                    const struct peer_msg *part,
                                    size_t size_max, bool *whole,
                                    struct digest *digest);

#endif /* NODE_PEER_BASKET_H */

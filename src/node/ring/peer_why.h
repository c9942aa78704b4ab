/*
 * peer_why.h - what a peer answers to `muster status --why-slow`: who of those
 * it works with is behind, itself included, and why.
 */
#ifndef NODE_RING_PEER_WHY_H
#define NODE_RING_PEER_WHY_H

#include <jansson.h>
#include <stddef.h>

#include "core/ring/peer.h"
#include "node/ring/mesh.h"

/* An object of at most `capacity` bytes; NULL if out of memory. */
json_t *peer_why_json(const struct peer *peer, const struct mesh *mesh,
                      time_us now, size_t capacity);

#endif /* NODE_RING_PEER_WHY_H */

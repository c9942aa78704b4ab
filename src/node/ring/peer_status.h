/*
 * peer_status.h - what a peer answers to `muster status`: itself, its view and
 * whom it knows, in the words of node/star/status.h.
 */
#ifndef NODE_RING_PEER_STATUS_H
#define NODE_RING_PEER_STATUS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "core/ring/peer.h"
#include "node/ring/mesh.h"

const char *peer_phase_name(enum peer_phase phase);
const char *peer_seat_state(const struct peer *peer, uint32_t seat);

/* An object of at most `capacity` bytes; NULL if out of memory. */
json_t *peer_status_json(const struct peer *peer, const struct mesh *mesh,
                         time_us now, size_t capacity);

/* What `muster status`, --why-slow, `stop` or --size is answered, likewise.
 * `allowed` to more than look. */
json_t *peer_answer(const struct peer *peer, const struct mesh *mesh,
                    enum ask_what what, bool allowed, time_us now,
                    size_t capacity);

#endif /* NODE_RING_PEER_STATUS_H */

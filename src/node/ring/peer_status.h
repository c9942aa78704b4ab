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

const char *peer_phase_name(enum peer_phase phase);
const char *peer_seat_state(const struct peer *peer, uint32_t seat);

/* An object of at most `capacity` bytes; NULL if out of memory.  `sent`: bytes
 * of slices, as mesh_slice_bytes counts them. */
json_t *peer_status_json(const struct peer *peer, uint64_t sent, time_us now,
                         size_t capacity);

#endif /* NODE_RING_PEER_STATUS_H */

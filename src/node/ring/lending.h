/*
 * lending.h - vectors of a ring's peers that others of the same machine read
 * where they lie, on a board that was made before the forks.
 *
 *     berth 0  [ seal | seal |      ][ tally ][ total ]
 *              [      | seal | seal ][       ][ total ][ stepped weights ]
 *     berth 1  ...
 *
 * A SLICE of such a vector goes as a note of where it lies and of the number
 * of its seal, over the link as all messages do: so it keeps its order
 * (RING-2).  Whoever came from elsewhere, or finds no room, is sent bytes.
 *
 * Peers that were forked by one supervisor trust each other with this memory
 * as threads do.  What is read there is no length and no index; sums are read
 * once and judged as those of a message are.
 */
#ifndef NODE_RING_LENDING_H
#define NODE_RING_LENDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "core/msg.h"
#include "core/ring/peer.h"
#include "node/host/posting.h"
#include "os/run/board.h"
#include "wire/codec.h"

/* A board for so many peers, `count` of which begin, with `step_bytes` for the
 * slice of the model that each makes (share_bytes; 0: none does).  NULL and
 * ERR_OK: the sums are too long to lie in memory for all. */
MUST_CHECK enum err lending_new(uint32_t berths, uint32_t count,
                                uint32_t sum_dims, size_t step_bytes,
                                struct board **board);
/* Where the vectors of a berth lie; `sum_dims` as above, here and below. */
void lending_rooms(struct board *board, uint32_t berth, uint32_t sum_dims,
                   struct slice_room rooms[PEER_ROOMS]);
/* ... and its slice of the model; of zeros if there is no room for it. */
struct share_room lending_stepped(struct board *board, uint32_t berth,
                                  uint32_t sum_dims);

/* Is it a message whose vector lies in that berth? */
bool lending_posts(struct board *board, uint32_t berth, uint32_t sum_dims,
                   const struct msg *msg);
/* The note of it; false if out of memory. */
MUST_CHECK bool lending_fill(struct board *board, uint32_t berth,
                             uint32_t sum_dims, struct envelope *envelope,
                             const struct msg *msg);
/* The SLICE that the peer of a berth has lent.  ERR_FORMAT: no such message. */
MUST_CHECK enum err lending_find(struct board *board, uint32_t berth,
                                 uint32_t sum_dims, struct codec_room *room,
                                 const uint8_t *data, size_t size,
                                 struct msg *msg);

#endif /* NODE_RING_LENDING_H */

/*
 * posting.h - messages between a node and its neighbours on one machine: what
 * is large goes to the board (os/board.h), the rest over the link.
 *
 * Posted or not, a message is the same to the core.  A message that cannot be
 * posted (no berth, no room, no free answer) is sent whole, so nobody ever
 * waits for the board.
 */
#ifndef NODE_POSTING_H
#define NODE_POSTING_H

#include <stdbool.h>
#include <stdint.h>

#include "core/msg.h"
#include "os/board.h"
#include "wire/codec.h"

/* Bytes of one message; grows and is used again. */
struct envelope {
    uint8_t *bytes;
    size_t capacity;
};

/* The message as bytes in the envelope; 0 if out of memory. */
size_t envelope_fill(struct envelope *envelope, const struct msg *msg);
void envelope_close(struct envelope *envelope);

/* The coordinator's side: the last round on the board.  Its vectors are written
 * once, whoever it is sent to. */
struct posting {
    struct board *board; /* NULL: none. */
    bool posted;
    struct round_key key;
    uint64_t sequence;
};

/* As envelope_fill; a ROUND for a worker that has a berth is posted. */
size_t posting_fill(struct posting *posting, uint32_t berth,
                    struct envelope *envelope, const struct msg *msg);
/* The TALLY that a worker posted: its sums are views of the board, until
 * board_answer_release.  ERR_STALE: it is not there any more, forget it.
 * ERR_FORMAT: no such message. */
MUST_CHECK enum err posting_tally(const struct posting *posting, uint32_t berth,
                                  struct codec_room *room, const uint8_t *data,
                                  size_t size, struct msg *msg,
                                  struct posted *where);

/* The worker's side.  As envelope_fill; a TALLY is posted if there is room. */
size_t answer_fill(struct board *board, uint32_t berth,
                   struct envelope *envelope, const struct msg *msg);
/* The ROUND that the coordinator posted, copied into `room`.  ERR_STALE: it was
 * overwritten, as its round is over: take it for lost. */
MUST_CHECK enum err answer_round(const struct board *board,
                                 struct codec_room *room, const uint8_t *data,
                                 size_t size, struct msg *msg);

/* What a board must hold for a job; large Hessians are sent. */
struct board_shape posting_shape(uint32_t berths, uint32_t dims,
                                 uint32_t sum_dims);

#endif /* NODE_POSTING_H */

/*
 * posting.h - messages between a node and its neighbours on one machine: what
 * is large goes to the board (os/run/board.h), the rest over the link.
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
#include "core/run/trainer.h"
#include "os/net/link.h"
#include "os/run/board.h"
#include "wire/codec.h"

/* Bytes of one message, `head` and then `tail`; used again.  What is large is
 * in the tail, which links hold until they have sent it. */
struct envelope {
    struct blob *room; /* Of the head. */
    size_t head_size;
    struct blob *tail; /* Borrowed or our own; NULL: none. */
    size_t tail_size;
    struct blob *own; /* What an own tail is kept in. */
};

/* The message as bytes in the envelope; false if out of memory. */
MUST_CHECK bool envelope_fill(struct envelope *envelope, const struct msg *msg);
/* Only the head of a ROUND or TALLY, whose vectors are the caller's tail. */
MUST_CHECK bool envelope_fill_head(struct envelope *envelope,
                                   const struct msg *msg);
/* The same of a message whose vectors lie on a board, there. */
MUST_CHECK bool envelope_fill_posted(struct envelope *envelope,
                                     const struct msg *msg,
                                     const struct posted *where);
void envelope_send(const struct envelope *envelope, struct link *link,
                   enum plane plane);
void envelope_close(struct envelope *envelope);
/* Left as a note for the other side of the berth, if it is short, speaks of the
 * board or is an order (msg_is_order), and there is room; else it is to be
 * sent. */
MUST_CHECK bool envelope_leave(const struct envelope *envelope,
                               struct board *board, uint32_t berth,
                               enum board_side to, bool order);

/* Exponents that lie where a round of the board does: they change rarely. */
struct laid {
    const uint8_t *where; /* NULL: none. */
    uint64_t scale;       /* Their name, ... */
    uint32_t count;       /* ... and how many they are. */
};

/* The coordinator's side: the last round.  Its vectors are written once for the
 * board and once for the links, however many it is sent to. */
struct posting {
    struct mirror mirror; /* First: posting_mirror. */
    struct board *board;  /* NULL: none. */
    struct pool *pool;    /* For long vectors; NULL: none. */
    struct round_key posted_key;
    uint64_t sequence; /* On the board; 0: none yet. */
    uint8_t *next;     /* A round there that is being written; NULL: none. */
    bool mirrors;      /* Its weights may be there already. */
    struct laid laid[BOARD_ROUNDS];
    struct round_key sent_key; /* Of `vectors`. */
    struct blob *vectors;      /* NULL: none yet. */
    struct blob *before;       /* What links may still be sending. */
    size_t vectors_size;
    /* Packed exponents of the scale with this name: they change rarely. */
    struct blob *exponents; /* NULL: none yet. */
    size_t exponents_size;
    uint64_t scale;
    uint32_t scaled; /* So many exponents; 0: none. */
};

/* Where new weights may be written so that the next ROUND need not copy them;
 * NULL without a board. */
struct mirror *posting_mirror(struct posting *posting);
/* As envelope_fill; a ROUND for a worker that has a berth is posted. */
MUST_CHECK bool posting_fill(struct posting *posting, uint32_t berth,
                             struct envelope *envelope, const struct msg *msg);
void posting_close(struct posting *posting);
/* The TALLY that a worker posted: its sums are views of the board, until
 * board_answer_release.  ERR_STALE: it is not there any more, forget it.
 * ERR_FORMAT: no such message. */
MUST_CHECK enum err posting_tally(const struct posting *posting, uint32_t berth,
                                  struct codec_room *room, const uint8_t *data,
                                  size_t size, struct msg *msg,
                                  struct posted *where);

/* The worker's side.  Where the sums of the next TALLY may be computed, so that
 * answer_fill need not copy them; NULL: there is no room. */
int64_t *answer_open(struct board *board, uint32_t berth, uint32_t dims);
/* As envelope_fill; a TALLY is posted if there is room. */
MUST_CHECK bool answer_fill(struct board *board, uint32_t berth,
                            struct envelope *envelope, const struct msg *msg);
/* The ROUND that the coordinator posted: its vectors are views of the board,
 * `kept` is its number there, and what was computed from them counts if
 * board_round_holds still; those of a coded round are copied into `room`.
 * ERR_STALE: it was overwritten, as its round is over: take it for lost. */
MUST_CHECK enum err answer_round(const struct board *board,
                                 struct codec_room *room, const uint8_t *data,
                                 size_t size, struct msg *msg);

/* What a board must hold for a job; large Hessians are sent. */
struct board_shape posting_shape(uint32_t berths, uint32_t dims,
                                 uint32_t sum_dims);

#endif /* NODE_POSTING_H */

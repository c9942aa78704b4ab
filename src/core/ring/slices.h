/*
 * slices.h - an exact all-reduce of one tally among the members of a view.
 *
 * Direct reduce-scatter and all-gather: of `dims` coordinates member j adds up
 * slice j from what all others send it, and sends the total to all:
 *
 *     member 0   [ slice 0 | slice 1 | slice 2 ]   own tally
 *                    |          \         \.
 *                    |           to 1      to 2
 *     total 0 <- sum of 3 --> to 1, to 2
 *
 * Each sends (N-1)/N of its tally and N-1 times 1/N of the total: 2 (N-1)/N x
 * dims coordinates, as around a ring, in 2 latencies instead of 2 (N-1).  A
 * ring passes sums on because it must add in one order, or because a switch is
 * narrow; integers have no order.  Slices travel in segments: a total goes out
 * while later segments still come in.  Tallies of up to `small` coordinates go
 * whole to everybody, who all add them up: one latency, and (N-1) x dims
 * coordinates.
 *
 * RING-3  A part counts once, with the chunks that the view gives its sender.
 * RING-4  What does not fit is known to all: flags are united like sums.
 *
 * LENT SUMS.  Where a message's sums stay where they are (its seal) they are
 * not added, or copied, when it comes: what parts of own slice were lent is
 * added up in one pass once all are in, and another's total is decoded where
 * it lies.  After each of the two the seals are looked at (RING-9).  Between
 * members of a view they hold: a peer writes its next tally when it has all
 * totals, and so all have added up what it lent; and a total of the round
 * after next when all have sent theirs of the next, and so have decoded this
 * one.  Whoever was left behind may find other numbers there, and takes the
 * link for broken.
 */
#ifndef CORE_RING_SLICES_H
#define CORE_RING_SLICES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "core/msg.h"
#include "core/ring/council.h"
#include "core/ring/seal.h"
#include "math/exact/tally.h"

struct slice_range {
    uint32_t at, end; /* Coordinates. */
};

/* What decides who adds up what. */
struct slice_shape {
    uint32_t dims, ranks, self;
    uint32_t small, segment;
    uint32_t share; /* Slices of so many coordinates, and more, are cut so that
                       they can be stepped (SLICE_GRAIN); 0: none are. */
};

/* The slice of a rank; where tallies go whole, all of it. */
struct slice_range slice_of(const struct slice_shape *shape, uint32_t rank);
bool slice_whole(const struct slice_shape *shape);

/* Memory of one vector that others may read in place; zeroed: none. */
struct slice_room {
    int64_t *sum; /* As many as the longest sums have. */
    struct seal *seal;
};

/* Sums that stay where they are. */
struct lent {
    const int64_t *sum;  /* Of coordinate 0; NULL: nothing was lent, or ... */
    const void *stepped; /* ... this (share.h). */
    const struct seal *seal;
    uint64_t number;
};

/* One tally's. */
struct exchange {
    bool open;            /* Somebody's part is in, or a total. */
    struct round_key key; /* ... of this round. */
    uint32_t dims;
    uint64_t parts; /* Ranks of which any part is in, ... */
    uint64_t ended; /* ... and of which all of own slice is. */
    uint64_t *in;   /* Of each segment of own slice: ranks. */
    uint32_t segments_max;
    uint32_t got[PEERS_MAX]; /* Coordinates of each rank's total. */
    uint8_t flags;
    struct tally total; /* Sums and loss; its chunks are not used. */
    struct seal *seal;  /* Of these sums, if others may read them. */
    uint64_t added;     /* Ranks whose parts are in `total`, as far as ... */
    uint32_t settled;   /* ... these segments; before, all are. */
    struct lent part[PEERS_MAX]; /* Of own slice, ... */
    struct lent of[PEERS_MAX];   /* ... and totals of the others'. */
};

/* `room` is where the total is to lie; of zeros: anywhere. */
MUST_CHECK enum err exchange_init(struct exchange *x, uint32_t dims_max,
                                  uint32_t segment,
                                  const struct slice_room *room);
void exchange_close(struct exchange *x); /* Zeroed memory is safe to close. */
void exchange_blank(struct exchange *x);

enum slice_fate {
    SLICE_COUNTED,
    SLICE_TWICE, /* It is in already: dropped. */
    SLICE_BAD    /* Not what a member sends: out of bound, other chunks. */
};

/* Another's part of own slice, or total of its slice; `rank`: the sender's.
 * `view` says whose chunks are whose.  *done: a segment [*at, *end) of own
 * slice is complete by it. */
enum slice_fate exchange_take(struct exchange *x,
                              const struct slice_shape *shape,
                              const struct ring_view *view, uint32_t rank,
                              const struct msg_slice *msg,
                              struct slice_range *done);

/* Own tally, which stays until all is complete, into own slice; NULL: it has
 * nothing but flags. */
void exchange_give(struct exchange *x, const struct slice_shape *shape,
                   const struct round_key *key, const struct tally *own,
                   uint8_t flags);

/* Ranks, as bits. */
struct slice_blame {
    uint64_t gone; /* What they lent is not there any more. */
    uint64_t bad;  /* It is out of bound. */
};

/* Are all parts of this segment in?  `number` of own slice's. */
bool exchange_ready(const struct exchange *x, const struct slice_shape *shape,
                    uint32_t number);
/* Adds up the next segment, which is ready.  False: *blame says why, and the
 * total is of no use. */
MUST_CHECK bool exchange_settle(struct exchange *x,
                                const struct slice_shape *shape,
                                struct slice_blame *blame);
/* The same in another way: were all parts of own slice, which is one segment
 * and ready, lent?  Then their sums, from coordinate 0 on, and whose they are.
 * False: they were not. */
struct slice_parts {
    const int64_t *sums[PEERS_MAX];
    uint32_t ranks[PEERS_MAX];
    uint32_t count;
};
bool exchange_lent(const struct exchange *x, const struct slice_shape *shape,
                   struct slice_parts *parts);
/* ... and what came of them lies there.  `bad`: of these parts, as bits.  False
 * as exchange_settle. */
MUST_CHECK bool exchange_stepped(struct exchange *x,
                                 const struct slice_shape *shape,
                                 const struct slice_parts *parts, uint64_t bad,
                                 const struct lent *into,
                                 struct slice_blame *blame);
/* Who has stepped its slice, as bits. */
uint64_t exchange_steppers(const struct exchange *x,
                           const struct slice_shape *shape);
uint32_t exchange_segments(const struct slice_shape *shape);
struct slice_range exchange_segment(const struct slice_shape *shape,
                                    uint32_t number);
/* Is the total of that rank's slice here, all of it? */
bool exchange_has_total(const struct exchange *x,
                        const struct slice_shape *shape, uint32_t rank);
/* Is the whole total here? */
bool exchange_complete(const struct exchange *x,
                       const struct slice_shape *shape);
/* The whole total as numbers, but of slices that were stepped; returns what
 * tally_gradient does. */
bool exchange_decode(const struct exchange *x, const struct slice_shape *shape,
                     const int16_t *exponent, double *gradient);
/* Whose totals have changed since they were told of, as bits: what was read of
 * them before this does not count. */
uint64_t exchange_gone(const struct exchange *x,
                       const struct slice_shape *shape);

#endif /* CORE_RING_SLICES_H */

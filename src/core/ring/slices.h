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
 */
#ifndef CORE_RING_SLICES_H
#define CORE_RING_SLICES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "core/msg.h"
#include "core/ring/council.h"
#include "math/exact/tally.h"

struct slice_range {
    uint32_t at, end; /* Coordinates. */
};

/* What decides who adds up what. */
struct slice_shape {
    uint32_t dims, ranks, self;
    uint32_t small, segment;
};

/* The slice of a rank; where tallies go whole, all of it. */
struct slice_range slice_of(const struct slice_shape *shape, uint32_t rank);
bool slice_whole(const struct slice_shape *shape);

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
};

MUST_CHECK enum err exchange_init(struct exchange *x, uint32_t dims_max,
                                  uint32_t segment);
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

/* Own tally into own slice; NULL: it has nothing but flags. */
void exchange_give(struct exchange *x, const struct slice_shape *shape,
                   const struct round_key *key, const struct tally *own,
                   uint8_t flags);

/* Are all parts of this segment in?  `number` of own slice's. */
bool exchange_ready(const struct exchange *x, const struct slice_shape *shape,
                    uint32_t number);
uint32_t exchange_segments(const struct slice_shape *shape);
struct slice_range exchange_segment(const struct slice_shape *shape,
                                    uint32_t number);
/* Is the whole total here? */
bool exchange_complete(const struct exchange *x,
                       const struct slice_shape *shape);

#endif /* CORE_RING_SLICES_H */

/*
 * segments.h - the pieces of a product with coded data.
 *
 * A product of every block with one vector is asked for in G pieces, ranges of
 * the numbers that it gives; a piece is known once `need` distinct blocks have
 * answered it (code/erasure.h).  Answers are kept by block, not by member: what
 * was delivered counts, also from members who are gone.
 *
 *     SCORES, BACK   piece g: [g n/G, (g+1) n/G) of the n numbers, of any block
 *     COMBINE        piece g: rows [g n/G, (g+1) n/G) of each of a set of
 *                    blocks, chosen in advance, with vectors of their own
 * (input coding): needs all of them.  What does not come is for others, in a
 * further round
 *
 * mds is G = 1, asked of everybody at once; cec gives each member an arc of the
 * pieces by its speed, and what is missing anew whenever somebody leaves, joins
 * or lags (code/residual.h).
 */
#ifndef CORE_STAR_SEGMENTS_H
#define CORE_STAR_SEGMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"
#include "code/blockset.h"
#include "code/residual.h"

struct segment {
    uint32_t first, end;  /* Of the numbers, or rows. */
    uint32_t count;       /* Answers kept, ... */
    struct blockset from; /* ... of these blocks. */
};

/* How quick a member is. */
struct pace {
    double speed;         /* Blocks a microsecond; 0: not known. */
    double share;         /* Of the round at hand: so much of its block ... */
    double us;            /* ... in so long. */
    uint32_t passed_over; /* Rounds in which it was given nothing. */
};

struct segments {
    uint32_t max;   /* Pieces of a round of any code, at most. */
    uint32_t need;  /* Distinct answers that a piece takes, ... */
    uint32_t keeps; /* ... and how many there is room for. */
    enum arc_rule rule;
    struct segment *list;
    uint32_t *kept;   /* max x keeps: blocks whose answers they are. */
    uint32_t *given;  /* slots x max: when, of `gives`; 0: not. */
    uint32_t *seated; /* Of each slot: when its member came; 0: before. */
    uint32_t gives;
    uint32_t *dealt; /* Of each piece: in which of the `deals`. */
    uint32_t deals;
    bool outdated;      /* The plan: members came, went or lag since it was
                           made, and the next look makes it anew. */
    uint32_t waits_for; /* So many machines, and people know; 0: enough are
                           here. */
    time_us look_at;    /* For laggards. */
    uint32_t turns;     /* So often laggards had their turn again. */
    double *speeds;     /* Scratch: slots of them. */
    struct residual plan;
    struct blockset *done, *doing; /* What the plan is made from, ... */
    struct arc_member *members;
    struct arc *arcs;
    const double **answer; /* ... and a decoding: slots of each. */
    double **part;
    double *scratch;
    /* Input coding: combine.c. */
    double *inputs;   /* slots x rows of a block: u, the vector that each slot
                         multiplies its block's rows with in this round. */
    double *unsummed; /* parts x rows of a block: the part of r whose product
                         is not in the gradient's sum yet.  Nobody looks
                         at that of a piece which is `whole`. */
    struct blockset *sets; /* Of each piece: those who are asked for it, ... */
    bool *whole;           /* ... and are the answers of all in the sum? */
    bool planned;          /* Pieces were given out, ... */
    bool ill;              /* ... or no set of those here will do. */
    bool ending;           /* What was not begun was taken back. */
    bool again;            /* Some did not come the first time. */
};

#endif /* CORE_STAR_SEGMENTS_H */

/*
 * council.h - who runs the ring together: views, without a quorum.
 *
 * A view is a numbered list of members who all hear one another.  It needs to
 * be common only to its members, and only as long as they exchange slices:
 * whoever can compute all chunks may go on, alone or with others, and comes to
 * the same bits (docs/ring.md).  So nobody votes.  The *leader* of those who
 * hear each other, the lowest of their names, proposes; the higher (number,
 * proposer) wins; and a peer that is in no view with a lower one leads itself.
 *
 * Pure functions of what is known; the messages are sent by peer.c.
 */
#ifndef CORE_RING_COUNCIL_H
#define CORE_RING_COUNCIL_H

#include <stdbool.h>
#include <stdint.h>

#include "core/msg.h"

/* A set of seats is a word; members are in the order of their names, a
 * member's place in it is its *rank*. */
struct ring_view {
    struct ring_name name;
    uint64_t key; /* Of name and members: what slices and reports carry. */
    uint64_t members;
    uint32_t count;
    uint32_t self;             /* Rank of this peer. */
    uint32_t seat[PEERS_MAX];  /* By rank. */
    uint32_t first[PEERS_MAX]; /* Chunks of each, by rank, once it is */
    uint32_t end[PEERS_MAX];   /* installed, ... */
    uint32_t gap;              /* ... but for those from this one on that
                                  nobody has; `chunks`: a partition. */
};

/* < 0, 0, > 0 as strcmp; no name is lower than any. */
int ring_name_order(const struct ring_name *a, const struct ring_name *b);

/* What a peer knows of one that it hears, itself (seat 0) included. */
struct ring_heard {
    const char *name;
    uint64_t hears;        /* Seats that it hears, itself included. */
    struct ring_name view; /* That it has taken up, ... */
    uint64_t members;      /* ... with these; 0: none. */
    bool started;          /* Has taken up a view, ever. */
};

/* Of `count` seats those in `heard` are heard; seat 0 is asking.  Does it lead:
 * is no lower name with it?  One is *with* another if the newer of their views
 * has both, or one of them has none.  Who has not started leaves it to who
 * has. */
bool council_leads(const struct ring_heard *seats, uint32_t count,
                   uint64_t heard);

/* Whom the leader should propose: a clique of those it hears that are with it,
 * or in the view of a higher name.  Members of its present view come first,
 * then names in order: a newcomer is in once it hears them all. */
uint64_t council_choose(const struct ring_heard *seats, uint32_t count,
                        uint64_t heard);

/* Number of the seats in a set. */
uint32_t ring_count(uint64_t seats);

/* Fill in order, key and own rank; `name` and `members` are there. */
void ring_view_order(struct ring_view *view, const struct ring_heard *seats,
                     uint32_t count);

/* Who computes what: `first` and `end` by rank say what each can compute, and
 * become what it shall.  Those who have the same share it evenly; who has
 * only what others take gets nothing.  Returns the first chunk that nobody has;
 * `chunks`: it is a partition. */
uint32_t ring_split(uint32_t *first, uint32_t *end, uint32_t count,
                    uint32_t chunks);

#endif /* CORE_RING_COUNCIL_H */

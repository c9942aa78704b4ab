/*
 * residual_room.h - inside a residual plan: lots of pieces, members' shares in
 * them, and the steps from the one to the other.  Only residual*.c include
 * this file.
 */
#ifndef CODE_RESIDUAL_ROOM_H
#define CODE_RESIDUAL_ROOM_H

#include <stdbool.h>

#include "code/residual.h"

#define RESIDUAL_NOBODY UINT32_MAX

/* Pieces that the same members may do and that lack as many answers. */
struct lot {
    struct blockset who; /* By their places among the members. */
    uint32_t need, size;
    uint32_t count; /* Of `who`. */
    uint32_t piece; /* Where its own begin in room->piece ... */
    uint32_t share; /* ... and its members' shares in room->share. */
    double level;   /* When those end who have neither nothing nor all. */
};

/* One member's part of a lot. */
struct share {
    uint32_t member;
    uint32_t whole; /* In whole pieces. */
    double part;    /* Before they were made whole. */
};

struct rank {
    double key;
    uint32_t share;
};

struct residual_room {
    uint32_t members_max, pieces_max, slots, words;
    const struct residual_task *task;
    uint32_t *slot;   /* slots: 1 + lot, found by hash. */
    uint32_t *lot_of; /* pieces: its lot, or RESIDUAL_NOBODY. */
    struct lot *lots; /* pieces */
    uint32_t lot_count;
    uint32_t *order;     /* pieces: lots, the one with least choice first. */
    uint32_t *piece;     /* pieces, by lot. */
    struct share *share; /* members x pieces, by lot. */
    struct rank *rank;   /* members */
    uint32_t *member_of; /* BLOCKS_MAX: who holds the block, if anybody. */
    struct blockset all; /* Members who have every piece. */
    bool partial;        /* Others have only some. */
    double *speed;       /* members */
    double *finish;      /* members */
    double *carry;       /* members: parts less whole pieces so far; then whole
                            pieces. */
    uint64_t *takes;     /* members x words: the plan, bit by bit. */
};

static inline const struct arc_member *
residual_member(const struct residual_room *room, uint32_t member)
{
    return &room->task->members[member];
}

/* Of those who are given something, the last; RESIDUAL_NOBODY if none is. */
uint32_t residual_last(const struct residual_room *room);

/* residual_lots.c: sort the pieces into lots, in the order of their first
 * pieces; returns the most members that a piece lacks. */
uint32_t residual_sort(struct residual_room *room);
/* List the lots' pieces and members, and the lots by how much choice there is.
 */
void residual_list(struct residual_room *room);

/* residual_deal.c: from parts of pieces to whole ones, with `finish`. */
void residual_deal(struct residual_room *room);

#endif /* CODE_RESIDUAL_ROOM_H */

/*
 * residual.h - coded elastic computing: what is left of a round, given out
 * anew.
 *
 * A member left, joined or lags in mid-round.  What was delivered counts, also
 * from blocks whose members are gone; a piece wants as many more answers as it
 * lacks, from blocks that have not answered it.  Members that
 * are there number N' >= L exactly if every piece can still be completed: of
 * its answers at most as many are of members that are there.
 *
 * Pieces that the same members may do and that lack as many answers are one
 * lot.  For one lot alone the best is to fill up: all who may end at the
 * same time (those who would do more than every piece of it do every piece).
 * Lots are filled one after the other, the one with least choice first, and
 * then each again against what the others left, until that no longer helps.
 * The loads that lots allow form the bases of a polymatroid, on which such
 * rounds come to the least sum of speed x finish^2, and that has the least last
 * finish, too (Fujishige, Submodular Functions and Optimization, ch. 5).  Whole
 * pieces are then dealt so that every member's total stays near that, and laid
 * around each lot as arcs are (code/arcs.h).
 *
 * No allocation once there is room; the same plan on every machine.
 */
#ifndef CODE_RESIDUAL_H
#define CODE_RESIDUAL_H

#include <stdint.h>

#include "base/err.h"
#include "code/arcs.h"
#include "code/blockset.h"

struct residual_task {
    uint32_t pieces; /* G */
    uint32_t cover; /* Answers that a piece needs: L, or more for stragglers. */
    /* Of every piece: blocks whose answer is there, and those whose answer is
     * on its way and counted on (free_s of their members is when).  One who
     * lags is left out of `doing` and of the members. */
    const struct blockset *done, *doing;
    const struct arc_member *members;
    uint32_t count;
};

struct residual {
    /* The plan: member i does piece list[first[i]] first, list[first[i + 1] -
     * 1] last; from its `next` on and around, in runs. */
    uint32_t *first; /* members + 1 */
    uint32_t *list;
    uint32_t lacking; /* Members who must come before every piece can be
                         completed; 0: none.  The plan is as far as it goes. */
    double finish_s;  /* When the last is done. */
    double bound_s;   /* No plan ends before this (and perhaps none then). */
    /* Room, nobody else's business. */
    struct residual_room *room;
};

/* Room for tasks of up to so many members and pieces.  Zeroed memory is safe
 * to close. */
MUST_CHECK enum err residual_init(struct residual *residual, uint32_t members,
                                  uint32_t pieces);
void residual_close(struct residual *residual);
void residual_plan(struct residual *residual, const struct residual_task *task);

#endif /* CODE_RESIDUAL_H */

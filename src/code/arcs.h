/*
 * arcs.h - coded elastic computing: who computes which pieces of a round.
 *
 * The rows of the data are cut into L parts and coded into P blocks
 * (code/erasure.h); the rows of every block are cut alike into G pieces, and a
 * piece is known once L distinct blocks have answered it.  Every member holds
 * one block and is given one arc of the circle of G pieces:
 *
 *     L = 3, five members of speed 1, G = 10: arcs of 6 pieces, end to end,
 *     three times around
 *
 *     piece     0  1  2  3  4  5  6  7  8  9
 *               a  a  a  a  a  a  b  b  b  b
 *               b  b  c  c  c  c  c  c  d  d
 *               d  d  d  d  e  e  e  e  e  e
 *
 * Arcs as long as their members are fast that come to L G together cover every
 * piece exactly L times, and none is longer than the circle, so that no member
 * meets itself (the wrap-around rule of McNaughton, 1959).  All end at the
 * same time but those who do every piece: it is the earliest there is.
 *
 * The cyclic rule of Yang et al., "Coded elastic computing", ISIT 2019, is the
 * other: the circle is cut into N and member i does cuts i .. i+L-1, whatever
 * its speed.  It has up to N different sets of members; the wrap-around rule
 * has N / gcd(N, L) for equal speeds.
 *
 * Pure: no allocation, the same arcs on every machine.
 */
#ifndef CODE_ARCS_H
#define CODE_ARCS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "code/blockset.h"

#define ARC_PIECES_MAX 65536u /* G */

enum arc_rule { ARC_WRAP, ARC_CYCLIC };

/* One who may work on pieces. */
struct arc_member {
    uint32_t block; /* The one it holds; no two hold the same. */
    uint32_t ready; /* Pieces [0, ready) of it have arrived; G: all. */
    double speed;   /* Pieces a second, > 0. */
    double free_s;  /* residual.h: when it has done what it is doing, >= 0. */
    uint32_t next;  /* residual.h: the piece it would go on with. */
};

/* Pieces begin, begin + 1, ... modulo G; begin < G, count <= G. */
struct arc {
    uint32_t begin, count;
};

/* Lay an arc for each of the members in turn.  Those whose rows have not all
 * arrived are laid first, from piece 0, and get no further than they may;
 * several of those share one turn around the circle (they may get less than
 * would be best; residual_plan knows better).  The cyclic rule gives them
 * nothing.  ERR_UNDECODABLE: fewer than `parts` (L) have every piece. */
MUST_CHECK enum err arcs_lay(enum arc_rule rule,
                             const struct arc_member *members, uint32_t count,
                             uint32_t parts, uint32_t pieces, struct arc *arcs);

static inline bool arc_has(struct arc arc, uint32_t pieces, uint32_t piece)
{
    return (piece + pieces - arc.begin) % pieces < arc.count;
}

/* Who does the piece, by their blocks. */
void arcs_set(const struct arc_member *members, const struct arc *arcs,
              uint32_t count, uint32_t pieces, uint32_t piece,
              struct blockset *set);
/* The first piece after this one that others may do: where an arc begins or
 * ends.  `pieces` if there is none. */
uint32_t arcs_turn(const struct arc *arcs, uint32_t count, uint32_t pieces,
                   uint32_t piece);

struct erasure;

/* Lay arcs so that every set of members decodes with a reciprocal condition of
 * `rcond` at least: while one does not, neighbours who meet in it change
 * places, in `members`, too.  The best order that was seen is kept; *worst is
 * its least.  Errors of arcs_lay; ERR_UNDECODABLE also if every order tried has
 * a set that does not decode at all. */
MUST_CHECK enum err arcs_settle(struct erasure *erasure, enum arc_rule rule,
                                struct arc_member *members, uint32_t count,
                                uint32_t pieces, double rcond, struct arc *arcs,
                                double *worst);

#endif /* CODE_ARCS_H */

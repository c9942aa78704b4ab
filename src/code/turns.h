/*
 * turns.h - coded elastic computing: who multiplies which piece of the rows
 * where all of its members must.
 *
 * With input coding (code/erasure.h, the transpose) a piece has a set of
 * exactly L members, chosen in advance, and counts in part when one of them
 * answers and another is gone: what is missing then takes L others.  So the L
 * of a piece should do it at the same time: at any moment few pieces are begun
 * and not done, and all others can be given to other sets as if nothing had
 * happened.
 *
 * Members take turns.  Pieces are dealt in order; with each, everybody gains
 * its share of L (by speed, 1 at most), and the L who have gained most do it
 * and lose 1.  For equal speeds:
 *
 *     L = 3, five members, pieces 0 .. 4: each does three of five
 *
 *     piece     0  1  2  3  4
 *               a  d  b  e  c
 *               b  e  c  a  d
 *               c  a  d  b  e
 *
 * Everybody does its pieces in order, so that all are near the same piece at
 * any time.  There are N / gcd(N, L) different sets, as for arcs (code/arcs.h).
 *
 * Pure: no allocation, the same sets on every machine.
 */
#ifndef CODE_TURNS_H
#define CODE_TURNS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "code/arcs.h"
#include "code/blockset.h"

struct erasure;

/* The set of each piece, to `sets`; of those that are `over` none.  `ready` of
 * members is not looked at.  Where a set's reciprocal condition is below
 * `rcond` others are tried in its place, and the best is taken.
 * ERR_UNDECODABLE: fewer than L members, or no set that was tried decodes at
 * all. */
MUST_CHECK enum err turns_deal(const struct erasure *erasure,
                               const struct arc_member *members, uint32_t count,
                               const bool *over, uint32_t pieces, double rcond,
                               struct blockset *sets);

#endif /* CODE_TURNS_H */

/*
 * solve.h - small dense least squares, for decoding.
 *
 * Never in the bitwise path: only codes with real coefficients come here, and
 * they certify their residual.  The order of operations is fixed all the same,
 * so every machine gets the same weights.
 *
 * Householder QR with column pivoting, then the same from the right where the
 * rank is not full (Golub & Van Loan, Matrix Computations, 5.4 and 5.5):
 *
 *     A P = Q [ R11 R12 ]      [ R11 R12 ] = [ T 0 ] Z
 *             [  0   0  ]
 *
 * and one correction by the error that is left.  O(rows cols^2).
 */
#ifndef MATH_SOLVE_H
#define MATH_SOLVE_H

#include <stdint.h>

#include "base/err.h"

/* Room for solve_shortest of systems of up to rows x cols. */
struct solve_room {
    uint32_t rows, cols;
    uint32_t *from; /* Column j of A P was column from[j]. */
    double *norm2;  /* Of what is left of each column, squared ... */
    double *whole2; /* ... and when it was last computed anew. */
    double *left;   /* Of the reflections from the left: 2 / |v|^2 ... */
    double *first;  /* ... and v[0]. */
    double *beta;   /* Of those from the right. */
    double *y, *x;
    double *error; /* b - A x. */
    double *whole; /* A as it was. */
};

MUST_CHECK enum err solve_room_init(struct solve_room *room, uint32_t rows,
                                    uint32_t cols);
void solve_room_close(struct solve_room *room);
/* The x that minimises |A x - b|, and of several the shortest.  A is
 * column-major rows x cols (any shape, any rank) and is overwritten; b has
 * max(rows, cols) entries, x comes in its first cols.  Nothing is allocated.
 * ERR_RANGE: something is not finite. */
MUST_CHECK enum err solve_shortest(struct solve_room *room, double *a,
                                   double *b, uint32_t rows, uint32_t cols);

#endif /* MATH_SOLVE_H */

/*
 * solve.h - small dense algebra for decoding (LAPACKE).
 *
 * Never in the bitwise path: only codes with real coefficients come here, and
 * they certify their residual.
 */
#ifndef MATH_SOLVE_H
#define MATH_SOLVE_H

#include <stdint.h>

#include "base/err.h"

/* Solve the square system A x = b in place of b; A is row-major n x n and is
 * overwritten.  ERR_UNDECODABLE if A is singular. */
MUST_CHECK enum err solve_square(double *a, double *b, uint32_t n);

/* Least-squares x minimising |A x - b|, A row-major rows x cols (any shape,
 * any rank), overwritten; b has max(rows, cols) entries, x in its first cols.
 */
MUST_CHECK enum err solve_least_squares(double *a, double *b, uint32_t rows,
                                        uint32_t cols);

/* Room for solve_shortest of systems of up to rows x cols. */
struct solve_room {
    uint32_t rows, cols;
    double *work;
    int32_t work_size;
    int32_t *pivot;
};

MUST_CHECK enum err solve_room_init(struct solve_room *room, uint32_t rows,
                                    uint32_t cols);
void solve_room_close(struct solve_room *room);
/* As solve_least_squares, but A is column-major rows x cols and nothing is
 * allocated. */
MUST_CHECK enum err solve_shortest(struct solve_room *room, double *a,
                                   double *b, uint32_t rows, uint32_t cols);

#endif /* MATH_SOLVE_H */

/*
 * square.h - square systems with several right sides, in plain C: the same bits
 * on every machine, and no threads behind one's back.
 */
#ifndef CODE_SQUARE_H
#define CODE_SQUARE_H

#include <stdint.h>

#include "base/err.h"

/* Solve A x = b for `count` right sides, one after the other in b, in place; A
 * is row-major n x n and kept.  ERR_UNDECODABLE if it is singular. */
MUST_CHECK enum err square_solve(const double *a, double *b, uint32_t n,
                                 uint32_t count);

#endif /* CODE_SQUARE_H */

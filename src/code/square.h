/*
 * square.h - square systems with several right sides, in plain C: the same bits
 * on every machine, and no threads behind one's back.
 */
#ifndef CODE_SQUARE_H
#define CODE_SQUARE_H

#include <stdint.h>

#include "base/err.h"

/* Room for systems of up to `size` equations, and the factors of one. */
struct square {
    uint32_t size, n;
    const double *a; /* The caller's, as given to square_factor. */
    double *lu;      /* n x n, rows in the order of `from`. */
    uint32_t *from;  /* Row i was row from[i]. */
    double *x, *sum; /* n each. */
};

/* Zeroed memory is safe to close. */
MUST_CHECK enum err square_init(struct square *square, uint32_t size);
void square_close(struct square *square);
/* Factors of A, row-major n x n, which must stay as it is while they are used.
 * ERR_UNDECODABLE if it is singular.  Nothing is allocated. */
MUST_CHECK enum err square_factor(struct square *square, const double *a,
                                  uint32_t n);
/* Solve A x = b for `count` right sides, one after the other in b, in place. */
void square_apply(const struct square *square, double *b, uint32_t count);

/* Both at once: solve A x = b for `count` right sides, one after the other in
 * b, in place; A is row-major n x n and kept.  ERR_UNDECODABLE if it is
 * singular. */
MUST_CHECK enum err square_solve(const double *a, double *b, uint32_t n,
                                 uint32_t count);

#endif /* CODE_SQUARE_H */

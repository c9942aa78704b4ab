/*
 * cholesky.h - solve A x = b for a symmetric positive matrix, to the bit.
 *
 * A is a lower triangle row by row: row i begins at i (i + 1) / 2.  Every sum
 * is a vec_dot over a row, so the order is fixed and no library takes part
 * (LAPACK's would differ from machine to machine).  n^3 / 3 flops.
 */
#ifndef OPTIM_CHOLESKY_H
#define OPTIM_CHOLESKY_H

#include <stddef.h>
#include <stdint.h>

/* Where row i of a triangle begins; its diagonal is i further on. */
static inline size_t cholesky_row(uint32_t i)
{
    return (size_t)i * (i + 1) / 2;
}

/* A <- L with L L' = A.  A coordinate whose pivot vanishes (a column of zeros,
 * or one that depends on those before it) is taken out of the system: its
 * pivot becomes 0. */
void cholesky_factor(double *a, uint32_t n);
/* The same, but a pivot that vanishes beside its diagonal becomes the rounding
 * of that: for systems that are not singular, only nearly. */
void cholesky_factor_all(double *a, uint32_t n);
/* v <- the combination, 1 in coordinate i, for which i was taken out: A v is
 * rounding. */
void cholesky_null(const double *l, uint32_t n, uint32_t i, double *v);

/* x (b on entry) <- solution; 0 in the coordinates taken out. */
void cholesky_solve(const double *l, uint32_t n, double *x);

#endif /* OPTIM_CHOLESKY_H */

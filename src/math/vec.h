/*
 * vec.h - vectors of the optimiser: fixed summation order, no library.
 *
 * Element-wise operations have no order to fix.  Sums run over blocks of 1024
 * coordinates, 8 lanes each, then over blocks in order: the same bits on every
 * machine.
 */
#ifndef MATH_VEC_H
#define MATH_VEC_H

#include <stdbool.h>
#include <stddef.h>

double vec_dot(const double *a, const double *b, size_t count);
double vec_norm(const double *a, size_t count);
bool vec_finite(const double *a, size_t count);
/* The largest |a_i|; infinite if some is not finite. */
double vec_largest(const double *a, size_t count);

#endif /* MATH_VEC_H */

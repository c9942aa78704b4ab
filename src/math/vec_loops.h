/*
 * vec_loops.h - the loops of vec.h for machines that have wider ones (math/
 * only).  Same answers, same bits as those in vec.c.
 */
#ifndef MATH_VEC_LOOPS_H
#define MATH_VEC_LOOPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VEC_BLOCK 1024u
#define VEC_LANES 8u

/* lane[i % 8] += a_i b_i for i < count, a multiple of 8. */
void vec_lanes_avx512(const double *a, const double *b, size_t count,
                      double lane[VEC_LANES]);
/* The largest of the bits of |a_i|, as a number. */
uint64_t vec_top_avx512(const double *a, size_t count);
void vec_measure_avx512(const double *sum, double rows, double twice,
                        const double *w, size_t count, double *gradient);
void vec_descend_avx512(double keep, double scale, const double *g,
                        size_t count, double *w);

#endif /* MATH_VEC_LOOPS_H */

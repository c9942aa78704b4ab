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
#include <stdint.h>

#include "base/pool.h"

double vec_dot(const double *a, const double *b, size_t count);
double vec_norm(const double *a, size_t count);
bool vec_finite(const double *a, size_t count);
/* The largest |a_i|; infinite if some is not finite. */
double vec_largest(const double *a, size_t count);
/* The same by slices. */
double vec_largest_of(struct pool *pool, const double *a, uint32_t count);

/* vec_dot of two vectors of which some coordinates after others are at hand:
 * the same bits, however they are cut.  Begin with zeros. */
struct vec_sum {
    double lane[8];
    size_t taken; /* Of the block at hand. */
    double sum;   /* Of those before. */
};

void vec_sum_add(struct vec_sum *sum, const double *a, const double *b,
                 size_t count);
double vec_sum_end(const struct vec_sum *sum);

/* gradient_i = sum_i / rows + twice w_i. */
void vec_measure(const double *sum, double rows, double twice, const double *w,
                 size_t count, double *gradient);
/* w_i = keep w_i - scale g_i. */
void vec_descend(double keep, double scale, const double *g, size_t count,
                 double *w);

/* to_i = sum_k weight_k from_k[i], added up in the order of k from the first
 * product on; `terms` > 0.  `to` may be one of them only if terms is 1. */
void vec_weigh(const double *weight, const double *const *from, uint32_t terms,
               size_t count, double *to);
/* The same, past the caches where that can be; others find it there only after
 * vec_past_end, which is slow. */
void vec_weigh_past(const double *weight, const double *const *from,
                    uint32_t terms, size_t count, double *to);
void vec_past_end(void);

/* to_i = from_i, past the caches where that can be: for what others read, and
 * not soon. */
void vec_stream(const double *from, size_t count, double *to);

/* Adam's moments u and v take slope s_i in, which becomes what is to be
 * subtracted from the weight.  Kingma & Ba, "Adam", ICLR 2015.  The root is one
 * IEEE operation. */
struct vec_adam {
    double beta1, beta2;
    double warm1, warm2; /* 1 - beta^steps */
    double epsilon;
    double eta;
};

void vec_adam(const struct vec_adam *adam, size_t count, double *u, double *v,
              double *s);

#endif /* MATH_VEC_H */

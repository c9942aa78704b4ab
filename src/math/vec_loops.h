/*
 * vec_loops.h - one row per instruction set of vec.h (math/ only).
 */
#ifndef MATH_VEC_LOOPS_H
#define MATH_VEC_LOOPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "math/vec.h"

#define VEC_BLOCK 1024u
#define VEC_LANES 8u

/* Bits of infinity; those of a NaN are more. */
#define VEC_ENDLESS (UINT64_C(0x7ff) << 52)

struct vec_ops {
    /* lane[i % 8] += a_i b_i for i < count, a multiple of 8. */
    void (*lanes)(const double *a, const double *b, size_t count,
                  double lane[VEC_LANES]);
    bool (*finite)(const double *a, size_t count);
    double (*top)(const double *a, size_t count); /* vec_largest */
    void (*measure)(const double *sum, double rows, double twice,
                    const double *w, size_t count, double *gradient);
    void (*descend)(double keep, double scale, const double *g, size_t count,
                    double *w);
    void (*weigh)(const double *weight, const double *const *from,
                  uint32_t terms, size_t count, double *to);
    void (*weigh_past)(const double *weight, const double *const *from,
                       uint32_t terms, size_t count, double *to);
    void (*past_end)(void);
    void (*adam)(const struct vec_adam *adam, size_t count, double *u,
                 double *v, double *s);
    void (*stream)(const double *from, size_t count, double *to);
};

extern const struct vec_ops vec_avx512;

#endif /* MATH_VEC_LOOPS_H */

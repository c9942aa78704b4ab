/*
 * dense.h - one row per instruction set of the dense kernels (math/ only).
 *
 * dense_portable.c, dense_avx2.c and dense_avx512.c include dense.inc with
 * their vector width; kernel.c picks the row.
 */
#ifndef MATH_DENSE_H
#define MATH_DENSE_H

#include <stddef.h>
#include <stdint.h>

#include "math/kernel.h"

#define DENSE_BLOCK_MAX 32u /* Rows of a block, at most. */
#define DENSE_STEP      4u  /* Rows worked on together. */
#define DENSE_AHEAD     8u  /* Rows between the prefetches and their use. */
/* Doubles of a block: 16 KiB, half of the smallest L1 about. */
#define DENSE_BLOCK_DOUBLES 2048u

struct dense_ops {
    void (*gradient)(enum loss loss, const struct dense_rows *in,
                     const double *w, double *g, double *loss_sum,
                     double *scratch);
    void (*scores)(const struct dense_rows *in, const double *w, double *z);
    /* exp(x), x <= 0, and log1p(x), 0 <= x <= 1, of 8 values each: for the
     * accuracy test. */
    void (*exp8)(const double *x, double *out);
    void (*log8)(const double *x, double *out);
};

extern const struct dense_ops dense_portable;
#ifdef __x86_64__
extern const struct dense_ops dense_avx2;
extern const struct dense_ops dense_avx512;
#endif

/* NULL if there is no such variant in this build. */
const struct dense_ops *dense_ops_of(enum isa isa);

/* Rows whose doubles stay in L1 between their two uses: a multiple of
 * DENSE_STEP.  Affects speed only. */
static inline size_t dense_block_rows(size_t stride)
{
    const size_t fit = DENSE_BLOCK_DOUBLES / stride / DENSE_STEP * DENSE_STEP;

    if (fit < DENSE_STEP)
        return DENSE_STEP;
    return fit < DENSE_BLOCK_MAX ? fit : DENSE_BLOCK_MAX;
}

#endif /* MATH_DENSE_H */

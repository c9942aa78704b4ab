/*
 * dense.h - one row per instruction set of the dense kernels (math/ only).
 *
 * dense_portable.c, dense_avx2.c and dense_avx512.c include dense.inc with
 * their vector width; kernel.c picks the row.
 */
#ifndef MATH_DENSE_H
#define MATH_DENSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "math/compiler.h"
#include "math/kernel/kernel.h"

#define DENSE_BLOCK_MAX 32u /* Rows of a block, at most. */
#define DENSE_STEP      4u  /* Rows worked on together, at most. */
#define DENSE_AHEAD     8u  /* Rows between the prefetches and their use. */
/* Columns from which on a row and its weights come from far away, and those
 * between their prefetches and their use: 4 KiB of weights. */
#define DENSE_LONG 8192u
#define DENSE_FAR  512u
/* Doubles of a block: 16 KiB, half of the smallest L1 about. */
#define DENSE_BLOCK_DOUBLES 2048u

/* k / 255 to the nearest float without a division: two products whose sum is
 * rounded right for each of the 256 bytes (tests/unit/math/test_evaluation.c).
 */
#define PIXEL_HIGH 0x1.01p-8f
#define PIXEL_LOW  0x1.010102p-24f

/* Rows whose scores are known.  All arrays have room for `rows` rounded up to
 * 8; what stands there past `rows` is worked on and has no meaning. */
struct dense_slopes {
    const double *z; /* Scores. */
    const double *y;
    const double *weight; /* NULL: all 1. */
    double *r;            /* First or second derivatives; may be z itself. */
    double *loss;         /* Each of the two may be NULL: not wanted. */
    size_t rows;
};

/* What a loss of loss.inc is asked for: constants wherever it is inlined, but
 * for the parameter. */
struct loss_want {
    bool second; /* The second derivative, not the first. */
    bool loss;   /* The value too. */
    double parameter;
};

/* The scratch of a Hessian. */
struct dense_hessian {
    double *square; /* stride x stride; the lower triangle counts. */
    double *xs;     /* Rows of a block as doubles. */
    double *hx;     /* The same times h. */
};

struct dense_ops {
    void (*gradient)(struct loss loss, const struct dense_rows *in,
                     const double *w, double *g, double *loss_sum,
                     double *scratch);
    void (*hessvec)(struct loss loss, const struct dense_rows *in,
                    const double *w, const double *v, double *hv,
                    double *scratch);
    void (*hessian)(struct loss loss, const struct dense_rows *in,
                    const double *w, double *hessian, double *scratch);
    void (*slopes)(struct loss loss, bool second,
                   const struct dense_slopes *at);
    /* Rows of one stripe; of longer ones a stripe each, `count` columns. */
    void (*scores)(const struct dense_rows *in, const double *w, double *z);
    void (*stripe)(const struct dense_rows *in, const double *w, size_t first,
                   size_t count, double *z);
    /* Adds to g. */
    void (*columns)(const struct dense_rows *in, const double *r, size_t first,
                    size_t count, double *g);
    void (*widen)(const struct dense_rows *in, double *xs);
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

/* Of a variant that this machine can run. */
const struct dense_ops *dense_ops_of(enum isa isa);

static inline size_t dense_row_bytes(enum dense_storage storage, size_t stride)
{
    switch (storage) {
    case DENSE_F32:
        break;
    case DENSE_BF16:
        return stride * sizeof(uint16_t);
    case DENSE_I8:
    case DENSE_U8:
    case DENSE_PIXEL:
        return stride;
    case DENSE_BIT:
        return stride / 8;
    case DENSE_F64:
        return stride * sizeof(double);
    }
    return stride * sizeof(float);
}

/* Rows i .. i + count of a chunk, or as many as there are. */
static inline struct dense_rows dense_part(const struct dense_rows *in,
                                           uint32_t i, uint32_t count)
{
    const size_t bytes = dense_row_bytes(in->storage, in->stride);

    return (struct dense_rows){
        .storage = in->storage,
        .x = (const uint8_t *)in->x + i * bytes,
        .y = in->y + i,
        .weight = in->weight != NULL ? in->weight + i : NULL,
        .rows = in->rows - i < count ? in->rows - i : count,
        .stride = in->stride,
    };
}

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

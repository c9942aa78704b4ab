/*
 * gemm.h - the product of two matrices of floats, with the same bits anywhere.
 *
 * Every number of the result is one chain of fused multiply-adds,
 *
 *     c = init; c = fma(a[i][k], b[k][j], c) for k = 0, 1, 2, ...
 *
 * each rounded once.  Vectors run over results only, never over k, and a chain
 * that is cut stores c and loads it again: so neither the width of a vector nor
 * blocks, packing or threads change a bit, and a graphics card that walks k in
 * order has the same.  A machine without the instruction would need many for
 * each, so it is refused (gemm_machine); the portable variant calls fmaf and is
 * the oracle, not a way to train.
 */
#ifndef MATH_NET_GEMM_H
#define MATH_NET_GEMM_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "math/isa.h"

/* c = init + a b; a is m x k, b is k x n.  Distances are in floats: any matrix
 * may be the transpose of what lies in memory. */
struct gemm {
    uint32_t m, n, k;
    const float *a;
    size_t a_row, a_col;
    const float *b;
    size_t b_row, b_col;
    const float *init; /* m x n; NULL: zeros.  May be c. */
    size_t init_row;   /* 0: one row for all, a bias. */
    float *c;
    size_t c_row;
};

/* Floats that a product needs besides; aligned to a cache line they serve
 * best. */
#define GEMM_SCRATCH 278784u

/* ERR_UNSUPPORTED, with a sentence, on a machine without a fused
 * multiply-add. */
MUST_CHECK enum err gemm_machine(struct why *why);

/* The bits are the same for every isa. */
void gemm_run(enum isa isa, const struct gemm *gemm, float *scratch);
/* to[c][r] = from[r][c]; rows are as many floats apart as said. */
void matrix_turn(enum isa isa, const float *from, size_t from_row, size_t rows,
                 size_t cols, float *to, size_t to_row);
/* The definition, read off. */
void gemm_ref(const struct gemm *gemm);

#endif /* MATH_NET_GEMM_H */

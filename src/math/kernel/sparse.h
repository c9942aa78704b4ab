/*
 * sparse.h - chunks of sparse rows, added to integer sums row by row.
 *
 * Two profiles, each with its own bits (they differ from the dense ones):
 *
 *   index  every value is 1.  Weights are quantised once per round to
 *          q_j = round(w_j 2^k), |q_j| < 2^30; z_i = 2^-k sum of q_j as int64,
 *          exactly associative.  round(r_i 2^e) is added to every column of
 *          the row: no order anywhere, one exponent e for all columns.
 *   csr    z_i in 4 lanes (entry t of the row in lane t % 4, ascending), then
 *          (l0 + l2) + (l1 + l3); round((x_ij r_i) 2^e_j) is added to column
 *          j.  Exponents differ by at most 63; what is added, and any sum, is
 *          below 2^57.
 *
 * HESSVEC: t_i from v as z_i from w (its own k), and h_i t_i for r_i.  r, h,
 * weights and the order of the loss are those of kernel.h.  Rounding is to
 * nearest, ties to even.  k is the largest with |w_j| 2^k < 2^30 for all j, at
 * most 1022 and 0 if all w are 0; a q_j that rounds to 2^30 becomes 2^30 - 1.
 * Multiply, then add, never fused.
 *
 * While chunks of profile csr are added, a sum of the tally carries its
 * exponent with it, in the bits below:
 *
 *     |  sum_j, 58 bits  | e_j - least e, 6 bits |
 *
 * A table of exponents would be one more cache line to wait for per entry.
 * Settling the tally makes plain sums of them again.
 */
#ifndef MATH_SPARSE_H
#define MATH_SPARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "math/evaluation.h"
#include "math/exact/tally.h"
#include "math/kernel/kernel.h"

#define SPARSE_WEIGHT_BITS   30
#define SPARSE_CSR_BITS      57 /* |any csr sum| < 2^57. */
#define SPARSE_EXPONENT_BITS 6
#define SPARSE_EXPONENT_SPAN 63 /* Of csr exponents. */

struct sparse_rows {
    const uint64_t *begin;  /* rows + 1 offsets into column and value. */
    const uint32_t *column; /* Ascending within a row, none twice. */
    const float *value;     /* NULL: every value is 1 (profile index). */
    const double *y;
    const double *weight; /* Sample weights; NULL: all 1. */
    uint32_t rows;
    uint32_t cols;
};

/* Quantised weights of one round (index profile): prepared once, read by all
 * threads. */
struct sparse_round {
    /* 2 cols; NULL in profile csr.  HESSVEC: q_j of w and q_j of v side by
     * side, for one cache line brings both. */
    int32_t *q;
    double unit, unit_v; /* 2^-k. */
};

MUST_CHECK enum err sparse_round_init(struct sparse_round *round,
                                      uint32_t cols);
void sparse_round_close(struct sparse_round *round);
/* ERR_RANGE if a weight is not finite. */
MUST_CHECK enum err sparse_round_prepare(struct sparse_round *round,
                                         const struct evaluation *what,
                                         uint32_t cols);

/* How a tally stands with the chunks that are being added to it.  All zero:
 * settled. */
struct sparse_desk {
    /* Not the caller's business. */
    bool carries;  /* Sums carry their exponents. */
    int16_t least; /* Of the exponents. */
    uint32_t cols;
};

/* Add a chunk to the tally, which is the desk's until it is settled: chunks of
 * one evaluation and one set of exponents.  GRADIENT and HESSVEC only; a
 * HESSVEC's loss is 0.  `round`: index only, else NULL.  ERR_RANGE (tally
 * unchanged) if a residual is not finite, if what would be added is not below
 * 2^62 (csr: 2^57), if the exponents of profile csr span too much or if the
 * loss does not fit; ERR_OVERLAP if the chunk is in already. */
MUST_CHECK enum err
sparse_add_chunk(enum isa isa, struct loss loss, const struct sparse_rows *in,
                 const struct evaluation *what,
                 const struct sparse_round *round, const int16_t *exponent,
                 uint32_t chunk, struct sparse_desk *desk, struct tally *tally);

/* After the last chunk, even if that was refused; more often does no harm. */
void sparse_settle(struct sparse_desk *desk, struct tally *tally);

/* The same in two halves, for threads that share one tally.  First they divide
 * the rows: `r` is what each of them counts for, r_i or h_i t_i.  False if one
 * is not finite. */
MUST_CHECK bool sparse_residuals(enum isa isa, struct loss loss,
                                 const struct sparse_rows *in,
                                 const struct evaluation *what,
                                 const struct sparse_round *round, double *r,
                                 double *loss_sum);

/* Then the columns: those from `first` to `end` are one thread's alone. */
struct sparse_columns {
    enum isa isa;
    uint32_t first, end;
    const int16_t *exponent; /* Of column 0; so is `sum`. */
    int16_t least;           /* Csr: see sparse_least. */
    int64_t *sum;
};

/* The least exponent; ERR_RANGE if they span too much for profile csr. */
MUST_CHECK enum err sparse_least(const int16_t *exponent, uint32_t cols,
                                 int16_t *least);
/* Around the chunks of profile csr: their sums carry exponents meanwhile. */
void sparse_columns_open(const struct sparse_columns *columns);
void sparse_columns_settle(const struct sparse_columns *columns);
/* False if something does not fit; the sums are then spoilt. */
MUST_CHECK bool sparse_columns_add(const struct sparse_columns *columns,
                                   const struct sparse_rows *in,
                                   const double *r);

/* The definition, read off; leaves nothing to settle. */
MUST_CHECK enum err sparse_add_chunk_ref(struct loss loss,
                                         const struct sparse_rows *in,
                                         const struct evaluation *what,
                                         const int16_t *exponent,
                                         uint32_t chunk, struct tally *tally);

/* Scores for prediction and metrics: the csr definition, also of index rows. */
void sparse_scores(const struct sparse_rows *in, const double *w, double *z);

#endif /* MATH_SPARSE_H */

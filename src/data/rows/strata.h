/*
 * strata.h - a few rows that stand for many: stratified samples.
 *
 * Rows are coloured (data/rows/colour.h); those of one colour are a cell, or
 * stratum.  A sample of b of m rows says which, and what each counts for:
 *
 *     random    b of m rows, whatever their colours; weight m/b
 *     strata    n_c of the N_c rows of each cell, in proportion (largest
 *               remainders, one at least); weight N_c/n_c.  The weighted sum
 *               of any function of the rows is right on average, and differs
 *               less between samples than a random one's
 *     entropy   as FlexEnt has it (Salamy et al.), to the letter: cells
 *               take turns, so that their counts are equal and the entropy of
 *               the sample's colours is the largest there is; weight m/b,
 *               whatever the cell.  Rows of rare colours count for too much
 *
 * Within a cell rows are drawn by a key, so that the sample is a function of
 * (kind, colours, b, key) and of nothing else; a larger b of the same key adds
 * rows to each cell (its rows are a prefix of one order).
 */
#ifndef DATA_STRATA_H
#define DATA_STRATA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "math/draw.h"

/* Bits of entropy of counts, `cells` of them, of `total` rows; 0 of none. */
double strata_entropy(const uint32_t *count, uint32_t cells, uint32_t total);

/* How many of each cell, which has `count` rows, m in all; b <= m.  In
 * proportion: a cell that has rows gets one at least, if there are at most b/3
 * such cells; with more of them they cannot be told apart, and it returns false
 * without an answer.  By turns (`equal`): always true. */
bool strata_share(const uint32_t *count, uint32_t cells, uint32_t b, bool equal,
                  uint32_t *take);

/* Room for samples of at most `rows` rows.  Zeroed memory is safe to close. */
struct strata {
    uint32_t rows;  /* That there is room for. */
    uint32_t *row;  /* The sample: places in `colour`, cell by cell, ... */
    double *weight; /* ... what each counts for, ... */
    uint32_t *cell; /* ... and its cell, counted from 0 among those with
                       rows; of a random sample 0. */
    uint32_t count; /* b. */
    uint32_t cells; /* That have rows: 1 of a random sample. */
    uint32_t *size; /* N_c, and ... */
    uint32_t *take; /* ... n_c of each. */
    /* Not the caller's business. */
    uint32_t *order, *first, *map;
    uint32_t colours;
};

MUST_CHECK enum err strata_init(struct strata *strata, uint32_t rows,
                                uint32_t colours);
void strata_close(struct strata *strata);

/* A sample of b, 0 < b <= m <= strata->rows, of rows whose colours, below
 * those strata_init was told of, are these. */
void strata_draw(struct strata *strata, enum draw_kind kind,
                 const uint32_t *colour, uint32_t m, uint32_t b, uint64_t key);

/* What is drawn of a sample: vectors, whose squared lengths add up to
 * squares[c] in cell c and whose sum there has the squared length sums[c]; that
 * of the sum over all cells is `sum`. */
struct strata_moments {
    const double *squares, *sums;
    double sum;
};

/* The variance of the weighted sum of the vectors, as far as the sample tells:
 * sum over cells of N_c^2 (1 - n_c/N_c) s_c^2 / n_c.  Of a cell with a single
 * row in the sample s_c^2 is the mean within the others.  Infinite: it cannot
 * be told. */
double strata_variance(const struct strata *strata,
                       const struct strata_moments *moments);

#endif /* DATA_STRATA_H */

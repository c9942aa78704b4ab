/*
 * draw.h - how a few rows are drawn that stand for many: data/rows/strata.h
 * says what each is, and draws.
 */
#ifndef MATH_DRAW_H
#define MATH_DRAW_H

#include <stdbool.h>
#include <stdint.h>

/* X(ENUMERATOR, name). */
#define DRAW_LIST(X)                                                           \
    X(STRATA, strata)                                                          \
    X(RANDOM, random)                                                          \
    X(ENTROPY, entropy)

#define DRAW_ENUM(NAME, name) DRAW_##NAME,
enum draw_kind { DRAW_LIST(DRAW_ENUM) DRAWS };
#undef DRAW_ENUM

const char *draw_name(enum draw_kind kind);
/* False if there is none of that name. */
bool draw_parse(const char *name, enum draw_kind *kind);

/* Rows of a sample of this share of m rows, above zero and at most m. */
uint32_t draw_size(double share, uint32_t m);

/* No row of a sample weighs more, times what all would weigh alike. */
#define DRAW_WEIGHT_MOST 3u

/* The powers of two that samples of this share are scaled down by, so that no
 * row counts for more than one: then sums of a sample are in any bound that
 * sums of all rows are in. */
int draw_shift(double share);

/* Variance of a sum by random groups: it was made of `groups` > 1 sums over
 * equal parts of the sample, whose squared lengths add up to `squares`; its own
 * is `square`.  `share` of the rows were in the sample. */
double draw_variance(double squares, double square, uint32_t groups,
                     double share);

#endif /* MATH_DRAW_H */

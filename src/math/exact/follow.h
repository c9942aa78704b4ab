/*
 * follow.h - the scale of sums that no bound is proved for (TALLY-4).
 *
 * What a user's function returns for a chunk, or a network's gradient, is
 * bounded by nothing we know, so the scale follows the sizes seen.  Coordinates
 * are taken in blocks: of a user's function one each up to FOLLOW_BLOCKS_MAX
 * coordinates, of a network its tensors.  The size of a block in a chunk is its
 * largest |value|, rounded up to the grid.  Sizes travel as more coordinates
 * of the tally, behind the sums, and are summed like them:
 *
 *     weights, sums   [ 0 .. dims )            the user's, or the parameters
 *                     [ dims .. dims+blocks )  weights 0; sums S_b of sizes
 *                     [ dims+blocks ]          the same of |loss|
 *
 * so that they need no message of their own, merge in any order, and are the
 * same however the chunks were dealt out.  Of K chunks one of block b must stay
 * below 2^p_b, which is 2^B on the grid, B = min(bits, 62 - ceil(log2 K)) and
 * bits FOLLOW_BITS or less: no sum of K of them reaches 2^62.
 *     p_b of the next evaluation = 4 + ceil(log2 max(S_b, 2^-20 max S)),
 * where a sum within 2^-40 above a power of two counts as that power.
 * A chunk is at most S_b, so the same point always fits, with a factor of 16 to
 * spare, and 16 K for one chunk among K equal ones.  The sum S_b has B - 4
 * bits, of FOLLOW_BITS 47 for up to 2,048 chunks and 42 for 65,536 (docs/api.md
 * has what was measured).  The loss is a block of its own, whose p follows its
 * own S alone: the losses of chunks may cancel, their sizes do not.  Its sum
 * has 110 bits, so the grid is 2^-94 of 2^p or finer.
 *
 * An evaluation is done again
 *
 *     with p + 20, + 40, + 80 ...  if a chunk is refused because a value of it
 *                                  is not below 2^p_b.  Each chunk is judged by
 *                                  itself, so who merged it does not matter
 *     with the p of its own sizes  if the largest of these, or the loss's, is
 *                                  2^10 below what p was made for: too few
 *                                  bits would be left.  The first evaluation
 *                                  is, as a rule, until the sum of every block
 *                                  within 2^-20 of the largest has 24 bits, a
 *                                  float's: what it began with says nothing of
 *                                  any.  Smaller ones are taken for that large,
 *                                  then and later.  Later, a block that falls
 *                                  alone, as those behind a relu that is 0 for
 *                                  all of a batch do, has fewer bits this once,
 *                                  and costs no evaluation
 *
 * Both follow from the chunks' sums and from nothing else, so every machine
 * that replays the same evaluations has the same scales.
 */
#ifndef MATH_FOLLOW_H
#define MATH_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "math/exact/scale.h"

#define FOLLOW_BITS       51 /* Of a chunk on the grid, at most. */
#define FOLLOW_BLOCKS_MAX 4096u
#define FOLLOW_SIZES_MAX  (FOLLOW_BLOCKS_MAX + 1) /* And the loss's. */
#define FOLLOW_KINDS      2u                      /* GRADIENT and HESSVEC. */

struct follow {
    struct scale scale;
    uint32_t dims, chunks;
    int bits;                       /* B. */
    uint32_t blocks;                /* How many, ... */
    uint32_t *end;                  /* ... and where each ends. */
    int16_t *power[FOLLOW_KINDS];   /* p; blocks of them, then the loss's. */
    int16_t *settled[FOLLOW_KINDS]; /* ... when the evaluation began. */
    int16_t *refused;               /* p at the last refusal. */
    uint32_t refusals, repetitions; /* Of the evaluation at hand. */
};

/* Weights of a job of `dims` weights of the user's, sizes included. */
uint32_t follow_dims(uint32_t dims);

MUST_CHECK enum err follow_init(struct follow *follow, uint32_t dims,
                                uint32_t chunks);
/* The same of `blocks` blocks, at most FOLLOW_BLOCKS_MAX, that end at `end`,
 * ascending: weights of such a job are end[blocks - 1] + blocks + 1. */
MUST_CHECK enum err follow_init_blocks(struct follow *follow,
                                       const uint32_t *end, uint32_t blocks,
                                       int bits, uint32_t chunks);
void follow_close(struct follow *follow); /* Zeroed memory is safe to close. */

/* Worker: fill in the sizes behind `values` (follow_dims of them).  False if
 * a value or the loss is not finite or beyond its limit. */
bool follow_measure(uint32_t dims, uint32_t chunks, const int16_t *exponent,
                    double loss, double *values);
/* For those who know the sizes of blocks on the grid: B, and |loss| in units of
 * the grid of its size.  False if that is beyond its limit. */
int follow_bits(int bits, uint32_t chunks);
bool follow_measure_loss(int bits, uint32_t chunks, int16_t exponent,
                         double loss, int64_t *units);

#endif /* MATH_FOLLOW_H */

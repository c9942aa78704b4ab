/*
 * erasure.h - coded data over the reals: P blocks, any L of which give all.
 *
 * Block p is sum_l G[p][l] X_l of L parts of the rows; blocks 0..L-1 are the
 * parts themselves, the others have N(0,1)/sqrt(L) from a counter-based
 * generator keyed (seed, p, l), so that any party makes row p of G without the
 * others.  Of a set S of L blocks the parts whose own block is not in S are
 * missing, and only those are solved for: with C the coded blocks of S and M
 * the missing parts
 *
 *     y_M = A (c_C - G[C,T] y_T),  A = G[C,M]^-1,    so that  y_M = W c_S
 *
 * for the answers c of all of S; y_T, of the parts T that are in S, is a copy,
 * to the bit.  W (missing x L) is what is kept of a set: it is G_S^-1 without
 * the rows that are trivial, its products run along the rows of many right
 * sides at once, and the condition number of G_S is known exactly, not
 * estimated.  W is solved for with one correction; the error of y is |W| times
 * that of the answers (`amplification`) and `residual` |y|.
 *
 * With L + 1 blocks W is that of least squares: where A is nearly singular one
 * more equation mends it (docs/elastic.md, "How exact").
 *
 * The transpose serves X^T r (docs/elastic.md): u = G_S^-T r, block p of S
 * computes its rows times u_p, and the sum over S is X^T r, because sum_p
 * G[p][l] u_p = r_l.
 */
#ifndef CODE_ERASURE_H
#define CODE_ERASURE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "code/blockset.h"

#define ERASURE_SPARE     2u   /* Answers that are looked at beyond L. */
#define ERASURE_KEPT      8u   /* Sets, at least. */
#define ERASURE_DRAWS     30u  /* The best of so many matrices is taken. */
#define ERASURE_RCOND     1e-9 /* Worse than this is not decoded in fp64 ... */
#define ERASURE_RCOND_F32 1e-5 /* ... or where blocks are stored in fp32. */

/* How one set of blocks is undone. */
struct erasure_set {
    struct blockset blocks;
    uint32_t count;        /* Blocks: L, or L + 1. */
    uint32_t copies;       /* The first so many of them are parts. */
    uint32_t missing;      /* Parts that are solved for: L - copies. */
    const uint32_t *block; /* count, ascending. */
    const uint32_t *part;  /* missing, ascending. */
    const double *weight;  /* W: missing x count. */
    double rcond;          /* 1 / (|G_S|_1 |G_S^-1|_1); 0 if singular. */
    double residual;       /* max |W G_S - I| over the missing parts, and
                              `rounding` of the answers, amplified. */
    double amplification;  /* max sum_s |W_ms|; 1 if none is missing. */
};

struct erasure_room;

struct erasure {
    uint32_t parts;  /* L */
    uint32_t blocks; /* P */
    uint64_t seed;   /* The draw's, for erasure_row. */
    double rounding; /* Of an answer, relative; 0: residuals do not tell.  Set
                        before any set is looked for. */
    double *row;     /* G: blocks x parts. */
    struct erasure_room *room;
};

/* Row p of G, of a draw's own seed. */
void erasure_row(uint64_t seed, uint32_t parts, uint32_t block, double *row);

/* Draw up to ERASURE_DRAWS matrices from the seed and keep the one whose worst
 * set is the best: all sets if they are few, otherwise neighbours and a sample
 * (fewer draws where blocks are many: some 50 ms at most).  1 <= parts <=
 * blocks
 * <= BLOCKS_MAX.  Zeroed memory is safe to close. */
MUST_CHECK enum err erasure_init(struct erasure *erasure, uint32_t parts,
                                 uint32_t blocks, uint64_t seed);
void erasure_close(struct erasure *erasure);

/* How to undo a set of L or L + 1 blocks.  Sets are kept until room is needed,
 * the one not used for longest first: *set lives at least until ERASURE_KEPT
 * others were asked for.  Allocates nothing.  ERR_UNDECODABLE:
 * fewer than L, or singular to rounding. */
MUST_CHECK enum err erasure_find(const struct erasure *erasure,
                                 const struct blockset *blocks,
                                 const struct erasure_set **set);
/* Is its condition at least as good, and so is what it restores? */
bool erasure_serves(const struct erasure_set *set, double rcond,
                    double residual);
/* The set to decode with when these have answered: the parts themselves and the
 * first of the others, L in all, and one more (of the next ERASURE_SPARE, the
 * first that helps) if it does not serve and there is one.  If the set that
 * comes does not either, wait for another answer. */
MUST_CHECK enum err erasure_pick(const struct erasure *erasure,
                                 const struct blockset *answered, double rcond,
                                 double residual,
                                 const struct erasure_set **set);

/* Parts from answers: answer[i] has `rows` numbers of block set->block[i], for
 * i < count; part[l] becomes those of part l.  A part whose own block answered
 * is a copy and may be the same memory; NULL is not asked for. */
void erasure_decode(const struct erasure_set *set, size_t rows,
                    const double *const *answer, double *const *part);
/* The transpose: from `rows` numbers r[l] of each part, u[i] for block
 * set->block[i], of a set of L. */
void erasure_spread(const struct erasure *erasure,
                    const struct erasure_set *set, size_t rows,
                    const double *const *r, double *const *u);

#endif /* CODE_ERASURE_H */

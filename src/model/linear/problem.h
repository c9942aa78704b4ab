/*
 * problem.h - a model on a data set: its sums over chunks.
 *
 * A problem has one weight vector, or (softmax) one for each class, class after
 * class, `stride` apart: all sums over rows have that layout too.
 */
#ifndef MODEL_PROBLEM_H
#define MODEL_PROBLEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/pool.h"
#include "data/rows/dataset.h"
#include "math/evaluation.h"
#include "math/exact/tally.h"
#include "math/kernel/kernel.h"
#include "math/kernel/sparse.h"
#include "model/linear/memo.h"
#include "model/model.h"

struct bounds;

/* One machine's worth of work.  Borrowed: data, bounds. */
struct problem {
    const struct dataset *data;
    const struct model_ops *model;
    enum isa isa;
    uint32_t outputs; /* Weight vectors, one after the other; 0 means 1. */
    const struct bounds *bounds; /* Of these rows, for who would measure them
                                    again; NULL: not known. */
};

/* The problem with its kinks softened as `soft` of struct evaluation says: not
 * at all (0), or k to a width of 2^-(k - 1).  Other losses have none. */
struct problem problem_soft(const struct problem *problem, uint32_t soft);

/* No problem has more weights. */
#define PROBLEM_DIMS_MAX DATA_COLS_MAX

/* As many outputs as the model and the data's classes ask for. */
struct problem problem_of(const struct dataset *data, enum model_kind kind,
                          enum isa isa);
uint32_t problem_outputs(const struct problem *problem);
/* Weights of the problem: the stride (columns rounded up to 8) per output. */
uint32_t problem_dims(const struct problem *problem);
/* What names a model: of its weights, not of their padding. */
struct digest problem_hash(const struct problem *problem, const double *w);
/* The index profile: weights become integers once a round, and all columns
 * share an exponent.  Softmax reads such rows as csr ones of values 1. */
bool problem_quantises(const struct problem *problem);

/* What is prepared once per round and then read by all threads.  Zeroed
 * memory is safe to close. */
struct problem_round {
    struct sparse_round sparse;
    struct memo memo;
};

MUST_CHECK enum err problem_round_init(struct problem_round *round,
                                       const struct problem *problem);
void problem_round_close(struct problem_round *round);
/* ERR_RANGE if w or v is not finite. */
MUST_CHECK enum err problem_round_prepare(struct problem_round *round,
                                          const struct problem *problem,
                                          const struct evaluation *what);
/* The weights may have changed while they were used: what was kept for others
 * that equal them is nothing. */
void problem_round_forget(struct problem_round *round);

/* A Hessian is asked for only where it is small: dense rows, one output and
 * at most PROBLEM_HESSIAN_DIMS weights. */
#define PROBLEM_HESSIAN_DIMS KERNEL_HESSIAN_STRIDE
bool problem_has_hessian(const struct problem *problem);

/* Scratch for one thread of problem_add, whatever is asked; zero at first. */
size_t problem_scratch_bytes(const struct problem *problem);

/* Does a thread write a vector as long as the model, besides its tally? */
bool problem_has_vector(const struct problem *problem,
                        enum evaluation_kind kind);

/* May tallies of this kind be blank at first, or must they be cleared? */
bool problem_stores(const struct problem *problem, enum evaluation_kind kind);

/* Compute `chunk` and add it to the tally, whose dims are those of `what`.
 * `round` has been prepared for `what`.  ERR_RANGE: does not fit.  Scratch and
 * tally belong together, with `what` and the exponents, until they are
 * settled; nobody else reads the tally before. */
MUST_CHECK enum err problem_add(const struct problem *problem,
                                const struct problem_round *round,
                                const struct evaluation *what, uint32_t chunk,
                                const int16_t *exponent, void *scratch,
                                struct tally *tally);

/* Consecutive chunks that are best added together: 1 but for the Hessian of
 * bit rows. */
uint32_t problem_batch(const struct problem *problem,
                       enum evaluation_kind kind);
/* Add chunks [first, first + count), count <= problem_batch.  After an error
 * some of them may be in. */
MUST_CHECK enum err problem_add_batch(const struct problem *problem,
                                      const struct problem_round *round,
                                      const struct evaluation *what,
                                      uint32_t first, uint32_t count,
                                      const int16_t *exponent, void *scratch,
                                      struct tally *tally);
/* After the last chunk of a tally, even if that failed. */
void problem_settle(const struct problem *problem, void *scratch,
                    struct tally *tally);

/* Threads may also share one tally: of a wide model one for each is much memory
 * and long to add up.  First they divide rows, by chunks, then columns.  The
 * same bits. */
bool problem_shares(const struct problem *problem, enum evaluation_kind kind);

/* What each row of the chunk counts for, and its loss.  ERR_RANGE if that is no
 * number. */
MUST_CHECK enum err problem_residuals(const struct problem *problem,
                                      const struct problem_round *round,
                                      const struct evaluation *what,
                                      uint32_t chunk, void *scratch, double *r,
                                      double *loss);

/* The scores of few long rows may be divided, too: by stripes (kernel.h), of
 * which there are so many; 1: by chunks alone.  Then the rest of
 * problem_residuals from the sums of all stripes, one after the other. */
uint32_t problem_stripes(const struct problem *problem);
void problem_stripe(const struct problem *problem, const double *w,
                    uint32_t chunk, uint32_t stripe, double *sums);
void problem_joined(const struct problem *problem,
                    const struct evaluation *what, uint32_t chunk,
                    const double *by_w, const double *by_v, void *scratch,
                    double *r, double *loss);

/* Columns cut into `count` spans of about the same work, as far as a look at
 * chunks [chunk, end_chunk) tells: span i is at[i] to at[i + 1], multiples of
 * 8, and may be empty. */
void problem_spans(const struct problem *problem, uint32_t chunk,
                   uint32_t end_chunk, uint32_t count, uint32_t *at);

/* Chunks [chunk, end_chunk) with their residuals, each chunk_rows from the
 * last one's. */
struct problem_share {
    uint32_t chunk, end_chunk;
    const double *r;
    const int16_t *exponent;
    int16_t least; /* By problem_share_begin. */
};

MUST_CHECK enum err problem_share_begin(const struct problem *problem,
                                        struct problem_share *share);
/* Columns [first, end) of these chunks, a span; those of a blank tally are
 * stored.  Marks no chunk.  ERR_RANGE: does not fit, and the tally is
 * spoilt. */
MUST_CHECK enum err problem_add_columns(const struct problem *problem,
                                        const struct problem_share *share,
                                        uint32_t first, uint32_t end,
                                        const struct tally *tally);

/* Scores of all rows to their slopes dloss/dz, times sample weights, in place;
 * returns the loss sum.  One output; `soft` as in struct evaluation. */
double problem_slopes(const struct problem *problem, uint32_t soft, double *z);
/* The same to second derivatives. */
void problem_bends(const struct problem *problem, uint32_t soft, double *z);

/* The gradient at w, with a round of its own: slow on index data. */
MUST_CHECK enum err problem_add_chunk(const struct problem *problem,
                                      const double *w, uint32_t chunk,
                                      const int16_t *exponent, void *scratch,
                                      struct tally *tally);

/* 1 / (estimated Lipschitz constant of the mean loss + l2 |w|^2): power
 * iteration with the exact kernel over at most 16 evenly spaced chunks, times
 * 1.1; deterministic. */
MUST_CHECK enum err problem_default_rate(const struct problem *problem,
                                         double l2, double *rate);

#endif /* MODEL_PROBLEM_H */

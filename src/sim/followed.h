/*
 * followed.h - a function of which nothing is proved, as users bring one.
 *
 * It is the problem's own gradient (or its Hessian times a vector) times a
 * power of two, handed over chunk by chunk as real numbers: what the scale
 * makes of them follows the sizes seen (math/exact/follow.h).  Far from the
 * scale that evaluations begin with, it is refused or evaluated again first.
 */
#ifndef SIM_FOLLOWED_H
#define SIM_FOLLOWED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "eval/user.h"
#include "math/exact/follow.h"
#include "math/exact/tally.h"
#include "model/linear/bounds.h"
#include "model/linear/problem.h"

struct followed {
    bool on;
    int shift;            /* The problem's values, times 2^shift. */
    uint32_t dims;        /* Of the problem; the job has follow_dims. */
    struct follow follow; /* Of the machine that trains alone. */
    struct tally one;     /* A chunk on the proved scale, ... */
    int16_t *exponent;    /* ... which is this. */
    double *values;       /* What the function says of it, and its sizes. */
};

MUST_CHECK enum err followed_init(struct followed *followed, uint32_t dims,
                                  uint32_t chunks, int shift);
void followed_close(struct followed *followed);

/* `round` is prepared for `problem` and `what`. */
struct followed_call {
    const struct problem *problem;
    const struct bounds *bounds;
    const struct problem_round *round;
    const struct evaluation *what;
    void *scratch;
};

/* Add chunks [first, end) to the tally.  ERR_TOOBIG: one does not fit this
 * scale; ERR_RANGE: it fits none. */
MUST_CHECK enum err followed_add(struct followed *followed,
                                 const struct followed_call *call,
                                 uint32_t first, uint32_t end,
                                 const int16_t *exponent, struct tally *tally);

/* The function as an evaluator calls it: of these rows, with what the oracle
 * has for it.  Borrowed. */
struct followed_function {
    struct followed *followed;
    struct problem problem;
    const struct bounds *bounds;
    struct problem_round *round;
    void *scratch;
};

struct user_function followed_user(struct followed_function *function);

/* All chunks on one scale after the other until the sums stand: follow_dims of
 * them, and the loss behind.  ERR_RANGE: no scale fits. */
MUST_CHECK enum err followed_sums(struct followed *followed,
                                  const struct followed_call *call,
                                  int16_t *exponent, struct tally *total,
                                  double *sums);

/* About a fifth of the seeds have a function of which nothing is proved, far
 * from the scale it begins with or near it, and half of these workers that
 * bring its data along; again from a stream of its own.  One refuser is
 * believed there, so that there is none (math/exact/follow.h). */
struct sim_options;
void followed_draw(uint64_t seed, struct sim_options *options);

#endif /* SIM_FOLLOWED_H */

/*
 * compute.h - chunks into a tally, with as many threads as there are.
 *
 * Each thread adds its chunks to a tally of its own; the parts are merged at
 * the end.  Where such parts would take much memory, threads share the tally
 * instead: they divide rows first, columns then (problem_shares).  Integers:
 * any order gives the same bits.
 */
#ifndef NODE_COMPUTE_H
#define NODE_COMPUTE_H

#include <stdint.h>

#include "base/err.h"
#include "base/flag.h"
#include "base/pool.h"
#include "math/exact/tally.h"
#include "model/linear/problem.h"

struct compute {
    struct problem problem;
    struct pool *pool;   /* Borrowed. */
    struct tally *parts; /* One per thread; of the first one: none. */
    struct {
        double *r;       /* Residuals; NULL: threads have parts. */
        double *losses;  /* One per chunk. */
        uint32_t chunks; /* That many at a time. */
        uint32_t *spans; /* Of columns, as problem_spans has them; ... */
        bool cut;        /* ... once it was asked. */
    } share;
    uint8_t **scratch; /* One per thread. */
    struct problem_round round;
    uint64_t prepared; /* Which round that is for; 0: none. */
    enum err *errs;    /* One per thread. */
    uint32_t threads;
};

struct compute_work {
    uint32_t first, end; /* Chunks. */
    enum evaluation_kind kind;
    const double *weights;
    const double *v; /* HESSVEC only. */
    uint32_t soft;   /* struct evaluation. */
    const int16_t *exponent;
    struct tally *tally; /* Blank or cleared. */
    /* A number that stands for kind, weights, v and soft: works of one round
     * share what is prepared for it.  0: prepare anew. */
    uint64_t round;
};

MUST_CHECK enum err compute_init(struct compute *compute,
                                 const struct problem *problem, uint32_t dims,
                                 uint32_t chunks, struct pool *pool);
void compute_close(struct compute *compute);

/* Tallies of a Hessian have more dims than `dims` above: fine.
 * ERR_CANCELLED once `cancel` (may be NULL) is raised, looked at between
 * chunks; ERR_RANGE if a chunk does not fit its scale. */
MUST_CHECK enum err compute_run(struct compute *compute,
                                const struct compute_work *work,
                                const struct flag *cancel);

#endif /* NODE_COMPUTE_H */

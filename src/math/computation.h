/*
 * computation.h - one evaluation over some chunks, and where its numbers go.
 *
 * The core asks for it (ACTION_COMPUTE, ACTION_JUDGE), an evaluator
 * (eval/evaluator.h) carries it out; neither knows of the other.
 */
#ifndef MATH_COMPUTATION_H
#define MATH_COMPUTATION_H

#include <stdint.h>

#include "math/blocks.h"
#include "math/evaluation.h"

struct tally;

struct computation {
    struct evaluation what;
    uint32_t first, end;      /* Chunks; of a product: its block_range, ... */
    struct block_share share; /* ... with this block. */
    uint32_t step;            /* For samplers; LOCAL: number of the average. */
    /* Of `what` (evaluation_name): computations of one name share what is
     * prepared for it.  0: prepare anew. */
    uint64_t name;
    const int16_t *exponent; /* Chunks are summed on this scale, ... */
    struct tally *tally;     /* ... here: blank or cleared. */
    double *vector;          /* Or, LOCAL, dims + 1 real numbers here; of a
                                product: its numbers. */
};

#endif /* MATH_COMPUTATION_H */

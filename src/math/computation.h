/*
 * computation.h - one evaluation over some chunks, and where its numbers go.
 *
 * The core asks for it (ACTION_COMPUTE, ACTION_JUDGE), an evaluator
 * (eval/evaluator.h) carries it out; neither knows of the other.
 */
#ifndef MATH_COMPUTATION_H
#define MATH_COMPUTATION_H

#include <stdbool.h>
#include <stdint.h>

#include "math/blocks.h"
#include "math/evaluation.h"

struct tally;

struct computation {
    struct evaluation what;
    uint32_t first, end; /* Chunks; of a product: its block_range, ... */
    const struct block_span *spans; /* ... or span_count of them, if not NULL:
                                 their numbers one behind the other, of COMBINE
                                 the sum over all rows, ... */
    uint32_t span_count;
    struct block_share share; /* ... with this block. */
    uint32_t step;            /* For samplers; LOCAL: number of the average. */
    double size;              /* Of samples: their share of the rows. */
    /* Of `what` (evaluation_name): computations of one name share what is
     * prepared for it.  0: prepare anew. */
    uint64_t name;
    const int16_t *exponent; /* Chunks are summed on this scale, ... */
    struct tally *tally;     /* ... here: blank or cleared. */
    double *vector;          /* Or, LOCAL, dims + 1 real numbers here; of a
                                product: its numbers. */
};

/* May samples have this share of the rows?  One place for all who are told a
 * size: the command line, messages, the journal, evaluators. */
#define SAMPLES_LEAST .001

static inline bool computation_samples(double size)
{
    return size >= SAMPLES_LEAST && size <= 1;
}

/* Numbers, or rows, that a product is asked for. */
static inline uint32_t computation_numbers(const struct computation *asked)
{
    uint32_t sum = asked->spans == NULL ? asked->end - asked->first : 0;

    for (uint32_t i = 0; asked->spans != NULL && i < asked->span_count; i++)
        sum += asked->spans[i].end - asked->spans[i].first;
    return sum;
}

#endif /* MATH_COMPUTATION_H */

/*
 * plan_step.h - what a step of a planned training is: all rows, or a batch of
 * them; of a network what it costs, from its text.
 */
#ifndef CLI_PLAN_STEP_H
#define CLI_PLAN_STEP_H

#include "cli/options/options.h"
#include "code/rules.h"

struct plan_step {
    uint32_t rows, batch; /* Of the data and of a step; 0: not said. */
    uint32_t chunks;      /* Of a batch; 0: as many as a code wants. */
    uint32_t steps;       /* Of a pass; 1: a step is a pass. */
    uint32_t passes;      /* --passes; 0: not said. */
    double share;         /* Of the rows that a step has, 0 to 1. */
    double work_s;        /* A worker's share of the data; 0: not known. */
    bool everywhere;      /* Every worker has all rows. */
    trait_set traits;     /* What codes must go with. */
};

/* --batch-per-worker becomes --batch.  ERR_SHAPE and others, with a sentence.
 */
MUST_CHECK enum err plan_step(struct options *options, uint32_t workers,
                              struct plan_step *step, struct why *why);

#endif /* CLI_PLAN_STEP_H */

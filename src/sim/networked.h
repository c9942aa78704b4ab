/*
 * networked.h - a network in place of a linear model: one machine's own loop
 * over its microbatches and scales, to judge the evaluators by.
 */
#ifndef SIM_NETWORKED_H
#define SIM_NETWORKED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "data/rows/dataset.h"
#include "math/evaluation.h"
#include "math/exact/follow.h"
#include "math/exact/tally.h"
#include "model/net/neural_model.h"
#include "model/net/work.h"
#include "optim/optim.h"

struct networked {
    const struct neural_model *model; /* NULL: there is no network. */
    const struct dataset *data;
    struct sampler sampler;
    uint64_t seed;
    struct follow follow; /* Of the machine that trains alone. */
    struct neural_work *work;
    float *parameters, *x, *target, *weight;
    uint32_t *row, *label;
    uint64_t *id;
    int64_t *size;
};

/* The scale of its sums; the coordinator has one of its own. */
MUST_CHECK enum err networked_follow(const struct neural_model *model,
                                     uint32_t chunks, struct follow *follow);

MUST_CHECK enum err networked_init(struct networked *net,
                                   const struct neural_model *model,
                                   const struct dataset *data, enum isa isa,
                                   const struct optim_options *optim,
                                   uint32_t chunks);
void networked_close(struct networked *net); /* Zeroed is safe. */

/* All chunks on one scale after the other until the sums stand, the loss behind
 * them.  ERR_RANGE: they never do. */
MUST_CHECK enum err networked_sums(struct networked *net, uint32_t step,
                                   const struct evaluation *what,
                                   int16_t *exponent, struct tally *total,
                                   double *sums);

#endif /* SIM_NETWORKED_H */

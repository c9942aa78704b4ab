/*
 * batched.h - what a seed draws of minibatches: which rows, for a linear model
 * or a tiny network, and whether rows are held out; and before that whether
 * samples of rows stand for late ones (code flexent).
 */
#ifndef SIM_BATCHED_H
#define SIM_BATCHED_H

#include <stdint.h>

#include "base/err.h"
#include "sim/sim.h"

#define BATCHED_HELD_OUT 3u /* Weights, no more than any model has. */

struct batched {
    struct neural_model net;       /* Without a text: there is no network. */
    double *start;                 /* Its first weights. */
    double best[BATCHED_HELD_OUT]; /* What held-out rows would have. */
};

/* One seed in eight that can has code flexent; before batches are drawn. */
MUST_CHECK enum err batched_draw_shadows(uint64_t seed,
                                         struct sim_options *options,
                                         struct why *why);
/* About a fifth of the seeds have
 * batches, half of these a network, a third of them an end by held-out rows;
 * from streams of their own, so that nothing else about a seed changes.  `data`
 * and `problem` are those of the options; rows of a network get its labels.
 * Borrowed by the options until closed. */
MUST_CHECK enum err batched_draw(struct batched *batched, uint64_t seed,
                                 struct dataset *data, struct problem *problem,
                                 struct sim_options *options, struct why *why);
void batched_close(struct batched *batched); /* Zeroed is safe. */

#endif /* SIM_BATCHED_H */

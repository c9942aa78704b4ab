/*
 * early.h - early stopping: when a training ends, and which of its weights are
 * the model, by the loss of rows that were held out.
 *
 * At the end of each pass over the rows whoever drives the trainer measures
 * that loss, which is a function of the weights; here it is decided what
 * follows from it.  No clock is read and nobody who computes is known, so that
 * the same weights lead to the same end on any machine, and after any resume.
 * A last pass that --steps cut short is not measured: a run that goes on with
 * more steps has to pass through the same decisions.
 */
#ifndef CORE_RUN_EARLY_H
#define CORE_RUN_EARLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/err.h"

/* How whoever drives a trainer measures: the loss of the held-out rows at
 * these weights, the same bits on any machine; infinite where a score is not
 * finite.  ERR_NOMEM.  Zeroed: nothing is held out. */
struct held_out {
    enum err (*loss)(void *context, const double *weights, double *loss);
    void *context;
};

struct early_options {
    uint32_t every;    /* Steps of a pass; 0: nothing is held out. */
    uint32_t patience; /* Passes without a lower loss after which it is over;
                          0: it goes on, and its last weights are the model. */
    uint32_t dims;     /* Weights. */
};

/* Only core/run/early.c assigns the fields. */
struct early {
    struct early_options options;
    uint32_t step;      /* When it was last measured; 0: not yet. */
    double loss;        /* ... and what came of it. */
    uint32_t best_step; /* When it was least, 0: never finite; ... */
    double best;
    uint32_t waited; /* ... passes since, and ... */
    double *weights; /* ... the weights then; NULL without patience. */
};

MUST_CHECK enum err early_init(struct early *early,
                               const struct early_options *options);
void early_close(struct early *early); /* Zeroed is safe. */

/* Is the loss to be measured now, `step` steps being made? */
bool early_due(const struct early *early, uint32_t step);
/* It is `loss` (NaN, infinite: nothing is worse) at these weights. */
void early_take(struct early *early, uint32_t step, double loss,
                const double *weights);
/* Has it not become less for too long? */
bool early_over(const struct early *early);
/* The weights of the best pass, or, while there is none, these. */
const double *early_model(const struct early *early, const double *weights);

/* What was measured last, and what a decision to come depends on.  Without
 * patience rows may be held out from one resume to the next, so that there is
 * always room for the former; where nothing is held out it is forgotten. */
size_t early_bytes(const struct early *early);
void early_save(const struct early *early, struct writer *out);
MUST_CHECK enum err early_load(struct early *early, struct reader *in);

#endif /* CORE_RUN_EARLY_H */

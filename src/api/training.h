/*
 * training.h - the two ways of muster_train: alone, or with workers.
 */
#ifndef API_TRAINING_H
#define API_TRAINING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hash.h"
#include "muster.h"
#include "optim/optim.h"

struct muster_model {
    double *weights;
    uint32_t dims;
    uint32_t steps;
    uint64_t evaluations;
    double objective;
    bool converged;
    int signal; /* That stopped it; 0 = none. */
    char hash[DIGEST_TEXT];
};

/* Both: ERR_CANCELLED, too, leaves a model.  `weights` become the model's. */
MUST_CHECK enum err train_alone(const struct muster_options *options,
                                const struct optim_options *optim,
                                struct muster_model *model, struct why *why);
MUST_CHECK enum err train_cluster(const struct muster_options *options,
                                  const struct optim_options *optim,
                                  struct muster_model *model, struct why *why);

#endif /* API_TRAINING_H */

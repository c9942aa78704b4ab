/*
 * training.h - muster_train with workers.
 */
#ifndef API_TRAINING_H
#define API_TRAINING_H

#include "api/options.h"

/* ERR_CANCELLED, too, leaves a model.  The weights become the model's. */
MUST_CHECK enum err train_cluster(const struct wish *wish,
                                  const struct optim_options *optim,
                                  struct muster_model *model, struct why *why);

#endif /* API_TRAINING_H */

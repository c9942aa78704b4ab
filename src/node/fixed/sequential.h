/*
 * sequential.h - sgd: one row after the other, on this machine alone.
 *
 * Not a sum over rows, so nothing that workers could share; the bits depend
 * on the data, the options and the seed, never on threads.
 */
#ifndef NODE_SEQUENTIAL_H
#define NODE_SEQUENTIAL_H

#include "node/fixed/alone.h"

/* `options` are those of OPTIM_SGD: rate, l2 > 0 (c of sgd.h is 1 / (2 l2)),
 * steps (passes), rows and seed.  ERR_RANGE: diverged.
 * ERR_CANCELLED once `cancel` (may be NULL) is raised: nothing of it is kept.
 */
MUST_CHECK enum err
sequential_train(const struct problem *problem, struct pool *pool,
                 const struct optim_options *options, const struct flag *cancel,
                 struct alone_result *result, struct why *why);

#endif /* NODE_SEQUENTIAL_H */

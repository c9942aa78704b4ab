/*
 * evaluate.h - the objective at given weights, over all rows, on this machine.
 *
 * The sums are the tallies that a training step makes, so the figure is that
 * of one perfect machine to the bit, whoever trained the weights.
 */
#ifndef NODE_EVALUATE_H
#define NODE_EVALUATE_H

#include "base/pool.h"
#include "model/linear/problem.h"
#include "optim/optim.h"

/* Weights of 0 may be NULL, and so may |gradient| of the objective.  ERR_RANGE:
 * not finite.  ERR_NOMEM. */
MUST_CHECK enum err evaluate_at(const struct problem *problem,
                                struct pool *pool,
                                const struct optim_options *options,
                                const double *w, double *objective,
                                double *gradient_norm);

/* Of a run that says it converged: may columns that are nearly one hide that f
 * can fall further (optim/hidden.h)?  ERR_NOMEM. */
MUST_CHECK enum err evaluate_hidden(const struct problem *problem,
                                    struct pool *pool,
                                    const struct optim_options *options,
                                    const double *w,
                                    struct optim_outcome *outcome);

/* Make what is said of a run true of its weights w, where it is of the point
 * before them, and judge it (optim_judge).  ERR_NOMEM. */
MUST_CHECK enum err evaluate_outcome(const struct problem *problem,
                                     struct pool *pool,
                                     const struct optim_options *options,
                                     const double *w,
                                     struct optim_outcome *outcome);

#endif /* NODE_EVALUATE_H */

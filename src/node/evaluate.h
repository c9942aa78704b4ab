/*
 * evaluate.h - the objective at given weights, over all rows, on this machine.
 *
 * The sums are the tallies that a training step makes, so the figure is that
 * of one perfect machine to the bit, whoever trained the weights.
 */
#ifndef NODE_EVALUATE_H
#define NODE_EVALUATE_H

#include "base/pool.h"
#include "model/problem.h"
#include "optim/optim.h"

/* |gradient| of the objective may be NULL.  ERR_RANGE: not finite. */
MUST_CHECK enum err evaluate_at(const struct problem *problem,
                                struct pool *pool,
                                const struct optim_options *options,
                                const double *w, double *objective,
                                double *gradient_norm);

#endif /* NODE_EVALUATE_H */

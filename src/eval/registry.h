/*
 * registry.h - the table of evaluators.
 */
#ifndef EVAL_REGISTRY_H
#define EVAL_REGISTRY_H

#include "base/sampler.h"
#include "eval/evaluator.h"
#include "model/linear/problem.h"

/* The evaluator that the brief names; NULL: there is none. */
const struct evaluator_ops *evaluator_named(const struct brief *brief);

/* Shelf and pool must outlive it.  ERR_UNKNOWN: no such evaluator, else as
 * evaluator_ops.open. */
MUST_CHECK enum err evaluator_open(const struct brief *brief,
                                   const struct shelf *shelf, struct pool *pool,
                                   struct evaluator **out);

/* The linear one of a problem whose rows are all here; `sampler` as in
 * brief_linear. */
MUST_CHECK enum err evaluator_open_problem(const struct problem *problem,
                                           const struct sampler *sampler,
                                           struct pool *pool,
                                           struct evaluator **out);

#endif /* EVAL_REGISTRY_H */

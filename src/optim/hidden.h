/*
 * hidden.h - directions whose curvature is lost in the rounding of f''.
 *
 * Columns that nearly depend on each other (start and end of a trip in seconds
 * since 1970; three columns with one and the same -999999999 for what is not
 * known) leave a pivot of f'' that is rounding, and G' f''^-1 G then proves
 * nothing.  Along such a direction v the curvature is at least
 *
 *     c = max(what the penalty gives, the pivot less the rounding of f'')
 *
 * so that the least f is at most (G'v)^2 / (2 c) below along it, with G'v as
 * large as the rounding of the sums behind G allows.  If that is not small, f
 * may be far above its least value: the two columns of which v mostly consists
 * are named.
 */
#ifndef OPTIM_HIDDEN_H
#define OPTIM_HIDDEN_H

#include "optim/optim.h"

/* Judges a run that says it converged; `factor` is that of f'' at the model or
 * near it (cholesky.h), `gradient` that of f at the model, `rounding` by how
 * much each of its numbers may be off (NULL: not known), work has dims numbers.
 * If there is such a v: outcome->doubtful; if f may fall along it:
 * OPTIM_STALLED, and outcome->hidden and outcome->beside. */
void hidden_judge(const struct optim_options *options, uint32_t dims,
                  const double *factor, const double *gradient,
                  const double *rounding, double *work,
                  struct optim_outcome *outcome);

/* Is it to be judged by a Hessian at the model? */
bool hidden_asks(const struct optim_options *options, uint32_t dims,
                 const struct optim_outcome *outcome);
/* The same from a Hessian of sums over all rows, which is factored in place. */
void hidden_judge_sums(const struct optim_options *options, uint32_t dims,
                       double *hessian, const double *gradient,
                       const double *rounding, double *work,
                       struct optim_outcome *outcome);

#endif /* OPTIM_HIDDEN_H */

/*
 * ending.h - whether a run reached what it was looking for, and what to do if
 * it did not.
 *
 *     ended      converged: |gradient| 3.1e-09
 *     ended      NOT CONVERGED: all 100 steps are made, |gradient| 0.012; ...
 *     ended      DIVERGED: the objective was 0.69 at the start; ...
 *
 * What is said is said of the model that is saved: its objective over all rows,
 * exactly, even where the code only estimated its steps.  Only where nobody has
 * all rows (--owners) may it be of the point before.
 */
#ifndef CLI_ENDING_H
#define CLI_ENDING_H

#include <jansson.h>
#include <stdbool.h>

#include "cli/run.h"
#include "learn/folds.h"

/* Lines of the result ... */
void ending_text(const struct run *run, const struct train_result *result);
/* ... and the keys objective, objective_at_model, converged, end, gradient_norm
 * and excess; of networks beats_constant. */
void ending_json(const struct run *run, const struct train_result *result,
                 json_t *object);

/* Of folds what `train` alone would say is wrong, once: columns that slow those
 * that did not converge, and that nothing was learnt. */
void ending_folds(const struct setup *setup, const struct trial *trial);

#endif /* CLI_ENDING_H */

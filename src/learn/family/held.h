/*
 * held.h - a model at its optimum whose penalty keeps all weights near 0: where
 * every column has a small spread, the penalty that is right for columns of
 * spread 1 leaves little of what the rows say, and no test of convergence sees
 * it.
 */
#ifndef LEARN_HELD_H
#define LEARN_HELD_H

#include "base/pool.h"
#include "learn/setup.h"
#include "node/run/train.h"

/* How much of the weights the penalty leaves, of a linear model that has
 * converged: result->held.  ERR_NOMEM. */
MUST_CHECK enum err held_judge(const struct setup *setup, struct pool *pool,
                               struct train_result *result);

/* That they are held down, and what to do, in `text`; NULL: they are not, or
 * were not judged. */
#define HELD_TEXT 256u
const char *held_sentence(const struct setup *setup,
                          const struct train_result *result,
                          char text[HELD_TEXT]);

#endif /* LEARN_HELD_H */

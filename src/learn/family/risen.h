/*
 * risen.h - a training that began with a model (--init) and ended with a worse
 * one: by the rows that it learns.
 */
#ifndef LEARN_RISEN_H
#define LEARN_RISEN_H

#include "learn/setup.h"
#include "node/run/train.h"

/* That the objective rose, and what helps, in `text`; NULL: it did not, or the
 * run has diverged, which says more. */
#define RISEN_TEXT 192u
const char *risen_sentence(const struct setup *setup,
                           const struct train_result *result,
                           char text[RISEN_TEXT]);

#endif /* LEARN_RISEN_H */

/*
 * load.h - the three data sets of a setup.
 */
#ifndef LEARN_LOAD_H
#define LEARN_LOAD_H

#include "learn/setup.h"

/* What sentences call the training rows. */
const char *load_name(const struct setup *setup, const struct recipe *recipe);

/* The training rows, and those to measure on that a generator has. */
MUST_CHECK enum err load_train(struct setup *setup, const struct recipe *recipe,
                               struct why *why);
/* Once the model is known.  Rows to watch may be a part of the training rows;
 * folds and grids hold theirs out by themselves. */
MUST_CHECK enum err load_valid(struct setup *setup, const struct recipe *recipe,
                               struct why *why);
/* After load_valid, which may change what these are encoded by. */
MUST_CHECK enum err load_test(struct setup *setup, const struct recipe *recipe,
                              struct why *why);

/* Do the rows to watch and to measure on fit what was built of the others? */
MUST_CHECK enum err load_check(struct setup *setup, struct why *why);

#endif /* LEARN_LOAD_H */

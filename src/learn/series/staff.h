/*
 * staff.h - the workers of one combination, where a grid tries several numbers
 * of them: `--grid "n=2,4,8"`.
 *
 * A staff is a setup of which only the workers are there: how many, what they
 * are coded by, how many threads each has.  A training lends all else from the
 * setup of the grid.
 */
#ifndef LEARN_SERIES_STAFF_H
#define LEARN_SERIES_STAFF_H

#include "learn/setup.h"

/* As many as the recipe says, if `setup` has rows enough and they go with all
 * else that was chosen. */
MUST_CHECK enum err staff_new(const struct setup *setup, struct recipe *recipe,
                              struct setup **staff, struct why *why);
void staff_free(struct setup *staff); /* Accepts NULL. */

/* The next training is theirs.  Lends what the code points to. */
void staff_take(struct setup *setup, const struct setup *staff);

#endif /* LEARN_SERIES_STAFF_H */

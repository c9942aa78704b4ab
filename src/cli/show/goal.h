/*
 * goal.h - what a training minimises, in the words that both its first and its
 * last line have, so that their numbers can be told from metrics.
 */
#ifndef CLI_GOAL_H
#define CLI_GOAL_H

#include "learn/recipe/recipe.h"
#include "learn/setup.h"

#define GOAL_TEXT 160u

/* "mean log loss + 0.01 |w|^2", in `text`, which is returned: of objectives as
 * they are shown (setup->shown_factor). */
const char *goal_text(const struct setup *setup, const struct recipe *recipe,
                      char text[GOAL_TEXT]);
/* Is that of none of the metrics, whatever the penalty? */
bool goal_is_own(const struct setup *setup);

#endif /* CLI_GOAL_H */

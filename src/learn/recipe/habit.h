/*
 * habit.h - LIBLINEAR's flags for those who know them by heart.
 *
 *     muster train -s TYPE -c C -e EPS -B BIAS -wI WEIGHT -q DATA [FILE]
 *
 * LIBLINEAR minimises F(w) = |w|^2/2 + C sum_i s_i loss_i.  With N rows that is
 * C N f(w) for our f(w) = mean loss + l2 |w|^2 and l2 = 1/(2 C N): the same
 * minimum.  Objectives are shown as F where one of -s, -c, -e, -B was given,
 * and there is a constant only with -B 1: a weight like the others, with
 * penalty.
 *
 * Types we have no twin of are refused with a sentence.  The dual solvers (1,
 * 3, 7, 12) differ from the primal ones in the road only; here they stop by the
 * primal rule.
 */
#ifndef LEARN_HABIT_H
#define LEARN_HABIT_H

#include <stdbool.h>

#include "learn/recipe/recipe.h"

/* Was one of -s, -c, -e, -B given, or a --grid of -c or -e? */
bool habit_given(const struct recipe *recipe);
/* What the flags imply for the others; before any data is read.  ERR_SHAPE or
 * ERR_UNSUPPORTED, with a sentence. */
MUST_CHECK enum err habit_settings(struct recipe *recipe, struct why *why);
/* Is a constant learnt?  Only LIBLINEAR's flags penalise it. */
bool habit_intercept(const struct recipe *recipe);
/* -e, or LIBLINEAR's default for the type. */
double habit_eps(const struct recipe *recipe, bool regression);

#endif /* LEARN_HABIT_H */

/*
 * goal.c - objectives in words: the loss, the penalty and their units.
 *
 * Networks learn numbers by half their squared error, at mean 0 and deviation
 * 1.  Objectives are shown in the units of the user's numbers, so the penalty,
 * which knows nothing of those, is multiplied by the variance, too.
 */
#include "cli/show/goal.h"

#include <stdio.h>

#include "learn/family/family.h"
#include "learn/recipe/habit.h"

bool goal_is_own(const struct setup *setup)
{
    return !setup_family(setup)->converges && !model_ops(setup->model)->classes;
}

const char *goal_text(const struct setup *setup, const struct recipe *recipe,
                      char text[GOAL_TEXT])
{
    const char *const loss = model_ops(setup->model)->loss_text;
    const bool own = goal_is_own(setup);

    if (habit_given(recipe) && !recipe_given(recipe, OPT_L2))
        (void)snprintf(
            text, GOAL_TEXT, "|w|^2/2 + %.6g * sum of %s",
            recipe_given(recipe, OPT_COST) ? recipe_real(recipe, OPT_COST) : 1,
            loss);
    else
        (void)snprintf(text, GOAL_TEXT, "%smean %s + %.6g%s |w|^2",
                       own ? "half the " : "", loss, setup->optim.l2,
                       own && setup->optim.l2 > 0 ? " var(y)" : "");
    return text;
}

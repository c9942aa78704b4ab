/*
 * habit.c - LIBLINEAR's flags translated into ours, with its objective and its
 * stopping rule.
 */
#include "learn/recipe/habit.h"

#include <string.h>

#include "base/check.h"
#include "learn/batches.h"
#include "model/linear/problem.h"

#define TYPES_MAX 22u

struct type {
    const char *model; /* NULL: there is no twin here ... */
    const char *lack;  /* ... for this reason. */
};

static const struct type types[TYPES_MAX] = {
    [0] = {.model = "logistic"},
    [1] = {.model = "svm"},
    [2] = {.model = "svm"},
    [3] = {.model = "hinge"},
    [4] = {.lack = "Crammer and Singer's multi-class svm"},
    [5] = {.lack = "the L1 penalty"},
    [6] = {.lack = "the L1 penalty"},
    [7] = {.model = "logistic"},
    [11] = {.model = "linear"},
    [12] = {.model = "linear"},
    [13] = {.lack = "the absolute loss of regression"},
    [21] = {.lack = "the one-class svm"},
};

bool habit_given(const struct recipe *recipe)
{
    return recipe_given(recipe, OPT_SOLVER) || recipe_given(recipe, OPT_COST) ||
           recipe_given(recipe, OPT_EPS) || recipe_given(recipe, OPT_BIAS) ||
           recipe_tries(recipe, OPT_COST) || recipe_tries(recipe, OPT_EPS);
}

static enum err refuse_pairs(const struct recipe *recipe, struct why *why)
{
    static const int pairs[][2] = {{OPT_SOLVER, OPT_MODEL},
                                   {OPT_SOLVER, OPT_LOSS},
                                   {OPT_COST, OPT_L2},
                                   {OPT_EPS, OPT_TOL},
                                   {OPT_BIAS, OPT_NO_INTERCEPT}};

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (recipe_given(recipe, pairs[i][0]) &&
            recipe_given(recipe, pairs[i][1]))
            return why_set(why, ERR_SHAPE,
                           "-%s and --%s say the same thing; give one of them",
                           recipe_row(pairs[i][0])->aliases,
                           recipe_row(pairs[i][1])->name);
    return ERR_OK;
}

static enum err take_type(struct recipe *recipe, struct why *why)
{
    const uint64_t number = recipe_count(recipe, OPT_SOLVER);

    CHECK(number < TYPES_MAX);
    if (types[number].model != NULL)
        return recipe_put(recipe, OPT_MODEL, types[number].model,
                          ORIGIN_DEFAULT, why);
    if (types[number].lack == NULL)
        return why_set(why, ERR_RANGE,
                       "-s %llu: LIBLINEAR has no such type; there are 0 to "
                       "7, 11, 12 and 13",
                       (unsigned long long)number);
    return why_set(why, ERR_SHAPE,
                   "-s %llu: %s is not there; 0, 1, 2, 3, 7, 11 and 12 are",
                   (unsigned long long)number, types[number].lack);
}

static enum err check_bias(const struct recipe *recipe, struct why *why)
{
    const double bias = recipe_real(recipe, OPT_BIAS);

    if (bias < 0 || bias == 1)
        return ERR_OK;
    return why_set(why, ERR_SHAPE,
                   "-B %.16g: only 1 (a constant is learnt) and -1 (none) are "
                   "there",
                   bias);
}

bool habit_intercept(const struct recipe *recipe)
{
    if (!habit_given(recipe))
        return !recipe_flag(recipe, OPT_NO_INTERCEPT);
    return recipe_given(recipe, OPT_BIAS) && recipe_real(recipe, OPT_BIAS) == 1;
}

static bool has_kink(const struct recipe *recipe)
{
    const struct model_ops *const model =
        model_named(recipe_text(recipe, OPT_MODEL));
    const struct model_ops *const loss = /* Some losses are models inside. */
        model_named(recipe_text(recipe, OPT_LOSS));

    return (model != NULL && model->kinks) || (loss != NULL && loss->kinks);
}

/* LIBLINEAR runs until its tolerance is met, and so does this; where there are
 * kinks that takes long. */
static enum err take_optimiser(struct recipe *recipe, struct why *why)
{
    const bool kinks = has_kink(recipe);
    enum err err = ERR_OK;

    if (!kinks &&
        !batches_wanted(recipe)) /* Else the columns decide, or the batches. */
        err = recipe_put(recipe, OPT_OPTIM, "newton", ORIGIN_DEFAULT, why);
    if (err == ERR_OK)
        err = recipe_put(recipe, OPT_STEPS, kinks ? "10000" : "1000",
                         ORIGIN_DEFAULT, why);
    return err;
}

enum err habit_settings(struct recipe *recipe, struct why *why)
{
    enum err err = refuse_pairs(recipe, why);

    if (err == ERR_OK && recipe_given(recipe, OPT_SVR_EPS) &&
        recipe_real(recipe, OPT_SVR_EPS) != 0)
        err = why_set(why, ERR_SHAPE, "-p %s: only 0 (least squares) is there",
                      recipe_text(recipe, OPT_SVR_EPS));
    if (err == ERR_OK && recipe_given(recipe, OPT_SOLVER))
        err = take_type(recipe, why);
    if (err == ERR_OK && recipe_given(recipe, OPT_BIAS))
        err = check_bias(recipe, why);
    if (err == ERR_OK && habit_given(recipe))
        err = take_optimiser(recipe, why);
    return err;
}

double habit_eps(const struct recipe *recipe, bool regression)
{
    if (recipe_given(recipe, OPT_EPS))
        return recipe_real(recipe, OPT_EPS);
    return regression ? 1e-4 : 1e-2;
}

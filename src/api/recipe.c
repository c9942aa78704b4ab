/*
 * recipe.c - the choices of a training, by key and text.
 */
#include <string.h>

#include "api/handle.h"
#include "base/mem.h"
#include "learn/workers.h"

/* Choices of `muster train` that arguments of functions stand for here. */
static const int refused[] = {OPT_DATA,   OPT_TEST,         OPT_FOLDS, OPT_GRID,
                              OPT_OWNERS, OPT_DATA_PRIVATE, OPT_RESUME};

enum muster_status muster_recipe_new(struct muster_recipe **recipe, char *why)
{
    OUR_FLOATS;
    struct why sentence = {{0}};
    struct muster_recipe *made;
    enum err err;

    if (recipe == NULL)
        return status_end(
            why_set(&sentence, ERR_SHAPE, "there is nowhere to put the recipe"),
            &sentence, why);
    made = mem_new(1, sizeof *made);
    if (made == NULL)
        return status_end(ERR_NOMEM, &sentence, why);
    err = recipe_init(&made->choices, &sentence);
    if (err == ERR_OK)
        *recipe = made;
    else
        muster_recipe_free(made);
    return status_end(err, &sentence, why);
}

void muster_recipe_free(struct muster_recipe *recipe)
{
    if (recipe == NULL)
        return;
    recipe_close(&recipe->choices);
    mem_free(recipe);
}

static enum err refuse(const char *key, struct why *why)
{
    const int id = recipe_find(key, strlen(key));

    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (id == refused[i])
            return why_set(why, ERR_SHAPE,
                           "%.64s is no key of a recipe: rows are given to "
                           "muster_fit, muster_predict and "
                           "muster_cross_validate",
                           key);
    return ERR_OK;
}

static enum err set(struct muster_recipe *recipe, const char *key,
                    const char *text, struct why *why)
{
    enum err err;

    if (recipe == NULL || key == NULL || text == NULL)
        return why_set(why, ERR_SHAPE, "there is no recipe, no key or no text");
    err = refuse(key, why);
    if (err == ERR_OK)
        err = recipe_set(&recipe->choices, key, text, why);
    /* The caller's mistakes, not a release's or a run's. */
    return err == ERR_UNKNOWN || err == ERR_RANGE ? ERR_SHAPE : err;
}

enum muster_status muster_set(struct muster_recipe *recipe, const char *key,
                              const char *text, char *why)
{
    OUR_FLOATS;
    struct why sentence = {{0}};
    const enum err err = set(recipe, key, text, &sentence);

    return status_end(err, &sentence, why);
}

int muster_forks(const struct muster_recipe *recipe)
{
    return recipe != NULL && workers_wanted(&recipe->choices);
}

void muster_listen(struct muster_recipe *recipe, muster_watch watch,
                   muster_log log, void *context)
{
    if (recipe == NULL)
        return;
    recipe->watch = watch;
    recipe->log = log;
    recipe->context = context;
}

bool callback_watch(const struct muster_recipe *recipe,
                    const struct muster_progress *progress)
{
    const bool more =
        recipe->watch == NULL || recipe->watch(recipe->context, progress) == 0;

    (void)floats_own(); /* It may have left others. */
    return more;
}

void callback_log(const struct muster_recipe *recipe, const char *sentence)
{
    if (recipe->log != NULL)
        recipe->log(recipe->context, sentence);
    (void)floats_own();
}

void stop_spent(struct muster_recipe *recipe)
{
    if (recipe != NULL)
        flag_lower(&recipe->stop);
}

void muster_stop(struct muster_recipe *recipe)
{
    if (recipe != NULL)
        flag_raise(&recipe->stop);
}

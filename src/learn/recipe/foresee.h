/*
 * foresee.h - what set-up will make of choices that nobody made, as far as it
 * is known before a row is read: for --print-config, which reads none.
 */
#ifndef LEARN_FORESEE_H
#define LEARN_FORESEE_H

#include "learn/recipe/recipe.h"

struct foreseen {
    const char *value; /* The text it will be; NULL: as `rule` says, ... */
    const char *rule;  /* ... or, if NULL too, as the recipe has it. */
};

struct foreseen recipe_foresee(const struct recipe *recipe, int id);

#endif /* LEARN_FORESEE_H */

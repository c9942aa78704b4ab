/*
 * recipe.c - choices by name and by number.
 */
#include "learn/recipe/recipe.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/nearest.h"

int recipe_find(const char *typed, size_t length)
{
    for (int id = 0; id < RECIPE_OPTIONS; id++)
        if (option_named(recipe_row(id), typed, length))
            return id;
    return RECIPE_OPTIONS;
}

static enum err unknown(const char *name, struct why *why)
{
    char best[OPTION_NAME_SIZE] = "", near[OPTION_NAME_SIZE];
    size_t limit = nearest_limit(name);

    for (int id = 0; id < RECIPE_OPTIONS; id++) {
        const size_t far = option_nearest(recipe_row(id), name, near);

        if (far > limit || (best[0] != '\0' && far == limit))
            continue;
        memcpy(best, near, sizeof best);
        limit = far;
    }
    if (best[0] == '\0')
        return why_set(why, ERR_UNKNOWN, "no choice is called %.48s", name);
    return why_set(why, ERR_UNKNOWN,
                   "no choice is called %.48s; did you mean %s?", name, best);
}

enum err recipe_set(struct recipe *recipe, const char *name, const char *text,
                    struct why *why)
{
    const int id = recipe_find(name, strlen(name));

    if (id == RECIPE_OPTIONS)
        return unknown(name, why);
    return recipe_put(recipe, id, text, ORIGIN_FLAG, why);
}

enum err recipe_put(struct recipe *recipe, int id, const char *text,
                    enum origin origin, struct why *why)
{
    return setting_put(&recipe->setting[id], recipe_row(id), text, origin, why);
}

enum err recipe_record_real(struct recipe *recipe, int id, double value,
                            struct why *why)
{
    char text[32];

    (void)snprintf(text, sizeof text, "%.17g", value);
    return recipe_put(recipe, id, text, ORIGIN_DEFAULT, why);
}

enum err recipe_record_count(struct recipe *recipe, int id, uint32_t value,
                             struct why *why)
{
    char text[16];

    (void)snprintf(text, sizeof text, "%u", value);
    return recipe_put(recipe, id, text, ORIGIN_DEFAULT, why);
}

enum err recipe_init(struct recipe *recipe, struct why *why)
{
    enum err err = ERR_OK;

    *recipe = (struct recipe){0};
    for (int id = 0; id < RECIPE_OPTIONS && err == ERR_OK; id++) {
        const struct option *row = recipe_row(id);

        if (row->initial != NULL)
            err = recipe_put(recipe, id, row->initial, ORIGIN_DEFAULT, why);
    }
    if (err != ERR_OK)
        recipe_close(recipe);
    return err;
}

enum err recipe_copy(struct recipe *to, const struct recipe *from,
                     struct why *why)
{
    enum err err = ERR_OK;

    for (int id = 0; id < RECIPE_OPTIONS && err == ERR_OK; id++)
        err = setting_copy(&to->setting[id], &from->setting[id]);
    return err == ERR_OK ? err : why_set(why, err, "out of memory");
}

void recipe_close(struct recipe *recipe)
{
    for (int id = 0; id < RECIPE_OPTIONS; id++)
        setting_close(&recipe->setting[id]);
}

bool recipe_given(const struct recipe *recipe, int id)
{
    return setting_given(&recipe->setting[id]);
}

bool recipe_tries(const struct recipe *recipe, int id)
{
    const char *at = recipe_text(recipe, OPT_GRID);

    while (at != NULL && *(at += strspn(at, " \t")) != '\0') {
        if (recipe_find(at, strcspn(at, "= \t")) == id)
            return true;
        at += strcspn(at, " \t");
    }
    return false;
}

const char *recipe_text(const struct recipe *recipe, int id)
{
    return recipe->setting[id].text;
}

bool recipe_flag(const struct recipe *recipe, int id)
{
    CHECK(recipe_row(id)->kind == VALUE_FLAG);
    return recipe->setting[id].low != 0;
}

uint64_t recipe_count(const struct recipe *recipe, int id)
{
    CHECK(recipe_row(id)->kind == VALUE_COUNT ||
          recipe_row(id)->kind == VALUE_SPAN);
    return recipe->setting[id].low;
}

double recipe_real(const struct recipe *recipe, int id)
{
    CHECK(recipe_row(id)->kind == VALUE_REAL);
    return recipe->setting[id].real;
}

void recipe_choose(const struct recipe *recipe, struct choices *choices)
{
    for (int id = 0; id < RECIPE_OPTIONS; id++)
        setting_choose(&recipe->setting[id], recipe_row(id), choices);
}

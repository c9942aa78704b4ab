/*
 * input.c - the reader's options, from the command's.
 */
#include "learn/recipe/input.h"

#include <string.h>

#include "base/check.h"

static enum csv_header header_of(const char *text)
{
    if (text == NULL || strcmp(text, "auto") == 0)
        return HEADER_AUTO;
    return strcmp(text, "yes") == 0 ? HEADER_YES : HEADER_NO;
}

struct source_options input_options(const struct recipe *recipe)
{
    const char *scale = recipe_text(recipe, OPT_SCALE);
    const char *missing = recipe_text(recipe, OPT_MISSING);
    struct source_options source = {
        .seed = recipe_count(recipe, OPT_SEED),
        .shape = recipe_text(recipe, OPT_SHAPE),
        .storage = recipe_text(recipe, OPT_STORAGE),
        .format = recipe_text(recipe, OPT_INPUT),
        .label = recipe_text(recipe, OPT_LABEL),
        .labels_file = recipe_text(recipe, OPT_LABELS),
        .drop = recipe_text(recipe, OPT_DROP),
        .weight = recipe_text(recipe, OPT_WEIGHT),
        .header = header_of(recipe_text(recipe, OPT_HEADER)),
        .separator = recipe_text(recipe, OPT_SEPARATOR),
        .zero_based = recipe_flag(recipe, OPT_ZERO_BASED),
        .categorical = recipe_text(recipe, OPT_CATEGORICAL),
        .pairs = recipe_flag(recipe, OPT_PAIRS),
        .cache = recipe_text(recipe, OPT_CACHE),
    };

    if (scale != NULL) {
        const bool known = scaling_parse(scale, &source.scaling);

        CHECK(known);
        source.scaling_implied = !recipe_given(recipe, OPT_SCALE);
    }
    if (missing != NULL) {
        const bool known = missing_parse(missing, &source.missing);

        CHECK(known);
    }
    return source;
}

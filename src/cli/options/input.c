/*
 * input.c - the reader's options, from the command's.
 */
#include "cli/options/input.h"

#include <string.h>

#include "base/check.h"

static enum csv_header header_of(const char *text)
{
    if (text == NULL || strcmp(text, "auto") == 0)
        return HEADER_AUTO;
    return strcmp(text, "yes") == 0 ? HEADER_YES : HEADER_NO;
}

struct source_options input_options(const struct options *options)
{
    const char *scale = option_text(options, OPT_SCALE);
    const char *missing = option_text(options, OPT_MISSING);
    struct source_options source = {
        .seed = option_count(options, OPT_SEED),
        .storage = option_text(options, OPT_STORAGE),
        .format = option_text(options, OPT_INPUT),
        .label = option_text(options, OPT_LABEL),
        .labels_file = option_text(options, OPT_LABELS),
        .drop = option_text(options, OPT_DROP),
        .weight = option_text(options, OPT_WEIGHT),
        .header = header_of(option_text(options, OPT_HEADER)),
        .separator = option_text(options, OPT_SEPARATOR),
        .zero_based = option_flag(options, OPT_ZERO_BASED),
        .categorical = option_text(options, OPT_CATEGORICAL),
        .pairs = option_flag(options, OPT_PAIRS),
        .cache = option_text(options, OPT_CACHE),
    };

    if (scale != NULL) {
        const bool known = scaling_parse(scale, &source.scaling);

        CHECK(known);
    }
    if (missing != NULL) {
        const bool known = missing_parse(missing, &source.missing);

        CHECK(known);
    }
    return source;
}

#include "cli/input.h"

#include "base/check.h"

struct source_options input_options(const struct options *options)
{
    const char *scale = option_text(options, OPT_SCALE);
    struct source_options source = {
        .seed = option_count(options, OPT_SEED),
        .storage = option_text(options, OPT_STORAGE),
        .format = option_text(options, OPT_INPUT),
        .label = option_text(options, OPT_LABEL),
        .labels_file = option_text(options, OPT_LABELS),
        .categorical = option_text(options, OPT_CATEGORICAL),
        .pairs = option_flag(options, OPT_PAIRS),
        .cache = option_text(options, OPT_CACHE),
    };

    if (scale != NULL) {
        const bool known = scaling_parse(scale, &source.scaling);

        CHECK(known);
    }
    return source;
}

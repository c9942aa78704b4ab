/*
 * metrics_show.c - metrics and hashes as text and as JSON, in one form for all
 * commands.
 */
#include "cli/show/metrics_show.h"

#include <math.h>
#include <stdio.h>

#include "cli/cli.h"
#include "data/span.h"

json_t *metrics_json(const struct setup *setup, const struct dataset *data,
                     const double *w)
{
    struct metrics metrics = metrics_none();

    if (data != NULL)
        metrics = setup_measure(setup, data, w);
    return metrics_object(&metrics);
}

static bool is_of_class(enum metric metric)
{
    return metric == METRIC_F1 || metric == METRIC_PRECISION ||
           metric == METRIC_RECALL;
}

void metrics_list(const struct metrics *metrics,
                  const struct frame_column *words, enum metric first,
                  uint32_t most, char *text, size_t size)
{
    size_t used = 0;
    uint32_t shown = 0;
    bool told = words->categories != 2;

    text[0] = '\0';
    /* The wanted one, then the others in their order. */
    for (int i = -1; i < METRICS && shown < most && used < size; i++) {
        const enum metric metric = i < 0 ? first : (enum metric)i;
        const double value = metric_value(metrics, metric);

        if (isnan(value) || (i >= 0 && metric == first))
            continue;
        used += (size_t)snprintf(text + used, size - used, "%s%s %.4g",
                                 shown == 0 ? "" : ", ", metric_name(metric),
                                 value);
        if (!told && is_of_class(metric) && used < size) {
            used += (size_t)snprintf(text + used, size - used, " (of \"%s\")",
                                     quote_text(words->category[1].text).text);
            told = true;
        }
        shown++;
    }
}

const char *hash_short(const struct digest *digest, char text[SHORT_HASH])
{
    (void)snprintf(text, SHORT_HASH, "%02x%02x..%02x", digest->bytes[0],
                   digest->bytes[1], digest->bytes[DIGEST_BYTES - 1]);
    return text;
}

#include "cli/metrics_show.h"

#include <math.h>
#include <stdio.h>

#include "cli/cli.h"

#define METRICS 7u

struct named {
    const char *name;
    double value;
};

/* All metrics in the order they are shown; NaN where they do not apply. */
static void measure(const struct setup *setup, const struct dataset *data,
                    const double *w, struct named named[METRICS])
{
    struct metrics m = {NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    struct problem problem = setup_problem(setup);

    problem.data = data;
    if (data != NULL && metrics_measure(&m, &problem, w) != ERR_OK)
        m = (struct metrics){NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    named[0] = (struct named){"accuracy", m.accuracy};
    named[1] = (struct named){"auc", m.auc};
    named[2] = (struct named){"f1", m.f1};
    named[3] = (struct named){"precision", m.precision};
    named[4] = (struct named){"recall", m.recall};
    named[5] = (struct named){"logloss", m.logloss};
    named[6] = (struct named){"mse", m.mse};
}

json_t *metrics_json(const struct setup *setup, const struct dataset *data,
                     const double *w)
{
    struct named named[METRICS];
    json_t *object = json_object();

    measure(setup, data, w, named);
    for (size_t i = 0; i < METRICS; i++)
        if (!isnan(named[i].value))
            (void)json_object_set_new(object, named[i].name,
                                      json_number(named[i].value));
    return object;
}

void metrics_text(const struct setup *setup, const struct dataset *data,
                  const double *w, char *text, size_t size)
{
    struct named named[METRICS];
    size_t used = 0;
    uint32_t shown = 0;

    text[0] = '\0';
    measure(setup, data, w, named);
    for (size_t i = 0; i < METRICS && shown < 3; i++) {
        if (isnan(named[i].value))
            continue;
        used += (size_t)snprintf(text + used, used < size ? size - used : 0,
                                 "%s%s %.4g", shown == 0 ? "" : ", ",
                                 named[i].name, named[i].value);
        shown++;
        if (used >= size)
            return;
    }
}

const char *hash_short(const struct digest *digest, char text[SHORT_HASH])
{
    (void)snprintf(text, SHORT_HASH, "%02x%02x..%02x", digest->bytes[0],
                   digest->bytes[1], digest->bytes[DIGEST_BYTES - 1]);
    return text;
}

json_t *hash_json(const struct digest *digest)
{
    char text[DIGEST_TEXT];

    return json_string(digest_text(digest, text));
}

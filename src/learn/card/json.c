/*
 * json.c - settings, metrics, hashes and classes of steps as JSON.
 */
#include "learn/card/json.h"

#include <math.h>

#include "node/host/answer.h"

json_t *hash_json(const struct digest *digest)
{
    char text[DIGEST_TEXT];

    return json_string(digest_text(digest, text));
}

json_t *name_json(const char *name)
{
    json_t *const text = name == NULL ? json_null() : json_string(name);

    return text != NULL ? text : json_string("?");
}

json_t *setting_json(const struct option *row, const struct setting *setting)
{
    if (setting->text == NULL)
        return json_null();
    switch (row->kind) {
    case VALUE_FLAG:
        return json_boolean(setting->low != 0);
    case VALUE_COUNT:
        return json_integer((json_int_t)setting->low);
    case VALUE_REAL:
        return json_real(setting->real);
    case VALUE_TEXT:
    case VALUE_CHOICE:
    case VALUE_SPAN:
    case VALUE_RUN:
        break;
    }
    return name_json(setting->text);
}

json_t *metrics_object(const struct metrics *metrics)
{
    json_t *object = json_object();

    for (int i = 0; i < METRICS; i++) {
        const double value = metric_value(metrics, (enum metric)i);

        if (!isnan(value))
            (void)json_object_set_new(object, metric_name((enum metric)i),
                                      json_number(value));
    }
    return object;
}

json_t *exactness_json(const struct coordinator_stats *stats)
{
    json_t *object = json_object();

    for (int i = EXACT_BITWISE; i <= EXACT_APPROX; i++)
        (void)json_object_set_new(
            object, exactness_name((enum exactness)i),
            json_integer((json_int_t)stats->exactness[i]));
    return object;
}

json_t *workers_json(const struct coordinator_stats *stats, bool resumed)
{
    json_t *object =
        json_pack("{s:I, s:I, s:I, s:I}", "joined", (json_int_t)stats->joined,
                  "left", (json_int_t)stats->left, "died",
                  (json_int_t)stats->died, "max", (json_int_t)stats->alive_max);

    if (resumed)
        (void)json_object_set_new(object, "since_resume", json_true());
    return object;
}

/*
 * json.h - settings, metrics, hashes and classes of steps as JSON, in one form
 * for all who tell of a training.
 */
#ifndef LEARN_JSON_H
#define LEARN_JSON_H

#include <jansson.h>

#include "base/hash.h"
#include "core/star/coordinator.h"
#include "learn/recipe/option.h"
#include "model/metrics.h"

json_t *hash_json(const struct digest *digest);
/* A file's name need not be UTF-8, JSON must be; null of NULL. */
json_t *name_json(const char *name);
/* By its kind; null: it has no value. */
json_t *setting_json(const struct option *row, const struct setting *setting);
/* {name: value} of those that were measured. */
json_t *metrics_object(const struct metrics *metrics);
/* {class: steps} by their receipts. */
json_t *exactness_json(const struct coordinator_stats *stats);
/* Of this start; `resumed`: there were others, which is said. */
json_t *workers_json(const struct coordinator_stats *stats, bool resumed);

#endif /* LEARN_JSON_H */

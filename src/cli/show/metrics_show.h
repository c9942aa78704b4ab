/*
 * metrics_show.h - metrics and hashes as people and programs read them.
 */
#ifndef CLI_METRICS_SHOW_H
#define CLI_METRICS_SHOW_H

#include <jansson.h>

#include "data/table/frame.h"
#include "learn/card/json.h"
#include "learn/setup.h"

#define SHORT_HASH    16u
#define METRICS_SHOWN 3u /* On a line about a run. */

/* "auc 0.954, accuracy 0.912": `first`, then others, at most `most` in all.  Of
 * two classes f1, precision and recall are about the second: it is said which,
 * behind the first of them, if labels are `words` (f1 0.9 (of "ok")). */
void metrics_list(const struct metrics *metrics,
                  const struct frame_column *words, enum metric first,
                  uint32_t most, char *text, size_t size);

/* {name: value} of what applies to the model, measured on `data`; {} if `data`
 * is NULL. */
json_t *metrics_json(const struct setup *setup, const struct dataset *data,
                     const double *w);
/* The first and last digits of a digest: 9f3c..e1. */
const char *hash_short(const struct digest *digest, char text[SHORT_HASH]);

#endif /* CLI_METRICS_SHOW_H */

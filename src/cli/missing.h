/*
 * missing.h - which rows steps went without, from the receipts of code `local`.
 */
#ifndef CLI_MISSING_H
#define CLI_MISSING_H

#include <jansson.h>

#include "learn/setup.h"
#include "node/run/train.h"

/* Lines of text; none if nothing was missing. */
void missing_text(const struct setup *setup, const struct train_result *result);
/* [{step, slots, silent: [slot..], rows: [[first, end]..]}..] */
json_t *missing_json(const struct setup *setup,
                     const struct train_result *result);

#endif /* CLI_MISSING_H */

/*
 * confusion_show.h - a confusion matrix as people and programs read it.
 */
#ifndef CLI_CONFUSION_SHOW_H
#define CLI_CONFUSION_SHOW_H

#include <jansson.h>
#include <stdio.h>

#include "learn/predict.h"

void confusion_show(FILE *to, const struct confusion *confusion,
                    const struct model_file *model);
/* {"labels": [], "counts": [[]], "recall": [], "precision": []} */
json_t *confusion_json(const struct confusion *confusion,
                       const struct model_file *model);

#endif /* CLI_CONFUSION_SHOW_H */

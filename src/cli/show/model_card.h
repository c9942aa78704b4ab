/*
 * model_card.h - the model cards (learn/card/model_card.h) of the command line.
 */
#ifndef CLI_MODEL_CARD_H
#define CLI_MODEL_CARD_H

#include "cli/run.h"

/* Beside a model that was just saved as a file with that sum.  What keeps it
 * from being written is told, and changes nothing. */
void model_card_write(const struct run *run, const struct train_result *result,
                      const char *model, const struct digest *sum);
void model_card_show(json_t *card);

#endif /* CLI_MODEL_CARD_H */

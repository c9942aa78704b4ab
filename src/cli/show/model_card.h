/*
 * model_card.h - a model card (Mitchell and others, FAT* 2019): what a saved
 * model was made of, beside it as MODEL.card.json.
 *
 *     model, sha256      the file's name and sum
 *     kind, net, muster  what it is, and the version that trained it
 *     data               source, hash as in the run's receipts, rows, ...
 *     options            what was chosen, not the defaults
 *     config_hash        of everything that decides bits
 *     hash               of the weights
 *     code, steps, exactness, worst_residual, workers, objective, end, metrics
 *                        as `muster train --format json` has them: exactness is
 *                        how many steps' receipts say bitwise, numeric, approx
 *
 * No time and no place of the run is in it: the same training has the same
 * card.
 */
#ifndef CLI_MODEL_CARD_H
#define CLI_MODEL_CARD_H

#include <jansson.h>

#include "cli/run.h"

/* Beside a model that was just saved as a file.  A card that cannot be written,
 * or would take the place of something else, is told and changes nothing. */
void model_card_write(const struct run *run, const struct train_result *result,
                      const char *model);
/* That of a model's file, byte for byte; NULL: there is none. */
json_t *model_card_read(const char *model);
void model_card_show(json_t *card);

#endif /* CLI_MODEL_CARD_H */

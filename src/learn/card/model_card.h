/*
 * model_card.h - a model card (Mitchell and others, FAT* 2019): what a saved
 * model was made of, beside it as MODEL.card.json, and as MODEL.card.txt in
 * lines (text.h).
 *
 *     model, sha256      the file's name and sum
 *     kind, net, muster  what it is, and the version that trained it
 *     data               source (null: arrays of the program's), hash as in the
 *                        run's receipts, or null and not_hashed, which says
 *                        why, rows, ...
 *     config_hash        of everything that decides bits, the rows' hash, too
 *     options            what was chosen of the recipe, not the defaults
 *     hash               of the weights
 *     code, steps, exactness, worst_residual, workers, objective, end,
 *     test_metrics, valid_metrics, train_metrics
 *                        as `muster train --format json` has them: exactness is
 *                        how many steps' receipts say bitwise, numeric, approx
 *     parts              instead of all from `data` on: of a model that was put
 *                        together of others, their cards
 *
 * No time and no place of the run is in it: the same training has the same
 * card.  Model and cards are files, renamed into place one after the other: of
 * runs that save under one name at once, or one that dies in between, the model
 * may be of one and a card of the other.  The sum tells, and whoever reads a
 * card asks for it.
 */
#ifndef LEARN_MODEL_CARD_H
#define LEARN_MODEL_CARD_H

#include <jansson.h>

#include "learn/fit.h"

struct model_card_metrics {
    bool rows; /* The training rows are measured, and to be hashed. */
    struct metrics train, valid, test;
};

/* `rows`: the training rows, too, in a pass over all of them. */
struct model_card_metrics model_card_measure(const struct setup *setup,
                                             const struct train_result *result,
                                             bool rows);

/* Of a training that is over: all but the file.  Hashes the rows, unless that
 * was done or is not to be.  NULL: out of memory. */
json_t *model_card_new(struct setup *setup, const struct recipe *recipe,
                       const struct train_result *result,
                       const struct model_card_metrics *metrics);
/* Of a model whose parts have these cards, an array that it takes. */
json_t *model_card_of_parts(enum model_kind kind, json_t *parts);
/* The same card as that of a file; NULL: out of memory. */
json_t *model_card_for(json_t *card, const char *model,
                       const struct digest *sum);
/* Whether it is a card, and of a file with that sum. */
bool model_card_is(const json_t *card, const struct digest *sum);

/* Beside a model's file with that sum, just saved, in both forms; `card` NULL:
 * nothing is known of its training.  The card of another file that was there is
 * gone after any outcome.  What is no card, or cannot be read, is left alone,
 * and that is an error with a sentence if a card was to be there; nothing is
 * beside what is no file. */
MUST_CHECK enum err model_card_save(json_t *card, const char *model,
                                    const struct digest *sum, struct why *why);
/* That of a model's file, byte for byte; NULL: there is none, the model cannot
 * be read, or `*other`: it is another file's. */
json_t *model_card_read(const char *model, bool *other);

#endif /* LEARN_MODEL_CARD_H */

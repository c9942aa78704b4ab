/*
 * scores.h - rows of a data set as a network takes them, and what it says of
 * them.
 */
#ifndef MODEL_NET_SCORES_H
#define MODEL_NET_SCORES_H

#include <stdint.h>

#include "base/err.h"
#include "base/pool.h"
#include "data/rows/dataset.h"
#include "model/net/neural_model.h"

/* Rows of present chunks, one after the other: each of as many of the user's
 * columns as the network has inputs, divided by its divisor. */
void neural_model_rows(const struct neural_model *model,
                       const struct dataset *data, const uint32_t *row,
                       uint32_t count, float *x);

/* The outputs of all rows, row after row, in the units of the labels; of a row
 * of weight 0, which has no part in anything, those of inputs that are all 0.
 * ERR_RANGE, with a sentence: one is not finite.  ERR_UNSUPPORTED as
 * neural_work_new; ERR_NOMEM. */
MUST_CHECK enum err neural_model_scores(const struct neural_model *model,
                                        const struct dataset *data,
                                        enum isa isa, struct pool *pool,
                                        double *z, struct why *why);

/* The sum of the rows' losses, each times its weight, by their scores. */
double neural_model_loss(const struct neural_model *model,
                         const struct dataset *data, const double *z);

#endif /* MODEL_NET_SCORES_H */

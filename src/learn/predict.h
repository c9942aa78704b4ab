/*
 * predict.h - what a model says of rows, and how often it is right where they
 * have labels that it knows.
 *
 *     model text --> weights in the data's columns --> scores --> labels
 *                                                        '--> metrics
 *
 * Labels are kept as read: rows to be judged may have none (a 0 by habit), or
 * others than the model was taught.
 */
#ifndef LEARN_PREDICT_H
#define LEARN_PREDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "data/source.h"
#include "model/file.h"
#include "model/metrics.h"

/* Zeroed but for the model it may be closed. */
struct prediction {
    const struct model_file *model; /* The caller's. */
    struct dataset data;
    bool loaded;
    double *scores;      /* outputs a row, row after row. */
    double *probability; /* The same, once asked for. */
    struct metrics metrics;
    uint32_t known; /* Rows whose label the model knows. */
};

/* By what rows are read for a model that knows no columns: tables by place, the
 * label last.  Left empty where the model has an encoder of a table. */
MUST_CHECK enum err predict_columns(const struct model_file *model,
                                    struct encoder *stand_in, struct why *why);
/* Read the rows that `source` names, with the model's columns, and score them.
 * What of `source` the model decides is set here. */
MUST_CHECK enum err predict_score(struct prediction *prediction,
                                  struct source_options *source,
                                  struct why *why);
/* After predict_score.  ERR_SHAPE if the model has none. */
MUST_CHECK enum err predict_probabilities(struct prediction *prediction,
                                          struct why *why);
/* Metrics over the rows with labels that the model knows. */
MUST_CHECK enum err predict_measure(struct prediction *prediction,
                                    struct why *why);
/* The label said of a row; of regression the value itself. */
double predict_label(const struct prediction *prediction, uint32_t row);
/* The number of that label, and of the one that a row has, in the order of the
 * model's labels; the second is model->classes if it has none or the model does
 * not know it.  Of classifiers. */
uint32_t predict_class(const struct prediction *prediction, uint32_t row);
uint32_t predict_true_class(const struct prediction *prediction, uint32_t row);
/* The label that a row has; NaN if it has none or the model does not know it.
 */
double predict_truth(const struct prediction *prediction, uint32_t row);
/* The probability of class k, in the order of the model's labels. */
double predict_probability(const struct prediction *prediction, uint32_t row,
                           uint32_t k);
/* The k likeliest classes of a row, likeliest first, the first of equals before
 * the others; k at most model->classes.  After predict_probabilities. */
void predict_top(const struct prediction *prediction, uint32_t row, uint32_t k,
                 uint32_t *best);
/* Of the rows whose label the model knows, the share where it is among the k
 * likeliest; NaN if there are none. */
double predict_top_share(const struct prediction *prediction, uint32_t k);
void predict_close(struct prediction *prediction);

/* How often each label was said of rows of each label: labels in the order of
 * the model's; rows whose label the model does not know are left out. */
struct confusion {
    uint32_t classes;
    uint64_t *count; /* [truth][said] */
};

/* After predict_score.  ERR_SHAPE, with a sentence: a regression has no labels.
 * ERR_NOMEM. */
MUST_CHECK enum err confusion_count(struct confusion *confusion,
                                    const struct prediction *prediction,
                                    struct why *why);
void confusion_close(struct confusion *confusion); /* Zeroed is safe. */

/* Of the rows of a label the share of which it was said, and of the rows of
 * which a label was said the share that has it; NaN if there are none. */
double confusion_recall(const struct confusion *confusion, uint32_t label);
double confusion_precision(const struct confusion *confusion, uint32_t label);

#endif /* LEARN_PREDICT_H */

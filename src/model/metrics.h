/*
 * metrics.h - what a model is judged by.
 */
#ifndef MODEL_METRICS_H
#define MODEL_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/pool.h"
#include "model/linear/problem.h"

/* Named metrics of scores against labels.  Of three outputs or more precision,
 * recall and f1 are means over the classes. */
struct metrics {
    double accuracy, auc, logloss, mse, r2, precision, recall, f1;
    double loss; /* What the model minimises, mean over rows: no metric. */
};

/* In the order they are shown. */
enum metric {
    METRIC_ACCURACY,
    METRIC_AUC,
    METRIC_F1,
    METRIC_PRECISION,
    METRIC_RECALL,
    METRIC_LOGLOSS,
    METRIC_MSE,
    METRIC_R2, /* 1 - mse / variance of the labels of the same rows. */
    METRICS,
};

const char *metric_name(enum metric metric);
/* ERR_UNKNOWN if there is none of that name. */
MUST_CHECK enum err metric_parse(const char *name, enum metric *metric);
/* NaN where it does not apply. */
double metric_value(const struct metrics *metrics, enum metric metric);
/* More is better. */
bool metric_rises(enum metric metric);

/* NaN where a metric does not apply to the model. */
MUST_CHECK enum err metrics_measure(struct metrics *metrics,
                                    const struct problem *problem,
                                    const double *w);

/* Nothing measured: all NaN. */
struct metrics metrics_none(void);

struct scored {
    double score;
    bool positive; /* The truth. */
};

/* Area under the ROC curve: the chance that a positive row outscores a
 * negative one, ties counting half.  NaN if there is but one class.  Sorts
 * `rows`; scores must not be NaN. */
double metrics_auc(struct scored *rows, size_t count);

/* z[rows * outputs] of the problem's data, row after row, with the weights as
 * its columns lie.  ERR_RANGE if one is not finite. */
MUST_CHECK enum err metrics_scores(const struct problem *problem,
                                   struct pool *pool, const double *w,
                                   double *z);

/* Rows whose scores are known.  Those of weight 0 are left out; every other
 * row counts once, so that metrics compare whatever the weights were. */
struct scored_rows {
    const double *z, *y;
    const double *weight; /* NULL: all are in. */
    size_t rows;
    uint32_t outputs; /* Scores of a row; 0 means 1. */
    bool falling;     /* Of two outputs the first is the larger label's. */
};

/* Of several outputs the first largest score is said and y is the number of a
 * class.  Two are judged as one score is, their difference.  Of more precision,
 * recall and f1 are means over the classes that are the truth or are said of
 * some row (macro averages; 0 where a class has none), and there is no auc.
 * ERR_SHAPE if no row is left. */
MUST_CHECK enum err metrics_of_scores(struct metrics *metrics,
                                      const struct model_ops *model,
                                      enum isa isa,
                                      const struct scored_rows *in);

#endif /* MODEL_METRICS_H */

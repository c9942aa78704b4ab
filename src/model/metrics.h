/*
 * metrics.h - metrics on scores alone; problem.h has the usual door.
 */
#ifndef MODEL_METRICS_H
#define MODEL_METRICS_H

#include <stdbool.h>
#include <stddef.h>

struct scored {
    double score;
    bool positive; /* The truth. */
};

/* Area under the ROC curve: the chance that a positive row outscores a
 * negative one, ties counting half.  NaN if there is but one class.  Sorts
 * `rows`; scores must not be NaN. */
double metrics_auc(struct scored *rows, size_t count);

#endif /* MODEL_METRICS_H */

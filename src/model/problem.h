/*
 * problem.h - a model on a data set: chunk gradients, bounds, metrics.
 *
 * One ops row per model kind (linear, logistic, svm): its loss, the constants
 * of its residual bound and its curvature.
 *
 * Bounds (TALLY-4).  |dloss/dz| of row i is at most a|y_i| + b|x_i||w|, so
 *     sum_i |g_ij| <= a U_j + b |w| V_j,   U_j = sum_i |x_ij||y_i|,
 *                                          V_j = sum_i |x_ij||x_i|.
 * U and V are integer tallies rounded up, taken once; the exponents of a round
 * are then a pure function of (U, V, |w|) and agree on every machine.
 */
#ifndef MODEL_PROBLEM_H
#define MODEL_PROBLEM_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/pool.h"
#include "data/dataset.h"
#include "math/kernel.h"
#include "math/tally.h"

enum model_kind { MODEL_LINEAR, MODEL_LOGISTIC, MODEL_SVM };

struct model_ops {
    const char *name; /* As typed: "linear", "logistic", "svm". */
    enum loss loss;
    double bound_label; /* a above. */
    double bound_score; /* b above. */
    double curvature;   /* sup of d2loss/dz2: 2, 1/4, 2. */
    const char *metric; /* Main metric: "mse", "accuracy", "accuracy". */
};

const struct model_ops *model_ops(enum model_kind kind);
/* ERR_UNKNOWN if there is no model of that name. */
MUST_CHECK enum err model_parse(const char *name, enum model_kind *kind);

/* Per-coordinate bound vectors U and V; stride entries each. */
struct bounds {
    uint32_t dims;
    double *u;
    double *v;
};

MUST_CHECK enum err bounds_init(struct bounds *bounds, uint32_t dims);
void bounds_close(struct bounds *bounds);
/* Same bits for any thread count: integer tallies, each chunk rounded up. */
MUST_CHECK enum err bounds_measure(struct bounds *bounds,
                                   const struct dataset *data,
                                   struct pool *pool);
/* exponent[0..dims) for a round at w.  ERR_RANGE if |w| is not finite. */
MUST_CHECK enum err bounds_exponents(const struct bounds *bounds,
                                     const struct model_ops *model,
                                     const double *w, int16_t *exponent);

/* One machine's worth of gradient work.  Borrowed: data. */
struct problem {
    const struct dataset *data;
    const struct model_ops *model;
    enum isa isa;
};

/* Scratch for one thread of problem_add_chunk. */
size_t problem_scratch_bytes(const struct problem *problem);

/* Compute `chunk` at w and add it to the tally.  ERR_RANGE: does not fit. */
MUST_CHECK enum err problem_add_chunk(const struct problem *problem,
                                      const double *w, uint32_t chunk,
                                      const int16_t *exponent, void *scratch,
                                      struct tally *tally);

/* 1 / (estimated Lipschitz constant of the mean loss + l2 |w|^2): power
 * iteration with the exact kernel over at most 16 evenly spaced chunks, times
 * 1.1; deterministic. */
MUST_CHECK enum err problem_default_rate(const struct problem *problem,
                                         double l2, double *rate);

/* Named metrics of scores against labels. */
struct metrics {
    double accuracy, auc, logloss, mse, precision, recall, f1;
};

/* NaN where a metric does not apply to the model. */
MUST_CHECK enum err metrics_measure(struct metrics *metrics,
                                    const struct problem *problem,
                                    const double *w);

#endif /* MODEL_PROBLEM_H */

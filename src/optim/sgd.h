/*
 * sgd.h - stochastic gradient descent, one row at a time.  Sequential: one
 * machine, or each machine on rows of its own (`local`); the model depends on
 * the order of the rows, so this cannot be a sum of tallies.
 *
 *     for every pass, for every row (x, y) in shuffled order, t = 0, 1, ..:
 *         eta = rate / (1 + t)
 *         w <- (1 - eta) w - eta c r x        r = dloss/dz at z = w.x
 *
 * (a free weight, the intercept, is not shrunk: w <- w - eta c r x), which
 * descends |w|^2 / 2 + c loss.  With the hinge (r = -y while y z <= 1)
 * it is the SVM of the reference systems: rate and c from a grid, one pass.
 * With rate 1 it is Pegasos (Shalev-Shwartz, Singer & Srebro, ICML 2007) for
 * mean loss + l2 |w|^2, where c = 1 / (2 l2).
 *
 * Arithmetic.  w is kept as scale * v, so that a row costs its entries and not
 * all columns: the shrinkage multiplies scale, and v_j gains
 * (-(eta c weight r) / scale) x_j; the free weight is kept as it is.
 * z = scale * (v.x), v.x summed entry after entry, + the free one's part.  When
 * |scale| leaves [2^-200, 2^200] it is multiplied into v; at 0 (eta = 1) v
 * begins anew.  Multiply, then add, never fused: same rows, same seed, same
 * bits.
 */
#ifndef OPTIM_SGD_H
#define OPTIM_SGD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "math/kernel/kernel.h"

struct sgd_row {
    const float *value;    /* NULL: every value is 1, or as in `wide`. */
    const uint32_t *index; /* NULL: entry t is column t. */
    uint32_t count;
    double y;
    double weight;      /* Of the sample; 1 if there are none, 0: left out. */
    const double *wide; /* NULL, or the values as doubles. */
};

/* Row i < rows, borrowed until the next call. */
typedef struct sgd_row (*sgd_row_function)(void *context, uint32_t i);

struct sgd_options {
    struct loss loss;
    double rate; /* > 0 */
    double c;    /* > 0 */
    uint32_t passes;
    uint32_t rows; /* > 0 */
    uint32_t dims; /* > 0, indices are less. */
    bool shuffle;  /* A new order each pass (Fisher-Yates), from `seed`. */
    uint64_t seed;
    bool has_free; /* The weight `free` < dims is not in |w|^2. */
    uint32_t free;
    /* Where an earlier run ended; 0, 0: there was none. */
    uint32_t pass_first;
    uint64_t seen; /* Rows visited, t. */
    /* Asked before each pass; false: no more.  May be NULL. */
    bool (*go_on)(void *context);
};

/* From w = 0.  ERR_SHAPE if an option is out of range, ERR_NOMEM, ERR_RANGE if
 * the weights are no longer finite (a smaller rate or c helps). */
MUST_CHECK enum err sgd_train(const struct sgd_options *options,
                              sgd_row_function row, void *context, double *w);
/* The same from w as it is. */
MUST_CHECK enum err sgd_train_from(const struct sgd_options *options,
                                   sgd_row_function row, void *context,
                                   double *w);

/* The order in which a pass visits the rows; order[rows]. */
void sgd_order(const struct sgd_options *options, uint32_t pass,
               uint32_t *order);

#endif /* OPTIM_SGD_H */

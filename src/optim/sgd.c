/*
 * sgd.c - stochastic gradient descent over rows in shuffled order.  The weights
 * are kept as a scale times a vector, so that a sparse row costs its entries
 * and not all columns.
 */
#include "optim/sgd.h"

#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/rng.h"
#include "math/vec.h"
#include "optim/parts.h"

#define SCALE_LEAST 0x1p-200
#define SCALE_MOST  0x1p200

struct sgd {
    const struct sgd_options *options;
    double scale;
    double *v;     /* w = scale * v ... */
    uint32_t free; /* ... but that of this column, if there is one, */
    double bias;   /* which is here. */
    uint64_t t;
};

void sgd_order(const struct sgd_options *options, uint32_t pass,
               uint32_t *order)
{
    const uint32_t rows = options->rows;
    struct rng root, rng;

    for (uint32_t i = 0; i < rows; i++)
        order[i] = i;
    if (!options->shuffle)
        return;
    rng_init(&root, options->seed);
    rng = rng_split(&root, pass);
    for (uint32_t i = rows - 1; i > 0; i--) {
        const uint32_t other = (uint32_t)rng_below(&rng, (uint64_t)i + 1);
        const uint32_t swap = order[i];

        order[i] = order[other];
        order[other] = swap;
    }
}

static uint32_t column_of(const struct sgd_row *row, uint32_t at)
{
    return row->index == NULL ? at : row->index[at];
}

static double value_of(const struct sgd_row *row, uint32_t at)
{
    if (row->wide != NULL)
        return row->wide[at];
    return row->value == NULL ? 1 : (double)row->value[at];
}

static double score(const struct sgd *sgd, const struct sgd_row *row)
{
    double z = 0, bias = 0;

    for (uint32_t t = 0; t < row->count; t++) {
        const uint32_t j = column_of(row, t);

        if (j == sgd->free)
            bias = sgd->bias * value_of(row, t);
        else
            z += sgd->v[j] * value_of(row, t);
    }
    return sgd->scale * z + bias;
}

/* dloss/dz.  At the corner of the hinge the row still counts, as in the
 * reference. */
static double slope(struct loss loss, double z, double y)
{
    if (loss.kind == LOSS_HINGE && 1 - y * z == 0)
        return -y;
    return loss_at(loss, z, y).r;
}

/* Multiply the scale into v. */
static void fold(struct sgd *sgd)
{
    for (uint32_t j = 0; j < sgd->options->dims; j++)
        sgd->v[j] *= sgd->scale;
    sgd->scale = 1;
}

static void shrink(struct sgd *sgd, double keep)
{
    const double size = fabs(sgd->scale * keep);

    sgd->scale *= keep;
    if (!(size >= SCALE_LEAST && size <= SCALE_MOST))
        fold(sgd);
}

static void visit(struct sgd *sgd, const struct sgd_row *row)
{
    const struct sgd_options *o = sgd->options;
    const double eta = o->rate / (1 + (double)sgd->t);
    double r, push, gain;

    if (row->weight == 0)
        return;
    r = slope(o->loss, score(sgd, row), row->y);
    sgd->t++;
    shrink(sgd, 1 - eta);
    push = -(eta * o->c * row->weight * r);
    gain = push / sgd->scale;
    if (r == 0)
        return;
    for (uint32_t t = 0; t < row->count; t++) {
        const uint32_t j = column_of(row, t);

        if (j == sgd->free)
            sgd->bias += push * value_of(row, t);
        else
            sgd->v[j] += gain * value_of(row, t);
    }
}

static bool options_fit(const struct sgd_options *o)
{
    return (unsigned)o->loss.kind < LOSSES && isfinite(o->rate) &&
           o->rate > 0 && isfinite(o->c) && o->c > 0 && o->rows > 0 &&
           o->dims > 0 && (!o->has_free || o->free < o->dims);
}

const struct optim_ops optim_sgd_ops = {.name = "sgd"};

enum err sgd_train(const struct sgd_options *options, sgd_row_function row,
                   void *context, double *w)
{
    if (!options_fit(options))
        return ERR_SHAPE;
    memset(w, 0, options->dims * sizeof *w);
    return sgd_train_from(options, row, context, w);
}

enum err sgd_train_from(const struct sgd_options *options, sgd_row_function row,
                        void *context, double *w)
{
    struct sgd sgd = {.options = options,
                      .scale = 1,
                      .v = w,
                      .t = options->seen,
                      .free = options->has_free ? options->free : UINT32_MAX};
    uint32_t *order;

    if (!options_fit(options))
        return ERR_SHAPE;
    order = mem_new(options->rows, sizeof *order);
    if (order == NULL)
        return ERR_NOMEM;
    if (options->has_free)
        sgd.bias = w[options->free];
    for (uint32_t pass = 0; pass < options->passes; pass++) {
        if (options->go_on != NULL && !options->go_on(context))
            break;
        sgd_order(options, options->pass_first + pass, order);
        for (uint32_t i = 0; i < options->rows; i++) {
            const struct sgd_row at = row(context, order[i]);

            visit(&sgd, &at);
        }
    }
    mem_free(order);
    fold(&sgd);
    if (options->has_free)
        w[options->free] = sgd.bias;
    return vec_finite(w, options->dims) ? ERR_OK : ERR_RANGE;
}

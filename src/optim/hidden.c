/*
 * hidden.c - a check of newton's proof against rounding.  It bounds what may
 * still be gained along a direction whose curvature the rounding of f'' hides,
 * and names the columns that cause it.
 */
#include "optim/hidden.h"

#include <math.h>
#include <string.h>

#include "math/vec.h"
#include "optim/cholesky.h"
#include "optim/parts.h"

/* A larger share of its diagonal, and a pivot is right to a few digits at
 * least: f'' is rounded once per entry, chunk and pivot. */
#define PIVOT_SURE 1e-12
/* That rounding, beside the columns' sizes. */
#define CURVATURE_ROUNDING 0x1p-50
/* A slope along a combination of columns that is less, beside what the columns
 * allow, is rounding ... */
#define SLOPE_ROUNDING 1e-14
/* ... and a promise of less of f is of no account. */
#define PROMISE_SMALL 1e-6

static const double *row_of(const double *factor, uint32_t i)
{
    return factor + cholesky_row(i);
}

/* Of f'', from its factor. */
static double diagonal_of(const double *factor, uint32_t i)
{
    const double *row = row_of(factor, i);

    return vec_dot(row, row, i + 1);
}

static double penalty_of(const struct optim_options *options, uint32_t j)
{
    const bool is_free =
        options->l2_stride > 0 && j % options->l2_stride == options->l2_free;

    return is_free ? 0 : options->l2;
}

/* What is known of f along v, for which coordinate i has a small pivot. */
struct way {
    double slope;     /* At most. */
    double size;      /* Of the columns, had none cancelled another. */
    double curvature; /* At least. */
};

static struct way way_along(const struct optim_options *options,
                            const double *factor, uint32_t i, const double *v,
                            const double *gradient, const double *rounding)
{
    const double root = row_of(factor, i)[i];
    struct way way = {.slope = fabs(vec_dot(gradient, v, i + 1))};
    double bend = 0;

    for (uint32_t j = 0; j <= i; j++) {
        way.slope += rounding == NULL ? 0 : fabs(v[j]) * rounding[j];
        way.size += fabs(v[j]) * sqrt(diagonal_of(factor, j));
        bend += 2 * penalty_of(options, j) * v[j] * v[j];
    }
    way.curvature =
        fmax(bend, root * root - CURVATURE_ROUNDING * way.size * way.size);
    return way;
}

static bool falls_along(const struct way *way,
                        const struct optim_outcome *outcome)
{
    const double most =
        way->size * sqrt(fabs(outcome->objective_first)); /* Of slopes. */

    return way->slope > SLOPE_ROUNDING * most &&
           way->slope * way->slope >
               2 * way->curvature * PROMISE_SMALL * fabs(outcome->objective);
}

/* The other column of which v mostly consists. */
static uint32_t largest_of(const double *factor, uint32_t i, const double *v)
{
    double most = 0;
    uint32_t at = i;

    for (uint32_t j = 0; j < i; j++) {
        const double size = fabs(v[j]) * sqrt(diagonal_of(factor, j));

        if (size > most) {
            most = size;
            at = j;
        }
    }
    return at;
}

void hidden_judge(const struct optim_options *options, uint32_t dims,
                  const double *factor, const double *gradient,
                  const double *rounding, double *work,
                  struct optim_outcome *outcome)
{
    for (uint32_t i = 0; i < dims; i++) {
        const double root = row_of(factor, i)[i];
        struct way way;

        if (!(root * root < PIVOT_SURE * diagonal_of(factor, i)))
            continue;
        outcome->doubtful = true;
        cholesky_null(factor, dims, i, work);
        way = way_along(options, factor, i, work, gradient, rounding);
        if (falls_along(&way, outcome)) {
            outcome->end = OPTIM_STALLED;
            outcome->hidden = i;
            outcome->beside = largest_of(factor, i, work);
            return;
        }
    }
}

bool hidden_asks(const struct optim_options *options, uint32_t dims,
                 const struct optim_outcome *outcome)
{
    const double norm = outcome->gradient_norm;

    return outcome->end == OPTIM_CONVERGED &&
           (options->kind == OPTIM_LBFGS || options->line ||
            outcome->doubtful) &&
           !options->kinks && options->tol <= 0 && options->gap <= 0 &&
           dims <= OPTIM_DENSE_MAX &&
           norm * norm >
               4 * options->l2 * PROMISE_SMALL * fabs(outcome->objective);
}

/* What a step of Newton's method would gain: G' f''^-1 G / 2. */
static double decrement(uint32_t dims, const double *factor,
                        const double *gradient, double *work)
{
    memcpy(work, gradient, dims * sizeof *work);
    cholesky_solve(factor, dims, work);
    return vec_dot(gradient, work, dims) / 2;
}

void hidden_judge_sums(const struct optim_options *options, uint32_t dims,
                       double *hessian, const double *gradient,
                       const double *rounding, double *work,
                       struct optim_outcome *outcome)
{
    size_t at = 0;

    for (uint32_t i = 0; i < dims; i++) {
        for (uint32_t j = 0; j <= i; j++, at++)
            hessian[at] /= (double)options->rows;
        hessian[at - 1] += 2 * penalty_of(options, i);
    }
    cholesky_factor(hessian, dims);
    hidden_judge(options, dims, hessian, gradient, rounding, work, outcome);
    /* Without a metric the curvature that a run went by may be any. */
    if (options->line && !outcome->doubtful &&
        decrement(dims, hessian, gradient, work) >
            PROMISE_SMALL * fabs(outcome->objective)) {
        outcome->end = OPTIM_STALLED;
        outcome->hidden = outcome->beside = 0;
    }
}

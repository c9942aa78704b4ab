/*
 * newton.c - Newton's method for convex losses.
 *
 *     FIRST --gradient at b--> CURVATURE --> TRIAL --accepted--> update
 *                                  ^ |        ^ |                 | |
 *                       more CG ---+-+        | +-- shorter step  | |
 *                                  |          +-- same Hessian ---+ |
 *                                  +--------------------------------+
 *
 * Few weights: the Hessian is evaluated whole and factored.  It costs as much
 * as many gradients, so it serves until that many were spent, corrected after
 * each step by what the gradients showed (quasi.c).  Whoever does not know how
 * many steps are to come pays at most twice what he would if he knew.
 *
 * Many weights: conjugate gradients on f'' p = -G, cut short far from the
 * optimum, where an accurate direction buys nothing (Dembo, Eisenstat &
 * Steihaug, "Inexact Newton Methods", SIAM J. Numer. Anal. 1982).
 *
 * Both then try the full step; the loss is convex, so shorter ones are rarely
 * needed.  Where trials on a line cost nothing (line.c) the best step is taken.
 */
#include <math.h>
#include <string.h>

#include "math/vec.h"
#include "optim/cholesky.h"
#include "optim/parts.h"

enum newton_phase { FIRST, CURVATURE, TRIAL, METRIC, LINE, PHASES };

/* Residual, relative to the gradient, at which conjugate gradients end: this,
 * or less near the optimum. */
#define FORCING_MAX 0.25

/* A Hessian costs as many gradients as there are weights, divided by this:
 * dims^2 flops a row against 4 dims.  (Measured: 5 to 6.) */
#define HESSIAN_PRICE 4u

/* A metric costs about a product, and is taken again where the last step needed
 * so many that a better one may save more. */
#define METRIC_PRICE 10u

/* A slope along a combination of columns that is less, beside what the columns
 * allow, is rounding; one that promises less of f is of no account. */
#define MISSED_LEAST 1e-12
#define MISSED_SHARE 1e-10

/* b, gradient, direction; then pairs and factor, or r, d and the metric. */
static uint32_t vectors(const struct optim *opt)
{
    return optim_is_dense(opt)
               ? 3 + 2 * opt->options.memory + (opt->dims + 2) / 2
               : 5u + opt->options.diagonal;
}

static void place(struct optim *opt)
{
    const size_t dims = opt->dims;

    opt->b = opt->kept;
    opt->gradient = opt->kept + dims;
    opt->direction = opt->kept + 2 * dims;
    if (optim_is_dense(opt)) {
        opt->pair_s = opt->kept + 3 * dims;
        opt->pair_y = opt->pair_s + opt->options.memory * dims;
        opt->factor = opt->pair_y + opt->options.memory * dims;
    } else {
        opt->u = opt->kept + 3 * dims; /* r, the residual. */
        opt->v = opt->kept + 4 * dims; /* d, the conjugate direction. */
        opt->metric = opt->options.diagonal ? opt->kept + 5 * dims : NULL;
    }
}

static struct evaluation what(const struct optim *opt)
{
    switch ((enum newton_phase)opt->phase) {
    case CURVATURE:
        if (optim_is_dense(opt))
            return (struct evaluation){.kind = EVALUATE_HESSIAN, .w = opt->b};
        return (struct evaluation){
            .kind = EVALUATE_HESSVEC, .w = opt->b, .v = opt->v};
    case TRIAL:
        return (struct evaluation){.kind = EVALUATE_GRADIENT, .w = opt->point};
    case METRIC:
        return (struct evaluation){.kind = EVALUATE_DIAGONAL, .w = opt->b};
    case LINE:
        return line_what(opt);
    case FIRST:
    case PHASES:
        break;
    }
    return (struct evaluation){.kind = EVALUATE_GRADIENT, .w = opt->b};
}

/* From a direction of 0. */
static void begin_products(struct optim *opt)
{
    opt->phase = CURVATURE;
    memset(opt->direction, 0, opt->dims * sizeof *opt->direction);
    for (uint32_t j = 0; j < opt->dims; j++)
        opt->u[j] = -opt->gradient[j];
    optim_unscale(opt, opt->u, opt->v);
    opt->cg_rr = vec_dot(opt->u, opt->v, opt->dims);
    opt->cg_first = opt->cg_rr;
    if (opt->norm_first == 0)
        opt->norm_first = sqrt(opt->cg_rr);
}

static void take_curvature(struct optim *opt)
{
    const bool metric = opt->metric != NULL &&
                        (opt->phase == FIRST || opt->cg_round >= METRIC_PRICE);

    opt->cg_round = 0;
    opt->pairs = 0;
    opt->phase = metric ? METRIC : CURVATURE;
    if (!metric && !optim_is_dense(opt))
        begin_products(opt);
}

/* Along `direction`.  A step from curvature taken here is as long as it should
 * be if f decreases; one from older curvature must show by its slope too. */
static void begin_trials(struct optim *opt, bool fresh)
{
    opt->phase = opt->options.line ? LINE : TRIAL;
    (void)optim_begin_search(opt, 1, true,
                             fresh ? SEARCH_ARMIJO : SEARCH_WOLFE);
}

/* Is the Hessian at hand of another point, with nothing more to give? */
static bool is_worn(const struct optim *opt)
{
    return !optim_is_dense(opt) || opt->options.memory == 0 ||
           opt->cg_round >= opt->dims / HESSIAN_PRICE;
}

static void begin_step(struct optim *opt)
{
    if (is_worn(opt)) {
        take_curvature(opt);
        return;
    }
    quasi_find_direction(opt);
    begin_trials(opt, false);
}

static void take_hessian(struct optim *opt, const double *sum)
{
    const uint32_t dims = opt->dims;
    const double rows = (double)opt->options.rows;
    struct optim_span span = {0};
    size_t at = 0;

    for (uint32_t i = 0; i < dims; i++) {
        for (uint32_t j = 0; j <= i; j++, at++)
            opt->factor[at] = sum[at] / rows;
    }
    while (optim_span_next(opt, &span)) {
        for (uint32_t i = span.from; i < span.to; i++)
            opt->factor[cholesky_row(i) + i] += optim_ridge(opt, &span);
    }
}

/* Does f fall along v, where the Hessian shows no curvature?  G'v is rounding
 * if columns depend on each other exactly, and of no account if the penalty
 * alone keeps the way short. */
static bool is_missed(const struct optim *opt, const double *sum,
                      const double *v)
{
    const double slope = vec_dot(opt->gradient, v, opt->dims);
    double size = 0, bend = 0;
    struct optim_span span = {0};

    while (optim_span_next(opt, &span)) {
        for (uint32_t j = span.from; j < span.to; j++) {
            const size_t at = cholesky_row(j) + j;

            size += fabs(v[j]) * sqrt(sum[at] / (double)opt->options.rows);
            bend += 2 * span.l2 * v[j] * v[j];
        }
    }
    return fabs(slope) > MISSED_LEAST * sqrt(opt->objective_first) * size &&
           slope * slope > 2 * bend * MISSED_SHARE * fabs(opt->objective);
}

static bool misses_any(struct optim *opt, const double *sum)
{
    for (uint32_t i = 0; i < opt->dims; i++) {
        const size_t at = cholesky_row(i) + i;

        if (opt->factor[at] > 0 || !(sum[at] > 0))
            continue;
        cholesky_null(opt->factor, opt->dims, i, opt->work);
        if (is_missed(opt, sum, opt->work))
            return true;
    }
    return false;
}

static void feed_hessian(struct optim *opt, const double *sum)
{
    take_hessian(opt, sum);
    cholesky_factor(opt->factor, opt->dims);
    if (misses_any(opt, sum)) {
        opt->weak = true;
        take_hessian(opt, sum);
        cholesky_factor_all(opt->factor, opt->dims);
    }
    quasi_find_direction(opt);
    begin_trials(opt, true);
}

/* work <- Hessian of the objective times d. */
static void curve(struct optim *opt, const double *sum)
{
    const double rows = (double)opt->options.rows;
    struct optim_span span = {0};

    while (optim_span_next(opt, &span)) {
        const double ridge = optim_ridge(opt, &span);

        for (uint32_t j = span.from; j < span.to; j++)
            opt->work[j] = sum[j] / rows + ridge * opt->v[j];
    }
}

static bool residual_is_small(const struct optim *opt)
{
    const double norm = sqrt(opt->cg_first);
    const double near = sqrt(norm / opt->norm_first);
    const double forcing = near < FORCING_MAX ? near : FORCING_MAX;

    return sqrt(opt->cg_rr) <= forcing * norm;
}

static void feed_product(struct optim *opt, const double *sum)
{
    const uint32_t dims = opt->dims;
    double bend, alpha, beta, rr;

    curve(opt, sum);
    opt->cg_round++;
    bend = vec_dot(opt->v, opt->work, dims);
    alpha = opt->cg_rr / bend;
    if (!(bend > 0) || !isfinite(alpha)) {
        /* No curvature along d: what there is must do (an empty direction
         * becomes steepest descent). */
        begin_trials(opt, true);
        return;
    }
    for (uint32_t j = 0; j < dims; j++) {
        opt->direction[j] += alpha * opt->v[j];
        opt->u[j] -= alpha * opt->work[j];
    }
    optim_unscale(opt, opt->u, opt->work);
    rr = vec_dot(opt->u, opt->work, dims);
    beta = rr / opt->cg_rr;
    opt->cg_rr = rr;
    if (residual_is_small(opt) || opt->cg_round >= opt->options.cg_max) {
        begin_trials(opt, true);
        return;
    }
    for (uint32_t j = 0; j < dims; j++)
        opt->v[j] = opt->work[j] + beta * opt->v[j];
}

static void feed_metric(struct optim *opt, const double *sum)
{
    optim_take_metric(opt, sum);
    begin_products(opt);
}

static void feed_first(struct optim *opt, const double *sum, double loss_sum)
{
    optim_measure_first(opt, sum, loss_sum);
    take_curvature(opt);
}

/* Older curvature may mislead: once more with that of this point. */
static void search_failed(struct optim *opt)
{
    if (optim_is_dense(opt) && opt->cg_round > opt->search.trials)
        take_curvature(opt);
    else
        opt->stalled = true;
}

static bool feed_trial(struct optim *opt, const double *sum, double loss_sum)
{
    double value;

    opt->cg_round += optim_is_dense(opt) ? 1 : 0;
    if (!optim_try(opt, sum, loss_sum, search_failed, &value))
        return false;
    if (optim_is_dense(opt) && opt->options.memory > 0)
        quasi_keep_pair(opt);
    optim_count_calm(opt, opt->objective - value);
    optim_take_trial(opt, value);
    opt->step++;
    opt->diverged = optim_is_broken(opt);
    opt->stalled = opt->gradient_norm == 0;
    begin_step(opt);
    return true;
}

static bool feed(struct optim *opt, const double *sum, double loss_sum)
{
    if (opt->phase == TRIAL)
        return feed_trial(opt, sum, loss_sum);
    if (opt->phase == LINE) {
        if (line_feed(opt, sum, loss_sum, search_failed))
            opt->phase = TRIAL;
        return false;
    }
    if (opt->phase == FIRST)
        feed_first(opt, sum, loss_sum);
    else if (opt->phase == METRIC)
        feed_metric(opt, sum);
    else if (optim_is_dense(opt))
        feed_hessian(opt, sum);
    else
        feed_product(opt, sum);
    return false;
}

const struct optim_ops optim_newton_ops = {
    "newton", OPTIM_RATE_NONE, true, PHASES, vectors, place, what, feed, NULL};

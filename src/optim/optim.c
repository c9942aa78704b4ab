/*
 * optim.c - what all kinds have in common: options, memory, the objective, the
 * metric, trials of a line search.
 *
 * Bits.  Every update is element-wise with the operations in the order the
 * formulas of optim.h are written (2 a eta = (2 a) eta), nothing fused; powers
 * are by square and multiply from the lowest bit; norms and dot products run
 * in the fixed order of math/vec.h.  So the weights depend on the options and
 * the fed sums alone.
 */
#include "optim/optim.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "math/exact/grid.h"
#include "math/vec.h"
#include "optim/parts.h"
#include "optim/soften.h"

/* Relative to the weights: a shorter step ends the run ... */
#define STEP_LEAST 0x1p-50
/* ... and so does one whose promise, relative to the objective, is less.  Far
 * below the rounding of the objective, for slopes see further than values. */
#define GAIN_LEAST 0x1p-84

static const struct optim_ops *const kinds[] = {
    [OPTIM_GD] = &optim_gd_ops,
    [OPTIM_AGD] = &optim_agd_ops,
    [OPTIM_MOMENTUM] = &optim_momentum_ops,
    [OPTIM_ADAM] = &optim_adam_ops,
    [OPTIM_LBFGS] = &optim_lbfgs_ops,
    [OPTIM_NEWTON] = &optim_newton_ops,
    [OPTIM_SGD] = &optim_sgd_ops,
    [OPTIM_AVERAGE] = &optim_average_ops,
    [OPTIM_NESTEROV] = &optim_nesterov_ops,
    [OPTIM_ADAMW] = &optim_adamw_ops,
    [OPTIM_COLUMNS] = &optim_columns_ops,
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* --- options ------------------------------------------------------------- */

enum err optim_parse(const char *name, enum optim_kind *kind)
{
    for (unsigned i = 0; i < KINDS; i++) {
        if (i != OPTIM_AVERAGE && i != OPTIM_COLUMNS &&
            strcmp(name, kinds[i]->name) == 0) {
            *kind = (enum optim_kind)i;
            return ERR_OK;
        }
    }
    return ERR_UNKNOWN;
}

enum optim_rate optim_kind_rate(enum optim_kind kind)
{
    CHECK((unsigned)kind < KINDS);
    return kinds[kind]->rate;
}

const char *optim_name(enum optim_kind kind)
{
    CHECK((unsigned)kind < KINDS);
    return kinds[kind]->name;
}

static double default_rate(enum optim_kind kind)
{
    if (kind == OPTIM_ADAM || kind == OPTIM_ADAMW)
        return 1e-3;
    return kind == OPTIM_LBFGS ? 0 : 1;
}

struct optim_options optim_defaults(enum optim_kind kind)
{
    return (struct optim_options){
        .kind = kind,
        .rate = default_rate(kind),
        .decay = 1,
        .momentum = 0.9,
        .beta1 = 0.9,
        .beta2 = 0.999,
        .epsilon = 1e-8,
        .memory = OPTIM_MEMORY,
        .dense_max = OPTIM_DENSE_MAX,
        .cg_max = OPTIM_CG_MAX,
        .diagonal = true,
    };
}

void optim_on_scores(struct optim_options *options)
{
    options->diagonal = false;
    options->dense_max = 0;
    options->weight_bits = 0;
    options->line =
        options->kind == OPTIM_LBFGS || options->kind == OPTIM_NEWTON;
}

struct optim_options optim_averaged(const struct optim_options *options,
                                    uint32_t every)
{
    struct optim_options made = *options;

    CHECK(every > 0);
    made.kind = OPTIM_AVERAGE;
    made.local = (struct local){
        .kind = options->kind,
        .schedule = options->schedule,
        .rate = options->rate,
        .decay = options->decay,
        .decay_every = options->decay_every,
        .warmup = options->warmup,
        .clip = options->clip,
        .l2 = options->l2,
        .l2_free = options->l2_free,
        .l2_stride = options->l2_stride,
        .every = every,
        .steps = options->steps,
        .seed = options->seed,
    };
    made.steps = options->steps / every + (options->steps % every != 0);
    /* Nobody sees the gradient of the whole. */
    made.tol = 0;
    made.gap = 0;
    return made;
}

/* NaN is neither. */
static bool is_positive(double x)
{
    return isfinite(x) && x > 0;
}

static bool is_not_negative(double x)
{
    return isfinite(x) && x >= 0;
}

static bool is_fraction(double x)
{
    return x >= 0 && x < 1;
}

static bool columns_fit(const struct optim_options *o, uint32_t dims)
{
    return o->columns.first != NULL && o->columns.stride > 0 && o->steps > 0 &&
           o->steps <= UINT32_MAX / dims && o->rows == dims;
}

static bool kind_fits(const struct optim_options *o, uint32_t dims)
{
    switch (o->kind) {
    case OPTIM_MOMENTUM:
    case OPTIM_NESTEROV:
        return is_fraction(o->momentum);
    case OPTIM_ADAM:
    case OPTIM_ADAMW:
        return is_fraction(o->beta1) && is_fraction(o->beta2) &&
               is_positive(o->epsilon);
    case OPTIM_LBFGS:
        return is_not_negative(o->rate) && o->memory > 0 &&
               o->memory <= OPTIM_MEMORY_MAX;
    case OPTIM_NEWTON:
        return o->cg_max > 0 && o->dense_max <= OPTIM_DENSE_LIMIT &&
               o->memory <= OPTIM_MEMORY_MAX;
    case OPTIM_SGD:
        return false;
    case OPTIM_AVERAGE:
        return o->local.every > 0;
    case OPTIM_COLUMNS:
        return columns_fit(o, dims);
    case OPTIM_GD:
    case OPTIM_AGD:
        break;
    }
    return true;
}

static bool rate_fits(const struct optim_options *o)
{
    if (optim_kind_rate(o->kind) == OPTIM_RATE_NONE)
        return true;
    return is_positive(o->rate) && optim_schedule_fits(o) &&
           is_not_negative(o->clip);
}

/* Only sums of one gradient each may be those of a batch, and ends that go by
 * the gradient would go by that of a batch. */
static bool sampler_goes(const struct optim_options *o)
{
    if (o->sampler.kind == SAMPLER_WHOLE)
        return true;
    return sampler_fits(&o->sampler) &&
           optim_kind_rate(o->kind) != OPTIM_RATE_NONE &&
           !kinds[o->kind]->has_search && o->kind != OPTIM_SGD && o->tol == 0 &&
           o->gap == 0 && o->rows <= o->sampler.rows;
}

bool optim_free_fits(uint32_t free, uint32_t stride)
{
    return stride == 0 ? free == 0 : free < stride;
}

static bool options_fit(const struct optim_options *o, uint32_t dims)
{
    return dims > 0 && (unsigned)o->kind < KINDS && rate_fits(o) &&
           kind_fits(o, dims) && sampler_goes(o) && is_not_negative(o->l2) &&
           o->rows > 0 && is_not_negative(o->tol) && is_not_negative(o->gap) &&
           is_not_negative(o->accuracy) && o->weight_bits < DBL_MANT_DIG &&
           isfinite(o->optimum) && optim_free_fits(o->l2_free, o->l2_stride);
}

uint32_t optim_part_vectors(const struct optim_options *options)
{
    const struct optim_ops *const ops = kinds[options->kind];

    return ops->update != NULL && !optim_walks_twice(options)
               ? ops->vectors(NULL)
               : 0;
}

uint32_t optim_chunks(const struct optim_options *options, uint32_t all)
{
    return options->sampler.kind == SAMPLER_WHOLE
               ? all
               : sampler_chunks(&options->sampler);
}

double optim_divisor(const struct optim *opt)
{
    const struct optim_options *o = &opt->options;
    double rows;

    if (o->sampler.kind == SAMPLER_WHOLE)
        return (double)o->rows;
    rows = sampler_rows(&o->sampler, opt->step);
    return o->rows == o->sampler.rows
               ? rows
               : rows * ((double)o->rows / o->sampler.rows);
}

/* --- memory -------------------------------------------------------------- */

uint32_t optim_dims(const struct optim_options *options, uint32_t weights)
{
    return options->kind == OPTIM_COLUMNS ? (uint32_t)options->rows : weights;
}

bool optim_is_dense(const struct optim *opt)
{
    return opt->options.kind == OPTIM_NEWTON &&
           opt->dims <= opt->options.dense_max;
}

uint32_t optim_sum_dims(const struct optim *opt)
{
    return evaluation_dims(
        optim_is_dense(opt) ? EVALUATE_HESSIAN : EVALUATE_GRADIENT, opt->dims);
}

static enum err allocate(struct optim *opt)
{
    const size_t dims = opt->dims;

    opt->kept = mem_new(opt->vectors * dims, sizeof *opt->kept);
    opt->work = mem_new(dims, sizeof *opt->work);
    opt->blocks = mem_new(2 * (dims / SLICE_GRAIN + 1), sizeof *opt->blocks);
    if (opt->kept == NULL || opt->work == NULL || opt->blocks == NULL)
        return ERR_NOMEM;
    opt->ops->place(opt);
    if (opt->ops->has_search) {
        opt->point = mem_new(dims, sizeof *opt->point);
        if (opt->point == NULL)
            return ERR_NOMEM;
    } else {
        opt->gradient = opt->work;
    }
    return ERR_OK;
}

static void begin_at(struct optim *opt, const double *w)
{
    memcpy(opt->b, w, opt->dims * sizeof *w);
    if (opt->options.kind == OPTIM_AGD)
        memcpy(opt->u, w, opt->dims * sizeof *w);
}

enum err optim_init(struct optim *opt, const struct optim_options *options,
                    uint32_t dims)
{
    struct optim made = {.options = *options, .dims = dims};

    if (!options_fit(options, dims))
        return ERR_SHAPE;
    made.ops = kinds[options->kind];
    made.objective = nan("");
    made.gradient_norm = HUGE_VAL;
    made.excess = HUGE_VAL;
    made.vectors = made.ops->vectors(&made);
    if (allocate(&made) != ERR_OK) {
        optim_close(&made);
        return ERR_NOMEM;
    }
    if (options->start != NULL)
        begin_at(&made, options->start);
    *opt = made;
    return ERR_OK;
}

void optim_start(struct optim *opt, const double *w, uint32_t step)
{
    CHECK(opt->options.kind == OPTIM_GD);
    memcpy(opt->b, w, opt->dims * sizeof *w);
    opt->known = (struct known){0};
    opt->step = step;
}

void optim_close(struct optim *opt)
{
    mem_free(opt->kept);
    mem_free(opt->work);
    mem_free(opt->blocks);
    mem_free(opt->spare);
    mem_free(opt->point);
    *opt = (struct optim){0};
}

/* --- the objective ------------------------------------------------------- */

/* The first free weight not before `from`; dims if there is none. */
static uint32_t next_free(const struct optim *opt, uint32_t from)
{
    const uint32_t stride = opt->options.l2_stride;
    uint64_t at;

    if (stride == 0)
        return opt->dims;
    at = (uint64_t)from - from % stride + opt->options.l2_free;
    if (at < from)
        at += stride;
    return at < opt->dims ? (uint32_t)at : opt->dims;
}

bool optim_span_next(const struct optim *opt, struct optim_span *span)
{
    const uint32_t from = span->to;
    const uint32_t free = next_free(opt, from);

    if (from >= opt->dims)
        return false;
    *span = free == from ? (struct optim_span){from, from + 1, 0}
                         : (struct optim_span){from, free, opt->options.l2};
    return true;
}

double optim_measure(const struct optim *opt, const double *w,
                     const double *sum, double loss_sum, double *gradient)
{
    const double rows = (double)opt->options.rows;
    double objective = loss_sum / rows;
    struct optim_span span = {0};

    while (optim_span_next(opt, &span)) {
        const uint32_t from = span.from, count = span.to - span.from;

        vec_measure(sum + from, rows, 2 * span.l2, w + from, count,
                    gradient + from);
        objective += span.l2 * vec_dot(w + from, w + from, count);
    }
    return objective;
}

void optim_measure_first(struct optim *opt, const double *sum, double loss_sum)
{
    opt->objective = optim_measure(opt, opt->b, sum, loss_sum, opt->gradient);
    opt->gradient_norm = vec_norm(opt->gradient, opt->dims);
    opt->norm_start = opt->gradient_norm;
    opt->diverged = optim_is_broken(opt);
    opt->stalled = opt->gradient_norm == 0;
}

double optim_objective(const struct optim_options *options, uint32_t dims,
                       const double *w, const double *sum, double loss_sum,
                       double *gradient)
{
    const struct optim like = {.options = *options, .dims = dims};

    return optim_measure(&like, w, sum, loss_sum, gradient);
}

double optim_penalty(const struct optim_options *options, uint32_t dims,
                     const double *w)
{
    const struct optim like = {.options = *options, .dims = dims};
    struct optim_span span = {0};
    double penalty = 0;

    while (optim_span_next(&like, &span))
        penalty += span.l2 *
                   vec_dot(w + span.from, w + span.from, span.to - span.from);
    return penalty;
}

bool optim_is_broken(const struct optim *opt)
{
    return !isfinite(opt->gradient_norm) || !isfinite(opt->objective) ||
           !vec_finite(opt->b, opt->dims);
}

/* --- the metric ---------------------------------------------------------- */

double optim_ridge(const struct optim *opt, const struct optim_span *span)
{
    if (opt->options.kinks && span->l2 == 0 && span->to - span->from == 1)
        return fabs(opt->gradient[span->from]);
    return 2 * span->l2;
}

/* Where f has no curvature, in padding say, any number does that makes steps
 * short. */
void optim_take_metric(struct optim *opt, const double *sum)
{
    const double rows = (double)opt->options.rows;
    double largest = 0;
    struct optim_span span = {0};

    while (optim_span_next(opt, &span)) {
        for (uint32_t j = span.from; j < span.to; j++) {
            opt->metric[j] = sum[j] / rows + optim_ridge(opt, &span);
            largest = fmax(largest, opt->metric[j]);
        }
    }
    for (uint32_t j = 0; j < opt->dims; j++) {
        if (!(opt->metric[j] > 0))
            opt->metric[j] = largest > 0 ? largest : 1;
    }
}

void optim_unscale(const struct optim *opt, const double *from, double *into)
{
    for (uint32_t j = 0; j < opt->dims; j++)
        into[j] = opt->metric != NULL ? from[j] / opt->metric[j] : from[j];
}

/* --- trials of a line search --------------------------------------------- */

/* To multiples of 2^-k, k the largest with |w_j| 2^k < 2^bits: as the kernel
 * would, which then finds nothing to round. */
static void round_point(struct optim *opt)
{
    const int bits = (int)opt->options.weight_bits;
    const double top = ldexp(1, bits) - 1;
    double largest = 0;
    double scale;
    int power = 0;

    for (uint32_t j = 0; j < opt->dims; j++)
        largest = fmax(largest, fabs(opt->point[j]));
    if (largest == 0 || !isfinite(largest))
        return;
    (void)frexp(largest, &power);
    if (bits - power > GRID_EXPONENT_MAX)
        return;
    scale = power_of_two(bits - power);
    for (uint32_t j = 0; j < opt->dims; j++) {
        const double q = rint(opt->point[j] * scale);

        opt->point[j] = fmax(-top, fmin(q, top)) / scale;
    }
}

void optim_place_trial(struct optim *opt)
{
    const double step = opt->search.step;

    for (uint32_t j = 0; j < opt->dims; j++)
        opt->point[j] = opt->b[j] + step * opt->direction[j];
    if (opt->options.weight_bits > 0)
        round_point(opt);
}

/* Steps of a few roundings of every weight, or along what is left of a gradient
 * after rounding, lead nowhere and never end. */
static bool is_lost(const struct optim *opt, double slope, double step)
{
    if (-slope * step <= GAIN_LEAST * fabs(opt->objective))
        return true;
    for (uint32_t j = 0; j < opt->dims; j++) {
        if (fabs(step * opt->direction[j]) > STEP_LEAST * fabs(opt->b[j]))
            return false;
    }
    return true;
}

bool optim_begin_search(struct optim *opt, double step, bool measured,
                        enum search_rule rule)
{
    double slope = vec_dot(opt->gradient, opt->direction, opt->dims);
    const bool descends = isfinite(slope) && slope < 0;

    if (!descends) {
        optim_unscale(opt, opt->gradient, opt->direction);
        for (uint32_t j = 0; j < opt->dims; j++)
            opt->direction[j] = -opt->direction[j];
        slope = vec_dot(opt->gradient, opt->direction, opt->dims);
        step = opt->metric != NULL ? 1 : 1 / opt->gradient_norm;
    }
    if (descends && measured)
        opt->excess = -slope / 2;
    if (!(slope < 0) || !isfinite(step) || is_lost(opt, slope, step)) {
        opt->stalled = true;
        return true;
    }
    search_begin(&opt->search, opt->objective, slope, step,
                 opt->options.line ? SEARCH_EXACT : rule);
    optim_place_trial(opt);
    /* Lost in the rounding: the grid has no better point that way. */
    if (memcmp(opt->point, opt->b, opt->dims * sizeof *opt->b) == 0)
        opt->stalled = true;
    return !descends;
}

/* Among points of a grid, slopes too are rounded in the end, and may lead from
 * one point to another and back for ever.  Does the trial make nothing
 * better? */
static bool is_idle(const struct optim *opt, double value)
{
    return opt->options.weight_bits > 0 && !(value < opt->objective) &&
           !(vec_norm(opt->work, opt->dims) < opt->gradient_norm);
}

bool optim_try(struct optim *opt, const double *sum, double loss_sum,
               void (*failed)(struct optim *opt), double *value)
{
    enum search_verdict verdict;

    *value = optim_measure(opt, opt->point, sum, loss_sum, opt->work);
    verdict = search_feed(&opt->search, *value,
                          vec_dot(opt->work, opt->direction, opt->dims));
    if (verdict == SEARCH_ON)
        optim_place_trial(opt);
    if (verdict == SEARCH_ACCEPT && is_idle(opt, *value))
        verdict = SEARCH_FAIL;
    if (verdict == SEARCH_FAIL)
        failed(opt);
    return verdict == SEARCH_ACCEPT;
}

void optim_take_trial(struct optim *opt, double value)
{
    memcpy(opt->b, opt->point, opt->dims * sizeof *opt->b);
    memcpy(opt->gradient, opt->work, opt->dims * sizeof *opt->gradient);
    opt->objective = value;
    opt->gradient_norm = vec_norm(opt->gradient, opt->dims);
}

/* --- the loop's side ----------------------------------------------------- */

struct ask optim_next(const struct optim *opt)
{
    struct ask ask = {.kind = ASK_DONE, .point = opt->b};

    if (optim_end(opt) != OPTIM_GOING)
        return ask;
    ask.kind = ASK_EVALUATE;
    ask.what = soften_on(opt) ? soften_what(opt) : opt->ops->what(opt);
    ask.point = ask.what.w;
    return ask;
}

bool optim_feed(struct optim *opt, const double *sum, double loss_sum)
{
    const uint32_t step = opt->step;
    bool updated;

    CHECK(optim_next(opt).kind == ASK_EVALUATE);
    opt->evaluations++;
    opt->round++;
    updated = soften_on(opt) ? soften_feed(opt, sum, loss_sum)
                             : opt->ops->feed(opt, sum, loss_sum);
    if (opt->evaluations == 1)
        opt->objective_first = opt->objective;
    if (!opt->ops->has_search)
        trend_take(&opt->trend, step, opt->options.steps, opt->objective);
    if (updated)
        opt->round = 0;
    return updated;
}

bool optim_reject(struct optim *opt)
{
    const struct ask ask = optim_next(opt);

    CHECK(ask.kind == ASK_EVALUATE);
    if (!opt->ops->has_search ||
        (ask.what.w != opt->point && ask.what.kind != EVALUATE_LINE))
        return false;
    memset(opt->work, 0, opt->dims * sizeof *opt->work);
    CHECK(!optim_feed(opt, opt->work, HUGE_VAL));
    return true;
}

const double *optim_weights(const struct optim *opt)
{
    return opt->b;
}

const double *optim_model(const struct optim *opt, uint32_t *count)
{
    const bool all = opt->options.kind == OPTIM_COLUMNS;

    *count = all ? opt->vectors * opt->dims : opt->dims;
    return all ? opt->kept : opt->b;
}

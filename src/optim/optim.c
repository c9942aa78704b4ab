/*
 * optim.c - what all kinds have in common: options, memory, objective,
 * checkpoints.
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
#include "optim/hidden.h"
#include "optim/parts.h"
#include "optim/soften.h"

/* Relative to the weights: a shorter step ends the run ... */
#define STEP_LEAST 0x1p-50
/* ... and so does one whose promise, relative to the objective, is less.  Far
 * below the rounding of the objective, for slopes see further than values. */
#define GAIN_LEAST 0x1p-84
/* Excess, relative to f, at which a run that can get no further has got far
 * enough ... */
#define EXCESS_SMALL 1e-6
/* ... and, relative to f at the start, below which it is rounding: where the
 * least f is 0 nothing else would end the run. */
#define EXCESS_ROUNDING 0x1p-60
/* Steps in a row that must be small where one says little, each by so much of
 * `accuracy` (or of this), since small ones add up. */
#define CALM_STEPS  10u
#define CALM_SHARE  .01
#define EXCESS_FINE 1e-10
/* A gradient of so much of the first is rounding. */
#define NORM_ROUNDING 1e-13
/* An sgd that ends at more than so many times f of the start has diverged. */
#define SGD_RISE_MOST 1e3

static const struct optim_ops *const kinds[] = {
    [OPTIM_GD] = &optim_gd_ops,
    [OPTIM_AGD] = &optim_agd_ops,
    [OPTIM_MOMENTUM] = &optim_momentum_ops,
    [OPTIM_ADAM] = &optim_adam_ops,
    [OPTIM_LBFGS] = &optim_lbfgs_ops,
    [OPTIM_NEWTON] = &optim_newton_ops,
    [OPTIM_SGD] = &optim_sgd_ops,
    [OPTIM_AVERAGE] = &optim_average_ops,
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* --- options ------------------------------------------------------------- */

enum err optim_parse(const char *name, enum optim_kind *kind)
{
    for (unsigned i = 0; i < KINDS; i++) {
        if (i != OPTIM_AVERAGE && strcmp(name, kinds[i]->name) == 0) {
            *kind = (enum optim_kind)i;
            return ERR_OK;
        }
    }
    return ERR_UNKNOWN;
}

const char *optim_name(enum optim_kind kind)
{
    CHECK((unsigned)kind < KINDS);
    return kinds[kind]->name;
}

static double default_rate(enum optim_kind kind)
{
    if (kind == OPTIM_ADAM)
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

static bool kind_fits(const struct optim_options *o)
{
    switch (o->kind) {
    case OPTIM_MOMENTUM:
        return is_fraction(o->momentum);
    case OPTIM_ADAM:
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
    case OPTIM_GD:
    case OPTIM_AGD:
        break;
    }
    return true;
}

static bool rate_fits(const struct optim_options *o)
{
    if (!kinds[o->kind]->has_rate)
        return true;
    if ((unsigned)o->schedule > SCHEDULE_INVERSE || !is_positive(o->rate))
        return false;
    return o->schedule != SCHEDULE_DECAY || is_positive(o->decay);
}

bool optim_free_fits(uint32_t free, uint32_t stride)
{
    return stride == 0 ? free == 0 : free < stride;
}

static bool options_fit(const struct optim_options *o, uint32_t dims)
{
    return dims > 0 && (unsigned)o->kind < KINDS && rate_fits(o) &&
           kind_fits(o) && is_not_negative(o->l2) && o->rows > 0 &&
           is_not_negative(o->tol) && is_not_negative(o->gap) &&
           is_not_negative(o->accuracy) && o->weight_bits < DBL_MANT_DIG &&
           isfinite(o->optimum) && optim_free_fits(o->l2_free, o->l2_stride);
}

double optim_power(double base, uint32_t exponent)
{
    double power = 1;
    double square = base;

    for (uint32_t i = exponent; i != 0; i >>= 1) {
        if (i & 1)
            power *= square;
        square *= square;
    }
    return power;
}

double optim_rate(const struct optim *opt)
{
    const struct optim_options *o = &opt->options;

    switch (o->schedule) {
    case SCHEDULE_DECAY:
        return o->rate * optim_power(o->decay, opt->step);
    case SCHEDULE_INVERSE:
        return o->rate / (1 + (double)opt->step);
    case SCHEDULE_CONSTANT:
        break;
    }
    return o->rate;
}

/* --- memory -------------------------------------------------------------- */

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
    if (opt->kept == NULL || opt->work == NULL)
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
    *opt = made;
    return ERR_OK;
}

void optim_start(struct optim *opt, const double *w, uint32_t step)
{
    CHECK(opt->options.kind == OPTIM_GD);
    memcpy(opt->b, w, opt->dims * sizeof *w);
    opt->step = step;
}

void optim_close(struct optim *opt)
{
    mem_free(opt->kept);
    mem_free(opt->work);
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

bool optim_span_next(const struct optim *opt, struct span *span)
{
    const uint32_t from = span->to;
    const uint32_t free = next_free(opt, from);

    if (from >= opt->dims)
        return false;
    *span = free == from ? (struct span){from, from + 1, 0}
                         : (struct span){from, free, opt->options.l2};
    return true;
}

double optim_measure(const struct optim *opt, const double *w,
                     const double *sum, double loss_sum, double *gradient)
{
    const double rows = (double)opt->options.rows;
    double objective = loss_sum / rows;
    struct span span = {0};

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

bool optim_is_broken(const struct optim *opt)
{
    return !isfinite(opt->gradient_norm) || !isfinite(opt->objective) ||
           !vec_finite(opt->b, opt->dims);
}

/* --- the metric ---------------------------------------------------------- */

double optim_ridge(const struct optim *opt, const struct span *span)
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
    struct span span = {0};

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
                        bool armijo)
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
    search_begin(&opt->search, opt->objective, slope, step, armijo);
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

void optim_count_calm(struct optim *opt, double gain)
{
    const double small = CALM_SHARE * fmax(opt->options.accuracy, EXCESS_FINE) *
                         fabs(opt->objective);

    opt->calm = opt->excess <= small && gain <= small ? opt->calm + 1 : 0;
}

/* Pairs of lbfgs tell the curvature of the ways gone alone, and a pivot that is
 * mostly rounding tells nothing of it: the excess is too small then by any
 * factor, but steps in a row, each as long as its line search found best, would
 * show it. */
bool optim_is_sure(const struct optim *opt)
{
    return !opt->weak || opt->stalled || opt->calm >= CALM_STEPS ||
           opt->gradient_norm <= NORM_ROUNDING * opt->norm_start;
}

static bool is_within(const struct optim *opt, double accuracy)
{
    if (opt->gradient_norm == 0)
        return true;
    if (!optim_is_sure(opt))
        return false;
    return opt->excess <= accuracy * fabs(opt->objective) ||
           (!opt->weak &&
            opt->excess <= EXCESS_ROUNDING * fabs(opt->objective_first));
}

static bool gap_reached(const struct optim *opt)
{
    const struct optim_options *o = &opt->options;

    return o->gap > 0 &&
           opt->objective <= o->optimum + o->gap * fabs(o->optimum);
}

bool optim_converged(const struct optim *opt)
{
    const struct optim_options *o = &opt->options;

    if (soften_on(opt))
        return soften_proved(opt);
    if (o->tol > 0)
        return opt->gradient_norm <= o->tol || gap_reached(opt);
    if (o->accuracy > 0 && is_within(opt, o->accuracy))
        return true;
    return gap_reached(opt);
}

enum optim_end optim_end(const struct optim *opt)
{
    const bool stalled = soften_on(opt) ? soften_ended(opt) : opt->stalled;

    if (opt->diverged)
        return OPTIM_DIVERGED;
    if (optim_converged(opt) ||
        (stalled && opt->options.tol <= 0 && is_within(opt, EXCESS_SMALL)))
        return OPTIM_CONVERGED;
    if (stalled)
        return OPTIM_STALLED;
    return opt->step >= opt->options.steps ? OPTIM_STEPS : OPTIM_GOING;
}

const char *optim_end_name(enum optim_end end)
{
    static const char *const names[] = {
        [OPTIM_GOING] = "going",       [OPTIM_CONVERGED] = "converged",
        [OPTIM_STALLED] = "stalled",   [OPTIM_STEPS] = "steps",
        [OPTIM_DIVERGED] = "diverged",
    };

    CHECK((unsigned)end < sizeof names / sizeof *names);
    return names[end];
}

/* Did it end by an estimate that f'' may have made too small? */
static bool is_estimated(const struct optim *opt)
{
    return optim_end(opt) == OPTIM_CONVERGED && optim_is_dense(opt) &&
           !soften_on(opt) && opt->options.tol <= 0 && !gap_reached(opt);
}

struct optim_outcome optim_outcome(const struct optim *opt)
{
    struct optim_outcome outcome = {
        .end = optim_end(opt),
        .objective = opt->objective,
        .gradient_norm = opt->gradient_norm,
        .excess = opt->excess,
        .objective_first = opt->objective_first,
        /* Others do not move on only from a point that will do. */
        .at_model = soften_on(opt)
                        ? soften_ended(opt)
                        : opt->ops->has_search || optim_converged(opt),
    };

    if (is_estimated(opt))
        hidden_judge(&opt->options, opt->dims, opt->factor, opt->gradient, NULL,
                     opt->work, &outcome);
    return outcome;
}

/* Passes of sgd begin with long steps and may well end above the start, with a
 * model that is of use all the same. */
static double most_allowed(const struct optim_options *options)
{
    return options->kind == OPTIM_SGD ? SGD_RISE_MOST : 1;
}

void optim_judge(const struct optim_options *options,
                 struct optim_outcome *outcome)
{
    const double norm = outcome->gradient_norm;
    const double small = EXCESS_SMALL * fabs(outcome->objective);

    if (!isfinite(outcome->objective) ||
        outcome->objective > most_allowed(options) * outcome->objective_first)
        outcome->end = OPTIM_DIVERGED;
    else if (outcome->end == OPTIM_STEPS && outcome->at_model &&
             options->tol <= 0 && options->l2 > 0 &&
             norm * norm <= 4 * options->l2 * small)
        outcome->end = OPTIM_CONVERGED;
}

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
    bool updated;

    CHECK(optim_next(opt).kind == ASK_EVALUATE);
    opt->evaluations++;
    opt->round++;
    updated = soften_on(opt) ? soften_feed(opt, sum, loss_sum)
                             : opt->ops->feed(opt, sum, loss_sum);
    if (opt->evaluations == 1)
        opt->objective_first = opt->objective;
    if (updated)
        opt->round = 0;
    return updated;
}

bool optim_reject(struct optim *opt)
{
    const struct ask ask = optim_next(opt);

    CHECK(ask.kind == ASK_EVALUATE);
    if (!opt->ops->has_search || ask.what.w != opt->point)
        return false;
    memset(opt->work, 0, opt->dims * sizeof *opt->work);
    CHECK(!optim_feed(opt, opt->work, HUGE_VAL));
    return true;
}

const double *optim_weights(const struct optim *opt)
{
    return opt->b;
}

/* --- checkpoints --------------------------------------------------------- */

/* Three points of three numbers, three flags, trials, step. */
enum { SEARCH_BYTES = 3 * 3 * 8 + 3 + 4 + 8 };
/* kind, dims, vectors, step, round, evaluations, objective, gradient_norm,
 * excess, objective_first, norm_start, calm, flags; phase, pairs, newest,
 * cg_round, cg_rr, cg_first, norm_first. */
enum { STATE_HEAD = 1 + 4 * 4 + 8 + 5 * 8 + 4 + 1 + 4 * 4 + 3 * 8 };
enum { SOFTEN_BYTES = 4 * 4 + 1 + 3 * 8 };
enum { FLAG_DIVERGED = 1, FLAG_STALLED = 2, FLAG_WEAK = 4 };

size_t optim_state_bytes(const struct optim *opt)
{
    return STATE_HEAD + SEARCH_BYTES + SOFTEN_BYTES +
           (size_t)opt->vectors * opt->dims * sizeof *opt->kept;
}

static void put_point(struct writer *out, const struct search_point *point)
{
    put_f64(out, point->step);
    put_f64(out, point->value);
    put_f64(out, point->slope);
}

static void put_search(struct writer *out, const struct search *search)
{
    put_point(out, &search->start);
    put_point(out, &search->low);
    put_point(out, &search->high);
    put_u8(out, search->bracketed);
    put_u8(out, search->armijo);
    put_u8(out, search->last);
    put_u32(out, search->trials);
    put_f64(out, search->step);
}

static void put_soften(struct writer *out, const struct soften *soften)
{
    put_u32(out, soften->phase);
    put_u32(out, soften->level);
    put_u32(out, soften->shifts);
    put_u32(out, soften->proofs);
    put_u8(out, soften->sure);
    put_f64(out, soften->target);
    put_f64(out, soften->truth);
    put_f64(out, soften->least);
}

void optim_save(const struct optim *opt, struct writer *out)
{
    const size_t count = (size_t)opt->vectors * opt->dims;
    const int flags = (opt->diverged ? FLAG_DIVERGED : 0) |
                      (opt->stalled ? FLAG_STALLED : 0) |
                      (opt->weak ? FLAG_WEAK : 0);

    put_u8(out, (uint8_t)opt->options.kind);
    put_u32(out, opt->dims);
    put_u32(out, opt->vectors);
    put_u32(out, opt->step);
    put_u32(out, opt->round);
    put_u64(out, opt->evaluations);
    put_f64(out, opt->objective);
    put_f64(out, opt->gradient_norm);
    put_f64(out, opt->excess);
    put_f64(out, opt->objective_first);
    put_f64(out, opt->norm_start);
    put_u32(out, opt->calm);
    put_u8(out, (uint8_t)flags);
    put_u32(out, opt->phase);
    put_u32(out, opt->pairs);
    put_u32(out, opt->newest);
    put_u32(out, opt->cg_round);
    put_f64(out, opt->cg_rr);
    put_f64(out, opt->cg_first);
    put_f64(out, opt->norm_first);
    put_search(out, &opt->search);
    put_soften(out, &opt->soften);
    put_bytes(out, opt->kept, count * sizeof *opt->kept);
}

static struct search_point get_point(struct reader *in)
{
    struct search_point point;

    point.step = get_f64(in);
    point.value = get_f64(in);
    point.slope = get_f64(in);
    return point;
}

static void get_search(struct reader *in, struct search *search)
{
    search->start = get_point(in);
    search->low = get_point(in);
    search->high = get_point(in);
    search->bracketed = get_u8(in) != 0;
    search->armijo = get_u8(in) != 0;
    search->last = get_u8(in) != 0;
    search->trials = get_u32(in);
    search->step = get_f64(in);
}

static void get_soften(struct reader *in, struct soften *soften)
{
    soften->phase = get_u32(in);
    soften->level = get_u32(in);
    soften->shifts = get_u32(in);
    soften->proofs = get_u32(in);
    soften->sure = get_u8(in) != 0;
    soften->target = get_f64(in);
    soften->truth = get_f64(in);
    soften->least = get_f64(in);
}

/* All but the vectors, in the order of optim_save. */
static void get_head(struct reader *in, struct optim *opt)
{
    uint8_t flags;

    opt->step = get_u32(in);
    opt->round = get_u32(in);
    opt->evaluations = get_u64(in);
    opt->objective = get_f64(in);
    opt->gradient_norm = get_f64(in);
    opt->excess = get_f64(in);
    opt->objective_first = get_f64(in);
    opt->norm_start = get_f64(in);
    opt->calm = get_u32(in);
    flags = get_u8(in);
    opt->diverged = (flags & FLAG_DIVERGED) != 0;
    opt->stalled = (flags & FLAG_STALLED) != 0;
    opt->weak = (flags & FLAG_WEAK) != 0;
    opt->phase = get_u32(in);
    opt->pairs = get_u32(in);
    opt->newest = get_u32(in);
    opt->cg_round = get_u32(in);
    opt->cg_rr = get_f64(in);
    opt->cg_first = get_f64(in);
    opt->norm_first = get_f64(in);
    get_search(in, &opt->search);
    get_soften(in, &opt->soften);
}

/* These index arrays: a damaged file must not get that far. */
static bool counters_fit(const struct optim *opt)
{
    const uint32_t pairs_max = opt->pair_s != NULL ? opt->options.memory : 0;
    const uint32_t phases =
        opt->ops->phases - (opt->ops->has_search && opt->metric == NULL);

    return opt->phase < phases && opt->pairs <= pairs_max && soften_fits(opt) &&
           (opt->newest == 0 || opt->newest < pairs_max);
}

/* What the saved numbers imply. */
static void restore(struct optim *opt)
{
    if (opt->ops->has_search)
        optim_place_trial(opt);
    for (uint32_t i = 0; i < opt->pairs; i++) {
        const uint32_t place = quasi_pair_at(opt, i);
        const size_t at = (size_t)place * opt->dims;

        opt->pair_rho[place] =
            1 / vec_dot(opt->pair_s + at, opt->pair_y + at, opt->dims);
    }
}

enum err optim_load(struct optim *opt, struct reader *in)
{
    const size_t size = optim_state_bytes(opt);
    const size_t count = (size_t)opt->vectors * opt->dims;
    const uint8_t *const view = get_view(in, size);
    struct reader state = reader_on(view, view == NULL ? 0 : size);
    struct optim loaded = *opt;

    if (view == NULL || get_u8(&state) != (uint8_t)opt->options.kind ||
        get_u32(&state) != opt->dims || get_u32(&state) != opt->vectors)
        return ERR_FORMAT;
    get_head(&state, &loaded);
    if (!counters_fit(&loaded))
        return ERR_FORMAT;
    *opt = loaded;
    for (size_t i = 0; i < count; i++)
        opt->kept[i] = get_f64(&state);
    CHECK(reader_done(&state));
    restore(opt);
    return ERR_OK;
}

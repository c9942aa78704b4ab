/*
 * stopping.c - stopping rules: when an optimiser has converged, stalled or
 * diverged, and what its outcome is worth.
 *
 * A rule compares what is left to gain (the excess, a bound or an estimate of
 * it) with what was asked for.  Where the estimate may be too small by any
 * factor, it counts only once several steps in a row have confirmed it.
 */
#include <math.h>

#include "base/check.h"
#include "optim/hidden.h"
#include "optim/optim.h"
#include "optim/parts.h"
#include "optim/soften.h"

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
/* The objective of one batch may be so many times that of another before it
 * tells that a training has diverged; where all rows are at hand they tell. */
#define NOISE_MOST 10
/* So little more than at the start is no better, but it did not run away.  A
 * trained model may be an optimum, and steps from there first lead up: it ran
 * away if it lost all that it had learnt. */
#define RISE_MOST 1.001

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

bool optim_gap_reached(const struct optim_options *options, double objective)
{
    return options->gap > 0 &&
           objective <=
               options->optimum + options->gap * fabs(options->optimum);
}

static bool gap_reached(const struct optim *opt)
{
    return optim_gap_reached(&opt->options, opt->objective);
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

/* Were they told how near to the optimum is near enough? */
static bool goes_by_accuracy(const struct optim_options *options)
{
    return options->kind == OPTIM_LBFGS || options->kind == OPTIM_NEWTON;
}

bool optim_may_end(const struct optim_options *options)
{
    return goes_by_accuracy(options) || options->tol > 0 || options->gap > 0 ||
           options->patience > 0;
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
        [OPTIM_GOING] = "going",     [OPTIM_CONVERGED] = "converged",
        [OPTIM_STALLED] = "stalled", [OPTIM_STEPS] = "steps",
        [OPTIM_EARLY] = "early",     [OPTIM_DIVERGED] = "diverged",
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

/* From the middle of a run's third quarter to that of its last the rate is
 * spent that makes a quarter of its way, or, along a cosine, a tenth. */
static double gain_left(const struct optim *opt)
{
    const double part = opt->options.schedule == SCHEDULE_COSINE ? 10 : 4;

    return opt->objective_first > 0
               ? part * trend_fall(&opt->trend) / opt->objective_first
               : 0;
}

struct optim_outcome optim_outcome(const struct optim *opt)
{
    struct optim_outcome outcome = {
        .end = optim_end(opt),
        .objective = opt->objective,
        .gradient_norm = opt->gradient_norm,
        .excess = opt->excess,
        .objective_first = opt->objective_first,
        .gain = gain_left(opt),
        .held_out = HUGE_VAL,
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

static double excess_allowed(const struct optim_options *options)
{
    return goes_by_accuracy(options) ? options->accuracy : EXCESS_SMALL;
}

void optim_judge(const struct optim_options *options,
                 struct optim_outcome *outcome)
{
    const double norm = outcome->gradient_norm;
    const double small = excess_allowed(options) * fabs(outcome->objective);
    const bool noisy =
        options->sampler.kind != SAMPLER_WHOLE && !outcome->at_model;
    const double most =
        fmax(outcome->objective_first * (noisy ? NOISE_MOST : RISE_MOST),
             outcome->blank);
    const bool open =
        outcome->end == OPTIM_STEPS || outcome->end == OPTIM_GOING;

    if (!isfinite(outcome->objective) || outcome->objective > most)
        outcome->end = OPTIM_DIVERGED;
    else if (open && outcome->at_model && options->tol <= 0 &&
             options->l2 > 0 && norm * norm <= 4 * options->l2 * small)
        outcome->end = OPTIM_CONVERGED;
}

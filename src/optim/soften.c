/*
 * soften.c - smoothing and continuation for losses with kinks: a state machine
 * around lbfgs and newton that lowers the width of the softened kinks until a
 * lower bound proves the model good enough.
 */
#include "optim/soften.h"

#include <math.h>

#include "base/check.h"
#include "math/kernel/kernel.h"
#include "math/vec.h"

enum soften_phase { START, DESCEND, TRUTH, BALANCE, END, PHASES };

/* Widths go down by 2^3. */
#define LEVEL_STEP 3u
/* f_t is least enough at this share of what is allowed in the end, or of t. */
#define SHARE_ALLOWED .1
#define SHARE_WIDTH   .01
/* Shifts of the intercept grow by this, and so many are tried. */
#define SHIFT_GROW 8
#define SHIFTS_MAX 40u
/* Steps in a row that gain next to nothing, after which more will not help. */
#define CALM_MOST 3000u
/* So often the proof is wanted better before the run is said to stall. */
#define PROOFS_MAX 8u

bool soften_on(const struct optim *opt)
{
    return opt->options.kinks && opt->ops->has_search;
}

bool soften_ended(const struct optim *opt)
{
    return opt->soften.phase == END;
}

static double allowed(const struct optim *opt)
{
    return opt->options.accuracy * fabs(opt->soften.truth);
}

static bool gap_reached(const struct optim *opt)
{
    return optim_gap_reached(&opt->options, opt->soften.truth);
}

bool soften_proved(const struct optim *opt)
{
    return soften_ended(opt) &&
           (gap_reached(opt) ||
            opt->soften.truth - opt->soften.least <= allowed(opt));
}

bool soften_fits(const struct optim *opt)
{
    return opt->soften.phase < PHASES && opt->soften.level <= LOSS_SOFTS;
}

struct evaluation soften_what(const struct optim *opt)
{
    struct evaluation what = {.kind = EVALUATE_GRADIENT, .w = opt->b};

    switch ((enum soften_phase)opt->soften.phase) {
    case DESCEND:
        what = opt->ops->what(opt);
        what.soft = opt->soften.level;
        break;
    case BALANCE:
        what.w = opt->point;
        what.soft = opt->soften.level;
        break;
    case START:
    case TRUTH:
    case END:
    case PHASES:
        break;
    }
    return what;
}

/* --- proofs -------------------------------------------------------------- */

/* |G|^2 / (4 a) over the weights that have a penalty. */
static double square_bound(const struct optim *opt, const double *gradient)
{
    double sum = 0;
    struct optim_span span = {0};

    while (optim_span_next(opt, &span)) {
        const double *const g = gradient + span.from;

        if (span.l2 > 0)
            sum += vec_dot(g, g, span.to - span.from) / (4 * span.l2);
    }
    return sum;
}

/* What f_t may be above its least value, but for an intercept. */
static double left_to_gain(const struct optim *opt)
{
    if (opt->options.l2 > 0)
        return square_bound(opt, opt->gradient);
    return optim_is_sure(opt) ? opt->excess : HUGE_VAL;
}

static double width(const struct optim *opt)
{
    return 1 / loss_hinge_soft(opt->soften.level).parameter;
}

/* Has the intercept a slope, and a penalty is there to prove anything by? */
static bool needs_balance(const struct optim *opt)
{
    const struct optim_options *o = &opt->options;

    return o->l2 > 0 && o->l2_stride > 0 && opt->gradient[o->l2_free] != 0;
}

/* The mean of (1) at b and at the point, where its gradient is in work and its
 * value is `value`, such that the slopes of the intercept cancel; work <- its
 * gradient at b. */
static double balanced_least(const struct optim *opt, double value)
{
    const double here = opt->gradient[opt->options.l2_free];
    const double there = opt->work[opt->options.l2_free];
    const double share = there / (there - here);
    double line = value;
    struct optim_span span = {0};

    while (optim_span_next(opt, &span)) {
        for (uint32_t j = span.from; j < span.to; j++) {
            const double way = opt->b[j] - opt->point[j];

            /* Of the plane that touches f_t there, with the parabola of the
             * penalty about b instead. */
            line += opt->work[j] * way + span.l2 * way * way;
            opt->work[j] += 2 * span.l2 * way;
            opt->work[j] =
                share * opt->gradient[j] + (1 - share) * opt->work[j];
        }
    }
    return share * opt->objective + (1 - share) * line -
           square_bound(opt, opt->work);
}

/* --- the machine --------------------------------------------------------- */

/* Begin f_t anew at b: the metric, pairs and Hessian of another t mislead. */
static void descend(struct optim *opt, double target)
{
    opt->soften.phase = DESCEND;
    opt->soften.target = target;
    opt->phase = 0;
    opt->pairs = 0;
    opt->calm = 0;
    opt->norm_first = 0;
    opt->excess = HUGE_VAL;
    opt->stalled = false;
}

static void next_level(struct optim *opt)
{
    const uint32_t level = opt->soften.level;

    opt->soften.level =
        level + LEVEL_STEP < LOSS_SOFTS ? level + LEVEL_STEP : LOSS_SOFTS;
    opt->soften.sure = false;
    opt->soften.proofs = 0;
    descend(opt, fmax(SHARE_ALLOWED * allowed(opt), SHARE_WIDTH * width(opt)));
}

static void end(struct optim *opt)
{
    opt->soften.phase = END;
    opt->objective = opt->soften.truth;
    opt->excess = opt->soften.truth - opt->soften.least;
}

/* Do steps lead nowhere, though none is refused?  A bound that rounding keeps
 * above its target would never end. */
static bool is_worn(const struct optim *opt)
{
    return opt->stalled || opt->calm >= CALM_MOST;
}

/* Go on at this width until it is so much better, or as good as it gets. */
static void prove_better(struct optim *opt)
{
    opt->soften.proofs++;
    opt->soften.sure = true;
    opt->soften.target = SHARE_ALLOWED * fmin(opt->soften.target, allowed(opt));
    if (is_worn(opt) || opt->soften.proofs > PROOFS_MAX)
        end(opt);
    else
        opt->soften.phase = DESCEND;
}

static void try_balance(struct optim *opt)
{
    const uint32_t free = opt->options.l2_free;

    opt->soften.phase = BALANCE;
    opt->soften.shifts = 0;
    for (uint32_t j = 0; j < opt->dims; j++)
        opt->direction[j] = j == free ? 1 : 0;
    opt->search.step = -SHIFT_GROW * width(opt) * opt->gradient[free];
    optim_place_trial(opt);
}

static void feed_truth(struct optim *opt, const double *sum, double loss_sum)
{
    struct soften *soften = &opt->soften;

    soften->truth = optim_measure(opt, opt->b, sum, loss_sum, opt->work);
    soften->least = opt->objective - left_to_gain(opt);
    if (gap_reached(opt)) {
        end(opt);
        return;
    }
    if (soften->truth - opt->objective > allowed(opt) / 2 &&
        soften->level < LOSS_SOFTS)
        next_level(opt);
    else if (soften->truth - soften->least > allowed(opt))
        prove_better(opt);
    else if (needs_balance(opt))
        try_balance(opt);
    else
        end(opt);
}

static void feed_balance(struct optim *opt, const double *sum, double loss_sum)
{
    const uint32_t free = opt->options.l2_free;
    const double value =
        optim_measure(opt, opt->point, sum, loss_sum, opt->work);

    if (isfinite(value) && opt->work[free] * opt->gradient[free] > 0 &&
        ++opt->soften.shifts < SHIFTS_MAX) {
        opt->search.step *= SHIFT_GROW;
        optim_place_trial(opt);
        return;
    }
    opt->soften.least = -HUGE_VAL;
    if (isfinite(value) && opt->work[free] * opt->gradient[free] <= 0)
        opt->soften.least = balanced_least(opt, value);
    if (opt->soften.truth - opt->soften.least > allowed(opt)) {
        prove_better(opt);
        if (opt->soften.phase == DESCEND)
            descend(opt, opt->soften.target);
        return;
    }
    end(opt);
}

static void feed_start(struct optim *opt, const double *sum, double loss_sum)
{
    optim_measure_first(opt, sum, loss_sum);
    opt->soften.truth = opt->objective;
    opt->soften.level = 1;
    if (!opt->diverged)
        descend(opt, SHARE_WIDTH * width(opt));
}

/* Is f_t least enough?  To go on to the next t the usual estimate will do; it
 * alone knows of the intercept. */
static bool is_level_done(const struct optim *opt)
{
    const double target = opt->soften.target;

    return is_worn(opt) || (opt->excess <= target &&
                            (!opt->soften.sure || left_to_gain(opt) <= target));
}

bool soften_feed(struct optim *opt, const double *sum, double loss_sum)
{
    bool updated = false;

    switch ((enum soften_phase)opt->soften.phase) {
    case START:
        feed_start(opt, sum, loss_sum);
        break;
    case DESCEND:
        updated = opt->ops->feed(opt, sum, loss_sum);
        if (!opt->diverged && is_level_done(opt))
            opt->soften.phase = TRUTH;
        break;
    case TRUTH:
        feed_truth(opt, sum, loss_sum);
        break;
    case BALANCE:
        feed_balance(opt, sum, loss_sum);
        break;
    case END:
    case PHASES:
        CHECK(!"fed after its end");
    }
    return updated;
}

/*
 * lbfgs.c - limited-memory BFGS: the direction comes from the last m pairs
 * (quasi.c).  4 m dims multiplications a step, against one pass over the data
 * for each trial of the line search.
 *
 *     FIRST --gradient at b--> METRIC --> TRIAL <--+ another trial
 *                                ^          |  |---+
 *                                +-seldom---+--> update, next direction, TRIAL
 *
 * Where trials on a line cost nothing, LINE comes before TRIAL, and TRIAL is
 * asked for once (line.c).
 */
#include <math.h>

#include "optim/parts.h"

enum lbfgs_phase { FIRST, TRIAL, METRIC, LINE, PHASES };

/* The metric is taken at the start, and again after so many steps and each time
 * their number has doubled: far from the start it is another. */
#define METRIC_AGAIN 8u

/* The few rows that lie on a soft kink are no measure of the columns: without
 * them it takes half the steps. */
static bool has_metric(const struct optim *opt)
{
    return opt->options.diagonal && !opt->options.kinks;
}

static uint32_t vectors(const struct optim *opt)
{
    /* b, gradient, direction, s, y; the metric. */
    return 3 + 2 * opt->options.memory + has_metric(opt);
}

static void place(struct optim *opt)
{
    const size_t dims = opt->dims;

    opt->b = opt->kept;
    opt->gradient = opt->kept + dims;
    opt->direction = opt->kept + 2 * dims;
    opt->pair_s = opt->kept + 3 * dims;
    opt->pair_y = opt->pair_s + opt->options.memory * dims;
    if (has_metric(opt))
        opt->metric = opt->pair_y + opt->options.memory * dims;
}

static struct evaluation what(const struct optim *opt)
{
    if (opt->phase == LINE)
        return line_what(opt);
    return (struct evaluation){
        .kind = opt->phase == METRIC ? EVALUATE_DIAGONAL : EVALUATE_GRADIENT,
        .w = opt->phase == TRIAL ? opt->point : opt->b,
    };
}

/* With pairs or a metric the direction has a length of its own; without, the
 * user's first step or one of length 1. */
static double first_step(const struct optim *opt)
{
    const double rate = opt->options.rate;

    if (opt->pairs > 0)
        return 1;
    if (rate > 0)
        return rate;
    return opt->metric != NULL ? 1 : 1 / opt->gradient_norm;
}

static void begin_trials(struct optim *opt)
{
    quasi_find_direction(opt);
    if (optim_begin_search(opt, first_step(opt),
                           opt->pairs > 0 || opt->metric != NULL, SEARCH_WOLFE))
        opt->pairs = 0;
    opt->phase = opt->options.line ? LINE : TRIAL;
}

static bool wants_metric(const struct optim *opt)
{
    const uint32_t step = opt->step;

    return opt->metric != NULL &&
           (opt->phase == FIRST ||
            (step >= METRIC_AGAIN && (step & (step - 1)) == 0));
}

static void begin_step(struct optim *opt)
{
    if (wants_metric(opt))
        opt->phase = METRIC;
    else
        begin_trials(opt);
}

static bool feed_first(struct optim *opt, const double *sum, double loss_sum)
{
    optim_measure_first(opt, sum, loss_sum);
    opt->weak = true;
    if (!opt->diverged && !optim_converged(opt))
        begin_step(opt);
    return false;
}

/* Old pairs may mislead where the curvature changed: once more without. */
static void search_failed(struct optim *opt)
{
    if (opt->pairs == 0) {
        opt->stalled = true;
        return;
    }
    opt->pairs = 0;
    begin_trials(opt);
}

static bool feed_trial(struct optim *opt, const double *sum, double loss_sum)
{
    double value;

    if (!optim_try(opt, sum, loss_sum, search_failed, &value))
        return false;
    quasi_keep_pair(opt);
    optim_count_calm(opt, opt->objective - value);
    optim_take_trial(opt, value);
    opt->step++;
    opt->diverged = optim_is_broken(opt);
    if (!opt->diverged)
        begin_step(opt);
    return true;
}

static bool feed(struct optim *opt, const double *sum, double loss_sum)
{
    if (opt->phase == METRIC) {
        optim_take_metric(opt, sum);
        begin_trials(opt);
        return false;
    }
    if (opt->phase == LINE) {
        if (line_feed(opt, sum, loss_sum, search_failed))
            opt->phase = TRIAL;
        return false;
    }
    return opt->phase == FIRST ? feed_first(opt, sum, loss_sum)
                               : feed_trial(opt, sum, loss_sum);
}

const struct optim_ops optim_lbfgs_ops = {
    "lbfgs", OPTIM_RATE_NONE, true, PHASES, vectors, place, what, feed, NULL};

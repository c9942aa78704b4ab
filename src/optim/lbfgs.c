/*
 * lbfgs.c - limited-memory BFGS: the direction comes from the last m pairs
 * (quasi.c).  4 m dims multiplications a step, against one pass over the data
 * for each trial of the line search.
 *
 *     FIRST --gradient at b--> TRIAL <--+ another trial
 *                                |  |---+
 *                                +--> update, next direction, TRIAL
 */
#include "math/vec.h"
#include "optim/parts.h"

enum lbfgs_phase { FIRST, TRIAL, PHASES };

static uint32_t vectors(const struct optim *opt)
{
    return 3 + 2 * opt->options.memory; /* b, gradient, direction, s, y. */
}

static void place(struct optim *opt)
{
    const size_t dims = opt->dims;

    opt->b = opt->kept;
    opt->gradient = opt->kept + dims;
    opt->direction = opt->kept + 2 * dims;
    opt->pair_s = opt->kept + 3 * dims;
    opt->pair_y = opt->pair_s + opt->options.memory * dims;
}

static struct evaluation what(const struct optim *opt)
{
    return (struct evaluation){
        .kind = EVALUATE_GRADIENT,
        .w = opt->phase == FIRST ? opt->b : opt->point,
    };
}

/* With pairs the direction has a length of its own; without, the user's first
 * step or one of length 1. */
static void begin_step(struct optim *opt)
{
    const double rate = opt->options.rate;
    const double first = rate > 0 ? rate : 1 / opt->gradient_norm;

    quasi_find_direction(opt);
    if (optim_begin_search(opt, opt->pairs > 0 ? 1 : first, opt->pairs > 0,
                           false))
        opt->pairs = 0;
    opt->phase = TRIAL;
}

static bool feed_first(struct optim *opt, const double *sum, double loss_sum)
{
    optim_measure_first(opt, sum, loss_sum);
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
    begin_step(opt);
}

static bool feed_trial(struct optim *opt, const double *sum, double loss_sum)
{
    double value;

    if (!optim_try(opt, sum, loss_sum, search_failed, &value))
        return false;
    quasi_keep_pair(opt);
    optim_take_trial(opt, value);
    opt->step++;
    opt->diverged = optim_is_broken(opt);
    if (!opt->diverged)
        begin_step(opt);
    return true;
}

static bool feed(struct optim *opt, const double *sum, double loss_sum)
{
    return opt->phase == FIRST ? feed_first(opt, sum, loss_sum)
                               : feed_trial(opt, sum, loss_sum);
}

const struct optim_ops optim_lbfgs_ops = {"lbfgs", false, true, PHASES,
                                          vectors, place, what, feed};

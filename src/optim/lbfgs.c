/*
 * lbfgs.c - limited-memory BFGS.
 *
 * Keeps the last m pairs s = change of w, y = change of the gradient, in a
 * ring; the two-loop recursion (Nocedal, "Updating Quasi-Newton Matrices with
 * Limited Storage", Math. Comp. 1980) applies the inverse Hessian they imply
 * to the gradient.  4 m dims multiplications a step, against one pass over the
 * data for each trial of the line search.
 *
 *     FIRST --gradient at b--> TRIAL <--+ another trial
 *                                |  |---+
 *                                +--> update, next direction, TRIAL
 */
#include <math.h>
#include <string.h>

#include "math/vec.h"
#include "optim/parts.h"

enum lbfgs_phase { FIRST, TRIAL, PHASES };

/* A pair whose s'y is below this share of |y|^2 would make the next direction
 * mostly noise. */
#define PAIR_LEAST 0x1p-52

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

/* The i-th newest pair's place in the ring. */
static uint32_t pair_at(const struct optim *opt, uint32_t i)
{
    const uint32_t memory = opt->options.memory;

    return (opt->newest + memory - i) % memory;
}

static void add_scaled(double *into, double scale, const double *from,
                       uint32_t count)
{
    for (uint32_t j = 0; j < count; j++)
        into[j] += scale * from[j];
}

/* direction <- -(inverse Hessian implied by the pairs) gradient. */
static void find_direction(struct optim *opt)
{
    const uint32_t dims = opt->dims;
    double alpha[OPTIM_MEMORY_MAX] = {0};
    double *p = opt->direction;

    for (uint32_t j = 0; j < dims; j++)
        p[j] = -opt->gradient[j];
    for (uint32_t i = 0; i < opt->pairs; i++) {
        const uint32_t at = pair_at(opt, i);
        const double *s = opt->pair_s + (size_t)at * dims;

        alpha[i] = opt->pair_rho[at] * vec_dot(s, p, dims);
        add_scaled(p, -alpha[i], opt->pair_y + (size_t)at * dims, dims);
    }
    if (opt->pairs > 0) {
        const double *y = opt->pair_y + (size_t)opt->newest * dims;
        const double scale =
            1 / (opt->pair_rho[opt->newest] * vec_dot(y, y, dims));

        for (uint32_t j = 0; j < dims; j++)
            p[j] *= scale;
    }
    for (uint32_t i = opt->pairs; i-- > 0;) {
        const uint32_t at = pair_at(opt, i);
        const double *y = opt->pair_y + (size_t)at * dims;
        const double beta = opt->pair_rho[at] * vec_dot(y, p, dims);

        add_scaled(p, alpha[i] - beta, opt->pair_s + (size_t)at * dims, dims);
    }
}

/* With pairs the direction has a length of its own; without, the user's first
 * step or one of length 1. */
static void begin_step(struct optim *opt)
{
    const double rate = opt->options.rate;
    const double first = rate > 0 ? rate : 1 / opt->gradient_norm;

    find_direction(opt);
    if (optim_begin_search(opt, opt->pairs > 0 ? 1 : first, false))
        opt->pairs = 0;
    opt->phase = TRIAL;
}

/* s and y of the trial just accepted; b and gradient are still the old. */
static void keep_pair(struct optim *opt)
{
    const uint32_t dims = opt->dims;
    const uint32_t at =
        opt->pairs == 0 ? 0 : (opt->newest + 1) % opt->options.memory;
    double *s = opt->pair_s + (size_t)at * dims;
    double *y = opt->pair_y + (size_t)at * dims;
    double sy, yy;

    for (uint32_t j = 0; j < dims; j++) {
        s[j] = opt->point[j] - opt->b[j];
        y[j] = opt->work[j] - opt->gradient[j];
    }
    sy = vec_dot(s, y, dims);
    yy = vec_dot(y, y, dims);
    if (!(sy > PAIR_LEAST * yy) || !isfinite(1 / sy)) {
        /* The oldest pair's place is already written over. */
        if (opt->pairs == opt->options.memory)
            opt->pairs--;
        return;
    }
    opt->pair_rho[at] = 1 / sy;
    opt->newest = at;
    if (opt->pairs < opt->options.memory)
        opt->pairs++;
}

static bool feed_first(struct optim *opt, const double *sum, double loss_sum)
{
    opt->objective = optim_measure(opt, opt->b, sum, loss_sum, opt->gradient);
    opt->gradient_norm = vec_norm(opt->gradient, opt->dims);
    opt->diverged = optim_is_broken(opt);
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
    const double value =
        optim_measure(opt, opt->point, sum, loss_sum, opt->work);
    const double slope = vec_dot(opt->work, opt->direction, opt->dims);

    switch (search_feed(&opt->search, value, slope)) {
    case SEARCH_ON:
        optim_place_trial(opt);
        return false;
    case SEARCH_FAIL:
        search_failed(opt);
        return false;
    case SEARCH_ACCEPT:
        break;
    }
    keep_pair(opt);
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

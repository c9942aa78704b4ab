/*
 * quasi.c - what past steps say of the curvature.
 *
 * The last `memory` pairs s = change of w, y = change of the gradient are kept
 * in a ring.  The two-loop recursion (Nocedal, "Updating Quasi-Newton Matrices
 * with Limited Storage", Math. Comp. 1980) applies the inverse Hessian that
 * they imply to the gradient; between the loops stands what is known besides:
 * the factor of a Hessian taken earlier, or a multiple of the metric's inverse.
 */
#include <math.h>

#include "math/vec.h"
#include "optim/cholesky.h"
#include "optim/parts.h"

/* A pair whose s'y is below this share of |y|^2 would make the next direction
 * mostly noise. */
#define PAIR_LEAST 0x1p-52

uint32_t quasi_pair_at(const struct optim *opt, uint32_t i)
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

/* p <- the inverse Hessian without pairs, times p. */
static void apply_base(struct optim *opt, double *p)
{
    const uint32_t dims = opt->dims;

    if (opt->factor != NULL) {
        cholesky_solve(opt->factor, dims, p);
        return;
    }
    optim_unscale(opt, p, p);
    if (opt->pairs > 0) {
        const double *y = opt->pair_y + (size_t)opt->newest * dims;
        double scale;

        optim_unscale(opt, y, opt->work);
        scale = 1 / (opt->pair_rho[opt->newest] * vec_dot(y, opt->work, dims));
        for (uint32_t j = 0; j < dims; j++)
            p[j] *= scale;
    }
}

void quasi_find_direction(struct optim *opt)
{
    const uint32_t dims = opt->dims;
    double alpha[OPTIM_MEMORY_MAX] = {0};
    double *p = opt->direction;

    for (uint32_t j = 0; j < dims; j++)
        p[j] = -opt->gradient[j];
    for (uint32_t i = 0; i < opt->pairs; i++) {
        const uint32_t at = quasi_pair_at(opt, i);
        const double *s = opt->pair_s + (size_t)at * dims;

        alpha[i] = opt->pair_rho[at] * vec_dot(s, p, dims);
        add_scaled(p, -alpha[i], opt->pair_y + (size_t)at * dims, dims);
    }
    apply_base(opt, p);
    for (uint32_t i = opt->pairs; i-- > 0;) {
        const uint32_t at = quasi_pair_at(opt, i);
        const double *y = opt->pair_y + (size_t)at * dims;
        const double beta = opt->pair_rho[at] * vec_dot(y, p, dims);

        add_scaled(p, alpha[i] - beta, opt->pair_s + (size_t)at * dims, dims);
    }
}

void quasi_keep_pair(struct optim *opt)
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

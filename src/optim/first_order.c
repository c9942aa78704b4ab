/*
 * first_order.c - gd, agd, momentum and adam: one gradient, one update; and
 * the average, which has only to add.
 *
 * Each update walks the coordinates once; a coordinate depends on no other.
 */
#include <math.h>

#include "math/vec.h"
#include "optim/parts.h"

/* Move b by one step with the gradient sum g (or opt->gradient, that of the
 * objective) taken at b; coordinates of one span. */
typedef void (*update_function)(struct optim *opt, const double *g,
                                const struct span *span);

static struct evaluation at_model(const struct optim *opt)
{
    return (struct evaluation){.kind = EVALUATE_GRADIENT, .w = opt->b};
}

static uint32_t one_vector(const struct optim *opt)
{
    (void)opt;
    return 1;
}

static uint32_t two_vectors(const struct optim *opt)
{
    (void)opt;
    return 2;
}

static uint32_t three_vectors(const struct optim *opt)
{
    (void)opt;
    return 3;
}

static void place(struct optim *opt)
{
    opt->b = opt->kept;
    opt->u = opt->vectors > 1 ? opt->kept + opt->dims : NULL;
    opt->v = opt->vectors > 2 ? opt->kept + 2 * (size_t)opt->dims : NULL;
}

static bool feed(struct optim *opt, const double *sum, double loss_sum,
                 update_function update)
{
    struct span span[SPANS];

    opt->objective = optim_measure(opt, opt->b, sum, loss_sum, opt->gradient);
    opt->gradient_norm = vec_norm(opt->gradient, opt->dims);
    if (optim_converged(opt))
        return false;
    optim_spans(opt, span);
    for (int i = 0; i < SPANS; i++)
        update(opt, sum, &span[i]);
    opt->step++;
    opt->diverged = optim_is_broken(opt);
    return true;
}

/* --- gd ------------------------------------------------------------------ */

static void gd_update(struct optim *opt, const double *g,
                      const struct span *span)
{
    const double eta = optim_rate(opt);
    const double keep = 1 - 2 * span->l2 * eta;
    const double scale = eta / (double)opt->options.rows;

    for (uint32_t j = span->from; j < span->to; j++)
        opt->b[j] = keep * opt->b[j] - scale * g[j];
}

static bool gd_feed(struct optim *opt, const double *sum, double loss_sum)
{
    return feed(opt, sum, loss_sum, gd_update);
}

const struct optim_ops optim_gd_ops = {"gd",       true,  false,    1,
                                       one_vector, place, at_model, gd_feed};

/* --- agd ----------------------------------------------------------------- */

static void agd_update(struct optim *opt, const double *g,
                       const struct span *span)
{
    const double eta = optim_rate(opt);
    const double th = 2 / ((double)opt->step + 2);
    const double shrink = 2 * span->l2 * eta;
    const double scale = eta / (double)opt->options.rows;

    for (uint32_t j = span->from; j < span->to; j++) {
        const double b = opt->b[j];
        const double v = (1 - th) * b + th * opt->u[j];
        const double next = v - scale * g[j] - shrink * b;

        opt->u[j] = b + (next - b) / th;
        opt->b[j] = next;
    }
}

static bool agd_feed(struct optim *opt, const double *sum, double loss_sum)
{
    return feed(opt, sum, loss_sum, agd_update);
}

const struct optim_ops optim_agd_ops = {"agd",       true,  false,    1,
                                        two_vectors, place, at_model, agd_feed};

/* --- momentum ------------------------------------------------------------ */

static void momentum_update(struct optim *opt, const double *g,
                            const struct span *span)
{
    const double eta = optim_rate(opt);
    const double mu = opt->options.momentum;
    const bool nesterov = opt->options.nesterov;

    (void)g;
    for (uint32_t j = span->from; j < span->to; j++) {
        const double slope = opt->gradient[j];
        const double u = mu * opt->u[j] + slope;

        opt->u[j] = u;
        opt->b[j] -= eta * (nesterov ? slope + mu * u : u);
    }
}

static bool momentum_feed(struct optim *opt, const double *sum, double loss_sum)
{
    return feed(opt, sum, loss_sum, momentum_update);
}

const struct optim_ops optim_momentum_ops = {
    "momentum", true, false, 1, two_vectors, place, at_model, momentum_feed};

/* --- adam ---------------------------------------------------------------- */

/* Kingma & Ba, "Adam", ICLR 2015.  The root is one IEEE operation. */
static void adam_update(struct optim *opt, const double *g,
                        const struct span *span)
{
    const struct optim_options *o = &opt->options;
    const double eta = optim_rate(opt);
    const double warm1 = 1 - optim_power(o->beta1, opt->step + 1);
    const double warm2 = 1 - optim_power(o->beta2, opt->step + 1);

    (void)g;
    for (uint32_t j = span->from; j < span->to; j++) {
        const double slope = opt->gradient[j];
        const double u = o->beta1 * opt->u[j] + (1 - o->beta1) * slope;
        const double v =
            o->beta2 * opt->v[j] + (1 - o->beta2) * (slope * slope);

        opt->u[j] = u;
        opt->v[j] = v;
        opt->b[j] -= eta * (u / warm1) / (sqrt(v / warm2) + o->epsilon);
    }
}

static bool adam_feed(struct optim *opt, const double *sum, double loss_sum)
{
    return feed(opt, sum, loss_sum, adam_update);
}

const struct optim_ops optim_adam_ops = {
    "adam", true, false, 1, three_vectors, place, at_model, adam_feed};

/* --- average ------------------------------------------------------------- */

static struct evaluation from_model(const struct optim *opt)
{
    return (struct evaluation){.kind = EVALUATE_LOCAL, .w = opt->b};
}

/* Means, not sums: the mean of one part alone is then that part's, to the
 * bit.  The objective is that of the weights the parts began from. */
static bool average_feed(struct optim *opt, const double *mean,
                         double loss_mean)
{
    struct span span[SPANS];

    opt->objective = loss_mean;
    optim_spans(opt, span);
    for (int i = 0; i < SPANS; i++) {
        const double *const b = opt->b + span[i].from;

        if (span[i].from < span[i].to)
            opt->objective +=
                span[i].l2 * vec_dot(b, b, span[i].to - span[i].from);
    }
    opt->gradient_norm = vec_norm(mean, opt->dims);
    for (uint32_t j = 0; j < opt->dims; j++)
        opt->b[j] += mean[j];
    opt->step++;
    opt->diverged = optim_is_broken(opt);
    return true;
}

const struct optim_ops optim_average_ops = {
    "average", false, false, 1, one_vector, place, from_model, average_feed};

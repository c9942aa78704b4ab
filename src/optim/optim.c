/*
 * optim.c - gd and agd.
 *
 * Bits.  Every update is element-wise with the operations in the order the
 * formulas of optim.h are written (2 a eta = (2 a) eta), nothing fused; the
 * power decay^i is by square and multiply from the lowest bit of i; norms run
 * in the fixed order of math/vec.h.  So the weights depend on the options and
 * the fed sums alone.
 */
#include "optim/optim.h"

#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "math/vec.h"

/* One row per kind.  `update` moves b (and u) by one step with the gradient
 * sum `g` taken at b. */
struct optim_ops {
    const char *name;
    bool has_u;
    void (*update)(struct optim *opt, const double *g);
};

double optim_rate(const struct optim *opt)
{
    double power = 1;
    double square = opt->options.decay;

    for (uint32_t i = opt->step; i != 0; i >>= 1) {
        if (i & 1)
            power *= square;
        square *= square;
    }
    return opt->options.rate * power;
}

static void gd_update(struct optim *opt, const double *g)
{
    const double eta = optim_rate(opt);
    const double keep = 1 - 2 * opt->options.l2 * eta;
    const double scale = eta / (double)opt->options.rows;

    for (uint32_t j = 0; j < opt->dims; j++)
        opt->b[j] = keep * opt->b[j] - scale * g[j];
}

static void agd_update(struct optim *opt, const double *g)
{
    const double eta = optim_rate(opt);
    const double th = 2 / ((double)opt->step + 2);
    const double shrink = 2 * opt->options.l2 * eta;
    const double scale = eta / (double)opt->options.rows;

    for (uint32_t j = 0; j < opt->dims; j++) {
        const double b = opt->b[j];
        const double v = (1 - th) * b + th * opt->u[j];
        const double next = v - scale * g[j] - shrink * b;

        opt->u[j] = b + (next - b) / th;
        opt->b[j] = next;
    }
}

static const struct optim_ops kinds[] = {
    [OPTIM_GD] = {"gd", false, gd_update},
    [OPTIM_AGD] = {"agd", true, agd_update},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

enum err optim_parse(const char *name, enum optim_kind *kind)
{
    for (unsigned i = 0; i < KINDS; i++) {
        if (strcmp(name, kinds[i].name) == 0) {
            *kind = (enum optim_kind)i;
            return ERR_OK;
        }
    }
    return ERR_UNKNOWN;
}

const char *optim_name(enum optim_kind kind)
{
    CHECK((unsigned)kind < KINDS);
    return kinds[kind].name;
}

static bool options_fit(const struct optim_options *options)
{
    return (unsigned)options->kind < KINDS && isfinite(options->rate) &&
           options->rate > 0 && isfinite(options->decay) &&
           options->decay > 0 && isfinite(options->l2) && options->l2 >= 0 &&
           options->rows > 0 && isfinite(options->tol) && options->tol >= 0;
}

enum err optim_init(struct optim *opt, const struct optim_options *options,
                    uint32_t dims)
{
    struct optim made = {.options = *options, .dims = dims};

    if (dims == 0 || !options_fit(options))
        return ERR_SHAPE;
    made.ops = &kinds[options->kind];
    made.objective = nan("");
    made.gradient_norm = HUGE_VAL;
    made.b = mem_new(dims, sizeof *made.b);
    if (made.ops->has_u)
        made.u = mem_new(dims, sizeof *made.u);
    made.gradient = mem_new(dims, sizeof *made.gradient);
    if (made.b == NULL || made.gradient == NULL ||
        (made.ops->has_u && made.u == NULL)) {
        optim_close(&made);
        return ERR_NOMEM;
    }
    *opt = made;
    return ERR_OK;
}

void optim_close(struct optim *opt)
{
    mem_free(opt->b);
    mem_free(opt->u);
    mem_free(opt->gradient);
    *opt = (struct optim){0};
}

bool optim_converged(const struct optim *opt)
{
    return opt->options.tol > 0 && opt->gradient_norm <= opt->options.tol;
}

struct ask optim_next(const struct optim *opt)
{
    if (opt->step >= opt->options.steps || opt->diverged ||
        optim_converged(opt))
        return (struct ask){.kind = ASK_DONE, .point = opt->b};
    return (struct ask){.kind = ASK_GRADIENT, .point = opt->b};
}

/* Objective and its gradient g/N + 2 a b at the point just evaluated. */
static void measure(struct optim *opt, const double *g, double loss_sum)
{
    const double rows = (double)opt->options.rows;
    const double twice = 2 * opt->options.l2;

    for (uint32_t j = 0; j < opt->dims; j++)
        opt->gradient[j] = g[j] / rows + twice * opt->b[j];
    opt->gradient_norm = vec_norm(opt->gradient, opt->dims);
    opt->objective =
        loss_sum / rows + opt->options.l2 * vec_dot(opt->b, opt->b, opt->dims);
}

/* What optim_next refuses to go on from. */
static bool is_finite(const struct optim *opt)
{
    return isfinite(opt->gradient_norm) && isfinite(opt->objective) &&
           vec_finite(opt->b, opt->dims);
}

void optim_feed(struct optim *opt, const double *gradient_sum, double loss_sum)
{
    CHECK(optim_next(opt).kind == ASK_GRADIENT);
    measure(opt, gradient_sum, loss_sum);
    if (optim_converged(opt))
        return;
    opt->ops->update(opt, gradient_sum);
    opt->step++;
    opt->diverged = !is_finite(opt);
}

const double *optim_weights(const struct optim *opt)
{
    return opt->b;
}

/* kind, dims, step, objective, gradient_norm; then b and u. */
enum { STATE_HEAD = 1 + 4 + 4 + 8 + 8 };

size_t optim_state_bytes(const struct optim *opt)
{
    const size_t vectors = opt->ops->has_u ? 2 : 1;

    return STATE_HEAD + vectors * opt->dims * sizeof *opt->b;
}

static void put_vector(struct writer *out, const double *values, uint32_t count)
{
    for (uint32_t j = 0; j < count; j++)
        put_f64(out, values[j]);
}

void optim_save(const struct optim *opt, struct writer *out)
{
    put_u8(out, (uint8_t)opt->options.kind);
    put_u32(out, opt->dims);
    put_u32(out, opt->step);
    put_f64(out, opt->objective);
    put_f64(out, opt->gradient_norm);
    put_vector(out, opt->b, opt->dims);
    if (opt->ops->has_u)
        put_vector(out, opt->u, opt->dims);
}

static void get_vector(struct reader *in, double *values, uint32_t count)
{
    for (uint32_t j = 0; j < count; j++)
        values[j] = get_f64(in);
}

enum err optim_load(struct optim *opt, struct reader *in)
{
    const size_t size = optim_state_bytes(opt);
    const uint8_t *const view = get_view(in, size);
    struct reader state = reader_on(view, view == NULL ? 0 : size);

    if (view == NULL || get_u8(&state) != (uint8_t)opt->options.kind ||
        get_u32(&state) != opt->dims)
        return ERR_FORMAT;
    opt->step = get_u32(&state);
    opt->objective = get_f64(&state);
    opt->gradient_norm = get_f64(&state);
    get_vector(&state, opt->b, opt->dims);
    if (opt->ops->has_u)
        get_vector(&state, opt->u, opt->dims);
    CHECK(reader_done(&state));
    opt->diverged = opt->step > 0 && !is_finite(opt);
    return ERR_OK;
}

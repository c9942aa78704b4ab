/*
 * golden.c - a few steps of each optimiser on a fixed problem, to the bit.
 *
 * What the machine's kernels compute has golden vectors of its own, so sums are
 * those of the reference functions here; the problem is small, and hard enough
 * that line searches, pairs, conjugate gradients and soft kinks are all used.
 */
#include "optim/golden.h"

#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/rng.h"
#include "math/kernel/kernel.h"
#include "optim/local.h"
#include "optim/optim.h"
#include "optim/sgd.h"

#define SEED UINT64_C(0x6f7074696d)

enum {
    ROWS = 19,
    COLS = 7, /* The last one is the intercept's. */
    STRIDE = 8,
    TRIANGLE = STRIDE * (STRIDE + 1) / 2,
    STEPS = 5,
    ASKS = 60, /* No optimiser here asks as often. */
};

struct fixed {
    struct dense_rows in;
    float x[ROWS * STRIDE];
    double y[ROWS];
    struct loss loss;
};

static void make(struct fixed *fixed)
{
    memset(fixed, 0, sizeof *fixed);
    for (uint32_t i = 0; i < ROWS; i++) {
        fixed->y[i] = rng_unit_at(SEED, 0, i) < .5 ? -1.0 : 1.0;
        for (uint32_t j = 0; j < COLS - 1; j++)
            fixed->x[i * STRIDE + j] =
                (float)ldexp(rng_unit_at(SEED, 1 + i, j) - .5, (int)j - 2);
        fixed->x[i * STRIDE + COLS - 1] = 1;
    }
    fixed->in = (struct dense_rows){
        .x = fixed->x, .y = fixed->y, .rows = ROWS, .stride = STRIDE};
    fixed->loss = loss_plain(LOSS_LOGISTIC);
}

static double evaluate(const struct fixed *fixed, const struct evaluation *what,
                       double *sum)
{
    const struct loss loss =
        what->soft == 0 ? fixed->loss : loss_hinge_soft(what->soft);
    double hessian[TRIANGLE];
    double loss_sum = 0;

    if (what->kind == EVALUATE_GRADIENT)
        kernel_gradient_ref(loss, &fixed->in, what->w, sum, &loss_sum);
    else if (what->kind == EVALUATE_HESSVEC)
        kernel_hessvec_ref(loss, &fixed->in, what->w, what->v, sum);
    else if (what->kind == EVALUATE_HESSIAN)
        kernel_hessian_ref(loss, &fixed->in, what->w, sum);
    else {
        CHECK(what->kind == EVALUATE_DIAGONAL);
        kernel_hessian_ref(loss, &fixed->in, what->w, hessian);
        for (uint32_t j = 0; j < STRIDE; j++)
            sum[j] = hessian[j * (j + 1) / 2 + j];
    }
    return loss_sum;
}

/* False: out of memory. */
static bool add_steps(struct hasher *hasher, const struct fixed *fixed,
                      const struct optim_options *options)
{
    double sum[TRIANGLE] = {0};
    struct optim opt;
    struct ask ask;

    if (optim_init(&opt, options, STRIDE) != ERR_OK)
        return false;
    for (int i = 0; i < ASKS; i++) {
        ask = optim_next(&opt);
        if (ask.kind == ASK_DONE)
            break;
        (void)optim_feed(&opt, sum, evaluate(fixed, &ask.what, sum));
    }
    hasher_add_f64(hasher, optim_weights(&opt), STRIDE);
    hasher_add_f64(hasher, &opt.objective, 1);
    hasher_add_f64(hasher, &opt.gradient_norm, 1);
    optim_close(&opt);
    return true;
}

static struct optim_options usual(enum optim_kind kind)
{
    struct optim_options options = optim_defaults(kind);

    options.steps = STEPS;
    options.rows = ROWS;
    options.l2 = 0x1p-6;
    options.l2_free = COLS - 1;
    options.l2_stride = STRIDE;
    return options;
}

static bool add_first_order(struct hasher *hasher, const struct fixed *fixed)
{
    static const enum optim_kind kinds[] = {OPTIM_GD, OPTIM_AGD, OPTIM_MOMENTUM,
                                            OPTIM_ADAM};
    struct optim_options options;
    bool ok = true;

    for (size_t k = 0; ok && k < sizeof kinds / sizeof *kinds; k++) {
        options = usual(kinds[k]);
        options.decay = 0x1.fp-1;
        ok = add_steps(hasher, fixed, &options);
    }
    options = usual(OPTIM_NESTEROV);
    options.schedule = SCHEDULE_INVERSE;
    return ok && add_steps(hasher, fixed, &options);
}

/* Rates that rise and fall, gradients that are shortened. */
static bool add_schedules(struct hasher *hasher, const struct fixed *fixed)
{
    struct optim_options options = usual(OPTIM_ADAMW);
    bool ok;

    options.schedule = SCHEDULE_COSINE;
    options.warmup = 2;
    ok = add_steps(hasher, fixed, &options);
    options = usual(OPTIM_GD);
    options.schedule = SCHEDULE_STEP;
    options.decay = 0x1.8p-1;
    options.decay_every = 2;
    options.clip = 0x1p-4;
    return ok && add_steps(hasher, fixed, &options);
}

/* lbfgs; newton with a Hessian and by conjugate gradients; on a loss with kinks
 * that are softened. */
static bool add_second_order(struct hasher *hasher, struct fixed *fixed)
{
    struct optim_options options = usual(OPTIM_LBFGS);
    bool ok;

    options.diagonal = true;
    options.weight_bits = 30;
    ok = add_steps(hasher, fixed, &options);
    options = usual(OPTIM_NEWTON);
    options.diagonal = true;
    ok = ok && add_steps(hasher, fixed, &options);
    options.dense_max = 0;
    ok = ok && add_steps(hasher, fixed, &options);
    fixed->loss = loss_plain(LOSS_HINGE);
    options.kinks = true;
    options.accuracy = 0x1p-20;
    ok = ok && add_steps(hasher, fixed, &options);
    fixed->loss = loss_plain(LOSS_LOGISTIC);
    return ok;
}

static struct sgd_row row(void *context, uint32_t i)
{
    const struct fixed *const fixed = context;

    return (struct sgd_row){.value = fixed->x + (size_t)i * STRIDE,
                            .count = COLS,
                            .y = fixed->y[i],
                            .weight = 1};
}

static enum err gradient(void *context, const double *w, double *sum,
                         double *loss_sum)
{
    const struct fixed *const fixed = context;

    kernel_gradient_ref(fixed->loss, &fixed->in, w, sum, loss_sum);
    return ERR_OK;
}

static bool add_alone(struct hasher *hasher, struct fixed *fixed)
{
    const struct sgd_options sgd = {.loss = {.kind = LOSS_HINGE},
                                    .rate = 1,
                                    .c = 3,
                                    .passes = 2,
                                    .rows = ROWS,
                                    .dims = STRIDE,
                                    .shuffle = true,
                                    .seed = SEED,
                                    .has_free = true,
                                    .free = COLS - 1};
    const struct local_part part = {.context = fixed,
                                    .rows = ROWS,
                                    .counted = ROWS,
                                    .cols = COLS,
                                    .dims = STRIDE,
                                    .loss = fixed->loss,
                                    .gradient = gradient,
                                    .row = row};
    const struct local local = {.kind = OPTIM_GD,
                                .schedule = SCHEDULE_DECAY,
                                .rate = 0.5,
                                .decay = 0x1.fp-1,
                                .l2 = 0x1p-6,
                                .every = 3,
                                .steps = 6};
    double w[STRIDE] = {0};
    double out[STRIDE + 1] = {0};

    if (sgd_train(&sgd, row, fixed, w) == ERR_NOMEM ||
        local_run(&local, &part, 1, w, out) == ERR_NOMEM)
        return false;
    hasher_add_f64(hasher, w, STRIDE);
    hasher_add_f64(hasher, out, STRIDE + 1);
    return true;
}

static struct digest compute(const enum isa *isa)
{
    const struct digest none = {{0}};
    struct hasher hasher;
    struct fixed fixed;
    struct digest digest;
    bool ok;

    (void)isa;
    make(&fixed);
    hasher_init(&hasher);
    ok = add_first_order(&hasher, &fixed) &&
         add_second_order(&hasher, &fixed) && add_alone(&hasher, &fixed) &&
         add_schedules(&hasher, &fixed);
    digest = hasher_end(&hasher);
    return ok ? digest : none;
}

const struct golden_part optim_golden = {
    "optim-f64-1", compute,
    "8d866393677126928ab1b1c6e5d85ff47d822ac30cdd6d29fa330c17c3cfa827"};

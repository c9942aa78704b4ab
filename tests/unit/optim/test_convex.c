/*
 * Every optimiser finds the optimum of random convex problems (least squares
 * and logistic, well and ill conditioned, with a column of zeros as padding)
 * that a plain Newton in long double found before; and a run saved and loaded
 * between any two evaluations ends with the same bits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "optim/cholesky.h"
#include "optim/optim.h"

enum { ROWS = 60, DIMS = 9, TRIANGLE = DIMS * (DIMS + 1) / 2 };
#define L2 1e-3

struct convex {
    bool logistic;
    double x[ROWS][DIMS];
    double y[ROWS];
};

/* Columns spread over `orders` powers of ten; the last one is padding. */
static void make(struct convex *p, bool logistic, uint64_t seed, double orders)
{
    p->logistic = logistic;
    for (uint32_t i = 0; i < ROWS; i++) {
        double z = rng_normal_at(seed, 1000, i);

        for (uint32_t j = 0; j < DIMS; j++) {
            const double size = pow(10, -orders * j / DIMS);

            p->x[i][j] = j == DIMS - 1 ? 0 : size * rng_normal_at(seed, j, i);
            z += p->x[i][j] / size;
        }
        p->y[i] = logistic ? (z < 0 ? -1 : 1) : z;
    }
}

struct row_terms {
    long double loss, r, h;
};

static struct row_terms terms(const struct convex *p, int i, const double *w)
{
    const long double y = (long double)p->y[i];
    long double z = 0, e;

    for (int j = 0; j < DIMS; j++)
        z += (long double)p->x[i][j] * (long double)w[j];
    if (!p->logistic)
        return (struct row_terms){(z - y) * (z - y), 2 * (z - y), 2};
    e = expl(-fabsl(y * z));
    return (struct row_terms){
        log1pl(e) + (y * z < 0 ? -y * z : 0),
        -y * (y * z < 0 ? 1 : e) / (1 + e),
        e / ((1 + e) * (1 + e)),
    };
}

/* What the cluster would do. */
static double evaluate_rows(const struct convex *p,
                            const struct evaluation *what, double *sum)
{
    long double total[TRIANGLE] = {0}, loss = 0;

    for (int i = 0; i < ROWS; i++) {
        const struct row_terms t = terms(p, i, what->w);
        long double factor = what->kind == EVALUATE_GRADIENT ? t.r : 0;
        int at = 0;

        loss += t.loss;
        for (int j = 0; j < DIMS && what->kind == EVALUATE_HESSVEC; j++)
            factor += t.h * (long double)(p->x[i][j] * what->v[j]);
        for (int j = 0; j < DIMS && what->kind == EVALUATE_DIAGONAL; j++)
            total[j] += t.h * (long double)(p->x[i][j] * p->x[i][j]);
        for (int j = 0; j < DIMS && what->kind != EVALUATE_HESSIAN; j++)
            total[j] += factor * (long double)p->x[i][j];
        for (int j = 0; j < DIMS && what->kind == EVALUATE_HESSIAN; j++) {
            for (int k = 0; k <= j; k++)
                total[at++] += t.h * (long double)(p->x[i][j] * p->x[i][k]);
        }
    }
    for (uint32_t j = 0; j < evaluation_dims(what->kind, DIMS); j++)
        sum[j] = (double)total[j];
    return (double)loss;
}

/* ... and who has its scores. */
static double evaluate(const struct convex *p, const struct evaluation *what,
                       double *sum)
{
    struct evaluation at = {.kind = EVALUATE_GRADIENT};
    double point[DIMS], gradient[DIMS];
    double loss;

    if (what->kind != EVALUATE_LINE)
        return evaluate_rows(p, what, sum);
    for (int j = 0; j < DIMS; j++)
        point[j] = what->w[j] + what->step * what->v[j];
    at.w = point;
    loss = evaluate_rows(p, &at, gradient);
    sum[0] = 0;
    for (int j = 0; j < DIMS; j++)
        sum[0] += gradient[j] * what->v[j];
    return loss;
}

static double objective(const struct convex *p, const double *w)
{
    long double f = 0;

    for (int i = 0; i < ROWS; i++)
        f += terms(p, i, w).loss / ROWS;
    for (int j = 0; j < DIMS; j++)
        f += (long double)(L2 * w[j] * w[j]);
    return (double)f;
}

/* Damped Newton, written apart from src/optim. */
static double optimum(const struct convex *p)
{
    double w[DIMS] = {0};

    for (int it = 0; it < 60; it++) {
        double g[DIMS], h[TRIANGLE], next[DIMS];
        const struct evaluation gradient = {.kind = EVALUATE_GRADIENT, .w = w};
        const struct evaluation hessian = {.kind = EVALUATE_HESSIAN, .w = w};
        double step = 1;

        (void)evaluate(p, &gradient, g);
        (void)evaluate(p, &hessian, h);
        for (int j = 0; j < DIMS; j++) {
            g[j] = g[j] / ROWS + 2 * L2 * w[j];
            h[j * (j + 1) / 2 + j] += ROWS * 2 * L2;
        }
        cholesky_factor(h, DIMS);
        cholesky_solve(h, DIMS, g);
        do {
            for (int j = 0; j < DIMS; j++)
                next[j] = w[j] - step * ROWS * g[j];
            step /= 2;
        } while (objective(p, next) > objective(p, w) && step > 1e-9);
        if (objective(p, next) < objective(p, w))
            memcpy(w, next, sizeof w);
    }
    return objective(p, w);
}

static struct optim_options options_of(enum optim_kind kind)
{
    struct optim_options options = optim_defaults(kind);

    options.l2 = L2;
    options.rows = ROWS;
    options.steps = 100000;
    return options;
}

static void advance(struct optim *opt, const struct convex *p, uint64_t until)
{
    double sum[TRIANGLE];
    struct ask ask;

    while (opt->evaluations < until &&
           (ask = optim_next(opt)).kind != ASK_DONE) {
        const uint32_t step = opt->step;
        const uint32_t round = opt->round;
        double before[DIMS];
        bool updated;

        assert_true(ask.point == ask.what.w);
        assert_true(evaluation_dims(ask.what.kind, DIMS) <=
                    optim_sum_dims(opt));
        memcpy(before, optim_weights(opt), sizeof before);
        const double loss = evaluate(p, &ask.what, sum);

        updated = optim_feed(opt, sum, loss);
        assert_int_equal(opt->step, step + updated);
        assert_int_equal(opt->round, updated ? 0 : round + 1);
        if (!updated)
            assert_memory_equal(before, optim_weights(opt), sizeof before);
    }
}

struct effort {
    uint64_t evaluations, most;
    uint32_t steps;
};

/* Up to the gap; returns what it took. */
static void assert_reaches(const struct optim_options *options,
                           const struct convex *p, double gap,
                           struct effort *effort)
{
    struct optim_options o = *options;
    struct optim opt;

    o.optimum = optimum(p);
    o.gap = gap;
    assert_int_equal(optim_init(&opt, &o, DIMS), ERR_OK);
    advance(&opt, p, UINT64_MAX);
    assert_false(opt.diverged);
    assert_true(optim_converged(&opt));
    assert_true(objective(p, optim_weights(&opt)) <=
                o.optimum + 1.01 * gap * fabs(o.optimum));
    effort->evaluations += opt.evaluations;
    effort->steps += opt.step;
    if (opt.evaluations > effort->most)
        effort->most = opt.evaluations;
    optim_close(&opt);
}

static struct effort assert_solves(const struct optim_options *options,
                                   double orders, const char *name)
{
    struct effort effort = {0};

    for (uint64_t seed = 0; seed < 12; seed++) {
        struct convex p;

        make(&p, seed % 2 == 0, 77 + seed, orders);
        assert_reaches(options, &p, 1e-9, &effort);
    }
    printf("%-16s to a gap of 1e-9, 12 problems over %g orders: %llu "
           "evaluations in %u steps, at most %llu a problem\n",
           name, orders, (unsigned long long)effort.evaluations, effort.steps,
           (unsigned long long)effort.most);
    return effort;
}

static void test_first_order_converges(void **state)
{
    struct optim_options options;

    (void)state;
    options = options_of(OPTIM_GD), options.rate = 0.05;
    (void)assert_solves(&options, 0, "gd");
    options = options_of(OPTIM_AGD), options.rate = 0.05;
    (void)assert_solves(&options, 0, "agd");
    options = options_of(OPTIM_MOMENTUM), options.rate = 0.05;
    (void)assert_solves(&options, 0, "momentum");
    options = options_of(OPTIM_NESTEROV), options.rate = 0.05;
    (void)assert_solves(&options, 0, "nesterov");
    options = options_of(OPTIM_ADAM), options.rate = 0.02;
    (void)assert_solves(&options, 0, "adam");
}

static void test_lbfgs_converges(void **state)
{
    struct optim_options options = options_of(OPTIM_LBFGS);

    (void)state;
    assert_true(assert_solves(&options, 0, "lbfgs").most < 60);
    assert_true(assert_solves(&options, 3, "lbfgs").most < 20);
    assert_true(assert_solves(&options, 9, "lbfgs").most < 20);
    options.memory = 3;
    assert_true(assert_solves(&options, 0, "lbfgs, memory 3").most < 80);
    options.rate = 1e-6; /* Far too short and far too long a first step. */
    assert_true(assert_solves(&options, 0, "lbfgs, short").most < 80);
    options.rate = 1e6;
    assert_true(assert_solves(&options, 0, "lbfgs, long").most < 80);
}

static void test_newton_converges(void **state)
{
    struct optim_options options = options_of(OPTIM_NEWTON);

    (void)state;
    assert_true(assert_solves(&options, 0, "newton, dense").most < 30);
    assert_true(assert_solves(&options, 3, "newton, dense").most < 30);
    options.dense_max = 0;
    assert_true(assert_solves(&options, 0, "newton, cg").most < 80);
    assert_true(assert_solves(&options, 3, "newton, cg").most < 40);
    assert_true(assert_solves(&options, 9, "newton, cg").most < 40);
}

/* Trials on a line are no gradients: one of these a step, however bad the first
 * trial is. */
static void test_lines(void **state)
{
    (void)state;
    for (int kind = OPTIM_LBFGS; kind <= OPTIM_NEWTON; kind++) {
        struct optim_options options = options_of((enum optim_kind)kind);
        uint32_t asked[EVALUATE_LINE + 1] = {0};
        double sum[TRIANGLE];
        struct optim opt;
        struct convex p;
        struct ask ask;

        make(&p, true, 5, 1);
        options.rate = 1e4;
        options.steps = 5;
        optim_on_scores(&options);
        assert_int_equal(optim_init(&opt, &options, DIMS), ERR_OK);
        while ((ask = optim_next(&opt)).kind != ASK_DONE) {
            asked[ask.what.kind]++;
            (void)optim_feed(&opt, sum, evaluate(&p, &ask.what, sum));
        }
        assert_int_equal(opt.step, 5);
        assert_int_equal(asked[EVALUATE_GRADIENT], 1 + opt.step);
        assert_true(asked[EVALUATE_LINE] > 2 * opt.step);
        assert_int_equal(asked[EVALUATE_DIAGONAL], 0);
        assert_int_equal(asked[EVALUATE_HESSIAN], 0);
        assert_int_equal(asked[EVALUATE_HESSVEC] > 0, kind == OPTIM_NEWTON);
        optim_close(&opt);
        options = options_of((enum optim_kind)kind);
        optim_on_scores(&options);
        (void)assert_solves(&options, 0, "on a line");
        (void)assert_solves(&options, 1, "on a line");
    }
}

/* Hessians asked for until the gradient is tiny. */
static unsigned count_hessians(uint32_t memory)
{
    struct optim_options options = options_of(OPTIM_NEWTON);
    unsigned hessians = 0;
    double sum[TRIANGLE];
    struct optim opt;
    struct convex p;
    struct ask ask;

    make(&p, true, 8, 1);
    options.memory = memory;
    options.tol = 1e-10;
    assert_int_equal(optim_init(&opt, &options, DIMS), ERR_OK);
    while ((ask = optim_next(&opt)).kind != ASK_DONE) {
        const double loss = evaluate(&p, &ask.what, sum);

        hessians += ask.what.kind == EVALUATE_HESSIAN;
        (void)optim_feed(&opt, sum, loss);
    }
    assert_true(optim_converged(&opt));
    if (memory == 0)
        assert_int_equal(hessians, opt.step);
    optim_close(&opt);
    return hessians;
}

/* A Hessian serves several steps, unless told not to. */
static void test_hessians_are_kept(void **state)
{
    const unsigned every = count_hessians(0);
    const unsigned some = count_hessians(10);

    (void)state;
    assert_true(some < every);
    assert_true(some > 1);
}

/* Far below what the gap asks for: the search must not be led astray by the
 * rounding of the objective. */
static void test_gradient_becomes_tiny(void **state)
{
    struct optim_options options[3] = {options_of(OPTIM_LBFGS),
                                       options_of(OPTIM_NEWTON),
                                       options_of(OPTIM_NEWTON)};

    (void)state;
    options[2].dense_max = 0;
    for (uint64_t seed = 0; seed < 30; seed++) {
        struct convex p;
        struct optim opt;

        make(&p, seed % 2 == 0, 500 + seed, 1);
        options[seed % 3].tol = 1e-12;
        options[seed % 3].steps = 300;
        assert_int_equal(optim_init(&opt, &options[seed % 3], DIMS), ERR_OK);
        advance(&opt, &p, UINT64_MAX);
        assert_true(optim_converged(&opt));
        assert_true(opt.gradient_norm <= 1e-12);
        assert_true(opt.evaluations < 200);
        optim_close(&opt);
    }
}

/* The excess is an estimate that can be relied on, and why it ended is said. */
static void test_accuracy_ends_it(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 30; seed++) {
        struct optim_options options =
            options_of(seed % 3 == 0 ? OPTIM_LBFGS : OPTIM_NEWTON);
        struct convex p;
        struct optim opt;
        double least;

        make(&p, seed % 2 == 0, 900 + seed, 2);
        least = optimum(&p);
        options.accuracy = 1e-10;
        options.dense_max = seed % 3 == 1 ? 0 : OPTIM_DENSE_MAX;
        assert_int_equal(optim_init(&opt, &options, DIMS), ERR_OK);
        assert_int_equal(optim_end(&opt), OPTIM_GOING);
        advance(&opt, &p, UINT64_MAX);
        assert_int_equal(optim_end(&opt), OPTIM_CONVERGED);
        assert_true(opt.excess <= 1e-10 * opt.objective);
        assert_true(opt.objective - least <= 1e-7 * least);
        optim_close(&opt);
        options.steps = 2;
        assert_int_equal(optim_init(&opt, &options, DIMS), ERR_OK);
        advance(&opt, &p, UINT64_MAX);
        /* Newton solves least squares in one step. */
        assert_string_equal(optim_end_name(optim_end(&opt)),
                            opt.excess > 1e-10 * opt.objective ? "steps"
                                                               : "converged");
        assert_true(optim_end(&opt) == OPTIM_STEPS || !p.logistic);
        optim_close(&opt);
    }
}

/* Without a stop it ends by itself, at the optimum. */
static void test_stalls_at_the_optimum(void **state)
{
    (void)state;
    for (int kind = OPTIM_LBFGS; kind <= OPTIM_NEWTON; kind++) {
        struct optim_options options = options_of((enum optim_kind)kind);
        struct optim opt;
        struct convex p;

        make(&p, true, 5, 0);
        options.steps = 5000;
        assert_int_equal(optim_init(&opt, &options, DIMS), ERR_OK);
        advance(&opt, &p, UINT64_MAX);
        printf("%s without a stop: %u steps, %llu evaluations, %s, gradient "
               "%.1e\n",
               optim_name((enum optim_kind)kind), opt.step,
               (unsigned long long)opt.evaluations,
               opt.stalled ? "stalled" : "not stalled", opt.gradient_norm);
        assert_true(opt.stalled && opt.step < 100);
        assert_true(opt.gradient_norm < 1e-13);
        assert_true(opt.objective <= optimum(&p) * (1 + 1e-14));
        optim_close(&opt);
    }
}

/* As the kernel of the index profile does. */
static void round_weights(const double *w, int bits, double *rounded)
{
    double largest = 0;
    int power;

    for (int j = 0; j < DIMS; j++)
        largest = fmax(largest, fabs(w[j]));
    (void)frexp(largest, &power);
    for (int j = 0; j < DIMS; j++) {
        const double q = rint(ldexp(w[j], bits - power));
        const double top = ldexp(1, bits) - 1;

        rounded[j] = ldexp(fmax(-top, fmin(q, top)), power - bits);
    }
}

/* Kernels that see rounded weights: the run ends, on the grid, with an
 * objective as good as any. */
static void test_rounded_weights(void **state)
{
    enum { BITS = 24 };

    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        const bool dense = seed % 4 < 2;
        struct optim_options options =
            options_of(seed % 2 == 0 ? OPTIM_LBFGS : OPTIM_NEWTON);
        double sum[TRIANGLE], rounded[DIMS];
        struct optim opt;
        struct convex p;
        struct ask ask;

        make(&p, seed % 3 != 0, 700 + seed, 1);
        options.weight_bits = BITS;
        options.dense_max = dense ? DIMS : 0;
        options.steps = 5000;
        assert_int_equal(optim_init(&opt, &options, DIMS), ERR_OK);
        while ((ask = optim_next(&opt)).kind != ASK_DONE) {
            struct evaluation what = ask.what;

            round_weights(what.w, BITS, rounded);
            assert_memory_equal(rounded, what.w, sizeof rounded);
            what.w = rounded;
            (void)optim_feed(&opt, sum, evaluate(&p, &what, sum));
        }
        assert_true(opt.stalled && opt.evaluations < 300);
        assert_true(opt.objective <= optimum(&p) * (1 + 1e-10));
        assert_true(opt.gradient_norm < 1e-5);
        optim_close(&opt);
    }
}

/* A loss that jumps up and stays there: every trial fails, once with the pairs
 * of lbfgs and once without; the model stays where it was. */
static void test_gives_up_without_harm(void **state)
{
    (void)state;
    for (int kind = OPTIM_LBFGS; kind <= OPTIM_NEWTON; kind++) {
        struct optim_options options = options_of((enum optim_kind)kind);
        double before[DIMS], sum[TRIANGLE];
        struct optim opt;
        struct convex p;
        struct ask ask;

        make(&p, true, 21, 1);
        assert_int_equal(optim_init(&opt, &options, DIMS), ERR_OK);
        advance(&opt, &p, 6);
        memcpy(before, optim_weights(&opt), sizeof before);
        while ((ask = optim_next(&opt)).kind != ASK_DONE) {
            const double loss = evaluate(&p, &ask.what, sum);

            assert_false(optim_feed(&opt, sum, loss + 1e6));
        }
        assert_true(opt.stalled && !opt.diverged);
        assert_true(opt.round <= 2 * SEARCH_TRIALS_MAX + 1);
        assert_memory_equal(before, optim_weights(&opt), sizeof before);
        optim_close(&opt);
    }
}

/* Half of the trials have no value: the search comes back from them.  What is
 * no trial cannot be rejected. */
static void assert_rejects(bool line)
{
    for (int kind = OPTIM_GD; kind <= OPTIM_NEWTON; kind++) {
        struct optim_options options = options_of((enum optim_kind)kind);
        const bool searches = kind >= OPTIM_LBFGS;
        double sum[TRIANGLE];
        unsigned rejected = 0;
        struct optim opt;
        struct convex p;
        struct ask ask;

        make(&p, true, 31, 0);
        options.rate = searches ? 1e30 : 0.01;
        options.steps = 60;
        if (line)
            optim_on_scores(&options);
        assert_int_equal(optim_init(&opt, &options, DIMS), ERR_OK);
        assert_false(optim_reject(&opt)); /* The start is no trial. */
        assert_int_equal(opt.evaluations, 0);
        while ((ask = optim_next(&opt)).kind != ASK_DONE) {
            const double far =
                ask.what.kind == EVALUATE_LINE
                    ? fabs(ask.what.step * ask.what.v[0])
                    : fabs(ask.point[0] - optim_weights(&opt)[0]);

            if ((far > 0.05 && rejected < 40) || !searches) {
                assert_int_equal(optim_reject(&opt), searches);
                rejected++;
            }
            if (far > 0.05 && searches && rejected < 40)
                continue;
            (void)optim_feed(&opt, sum, evaluate(&p, &ask.what, sum));
        }
        assert_true(rejected > 0);
        assert_true(!searches || opt.objective <= optimum(&p) * (1 + 1e-9));
        optim_close(&opt);
    }
}

static void test_rejected_trials(void **state)
{
    (void)state;
    assert_rejects(false);
    assert_rejects(true);
}

/* --- resuming ------------------------------------------------------------ */

static void assert_same(const struct optim *a, const struct optim *b)
{
    assert_int_equal(a->step, b->step);
    assert_int_equal(a->round, b->round);
    assert_int_equal(a->evaluations, b->evaluations);
    assert_memory_equal(&a->objective, &b->objective, sizeof(double));
    assert_memory_equal(optim_weights(a), optim_weights(b),
                        DIMS * sizeof(double));
}

static void assert_resumes(const struct optim_options *options,
                           const struct convex *p, uint64_t middle,
                           const struct optim *whole)
{
    struct optim first, second;
    uint8_t *bytes, *again;
    struct writer out, out_again;
    struct reader in;
    size_t size;

    assert_int_equal(optim_init(&first, options, DIMS), ERR_OK);
    assert_int_equal(optim_init(&second, options, DIMS), ERR_OK);
    size = optim_state_bytes(&first);
    bytes = malloc(size), again = malloc(size);
    assert_non_null(bytes);
    assert_non_null(again);
    advance(&first, p, middle);
    out = writer_on(bytes, size);
    optim_save(&first, &out);
    assert_true(out.ok && out.size == size);
    in = reader_on(bytes, size);
    assert_int_equal(optim_load(&second, &in), ERR_OK);
    assert_true(reader_done(&in));
    out_again = writer_on(again, size);
    optim_save(&second, &out_again);
    assert_memory_equal(bytes, again, size);
    advance(&second, p, UINT64_MAX);
    assert_same(&second, whole);
    optim_close(&first);
    optim_close(&second);
    free(bytes);
    free(again);
}

static void assert_resumes_anywhere(const struct optim_options *options)
{
    struct optim whole;
    struct convex p;

    make(&p, true, 11, 2);
    assert_int_equal(optim_init(&whole, options, DIMS), ERR_OK);
    advance(&whole, &p, UINT64_MAX);
    assert_true(whole.evaluations > 10);
    for (uint64_t middle = 0; middle <= whole.evaluations; middle++)
        assert_resumes(options, &p, middle, &whole);
    optim_close(&whole);
}

static void test_resumes_anywhere(void **state)
{
    (void)state;
    for (int kind = OPTIM_GD; kind <= OPTIM_ADAMW; kind++) {
        struct optim_options options = options_of((enum optim_kind)kind);

        if (kind == OPTIM_SGD || kind == OPTIM_AVERAGE)
            continue;
        options.steps = 25;
        options.memory = 4;
        assert_resumes_anywhere(&options);
        options.dense_max = 0;
        options.rate = 30; /* Long: trials are refused. */
        assert_resumes_anywhere(&options);
        optim_on_scores(&options);
        assert_resumes_anywhere(&options);
    }
}

/* The ring need not begin at its first place: a pair without curvature was
 * dropped when it was full. */
static void test_resumes_any_ring(void **state)
{
    struct optim_options options = options_of(OPTIM_LBFGS);
    struct optim first, second;
    struct convex p;
    uint8_t bytes[4096];
    struct writer out = writer_on(bytes, sizeof bytes);
    struct reader in;

    (void)state;
    options.memory = 3;
    make(&p, true, 12, 1);
    assert_int_equal(optim_init(&first, &options, DIMS), ERR_OK);
    assert_int_equal(optim_init(&second, &options, DIMS), ERR_OK);
    for (uint64_t n = 1; first.pairs < 3 || first.newest != 2; n++)
        advance(&first, &p, n);
    first.pairs = 2;
    optim_save(&first, &out);
    in = reader_on(bytes, out.size);
    assert_int_equal(optim_load(&second, &in), ERR_OK);
    for (int at = 1; at <= 2; at++)
        assert_memory_equal(&first.pair_rho[at], &second.pair_rho[at],
                            sizeof(double));
    advance(&first, &p, UINT64_MAX);
    advance(&second, &p, UINT64_MAX);
    assert_same(&first, &second);
    optim_close(&first);
    optim_close(&second);
}

/* Any change of a header byte is refused or harmless; no crash. */
static void test_damaged_states(void **state)
{
    (void)state;
    for (int kind = OPTIM_GD; kind <= OPTIM_NEWTON; kind++) {
        struct optim_options options = options_of((enum optim_kind)kind);
        struct optim opt;
        struct convex p;
        uint8_t bytes[4096];
        struct writer out = writer_on(bytes, sizeof bytes);

        make(&p, true, 3, 0);
        options.rate = 0.01;
        assert_int_equal(optim_init(&opt, &options, DIMS), ERR_OK);
        advance(&opt, &p, 7);
        optim_save(&opt, &out);
        assert_true(out.ok);
        for (size_t at = 0; at < 160; at++) {
            for (unsigned bit = 0; bit < 8; bit++) {
                struct reader in = reader_on(bytes, out.size);
                enum err err;

                bytes[at] ^= (uint8_t)(1u << bit);
                err = optim_load(&opt, &in);
                assert_true(err == ERR_OK || err == ERR_FORMAT);
                if (err == ERR_OK)
                    advance(&opt, &p, opt.evaluations + 3);
                bytes[at] ^= (uint8_t)(1u << bit);
            }
        }
        optim_close(&opt);
    }
}

/* --- parts --------------------------------------------------------------- */

static void test_cholesky(void **state)
{
    /* Rank 2 in coordinates 0, 1, 3; coordinate 2 is a multiple of 0. */
    double a[10] = {4, 2, 5, 8, 4, 16, 2, 1, 4, 10};
    double x[4] = {8, 9, 16, 22};

    (void)state;
    cholesky_factor(a, 4);
    assert_true(a[5] == 0);
    cholesky_solve(a, 4, x);
    assert_true(x[2] == 0);
    assert_true(fabs(4 * x[0] + 2 * x[1] + 2 * x[3] - 8) < 1e-12);
    assert_true(fabs(2 * x[0] + 5 * x[1] + 1 * x[3] - 9) < 1e-12);
    assert_true(fabs(2 * x[0] + 1 * x[1] + 10 * x[3] - 22) < 1e-12);
}

struct curve {
    double (*value)(double a);
    double (*slope)(double a);
};

static double valley(double a)
{
    return (a - 3) * (a - 3);
}

static double valley_slope(double a)
{
    return 2 * (a - 3);
}

static double cliff(double a)
{
    return a > 0.01 ? (double)NAN : -a + 60 * a * a;
}

static double cliff_slope(double a)
{
    return a > 0.01 ? (double)NAN : -1 + 120 * a;
}

static double wall(double a)
{
    return a > 0 ? 1 : 0;
}

static double wall_slope(double a)
{
    (void)a;
    return -1;
}

/* Its slope rises within 1e-9, and then hardly any more. */
static double elbow(double a)
{
    return -6.7e-4 * a + 6.9e-4 * (a - 1e-9 * log1p(a / 1e-9));
}

static double elbow_slope(double a)
{
    return -6.7e-4 + 6.9e-4 * (a / (a + 1e-9));
}

static double run_search(const struct curve *curve, double first,
                         enum search_rule rule, enum search_verdict *verdict)
{
    struct search s;

    search_begin(&s, curve->value(0), curve->slope(0), first, rule);
    do {
        *verdict = search_feed(&s, curve->value(s.step), curve->slope(s.step));
    } while (*verdict == SEARCH_ON);
    assert_true(s.trials <= SEARCH_TRIALS_MAX + 1);
    return s.step;
}

static void test_search(void **state)
{
    const struct curve smooth = {valley, valley_slope};
    const struct curve broken = {cliff, cliff_slope};
    const struct curve hopeless = {wall, wall_slope};
    enum search_verdict verdict;

    (void)state;
    for (int power = -60; power <= 60; power++) {
        const double step =
            run_search(&smooth, pow(10, power), SEARCH_WOLFE, &verdict);

        assert_int_equal(verdict, SEARCH_ACCEPT);
        assert_true(valley(step) < 9 && fabs(valley_slope(step)) <= 5.4);
    }
    assert_true(run_search(&broken, 1e3, SEARCH_WOLFE, &verdict) <= 0.01);
    assert_int_equal(verdict, SEARCH_ACCEPT);
    (void)run_search(&hopeless, 1, SEARCH_WOLFE, &verdict);
    assert_int_equal(verdict, SEARCH_FAIL);
}

/* Where trials cost nothing: to where it is level, by slopes. */
static void test_exact_search(void **state)
{
    const struct curve smooth = {valley, valley_slope};
    const struct curve broken = {cliff, cliff_slope};
    const struct curve steep = {elbow, elbow_slope};
    const struct curve hopeless = {wall, wall_slope};
    enum search_verdict verdict;
    double step;

    (void)state;
    for (int power = -40; power <= 40; power++) {
        step = run_search(&smooth, pow(10, power), SEARCH_EXACT, &verdict);
        assert_int_equal(verdict, SEARCH_ACCEPT);
        assert_true(fabs(valley_slope(step)) <= 6e-3);
    }
    step = run_search(&broken, 1e3, SEARCH_EXACT, &verdict);
    assert_int_equal(verdict, SEARCH_ACCEPT);
    assert_true(fabs(cliff_slope(step)) <= 1e-3);
    step = run_search(&steep, 1, SEARCH_EXACT, &verdict);
    assert_int_equal(verdict, SEARCH_ACCEPT);
    assert_true(fabs(elbow_slope(step)) <= 1e-3 * 6.7e-4);
    (void)run_search(&hopeless, 1, SEARCH_EXACT, &verdict);
    assert_int_equal(verdict, SEARCH_FAIL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_search),
        cmocka_unit_test(test_exact_search),
        cmocka_unit_test(test_cholesky),
        cmocka_unit_test(test_first_order_converges),
        cmocka_unit_test(test_lbfgs_converges),
        cmocka_unit_test(test_newton_converges),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_hessians_are_kept),
        cmocka_unit_test(test_gradient_becomes_tiny),
        cmocka_unit_test(test_accuracy_ends_it),
        cmocka_unit_test(test_stalls_at_the_optimum),
        cmocka_unit_test(test_rounded_weights),
        cmocka_unit_test(test_gives_up_without_harm),
        cmocka_unit_test(test_rejected_trials),
        cmocka_unit_test(test_resumes_anywhere),
        cmocka_unit_test(test_resumes_any_ring),
        cmocka_unit_test(test_damaged_states),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

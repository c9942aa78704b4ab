/*
 * lbfgs and newton on the hinge: what they say is proved, of random problems
 * whose optimum coordinate descent on the dual finds (without an intercept) or
 * a run to six more digits (with one); and a run saved and loaded between any
 * two evaluations ends with the same bits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "math/kernel/kernel.h"
#include "optim/optim.h"

enum { ROWS = 80, DIMS = 8, TRIANGLE = DIMS * (DIMS + 1) / 2 };
#define ACCURACY 1e-3

struct problem {
    double x[ROWS][DIMS], y[ROWS];
    double l2;
    bool intercept; /* The last column. */
};

static struct problem make(uint64_t seed)
{
    struct problem p = {.intercept = seed % 2 == 1};

    p.l2 = pow(10, -1 - (double)(seed % 5));
    for (uint32_t i = 0; i < ROWS; i++) {
        double z = 2 * rng_normal_at(seed, 1000, i) + 1;

        for (uint32_t j = 0; j < DIMS; j++) {
            p.x[i][j] = rng_normal_at(seed, j, i) + (j == 2 ? 3 : 0);
            z += p.x[i][j];
        }
        p.x[i][DIMS - 1] = p.intercept ? 1 : 0;
        p.y[i] = z < 2 ? -1 : 1;
    }
    return p;
}

static double dot(const double *a, const double *b)
{
    double sum = 0;

    for (int j = 0; j < DIMS; j++)
        sum += a[j] * b[j];
    return sum;
}

static struct loss loss_of(const struct evaluation *what)
{
    return what->soft == 0 ? loss_plain(LOSS_HINGE)
                           : loss_hinge_soft(what->soft);
}

static double evaluate(const struct problem *p, const struct evaluation *what,
                       double *sum)
{
    const bool second = what->kind != EVALUATE_GRADIENT;
    double total = 0;

    memset(sum, 0, TRIANGLE * sizeof *sum);
    for (int i = 0; i < ROWS; i++) {
        const double *const x = p->x[i];
        double z = dot(x, what->w), loss = 0;
        int at = 0;

        kernel_slopes(ISA_PORTABLE, loss_of(what), second, &z, &p->y[i], NULL,
                      second ? NULL : &loss, 1);
        total += loss;
        if (what->kind == EVALUATE_HESSVEC)
            z *= dot(x, what->v);
        for (int j = 0; j < DIMS && what->kind != EVALUATE_HESSIAN; j++)
            sum[j] += z * x[j] * (what->kind == EVALUATE_DIAGONAL ? x[j] : 1);
        for (int j = 0; j < DIMS && what->kind == EVALUATE_HESSIAN; j++) {
            for (int k = 0; k <= j; k++)
                sum[at++] += z * x[j] * x[k];
        }
    }
    return total;
}

static double objective(const struct problem *p, const double *w)
{
    double f = 0;

    for (int i = 0; i < ROWS; i++)
        f += fmax(0, 1 - p->y[i] * dot(p->x[i], w)) / ROWS;
    for (int j = 0; j < DIMS - p->intercept; j++)
        f += p->l2 * w[j] * w[j];
    return f;
}

/* Each a_i in [0, 1] to its best, again and again; w = sum a_i y_i x_i /
 * (2 l2 N).  Returns the dual's value: no more than the least objective. */
static double dual(const struct problem *p)
{
    double a[ROWS] = {0}, w[DIMS] = {0}, sum = 0;

    for (int pass = 0; pass < 20000; pass++) {
        for (int i = 0; i < ROWS; i++) {
            const double *const x = p->x[i];
            const double unit = p->y[i] / (2 * p->l2 * ROWS);
            const double best =
                a[i] + (1 - p->y[i] * dot(x, w)) / (dot(x, x) * fabs(unit));
            const double next = fmin(1, fmax(0, best));

            for (int j = 0; j < DIMS; j++)
                w[j] += (next - a[i]) * unit * x[j];
            a[i] = next;
        }
    }
    for (int i = 0; i < ROWS; i++)
        sum += a[i] / ROWS;
    return sum - p->l2 * dot(w, w);
}

static struct optim_options options_of(const struct problem *p, uint64_t seed)
{
    struct optim_options options =
        optim_defaults(seed % 3 == 0 ? OPTIM_LBFGS : OPTIM_NEWTON);

    options.memory = options.kind == OPTIM_LBFGS ? OPTIM_MEMORY_MAX : 10;
    options.dense_max = seed % 3 == 1 ? DIMS : 0;
    options.rows = ROWS;
    options.steps = 10000;
    options.l2 = p->l2;
    options.accuracy = ACCURACY;
    options.kinks = true;
    if (p->intercept) {
        options.l2_free = DIMS - 1;
        options.l2_stride = DIMS;
    }
    return options;
}

static void run(const struct problem *p, const struct optim_options *options,
                struct optim *opt)
{
    double sum[TRIANGLE];
    struct ask ask;

    assert_int_equal(optim_init(opt, options, DIMS), ERR_OK);
    while ((ask = optim_next(opt)).kind != ASK_DONE)
        (void)optim_feed(opt, sum, evaluate(p, &ask.what, sum));
}

static void test_reaches_what_it_proves(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++) {
        const struct problem p = make(seed);
        struct optim_options options = options_of(&p, seed);
        struct optim_outcome outcome;
        struct optim opt;
        double least;

        run(&p, &options, &opt);
        outcome = optim_outcome(&opt);
        assert_int_equal(outcome.end, OPTIM_CONVERGED);
        assert_true(outcome.at_model);
        assert_true(fabs(outcome.objective - objective(&p, opt.b)) <
                    1e-12 * outcome.objective);
        assert_true(outcome.excess <= ACCURACY * outcome.objective);
        optim_close(&opt);

        options.kind = OPTIM_NEWTON;
        options.dense_max = DIMS;
        options.accuracy = 1e-9;
        run(&p, &options, &opt);
        least = opt.objective;
        assert_int_equal(optim_end(&opt), OPTIM_CONVERGED);
        assert_true(outcome.objective - least <= outcome.excess);
        assert_true(outcome.objective >= least * (1 - 1e-9));
        if (!p.intercept && p.l2 >= 1e-3) /* Else the dual takes too long. */
            assert_true(fabs(dual(&p) - least) <= 1e-7 * least);
        optim_close(&opt);
    }
}

/* Rows that can be told apart without a loss, and no penalty. */
static void test_ends_where_nothing_is_lost(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 6; seed++) {
        struct problem p = make(2 * seed);
        struct optim_options options;
        struct optim opt;

        for (int i = 0; i < ROWS; i++)
            p.x[i][1] = p.y[i];
        p.l2 = 0;
        options = options_of(&p, seed);
        run(&p, &options, &opt);
        assert_int_equal(optim_end(&opt), OPTIM_CONVERGED);
        assert_true(opt.objective == 0);
        optim_close(&opt);
    }
}

static void reload(struct optim *opt, const struct optim_options *options)
{
    static uint8_t bytes[1 << 16];
    struct writer out = writer_on(bytes, sizeof bytes);
    struct reader in;

    optim_save(opt, &out);
    assert_true(out.size == optim_state_bytes(opt));
    optim_close(opt);
    assert_int_equal(optim_init(opt, options, DIMS), ERR_OK);
    in = reader_on(bytes, out.size);
    assert_int_equal(optim_load(opt, &in), ERR_OK);
}

static void test_resumes_anywhere(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 6; seed++) {
        const struct problem p = make(seed);
        const struct optim_options options = options_of(&p, seed);
        struct optim whole, cut;
        double sum[TRIANGLE];
        struct ask ask;

        run(&p, &options, &whole);
        assert_int_equal(optim_init(&cut, &options, DIMS), ERR_OK);
        while ((ask = optim_next(&cut)).kind != ASK_DONE) {
            (void)optim_feed(&cut, sum, evaluate(&p, &ask.what, sum));
            reload(&cut, &options);
        }
        assert_memory_equal(whole.b, cut.b, DIMS * sizeof *cut.b);
        assert_true(whole.evaluations == cut.evaluations &&
                    whole.excess == cut.excess);
        optim_close(&whole);
        optim_close(&cut);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reaches_what_it_proves),
        cmocka_unit_test(test_ends_where_nothing_is_lost),
        cmocka_unit_test(test_resumes_anywhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

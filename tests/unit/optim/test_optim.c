/*
 * gd and agd run on a small quadratic beside a long double transcription of
 * the published formulas, and must stay within rounding of it.  A run saved
 * and loaded in the middle must end with the same bits as one that was not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "optim/optim.h"

enum { DIMS = 5, ROWS = 10, STEPS = 60 };

/* loss = sum_j h_j (w_j - c_j)^2, a stand-in for any sum over rows. */
static const double curvature[DIMS] = {1, 3, 10, 0.5, 7};
static const double centre[DIMS] = {1, -2, 0.25, 30, -1e-3};

static double evaluate(const double *w, double *g)
{
    double loss = 0;

    for (int j = 0; j < DIMS; j++) {
        const double d = w[j] - centre[j];

        g[j] = 2 * curvature[j] * d;
        loss += curvature[j] * d * d;
    }
    return loss;
}

static struct optim_options options_of(enum optim_kind kind)
{
    return (struct optim_options){.kind = kind,
                                  .rate = 0.4,
                                  .decay = 0.98,
                                  .l2 = 0.1,
                                  .steps = STEPS,
                                  .rows = ROWS};
}

static void advance(struct optim *opt, uint32_t until)
{
    struct ask ask;

    while (opt->step < until && (ask = optim_next(opt)).kind != ASK_DONE) {
        double g[DIMS];
        const double loss = evaluate(ask.point, g);

        optim_feed(opt, g, loss);
    }
}

/* One step of optim.h's formulas; the gradient is shared with the optimiser
 * so that only the update is compared. */
static void reference_step(enum optim_kind kind, int i, long double *b,
                           long double *u, const double *g)
{
    const long double a = 0.1L;
    const long double eta = 0.4L * powl(0.98L, i);
    const long double th = 2.0L / (i + 2);

    for (int j = 0; j < DIMS; j++) {
        const long double v = (1 - th) * b[j] + th * u[j];
        const long double next =
            kind == OPTIM_GD
                ? (1 - 2 * a * eta) * b[j] - eta / ROWS * (long double)g[j]
                : v - eta / ROWS * (long double)g[j] - 2 * a * eta * b[j];

        u[j] = b[j] + (next - b[j]) / th;
        b[j] = next;
    }
}

static void assert_follows_reference(enum optim_kind kind, const double *start)
{
    struct optim_options options = options_of(kind);
    long double b[DIMS] = {0};
    long double u[DIMS] = {0};
    struct optim opt;

    options.start = start;
    for (int j = 0; start != NULL && j < DIMS; j++)
        b[j] = u[j] = start[j];
    assert_int_equal(optim_init(&opt, &options, DIMS), ERR_OK);
    for (int i = 0; i < STEPS; i++) {
        double g[DIMS];
        const double loss = evaluate(optim_next(&opt).point, g);

        reference_step(kind, i, b, u, g);
        optim_feed(&opt, g, loss);
        for (int j = 0; j < DIMS; j++)
            assert_true(fabsl((long double)optim_weights(&opt)[j] - b[j]) <
                        1e-12L * (1 + fabsl(b[j])));
    }
    assert_int_equal(optim_next(&opt).kind, ASK_DONE);
    assert_int_equal(opt.step, STEPS);
    optim_close(&opt);
}

static void test_follows_reference(void **state)
{
    static const double start[DIMS] = {-3, 0.5, 2, 1e-3, 4};

    (void)state;
    assert_follows_reference(OPTIM_GD, NULL);
    assert_follows_reference(OPTIM_AGD, NULL);
    assert_follows_reference(OPTIM_GD, start);
    assert_follows_reference(OPTIM_AGD, start);
}

static void assert_resumes(enum optim_kind kind, uint32_t middle)
{
    const struct optim_options options = options_of(kind);
    struct optim whole, first, second;
    uint8_t bytes[512];
    struct writer out;
    struct reader in;

    assert_int_equal(optim_init(&whole, &options, DIMS), ERR_OK);
    assert_int_equal(optim_init(&first, &options, DIMS), ERR_OK);
    assert_int_equal(optim_init(&second, &options, DIMS), ERR_OK);
    advance(&whole, STEPS);
    advance(&first, middle);
    out = writer_on(bytes, optim_state_bytes(&first));
    optim_save(&first, &out);
    assert_true(out.ok && out.size == optim_state_bytes(&first));
    in = reader_on(bytes, out.size);
    assert_int_equal(optim_load(&second, &in), ERR_OK);
    assert_true(reader_done(&in));
    advance(&second, STEPS);
    assert_int_equal(second.step, STEPS);
    assert_memory_equal(optim_weights(&whole), optim_weights(&second),
                        DIMS * sizeof(double));
    assert_memory_equal(&whole.objective, &second.objective, sizeof(double));
    optim_close(&whole);
    optim_close(&first);
    optim_close(&second);
}

static void test_resumes_with_the_same_bits(void **state)
{
    (void)state;
    for (uint32_t middle = 0; middle <= STEPS; middle += 20) {
        assert_resumes(OPTIM_GD, middle);
        assert_resumes(OPTIM_AGD, middle);
    }
}

static void test_bad_states_are_refused(void **state)
{
    const struct optim_options gd = options_of(OPTIM_GD);
    const struct optim_options agd = options_of(OPTIM_AGD);
    struct optim from, other, shorter;
    uint8_t bytes[512];
    struct writer out;

    (void)state;
    assert_int_equal(optim_init(&from, &agd, DIMS), ERR_OK);
    assert_int_equal(optim_init(&other, &gd, DIMS), ERR_OK);
    assert_int_equal(optim_init(&shorter, &agd, DIMS - 1), ERR_OK);
    advance(&from, 3);
    out = writer_on(bytes, sizeof bytes);
    optim_save(&from, &out);
    for (size_t cut = 0; cut < out.size; cut++) {
        struct reader in = reader_on(bytes, cut);

        assert_int_equal(optim_load(&from, &in), ERR_FORMAT);
    }
    for (int i = 0; i < 2; i++) {
        struct reader in = reader_on(bytes, out.size);

        assert_int_equal(optim_load(i == 0 ? &other : &shorter, &in),
                         ERR_FORMAT);
    }
    assert_int_equal(other.step, 0);
    assert_int_equal(from.step, 3);
    optim_close(&from);
    optim_close(&other);
    optim_close(&shorter);
}

static void test_objective_and_gradient_norm(void **state)
{
    struct optim_options options = options_of(OPTIM_GD);
    struct optim opt;
    double g[DIMS];
    double b[DIMS];
    double loss, wanted_norm = 0, wanted = 0;

    (void)state;
    assert_int_equal(optim_init(&opt, &options, DIMS), ERR_OK);
    assert_true(isnan(opt.objective));
    advance(&opt, 4);
    memcpy(b, optim_weights(&opt), sizeof b);
    loss = evaluate(b, g);
    optim_feed(&opt, g, loss);
    wanted = loss / ROWS;
    for (int j = 0; j < DIMS; j++) {
        const double d = g[j] / ROWS + 0.2 * b[j];

        wanted_norm += d * d;
        wanted += 0.1 * b[j] * b[j];
    }
    assert_true(fabs(opt.objective - wanted) < 1e-12 * wanted);
    assert_true(fabs(opt.gradient_norm - sqrt(wanted_norm)) < 1e-12);
    optim_close(&opt);
}

/* The point that met the tolerance is the answer: it is not moved on. */
static void test_tolerance_stops(void **state)
{
    struct optim_options options = options_of(OPTIM_AGD);
    struct optim opt;
    double g[DIMS];
    double norm = 0;

    (void)state;
    options.tol = 1e-2;
    options.decay = 1;
    options.rate = 0.5;
    options.steps = 100000;
    assert_int_equal(optim_init(&opt, &options, DIMS), ERR_OK);
    assert_false(optim_converged(&opt));
    advance(&opt, options.steps);
    assert_true(optim_converged(&opt));
    assert_false(opt.diverged);
    assert_true(opt.step < options.steps);
    (void)evaluate(optim_weights(&opt), g);
    for (int j = 0; j < DIMS; j++) {
        const double d = g[j] / ROWS + 0.2 * optim_weights(&opt)[j];

        norm += d * d;
    }
    assert_true(sqrt(norm) <= 1e-2);
    optim_close(&opt);
}

static void test_divergence_stops(void **state)
{
    struct optim_options options = options_of(OPTIM_GD);
    struct optim opt;

    (void)state;
    options.rate = 1e100;
    options.decay = 1;
    options.steps = 1000;
    assert_int_equal(optim_init(&opt, &options, DIMS), ERR_OK);
    advance(&opt, options.steps);
    assert_true(opt.diverged);
    assert_true(opt.step < 10);
    assert_int_equal(optim_next(&opt).kind, ASK_DONE);
    optim_close(&opt);
}

static void test_rate_decays(void **state)
{
    struct optim_options options = options_of(OPTIM_GD);
    struct optim opt;

    (void)state;
    assert_int_equal(optim_init(&opt, &options, DIMS), ERR_OK);
    assert_true(optim_rate(&opt) == 0.4);
    for (uint32_t i = 0; i < 5000; i += 37) {
        opt.step = i;
        assert_true(fabs(optim_rate(&opt) / (0.4 * pow(0.98, i)) - 1) < 1e-12);
    }
    opt.options.decay = 1;
    opt.step = UINT32_MAX;
    assert_true(optim_rate(&opt) == 0.4);
    optim_close(&opt);
}

static void test_names(void **state)
{
    enum optim_kind kind = OPTIM_GD;

    (void)state;
    assert_int_equal(optim_parse("agd", &kind), ERR_OK);
    assert_int_equal(kind, OPTIM_AGD);
    assert_string_equal(optim_name(kind), "agd");
    assert_int_equal(optim_parse("gd", &kind), ERR_OK);
    assert_int_equal(kind, OPTIM_GD);
    for (int i = OPTIM_GD; i <= OPTIM_NEWTON; i++) {
        assert_int_equal(optim_parse(optim_name((enum optim_kind)i), &kind),
                         ERR_OK);
        assert_int_equal(kind, i);
    }
    assert_int_equal(optim_parse("rmsprop", &kind), ERR_UNKNOWN);
    assert_int_equal(optim_parse("", &kind), ERR_UNKNOWN);
}

static void test_schedules(void **state)
{
    struct optim_options options = options_of(OPTIM_GD);
    struct optim opt;

    (void)state;
    options.schedule = SCHEDULE_INVERSE;
    assert_int_equal(optim_init(&opt, &options, DIMS), ERR_OK);
    assert_true(optim_rate(&opt) == 0.4);
    opt.step = 7;
    assert_true(optim_rate(&opt) == 0.4 / 8);
    opt.options.schedule = SCHEDULE_CONSTANT;
    assert_true(optim_rate(&opt) == 0.4);
    optim_close(&opt);
}

/* One step of momentum and of adam by hand. */
static void test_momentum_and_adam_formulas(void **state)
{
    struct optim_options options = optim_defaults(OPTIM_MOMENTUM);
    struct optim opt;
    double g[DIMS], first[DIMS];

    (void)state;
    options.rows = ROWS;
    options.steps = 2;
    options.rate = 0.5;
    assert_int_equal(optim_init(&opt, &options, DIMS), ERR_OK);
    advance(&opt, 1);
    memcpy(first, optim_weights(&opt), sizeof first);
    (void)evaluate(first, g);
    advance(&opt, 2);
    for (int j = 0; j < DIMS; j++) {
        /* u1 = G1 = -first / rate; u2 = mu u1 + G2. */
        const double u = 0.9 * (-first[j] / 0.5) + g[j] / ROWS;

        assert_true(fabs(optim_weights(&opt)[j] - (first[j] - 0.5 * u)) <
                    1e-12 * (1 + fabs(first[j])));
    }
    optim_close(&opt);
    options = optim_defaults(OPTIM_ADAM);
    options.rows = ROWS;
    options.steps = 1;
    assert_int_equal(optim_init(&opt, &options, DIMS), ERR_OK);
    advance(&opt, 1);
    for (int j = 0; j < DIMS; j++) {
        /* The first step of adam has the length of the rate. */
        assert_true(fabs(fabs(optim_weights(&opt)[j]) - 1e-3) < 1e-6);
        assert_true(optim_weights(&opt)[j] * centre[j] > 0);
    }
    optim_close(&opt);
}

/* Free weights move as if l2 were 0, the rest as if there were none. */
static void test_free_weights(void **state)
{
    struct optim_options options = options_of(OPTIM_AGD);
    struct optim with, without, some;

    (void)state;
    assert_int_equal(optim_init(&with, &options, DIMS), ERR_OK);
    options.l2_free = 1;
    options.l2_stride = 2;
    assert_int_equal(optim_init(&some, &options, DIMS), ERR_OK);
    options.l2 = 0;
    assert_int_equal(optim_init(&without, &options, DIMS), ERR_OK);
    advance(&with, STEPS);
    advance(&without, STEPS);
    advance(&some, STEPS);
    for (int j = 0; j < DIMS; j++) {
        const struct optim *like = j % 2 == 1 ? &without : &with;

        assert_true(optim_weights(&some)[j] == optim_weights(like)[j]);
    }
    optim_close(&with);
    optim_close(&without);
    optim_close(&some);
}

/* Measured and updated in one walk or, as a tolerance asks for, in two; in one
 * block of coordinates or several, with some in the middle that the penalty
 * leaves out: the bits are those of the formulas, coordinate by coordinate. */
enum { MANY = 2600, FREE = 1000, STRIDE = 1033 };

static void feed_many(enum optim_kind kind, double tol, double *b,
                      double measured[2])
{
    struct optim_options options = options_of(kind);
    static double g[MANY];
    struct optim opt;

    options.tol = tol;
    options.l2_free = FREE;
    options.l2_stride = STRIDE;
    options.momentum = 0.9;
    options.beta1 = 0.9;
    options.beta2 = 0.99;
    options.epsilon = 1e-8;
    assert_int_equal(optim_init(&opt, &options, MANY), ERR_OK);
    for (unsigned i = 0; i < 3; i++) {
        for (unsigned j = 0; j < MANY; j++)
            g[j] = sin(j + 1.0) * (i + 1) + opt.b[j];
        assert_true(optim_feed(&opt, g, 3));
    }
    memcpy(b, opt.b, MANY * sizeof *b);
    measured[0] = opt.objective;
    measured[1] = opt.gradient_norm;
    optim_close(&opt);
}

static void assert_walks_agree(enum optim_kind kind)
{
    static double one[MANY], two[MANY];
    double of_one[2], of_two[2];

    feed_many(kind, 0, one, of_one);
    feed_many(kind, 1e-300, two, of_two);
    assert_memory_equal(one, two, sizeof one);
    assert_memory_equal(of_one, of_two, sizeof of_one);
    assert_true(isfinite(of_one[0]) && of_one[1] > 0);
}

static void test_one_walk_or_two(void **state)
{
    (void)state;
    assert_walks_agree(OPTIM_GD);
    assert_walks_agree(OPTIM_AGD);
    assert_walks_agree(OPTIM_MOMENTUM);
    assert_walks_agree(OPTIM_NESTEROV);
    assert_walks_agree(OPTIM_ADAM);
    assert_walks_agree(OPTIM_ADAMW);
}

static void assert_bad(struct optim_options options)
{
    struct optim opt = {0};

    assert_int_equal(optim_init(&opt, &options, DIMS), ERR_SHAPE);
    assert_null(opt.b);
}

static void test_bad_options(void **state)
{
    const struct optim_options good = options_of(OPTIM_GD);
    struct optim_options bad;
    struct optim opt = {0};

    (void)state;
    optim_close(&opt);
    assert_int_equal(optim_init(&opt, &good, 0), ERR_SHAPE);
    bad = good, bad.rate = 0, assert_bad(bad);
    bad = good, bad.rate = nan(""), assert_bad(bad);
    bad = good, bad.rate = HUGE_VAL, assert_bad(bad);
    bad = good, bad.decay = 0, assert_bad(bad);
    bad = good, bad.l2 = -1, assert_bad(bad);
    bad = good, bad.rows = 0, assert_bad(bad);
    bad = good, bad.tol = nan(""), assert_bad(bad);
    bad = good, bad.kind = (enum optim_kind)10, assert_bad(bad);
    bad = good, bad.kind = OPTIM_SGD, assert_bad(bad); /* Has no rounds. */
    bad = good, bad.weight_bits = 53, assert_bad(bad);
    bad = good, bad.gap = -1, assert_bad(bad);
    bad = good, bad.optimum = HUGE_VAL, assert_bad(bad);
    bad = good, bad.schedule = (enum optim_schedule)5, assert_bad(bad);
    bad = good, bad.l2_free = 2, bad.l2_stride = 2, assert_bad(bad);
    bad = good, bad.l2_free = 1, assert_bad(bad);
    bad = good, bad.steps = 0;
    assert_int_equal(optim_init(&opt, &bad, DIMS), ERR_OK);
    assert_int_equal(optim_next(&opt).kind, ASK_DONE);
    optim_close(&opt);
}

static struct optim_options usual(enum optim_kind kind)
{
    struct optim_options options = optim_defaults(kind);

    options.rows = ROWS;
    options.steps = 1;
    return options;
}

static void test_bad_options_of_a_kind(void **state)
{
    struct optim_options bad;

    (void)state;
    for (int kind = OPTIM_GD; kind <= OPTIM_NEWTON; kind++) {
        const struct optim_options good = usual((enum optim_kind)kind);
        struct optim opt;

        assert_int_equal(optim_init(&opt, &good, DIMS), ERR_OK);
        optim_close(&opt);
    }
    bad = usual(OPTIM_MOMENTUM), bad.momentum = 1, assert_bad(bad);
    bad = usual(OPTIM_MOMENTUM), bad.momentum = nan(""), assert_bad(bad);
    bad = usual(OPTIM_ADAM), bad.beta1 = -0.1, assert_bad(bad);
    bad = usual(OPTIM_ADAM), bad.beta2 = 1, assert_bad(bad);
    bad = usual(OPTIM_ADAM), bad.epsilon = 0, assert_bad(bad);
    bad = usual(OPTIM_LBFGS), bad.memory = 0, assert_bad(bad);
    bad = usual(OPTIM_LBFGS), bad.memory = 65, assert_bad(bad);
    bad = usual(OPTIM_LBFGS), bad.rate = -1, assert_bad(bad);
    bad = usual(OPTIM_NEWTON), bad.cg_max = 0, assert_bad(bad);
    bad = usual(OPTIM_NEWTON), bad.dense_max = 40000, assert_bad(bad);
}

/* Numbers of all kinds, none of them another's or a default. */
static const struct optim_options odd = {
    .kind = OPTIM_ADAMW,
    .schedule = SCHEDULE_STEP,
    .rate = 1. / 3,
    .decay = 1. / 5,
    .clip = 1. / 7,
    .decay_every = 2,
    .warmup = 3,
    .l2 = 1. / 9,
    .tol = 1. / 11,
    .gap = 1. / 13,
    .optimum = -1. / 15,
    .accuracy = 1. / 17,
    .momentum = 1. / 19,
    .beta1 = 1. / 21,
    .beta2 = 1. / 23,
    .epsilon = 1. / 25,
    .rows = UINT64_C(1) << 33,
    .sampler = {SAMPLER_ROWS, 100, 4, 10, 5, NULL, 0, 0},
    .steps = 6,
    .held_out = true,
    .patience = 7,
    .l2_free = 8,
    .l2_stride = 9,
    .memory = 10,
    .dense_max = 11,
    .cg_max = 12,
    .diagonal = true,
    .line = true,
    .kinks = true,
    .weight_bits = 13,
    .seed = UINT64_MAX,
};

/* Every field that is no pointer comes back; no part of the bytes is enough. */
static void test_options_as_bytes(void **state)
{
    uint8_t bytes[OPTIM_OPTIONS_BYTES];
    struct writer out = writer_on(bytes, sizeof bytes);
    struct optim_options read;
    struct reader in;

    (void)state;
    optim_options_put(&out, &odd);
    assert_true(out.ok);
    in = reader_on(bytes, out.size);
    optim_options_get(&in, &read);
    assert_true(reader_done(&in));
    assert_memory_equal(&read, &odd, sizeof odd);
    for (size_t size = 0; size < out.size; size++) {
        in = reader_on(bytes, size);
        optim_options_get(&in, &read);
        assert_false(in.ok);
    }
    bytes[0] = OPTIM_SGD; /* Has no rounds. */
    in = reader_on(bytes, out.size);
    optim_options_get(&in, &read);
    assert_false(in.ok);
}

/* Two vectors of three weights; the last of each, its intercept, is free. */
static void test_penalty(void **state)
{
    const double w[] = {3, -4, 100, 1, 2, -100}, sum[6] = {0};
    struct optim_options options = {
        .rows = 10, .l2 = .5, .l2_free = 2, .l2_stride = 3};
    double gradient[6];

    (void)state;
    assert_true(optim_penalty(&options, 6, w) == .5 * (25 + 5));
    assert_true(optim_objective(&options, 6, w, sum, 20, gradient) ==
                2 + optim_penalty(&options, 6, w));
    options.l2 = 0;
    assert_true(optim_penalty(&options, 6, w) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_penalty),
        cmocka_unit_test(test_follows_reference),
        cmocka_unit_test(test_resumes_with_the_same_bits),
        cmocka_unit_test(test_bad_states_are_refused),
        cmocka_unit_test(test_objective_and_gradient_norm),
        cmocka_unit_test(test_tolerance_stops),
        cmocka_unit_test(test_divergence_stops),
        cmocka_unit_test(test_rate_decays),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_bad_options),
        cmocka_unit_test(test_bad_options_of_a_kind),
        cmocka_unit_test(test_schedules),
        cmocka_unit_test(test_momentum_and_adam_formulas),
        cmocka_unit_test(test_free_weights),
        cmocka_unit_test(test_one_walk_or_two),
        cmocka_unit_test(test_options_as_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Own steps of a part: gd against its formula and against one run that does
 * not stop, sgd cut into averages against one run, what a plan may be, and the
 * average itself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "optim/local.h"

enum { ROWS = 40, DIMS = 8 };

/* Squared loss on rows of its own. */
struct table {
    float x[ROWS][DIMS];
    double y[ROWS];
};

static enum err gradient(void *context, const double *w, double *sum,
                         double *loss_sum)
{
    const struct table *t = context;

    memset(sum, 0, DIMS * sizeof *sum);
    *loss_sum = 0;
    for (int i = 0; i < ROWS; i++) {
        double z = -t->y[i];

        for (int j = 0; j < DIMS; j++)
            z += w[j] * (double)t->x[i][j];
        for (int j = 0; j < DIMS; j++)
            sum[j] += 2 * z * (double)t->x[i][j];
        *loss_sum += z * z;
    }
    return isfinite(*loss_sum) ? ERR_OK : ERR_RANGE;
}

static struct sgd_row row(void *context, uint32_t i)
{
    const struct table *t = context;

    return (struct sgd_row){
        .value = t->x[i], .count = DIMS, .y = t->y[i], .weight = 1};
}

static void make(struct table *t)
{
    for (uint32_t i = 0; i < ROWS; i++) {
        t->y[i] = rng_normal_at(3, 99, i);
        for (uint32_t j = 0; j < DIMS; j++)
            t->x[i][j] = (float)rng_normal_at(3, j, i) / 2;
    }
}

static struct local_part part_of(struct table *t)
{
    return (struct local_part){
        .context = t,
        .rows = ROWS,
        .counted = ROWS,
        .cols = DIMS,
        .dims = DIMS,
        .loss = {.kind = LOSS_SQUARED},
        .gradient = gradient,
        .row = row,
    };
}

static struct local plan_of(enum optim_kind kind, uint32_t every)
{
    return (struct local){
        .kind = kind,
        .schedule = SCHEDULE_INVERSE,
        .rate = 0.3,
        .decay = 1,
        .l2 = 0.5,
        .l2_free = 2,
        .l2_stride = DIMS,
        .every = every,
        .steps = 10,
        .seed = 7,
    };
}

/* All averages of a job with one part; out: where it ends. */
static void run_all(const struct local *plan, struct table *t, double *w)
{
    const struct local_part part = part_of(t);
    double out[DIMS + 1];

    memset(w, 0, DIMS * sizeof *w);
    for (uint32_t round = 0; local_steps(plan, round) > 0; round++) {
        assert_int_equal(local_run(plan, &part, round, w, out), ERR_OK);
        for (int j = 0; j < DIMS; j++)
            w[j] += out[j];
    }
}

static void test_gd_goes_on_where_it_was(void **state)
{
    const struct local whole = plan_of(OPTIM_GD, 10);
    static struct table t;
    double w[DIMS] = {0};
    double got[DIMS], sum[DIMS];
    double loss;

    (void)state;
    make(&t);
    for (int i = 0; i < 10; i++) {
        const double eta = 0.3 / (1 + i);

        assert_int_equal(gradient(&t, w, sum, &loss), ERR_OK);
        for (int j = 0; j < DIMS; j++)
            w[j] =
                (1 - 2 * (j == 2 ? 0 : 0.5) * eta) * w[j] - eta / ROWS * sum[j];
    }
    run_all(&whole, &t, got);
    for (int j = 0; j < DIMS; j++)
        assert_true(fabs(got[j] - w[j]) < 1e-14);
    for (uint32_t every = 1; every <= 11; every++) {
        const struct local plan = plan_of(OPTIM_GD, every);

        run_all(&plan, &t, got);
        for (int j = 0; j < DIMS; j++)
            assert_true(fabs(got[j] - w[j]) < 1e-13);
    }
}

static void test_sgd_goes_on_where_it_was(void **state)
{
    const struct local whole = plan_of(OPTIM_SGD, 10);
    const struct sgd_options alone = {.loss = {.kind = LOSS_SQUARED},
                                      .rate = 0.3,
                                      .c = 1,
                                      .passes = 10,
                                      .rows = ROWS,
                                      .dims = DIMS,
                                      .shuffle = true,
                                      .seed = 7,
                                      .has_free = true,
                                      .free = 2};
    static struct table t;
    double w[DIMS], got[DIMS];

    (void)state;
    make(&t);
    assert_int_equal(sgd_train(&alone, row, &t, w), ERR_OK);
    run_all(&whole, &t, got);
    assert_memory_equal(w, got, sizeof w); /* From zero: to the bit. */
    for (uint32_t every = 1; every < 10; every++) {
        const struct local plan = plan_of(OPTIM_SGD, every);

        run_all(&plan, &t, got);
        for (int j = 0; j < DIMS; j++)
            assert_true(fabs(got[j] - w[j]) < 1e-12);
    }
}

static void test_parts_shuffle_differently(void **state)
{
    const struct local plan = plan_of(OPTIM_SGD, 1);
    const double w[DIMS] = {0};
    static struct table t;
    struct local_part part = part_of(&t);
    double a[DIMS + 1], b[DIMS + 1];

    (void)state;
    make(&t);
    assert_int_equal(local_run(&plan, &part, 0, w, a), ERR_OK);
    part.first_row = 64;
    assert_int_equal(local_run(&plan, &part, 0, w, b), ERR_OK);
    assert_true(memcmp(a, b, DIMS * sizeof *a) != 0);
    assert_true(a[DIMS] == b[DIMS]); /* The mean loss at w is the same. */
}

static void test_rows_that_do_not_count(void **state)
{
    const struct local plan = plan_of(OPTIM_GD, 5);
    const double w[DIMS] = {1, 2};
    static struct table t;
    struct local_part part = part_of(&t);
    double out[DIMS + 1];

    (void)state;
    part.counted = 0;
    assert_int_equal(local_run(&plan, &part, 0, w, out), ERR_OK);
    for (int j = 0; j <= DIMS; j++)
        assert_true(out[j] == 0);
}

static void test_divergence_is_an_error(void **state)
{
    struct local plan = plan_of(OPTIM_GD, 3000);
    const double w[DIMS] = {1};
    static struct table t;
    const struct local_part part = part_of(&t);
    double out[DIMS + 1];

    (void)state;
    make(&t);
    plan.rate = 1e3;
    plan.schedule = SCHEDULE_CONSTANT;
    plan.steps = plan.every;
    assert_int_equal(local_run(&plan, &part, 0, w, out), ERR_RANGE);
}

static void test_plans(void **state)
{
    struct local plan = plan_of(OPTIM_GD, 4);

    (void)state;
    assert_int_equal(local_steps(&plan, 0), 4);
    assert_int_equal(local_steps(&plan, 2), 2);
    assert_int_equal(local_steps(&plan, 3), 0);
    assert_int_equal(local_steps(&plan, UINT32_MAX), 0);
    assert_true(local_fits(&plan, DIMS));
    plan.l2 = 0;
    assert_true(local_fits(&plan, DIMS));
    plan.kind = OPTIM_SGD;
    assert_false(local_fits(&plan, DIMS)); /* c = 1 / (2 l2) */
    plan = plan_of(OPTIM_AGD, 4);
    assert_false(local_fits(&plan, DIMS));
    plan = plan_of(OPTIM_GD, 0);
    assert_false(local_fits(&plan, DIMS));
    plan = plan_of(OPTIM_GD, 4);
    plan.rate = (double)NAN;
    assert_false(local_fits(&plan, DIMS));
    plan = plan_of(OPTIM_GD, 4);
    assert_false(local_fits(&plan, 2)); /* Free weights that are not there. */
    plan.schedule = (enum optim_schedule)9;
    assert_false(local_fits(&plan, DIMS));
}

static void test_average(void **state)
{
    struct optim_options inner = optim_defaults(OPTIM_GD);
    const double moved[DIMS] = {1, -2, 0.5};
    struct optim_options options;
    struct optim optim;

    (void)state;
    inner.steps = 25;
    inner.rows = ROWS;
    inner.l2 = 0.5;
    inner.tol = 1;
    options = optim_averaged(&inner, 10);
    assert_int_equal(options.steps, 3);
    assert_int_equal(options.local.steps, 25);
    assert_true(options.tol == 0);
    assert_int_equal(optim_init(&optim, &options, DIMS), ERR_OK);
    for (uint32_t step = 0; step < 3; step++) {
        const struct ask ask = optim_next(&optim);

        assert_int_equal(ask.kind, ASK_EVALUATE);
        assert_int_equal(ask.what.kind, EVALUATE_LOCAL);
        assert_true(optim_feed(&optim, moved, 0.25));
    }
    assert_int_equal(optim_next(&optim).kind, ASK_DONE);
    for (int j = 0; j < DIMS; j++)
        assert_true(optim_weights(&optim)[j] == 3 * moved[j]);
    /* Where the last one began: at twice `moved`. */
    assert_true(optim.objective == 0.25 + 0.5 * 4 * 5.25);
    optim_close(&optim);
    options.local.every = 0;
    assert_int_equal(optim_init(&optim, &options, DIMS), ERR_SHAPE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gd_goes_on_where_it_was),
        cmocka_unit_test(test_sgd_goes_on_where_it_was),
        cmocka_unit_test(test_parts_shuffle_differently),
        cmocka_unit_test(test_rows_that_do_not_count),
        cmocka_unit_test(test_divergence_is_an_error),
        cmocka_unit_test(test_plans),
        cmocka_unit_test(test_average),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

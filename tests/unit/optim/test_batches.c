/*
 * Optimisers on minibatches: what sums are divided by, step by step, against
 * the formulas of optim.h computed here; and what has no batches.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "optim/optim.h"

enum { DIMS = 2, ROWS = 10, BATCH = 4 };

static struct optim_options on_batches(enum optim_kind kind)
{
    struct optim_options options = optim_defaults(kind);

    options.steps = 9;
    options.rows = ROWS;
    options.rate = 0.5;
    options.sampler = sampler_of(SAMPLER_ROWS, ROWS, 2, BATCH, 1);
    return options;
}

/* Batches of 4, 4 and 2 rows: the last one's sum counts twice as much. */
static void test_true_count(void **state)
{
    static const double rows[] = {4, 4, 2};
    struct optim_options options = on_batches(OPTIM_GD);
    const double sum[DIMS] = {3, -1};
    struct optim opt;
    double w = 0;

    (void)state;
    options.l2 = 0.125;
    assert_int_equal(optim_init(&opt, &options, DIMS), ERR_OK);
    for (uint32_t step = 0; step < 9; step++) {
        const double loss = step;
        const double before = w * w + (w / 3) * (w / 3);

        assert_true(optim_feed(&opt, sum, loss));
        assert_true(fabs(opt.objective - loss / rows[step % 3] -
                         0.125 * before) < 1e-12);
        w = (1 - 2 * 0.125 * 0.5) * w - 0.5 / rows[step % 3] * 3;
        assert_true(optim_weights(&opt)[0] == w);
    }
    assert_int_equal(optim_next(&opt).kind, ASK_DONE);
    optim_close(&opt);
}

/* Half of the rows have no weight: a batch is divided by half its rows. */
static void test_share_of_weighted(void **state)
{
    struct optim_options options = on_batches(OPTIM_GD);
    const double sum[DIMS] = {3, -1};
    struct optim opt;

    (void)state;
    options.rows = ROWS / 2;
    assert_int_equal(optim_init(&opt, &options, DIMS), ERR_OK);
    assert_true(optim_feed(&opt, sum, 0));
    assert_true(optim_weights(&opt)[0] == -0.5 / 2 * 3);
    optim_close(&opt);
}

/* A state that is saved in mid-pass goes on with the batch that is next. */
static void test_resume(void **state)
{
    const struct optim_options options = on_batches(OPTIM_MOMENTUM);
    const double sum[DIMS] = {3, -1};
    struct optim through, again;
    uint8_t room[1024];
    struct writer out = writer_on(room, sizeof room);
    struct reader in;

    (void)state;
    assert_int_equal(optim_init(&through, &options, DIMS), ERR_OK);
    assert_int_equal(optim_init(&again, &options, DIMS), ERR_OK);
    for (int i = 0; i < 2; i++)
        assert_true(optim_feed(&through, sum, 0));
    optim_save(&through, &out);
    in = reader_on(room, out.size);
    assert_int_equal(optim_load(&again, &in), ERR_OK);
    for (int i = 0; i < 5; i++) {
        assert_true(optim_feed(&through, sum, 0));
        assert_true(optim_feed(&again, sum, 0));
        assert_memory_equal(optim_weights(&through), optim_weights(&again),
                            DIMS * sizeof(double));
    }
    optim_close(&through);
    optim_close(&again);
}

static void test_refused(void **state)
{
    static const enum optim_kind kinds[] = {OPTIM_LBFGS, OPTIM_NEWTON,
                                            OPTIM_SGD, OPTIM_AVERAGE};
    struct optim_options options;
    struct optim opt;

    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        options = on_batches(kinds[i]);
        options.local.every = 1;
        assert_int_equal(optim_init(&opt, &options, DIMS), ERR_SHAPE);
    }
    options = on_batches(OPTIM_GD);
    options.tol = 0.1;
    assert_int_equal(optim_init(&opt, &options, DIMS), ERR_SHAPE);
    options = on_batches(OPTIM_GD);
    options.gap = 0.1;
    assert_int_equal(optim_init(&opt, &options, DIMS), ERR_SHAPE);
    options = on_batches(OPTIM_GD);
    options.sampler.batch = ROWS;
    assert_int_equal(optim_init(&opt, &options, DIMS), ERR_SHAPE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_true_count),
        cmocka_unit_test(test_share_of_weighted),
        cmocka_unit_test(test_resume),
        cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

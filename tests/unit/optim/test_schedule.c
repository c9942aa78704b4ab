/*
 * Rates against the library's functions, to rounding; clipping and adamw
 * against their formulas.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "optim/optim.h"

#define PI 3.14159265358979323846

enum { DIMS = 2, STEPS = 1000 };

static struct optim_options options_of(enum optim_kind kind)
{
    struct optim_options options = optim_defaults(kind);

    options.steps = STEPS;
    options.rows = 4;
    options.rate = 0.5;
    return options;
}

static double rate_at(struct optim *opt, uint32_t step)
{
    opt->step = step;
    return optim_rate(opt);
}

static void test_cosine(void **state)
{
    struct optim_options options = options_of(OPTIM_GD);
    struct optim opt;

    (void)state;
    options.schedule = SCHEDULE_COSINE;
    assert_int_equal(optim_init(&opt, &options, DIMS), ERR_OK);
    assert_true(rate_at(&opt, 0) == 0.5);
    for (uint32_t i = 0; i < STEPS; i++) {
        const double wanted = 0.5 * (1 + cos(PI * i / STEPS)) / 2;

        assert_true(fabs(rate_at(&opt, i) - wanted) < 4e-16);
        assert_true(rate_at(&opt, i) > rate_at(&opt, i + 1));
    }
    assert_true(rate_at(&opt, STEPS) == 0);
    optim_close(&opt);
}

static void test_stairs_and_warmup(void **state)
{
    struct optim_options options = options_of(OPTIM_GD);
    struct optim opt;

    (void)state;
    options.schedule = SCHEDULE_STEP;
    options.decay = 0.5;
    assert_int_equal(optim_init(&opt, &options, DIMS), ERR_SHAPE);
    options.decay_every = 10;
    options.warmup = 4;
    assert_int_equal(optim_init(&opt, &options, DIMS), ERR_OK);
    for (uint32_t i = 0; i < 40; i++) {
        const double warm = i < 4 ? (i + 1) / 4.0 : 1;

        assert_true(rate_at(&opt, i) == 0.5 * ldexp(1, -(int)(i / 10)) * warm);
    }
    optim_close(&opt);
}

/* Every line of the list: its name leads to it, its rates are numbers, and what
 * it says it needs is asked for. */
static void test_list(void **state)
{
    enum optim_schedule schedule;

    (void)state;
    for (unsigned i = 0; i < SCHEDULES; i++) {
        struct optim_options options = options_of(OPTIM_GD);
        const unsigned needs = optim_schedule_needs((enum optim_schedule)i);
        struct optim opt;

        assert_true(optim_schedule_parse(
            optim_schedule_name((enum optim_schedule)i), &schedule));
        assert_int_equal(schedule, i);
        options.schedule = schedule;
        options.decay = 0.75;
        options.decay_every = 3;
        assert_int_equal(optim_init(&opt, &options, DIMS), ERR_OK);
        for (uint32_t step = 0; step < STEPS; step++)
            assert_true(rate_at(&opt, step) >= 0 &&
                        rate_at(&opt, step) <= options.rate);
        optim_close(&opt);
        options.decay_every = 0;
        assert_int_equal(optim_init(&opt, &options, DIMS),
                         needs & SCHEDULE_STAIRS ? ERR_SHAPE : ERR_OK);
        optim_close(&opt);
        options.decay_every = 3;
        options.decay = 0;
        assert_int_equal(optim_init(&opt, &options, DIMS),
                         needs & SCHEDULE_FACTOR ? ERR_SHAPE : ERR_OK);
        optim_close(&opt);
    }
    assert_false(optim_schedule_parse("cosin", &schedule));
    assert_false(optim_schedule_parse("", &schedule));
}

/* G = (3, 4) / 4 * 4 / 4: of length 5/4, shortened to 1/2. */
static void test_clip(void **state)
{
    static const enum optim_kind kinds[] = {OPTIM_GD, OPTIM_MOMENTUM};
    const double sum[DIMS] = {3, 4};

    (void)state;
    for (int i = 0; i < 4; i++) {
        struct optim_options options = options_of(kinds[i % 2]);
        const double shortened = i < 2 ? 0.4 : 1;
        struct optim opt;

        options.clip = i < 2 ? 0.5 : 2;
        assert_int_equal(optim_init(&opt, &options, DIMS), ERR_OK);
        assert_true(optim_feed(&opt, sum, 0));
        assert_true(fabs(opt.gradient_norm - 1.25) < 1e-15);
        assert_true(fabs(optim_weights(&opt)[0] + 0.5 * 0.75 * shortened) <
                    1e-15);
        assert_true(fabs(optim_weights(&opt)[1] + 0.5 * shortened) < 1e-15);
        optim_close(&opt);
    }
}

/* Two steps by hand: the penalty is in no moment, and free weights have none.
 */
static void test_adamw(void **state)
{
    struct optim_options options = options_of(OPTIM_ADAMW);
    const double sum[DIMS] = {3, -4};
    double w[DIMS] = {0}, m[DIMS] = {0}, v[DIMS] = {0};
    struct optim opt;

    (void)state;
    options.l2 = 0.25;
    options.l2_free = 1;
    options.l2_stride = 2;
    assert_int_equal(optim_init(&opt, &options, DIMS), ERR_OK);
    for (int t = 1; t <= 2; t++) {
        assert_true(optim_feed(&opt, sum, 0));
        for (int j = 0; j < DIMS; j++) {
            const double g = sum[j] / 4;

            m[j] = 0.9 * m[j] + 0.1 * g;
            v[j] = 0.999 * v[j] + 0.001 * g * g;
            w[j] = w[j] - 0.5 * (j == 0 ? 0.5 : 0) * w[j] -
                   0.5 * (m[j] / (1 - pow(0.9, t))) /
                       (sqrt(v[j] / (1 - pow(0.999, t))) + 1e-8);
            assert_true(fabs(optim_weights(&opt)[j] - w[j]) < 1e-12);
        }
    }
    optim_close(&opt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cosine), cmocka_unit_test(test_stairs_and_warmup),
        cmocka_unit_test(test_list),   cmocka_unit_test(test_clip),
        cmocka_unit_test(test_adamw),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

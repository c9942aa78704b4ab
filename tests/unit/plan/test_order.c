/*
 * Three ways to one number: closed form, quadrature, and the bootstrap formula
 * on a sample of 1e5 quantiles; and both against figures worked out by hand
 * or printed in the literature (Lee et al. 2018 for coded data).
 */
#include "plan/order.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/mem.h"
#include "plan/special.h"

#define SAMPLE 100000u

static void near(double value, double want, double share)
{
    if (!(fabs(value - want) <= share * fabs(want)))
        fail_msg("%.12g is not within %g of %.12g", value, share, want);
}

static void test_special(void **state)
{
    (void)state;
    near(harmonic(30), 3.994987130920, 1e-12);
    near(normal_quantile(.975), 1.959963984540054, 1e-13);
    near(normal_quantile(1e-10), -6.361340902404056, 1e-12);
    assert_true(fabs(normal_quantile(.5)) < 1e-12);
    near(normal_cdf(1), .8413447460685429, 1e-14);
    /* I_x(1, b) = 1 - (1 - x)^b, I_.3(2, 3) = .3483 exactly. */
    near(beta_cdf(.2, 1, 5), 1 - pow(.8, 5), 1e-13);
    near(beta_cdf(.3, 2, 3), .3483, 1e-13);
    near(beta_cdf(.7, 3, 2), 1 - .3483, 1e-13);
    near(beta_cdf(.9, 30, 1), pow(.9, 30), 1e-12);
    assert_true(beta_cdf(0, 2, 2) == 0 && beta_cdf(1, 2, 2) == 1);
}

/* The figures of a shifted exponential, a = mu = 1, and n = 30. */
static void test_figures(void **state)
{
    const struct law law = {DELAY_SHIFTED, 1, 1};
    const struct law slow = {DELAY_BIMODAL, .05, 3};
    const struct quorum all = {30, 1, 30};
    const struct quorum pairs = {15, 2, 15};
    const struct law pareto = {DELAY_PARETO, 1, 1.5};
    const struct law endless = {DELAY_PARETO, 1, 1};

    (void)state;
    near(order_closed(&law, &all), 4.994987130920, 1e-12);
    near(2 * order_closed(&law, &pairs), 2 + harmonic(15), 1e-12);
    near(order_closed(&slow, &all), 1 + 2 * (1 - pow(.95, 30)), 1e-12);
    near(order_closed(&slow, &pairs), 1 + 2 * (1 - pow(1 - .0025, 15)), 1e-9);
    near(order_closed(&pareto, &all), 25.97, 1e-3);
    assert_true(isinf(order_closed(&endless, &all)));
}

static const struct law laws[] = {
    {DELAY_EXP, .5, 0},       {DELAY_SHIFTED, 1, .3},  {DELAY_PARETO, 1, 3},
    {DELAY_LOGNORMAL, 1, .5}, {DELAY_WEIBULL, 2, 1.5},
};
static const struct quorum rules[] = {
    {30, 1, 30}, {30, 1, 27},   {15, 2, 15}, {10, 3, 10},
    {10, 3, 7},  {120, 1, 108}, {40, 3, 40},
};

#define LAWS  (sizeof laws / sizeof *laws)
#define RULES (sizeof rules / sizeof *rules)

static void test_quadrature_is_closed_form(void **state)
{
    (void)state;
    for (size_t i = 0; i < LAWS; i++) {
        for (size_t j = 0; j < RULES; j++) {
            const double closed = order_closed(&laws[i], &rules[j]);

            if (!isnan(closed))
                near(order_quadrature(&laws[i], &rules[j]), closed, 1e-9);
        }
    }
}

/* The sample is the law's own quantiles; what is left is the share of the mean
 * beyond the last of them. */
static void test_sample_is_quadrature(void **state)
{
    double *sample = mem_new(SAMPLE, sizeof *sample);

    (void)state;
    assert_non_null(sample);
    for (size_t i = 0; i < LAWS; i++) {
        for (uint32_t at = 0; at < SAMPLE; at++) {
            const double u = (at + .5) / SAMPLE;

            sample[at] = law_quantile(&laws[i], u, 1 - u);
            near(law_cdf(&laws[i], sample[at]), u, 1e-7);
        }
        for (size_t j = 0; j < RULES; j++)
            near(order_sample(sample, SAMPLE, &rules[j]),
                 order_quadrature(&laws[i], &rules[j]), .01);
    }
    mem_free(sample);
}

/* Weibull: the first of d is Weibull again, with scale / d^(1/shape). */
static void test_weibull_minimum(void **state)
{
    const struct law law = {DELAY_WEIBULL, 2, 1.5};
    const struct quorum first = {1, 4, 1};

    (void)state;
    near(order_quadrature(&law, &first),
         2 * pow(4, -1 / 1.5) * tgamma(1 + 1 / 1.5), 1e-9);
}

/* Lognormal: the mean, and the larger of two: mean * 2 Phi(sigma / sqrt 2). */
static void test_lognormal_largest(void **state)
{
    const struct law law = {DELAY_LOGNORMAL, 1, .5};
    const struct quorum one = {1, 1, 1};
    const struct quorum two = {2, 1, 2};

    (void)state;
    near(order_quadrature(&law, &one), exp(.125), 1e-9);
    near(order_quadrature(&law, &two), exp(.125) * 2 * normal_cdf(.5 / sqrt(2)),
         1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_special),
        cmocka_unit_test(test_figures),
        cmocka_unit_test(test_quadrature_is_closed_form),
        cmocka_unit_test(test_sample_is_quadrature),
        cmocka_unit_test(test_weibull_minimum),
        cmocka_unit_test(test_lognormal_largest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

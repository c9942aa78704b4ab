/*
 * The factor on the merged sum, for each estimate: by value, and on average
 * over all sets of answers; what a step is off by against the closed form.
 */
#include "code/code.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "code/axes.h"
#include "code/code_fixture.h"

static double factor(const char *name, uint64_t covered, uint64_t rows)
{
    struct code code = code_of((struct shape){name, 4, 1, 2, 8});
    const double value = code_rescale(&code, covered, rows);

    code_close(&code);
    return value;
}

static void test_factors(void **state)
{
    (void)state;
    assert_true(factor("uncoded", 100, 100) == 1);
    assert_true(factor("rep", 100, 100) == 1);
    assert_true(factor("agc", 50, 100) == 1); /* No rescale: too short. */
    assert_true(factor("ignore", 75, 100) == 100.0 / 75.0);
    assert_true(factor("ignore", 100, 100) == 1);
    assert_true(factor("ignore", 0, 100) == 1); /* Zero stays zero. */
}

/* All sets of k answers of n are equally likely: on average every group must
 * be in the update exactly once. */
static void check_unbiased(struct code_spec spec, uint32_t n)
{
    struct code code = {0};
    double total = 0;
    uint32_t sets = 0;

    spec.estimate = ESTIMATE_UNBIASED;
    assert_int_equal(code_build(&code, &spec, n, n, NULL), ERR_OK);
    for (uint32_t mask = 0; mask < 1u << n; mask++) {
        bool in[SLOTS_MAX];

        if ((uint32_t)__builtin_popcount(mask) != code.spec.k)
            continue;
        for (uint32_t slot = 0; slot < n; slot++)
            in[slot] = mask >> slot & 1u;
        total += table_covers(&code.table, 1, in) * code_rescale(&code, 1, n);
        sets++;
    }
    assert_true(fabs(total / sets - 1) < 1e-12);
    code_close(&code);
}

static void test_unbiased_on_average(void **state)
{
    (void)state;
    for (uint32_t k = 1; k <= 12; k++) {
        check_unbiased(spec_of((struct shape){"agc", 12, 1, k, 12}), 12);
        check_unbiased(spec_of((struct shape){"agc", 12, 2, k, 12}), 12);
        check_unbiased(spec_of((struct shape){"agc", 12, 3, k, 12}), 12);
    }
    for (uint32_t s = 0; s < 8; s++)
        check_unbiased(spec_of((struct shape){"ignore", 8, s, 0, 8}), 8);
}

static void test_unbiased_refusals(void **state)
{
    struct code_spec spec = spec_of((struct shape){"agc", 8, 2, 4, 8});
    struct code code = {0};
    struct why why = {0};

    (void)state;
    spec.estimate = ESTIMATE_UNBIASED;
    assert_int_equal(code_build(&code, &spec, 8, 8, &why), ERR_SHAPE);
    assert_string_equal(why.text, "estimate unbiased needs groups of one size, "
                                  "and 3 does not divide 8; use ratio");
    spec.stop = STOP_DEADLINE;
    spec.deadline_s = 1;
    assert_int_equal(code_build(&code, &spec, 9, 9, &why), ERR_SHAPE);
    assert_non_null(strstr(why.text, "only for the stops first, collect"));
    spec = spec_of((struct shape){"stream", 8, 1, 0, 8});
    spec.estimate = ESTIMATE_UNBIASED;
    assert_int_equal(code_build(&code, &spec, 8, 8, &why), ERR_SHAPE);
    assert_string_equal(why.text, "estimate unbiased needs groups of workers "
                                  "that do the same work at once, and code "
                                  "stream has none; use ratio");
}

/* C(n, k) as a double. */
static double choose(uint32_t n, uint32_t k)
{
    double value = 1;

    for (uint32_t i = 0; i < k; i++)
        value = value * (n - i) / (i + 1);
    return k > n ? 0 : value;
}

/* O4: f silent at random, groups of d: C(n-d, f-d) / C(n, f) of the data is
 * missing on average; 3 sigma of a share between 0 and 1. */
static void test_expected_error(void **state)
{
    (void)state;
    for (uint32_t s = 1; s <= 3; s++) {
        struct code code = code_of((struct shape){"rep", 24, s, 0, 48});

        for (uint32_t f = 1; f <= 20; f += 3) {
            const double want =
                f < s + 1 ? 0 : choose(24 - s - 1, f - s - 1) / choose(24, f);
            double mean = -1;

            assert_int_equal(code_expected_error(&code, f, 4000, &mean),
                             ERR_OK);
            assert_true(fabs(mean - want) <=
                        3 * sqrt(want * (1 - want) / 4000));
        }
        code_close(&code);
    }
}

/* What a step is off by if these slots alone answer. */
static double error_of(const struct code *code, const bool *in)
{
    double weight[SLOTS_MAX];
    double error = -1;

    assert_int_equal(code_error(code, in, weight, &error), ERR_OK);
    return error;
}

/* O4, every slot silent by itself with chance p: p^d of the data is missing on
 * average, and with chance (1-p^d)^(n/d) nothing is.  All sets of answers, each
 * with its chance. */
static void check_each_alone(uint32_t n, uint32_t d, double p)
{
    struct code code = code_of((struct shape){"frc", n, d - 1, 0, 2 * n});
    double missing = 0;
    double whole = 0;

    for (uint32_t mask = 0; mask < 1u << n; mask++) {
        const int answers = __builtin_popcount(mask);
        const double chance = pow(p, (int)n - answers) * pow(1 - p, answers);
        bool in[SLOTS_MAX];
        double error;

        for (uint32_t slot = 0; slot < n; slot++)
            in[slot] = mask >> slot & 1u;
        error = error_of(&code, in);
        missing += chance * error;
        whole += error == 0 ? chance : 0;
    }
    assert_true(fabs(missing - pow(p, d)) < 1e-12);
    assert_true(fabs(whole - pow(1 - pow(p, d), (double)n / d)) < 1e-12);
    code_close(&code);
}

static void test_error_each_alone(void **state)
{
    (void)state;
    for (uint32_t d = 1; d <= 4; d++) {
        check_each_alone(12, d, .1);
        check_each_alone(12, d, .5);
    }
}

/* The same for as many workers as the published tables have, by draws: groups
 * are independent, so the share has variance p^d (1-p^d) d / n. */
static void test_error_each_alone_by_draws(void **state)
{
    enum { WORKERS = 60, TIMES = 20000 };
    struct rng rng;

    (void)state;
    rng_init(&rng, 4);
    for (uint32_t d = 2; d <= 3; d++) {
        struct code code =
            code_of((struct shape){"frc", WORKERS, d - 1, 0, WORKERS});
        const double want = pow(.2, d);
        double total = 0;

        for (uint32_t draw = 0; draw < TIMES; draw++) {
            bool in[SLOTS_MAX];

            for (uint32_t slot = 0; slot < WORKERS; slot++)
                in[slot] = !rng_chance(&rng, .2);
            total += error_of(&code, in);
        }
        assert_true(fabs(total / TIMES - want) <=
                    3 * sqrt(want * (1 - want) * d / WORKERS / TIMES));
        code_close(&code);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_factors),
        cmocka_unit_test(test_unbiased_on_average),
        cmocka_unit_test(test_unbiased_refusals),
        cmocka_unit_test(test_expected_error),
        cmocka_unit_test(test_error_each_alone),
        cmocka_unit_test(test_error_each_alone_by_draws),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

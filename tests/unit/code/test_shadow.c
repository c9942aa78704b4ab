/*
 * What stands for a missing part (oracle O11): by value; on parts whose means
 * differ by nothing to much, shrinking is never worse than the better of sample
 * and rescaling by more than 1.3; the variance told by random groups, and the
 * error that each estimator is said to have, are those seen.
 */
#include "code/shadow.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"

#define DIMS   60u
#define ROWS   100u /* Of a part. */
#define OTHERS 9u
#define GROUPS 4u
#define DRAWS  60u

static const enum estimate order[] = {ESTIMATE_REFERENCE, ESTIMATE_RATIO,
                                      ESTIMATE_SHADOW, ESTIMATE_SHRINK};

static void test_values(void **state)
{
    static const double sample[] = {6, 0};
    /* 10 of 20 rows are in, with the sum (2, 2): rescaling stands for (2, 2),
     * from which the sample is off by 20; of that 5 is noise. */
    const double expected[][2] = {{2, 2}, {4, 4}, {8, 2}, {7, 2.5}};
    const double errors[] = {31, 15, 5, 3.75};

    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        struct shadow_part part = {.sum = sample, .variance = 5, .rows = 10};
        double sum[] = {2, 2};
        const double error = shadow_fill(order[i], &part, 1, 10, 2, 2, sum);

        assert_true(sum[0] == expected[i][0] && sum[1] == expected[i][1]);
        assert_true(error == errors[i]);
    }
}

static void test_weights(void **state)
{
    (void)state;
    assert_true(shadow_weight(4, 0) == 1);
    assert_true(shadow_weight(4, 1) == .75);
    assert_true(shadow_weight(4, 4) == 0);
    assert_true(shadow_weight(4, 9) == 0);
    assert_true(shadow_weight(4, INFINITY) == 0);
    assert_int_equal(draw_shift(.1), 5); /* 30 times at most. */
    assert_int_equal(draw_shift(1), 2);
}

/* Two missing at once are each weighed by themselves. */
static void test_two_missing(void **state)
{
    static const double a[] = {5}, b[] = {1};
    struct shadow_part parts[] = {{.sum = a, .variance = 0, .rows = 10},
                                  {.sum = b, .variance = INFINITY, .rows = 20}};
    double sum[] = {3};

    (void)state;
    (void)shadow_fill(ESTIMATE_SHRINK, parts, 2, 10, 1, 1, sum);
    assert_true(parts[0].weight == 1 && parts[1].weight == 0);
    assert_true(sum[0] == 3 * (1 + 2) + 5);
}

/* Nothing is said of an error that nobody knows: zero is not that. */
static void test_not_known(void **state)
{
    static const double sample[] = {6};

    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        struct shadow_part parts[] = {
            {.sum = sample, .variance = 1, .rows = 10, .share = .1},
            {.sum = sample, .variance = INFINITY, .rows = 10, .share = .1}};
        double sum[] = {2};

        assert_true(isnan(shadow_fill(order[i], parts, 2, 10, 1, 1, sum)));
        assert_true(isfinite(sum[0]));
    }
}

/* --- against what was missing -------------------------------------------- */

struct errors {
    double seen[4];     /* By estimate, in the order above. */
    double expected[4]; /* As shadow_fill says, ... */
    double least[4];    /* ... and the least of what it said. */
    double told;        /* Variance. */
};

/* Rows of the missing part: noise of size one around a mean of its own. */
static double entry(uint64_t seed, uint32_t row, uint32_t j, double apart)
{
    return 1 + apart * rng_normal_at(seed, 1000, j) +
           rng_normal_at(seed, row, j + DIMS);
}

static void sum_rows(uint64_t seed, double apart, double *sum)
{
    for (uint32_t row = 0; row < ROWS; row++)
        for (uint32_t j = 0; j < DIMS; j++)
            sum[j] += entry(seed, row, j, apart);
}

/* The sum over another part's rows, as it is distributed. */
static void sum_alike(uint64_t seed, uint32_t part, double apart, double *sum)
{
    for (uint32_t j = 0; j < DIMS; j++)
        sum[j] += ROWS * (1 + apart * rng_normal_at(seed, 1000 + part, j)) +
                  sqrt(ROWS) * rng_normal_at(seed, 1000 + part, j + DIMS);
}

/* A sample of the first b rows, which are as random as any. */
static double sample(uint64_t seed, double apart, uint32_t b, double *sum)
{
    double groups[GROUPS][DIMS] = {{0}};
    double squares = 0;
    double square = 0;

    for (uint32_t row = 0; row < b; row++)
        for (uint32_t j = 0; j < DIMS; j++)
            groups[row % GROUPS][j] += entry(seed, row, j, apart) * ROWS / b;
    for (uint32_t j = 0; j < DIMS; j++) {
        sum[j] = 0;
        for (uint32_t g = 0; g < GROUPS; g++) {
            sum[j] += groups[g][j];
            squares += groups[g][j] * groups[g][j];
        }
        square += sum[j] * sum[j];
    }
    return draw_variance(squares, square, GROUPS, (double)b / ROWS);
}

static struct errors measure(double apart, uint32_t b)
{
    struct errors errors = {0};

    for (uint64_t seed = 0; seed < DRAWS; seed++) {
        double missing[DIMS] = {0};
        double others[DIMS] = {0};
        double drawn[DIMS];
        struct shadow_part part = {
            .sum = drawn, .rows = ROWS, .share = (double)b / ROWS};

        sum_rows(seed, apart, missing);
        for (uint32_t p = 1; p <= OTHERS; p++)
            sum_alike(seed, p, apart, others);
        part.variance = sample(seed, apart, b, drawn);
        errors.told += part.variance / DRAWS;
        for (uint32_t k = 0; k < 4; k++) {
            double sum[DIMS];
            double expected;

            memcpy(sum, others, sizeof sum);
            expected =
                shadow_fill(order[k], &part, 1, OTHERS * ROWS, DIMS, DIMS, sum);
            errors.expected[k] += expected / DRAWS;
            errors.least[k] =
                seed == 0 ? expected : fmin(errors.least[k], expected);
            for (uint32_t j = 0; j < DIMS; j++) {
                const double off = sum[j] - others[j] - missing[j];

                errors.seen[k] += off * off / DRAWS;
            }
        }
    }
    return errors;
}

static void test_shrink(void **state)
{
    static const double aparts[] = {0, .1, .3, 1};
    static const uint32_t sizes[] = {12, 40};

    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        for (uint32_t k = 0; k < 2; k++) {
            const struct errors errors = measure(aparts[i], sizes[k]);
            const double better = fmin(errors.seen[1], errors.seen[2]);

            assert_true(errors.seen[3] <= 1.3 * better);
            assert_true(errors.seen[3] <= errors.seen[0]);
            assert_true(fabs(errors.told / errors.seen[2] - 1) < .15);
            for (uint32_t e = 0; e < 4; e++) {
                assert_true(errors.expected[e] > .7 * errors.seen[e]);
                assert_true(errors.expected[e] < 2 * errors.seen[e]);
                assert_true(errors.least[e] > .2 * errors.seen[e]);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),      cmocka_unit_test(test_weights),
        cmocka_unit_test(test_two_missing), cmocka_unit_test(test_not_known),
        cmocka_unit_test(test_shrink),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

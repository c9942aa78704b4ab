/*
 * The fast loops are compared, bit for bit, with the header's definition read
 * off element by element, at lengths around every boundary.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "math/isa.h"
#include "math/vec.h"

#define COUNT_MAX 5000u

static double a[COUNT_MAX];
static double b[COUNT_MAX];

static void fill(uint64_t seed)
{
    struct rng rng;

    rng_init(&rng, seed);
    for (unsigned i = 0; i < COUNT_MAX; i++) {
        a[i] = ldexp(rng_unit(&rng) - 0.5, (int)rng_between(&rng, -40, 40));
        b[i] = ldexp(rng_unit(&rng) - 0.5, (int)rng_between(&rng, -40, 40));
    }
}

static double dot_ref(size_t count)
{
    double sum = 0.0;

    for (size_t i = 0; i < count; i += 1024) {
        double lane[8] = {0};

        for (size_t j = i; j < count && j < i + 1024; j++)
            lane[j % 8] += a[j] * b[j];
        for (unsigned width = 4; width > 0; width /= 2) {
            for (unsigned l = 0; l < width; l++)
                lane[l] += lane[l + width];
        }
        sum += lane[0];
    }
    return sum;
}

static void test_dot(void **state)
{
    const size_t counts[] = {0,    1,    7,    8,    9,    15,   1023, 1024,
                             1025, 1032, 2047, 2048, 2049, 4999, 5000};

    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        fill(seed);
        for (unsigned c = 0; c < sizeof counts / sizeof *counts; c++) {
            const double want = dot_ref(counts[c]);
            const double got = vec_dot(a, b, counts[c]);

            if (memcmp(&want, &got, sizeof got) != 0)
                fail_msg("seed %llu: %zu coordinates", (unsigned long long)seed,
                         counts[c]);
        }
    }
}

/* However the vectors are cut, empty pieces included. */
static void test_sum_of_pieces(void **state)
{
    struct rng rng;

    (void)state;
    rng_init(&rng, 7);
    for (uint64_t seed = 0; seed < 200; seed++) {
        const size_t count = (size_t)rng_below(&rng, COUNT_MAX + 1);
        struct vec_sum sum = {0};
        double want, got;

        fill(seed);
        for (size_t at = 0; at < count;) {
            const size_t most = rng_chance(&rng, 0.5) ? 12 : 1500;
            size_t some = (size_t)rng_below(&rng, most);

            some = some < count - at ? some : count - at;
            vec_sum_add(&sum, a + at, b + at, some);
            at += some;
        }
        want = dot_ref(count);
        got = vec_sum_end(&sum);
        if (memcmp(&want, &got, sizeof got) != 0)
            fail_msg("seed %llu: %zu coordinates", (unsigned long long)seed,
                     count);
    }
}

/* Each coordinate by itself, and none beyond the last. */
static void test_measure_and_descend(void **state)
{
    const size_t counts[] = {0, 1, 7, 8, 9, 15, 1024, 1025, COUNT_MAX - 1};

    (void)state;
    fill(3);
    for (unsigned c = 0; c < sizeof counts / sizeof *counts; c++) {
        const size_t count = counts[c];
        static double made[COUNT_MAX], w[COUNT_MAX];

        memcpy(w, b, sizeof w);
        made[count] = 0.5;
        vec_measure(a, 7, 0.1, b, count, made);
        assert_true(made[count] == 0.5);
        vec_descend(0.9, 0.3, a, count, w);
        assert_true(w[count] == b[count]);
        for (size_t j = 0; j < count; j++) {
            assert_true(made[j] == a[j] / 7 + 0.1 * b[j]);
            assert_true(w[j] == 0.9 * b[j] - 0.3 * a[j]);
        }
    }
}

/* The formula of the paper, coordinate by coordinate, as it is read off. */
static void test_adam(void **state)
{
    const struct vec_adam adam = {.beta1 = 0.9,
                                  .beta2 = 0.999,
                                  .warm1 = 0.271,
                                  .warm2 = 0.003,
                                  .epsilon = 1e-8,
                                  .eta = 0.002};
    const size_t counts[] = {0, 1, 7, 8, 9, 1025};

    (void)state;
    fill(4);
    for (unsigned c = 0; c < sizeof counts / sizeof *counts; c++) {
        const size_t count = counts[c];
        static double u[COUNT_MAX], v[COUNT_MAX], s[COUNT_MAX];

        for (size_t j = 0; j <= count; j++) {
            u[j] = b[j];
            v[j] = a[j] * a[j];
            s[j] = a[j] - b[j];
        }
        vec_adam(&adam, count, u, v, s);
        for (size_t j = 0; j < count; j++) {
            const double g = a[j] - b[j];
            const double m1 = 0.9 * b[j] + (1 - 0.9) * g;
            const double m2 = 0.999 * (a[j] * a[j]) + (1 - 0.999) * (g * g);

            assert_true(u[j] == m1 && v[j] == m2);
            assert_true(s[j] ==
                        0.002 * (m1 / 0.271) / (sqrt(m2 / 0.003) + 1e-8));
        }
        assert_true(u[count] == b[count] && s[count] == a[count] - b[count]);
    }
}

/* Sums of products in their order, each coordinate by itself; with every
 * instruction set that runs here. */
static void test_weigh(void **state)
{
    static const char *const sets[] = {"portable", NULL};
    const size_t counts[] = {0, 1, 7, 8, 9, 63, 64, 65, 1025};
    const double weight[] = {0.3, -1.7, 0, 1e9};
    const double *const from[] = {a, b, a + 1, b + 2};

    (void)state;
    fill(6);
    for (unsigned c = 0; c < 2 * sizeof counts / sizeof *counts; c++) {
        const size_t count = counts[c / 2];
        static double to[COUNT_MAX];
        static _Alignas(64) double past[COUNT_MAX + 2];

        assert_int_equal(isa_choose(sets[c % 2], NULL), ERR_OK);
        for (uint32_t terms = 1; terms <= 4; terms++) {
            to[count] = 0.5;
            vec_weigh(weight, from, terms, count, to);
            assert_true(to[count] == 0.5);
            for (size_t j = 0; j < count; j++) {
                double sum = weight[0] * from[0][j];

                for (uint32_t k = 1; k < terms; k++)
                    sum += weight[k] * from[k][j];
                assert_true(to[j] == sum);
            }
            memset(past, 0xff, sizeof past);
            vec_weigh_past(weight, from, terms, count, past + c % 3);
            vec_past_end();
            assert_memory_equal(past + c % 3, to, count * sizeof *to);
        }
    }
}

static void test_norm(void **state)
{
    const double v[] = {3.0, 0.0, -4.0};

    (void)state;
    assert_true(vec_norm(v, 3) == 5.0);
    assert_true(vec_norm(v, 0) == 0.0);
    assert_true(vec_norm(v + 1, 1) == 0.0);
}

static void test_finite(void **state)
{
    const double bad[] = {(double)NAN, -(double)NAN, (double)INFINITY,
                          -(double)INFINITY};
    double v[19] = {0.0, -0.0, 0x1p-1074, -1.7e308, 1.7e308};

    (void)state;
    assert_true(vec_finite(v, 19));
    assert_true(vec_finite(v, 0));
    for (unsigned i = 0; i < 4; i++) {
        for (unsigned j = 0; j < 19; j++) {
            const double kept = v[j];

            v[j] = bad[i];
            assert_false(vec_finite(v, 19));
            assert_true(vec_finite(v, j));
            v[j] = kept;
        }
    }
}

static void test_largest(void **state)
{
    double v[19] = {0.25, -0.0, 0x1p-1074};

    (void)state;
    assert_true(vec_largest(v, 0) == 0);
    for (unsigned j = 0; j < 19; j++) {
        const double kept = v[j];

        v[j] = -3;
        assert_true(vec_largest(v, 19) == 3);
        v[j] = (double)NAN;
        assert_true(isinf(vec_largest(v, 19)));
        v[j] = kept;
    }
    assert_true(vec_largest(v, 19) == 0.25);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dot),
        cmocka_unit_test(test_sum_of_pieces),
        cmocka_unit_test(test_measure_and_descend),
        cmocka_unit_test(test_adam),
        cmocka_unit_test(test_weigh),
        cmocka_unit_test(test_norm),
        cmocka_unit_test(test_finite),
        cmocka_unit_test(test_largest),
    };

    return cmocka_run_group_tests_name("math/vec", tests, NULL, NULL);
}

/*
 * Whole runs with a worker that lies within the proved bound (P10).  With
 * `verify` it is always caught and the hash is that of honest workers; with
 * `audit` q it is caught in m steps with chance 1 - (1 - q)^m; without either
 * it is believed, and that is what the documentation says.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "sim/sim_case.h"

static const struct {
    const char *code;
    uint32_t n, s;
} codes[] = {
    {"frc", 4, 1},     {"rep", 5, 1},         {"rep", 6, 2},
    {"steal", 4, 1},   {"steal", 6, 2},       {"stream", 5, 1},
    {"uncoded", 4, 0}, {"partial-frc", 6, 1}, {"uncoded", 2, 0},
    {"frc", 2, 1},
};

#define CODES (sizeof codes / sizeof *codes)

static void test_verify_without_liars(void **state)
{
    (void)state;
    for (size_t i = 0; i < CODES; i++) {
        struct sim_case test;
        struct sim_result result;

        sim_case_init(&test, codes[i].code, codes[i].n, codes[i].s);
        test.options.verify = true;
        sim_case_passes(&test, &result);
        assert_true(digest_equal(&result.hash, &result.expected));
        assert_int_equal(result.stats.poison, 0);
        assert_int_equal(result.stats.judged, 0);
        assert_true(result.stats.checked > 0);
        sim_result_close(&result);
        sim_case_close(&test);
    }
}

/* CHECK-3 would object if a lie were merged, CHECK-1 to the bits. */
static void lie_under_verify(size_t i, uint32_t step, uint32_t every,
                             uint64_t seed)
{
    const struct sim_fault fault = {.kind = FAULT_LIE,
                                    .step = step,
                                    .worker = 1,
                                    .for_us = 600 * SECOND_US,
                                    .count = every};
    struct sim_case test;
    struct sim_result result;

    sim_case_init(&test, codes[i].code, codes[i].n, codes[i].s);
    test.options.verify = true;
    test.options.seed = seed;
    test.options.script = &fault;
    test.options.script_count = 1;
    sim_case_passes(&test, &result);
    assert_true(digest_equal(&result.hash, &result.expected));
    assert_true(result.lies > 0);
    assert_true(result.stats.poison_by[POISON_LIE] > 0);
    assert_int_equal(result.stats.poison, result.stats.poison_by[POISON_LIE]);
    assert_int_equal(result.stats.banned, result.stats.poison >= STRIKES_MAX);
    if (result.stats.banned > 0)
        assert_string_equal(result.stats.banned_name[0], "w1");
    sim_result_close(&result);
    sim_case_close(&test);
}

static void test_verify_catches_every_liar(void **state)
{
    (void)state;
    for (size_t i = 0; i < CODES; i++) {
        for (uint64_t seed = 1; seed <= 10; seed++) {
            lie_under_verify(i, 0, 0, seed);
            lie_under_verify(i, 3, 0, seed);
            lie_under_verify(i, 1, 2, seed); /* Now and then. */
        }
    }
}

/* agc ends without some; what it does count is compared. */
static void test_verify_approximate(void **state)
{
    const struct sim_fault fault = {
        .kind = FAULT_LIE, .step = 1, .worker = 0, .for_us = 600 * SECOND_US};
    struct sim_case test;
    struct sim_result result;

    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        sim_case_init(&test, "agc", 6, 1);
        test.options.verify = true;
        test.options.seed = seed;
        test.options.script = &fault;
        test.options.script_count = 1;
        sim_case_passes(&test, &result); /* CHECK-3: no lie was merged. */
        assert_true(result.stats.poison_by[POISON_LIE] > 0);
        sim_result_close(&result);
        sim_case_close(&test);
    }
}

/* Liars among all the other faults of a campaign. */
static void test_verify_under_faults(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct sim_case test;
        struct sim_result result;

        sim_case_init(&test, codes[seed % CODES].code, codes[seed % CODES].n,
                      codes[seed % CODES].s);
        test.options.verify = true;
        test.options.seed = seed;
        test.options.faults = true;
        test.options.fault_count = 40;
        test.options.mix.weight[FAULT_LIE] = 40;
        sim_case_passes(&test, &result);
        assert_true(digest_equal(&result.hash, &result.expected));
        sim_result_close(&result);
        sim_case_close(&test);
    }
}

/* Of four workers one lies about its own piece, one answer a step, and not when
 * it is asked to check another's.  Is it caught? */
static bool is_caught(double audit, uint64_t seed, uint32_t steps)
{
    const struct sim_fault fault = {.kind = FAULT_LIE,
                                    .step = 0,
                                    .worker = 1,
                                    .piece = 1 + 1,
                                    .for_us = 600 * SECOND_US};
    struct sim_case test;
    struct sim_result result;
    bool caught;

    sim_case_init(&test, "uncoded", 4, 0);
    test.options.optim.steps = steps;
    test.options.seed = seed;
    test.options.audit = audit;
    test.options.gullible = true;
    test.options.script = &fault;
    test.options.script_count = 1;
    sim_case_passes(&test, &result);
    caught = result.stats.poison_by[POISON_LIE] > 0;
    if (audit == 0) {
        /* r = 1: believed, and the model is another one. */
        assert_int_equal(result.stats.poison, 0);
        assert_false(digest_equal(&result.hash, &result.expected));
    }
    sim_result_close(&result);
    sim_case_close(&test);
    return caught;
}

static void test_lie_at_r_1_is_believed(void **state)
{
    (void)state;
    assert_false(is_caught(0, 1, 12));
}

/* Of 400 seeded runs of m steps as many are caught as 1 - (1 - q)^m says,
 * within four standard deviations (seeds are fixed: no chance is left). */
static void check_audit(double q, uint32_t m)
{
    const uint32_t runs = 400;
    const double p = 1 - pow(1 - q, m);
    const double slack = 4 * sqrt(runs * p * (1 - p));
    uint32_t caught = 0;

    for (uint64_t seed = 1; seed <= runs; seed++)
        caught += is_caught(q, seed, m);
    if (fabs(caught - p * runs) > slack)
        fail_msg("q %g, %u steps: %u of %u caught, expected %g +- %g", q, m,
                 caught, runs, p * runs, slack);
}

static void test_audit_catches_as_promised(void **state)
{
    (void)state;
    check_audit(0.01, 20);
    check_audit(0.1, 5);
    check_audit(0.3, 4);
    check_audit(1, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verify_without_liars),
        cmocka_unit_test(test_verify_catches_every_liar),
        cmocka_unit_test(test_verify_approximate),
        cmocka_unit_test(test_verify_under_faults),
        cmocka_unit_test(test_lie_at_r_1_is_believed),
        cmocka_unit_test(test_audit_catches_as_promised),
    };

    return cmocka_run_group_tests_name("lies", tests, NULL, NULL);
}

/*
 * Relays in virtual time: one hash with and without them, whatever code, tree
 * or death; 4,096 workers; and how much the coordinator sends and receives as
 * the number of workers grows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "code/preset.h"
#include "sim/sim_case.h"

static void same_hash(struct sim_case *test)
{
    struct sim_result result;

    sim_case_passes(test, &result);
    if (result.hash_expected)
        assert_true(digest_equal(&result.hash, &result.expected));
    assert_int_equal(result.lives, 1);
    sim_result_close(&result);
}

static void run_code(const char *code, uint32_t n, uint32_t s, uint32_t fanout)
{
    struct sim_case test;

    sim_case_init(&test, code, n, s);
    test.options.fanout = fanout;
    same_hash(&test);
    test.options.deep = true;
    same_hash(&test);
    test.options.shipped = 1; /* Data goes through the relays, too. */
    same_hash(&test);
    sim_case_close(&test);
}

static void test_every_code_over_relays(void **state)
{
    (void)state;
    run_code("uncoded", 5, 0, 2);
    run_code("frc", 6, 1, 3); /* Groups and relays do not fall together. */
    run_code("rep", 7, 2, 2);
    run_code("steal", 8, 1, 3);
    run_code("cyclic", 6, 2, 2);
    run_code("ignore", 5, 1, 2);
    run_code("stream", 6, 2, 4);
    run_code("cb", 6, 2, 2);
    run_code("partial-frc", 6, 1, 2);
    run_code("partial-cyclic", 6, 2, 3);
    run_code("mds", 6, 2, 2);
    run_code("uncoded", 8, 0, 1); /* As many relays as workers. */
}

/* Answers that are compared go up one by one: the liar is caught as without
 * relays, and its lies count nowhere. */
static void test_verify_over_relays(void **state)
{
    static const char *const codes[] = {"frc", "steal", "uncoded", "rep"};
    const struct sim_fault lie = {.kind = FAULT_LIE,
                                  .step = 2,
                                  .worker = 1,
                                  .for_us = 600 * SECOND_US,
                                  .count = 1};

    (void)state;
    for (uint32_t i = 0; i < 8; i++) {
        struct sim_case test;
        struct sim_result result;

        sim_case_init(&test, codes[i % 4], 6, i % 4 == 2 ? 0 : 1);
        test.options.fanout = 2;
        test.options.deep = i >= 4;
        test.options.verify = true;
        test.options.script = &lie;
        test.options.script_count = 1;
        sim_case_passes(&test, &result);
        assert_true(digest_equal(&result.hash, &result.expected));
        assert_true(result.stats.checked > 0);
        assert_int_equal(result.stats.banned, 1);
        sim_result_close(&result);
        sim_case_close(&test);
    }
}

/* Answers to older steps go up as they came (CHECK-8 watches their age). */
static void test_staleness_over_relays(void **state)
{
    const struct preset_options preset = {
        .name = "ignore", .stragglers = 1, .workers = 4, .staleness = 2};
    struct sim_case test;
    struct sim_result result;
    struct why why = {{0}};

    (void)state;
    sim_case_init(&test, "ignore", 4, 1);
    test.options.optim.kind = OPTIM_GD;
    test.options.fanout = 2;
    assert_int_equal(preset_spec(&preset, &test.options.code, &why), ERR_OK);
    assert_int_equal(delay_parse("worker:w2=40", 5, &test.options.delay, &why),
                     ERR_OK);
    sim_case_passes(&test, &result);
    assert_in_range(result.stats.age_max, 1, 2);
    sim_result_close(&result);
    sim_case_close(&test);
}

/* At every step, and at several moments of it. */
static void test_a_relay_dies(void **state)
{
    static const char *const codes[] = {"uncoded", "frc", "steal"};

    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++) {
        const struct sim_fault fault = {.kind = FAULT_RELAY,
                                        .step = (uint32_t)(seed % 12),
                                        .worker = seed % 2,
                                        .after_us =
                                            (time_us)(seed * 137 % 4000),
                                        .for_us = 100 * MS_US};
        struct sim_case test;
        struct sim_result result;

        sim_case_init(&test, codes[seed % 3], 6, 1);
        test.options.fanout = 3;
        test.options.deep = seed % 4 == 1;
        test.options.seed = seed + 1;
        test.options.script = &fault;
        test.options.script_count = 1;
        sim_case_passes(&test, &result);
        assert_true(digest_equal(&result.hash, &result.expected));
        assert_int_equal(result.by_kind[FAULT_RELAY], 1);
        assert_int_equal(result.lives, 1);
        sim_result_close(&result);
        sim_case_close(&test);
    }
}

/* Rows of chunks of one row each, so that each of many workers has some. */
static void wide_case(struct sim_case *test, uint32_t n, uint32_t cols,
                      uint32_t steps)
{
    sim_case_init(test, "uncoded", n, 0);
    dataset_close(&test->data);
    assert_int_equal(dataset_init(&test->data, n, cols, 1), ERR_OK);
    for (uint32_t i = 0; i < n; i++) {
        float *row = dataset_row(&test->data, i);

        for (uint32_t j = 0; j < cols; j++)
            row[j] = (float)((i * 7 + j * 3) % 11) - 5;
        test->data.y[i] = i % 2 == 0 ? 1 : -1;
    }
    test->data.classes = 2;
    test->data.label[0] = -1;
    test->data.label[1] = 1;
    chunkset_fill(&test->data.present);
    test->options.optim.rows = n;
    test->options.optim.steps = steps;
    test->options.optim.rate = 0.01;
}

static void test_4096_workers(void **state)
{
    struct sim_case test;

    (void)state;
    wide_case(&test, 4096, 8, 2);
    test.options.fanout = 16;
    test.options.deep = true;
    same_hash(&test);
    sim_case_close(&test);
}

static double bytes_a_step(uint32_t n, uint32_t fanout)
{
    struct sim_case test;
    struct sim_result one, many;
    double bytes;

    /* The difference leaves out what is said before and after. */
    wide_case(&test, n, 1000, 2);
    test.options.fanout = fanout;
    sim_case_passes(&test, &one);
    test.options.optim.steps = 7;
    sim_case_passes(&test, &many);
    bytes = (double)(many.coordinator_bytes - one.coordinator_bytes) / 5;
    sim_result_close(&one);
    sim_result_close(&many);
    sim_case_close(&test);
    return bytes;
}

static void test_bytes_do_not_grow_with_the_workers(void **state)
{
    const double few = bytes_a_step(8, 0), many = bytes_a_step(256, 0);
    /* Eight children above in both. */
    const double relayed = bytes_a_step(256, 32);

    (void)state;
    assert_true(many > 30 * few);
    assert_true(relayed < 2 * few);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_code_over_relays),
        cmocka_unit_test(test_verify_over_relays),
        cmocka_unit_test(test_staleness_over_relays),
        cmocka_unit_test(test_a_relay_dies),
        cmocka_unit_test(test_4096_workers),
        cmocka_unit_test(test_bytes_do_not_grow_with_the_workers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Workers that have their data from each other, in virtual time: every exact
 * code gives its hash with about one copy sent, and so it does when the one
 * that gives is killed, frozen or cut off at each of the first steps.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/sim_case.h"

#define CHUNKS 20u

static void open_case(struct sim_case *test, const char *code, uint32_t n,
                      uint32_t s)
{
    sim_case_init(test, code, n, s);
    test->options.shipped = 1;
    test->options.peers = true;
}

static void test_codes(void **state)
{
    static const struct {
        const char *code;
        uint32_t n, s;
        uint32_t copies;
    } runs[] = {{"frc", 6, 2, 3},
                {"rep", 4, 3, 4},
                {"steal", 4, 1, 2},
                {"cyclic", 5, 2, 3},
                {"uncoded", 4, 0, 1}};

    (void)state;
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        struct sim_case test;
        struct sim_result result;

        open_case(&test, runs[i].code, runs[i].n, runs[i].s);
        sim_case_passes(&test, &result);
        if (result.hash_expected)
            assert_true(digest_equal(&result.hash, &result.expected));
        /* One copy, and what one chunk in forty and its pair cost. */
        assert_true(result.stats.shipped >= CHUNKS);
        if (runs[i].copies > 1)
            assert_true(result.stats.peered >= CHUNKS);
        else
            assert_int_equal(result.stats.peered, 0);
        assert_true(result.stats.shipped + result.stats.peered >=
                    (uint64_t)runs[i].copies * CHUNKS);
        sim_result_close(&result);
        test.options.peers = false;
        sim_case_passes(&test, &result);
        assert_int_equal(result.stats.peered, 0);
        sim_result_close(&result);
        sim_case_close(&test);
    }
}

static void test_faults(void **state)
{
    static const enum fault_kind kinds[] = {
        FAULT_CRASH, FAULT_FREEZE, FAULT_PARTITION, FAULT_RESET, FAULT_KILL};

    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        for (uint32_t worker = 0; worker < 4; worker++) {
            const struct sim_fault script = {.kind = kinds[i],
                                             .step = 0,
                                             .worker = worker,
                                             .after_us = 500 * (time_us)(i + 1),
                                             .for_us = SECOND_US};
            struct sim_case test;
            struct sim_result result;

            open_case(&test, "frc", 4, 3);
            test.options.script = &script;
            test.options.script_count = 1;
            sim_case_passes(&test, &result);
            assert_int_equal(result.faults, 1);
            assert_true(digest_equal(&result.hash, &result.expected));
            sim_result_close(&result);
            sim_case_close(&test);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_codes),
        cmocka_unit_test(test_faults),
    };

    return cmocka_run_group_tests_name("sim_peers", tests, NULL, NULL);
}

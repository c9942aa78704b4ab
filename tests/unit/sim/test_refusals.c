/*
 * Whole runs with a worker that refuses whatever it computes, as if it did not
 * fit the scale.  One worker's word ends no job that tolerates one, and the
 * hash is that of honest workers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/sim_case.h"

static const struct {
    const char *code;
    uint32_t n, s;
} codes[] = {
    {"frc", 4, 1},         {"rep", 5, 1},     {"steal", 4, 1},
    {"stream", 5, 1},      {"uncoded", 4, 0}, {"uncoded", 2, 0},
    {"partial-frc", 6, 1}, {"cyclic", 5, 1},  {"cyclic", 6, 2},
    {"cb", 5, 1},          {"mds", 5, 1},     {"partial-cyclic", 5, 1},
};

#define CODES (sizeof codes / sizeof *codes)

static void refuse(size_t i, const struct sim_fault *script, uint32_t count,
                   uint64_t seed)
{
    struct sim_case test;
    struct sim_result result;

    sim_case_init(&test, codes[i].code, codes[i].n, codes[i].s);
    test.options.seed = seed;
    test.options.workers_max = codes[i].n;
    test.options.script = script;
    test.options.script_count = count;
    sim_case_passes(&test, &result);
    if (result.hash_expected)
        assert_true(digest_equal(&result.hash, &result.expected));
    assert_true(result.stats.poison_by[POISON_REFUSAL] > 0);
    assert_int_equal(result.stats.poison,
                     result.stats.poison_by[POISON_REFUSAL]);
    assert_true(result.stats.banned <= 1);
    if (result.stats.banned > 0)
        assert_string_equal(result.stats.banned_name[0], "w1");
    sim_result_close(&result);
    sim_case_close(&test);
}

static void test_one_refuser(void **state)
{
    (void)state;
    for (size_t i = 0; i < CODES; i++) {
        for (uint64_t seed = 1; seed <= 10; seed++) {
            const struct sim_fault fault = {.kind = FAULT_REFUSE,
                                            .step = (uint32_t)(seed % 3),
                                            .worker = 1,
                                            .for_us = 600 * SECOND_US};

            refuse(i, &fault, 1, seed);
        }
    }
}

/* A code for the living takes the place of one whose tolerance the dead have
 * used up. */
static void test_one_refuser_and_one_dead(void **state)
{
    (void)state;
    for (size_t i = 0; i < CODES; i++) {
        for (uint64_t seed = 1; codes[i].n > 2 && seed <= 10; seed++) {
            const struct sim_fault script[] = {
                {.kind = FAULT_CRASH, .step = 1, .worker = 3},
                {.kind = FAULT_REFUSE,
                 .step = 1 + (uint32_t)(seed % 3),
                 .worker = 1,
                 .for_us = 600 * SECOND_US}};

            refuse(i, script, 2, seed);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_refuser),
        cmocka_unit_test(test_one_refuser_and_one_dead),
    };

    return cmocka_run_group_tests_name("refusals", tests, NULL, NULL);
}

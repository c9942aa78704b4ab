/*
 * What campaigns draw of minibatches: linear models and networks, both
 * shuffles, ends by held-out rows; and the seeds that once failed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sim/campaign.h"

#define SEEDS 400u

static bool has(const char *line, const char *word)
{
    return strstr(line, word) != NULL;
}

static void test_all_are_drawn(void **state)
{
    const struct campaign_options options = {.quiet_faults = true,
                                             .isa = ISA_PORTABLE};
    uint32_t batches = 0, networks = 0, convolutions = 0, drops = 0;
    uint32_t local = 0, early = 0, relays = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct sim_result result;
        struct why why = {{0}};
        char line[SIM_TEXT];
        bool network;

        assert_int_equal(campaign_seed(&options, seed, &result, line, &why),
                         ERR_OK);
        assert_false(result.violated);
        network = has(line, "dense");
        batches += has(line, "batches");
        networks += network;
        convolutions += has(line, "conv");
        drops += has(line, "drop");
        local += network && has(line, "local batches");
        early += network && has(line, "or fewer");
        relays += network && has(line, "relays");
        sim_result_close(&result);
    }
    assert_in_range(batches, SEEDS * 3 / 20, SEEDS / 4);
    assert_in_range(networks, SEEDS / 15, SEEDS / 8);
    assert_true(convolutions >= 8 && drops >= 8);
    assert_in_range(local, networks / 4, networks * 3 / 4);
    assert_true(early >= 5 && relays >= 3);
}

/* Sizes of a network's first gradient were a power of two in all, and rounding
 * in a numeric code put its scale on either side: weights were 1e-5 apart
 * (test_rounding_does_not_move_it of core/test_follow.c). */
static void test_seeds_that_failed(void **state)
{
    static const uint64_t seeds[] = {966, 1467};

    (void)state;
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) {
        const struct campaign_options options = {
            .first_seed = seeds[i], .count = 1, .isa = ISA_PORTABLE};
        struct campaign_result result;
        struct why why = {{0}};

        assert_int_equal(campaign_run(&options, &result, &why), ERR_OK);
        assert_int_equal(result.violations, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_are_drawn),
        cmocka_unit_test(test_seeds_that_failed),
    };

    return cmocka_run_group_tests_name("batched", tests, NULL, NULL);
}

/*
 * A short campaign: no promise broken, at least 50 faults a run, every kind of
 * fault injected, every fifth seed run twice.  Violations print their seed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/campaign.h"

#define SEEDS 300u

static void print_line(void *context, const char *line)
{
    (void)context;
    print_message("%s\n", line);
}

static void test_faulty_seeds(void **state)
{
    const struct campaign_options options = {.first_seed = 1,
                                             .count = SEEDS,
                                             .twice_every = 5,
                                             .isa = ISA_PORTABLE,
                                             .sink = print_line};
    struct campaign_result result;
    struct why why = {{0}};

    (void)state;
    assert_int_equal(campaign_run(&options, &result, &why), ERR_OK);
    assert_int_equal(result.seeds, SEEDS);
    assert_int_equal(result.violations, 0);
    assert_true(result.faults >= 50 * result.seeds);
    assert_true(result.lost > 0 && result.doubled > 0 && result.reordered > 0);
    for (int kind = 0; kind < FAULT_KINDS; kind++)
        assert_true(result.by_kind[kind] > 0);
}

/* The same problems in peace: what fails here is not a matter of faults. */
static void test_quiet_seeds(void **state)
{
    const struct campaign_options options = {.first_seed = 1,
                                             .count = SEEDS,
                                             .quiet_faults = true,
                                             .isa = ISA_PORTABLE,
                                             .sink = print_line};
    struct campaign_result result;
    struct why why = {{0}};

    (void)state;
    assert_int_equal(campaign_run(&options, &result, &why), ERR_OK);
    assert_int_equal(result.violations, 0);
    assert_int_equal(result.faults, 0);
    assert_int_equal(result.lives, SEEDS);
}

/* Kernels of all instruction sets give the same bits, so the same traces. */
static void test_isa_does_not_matter(void **state)
{
    struct campaign_options options = {
        .first_seed = 1000, .count = 20, .isa = ISA_PORTABLE};
    struct campaign_result portable;
    struct campaign_result best;
    struct why why = {{0}};

    (void)state;
    assert_int_equal(campaign_run(&options, &portable, &why), ERR_OK);
    options.isa = isa_best();
    assert_int_equal(campaign_run(&options, &best, &why), ERR_OK);
    assert_int_equal(portable.digest, best.digest);
}

static void test_nothing_to_shrink(void **state)
{
    const struct campaign_options options = {.isa = ISA_PORTABLE};
    bool skip[FAULTS_MAX];
    uint32_t left = 1;
    struct why why = {{0}};

    (void)state;
    assert_int_equal(campaign_shrink(&options, 1, skip, &left, &why), ERR_OK);
    assert_int_equal(left, 0);
}

/* What is said of a seed that fails runs it as it was: a ring is one again. */
static void test_replay(void **state)
{
    struct campaign_options options = {.isa = ISA_PORTABLE};
    char text[SIM_TEXT];

    (void)state;
    campaign_replay(&options, 7, text);
    assert_string_equal(text, "muster simulate --faults --seed 7");
    options.fanout = 3;
    options.code = "frc";
    campaign_replay(&options, 7, text);
    assert_string_equal(text, "muster simulate --faults --seed 7 --fanout 3 "
                              "--code frc");
    options = (struct campaign_options){.rings = true};
    campaign_replay(&options, 7, text);
    assert_string_equal(text, "RING_FIRST=7 RING_SEEDS=1 "
                              "build/release/tests/unit/sim-test_ring");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faulty_seeds),
        cmocka_unit_test(test_quiet_seeds),
        cmocka_unit_test(test_isa_does_not_matter),
        cmocka_unit_test(test_nothing_to_shrink),
        cmocka_unit_test(test_replay),
    };

    return cmocka_run_group_tests_name("campaign", tests, NULL, NULL);
}

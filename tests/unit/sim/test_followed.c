/*
 * Scales that follow the sizes seen, in the simulator: whatever the values are
 * times, every code that promises bits ends with those of one machine.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "code/preset.h"
#include "sim/campaign.h"
#include "sim/sim_case.h"

static void follow(struct sim_case *test, int shift)
{
    test->options.follow = true;
    test->options.follow_shift = shift;
    test->options.optim.rate = ldexp(test->options.optim.rate, -shift);
}

/* Runs it; the model is one machine's if the code says so. */
static struct coordinator_stats run(const struct sim_case *test)
{
    struct sim_result result;
    struct coordinator_stats stats;

    sim_case_passes(test, &result);
    assert_true(result.finished);
    if (result.hash_expected)
        assert_true(digest_equal(&result.hash, &result.expected));
    stats = result.stats;
    sim_result_close(&result);
    return stats;
}

static void test_every_size(void **state)
{
    static const int shifts[] = {0, 30, 60, 300, -30, -60, -300};
    static const char *const codes[] = {"uncoded", "steal", "cyclic", "agc"};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        for (size_t k = 0; k < 7; k++) {
            struct sim_case test;

            sim_case_init(&test, codes[i], 4, i < 2 ? 0 : 1);
            follow(&test, shifts[k]);
            /* The scale it begins with is too far from most. */
            assert_true(run(&test).redone > 0 || shifts[k] == 30);
            sim_case_close(&test);
        }
    }
}

/* The judge, too, finds that a piece does not fit: that is no reason to give
 * up.  Found by seed 48 of the campaign. */
static void test_compared_pieces_may_not_fit(void **state)
{
    struct sim_case test;
    struct coordinator_stats stats;

    (void)state;
    sim_case_init(&test, "steal", 4, 1);
    follow(&test, 60);
    test.options.verify = true;
    stats = run(&test);
    assert_true(stats.judged > 0);
    assert_int_equal(stats.banned, 0);
    sim_case_close(&test);
}

/* A round on another scale takes no answers of the one before, and is not over
 * before it began; who could not fit an older round is asked again.  Found by
 * seeds 218, 603 and 970. */
static void test_staleness(void **state)
{
    static const int shifts[] = {0, 60, -60, 300};

    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct preset_options preset = {.name = "ignore",
                                        .stragglers = 1,
                                        .staleness = 1 + (uint32_t)seed % 3,
                                        .workers = 4};
        struct sim_case test;
        struct why why = {{0}};

        sim_case_init(&test, "ignore", 4, 1);
        assert_int_equal(preset_spec(&preset, &test.options.code, &why),
                         ERR_OK);
        test.options.seed = seed;
        follow(&test, shifts[seed % 4]);
        assert_int_equal(
            delay_parse("exp:0.03", seed, &test.options.delay, &why), ERR_OK);
        (void)run(&test);
        sim_case_close(&test);
    }
}

/* They once failed: see above. */
static void test_seeds_that_failed(void **state)
{
    static const uint64_t seeds[] = {48, 218, 251, 283, 603, 970, 1012, 1968};

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

/* About a fifth of the seeds. */
static void test_campaign_follows(void **state)
{
    const struct campaign_options options = {.quiet_faults = true,
                                             .isa = ISA_PORTABLE};
    uint32_t followed = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct sim_result result;
        struct why why = {{0}};
        char line[SIM_TEXT];

        assert_int_equal(campaign_seed(&options, seed, &result, line, &why),
                         ERR_OK);
        followed += strstr(line, "followed") != NULL;
        sim_result_close(&result);
    }
    assert_in_range(followed, 45, 75);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_size),
        cmocka_unit_test(test_compared_pieces_may_not_fit),
        cmocka_unit_test(test_staleness),
        cmocka_unit_test(test_seeds_that_failed),
        cmocka_unit_test(test_campaign_follows),
    };

    return cmocka_run_group_tests_name("followed", tests, NULL, NULL);
}

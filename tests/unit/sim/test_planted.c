/*
 * Tests of the tests: each bug planted in the core must be caught by a
 * campaign of a few hundred seeds, and with none planted it must find nothing.
 * Skipped unless the core was built with the bugs in it (build/bugs).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/bugs.h"
#include "sim/campaign.h"

#ifdef MUSTER_PLANTED_BUGS

#define SEEDS 400u

static void catches(enum planted_bug bug)
{
    const struct campaign_options options = {
        .first_seed = 1, .count = SEEDS, .stop_after = 1, .isa = ISA_PORTABLE};
    struct campaign_result result;
    struct why why = {{0}};

    planted_bug = bug;
    assert_int_equal(campaign_run(&options, &result, &why), ERR_OK);
    planted_bug = BUG_NONE;
    assert_int_equal(result.violations, bug == BUG_NONE ? 0 : 1);
    print_message("caught at seed %u\n", (unsigned)result.first_violation);
}

/* A seed that fails still does with the few faults that shrinking leaves. */
static void test_shrinks(void **state)
{
    struct campaign_options options = {
        .first_seed = 1, .count = SEEDS, .stop_after = 1, .isa = ISA_PORTABLE};
    struct campaign_result found;
    struct sim_result result;
    bool skip[FAULTS_MAX];
    uint32_t left;
    struct why why = {{0}};

    (void)state;
    planted_bug = BUG_APPLY_DUPLICATE;
    assert_int_equal(campaign_run(&options, &found, &why), ERR_OK);
    assert_int_equal(
        campaign_shrink(&options, found.first_violation, skip, &left, &why),
        ERR_OK);
    options.skip = skip;
    assert_int_equal(
        campaign_seed(&options, found.first_violation, &result, NULL, &why),
        ERR_OK);
    planted_bug = BUG_NONE;
    assert_true(result.violated);
    assert_int_equal(result.faults, left);
    assert_true(left < 10);
    sim_result_close(&result);
}

#else

static void test_shrinks(void **state)
{
    (void)state;
    skip();
}

static void catches(enum planted_bug bug)
{
    (void)bug;
    skip();
}

#endif

static void test_no_bug_no_violation(void **state)
{
    (void)state;
    catches(BUG_NONE);
}

static void test_apply_duplicate(void **state)
{
    (void)state;
    catches(BUG_APPLY_DUPLICATE);
}

static void test_stale_view(void **state)
{
    (void)state;
    catches(BUG_STALE_VIEW);
}

static void test_merge_overlap(void **state)
{
    (void)state;
    catches(BUG_MERGE_OVERLAP);
}

static void test_skip_folder_sync(void **state)
{
    (void)state;
    catches(BUG_SKIP_FOLDER_SYNC);
}

static void test_skip_finite(void **state)
{
    (void)state;
    catches(BUG_SKIP_FINITE);
}

static void test_relay_twice(void **state)
{
    (void)state;
    catches(BUG_RELAY_TWICE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_bug_no_violation),
        cmocka_unit_test(test_apply_duplicate),
        cmocka_unit_test(test_stale_view),
        cmocka_unit_test(test_merge_overlap),
        cmocka_unit_test(test_skip_folder_sync),
        cmocka_unit_test(test_skip_finite),
        cmocka_unit_test(test_relay_twice),
        cmocka_unit_test(test_shrinks),
    };

    return cmocka_run_group_tests_name("planted", tests, NULL, NULL);
}

/*
 * Tests of the tests: each bug planted in the core must be caught by a
 * campaign of a few hundred seeds, and with none planted it must find nothing.
 * Skipped unless the core was built with the bugs in it (tests/planted-*).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bugs.h"
#include "sim/campaign.h"

#ifdef MUSTER_PLANTED_BUGS

#define SEEDS 1200u

static void catches(enum planted_bug bug)
{
    const struct campaign_options options = {.first_seed = 1,
                                             .count = SEEDS,
                                             .stop_after = 1,
                                             .rings =
                                                 bug >= BUG_RING_STALE_VIEW,
                                             .isa = ISA_PORTABLE};
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

static void test_planted(void **state)
{
    catches(*(const enum planted_bug *)*state);
}

/* The names are those of base/bugs.h; BUG_COMBINE_ENDLESS, for which two have
 * to lag by turns, is core/test_combine.c's. */
#define PLANTED(bug)                                                           \
    {                                                                          \
        .name = #bug, .test_func = test_planted,                               \
        .initial_state = &(enum planted_bug)                                   \
        {                                                                      \
            bug                                                                \
        }                                                                      \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLANTED(BUG_NONE),
        PLANTED(BUG_APPLY_DUPLICATE),
        PLANTED(BUG_STALE_VIEW),
        PLANTED(BUG_MERGE_OVERLAP),
        PLANTED(BUG_SKIP_FOLDER_SYNC),
        PLANTED(BUG_SKIP_FINITE),
        PLANTED(BUG_STALE_STEP),
        PLANTED(BUG_ONE_SHORT),
        PLANTED(BUG_ROW_TWICE),
        PLANTED(BUG_COMBINE_LOST),
        PLANTED(BUG_COMBINE_TWICE),
        PLANTED(BUG_COMBINE_RAW),
        PLANTED(BUG_OLD_SCORES),
        PLANTED(BUG_OTHER_BLOCK),
        PLANTED(BUG_FORGET_DEAD),
        PLANTED(BUG_OLD_COMPUTE),
        PLANTED(BUG_OLD_WEIGHTS),
        PLANTED(BUG_UNSYNCED_VIEW),
        PLANTED(BUG_UNSYNCED_STEP),
        PLANTED(BUG_SKIP_FILE_SYNC),
        PLANTED(BUG_IN_PLACE),
        PLANTED(BUG_KEEP_TORN),
        PLANTED(BUG_BELIEVE_SECOND),
        PLANTED(BUG_RELAY_TWICE),
        PLANTED(BUG_FETCH_HELD),
        PLANTED(BUG_PEER_AGAIN),
        PLANTED(BUG_DRAW_TWICE),
        PLANTED(BUG_OLD_BATCH),
        PLANTED(BUG_OLD_DROPS),
        PLANTED(BUG_FORGET_SCALE),
        PLANTED(BUG_FORGET_PASSES),
        PLANTED(BUG_SAMPLE_SHIFT),
        PLANTED(BUG_SAMPLE_OTHER),
        PLANTED(BUG_SAMPLE_ROWS),
        PLANTED(BUG_SAMPLE_OLD),
        PLANTED(BUG_SAMPLE_EVEN),
        PLANTED(BUG_SAMPLE_AGAIN),
        PLANTED(BUG_SAMPLE_TURNED),
        PLANTED(BUG_SAMPLE_SHARE),
        PLANTED(BUG_SAMPLE_EXACT),
        PLANTED(BUG_SIZE_SOON),
        PLANTED(BUG_SIZE_LOST),
        PLANTED(BUG_SIZE_OLD),
        PLANTED(BUG_SIZE_FORGOTTEN),
        PLANTED(BUG_RING_STALE_VIEW),
        PLANTED(BUG_RING_AGAIN),
        PLANTED(BUG_RING_NO_STATE),
        PLANTED(BUG_RING_UNEQUAL),
        PLANTED(BUG_RING_CHAIN),
        PLANTED(BUG_RING_OVERLAP),
        PLANTED(BUG_RING_DEAD),
        PLANTED(BUG_RING_BEHIND),
        PLANTED(BUG_RING_EARLY),
        PLANTED(BUG_RING_LOSS),
        cmocka_unit_test(test_shrinks),
    };

    return cmocka_run_group_tests_name("planted", tests, NULL, NULL);
}

/*
 * Bugs of the coordinator that a campaign or a test with real processes found,
 * each as the few events that show it.  Those of a whole system are in
 * tests/unit/sim/test_bugs.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "play.h"

/* A driver's clock: EVENT_TIME whenever the machine asked for it; true if
 * anybody was suspected meanwhile. */
static bool let_time_pass(struct play *play, time_us until)
{
    bool suspected = false;

    for (;;) {
        const time_us at = stage_find_action(&play->actions, ACTION_TIMER)->at;

        if (at > until)
            break;
        play->now = at > play->now ? at : play->now;
        play_step(play, (struct event){.kind = EVENT_TIME});
        suspected |= stage_count_trace(&play->actions, TRACE_SUSPECT) > 0;
    }
    play->now = until;
    return suspected;
}

/* Seed 11317: each message puts off the next tick, and the beats of many
 * workers came closer together than ticks: nobody silent was suspected. */
static void test_beats_do_not_put_off_suspicion(void **state)
{
    const struct coordinator_options options =
        stage_options("uncoded", 2, 0, 3);
    struct msg beat = {.kind = MSG_BEAT};
    bool suspected = false;
    struct play play;

    (void)state;
    play_open(&play, &options);
    for (uint32_t i = 0; i < 200; i++) {
        suspected |= let_time_pass(&play, play.now + 5 * MS_US);
        beat.beat.sequence++;
        play_say(&play, 0, &beat);
    }
    assert_true(suspected);
    assert_true(play.coordinator.members[1].suspect);
    assert_false(play.coordinator.members[0].suspect);
    play_close(&play);
}

static double no_slopes(void *context, uint32_t soft, double *scores)
{
    (void)context;
    (void)soft;
    scores[0] = 0;
    return 0;
}

/* Seed 86887: a worker that was in the middle of a block asks the next life of
 * the coordinator for strips.  Without a code there are no parts to cut them
 * from, and what was never sent must not count as held. */
static void test_no_strips_before_there_is_a_code(void **state)
{
    struct coordinator_options options = stage_options("mds", 3, 1, 3);
    const struct msg need = {.kind = MSG_NEED, .need = {0, 2}};
    struct play play = {0};
    struct why why;

    (void)state;
    options.slopes = no_slopes;
    assert_int_equal(actions_init(&play.actions, 4), ERR_OK);
    assert_int_equal(coordinator_init(&play.coordinator, &options, NULL, &why),
                     ERR_OK);
    play_step(&play, (struct event){.kind = EVENT_START});
    play_step(&play, (struct event){.kind = EVENT_JOURNALED});
    play_hello(&play, 0, "w0", 1);
    play_say(&play, 0, &need);
    assert_int_equal(stage_count(&play.actions, ACTION_SHIP), 0);
    assert_int_equal(play.coordinator.stats.shipped, 0);
    play_close(&play);
}

/* The files of a run whose steps are all made. */
static void finish_run(const struct coordinator_options *options,
                       struct recovery *found)
{
    const struct action *action;
    struct play play;
    size_t size;

    play_open(&play, options);
    for (uint32_t step = 0; step < options->optim.steps; step++) {
        for (uint32_t id = 0; id < options->slots; id++)
            play_answer(&play, id, id, 1);
    }
    action = stage_find_action(&play.actions, ACTION_CHECKPOINT);
    for (int i = 0; i < 4 && action == NULL; i++) {
        play_step(&play, (struct event){.kind = EVENT_JOURNALED});
        action = stage_find_action(&play.actions, ACTION_CHECKPOINT);
    }
    assert_non_null(action);
    *found = (struct recovery){.found = true, .has_checkpoint = true};
    found->file = stage_sealed(action, &size);
    assert_int_equal(checkpoint_decode(found->file, size, &found->checkpoint),
                     ERR_OK);
    found->journal = (struct journal_summary){
        .records = 2,
        .job = found->checkpoint.job,
        .view = found->checkpoint.view,
        .members = options->slots,
        .step = found->checkpoint.step,
    };
    play_close(&play);
}

/* tests/net/bits.py: killed as it said goodbye, the coordinator came back and
 * waited for workers that had gone home. */
static void test_killed_at_goodbye_ends_by_itself(void **state)
{
    const struct coordinator_options options =
        stage_options("uncoded", 2, 0, 3);
    struct play play = {0};
    struct recovery found;
    struct why why;

    (void)state;
    finish_run(&options, &found);
    assert_int_equal(found.checkpoint.step, 3);
    assert_int_equal(actions_init(&play.actions, 4), ERR_OK);
    assert_int_equal(
        coordinator_init(&play.coordinator, &options, &found, &why), ERR_OK);
    play_step(&play, (struct event){.kind = EVENT_START});
    while (play.coordinator.trainer.ledger.waits > 0)
        play_step(&play, (struct event){.kind = EVENT_JOURNALED});
    assert_int_equal(play.coordinator.phase, COORDINATOR_DONE);
    assert_non_null(stage_find_action(&play.actions, ACTION_FINISH));
    assert_int_equal(play.coordinator.trainer.optim.step, 3);
    play_close(&play);
    recovery_close(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_beats_do_not_put_off_suspicion),
        cmocka_unit_test(test_no_strips_before_there_is_a_code),
        cmocka_unit_test(test_killed_at_goodbye_ends_by_itself),
    };

    return cmocka_run_group_tests_name("found", tests, NULL, NULL);
}

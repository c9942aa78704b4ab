/*
 * staleness, one event at a time: late rows count once, in the step that is
 * open when they come; who is too far behind is waited for; a death ends the
 * wait; a new view calls everything off.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "code/preset.h"
#include "core/star/coordinator.h"
#include "stage.h"

#define WORKERS 4u

struct play {
    struct coordinator coordinator;
    struct actions actions;
    time_us now;
    struct round_key key[WORKERS]; /* Of the last ROUND sent to each. */
};

static void step(struct play *play, struct event event)
{
    const struct actions *actions = &play->actions;

    event.now = play->now;
    coordinator_step(&play->coordinator, &event, &play->actions);
    for (uint32_t i = 0; i < actions->count; i++) {
        const struct action *action = &actions->list[i];

        if (action->kind == ACTION_SEND && action->msg.kind == MSG_ROUND &&
            action->link < WORKERS)
            play->key[action->link] = action->msg.round.key;
    }
}

static void say(struct play *play, uint32_t link, const struct msg *msg)
{
    step(play, (struct event){.kind = EVENT_MESSAGE, .link = link, .msg = msg});
}

static void journaled(struct play *play)
{
    step(play, (struct event){.kind = EVENT_JOURNALED});
}

static void hello(struct play *play, uint32_t link, uint64_t incarnation)
{
    struct msg msg = {.kind = MSG_HELLO};

    msg.hello.version = MSG_VERSION;
    msg.hello.incarnation = incarnation;
    msg.hello.resident = true;
    (void)snprintf(msg.hello.name, NAME_SIZE, "w%u", link);
    say(play, link, &msg);
}

/* Four workers of eight rows each; a step takes the first three. */
static void open_play(struct play *play, uint32_t staleness)
{
    const struct preset_options choice = {.name = "ignore",
                                          .stragglers = 1,
                                          .workers = WORKERS,
                                          .staleness = staleness};
    struct coordinator_options options =
        stage_options("ignore", WORKERS, 1, 100);
    struct why why;

    memset(play, 0, sizeof *play);
    assert_int_equal(preset_spec(&choice, &options.code, &why), ERR_OK);
    assert_int_equal(actions_init(&play->actions, 4), ERR_OK);
    assert_int_equal(coordinator_init(&play->coordinator, &options, NULL, &why),
                     ERR_OK);
    step(play, (struct event){.kind = EVENT_START});
    journaled(play);
    for (uint32_t link = 0; link < WORKERS; link++)
        hello(play, link, link + 1);
    journaled(play);
    assert_int_equal(play->coordinator.phase, COORDINATOR_ROUND);
    assert_int_equal(stage_count_msg(&play->actions, MSG_ROUND), WORKERS);
}

static void close_play(struct play *play)
{
    coordinator_close(&play->coordinator);
    actions_close(&play->actions);
}

static void row(struct play *play, uint32_t link, struct round_key key,
                double value)
{
    const double sum[9] = {value};
    struct msg msg = {.kind = MSG_ROW};

    msg.row = (struct msg_row){.key = key, .dims = 8, .row = sum};
    say(play, link, &msg);
}

/* To the round the link was sent last. */
static void answer(struct play *play, uint32_t link, double value)
{
    row(play, link, play->key[link], value);
}

/* Workers 0 to 2 end a step at once; worker 3 does as it likes. */
static void quick_step(struct play *play)
{
    const uint32_t before = play->coordinator.trainer.optim.step;

    for (uint32_t link = 0; link < 3; link++)
        answer(play, link, 0);
    assert_int_equal(play->coordinator.phase, COORDINATOR_COMMITTING);
    assert_int_equal(play->coordinator.trainer.optim.step, before + 1);
    assert_int_equal(stage_count_msg(&play->actions, MSG_CANCEL), 0);
    journaled(play);
    assert_int_equal(stage_count_msg(&play->actions, MSG_ROUND), 3);
}

/* Rate .5 over 32 rows: an update moves the weight by -.5 sum rescale / 32. */
static void assert_weight(const struct play *play, double wanted)
{
    const double got = trainer_weights(&play->coordinator.trainer)[0];

    if (!(fabs(got - wanted) <= 1e-12))
        fail_msg("weight %g, expected %g", got, wanted);
}

static void test_late_row_counts_in_a_later_step(void **state)
{
    struct play play;

    (void)state;
    open_play(&play, 2);
    quick_step(&play);
    assert_int_equal(play.key[3].step, 0);
    answer(&play, 3, 32);
    assert_int_equal(stage_count_trace(&play.actions, TRACE_TALLY), 1);
    /* It goes on at once, with the weights of the open step. */
    assert_int_equal(play.key[3].step, 1);
    answer(&play, 0, 0);
    answer(&play, 1, 0);
    assert_int_equal(play.coordinator.phase, COORDINATOR_COMMITTING);
    assert_weight(&play, -0.5 * 32 * (4. / 3) / 32);
    assert_int_equal(play.coordinator.stats.age_sum, 1);
    assert_int_equal(play.coordinator.stats.age_max, 1);
    assert_int_equal(play.coordinator.stats.aged, 6);
    assert_int_equal(play.coordinator.stats.exactness[EXACT_APPROX], 2);
    close_play(&play);
}

/* TALLY-1: the same row again finds nobody who waits for it. */
static void test_a_row_counts_once(void **state)
{
    struct play play;
    struct round_key late;

    (void)state;
    open_play(&play, 2);
    quick_step(&play);
    late = play.key[3];
    row(&play, 3, late, 32);
    row(&play, 3, late, 32);
    assert_int_equal(stage_count_trace(&play.actions, TRACE_STALE), 1);
    row(&play, 2, late, 32); /* Nor is it another's to give. */
    assert_int_equal(stage_count_trace(&play.actions, TRACE_STALE), 1);
    answer(&play, 0, 0);
    answer(&play, 1, 0);
    assert_weight(&play, -0.5 * 32 * (4. / 3) / 32);
    close_play(&play);
}

/* TALLY-3: every field of the key. */
static void test_other_keys_are_dropped(void **state)
{
    struct play play;
    struct round_key wrong[4];

    (void)state;
    open_play(&play, 2);
    quick_step(&play);
    for (int i = 0; i < 4; i++)
        wrong[i] = play.key[3];
    wrong[0].weights++;
    wrong[1].scale++;
    wrong[2].view--;
    wrong[3] = play.key[0]; /* The open round: it was not sent that. */
    for (int i = 0; i < 4; i++) {
        row(&play, 3, wrong[i], 32);
        assert_int_equal(stage_count_trace(&play.actions, TRACE_STALE), 1);
        assert_int_equal(stage_count_trace(&play.actions, TRACE_TALLY), 0);
    }
    close_play(&play);
}

/* The newer answer of a slot stands for its rows. */
static void test_a_second_answer_replaces_the_first(void **state)
{
    struct play play;

    (void)state;
    open_play(&play, 2);
    quick_step(&play);
    answer(&play, 3, 32);
    answer(&play, 3, 8);
    assert_int_equal(play.coordinator.slots_in, 1);
    assert_int_equal(stage_count_msg(&play.actions, MSG_ROUND), 0);
    answer(&play, 0, 0);
    answer(&play, 1, 0);
    assert_weight(&play, -0.5 * 8 * (4. / 3) / 32);
    assert_int_equal(play.coordinator.stats.age_sum, 0);
    close_play(&play);
}

static void test_the_bound_is_kept_by_waiting(void **state)
{
    struct play play;

    (void)state;
    for (uint32_t staleness = 1; staleness <= 3; staleness++) {
        open_play(&play, staleness);
        for (uint32_t i = 0; i < staleness; i++)
            quick_step(&play);
        for (uint32_t link = 0; link < 3; link++)
            answer(&play, link, 0);
        assert_int_equal(play.coordinator.phase, COORDINATOR_ROUND);
        answer(&play, 3, 32);
        assert_int_equal(play.coordinator.phase, COORDINATOR_COMMITTING);
        assert_int_equal(play.coordinator.stats.age_max, staleness);
        assert_weight(&play, -0.5);
        journaled(&play);
        assert_int_equal(stage_count_msg(&play.actions, MSG_ROUND), 4);
        close_play(&play);
    }
}

static void test_a_death_ends_the_wait(void **state)
{
    struct play play;

    (void)state;
    open_play(&play, 1);
    quick_step(&play);
    for (uint32_t link = 0; link < 3; link++)
        answer(&play, link, 0);
    assert_int_equal(play.coordinator.phase, COORDINATOR_ROUND);
    step(&play, (struct event){.kind = EVENT_LINK_DOWN, .link = 3});
    assert_int_equal(play.coordinator.phase, COORDINATOR_COMMITTING);
    assert_int_equal(play.coordinator.trainer.optim.step, 2);
    close_play(&play);
}

/* INV-7 makes a step wait for the disk; who answers meanwhile is not lost. */
static void test_a_row_during_the_commit_counts_next(void **state)
{
    struct play play;

    (void)state;
    open_play(&play, 1);
    for (uint32_t link = 0; link < 3; link++)
        answer(&play, link, 0);
    assert_int_equal(play.coordinator.phase, COORDINATOR_COMMITTING);
    answer(&play, 3, 32);
    assert_int_equal(stage_count_trace(&play.actions, TRACE_TALLY), 1);
    assert_int_equal(stage_count_msg(&play.actions, MSG_ROUND), 0);
    journaled(&play);
    assert_int_equal(stage_count_msg(&play.actions, MSG_ROUND), 4);
    assert_int_equal(play.coordinator.slots_in, 1);
    answer(&play, 0, 0);
    answer(&play, 1, 0);
    assert_int_equal(play.coordinator.phase, COORDINATOR_COMMITTING);
    assert_weight(&play, -0.5 * 32 * (4. / 3) / 32);
    assert_int_equal(play.coordinator.stats.age_sum, 1);
    close_play(&play);
}

/* A joiner changes the view: the old round of worker 3 is called off, and its
 * answer, should it come, is not counted. */
static void test_a_new_view_calls_off(void **state)
{
    struct play play;
    struct round_key late;

    (void)state;
    open_play(&play, 2);
    quick_step(&play);
    late = play.key[3];
    hello(&play, WORKERS, 99);
    for (uint32_t link = 0; link < 3; link++)
        answer(&play, link, 0);
    journaled(&play);
    assert_int_equal(play.coordinator.phase, COORDINATOR_VIEWING);
    assert_int_equal(stage_count_msg(&play.actions, MSG_CANCEL), 1);
    assert_true(
        key_order(&late, &stage_find(&play.actions, MSG_CANCEL)->cancel.key) <=
        0);
    journaled(&play);
    assert_int_equal(stage_count_msg(&play.actions, MSG_ROUND), 5);
    row(&play, 3, late, 32);
    assert_int_equal(stage_count_trace(&play.actions, TRACE_STALE), 1);
    assert_int_equal(play.coordinator.slots_in, 0);
    close_play(&play);
}

static void test_nan_is_asked_for_again(void **state)
{
    struct play play;

    (void)state;
    open_play(&play, 2);
    quick_step(&play);
    answer(&play, 3, (double)NAN);
    assert_int_equal(play.coordinator.stats.poison, 1);
    assert_int_equal(play.coordinator.slots_in, 0);
    assert_int_equal(play.key[3].step, 1); /* At the newest weights. */
    answer(&play, 3, 32);
    assert_int_equal(play.coordinator.slots_in, 1);
    /* Poison while a step is written is asked for with the next one. */
    answer(&play, 0, 0);
    answer(&play, 1, 0);
    assert_int_equal(play.coordinator.phase, COORDINATOR_COMMITTING);
    answer(&play, 2, (double)NAN);
    assert_int_equal(play.coordinator.stats.poison, 2);
    assert_int_equal(stage_count_msg(&play.actions, MSG_ROUND), 0);
    journaled(&play);
    assert_int_equal(play.key[2].step, 2);
    close_play(&play);
}

/* A beat that tells of an older round is no reason to send it again. */
static void test_late_workers_are_left_in_peace(void **state)
{
    struct play play;
    struct msg beat = {.kind = MSG_BEAT};

    (void)state;
    open_play(&play, 2);
    quick_step(&play);
    beat.beat =
        (struct msg_beat){.view = play.key[3].view,
                          .step = play.key[3].step,
                          .assignment = play.coordinator.members[3].assignment,
                          .queued = 1};
    for (uint32_t i = 0; i < 30; i++) {
        play.now += 50 * MS_US;
        beat.beat.sequence++;
        say(&play, 3, &beat);
        assert_int_equal(stage_count_msg(&play.actions, MSG_ROUND), 0);
    }
    beat.beat.queued = 0; /* Its answer was lost. */
    for (uint32_t i = 0; i < 3; i++) {
        beat.beat.sequence++;
        say(&play, 3, &beat);
    }
    assert_int_equal(play.key[3].step, 1);
    close_play(&play);
}

static void test_optimisers_of_many_rounds_are_refused(void **state)
{
    static const enum optim_kind kinds[] = {OPTIM_LBFGS, OPTIM_NEWTON};
    const struct preset_options choice = {
        .name = "ignore", .stragglers = 1, .workers = 4, .staleness = 1};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct coordinator_options options = stage_options("ignore", 4, 1, 3);
        struct coordinator coordinator;
        struct why why = {0};

        assert_int_equal(preset_spec(&choice, &options.code, &why), ERR_OK);
        options.optim = optim_defaults(kinds[i]);
        assert_int_equal(coordinator_init(&coordinator, &options, NULL, &why),
                         ERR_SHAPE);
        assert_non_null(strstr(why.text, "staleness"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_late_row_counts_in_a_later_step),
        cmocka_unit_test(test_a_row_counts_once),
        cmocka_unit_test(test_other_keys_are_dropped),
        cmocka_unit_test(test_a_second_answer_replaces_the_first),
        cmocka_unit_test(test_the_bound_is_kept_by_waiting),
        cmocka_unit_test(test_a_death_ends_the_wait),
        cmocka_unit_test(test_a_row_during_the_commit_counts_next),
        cmocka_unit_test(test_a_new_view_calls_off),
        cmocka_unit_test(test_nan_is_asked_for_again),
        cmocka_unit_test(test_late_workers_are_left_in_peace),
        cmocka_unit_test(test_optimisers_of_many_rounds_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

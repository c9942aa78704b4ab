/*
 * A coordinator of a job on coded data under an elastic code; the test plays
 * its workers.  Any 2 of 4 machines suffice.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/check.h"
#include "code/preset.h"
#include "play.h"

enum { SLOTS = 4, NEED = 2, ROWS = 32, COLS = 8 };

static double no_slopes(void *context, uint32_t soft, double *scores)
{
    (void)context;
    (void)soft;
    memset(scores, 0, ROWS * sizeof *scores);
    return 1;
}

static struct coordinator_options elastic_options(void)
{
    struct coordinator_options options = stage_options("steal", SLOTS, 0, 4);
    const struct preset_options choice = {.name = "cec",
                                          .workers = SLOTS,
                                          .l = NEED,
                                          .blocks = SLOTS,
                                          .copies = 2};
    struct why why = {0};

    CHECK(preset_spec(&choice, &options.code, &why) == ERR_OK);
    options.job.rows = ROWS;
    options.job.coded_cols = COLS;
    options.slopes = no_slopes;
    return options;
}

static void open_elastic(struct play *play)
{
    const struct coordinator_options options = elastic_options();

    play_open(play, &options);
}

static void lose(struct play *play, uint32_t link)
{
    play_step(play, (struct event){.kind = EVENT_LINK_DOWN, .link = link});
}

/* With zeros. */
static void answer_one(struct play *play, uint32_t link, uint32_t id)
{
    static const double zeros[ROWS + 1];
    const struct segment *segment = &play->coordinator.segments.list[id];
    struct msg msg = {.kind = MSG_ROW};

    msg.row = (struct msg_row){.key = play->coordinator.key,
                               .piece = id,
                               .compute_us = 10,
                               .dims = segment->end - segment->first,
                               .row = zeros};
    play_say(play, link, &msg);
}

static bool owes(const struct play *play, uint32_t link, uint32_t id)
{
    const struct piece_state *piece = &play->coordinator.pieces[id];

    for (uint32_t i = 0; i < piece->assignee_count; i++) {
        if (piece->assignee[i] == link)
            return true;
    }
    return false;
}

/* Everybody answers what is asked until the round is over. */
static void finish_round(struct play *play)
{
    struct coordinator *c = &play->coordinator;
    const struct round_key key = c->key;

    for (uint32_t i = 0; i < 100 * SLOTS; i++) {
        for (uint32_t id = 0; id < c->piece_count; id++) {
            if (owes(play, i % SLOTS, id))
                answer_one(play, i % SLOTS, id);
            if (c->phase != COORDINATOR_ROUND || c->key.round != key.round ||
                c->key.step != key.step)
                return;
        }
    }
    fail_msg("the round does not end");
}

/* The first step: two products. */
static void finish_step(struct play *play)
{
    struct coordinator *c = &play->coordinator;

    finish_round(play);
    assert_true(c->products.halfway);
    finish_round(play);
    assert_int_equal(c->trainer.optim.step, 1);
    if (c->phase != COORDINATOR_ROUND)
        play_step(play, (struct event){.kind = EVENT_JOURNALED});
    assert_int_equal(c->phase, COORDINATOR_ROUND);
}

/* The journal and the checkpoint of `step` are written, and it ends. */
static void ends_stopped(struct play *play, uint32_t step)
{
    const struct action *finish;

    for (uint32_t i = 0;
         i < 3 && stage_find_action(&play->actions, ACTION_CHECKPOINT) == NULL;
         i++)
        play_step(play, (struct event){.kind = EVENT_JOURNALED});
    assert_non_null(stage_find_action(&play->actions, ACTION_CHECKPOINT));
    assert_int_equal(stage_find_action(&play->actions, ACTION_CHECKPOINT)->step,
                     step);
    play_step(play, (struct event){.kind = EVENT_CHECKPOINTED, .step = step});
    finish = stage_find_action(&play->actions, ACTION_FINISH);
    assert_non_null(finish);
    assert_int_equal(finish->err, ERR_CANCELLED);
    assert_string_equal(finish->reason, "stopped; the state is saved");
}

/* Fewer than L are left, or will be: the step at hand is given up. */
static void test_a_stop_below_l(void **state)
{
    (void)state;
    for (int first = 0; first < 2; first++) {
        struct play play;

        open_elastic(&play);
        finish_step(&play);
        if (first)
            play_step(&play, (struct event){.kind = EVENT_STOP});
        lose(&play, 1);
        lose(&play, 2);
        assert_int_equal(play.coordinator.phase, COORDINATOR_ROUND);
        lose(&play, 3);
        if (!first)
            play_step(&play, (struct event){.kind = EVENT_STOP});
        ends_stopped(&play, 1);
        assert_int_equal(stage_count_msg(&play.actions, MSG_BYE), 1);
        play_close(&play);
    }
}

/* Halfway through a gradient, too: the scores were in vain. */
static void test_a_stop_on_the_way_back(void **state)
{
    struct play play;

    (void)state;
    open_elastic(&play);
    finish_step(&play);
    finish_round(&play);
    assert_true(play.coordinator.products.halfway);
    for (uint32_t link = 1; link < SLOTS; link++)
        lose(&play, link);
    play_step(&play, (struct event){.kind = EVENT_STOP});
    ends_stopped(&play, 1);
    play_close(&play);
}

/* With L of them the step is finished first. */
static void test_a_stop_with_enough(void **state)
{
    struct play play;

    (void)state;
    open_elastic(&play);
    play_step(&play, (struct event){.kind = EVENT_STOP});
    lose(&play, 1);
    lose(&play, 2);
    assert_int_equal(play.coordinator.phase, COORDINATOR_ROUND);
    assert_int_equal(stage_count(&play.actions, ACTION_JOURNAL), 0);
    play_close(&play);
}

/* Whoever is silent cannot be waited for either. */
static void test_a_stop_while_others_are_silent(void **state)
{
    const struct msg beat = {.kind = MSG_BEAT};
    struct play play;

    (void)state;
    open_elastic(&play);
    finish_step(&play);
    play_step(&play, (struct event){.kind = EVENT_STOP});
    for (uint32_t i = 0; i < 40 && play.coordinator.phase == COORDINATOR_ROUND;
         i++) {
        play.now += 50 * MS_US;
        play_say(&play, 0, &beat);
        play_step(&play, (struct event){.kind = EVENT_TIME});
    }
    assert_true(play.coordinator.members[1].suspect);
    assert_int_equal(play.coordinator.alive, SLOTS);
    ends_stopped(&play, 1);
    play_close(&play);
}

/* All that it owes now; what that brings it is for later. */
static void answer_all(struct play *play, uint32_t link)
{
    bool owed[64] = {false};

    for (uint32_t id = 0; id < play->coordinator.piece_count; id++)
        owed[id] = owes(play, link, id);
    for (uint32_t id = 0; id < play->coordinator.piece_count; id++) {
        if (owed[id] && owes(play, link, id))
            answer_one(play, link, id);
    }
}

/* Half of them are idle at 100 ms: there will be a look at 130.  Somebody dies
 * just before, and the idle ones get what it owed: they do not lag. */
static void test_new_work_is_no_lag(void **state)
{
    struct play play;
    struct coordinator *c = &play.coordinator;

    (void)state;
    open_elastic(&play);
    assert_true(c->piece_count <= 64);
    play.now += 100 * MS_US;
    answer_all(&play, 0);
    answer_all(&play, 1);
    assert_int_equal(c->members[0].outstanding + c->members[1].outstanding, 0);
    assert_int_equal(c->segments.look_at, 130 * MS_US + 1);
    play.now += 29 * MS_US;
    lose(&play, 3);
    assert_true(c->members[0].outstanding + c->members[1].outstanding > 0);
    play.now += 2 * MS_US;
    play_step(&play, (struct event){.kind = EVENT_TIME});
    for (uint32_t link = 0; link < 3; link++)
        assert_false(c->members[link].lags);
    answer_all(&play, 0);
    answer_all(&play, 1);
    assert_true(c->segments.look_at > play.now &&
                c->segments.look_at < TIME_NEVER);
    play.now = c->segments.look_at;
    play_step(&play, (struct event){.kind = EVENT_TIME});
    assert_true(c->members[2].lags);
    play_close(&play);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_stop_below_l),
        cmocka_unit_test(test_a_stop_on_the_way_back),
        cmocka_unit_test(test_a_stop_with_enough),
        cmocka_unit_test(test_a_stop_while_others_are_silent),
        cmocka_unit_test(test_new_work_is_no_lag),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

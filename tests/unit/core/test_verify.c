/*
 * Two answers to a piece, compared before it counts (P10): the test plays
 * honest workers and liars, and the judge.  Whole runs with a liar in them are
 * in tests/unit/sim/test_lies.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "play.h"

static void open_verified(struct play *play, const char *code, uint32_t n,
                          uint32_t s)
{
    struct coordinator_options options = stage_options(code, n, s, 3);

    options.verify = true;
    play_open(play, &options);
}

static double weight(const struct play *play)
{
    return trainer_weights(&play->coordinator.trainer)[0];
}

/* frc, two groups of two: pieces 0 and 1. */
static void test_two_equal_answers_count_once(void **state)
{
    struct play play;

    (void)state;
    open_verified(&play, "frc", 4, 1);
    play_answer(&play, 0, 0, 100);
    assert_int_equal(play.coordinator.pieces_in, 0);
    play_answer(&play, 0, 0, 100); /* Nobody confirms himself. */
    assert_int_equal(play.coordinator.pieces_in, 0);
    play_answer(&play, 1, 0, 100);
    assert_int_equal(play.coordinator.pieces_in, 1);
    play_answer(&play, 2, 1, 28);
    assert_int_equal(play.coordinator.trainer.optim.step, 0);
    play_answer(&play, 3, 1, 28);
    assert_int_equal(play.coordinator.trainer.optim.step, 1);
    assert_true(weight(&play) == -128 * 0.5 / 32);
    assert_int_equal(play.coordinator.stats.checked, 2);
    assert_int_equal(play.coordinator.stats.poison, 0);
    assert_int_equal(play.coordinator.stats.judged, 0);
    play_close(&play);
}

/* Whoever of the two lies, first or second: the judge decides, the liar is
 * named, and the step is the honest one. */
static void test_liar_is_named(void **state)
{
    (void)state;
    for (uint32_t liar = 0; liar < 2; liar++) {
        struct play play;

        open_verified(&play, "frc", 4, 1);
        play_answer(&play, 2, 1, 28);
        play_answer(&play, 3, 1, 28);
        play_answer(&play, 0, 0, liar == 0 ? 101 : 100);
        assert_null(stage_find_action(&play.actions, ACTION_JUDGE));
        play_answer(&play, 1, 0, liar == 1 ? 99 : 100);
        assert_int_equal(play.coordinator.trainer.optim.step, 0);
        play_judge(&play, 100);
        assert_true(play_struck(&play, POISON_LIE, liar == 0 ? "w0" : "w1"));
        assert_false(play_struck(&play, POISON_LIE, liar == 0 ? "w1" : "w0"));
        assert_int_equal(play.coordinator.trainer.optim.step, 1);
        assert_true(weight(&play) == -128 * 0.5 / 32);
        play_close(&play);
    }
}

static void test_third_lie_shuts_out(void **state)
{
    struct play play;

    (void)state;
    open_verified(&play, "rep", 3, 2); /* One group, one piece a slot. */
    assert_int_equal(play.coordinator.code.piece_count, 1);
    for (uint32_t step = 0; step < 3; step++) {
        play_answer(&play, 0, 0, 1);
        play_answer(&play, 1, 0, 7);
        play_judge(&play, 7);
        assert_int_equal(play.coordinator.stats.banned, step == 2);
        assert_int_equal(play.coordinator.trainer.optim.step, step + 1);
    }
    assert_string_equal(play.coordinator.stats.banned_name[0], "w0");
    assert_int_equal(play.coordinator.stats.unchecked_bad, 0);
    play_close(&play);
}

/* A third answer is compared even when the piece is in. */
static void test_late_lie_is_seen(void **state)
{
    struct play play;

    (void)state;
    open_verified(&play, "rep", 6, 2);
    play_answer(&play, 0, 0, 5);
    play_answer(&play, 1, 0, 5);
    assert_int_equal(play.coordinator.pieces_in, 1);
    play_answer(&play, 2, 0, 6);
    assert_true(play_struck(&play, POISON_LIE, "w2"));
    assert_int_equal(play.coordinator.pieces_in, 1);
    play_close(&play);
}

static void test_contradicting_oneself(void **state)
{
    struct play play;

    (void)state;
    open_verified(&play, "frc", 4, 1);
    play_answer(&play, 0, 0, 5);
    play_answer(&play, 0, 0, 6);
    assert_true(play_struck(&play, POISON_LIE, "w0"));
    play_close(&play);
}

/* The answer of a worker that died stands, and its successor under the same
 * name does not confirm it. */
static void test_same_name_is_the_same_worker(void **state)
{
    struct play play;

    (void)state;
    open_verified(&play, "frc", 4, 1);
    play_answer(&play, 0, 0, 5);
    play_step(&play, (struct event){.kind = EVENT_LINK_DOWN, .link = 0});
    play_hello(&play, 5, "w0", 55);
    play_answer(&play, 5, 0, 5);
    assert_int_equal(play.coordinator.pieces_in, 0);
    play_answer(&play, 1, 0, 5);
    assert_int_equal(play.coordinator.pieces_in, 1);
    play_close(&play);
}

/* Seed 155130: a liar that was shut out comes back under another name, as it is
 * told to; its old lie, waiting for a second answer, must not find one. */
static void test_old_lie_is_not_confirmed_by_its_liar(void **state)
{
    struct play play;

    (void)state;
    open_verified(&play, "uncoded", 4, 0);
    play_answer(&play, 0, 3, 66); /* Nobody has said otherwise yet. */
    for (uint32_t id = 0; id < 3; id++) {
        play_answer(&play, 0, id, 66);
        play_answer(&play, 1, id, 7);
        play_judge(&play, 7);
    }
    assert_string_equal(play.coordinator.stats.banned_name[0], "w0");
    play_hello(&play, 5, "w0-1", 55);
    play_answer(&play, 5, 3, 66);
    assert_int_equal(play.coordinator.pieces_in, 3);
    assert_int_equal(play.coordinator.trainer.optim.step, 0);
    play_answer(&play, 2, 3, 7);
    play_judge(&play, 7);
    assert_true(play_struck(&play, POISON_LIE, "w0-1"));
    assert_int_equal(play.coordinator.trainer.optim.step, 1);
    assert_true(weight(&play) == -28 * 0.5 / 32);
    play_close(&play);
}

/* With nobody left to give the second answer the coordinator does: the run
 * goes on with one worker. */
static void test_last_worker_is_checked_here(void **state)
{
    struct play play;

    (void)state;
    open_verified(&play, "frc", 2, 1);
    play_step(&play, (struct event){.kind = EVENT_LINK_DOWN, .link = 1});
    play_answer(&play, 0, 0, 9);
    assert_int_equal(play.coordinator.trainer.optim.step, 0);
    play_judge(&play, 9);
    assert_int_equal(play.coordinator.trainer.optim.step, 1);
    assert_int_equal(play.coordinator.stats.poison, 0);
    play_close(&play);
}

/* Pieces computed once under `steal` go to a second one of the group. */
static void test_steal_gives_pieces_twice(void **state)
{
    struct play play;

    (void)state;
    open_verified(&play, "steal", 2, 1);
    for (uint32_t id = 0; id < play.coordinator.code.piece_count; id++) {
        assert_int_equal(play.coordinator.pieces[id].assignee_count, 2);
        play_answer(&play, 0, id, 1);
        play_answer(&play, 1, id, 1);
    }
    assert_int_equal(play.coordinator.trainer.optim.step, 1);
    play_close(&play);
}

/* Without replicas every piece is hedged to somebody else at once. */
static void test_uncoded_is_hedged(void **state)
{
    struct play play;

    (void)state;
    open_verified(&play, "uncoded", 3, 0);
    for (uint32_t id = 0; id < 3; id++)
        assert_int_equal(play.coordinator.pieces[id].assignee_count, 2);
    play_close(&play);
}

/* "It does not fit" is checked as well: one liar cannot end the job. */
static void test_refusal_is_judged(void **state)
{
    struct msg msg = {.kind = MSG_REFUSE};
    struct play play;

    (void)state;
    open_verified(&play, "frc", 2, 1);
    msg.refuse.key = play.key;
    play_say(&play, 0, &msg);
    play_judge(&play, 3);
    assert_true(play_struck(&play, POISON_LIE, "w0"));
    assert_int_equal(play.coordinator.trainer.optim.step, 1);
    play_close(&play);
}

static void test_refusal_that_is_true_ends_the_job(void **state)
{
    struct msg msg = {.kind = MSG_REFUSE};
    struct play play;

    (void)state;
    open_verified(&play, "frc", 2, 1);
    msg.refuse.key = play.key;
    play_say(&play, 0, &msg);
    play_step(&play, (struct event){.kind = EVENT_JUDGED, .err = ERR_RANGE});
    assert_int_equal(play.coordinator.phase, COORDINATOR_FAILED);
    assert_int_equal(play.coordinator.stats.poison, 0);
    play_close(&play);
}

/* Expected: two that lie alike are believed (no claim against collusion). */
static void test_two_that_collude_are_believed(void **state)
{
    struct play play;

    (void)state;
    open_verified(&play, "frc", 2, 1);
    play_answer(&play, 0, 0, 1234);
    play_answer(&play, 1, 0, 1234);
    assert_int_equal(play.coordinator.trainer.optim.step, 1);
    assert_int_equal(play.coordinator.stats.poison, 0);
    play_close(&play);
}

/* The share of pieces that an audit compares is the one asked for, another
 * draw in every round, and a function of the seed. */
static void test_audit_draws_its_share(void **state)
{
    struct coordinator_options options = stage_options("uncoded", 64, 0, 3);
    struct play play;
    uint32_t checked[2] = {0};
    uint32_t differ = 0;
    bool first[64];

    (void)state;
    options.audit = 0.25;
    options.audit_seed = 42;
    play_open(&play, &options);
    for (uint32_t id = 0; id < 64; id++) {
        first[id] = play.coordinator.ballots[id].checked;
        checked[0] += first[id];
        assert_int_equal(play.coordinator.pieces[id].assignee_count,
                         first[id] ? 2 : 1);
    }
    for (uint32_t id = 0; id < 64; id++) {
        play_answer(&play, id, id, 1);
        for (uint32_t other = 0; first[id] && other < 64; other++)
            if (other != id && !play.coordinator.piece_in[id])
                play_answer(&play, other, id, 1);
    }
    assert_int_equal(play.coordinator.trainer.optim.step, 1);
    for (uint32_t id = 0; id < 64; id++) {
        checked[1] += play.coordinator.ballots[id].checked;
        differ += play.coordinator.ballots[id].checked != first[id];
    }
    assert_in_range(checked[0], 8, 26);
    assert_in_range(checked[1], 8, 26);
    assert_true(differ > 4);
    play_close(&play);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_equal_answers_count_once),
        cmocka_unit_test(test_liar_is_named),
        cmocka_unit_test(test_third_lie_shuts_out),
        cmocka_unit_test(test_late_lie_is_seen),
        cmocka_unit_test(test_contradicting_oneself),
        cmocka_unit_test(test_same_name_is_the_same_worker),
        cmocka_unit_test(test_old_lie_is_not_confirmed_by_its_liar),
        cmocka_unit_test(test_last_worker_is_checked_here),
        cmocka_unit_test(test_steal_gives_pieces_twice),
        cmocka_unit_test(test_uncoded_is_hedged),
        cmocka_unit_test(test_refusal_is_judged),
        cmocka_unit_test(test_refusal_that_is_true_ends_the_job),
        cmocka_unit_test(test_two_that_collude_are_believed),
        cmocka_unit_test(test_audit_draws_its_share),
    };

    return cmocka_run_group_tests_name("verify", tests, NULL, NULL);
}

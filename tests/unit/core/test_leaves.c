/*
 * Workers behind relays, as the coordinator sees them: members like others.
 * The test plays the relays and the disk.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/coordinator.h"
#include "stage.h"

#define RELAY_LINK 3u

struct play {
    struct coordinator coordinator;
    struct actions actions;
    time_us now;
    struct round_key key;
};

static void step(struct play *play, struct event event)
{
    event.now = play->now;
    coordinator_step(&play->coordinator, &event, &play->actions);
    if (stage_find(&play->actions, MSG_ROUND) != NULL)
        play->key = stage_find(&play->actions, MSG_ROUND)->round.key;
}

static void say(struct play *play, uint32_t link, const struct msg *msg)
{
    step(play, (struct event){.kind = EVENT_MESSAGE, .link = link, .msg = msg});
}

static void hello(struct play *play, uint32_t link, uint32_t leaf, uint32_t i)
{
    struct msg msg = {.kind = MSG_HELLO, .leaf = leaf};

    msg.hello.version = MSG_VERSION;
    msg.hello.incarnation = i + 1;
    msg.hello.resident = true;
    (void)snprintf(msg.hello.name, NAME_SIZE, "w%u", i);
    say(play, link, &msg);
}

static void relay(struct play *play, uint32_t link)
{
    struct msg msg = {.kind = MSG_RELAY};

    msg.relay.version = MSG_VERSION;
    (void)snprintf(msg.relay.name, NAME_SIZE, "r%u", link);
    say(play, link, &msg);
    assert_non_null(stage_find(&play->actions, MSG_WELCOME));
}

/* All but `direct` workers behind the relay on RELAY_LINK, leaf 100 + i. */
static void open_play(struct play *play, const char *preset, uint32_t slots,
                      uint32_t stragglers, uint32_t direct)
{
    struct coordinator_options options =
        stage_options(preset, slots, stragglers, 3);
    struct why why;

    options.leaves_max = slots + 2;
    memset(play, 0, sizeof *play);
    assert_int_equal(actions_init(&play->actions, 4), ERR_OK);
    assert_int_equal(coordinator_init(&play->coordinator, &options, NULL, &why),
                     ERR_OK);
    step(play, (struct event){.kind = EVENT_START});
    step(play, (struct event){.kind = EVENT_JOURNALED});
    relay(play, RELAY_LINK);
    for (uint32_t i = 0; i < slots; i++) {
        if (i < direct)
            hello(play, i, 0, i);
        else
            hello(play, RELAY_LINK, 100 + i, i);
    }
    assert_int_equal(play->coordinator.phase, COORDINATOR_VIEWING);
    step(play, (struct event){.kind = EVENT_JOURNALED});
    assert_int_equal(play->coordinator.phase, COORDINATOR_ROUND);
}

static void close_play(struct play *play)
{
    coordinator_close(&play->coordinator);
    actions_close(&play->actions);
}

/* A SUM of the pieces given, from leaf 100 + piece. */
static void sum(struct play *play, const uint32_t *pieces, uint32_t count,
                int64_t value)
{
    const int64_t values[8] = {value};
    struct answer answers[8] = {{0}};
    struct msg msg = {.kind = MSG_SUM};

    for (uint32_t i = 0; i < count; i++)
        answers[i] = (struct answer){
            .leaf = 100 + pieces[i],
            .piece = pieces[i],
            .first = play->coordinator.code.pieces[pieces[i]].first,
            .end = play->coordinator.code.pieces[pieces[i]].end,
            .counted = true,
        };
    msg.sum.key = play->key;
    msg.sum.count = count;
    msg.sum.answers = answers;
    msg.sum.dims = 8;
    msg.sum.sum = values;
    say(play, RELAY_LINK, &msg);
}

static void tally(struct play *play, uint32_t link, uint32_t leaf,
                  uint32_t piece, int64_t value)
{
    const int64_t values[8] = {value};
    struct msg msg = {.kind = MSG_TALLY, .leaf = leaf};

    msg.tally.key = play->key;
    msg.tally.piece = piece;
    msg.tally.first = play->coordinator.code.pieces[piece].first;
    msg.tally.end = play->coordinator.code.pieces[piece].end;
    msg.tally.dims = 8;
    msg.tally.sum = values;
    say(play, link, &msg);
}

static void test_weights_go_out_once(void **state)
{
    struct play play;
    uint32_t tasks = 0;

    (void)state;
    open_play(&play, "uncoded", 4, 0, 1);
    /* One to the worker, one to the relay. */
    assert_int_equal(stage_count_msg(&play.actions, MSG_ROUND), 2);
    assert_int_equal(stage_count_msg(&play.actions, MSG_TASK), 3);
    for (uint32_t i = 0; i < play.actions.count; i++) {
        const struct action *action = &play.actions.list[i];

        if (action->kind != ACTION_SEND || action->msg.kind != MSG_TASK)
            continue;
        assert_int_equal(action->link, RELAY_LINK);
        assert_int_equal(action->msg.leaf, 101 + tasks++);
        assert_null(action->msg.round.weights);
    }
    assert_int_equal(stage_count_msg(&play.actions, MSG_ALONE), 0);
    close_play(&play);
}

static void test_a_sum_counts_for_all(void **state)
{
    static const uint32_t pieces[] = {1, 2, 3};
    struct play play;

    (void)state;
    open_play(&play, "uncoded", 4, 0, 1);
    sum(&play, pieces, 3, 6);
    assert_int_equal(stage_count_trace(&play.actions, TRACE_TALLY), 3);
    assert_int_equal(play.coordinator.pieces_in, 3);
    assert_int_equal(play.coordinator.slots_in, 3);
    tally(&play, 0, 0, 0, 4);
    assert_int_equal(stage_count_trace(&play.actions, TRACE_COMMIT), 1);
    close_play(&play);
}

/* The second round of a view opens as the first: the relay knows how. */
static void test_a_round_is_repeated(void **state)
{
    static const uint32_t pieces[] = {0, 1, 2, 3};
    const struct msg *round;
    struct play play;

    (void)state;
    open_play(&play, "uncoded", 4, 0, 0);
    assert_int_equal(stage_count_msg(&play.actions, MSG_TASK), 4);
    assert_false(stage_find(&play.actions, MSG_ROUND)->round.repeat);
    sum(&play, pieces, 4, 9);
    round = stage_find(&play.actions, MSG_ROUND);
    assert_non_null(round);
    assert_true(round->round.repeat);
    assert_true(round->round.patient);
    assert_int_equal(stage_count_msg(&play.actions, MSG_TASK), 0);
    for (uint32_t slot = 0; slot < 4; slot++) {
        const struct member *member =
            &play.coordinator.members[play.coordinator.slot_link[slot]];

        assert_int_equal(member->outstanding, 1);
        assert_int_equal(member->assignment, round->round.assignment);
    }
    /* One of them is gone: its piece moves, and the next round is told in
     * full. */
    sum(&play, pieces, 3, 9);
    say(&play, RELAY_LINK, &(struct msg){.kind = MSG_GONE, .leaf = 103});
    assert_non_null(stage_find(&play.actions, MSG_WORK));
    tally(&play, RELAY_LINK, stage_find(&play.actions, MSG_WORK)->leaf, 3, 2);
    while (play.coordinator.phase != COORDINATOR_ROUND)
        step(&play, (struct event){.kind = EVENT_JOURNALED});
    assert_false(stage_find(&play.actions, MSG_ROUND)->round.repeat);
    assert_int_equal(stage_count_msg(&play.actions, MSG_TASK), 3);
    close_play(&play);
}

/* TALLY-1: nothing of it counts, and what it held is given out again. */
static void test_an_overlapping_sum_is_dropped_whole(void **state)
{
    static const uint32_t pieces[] = {1, 2};
    struct play play;

    (void)state;
    open_play(&play, "uncoded", 4, 0, 1);
    tally(&play, RELAY_LINK, 101, 1, 5);
    assert_int_equal(play.coordinator.pieces_in, 1);
    sum(&play, pieces, 2, 9);
    assert_int_equal(stage_count_trace(&play.actions, TRACE_DUPLICATE), 1);
    assert_int_equal(play.coordinator.pieces_in, 1);
    assert_int_equal(play.coordinator.total.sum[0], 5);
    assert_int_equal(stage_count_trace(&play.actions, TRACE_HEDGED), 1);
    assert_non_null(stage_find(&play.actions, MSG_WORK));
    assert_int_equal(stage_find(&play.actions, MSG_WORK)->work.items[0].id, 2);
    close_play(&play);
}

static void test_a_sum_of_another_key_is_stale(void **state)
{
    static const uint32_t pieces[] = {1, 2};
    struct play play;

    (void)state;
    open_play(&play, "uncoded", 4, 0, 1);
    play.key.attempt++;
    sum(&play, pieces, 2, 9);
    assert_int_equal(stage_count_trace(&play.actions, TRACE_STALE), 1);
    assert_int_equal(play.coordinator.pieces_in, 0);
    close_play(&play);
}

/* Out of bound or twice the same piece: no relay of ours sends that. */
static void test_a_broken_relay_is_cut_off(void **state)
{
    static const uint32_t twice[] = {1, 1};
    struct play play;

    (void)state;
    open_play(&play, "uncoded", 4, 0, 1);
    sum(&play, twice, 2, 9);
    assert_int_equal(stage_find_action(&play.actions, ACTION_CLOSE)->link,
                     RELAY_LINK);
    assert_int_equal(stage_count_trace(&play.actions, TRACE_DIED), 3);
    assert_int_equal(play.coordinator.alive, 1);
    close_play(&play);
}

static void test_a_dead_relay_takes_its_leaves(void **state)
{
    struct play play;

    (void)state;
    open_play(&play, "uncoded", 4, 0, 1);
    step(&play, (struct event){.kind = EVENT_LINK_DOWN, .link = RELAY_LINK});
    assert_int_equal(stage_count_trace(&play.actions, TRACE_DIED), 3);
    /* Their pieces go to the one that is left, each once. */
    assert_int_equal(stage_count_trace(&play.actions, TRACE_HEDGED), 3);
    assert_int_equal(play.coordinator.members[0].outstanding, 4);
    /* The same workers by another way. */
    relay(&play, 4);
    hello(&play, 4, 101, 1);
    assert_int_equal(play.coordinator.alive, 2);
    /* Nobody is behind the dead relay. */
    tally(&play, RELAY_LINK, 101, 1, 5);
    assert_int_equal(play.coordinator.pieces_in, 0);
    close_play(&play);
}

static void test_a_leaf_is_told_through_its_relay(void **state)
{
    struct msg msg = {.kind = MSG_BEAT, .leaf = 102};
    struct play play;

    (void)state;
    open_play(&play, "uncoded", 4, 0, 1);
    msg.beat.sequence = 1;
    say(&play, RELAY_LINK, &msg);
    assert_null(stage_find(&play.actions, MSG_ECHO)); /* The relay did. */
    /* Silence: the others beat, this one is closed by its relay. */
    play.now = 5 * SECOND_US;
    step(&play, (struct event){.kind = EVENT_TIME});
    assert_int_equal(stage_count_msg(&play.actions, MSG_GONE), 3);
    assert_int_equal(stage_count(&play.actions, ACTION_CLOSE), 1);
    close_play(&play);
}

/* A relay's beat, with one leaf that it does not hear, or none. */
static void watch(struct play *play, uint64_t sequence, uint32_t leaf,
                  time_us silence)
{
    const struct silent silent = {.leaf = leaf, .silence_us = silence};
    struct msg msg = {.kind = MSG_WATCH};

    msg.watch.sequence = sequence;
    msg.watch.sent_us = 3;
    msg.watch.whole = true;
    msg.watch.count = leaf > 0;
    msg.watch.silent = &silent;
    say(play, RELAY_LINK, &msg);
}

/* RELAY-5: as long as it beats, its leaves are here, but those it names. */
static void test_a_relay_speaks_for_its_leaves(void **state)
{
    struct play play;
    uint64_t sequence = 0;

    (void)state;
    open_play(&play, "uncoded", 4, 0, 0);
    for (play.now = 0; play.now < 3 * SECOND_US; play.now += 50 * MS_US) {
        watch(&play, ++sequence, 0, 0);
        assert_int_equal(stage_find(&play.actions, MSG_ECHO)->leaf, 0);
        assert_int_equal(stage_find(&play.actions, MSG_ECHO)->echo.sequence,
                         sequence);
        step(&play, (struct event){.kind = EVENT_TIME});
        assert_int_equal(stage_count_trace(&play.actions, TRACE_SUSPECT), 0);
    }
    watch(&play, ++sequence, 102, 250 * MS_US);
    step(&play, (struct event){.kind = EVENT_TIME});
    assert_int_equal(stage_count_trace(&play.actions, TRACE_SUSPECT), 0);
    play.now += 60 * MS_US;
    watch(&play, ++sequence, 102, 310 * MS_US);
    step(&play, (struct event){.kind = EVENT_TIME});
    assert_int_equal(stage_count_trace(&play.actions, TRACE_SUSPECT), 1);
    watch(&play, ++sequence, 0, 0);
    assert_int_equal(stage_count_trace(&play.actions, TRACE_CLEARED), 1);
    watch(&play, ++sequence, 102, 5 * SECOND_US);
    step(&play, (struct event){.kind = EVENT_TIME});
    assert_int_equal(stage_count_trace(&play.actions, TRACE_DIED), 1);
    assert_int_equal(play.coordinator.alive, 3);
    close_play(&play);
}

/* ... and when it does not beat, none of them is. */
static void test_a_silent_relay_hides_its_leaves(void **state)
{
    struct play play;

    (void)state;
    open_play(&play, "uncoded", 4, 0, 1);
    play.now = 400 * MS_US;
    step(&play, (struct event){.kind = EVENT_TIME});
    assert_int_equal(stage_count_trace(&play.actions, TRACE_SUSPECT), 4);
    watch(&play, 1, 0, 0);
    assert_int_equal(stage_count_trace(&play.actions, TRACE_CLEARED), 3);
    close_play(&play);
}

static void test_gone_is_death(void **state)
{
    const struct msg msg = {.kind = MSG_GONE, .leaf = 101};
    struct play play;

    (void)state;
    open_play(&play, "uncoded", 4, 0, 1);
    say(&play, RELAY_LINK, &msg);
    assert_int_equal(stage_count_trace(&play.actions, TRACE_DIED), 1);
    assert_int_equal(stage_count_trace(&play.actions, TRACE_HEDGED), 1);
    assert_int_equal(play.coordinator.alive, 3);
    /* Given to a second one, the piece must not be merged with others. */
    assert_true(stage_count_msg(&play.actions, MSG_ALONE) <= 1);
    say(&play, RELAY_LINK, &msg);
    assert_int_equal(play.coordinator.alive, 3);
    close_play(&play);
}

/* frc 4, s = 1: w0 and w1 hold the same piece, w2 and w3 another.  With w0
 * not behind the relay, only theirs is contested. */
static void test_replicas_elsewhere_are_not_merged(void **state)
{
    const struct msg *alone;
    struct play play;

    (void)state;
    open_play(&play, "frc", 4, 1, 1);
    assert_int_equal(stage_count_msg(&play.actions, MSG_ALONE), 1);
    alone = stage_find(&play.actions, MSG_ALONE);
    assert_int_equal(alone->leaf, 0);
    assert_int_equal(alone->alone.items[0].id, 0);
    close_play(&play);
}

static void test_who_is_no_relay_has_no_leaves(void **state)
{
    struct play play;

    (void)state;
    open_play(&play, "uncoded", 4, 0, 1);
    hello(&play, 0, 55, 9);
    assert_int_equal(stage_count(&play.actions, ACTION_SEND), 0);
    assert_int_equal(play.coordinator.alive, 4);
    close_play(&play);
}

static void test_lost_weights_are_sent_again(void **state)
{
    struct msg beat = {.kind = MSG_BEAT, .leaf = 101};
    struct play play;

    (void)state;
    open_play(&play, "uncoded", 4, 0, 1);
    for (uint64_t i = 1; i <= 2; i++) {
        play.now = (time_us)i * SECOND_US;
        beat.beat.sequence = i;
        say(&play, RELAY_LINK, &beat);
    }
    assert_int_equal(stage_count_trace(&play.actions, TRACE_RESENT), 1);
    assert_int_equal(stage_count_msg(&play.actions, MSG_ROUND), 1);
    assert_int_equal(stage_find(&play.actions, MSG_ROUND)->leaf, 0);
    assert_int_equal(stage_count_msg(&play.actions, MSG_TASK), 1);
    close_play(&play);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_weights_go_out_once),
        cmocka_unit_test(test_a_sum_counts_for_all),
        cmocka_unit_test(test_an_overlapping_sum_is_dropped_whole),
        cmocka_unit_test(test_a_sum_of_another_key_is_stale),
        cmocka_unit_test(test_a_broken_relay_is_cut_off),
        cmocka_unit_test(test_a_dead_relay_takes_its_leaves),
        cmocka_unit_test(test_a_leaf_is_told_through_its_relay),
        cmocka_unit_test(test_a_relay_speaks_for_its_leaves),
        cmocka_unit_test(test_a_silent_relay_hides_its_leaves),
        cmocka_unit_test(test_gone_is_death),
        cmocka_unit_test(test_a_round_is_repeated),
        cmocka_unit_test(test_replicas_elsewhere_are_not_merged),
        cmocka_unit_test(test_who_is_no_relay_has_no_leaves),
        cmocka_unit_test(test_lost_weights_are_sent_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

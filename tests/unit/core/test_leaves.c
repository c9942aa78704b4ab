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

#include "core/star/coordinator.h"
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

static void begin(struct play *play, const struct coordinator_options *options)
{
    struct why why;

    memset(play, 0, sizeof *play);
    assert_int_equal(actions_init(&play->actions, 4), ERR_OK);
    assert_int_equal(coordinator_init(&play->coordinator, options, NULL, &why),
                     ERR_OK);
    step(play, (struct event){.kind = EVENT_START});
    step(play, (struct event){.kind = EVENT_JOURNALED});
}

/* All but `direct` workers behind the relay on RELAY_LINK, leaf 100 + i. */
static void open_play(struct play *play, const char *preset, uint32_t slots,
                      uint32_t stragglers, uint32_t direct)
{
    struct coordinator_options options =
        stage_options(preset, slots, stragglers, 3);

    options.leaves_max = slots + 2;
    begin(play, &options);
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
            .compute_us = 1000 + pieces[i],
            .counted = true,
        };
    msg.sum.key = play->key;
    msg.sum.count = count;
    msg.sum.answers = answers;
    msg.sum.dims = 8;
    msg.sum.sum = values;
    say(play, RELAY_LINK, &msg);
}

/* The one TRACE_SUM there is. */
static const struct trace *sum_trace(const struct play *play)
{
    assert_int_equal(stage_count_trace(&play->actions, TRACE_SUM), 1);
    assert_int_equal(stage_count_trace(&play->actions, TRACE_TALLY), 0);
    for (uint32_t i = 0;; i++) {
        const struct action *action = &play->actions.list[i];

        if (action->kind == ACTION_TRACE && action->trace.kind == TRACE_SUM)
            return &action->trace;
    }
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

/* One event for all; a driver makes of it what each worker's would have been.
 */
static void test_a_sum_is_told_once(void **state)
{
    static const uint32_t pieces[] = {3, 1};
    struct play play;
    const struct trace *told;

    (void)state;
    open_play(&play, "uncoded", 4, 0, 1);
    sum(&play, pieces, 2, 6);
    told = sum_trace(&play);
    assert_string_equal(told->name, ""); /* A relay is not a worker. */
    for (uint32_t i = 0; i < 2; i++) {
        const struct trace_answer *answer = &told->answers[i];
        const struct member *member = &play.coordinator.members[answer->link];
        const struct trace one = trace_tally(told, answer, member->name);

        assert_int_equal(member->leaf, 100 + pieces[i]);
        assert_int_equal(one.kind, TRACE_TALLY);
        assert_int_equal(one.now, told->now);
        assert_int_equal(one.link, answer->link);
        assert_string_equal(one.name, member->name);
        assert_memory_equal(&one.key, &play.key, sizeof one.key);
        assert_int_equal(one.a, pieces[i]);
        assert_int_equal(one.b,
                         play.coordinator.code.pieces[pieces[i]].end -
                             play.coordinator.code.pieces[pieces[i]].first);
        assert_int_equal(one.answer.compute_us, 1000 + pieces[i]);
    }
    close_play(&play);
}

static void test_a_sum_counts_for_all(void **state)
{
    static const uint32_t pieces[] = {1, 2, 3};
    struct play play;

    (void)state;
    open_play(&play, "uncoded", 4, 0, 1);
    sum(&play, pieces, 3, 6);
    assert_int_equal(sum_trace(&play)->a, 3);
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
    assert_int_equal(play.coordinator.tally.sum[0], 5);
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

/* A relay does not know the pieces: a worker that answers with other chunks
 * than it was given is struck, and its relay is not cut off.  (fuzz_relay.c) */
static void test_a_leaf_of_the_wrong_shape_is_struck(void **state)
{
    struct answer answers[2] = {{.leaf = 101, .piece = 1, .counted = true},
                                {.leaf = 102, .piece = 2, .counted = true}};
    const int64_t values[8] = {9};
    struct msg msg = {.kind = MSG_SUM};
    struct play play;

    (void)state;
    open_play(&play, "uncoded", 4, 0, 1);
    for (uint32_t i = 0; i < 2; i++) {
        answers[i].first = play.coordinator.code.pieces[1 + 2 * i].first;
        answers[i].end = play.coordinator.code.pieces[1 + 2 * i].end;
    }
    msg.sum = (struct msg_sum){.key = play.key,
                               .count = 2,
                               .answers = answers,
                               .dims = 8,
                               .sum = values};
    for (uint32_t strike = 1; strike <= STRIKES_MAX; strike++) {
        say(&play, RELAY_LINK, &msg);
        assert_int_equal(play.coordinator.stats.poison_by[POISON_SHAPE],
                         strike);
    }
    assert_null(stage_find_action(&play.actions, ACTION_CLOSE));
    assert_string_equal(play.coordinator.stats.banned_name[0], "w2");
    assert_int_equal(play.coordinator.alive, 3);
    assert_int_equal(play.coordinator.pieces_in, 0);
    /* What came with it is asked for again, and counts then. */
    tally(&play, RELAY_LINK, 101, 1, 5);
    assert_int_equal(play.coordinator.pieces_in, 1);
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

/* Seed 107175: the relay speaks for one that is no more, whose GONE was lost;
 * whoever says nothing itself is sent its work again, which finds it out. */
static void test_a_leaf_that_says_nothing_is_asked(void **state)
{
    const struct msg gone = {.kind = MSG_GONE, .leaf = 101};
    struct play play;
    uint64_t sequence = 0;

    (void)state;
    open_play(&play, "uncoded", 4, 0, 1);
    for (play.now = 0;; play.now += 50 * MS_US) {
        assert_true(play.now < 60 * SECOND_US);
        watch(&play, ++sequence, 0, 0);
        step(&play, (struct event){.kind = EVENT_TIME});
        if (stage_count_trace(&play.actions, TRACE_RESENT) > 0)
            break;
    }
    assert_true(play.now >= play.coordinator.options.job.dead_us);
    assert_int_equal(stage_count_trace(&play.actions, TRACE_RESENT), 1);
    assert_non_null(stage_find(&play.actions, MSG_TASK));
    say(&play, RELAY_LINK, &gone);
    assert_int_equal(stage_count_trace(&play.actions, TRACE_DIED), 1);
    close_play(&play);
}

/* Whose name is it?  Asked until the answer is clear; the relay beats, and the
 * leaf itself is heard once a second, or not at all. */
static bool displaces(struct play *play, bool lives)
{
    const struct msg pulse = {.kind = MSG_PULSE, .leaf = 102};
    struct msg msg = {.kind = MSG_HELLO};
    uint64_t sequence = 0;

    msg.hello.version = MSG_VERSION;
    msg.hello.incarnation = 77;
    msg.hello.resident = true;
    (void)snprintf(msg.hello.name, NAME_SIZE, "w2");
    for (play->now = 0;; play->now += 50 * MS_US) {
        assert_true(play->now < 60 * SECOND_US);
        watch(play, ++sequence, 0, 0);
        if (lives && play->now % SECOND_US == 0)
            say(play, RELAY_LINK, &pulse);
        say(play, 0, &msg);
        if (stage_find(&play->actions, MSG_WELCOME) != NULL)
            return true;
        if (stage_find(&play->actions, MSG_REJECT) != NULL)
            return false;
    }
}

/* Behind a relay, too, the name of one that lives is taken; one of whose end
 * its relay has not told is not in the way of its next life. */
static void test_the_name_of_a_leaf_is_taken(void **state)
{
    struct play play;

    (void)state;
    open_play(&play, "uncoded", 4, 0, 0);
    assert_false(displaces(&play, true));
    assert_int_equal(play.coordinator.alive, 4);
    close_play(&play);
    open_play(&play, "uncoded", 4, 0, 0);
    assert_true(displaces(&play, false));
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

/* Seed 419: a relay that dials again brings what it had merged before; behind
 * the new connection nobody has that number yet.  The answers count; whose they
 * were is not looked up. */
static void test_a_sum_of_a_leaf_that_has_gone(void **state)
{
    static const uint32_t pieces[] = {1, 2};
    struct play play;

    (void)state;
    open_play(&play, "uncoded", 4, 0, 1);
    step(&play, (struct event){.kind = EVENT_LINK_DOWN, .link = RELAY_LINK});
    relay(&play, RELAY_LINK);
    sum(&play, pieces, 2, 9);
    assert_int_equal(sum_trace(&play)->a, 2);
    for (uint32_t i = 0; i < 2; i++) {
        const struct trace tally_of =
            trace_tally(sum_trace(&play), &sum_trace(&play)->answers[i], "");

        assert_int_equal(tally_of.link, -1);
        assert_int_equal(tally_of.a, pieces[i]);
    }
    assert_int_equal(play.coordinator.pieces_in, 2);
    assert_int_equal(play.coordinator.alive, 1);
    close_play(&play);
}

/* frc 4, s = 1: w0 and w1 hold the same piece, w2 and w3 another.  With w0
 * not behind the relay, only theirs is contested. */
/* Seed 517399: everybody had gone when the last sum came, so that the step was
 * not durable, and the run was told to stop; its checkpoint then went ahead of
 * the journal (STORE-2). */
static void test_stopped_after_all_had_gone(void **state)
{
    static const uint32_t pieces[] = {0, 1};
    const struct msg gone[] = {{.kind = MSG_GONE, .leaf = 100},
                               {.kind = MSG_GONE, .leaf = 101}};
    struct play play;

    (void)state;
    open_play(&play, "uncoded", 2, 0, 0);
    say(&play, RELAY_LINK, &gone[0]);
    say(&play, RELAY_LINK, &gone[1]);
    sum(&play, pieces, 2, 6);
    assert_int_equal(stage_count_trace(&play.actions, TRACE_COMMIT), 1);
    assert_false(stage_find_action(&play.actions, ACTION_JOURNAL)->sync);
    step(&play, (struct event){.kind = EVENT_STOP});
    hello(&play, RELAY_LINK, 102, 0);
    hello(&play, RELAY_LINK, 103, 1);
    step(&play, (struct event){.kind = EVENT_JOURNALED});
    assert_null(stage_find_action(&play.actions, ACTION_CHECKPOINT));
    assert_true(stage_find_action(&play.actions, ACTION_JOURNAL)->sync);
    step(&play, (struct event){.kind = EVENT_JOURNALED});
    assert_non_null(stage_find_action(&play.actions, ACTION_CHECKPOINT));
    close_play(&play);
}

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

static const char *refusal(const struct coordinator_options *options,
                           uint32_t version, char reason[REASON_SIZE])
{
    struct msg msg = {.kind = MSG_RELAY};
    struct play play;

    begin(&play, options);
    msg.relay.version = version;
    say(&play, RELAY_LINK, &msg);
    assert_null(stage_find(&play.actions, MSG_WELCOME));
    assert_false(play.coordinator.members[RELAY_LINK].relay);
    memcpy(reason, stage_find(&play.actions, MSG_REJECT)->reject.reason,
           REASON_SIZE);
    close_play(&play);
    return reason;
}

/* A job that cannot have relays says why, and takes none. */
static void test_relays_are_refused_with_a_reason(void **state)
{
    struct coordinator_options options = stage_options("uncoded", 4, 0, 3);
    char reason[REASON_SIZE];

    (void)state;
    assert_non_null(
        strstr(refusal(&options, MSG_VERSION, reason), "takes no relays"));
    options.leaves_max = 4;
    assert_non_null(
        strstr(refusal(&options, MSG_VERSION + 1, reason), "same release"));
}

static void test_no_room_for_one_more_leaf(void **state)
{
    struct play play;

    (void)state;
    open_play(&play, "uncoded", 4, 0, 1); /* 3 behind the relay, room for 6. */
    for (uint32_t i = 4; i < 7; i++)
        hello(&play, RELAY_LINK, 100 + i, i);
    assert_int_equal(play.coordinator.alive, 7);
    hello(&play, RELAY_LINK, 107, 7);
    assert_int_equal(stage_find(&play.actions, MSG_REJECT)->leaf, 107);
    assert_int_equal(play.coordinator.alive, 7);
    /* It knows all that it has; one that goes makes room. */
    say(&play, RELAY_LINK, &(const struct msg){.kind = MSG_GONE, .leaf = 104});
    hello(&play, RELAY_LINK, 107, 7);
    assert_null(stage_find(&play.actions, MSG_REJECT));
    assert_int_equal(play.coordinator.alive, 7);
    close_play(&play);
}

/* Whoever said HELLO and then says RELAY is no worker any more. */
static void test_a_worker_that_turns_out_a_relay(void **state)
{
    struct play play;

    (void)state;
    open_play(&play, "uncoded", 4, 0, 1);
    relay(&play, 0);
    assert_int_equal(stage_count_trace(&play.actions, TRACE_DIED), 1);
    assert_int_equal(stage_count_trace(&play.actions, TRACE_HEDGED), 1);
    assert_int_equal(play.coordinator.alive, 3);
    hello(&play, 0, 50, 0);
    assert_int_equal(play.coordinator.alive, 4);
    close_play(&play);
}

/* The job over, the relay is told, too: it must not dial for ever. */
static void test_relays_hear_the_end(void **state)
{
    static const uint32_t behind[] = {1, 2, 3};
    struct play play;
    uint32_t told = 0;

    (void)state;
    open_play(&play, "uncoded", 4, 0, 1);
    for (int i = 0; i < 3; i++) {
        sum(&play, behind, 3, 3);
        tally(&play, 0, 0, 0, 1);
    }
    while (play.coordinator.trainer.ledger.waits > 0)
        step(&play, (struct event){.kind = EVENT_JOURNALED});
    step(&play, (struct event){.kind = EVENT_CHECKPOINTED, .step = 3});
    assert_int_equal(play.coordinator.phase, COORDINATOR_DONE);
    for (uint32_t i = 0; i < play.actions.count; i++) {
        const struct action *action = &play.actions.list[i];

        if (action->kind == ACTION_SEND && action->msg.kind == MSG_BYE &&
            action->link == RELAY_LINK && action->msg.leaf == 0) {
            assert_true(action->msg.bye.finished);
            told++;
        }
    }
    assert_int_equal(told, 1);
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
        cmocka_unit_test(test_a_sum_is_told_once),
        cmocka_unit_test(test_a_sum_counts_for_all),
        cmocka_unit_test(test_an_overlapping_sum_is_dropped_whole),
        cmocka_unit_test(test_a_sum_of_another_key_is_stale),
        cmocka_unit_test(test_a_broken_relay_is_cut_off),
        cmocka_unit_test(test_a_leaf_of_the_wrong_shape_is_struck),
        cmocka_unit_test(test_a_dead_relay_takes_its_leaves),
        cmocka_unit_test(test_a_leaf_is_told_through_its_relay),
        cmocka_unit_test(test_a_relay_speaks_for_its_leaves),
        cmocka_unit_test(test_a_leaf_that_says_nothing_is_asked),
        cmocka_unit_test(test_the_name_of_a_leaf_is_taken),
        cmocka_unit_test(test_a_silent_relay_hides_its_leaves),
        cmocka_unit_test(test_gone_is_death),
        cmocka_unit_test(test_a_round_is_repeated),
        cmocka_unit_test(test_a_sum_of_a_leaf_that_has_gone),
        cmocka_unit_test(test_stopped_after_all_had_gone),
        cmocka_unit_test(test_replicas_elsewhere_are_not_merged),
        cmocka_unit_test(test_who_is_no_relay_has_no_leaves),
        cmocka_unit_test(test_relays_are_refused_with_a_reason),
        cmocka_unit_test(test_no_room_for_one_more_leaf),
        cmocka_unit_test(test_a_worker_that_turns_out_a_relay),
        cmocka_unit_test(test_relays_hear_the_end),
        cmocka_unit_test(test_lost_weights_are_sent_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

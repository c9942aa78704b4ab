/*
 * The test plays the workers and the disk, one event at a time, and looks at
 * what the coordinator asks for.  Whole runs with faults are the simulator's;
 * here are the rules one can point at: what is dropped, who is hedged, what
 * must be durable first.
 */
#include "core/star/coordinator.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "stage.h"

struct play {
    struct coordinator coordinator;
    struct actions actions;
    time_us now;
    struct round_key key; /* Of the last ROUND seen. */
    uint32_t views;       /* VIEW records written. */
};

static void step(struct play *play, struct event event)
{
    event.now = play->now;
    coordinator_step(&play->coordinator, &event, &play->actions);
}

static void say(struct play *play, uint32_t link, const struct msg *msg)
{
    step(play, (struct event){.kind = EVENT_MESSAGE, .link = link, .msg = msg});
    if (stage_find(&play->actions, MSG_ROUND) != NULL)
        play->key = stage_find(&play->actions, MSG_ROUND)->round.key;
}

static void journaled(struct play *play)
{
    step(play, (struct event){.kind = EVENT_JOURNALED});
    if (stage_find(&play->actions, MSG_ROUND) != NULL)
        play->key = stage_find(&play->actions, MSG_ROUND)->round.key;
}

static void greet(struct play *play, uint32_t link, uint32_t worker,
                  uint64_t incarnation)
{
    struct msg msg = {.kind = MSG_HELLO};

    msg.hello.version = MSG_VERSION;
    msg.hello.incarnation = incarnation;
    msg.hello.resident = true;
    (void)snprintf(msg.hello.name, NAME_SIZE, "w%u", worker);
    say(play, link, &msg);
}

static void hello(struct play *play, uint32_t link, uint64_t incarnation)
{
    greet(play, link, link, incarnation);
}

static void open_options(struct play *play,
                         const struct coordinator_options *options)
{
    struct why why;

    memset(play, 0, sizeof *play);
    assert_int_equal(actions_init(&play->actions, 4), ERR_OK);
    assert_int_equal(coordinator_init(&play->coordinator, options, NULL, &why),
                     ERR_OK);
    step(play, (struct event){.kind = EVENT_START});
    assert_int_equal(stage_count(&play->actions, ACTION_JOURNAL), 1);
    journaled(play);
    for (uint32_t link = 0; link < options->slots; link++)
        hello(play, link, link + 1);
    assert_int_equal(play->coordinator.phase, COORDINATOR_VIEWING);
    journaled(play);
    assert_int_equal(play->coordinator.phase, COORDINATOR_ROUND);
}

static void open_play(struct play *play, const char *preset, uint32_t slots,
                      uint32_t stragglers)
{
    const struct coordinator_options options =
        stage_options(preset, slots, stragglers, 3);

    open_options(play, &options);
}

static void close_play(struct play *play)
{
    coordinator_close(&play->coordinator);
    actions_close(&play->actions);
}

static void answer(struct play *play, uint32_t link, uint32_t piece,
                   struct round_key key, int64_t value)
{
    const struct piece *place = &play->coordinator.code.pieces[piece];
    const int64_t sum[8] = {value, 0, 0, 0, 0, 0, 0, 0};
    struct msg msg = {.kind = MSG_TALLY};

    msg.tally = (struct msg_tally){
        .key = key,
        .piece = piece,
        .first = place->first,
        .end = place->end,
        .dims = 8,
        .sum = sum,
    };
    say(play, link, &msg);
}

/* INV-2: nothing is sent in a view that is not durable. */
static void test_view_before_round(void **state)
{
    const struct coordinator_options options =
        stage_options("uncoded", 2, 0, 3);
    struct play play = {0};
    struct why why;

    (void)state;
    assert_int_equal(actions_init(&play.actions, 4), ERR_OK);
    assert_int_equal(coordinator_init(&play.coordinator, &options, NULL, &why),
                     ERR_OK);
    step(&play, (struct event){.kind = EVENT_START});
    journaled(&play);
    hello(&play, 0, 1);
    hello(&play, 1, 2);
    assert_int_equal(stage_count_msg(&play.actions, MSG_ROUND), 0);
    assert_true(stage_find_action(&play.actions, ACTION_JOURNAL)->sync);
    journaled(&play);
    assert_int_equal(stage_count_msg(&play.actions, MSG_ROUND), 2);
    close_play(&play);
}

/* How weights travel is the job's; the core knows no more of it. */
static void test_weights_travel_as_the_job_says(void **state)
{
    struct coordinator_options options = stage_options("uncoded", 2, 0, 3);

    (void)state;
    for (int narrow = 0; narrow < 2; narrow++) {
        struct play play;

        options.narrow = narrow != 0;
        open_options(&play, &options);
        assert_int_equal(stage_count_msg(&play.actions, MSG_ROUND), 2);
        assert_int_equal(stage_find(&play.actions, MSG_ROUND)->round.narrow,
                         narrow);
        close_play(&play);
    }
}

static void test_step_commits_when_covered(void **state)
{
    struct play play;

    (void)state;
    open_play(&play, "uncoded", 2, 0);
    answer(&play, 0, 0, play.key, 100);
    assert_int_equal(play.coordinator.trainer.optim.step, 0);
    answer(&play, 1, 1, play.key, -20);
    assert_int_equal(play.coordinator.trainer.optim.step, 1);
    /* b = 0 - (eta / N) * g = -(0.5 / 16) * 80 */
    assert_true(trainer_weights(&play.coordinator.trainer)[0] == -2.5);
    assert_int_equal(play.key.step, 1);
    close_play(&play);
}

static void test_duplicates_are_dropped(void **state)
{
    struct play play;

    (void)state;
    open_play(&play, "frc", 4, 1);
    answer(&play, 0, 0, play.key, 100);
    answer(&play, 1, 0, play.key, 100); /* Same group. */
    answer(&play, 0, 0, play.key, 100); /* Said twice. */
    assert_int_equal(play.coordinator.stats.duplicates, 2);
    answer(&play, 3, 1, play.key, 0);
    assert_int_equal(play.coordinator.trainer.optim.step, 1);
    assert_true(trainer_weights(&play.coordinator.trainer)[0] ==
                -100 * 0.5 / 32);
    close_play(&play);
}

/* TALLY-3, field by field; keys that never were strike (test_trust.c). */
static void test_stale_keys_are_dropped(void **state)
{
    struct play play;

    (void)state;
    open_play(&play, "uncoded", 2, 0);
    for (int field = 0; field < 7; field++) {
        struct round_key key = play.key;

        play.coordinator.trust.count = 0;

        key.job += field == 0;
        key.view += field == 1;
        key.step += field == 2;
        key.round += field == 3;
        key.attempt += field == 4;
        key.scale += field == 5;
        key.weights += field == 6;
        answer(&play, 0, 0, key, 1);
        assert_int_equal(play.coordinator.stats.stale, field + 1);
        assert_int_equal(play.coordinator.pieces_in, 0);
    }
    close_play(&play);
}

static void test_out_of_bound_is_poison(void **state)
{
    struct play play;

    (void)state;
    open_play(&play, "uncoded", 2, 0);
    for (uint32_t strike = 1; strike <= STRIKES_MAX; strike++) {
        answer(&play, 0, 0, play.key, INT64_MIN);
        assert_int_equal(play.coordinator.stats.poison, strike);
    }
    assert_int_equal(play.coordinator.members[0].state, MEMBER_NONE);
    assert_int_equal(stage_count(&play.actions, ACTION_CLOSE), 1);
    hello(&play, 0, 1);
    assert_int_equal(stage_count_msg(&play.actions, MSG_REJECT), 1);
    close_play(&play);
}

static void test_death_is_hedged_at_once(void **state)
{
    struct play play;

    (void)state;
    open_play(&play, "uncoded", 2, 0);
    step(&play, (struct event){.kind = EVENT_LINK_DOWN, .link = 0});
    assert_int_equal(stage_count_msg(&play.actions, MSG_WORK), 1);
    answer(&play, 1, 1, play.key, 1);
    answer(&play, 1, 0, play.key, 1);
    assert_int_equal(play.coordinator.trainer.optim.step, 1);
    assert_int_equal(play.coordinator.stats.died, 1);
    close_play(&play);
}

static void beat(struct play *play, uint32_t link)
{
    struct msg msg = {.kind = MSG_BEAT};

    msg.beat.sequence = (uint64_t)play->now;
    msg.beat.queued = 1;
    msg.beat.view = play->key.view;
    msg.beat.step = play->key.step;
    msg.beat.assignment = 100;
    say(play, link, &msg);
}

static void test_silence_is_suspected_then_dead(void **state)
{
    struct play play;
    uint32_t suspected = 0;

    (void)state;
    open_play(&play, "uncoded", 2, 0);
    while (play.now < SECOND_US) {
        play.now += 50 * MS_US;
        beat(&play, 0);
        step(&play, (struct event){.kind = EVENT_TIME});
        if (stage_count_trace(&play.actions, TRACE_SUSPECT) > 0) {
            suspected++;
            assert_int_equal(play.now, 300 * MS_US);
            assert_int_equal(stage_count_msg(&play.actions, MSG_WORK), 1);
        }
    }
    assert_int_equal(suspected, 1);
    assert_int_equal(play.coordinator.stats.died, 0);
    beat(&play, 1); /* Reversible. */
    assert_int_equal(stage_count_trace(&play.actions, TRACE_CLEARED), 1);
    while (play.now < 4 * SECOND_US) {
        play.now += 50 * MS_US;
        beat(&play, 0);
        step(&play, (struct event){.kind = EVENT_TIME});
    }
    assert_int_equal(play.coordinator.stats.died, 1);
    close_play(&play);
}

static void test_joiner_takes_the_empty_slot(void **state)
{
    struct play play;

    (void)state;
    open_play(&play, "frc", 4, 1);
    step(&play, (struct event){.kind = EVENT_LINK_DOWN, .link = 0});
    hello(&play, 5, 99);
    answer(&play, 1, 0, play.key, 1);
    answer(&play, 2, 1, play.key, 1);
    assert_int_equal(play.coordinator.phase, COORDINATOR_VIEWING);
    while (play.coordinator.phase == COORDINATOR_VIEWING)
        journaled(&play);
    assert_int_equal(play.coordinator.slot_link[0], 5);
    assert_int_equal(play.key.view, 2);
    close_play(&play);
}

static void test_spares_make_the_code_grow(void **state)
{
    struct play play;

    (void)state;
    open_play(&play, "uncoded", 2, 0);
    hello(&play, 3, 99);
    answer(&play, 0, 0, play.key, 1);
    answer(&play, 1, 1, play.key, 1);
    while (play.coordinator.phase == COORDINATOR_VIEWING)
        journaled(&play);
    assert_int_equal(play.coordinator.code.slots, 3);
    close_play(&play);
}

/* Two of at most three are there.  Whoever comes back takes no new place, and
 * that of one who is gone is free. */
static void test_no_more_than_may_be(void **state)
{
    struct coordinator_options options = stage_options("uncoded", 2, 0, 3);
    const struct msg *no;
    struct play play;

    (void)state;
    options.workers_max = 3;
    open_options(&play, &options);
    hello(&play, 2, 3);
    assert_non_null(stage_find(&play.actions, MSG_WELCOME));
    hello(&play, 3, 4);
    no = stage_find(&play.actions, MSG_REJECT);
    assert_non_null(no);
    assert_non_null(strstr(no->reject.reason, "no room"));
    assert_int_equal(play.coordinator.alive, 3);
    greet(&play, 4, 1, 2); /* The same process on a new connection. */
    assert_non_null(stage_find(&play.actions, MSG_WELCOME));
    assert_int_equal(play.coordinator.alive, 3);
    step(&play, (struct event){.kind = EVENT_LINK_DOWN, .link = 0});
    hello(&play, 3, 4);
    assert_non_null(stage_find(&play.actions, MSG_WELCOME));
    assert_int_equal(play.coordinator.alive, 3);
    close_play(&play);
}

static void test_idle_worker_steals(void **state)
{
    struct play play;
    uint32_t stolen = 0;

    (void)state;
    open_play(&play, "steal", 2, 1); /* 4 chunks: two pieces each. */
    play.now += MS_US;
    answer(&play, 0, 0, play.key, 1);
    /* The other may be about to answer: they are level so far. */
    assert_int_equal(stage_count_msg(&play.actions, MSG_WORK), 0);
    answer(&play, 0, 1, play.key, 1);
    stolen += stage_count_msg(&play.actions, MSG_WORK);
    assert_int_equal(stolen, 1); /* Piece 3: last of the other's. */
    assert_int_equal(stage_find(&play.actions, MSG_WORK)->work.items[0].id, 3);
    assert_int_equal(stage_count_msg(&play.actions, MSG_DROP), 1);
    answer(&play, 0, 3, play.key, 1);
    answer(&play, 1, 2, play.key, 1);
    assert_int_equal(play.coordinator.trainer.optim.step, 1);
    close_play(&play);
}

/* Found by bench/recovery.py: a stolen piece whose thief died waited a second
 * for its former owner, who had been told to skip it. */
static void test_stolen_piece_of_a_dead_thief(void **state)
{
    struct play play;

    (void)state;
    open_play(&play, "steal", 2, 1);
    play.now += MS_US;
    answer(&play, 0, 0, play.key, 1);
    answer(&play, 0, 1, play.key, 1); /* w0 takes piece 3 from w1 ... */
    step(&play, (struct event){.kind = EVENT_LINK_DOWN, .link = 0});
    assert_int_equal(stage_count_msg(&play.actions, MSG_WORK), 1);
    assert_int_equal(stage_count_trace(&play.actions, TRACE_HEDGED), 1);
    answer(&play, 1, 2, play.key, 1);
    answer(&play, 1, 3, play.key, 1); /* ... and w1 gets it back. */
    assert_int_equal(play.coordinator.trainer.optim.step, 1);
    close_play(&play);
}

static void answer_row(struct play *play, uint32_t link, double value)
{
    const double row[9] = {value};
    struct msg msg = {.kind = MSG_ROW};

    msg.row = (struct msg_row){.key = play->key, .dims = 8, .row = row};
    say(play, link, &msg);
}

static void test_coded_round_begins_anew(void **state)
{
    struct play play;

    (void)state;
    open_play(&play, "cyclic", 3, 1);
    answer_row(&play, 0, 1);
    step(&play, (struct event){.kind = EVENT_LINK_DOWN, .link = 1});
    assert_int_equal(play.coordinator.phase, COORDINATOR_ROUND);
    step(&play, (struct event){.kind = EVENT_LINK_DOWN, .link = 2});
    assert_int_equal(play.coordinator.phase, COORDINATOR_VIEWING);
    journaled(&play);
    assert_int_equal(play.key.attempt, 1);
    assert_int_equal(play.key.step, 0);
    assert_int_equal(play.coordinator.code.slots, 1);
    close_play(&play);
}

static void test_nan_row_is_poison(void **state)
{
    struct play play;

    (void)state;
    open_play(&play, "cyclic", 3, 1);
    answer_row(&play, 0, NAN);
    assert_int_equal(play.coordinator.stats.poison, 1);
    assert_int_equal(play.coordinator.slots_in, 0);
    answer_row(&play, 0, 1);
    assert_int_equal(play.coordinator.slots_in, 1);
    close_play(&play);
}

/* INV-7: an approximate step is durable before the next round. */
static void test_approximate_steps_wait_for_the_disk(void **state)
{
    struct play play;

    (void)state;
    open_play(&play, "ignore", 3, 1);
    answer(&play, 0, 0, play.key, 1);
    answer(&play, 2, 2, play.key, 1);
    assert_int_equal(play.coordinator.phase, COORDINATOR_COMMITTING);
    assert_true(stage_find_action(&play.actions, ACTION_JOURNAL)->sync);
    assert_int_equal(stage_count_msg(&play.actions, MSG_ROUND), 0);
    assert_int_equal(stage_count_msg(&play.actions, MSG_CANCEL), 1);
    journaled(&play);
    assert_int_equal(stage_count_msg(&play.actions, MSG_ROUND), 3);
    assert_int_equal(play.coordinator.stats.exactness[EXACT_APPROX], 1);
    close_play(&play);
}

/* P6, --sync: receipt and model are durable before the next round, so that a
 * restart computes nothing again; a disk that fails does not stop it. */
static void test_every_step_is_saved(void **state)
{
    struct play play;

    (void)state;
    open_play(&play, "uncoded", 2, 0);
    play.coordinator.trainer.ledger.options.sync = true;
    for (uint32_t at = 1; at <= 2; at++) {
        answer(&play, 0, 0, play.coordinator.key, 1);
        answer(&play, 1, 1, play.coordinator.key, 1);
        assert_true(stage_find_action(&play.actions, ACTION_JOURNAL)->sync);
        journaled(&play);
        assert_int_equal(stage_count_msg(&play.actions, MSG_ROUND), 0);
        assert_int_equal(
            stage_find_action(&play.actions, ACTION_CHECKPOINT)->step, at);
        step(&play, (struct event){.kind = EVENT_CHECKPOINTED,
                                   .step = at,
                                   .err = at == 1 ? ERR_OK : ERR_IO});
        assert_int_equal(stage_count_msg(&play.actions, MSG_ROUND), 2);
    }
    assert_int_equal(play.coordinator.stats.alarms, 1);
    close_play(&play);
}

static void test_stop_saves_and_ends(void **state)
{
    struct play play;

    (void)state;
    open_play(&play, "uncoded", 1, 0);
    step(&play, (struct event){.kind = EVENT_STOP});
    answer(&play, 0, 0, play.key, 1);
    journaled(&play);
    assert_int_equal(stage_count(&play.actions, ACTION_CHECKPOINT), 1);
    step(&play, (struct event){.kind = EVENT_CHECKPOINTED, .step = 1});
    assert_int_equal(stage_count_msg(&play.actions, MSG_BYE), 1);
    assert_int_equal(stage_find_action(&play.actions, ACTION_FINISH)->err,
                     ERR_CANCELLED);
    close_play(&play);
}

/* Both are well, and one never answers: what was made before is saved. */
static void test_a_stop_gives_up_a_step_that_stands(void **state)
{
    struct msg beat = {.kind = MSG_BEAT};
    const struct action *finish;
    struct play play;

    (void)state;
    open_play(&play, "uncoded", 2, 0);
    answer(&play, 0, 0, play.key, 1);
    answer(&play, 1, 1, play.key, 1);
    assert_int_equal(play.coordinator.trainer.optim.step, 1);
    journaled(&play);
    answer(&play, 0, 0, play.key, 1);
    step(&play, (struct event){.kind = EVENT_STOP});
    while (play.coordinator.phase == COORDINATOR_ROUND) {
        play.now += 50 * MS_US;
        assert_true(play.now <= COORDINATOR_PATIENCE_US);
        for (uint32_t link = 0; link < 2; link++) {
            beat.beat.sequence++;
            say(&play, link, &beat);
        }
    }
    journaled(&play);
    assert_int_equal(stage_find_action(&play.actions, ACTION_CHECKPOINT)->step,
                     1);
    step(&play, (struct event){.kind = EVENT_CHECKPOINTED, .step = 1});
    finish = stage_find_action(&play.actions, ACTION_FINISH);
    assert_int_equal(finish->err, ERR_CANCELLED);
    assert_string_equal(finish->reason, "stopped; the state is saved");
    close_play(&play);
}

/* Up to the end of a job of one step. */
static void open_short(struct play *play, bool passing)
{
    struct coordinator_options options = stage_options("uncoded", 1, 0, 1);

    options.passing = passing;
    open_options(play, &options);
    answer(play, 0, 0, play->key, 1);
}

static void test_the_last_state_is_saved(void **state)
{
    struct play play;

    (void)state;
    open_short(&play, false);
    assert_true(stage_find_action(&play.actions, ACTION_JOURNAL)->sync);
    journaled(&play);
    assert_int_equal(stage_count(&play.actions, ACTION_CHECKPOINT), 1);
    assert_int_equal(stage_count(&play.actions, ACTION_FINISH), 0);
    step(&play, (struct event){.kind = EVENT_CHECKPOINTED, .step = 1});
    assert_int_equal(stage_count(&play.actions, ACTION_FINISH), 1);
    close_play(&play);
}

/* Nothing is on disk of what is over then: its result is handed over before
 * workers are told to go. */
static void test_passing_ends_unsaved(void **state)
{
    struct play play;
    const struct action *journal;

    (void)state;
    open_short(&play, true);
    /* The result goes first: for the receipt nobody waits. */
    journal = stage_find_action(&play.actions, ACTION_JOURNAL);
    assert_false(journal->sync);
    assert_int_equal(stage_count(&play.actions, ACTION_FINISH), 1);
    assert_true(stage_find_action(&play.actions, ACTION_FINISH) < journal);
    assert_int_equal(stage_count(&play.actions, ACTION_CHECKPOINT), 0);
    assert_int_equal(stage_find_action(&play.actions, ACTION_FINISH)->err,
                     ERR_OK);
    for (uint32_t i = 0; i < play.actions.count; i++) {
        const struct action *const action = &play.actions.list[i];

        if (action->kind == ACTION_FINISH)
            break;
        assert_false(action->kind == ACTION_SEND &&
                     action->msg.kind == MSG_BYE);
    }
    assert_int_equal(stage_count_msg(&play.actions, MSG_BYE), 1);
    close_play(&play);
}

/* Who is stopped goes on from here one day, passing or not. */
static void test_passing_stopped_is_saved(void **state)
{
    struct coordinator_options options = stage_options("uncoded", 1, 0, 3);
    struct play play;

    (void)state;
    options.passing = true;
    open_options(&play, &options);
    step(&play, (struct event){.kind = EVENT_STOP});
    answer(&play, 0, 0, play.key, 1);
    journaled(&play);
    assert_int_equal(stage_count(&play.actions, ACTION_CHECKPOINT), 1);
    close_play(&play);
}

/* No checkpoint without a journal (STORE-2), and no word of one. */
static void test_stopped_on_a_broken_disk(void **state)
{
    struct play play;

    (void)state;
    open_play(&play, "uncoded", 1, 0);
    answer(&play, 0, 0, play.key, 1);
    step(&play, (struct event){.kind = EVENT_JOURNALED, .err = ERR_IO});
    step(&play, (struct event){.kind = EVENT_STOP});
    answer(&play, 0, 0, play.coordinator.key, 1);
    assert_int_equal(stage_count(&play.actions, ACTION_CHECKPOINT), 0);
    assert_string_equal(stage_find_action(&play.actions, ACTION_FINISH)->reason,
                        "stopped at step 2; the disk failed, and the state is "
                        "saved as of step 0 only");
    close_play(&play);
}

/* INV-6 */
static void test_replaced_coordinator_stops(void **state)
{
    struct msg msg = {.kind = MSG_HELLO};
    struct play play;

    (void)state;
    open_play(&play, "uncoded", 2, 0);
    msg.hello.version = MSG_VERSION;
    msg.hello.view_seen = UINT64_MAX;
    memcpy(msg.hello.name, "late", 5);
    say(&play, 3, &msg); /* Of no job: it has obeyed nobody. */
    assert_int_equal(play.coordinator.phase, COORDINATOR_ROUND);
    msg.hello.job = play.coordinator.options.job.id;
    say(&play, 3, &msg);
    assert_int_equal(play.coordinator.phase, COORDINATOR_FAILED);
    assert_int_equal(stage_count_msg(&play.actions, MSG_BYE), 0);
    close_play(&play);
}

static void test_other_arithmetic_is_refused(void **state)
{
    struct msg msg = {.kind = MSG_HELLO};
    struct play play;

    (void)state;
    open_play(&play, "uncoded", 2, 0);
    msg.hello.version = MSG_VERSION;
    msg.hello.arithmetic.bytes[0] = 1;
    memcpy(msg.hello.name, "odd", 4);
    say(&play, 3, &msg);
    assert_int_equal(stage_count_msg(&play.actions, MSG_REJECT), 1);
    assert_int_equal(play.coordinator.alive, 2);
    close_play(&play);
}

/* The gradient of every coded span is 100 in its first coordinate. */
static void answer_coded(struct play *play, uint32_t link)
{
    const struct code *code = &play->coordinator.code;
    double row[9] = {0};
    struct msg msg = {.kind = MSG_ROW};

    for (uint32_t id = code->plain_count; id < code->piece_count; id++)
        row[0] += 100 * code_coefficient(code, link, id);
    msg.row = (struct msg_row){.key = play->key, .dims = 8, .row = row};
    say(play, link, &msg);
}

/* Private pieces come as tallies, coded ones as rows; the sum is of both. */
static void test_private_and_coded(void **state)
{
    struct play play;
    uint32_t spans;

    (void)state;
    open_play(&play, "partial-cyclic", 3, 1);
    spans =
        play.coordinator.code.piece_count - play.coordinator.code.plain_count;
    answer(&play, 0, 0, play.key, 10);
    answer_coded(&play, 0);
    answer_coded(&play, 0); /* Said twice. */
    assert_int_equal(play.coordinator.stats.duplicates, 1);
    answer_coded(&play, 1);
    answer(&play, 1, 1, play.key, 10);
    assert_int_equal(play.coordinator.trainer.optim.step, 0);
    answer(&play, 2, 2, play.key, 10);
    assert_int_equal(play.coordinator.trainer.optim.step, 1);
    assert_int_equal(play.coordinator.stats.exactness[EXACT_NUMERIC], 1);
    assert_true(fabs(trainer_weights(&play.coordinator.trainer)[0] +
                     (30 + 100 * spans) * 0.5 / 24) < 1e-12);
    close_play(&play);
}

/* A dead worker's private piece goes to another; the coded ones can do without
 * it, so the round goes on. */
static void test_private_piece_is_hedged(void **state)
{
    struct play play;

    (void)state;
    open_play(&play, "partial-cyclic", 3, 1);
    answer_coded(&play, 0);
    answer_coded(&play, 1);
    step(&play, (struct event){.kind = EVENT_LINK_DOWN, .link = 2});
    assert_int_equal(stage_count_trace(&play.actions, TRACE_HEDGED), 1);
    assert_int_equal(stage_find(&play.actions, MSG_WORK)->work.items[0].id, 2);
    assert_true(
        stage_find(&play.actions, MSG_WORK)->work.items[0].coefficient == 0);
    assert_int_equal(play.coordinator.stats.redone, 0);
    answer(&play, 0, 0, play.key, 10);
    answer(&play, 1, 1, play.key, 10);
    answer(&play, 0, 2, play.key, 10);
    assert_int_equal(play.coordinator.trainer.optim.step, 1);
    assert_int_equal(play.coordinator.stats.exactness[EXACT_NUMERIC], 1);
    close_play(&play);
}

static void open_deadline(struct play *play)
{
    struct coordinator_options options = stage_options("rep", 4, 1, 3);

    options.code.stop = STOP_DEADLINE;
    options.code.deadline_s = 0.2;
    options.code.estimate = ESTIMATE_RATIO;
    open_options(play, &options);
}

/* Time comes as an event, and not before it was asked for. */
static void pass(struct play *play, time_us to)
{
    while (play->now < to) {
        const time_us at = stage_find_action(&play->actions, ACTION_TIMER)->at;

        play->now = at < to ? at : to;
        step(play, (struct event){.kind = EVENT_TIME});
    }
}

static void test_deadline_ends_the_step(void **state)
{
    struct play play;

    (void)state;
    open_deadline(&play);
    answer(&play, 0, 0, play.key, 100);
    pass(&play, 199 * MS_US);
    assert_int_equal(play.coordinator.trainer.optim.step, 0);
    assert_int_equal(stage_find_action(&play.actions, ACTION_TIMER)->at,
                     200 * MS_US);
    pass(&play, 200 * MS_US);
    assert_int_equal(play.coordinator.trainer.optim.step, 1);
    assert_int_equal(play.coordinator.stats.exactness[EXACT_APPROX], 1);
    /* Half of the rows stand for all of them. */
    assert_true(trainer_weights(&play.coordinator.trainer)[0] ==
                -200 * 0.5 / 32);
    close_play(&play);
}

/* An update of nothing is no step: then the first answer ends it. */
static void test_deadline_waits_for_something(void **state)
{
    struct play play;

    (void)state;
    open_deadline(&play);
    pass(&play, 100 * MS_US);
    for (uint32_t link = 0; link < 4; link++)
        beat(&play, link);
    pass(&play, 250 * MS_US);
    assert_int_equal(play.coordinator.trainer.optim.step, 0);
    answer(&play, 3, 1, play.key, 100);
    assert_int_equal(play.coordinator.trainer.optim.step, 1);
    close_play(&play);
}

/* All in before the deadline: no reason to wait, and nothing is missing. */
static void test_deadline_is_not_waited_for(void **state)
{
    struct play play;

    (void)state;
    open_deadline(&play);
    answer(&play, 0, 0, play.key, 100);
    answer(&play, 3, 1, play.key, 0);
    assert_int_equal(play.coordinator.trainer.optim.step, 1);
    assert_int_equal(play.coordinator.stats.exactness[EXACT_BITWISE], 1);
    close_play(&play);
}

/* Is the first record that is to be journaled one that holds `hash`? */
static bool journals(const struct play *play, const struct digest *hash)
{
    const struct action *action = play->actions.list;
    bool found = false;

    assert_true(stage_count(&play->actions, ACTION_JOURNAL) > 0);
    while (action->kind != ACTION_JOURNAL)
        action++;
    if (action->size != RECORD_BYTES)
        return false;
    for (size_t i = 0; i + DIGEST_BYTES <= RECORD_BYTES; i++)
        found |= memcmp(action->bytes + i, hash->bytes, DIGEST_BYTES) == 0;
    return found;
}

/* INV-5: workers are sent the next round, then the receipt is written. */
static void test_a_receipt_comes_after_the_round(void **state)
{
    struct coordinator_options options = stage_options("uncoded", 2, 0, 3);
    uint32_t round = 0, receipt = 0;
    struct digest hash;
    struct play play;

    (void)state;
    open_options(&play, &options);
    answer(&play, 0, 0, play.key, 1);
    answer(&play, 1, 1, play.key, 1);
    assert_int_equal(stage_count_msg(&play.actions, MSG_ROUND), 2);
    assert_int_equal(stage_count(&play.actions, ACTION_JOURNAL), 1);
    for (uint32_t i = 0; i < play.actions.count; i++) {
        const struct action *action = &play.actions.list[i];

        if (action->kind == ACTION_SEND && action->msg.kind == MSG_ROUND)
            round = i;
        if (action->kind == ACTION_JOURNAL)
            receipt = i;
    }
    assert_true(receipt > round);
    hash = trainer_hash(&play.coordinator.trainer);
    assert_true(journals(&play, &hash));
    close_play(&play);
}

/* STORE-2: the model is taken when its step ends, and saved when its receipt,
 * which comes after the next round, is durable; never if it is not. */
static void test_a_checkpoint_waits_for_its_receipt(void **state)
{
    struct coordinator_options options = stage_options("uncoded", 2, 0, 3);
    const struct action *saved;
    struct checkpoint read;
    struct digest hash;
    struct play play;
    uint8_t *file;
    size_t size;

    (void)state;
    options.ledger.checkpoint_steps = 1;
    for (int broken = 0; broken < 2; broken++) {
        open_options(&play, &options);
        answer(&play, 0, 0, play.key, 1);
        answer(&play, 1, 1, play.key, 1);
        hash = trainer_hash(&play.coordinator.trainer);
        assert_int_equal(stage_count_msg(&play.actions, MSG_ROUND), 2);
        assert_true(journals(&play, &hash));
        assert_true(stage_find_action(&play.actions, ACTION_JOURNAL)->sync);
        assert_int_equal(stage_count(&play.actions, ACTION_CHECKPOINT), 0);
        step(&play, (struct event){.kind = EVENT_JOURNALED,
                                   .err = broken ? ERR_IO : ERR_OK});
        saved = stage_find_action(&play.actions, ACTION_CHECKPOINT);
        assert_true((saved == NULL) == (broken != 0));
        assert_true(play.coordinator.trainer.ledger.checkpoint_busy !=
                    (broken != 0));
        if (saved != NULL) {
            file = stage_sealed(saved, &size);
            assert_int_equal(checkpoint_decode(file, size, &read), ERR_OK);
            assert_int_equal(read.step, 1);
            assert_true(digest_equal(&read.weights, &hash));
            mem_free(file);
        }
        close_play(&play);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_view_before_round),
        cmocka_unit_test(test_weights_travel_as_the_job_says),
        cmocka_unit_test(test_step_commits_when_covered),
        cmocka_unit_test(test_duplicates_are_dropped),
        cmocka_unit_test(test_stale_keys_are_dropped),
        cmocka_unit_test(test_out_of_bound_is_poison),
        cmocka_unit_test(test_death_is_hedged_at_once),
        cmocka_unit_test(test_silence_is_suspected_then_dead),
        cmocka_unit_test(test_joiner_takes_the_empty_slot),
        cmocka_unit_test(test_spares_make_the_code_grow),
        cmocka_unit_test(test_no_more_than_may_be),
        cmocka_unit_test(test_idle_worker_steals),
        cmocka_unit_test(test_stolen_piece_of_a_dead_thief),
        cmocka_unit_test(test_coded_round_begins_anew),
        cmocka_unit_test(test_nan_row_is_poison),
        cmocka_unit_test(test_approximate_steps_wait_for_the_disk),
        cmocka_unit_test(test_every_step_is_saved),
        cmocka_unit_test(test_stop_saves_and_ends),
        cmocka_unit_test(test_a_stop_gives_up_a_step_that_stands),
        cmocka_unit_test(test_the_last_state_is_saved),
        cmocka_unit_test(test_passing_ends_unsaved),
        cmocka_unit_test(test_passing_stopped_is_saved),
        cmocka_unit_test(test_stopped_on_a_broken_disk),
        cmocka_unit_test(test_replaced_coordinator_stops),
        cmocka_unit_test(test_other_arithmetic_is_refused),
        cmocka_unit_test(test_private_and_coded),
        cmocka_unit_test(test_private_piece_is_hedged),
        cmocka_unit_test(test_deadline_ends_the_step),
        cmocka_unit_test(test_deadline_waits_for_something),
        cmocka_unit_test(test_deadline_is_not_waited_for),
        cmocka_unit_test(test_a_receipt_comes_after_the_round),
        cmocka_unit_test(test_a_checkpoint_waits_for_its_receipt),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

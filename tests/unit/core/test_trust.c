/*
 * Poison, kind by kind (P9, T11): it is dropped and counted under its own
 * name, the third strike shuts the worker out under whatever session it comes
 * back, and what is only late is no strike.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/star/coordinator_parts.h"
#include "math/exact/follow.h"
#include "play.h"

#define DIMS 8u

static void open_code(struct play *play, const char *code, uint32_t n,
                      uint32_t s)
{
    const struct coordinator_options options = stage_options(code, n, s, 3);

    play_open(play, &options);
}

/* Say it three times: counted each time, quarantined and named at the last,
 * nothing merged, and the round ends with the honest one's answers alone. */
static void three_times(struct play *play, const struct msg *msg,
                        enum poison_kind kind)
{
    const struct coordinator_stats *stats = &play->coordinator.stats;

    for (uint32_t i = 1; i <= STRIKES_MAX; i++) {
        play_say(play, 0, msg);
        assert_int_equal(stats->poison_by[kind], i);
        assert_int_equal(stats->poison, i);
        assert_true(play_struck(play, kind, "w0"));
        assert_int_equal(play->coordinator.pieces_in, 0);
        assert_int_equal(stats->banned, i == STRIKES_MAX);
    }
    assert_int_equal(stage_count_trace(&play->actions, TRACE_BANNED), 1);
    assert_string_equal(stats->banned_name[0], "w0");
    assert_int_equal(stats->banned_for[0], kind);
    assert_int_equal(stage_count_msg(&play->actions, MSG_REJECT), 1);
    assert_int_equal(stage_count(&play->actions, ACTION_CLOSE), 1);
    assert_int_equal(play->coordinator.members[0].state, MEMBER_NONE);
    play_hello(play, 3, "w0", 99); /* Another life, another session. */
    assert_int_equal(stage_count_msg(&play->actions, MSG_REJECT), 1);
    play_answer(play, 1, 0, 4);
    play_answer(play, 1, 1, 4);
    assert_int_equal(play->coordinator.trainer.optim.step, 1);
    assert_true(trainer_weights(&play->coordinator.trainer)[0] ==
                -0.5 * 8 / 16);
    play_close(play);
}

static void test_out_of_bound(void **state)
{
    static const int64_t values[] = {INT64_MIN, INT64_MAX, INT64_C(1) << 62,
                                     -(INT64_C(1) << 62)};

    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        int64_t sum[DIMS] = {0};
        struct play play;
        struct msg msg;

        open_code(&play, "uncoded", 2, 0);
        sum[7] = values[i];
        msg = play_tally(&play, 0, sum);
        three_times(&play, &msg, POISON_BOUND);
    }
}

/* A loss no data can have would send line searches astray. */
static void test_loss_out_of_bound(void **state)
{
    const int64_t sum[DIMS] = {0};
    struct play play;
    struct msg msg;

    (void)state;
    open_code(&play, "uncoded", 2, 0);
    msg = play_tally(&play, 0, sum);
    msg.tally.loss = (tally_loss)1 << 126;
    three_times(&play, &msg, POISON_BOUND);
}

/* The largest sums the bound allows are no poison. */
static void test_within_bound_is_taken(void **state)
{
    struct play play;

    (void)state;
    open_code(&play, "uncoded", 2, 0);
    play_answer(&play, 0, 0, (INT64_C(1) << 62) - 1);
    assert_int_equal(play.coordinator.stats.poison, 0);
    assert_int_equal(play.coordinator.pieces_in, 1);
    play_close(&play);
}

/* Two that are each in bound and together are not: somebody lied, nobody knows
 * who, and none of it reaches the model. */
static void test_together_out_of_bound(void **state)
{
    struct play play;

    (void)state;
    open_code(&play, "uncoded", 2, 0);
    play_answer(&play, 0, 0, (INT64_C(1) << 62) - 1);
    play_answer(&play, 1, 1, 1);
    assert_int_equal(play.coordinator.phase, COORDINATOR_FAILED);
    assert_int_equal(play.coordinator.trainer.optim.step, 0);
    assert_true(trainer_weights(&play.coordinator.trainer)[0] == 0);
    play_close(&play);
}

static void test_wrong_size(void **state)
{
    const int64_t sum[2 * DIMS] = {1};
    struct play play;
    struct msg msg;

    (void)state;
    for (int wrong = 0; wrong < 5; wrong++) {
        open_code(&play, "uncoded", 2, 0);
        msg = play_tally(&play, 0, sum);
        msg.tally.dims = wrong == 0 ? DIMS - 1 : wrong == 1 ? 2 * DIMS : DIMS;
        msg.tally.piece = wrong == 2 ? 2 : 0;
        msg.tally.first += wrong == 3;
        msg.tally.end += wrong == 4;
        three_times(&play, &msg, POISON_SHAPE);
    }
}

/* TALLY-3: a key nobody was ever sent. */
static void test_key_that_never_was(void **state)
{
    const int64_t sum[DIMS] = {1};
    struct play play;
    struct msg msg;

    (void)state;
    for (int field = 0; field < 7; field++) {
        open_code(&play, "uncoded", 2, 0);
        msg = play_tally(&play, 0, sum);
        msg.tally.key.job += field == 0;
        msg.tally.key.view += field == 1;
        msg.tally.key.step += field == 2;
        msg.tally.key.round += field == 3;
        msg.tally.key.attempt += field == 4;
        msg.tally.key.scale += field == 5;
        msg.tally.key.weights += field == 6;
        three_times(&play, &msg, POISON_KEY);
    }
}

/* An answer that was overtaken is late, however often it comes. */
static void test_late_is_no_strike(void **state)
{
    const int64_t sum[DIMS] = {1};
    struct play play;
    struct msg late;

    (void)state;
    open_code(&play, "uncoded", 2, 0);
    late = play_tally(&play, 0, sum);
    play_answer(&play, 0, 0, 1);
    play_answer(&play, 1, 1, 1);
    assert_int_equal(play.coordinator.trainer.optim.step, 1);
    for (uint32_t i = 1; i <= 10; i++) {
        play_say(&play, 0, &late);
        assert_int_equal(play.coordinator.stats.stale, i);
    }
    assert_int_equal(play.coordinator.stats.poison, 0);
    assert_int_equal(play.coordinator.members[0].state, MEMBER_ACTIVE);
    play_close(&play);
}

/* --sync: the step was done again, its receipt is being written, and what comes
 * late is of the attempt that counted. */
static void test_late_after_a_redone_step_is_no_strike(void **state)
{
    const int64_t sum[DIMS] = {1};
    struct play play;
    struct msg late;

    (void)state;
    open_code(&play, "uncoded", 2, 0);
    play.coordinator.trainer.ledger.options.sync = true;
    play.coordinator.key.attempt = 1; /* As round_again leaves it. */
    play.coordinator.opened.attempt = 1;
    play.key.attempt = 1;
    late = play_tally(&play, 0, sum);
    play_answer(&play, 0, 0, 1);
    play_answer(&play, 1, 1, 1);
    assert_int_equal(play.coordinator.phase, COORDINATOR_COMMITTING);
    play_say(&play, 0, &late);
    assert_int_equal(play.coordinator.stats.stale, 1);
    assert_int_equal(play.coordinator.stats.poison, 0);
    play_close(&play);
}

static void answer_both(struct play *play, struct msg *msg)
{
    for (uint32_t piece = 0; piece < 2; piece++) {
        msg->tally.piece = piece;
        msg->tally.first = play->coordinator.code.pieces[piece].first;
        msg->tally.end = play->coordinator.code.pieces[piece].end;
        play_say(play, piece, msg);
    }
}

/* The same of a user's function: sums far below their scale have the round done
 * again. */
static void test_late_in_a_followed_round_is_no_strike(void **state)
{
    struct coordinator_options options = stage_options("uncoded", 2, 0, 3);
    const uint32_t dims = follow_dims(DIMS);
    int64_t sum[2][2 * DIMS + 1];
    struct follow follow;
    struct msg late[2];
    struct play play;

    (void)state;
    assert_in_range(dims, DIMS + 1, 2 * DIMS + 1);
    assert_int_equal(follow_init(&follow, DIMS, options.job.chunks), ERR_OK);
    options.scale = &follow.scale;
    options.job.dims = options.job.sum_dims = dims;
    options.ledger.sync = true;
    play_open(&play, &options);
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t j = 0; j < dims; j++)
            sum[round][j] = INT64_C(1) << (round == 0 ? 0 : 46);
        late[round] = play_tally(&play, 0, sum[round]);
        late[round].tally.dims = dims;
        answer_both(&play, &late[round]);
        assert_int_equal(play.coordinator.stats.redone, 1);
    }
    assert_int_equal(play.coordinator.phase, COORDINATOR_COMMITTING);
    play_say(&play, 0, &late[0]);
    play_say(&play, 0, &late[1]);
    assert_int_equal(play.coordinator.stats.stale, 2);
    assert_int_equal(play.coordinator.stats.poison, 0);
    play_close(&play);
    follow_close(&follow);
}

static void play_beat(struct play *play, uint32_t link)
{
    const struct msg msg = {.kind = MSG_BEAT};

    play_say(play, link, &msg);
}

static bool work_given(const struct play *play, uint32_t piece, uint32_t link)
{
    const struct piece_state *state = &play->coordinator.pieces[piece];

    for (uint32_t i = 0; i < state->assignee_count; i++) {
        if (state->assignee[i] == link)
            return true;
    }
    return false;
}

static void refuse(struct play *play, uint32_t link, uint32_t piece)
{
    struct msg msg = {.kind = MSG_REFUSE};

    msg.refuse.key = play->key;
    msg.refuse.piece = piece;
    play_say(play, link, &msg);
}

/* However often it says so, and of however many pieces: one worker cannot end
 * the job.  What it alone refuses others compute, and it is struck. */
static void test_one_refuser_is_struck(void **state)
{
    struct play play;

    (void)state;
    open_code(&play, "steal", 4, 1);
    for (uint32_t strikes = 1; strikes <= STRIKES_MAX; strikes++) {
        for (int again = 0; again < 5; again++) {
            for (uint32_t id = 0; id < play.coordinator.code.piece_count; id++)
                refuse(&play, 0, id);
        }
        assert_int_equal(play.coordinator.phase, COORDINATOR_ROUND);
        for (uint32_t id = 0; id < play.coordinator.code.piece_count; id++)
            assert_false(work_given(&play, id, 0));
        for (uint32_t id = 0; play.coordinator.trainer.optim.step < strikes;
             id++)
            play_answer(&play, 1 + id % 3, id, 4);
        if (play.coordinator.stats.banned > 0)
            break;
        play_step(&play, (struct event){.kind = EVENT_JOURNALED});
    }
    assert_int_equal(play.coordinator.stats.banned, 1);
    assert_string_equal(play.coordinator.stats.banned_name[0], "w0");
    assert_int_equal(play.coordinator.stats.banned_for[0], POISON_REFUSAL);
    play_close(&play);
}

/* Found by seed 2738 with a refuser: asked again for the rest of its row, it
 * sent a row without the piece it had refused, and that was decoded. */
static void test_who_refuses_a_piece_refuses_the_row(void **state)
{
    struct play play;

    (void)state;
    open_code(&play, "cyclic", 4, 1);
    for (uint32_t id = 0; id < play.coordinator.code.piece_count; id++) {
        if (work_given(&play, id, 1)) {
            refuse(&play, 1, id);
            break;
        }
    }
    assert_int_equal(play.coordinator.phase, COORDINATOR_ROUND);
    for (uint32_t id = 0; id < play.coordinator.code.piece_count; id++)
        assert_false(work_given(&play, id, 1));
    play_close(&play);
}

/* All who are there are believed, and only they. */
static void test_refusals_of_all_end_the_job(void **state)
{
    struct play play;

    (void)state;
    open_code(&play, "steal", 4, 1);
    refuse(&play, 0, 0);
    refuse(&play, 1, 0);
    refuse(&play, 1, 1);
    refuse(&play, 2, 1);
    refuse(&play, 3, 0);
    assert_int_equal(play.coordinator.phase, COORDINATOR_ROUND);
    refuse(&play, 2, 0);
    assert_int_equal(play.coordinator.phase, COORDINATOR_FAILED);
    assert_int_equal(play.coordinator.stats.poison, 0);
    play_close(&play);
    open_code(&play, "uncoded", 1, 0);
    refuse(&play, 0, 0);
    assert_int_equal(play.coordinator.phase, COORDINATOR_FAILED);
    play_close(&play);
    /* The last who could have said otherwise goes. */
    open_code(&play, "uncoded", 2, 0);
    refuse(&play, 0, 0);
    assert_int_equal(play.coordinator.phase, COORDINATOR_ROUND);
    play_step(&play, (struct event){.kind = EVENT_LINK_DOWN, .link = 1});
    assert_int_equal(play.coordinator.phase, COORDINATOR_FAILED);
    play_close(&play);
}

/* The other workers' pieces and what was refused, by w3 and w4 in turn. */
static void answer_by_honest(struct play *play)
{
    for (uint32_t id = 0; play->coordinator.trainer.optim.step == 0; id++) {
        assert_true(id < play->coordinator.code.piece_count);
        play_answer(play, 3 + id % 2, id, 4);
    }
}

/* Names cost nothing: three rogues that refuse everything against two that
 * compute it end no job, and each of them is struck. */
static void test_rogue_names_do_not_end_the_job(void **state)
{
    struct play play;

    (void)state;
    open_code(&play, "steal", 5, 1);
    for (uint32_t id = 0; id < play.coordinator.code.piece_count; id++) {
        for (uint32_t link = 0; link < 3; link++)
            refuse(&play, link, id);
    }
    assert_int_equal(play.coordinator.phase, COORDINATOR_ROUND);
    for (uint32_t id = 0; id < play.coordinator.code.piece_count; id++) {
        assert_true(work_given(&play, id, 3) || work_given(&play, id, 4));
        assert_false(work_given(&play, id, 0));
    }
    answer_by_honest(&play);
    assert_int_equal(play.coordinator.stats.poison_by[POISON_REFUSAL], 3);
    assert_int_equal(trust_strikes(&play.coordinator, "w2"), 1);
    assert_int_equal(trust_strikes(&play.coordinator, "w3"), 0);
    play_close(&play);
}

/* Who refuses and leaves is struck all the same, and under whatever session it
 * comes back it is not asked again. */
static void test_a_refuser_that_leaves(void **state)
{
    struct play play;

    (void)state;
    open_code(&play, "steal", 5, 1);
    refuse(&play, 0, 0);
    play_step(&play, (struct event){.kind = EVENT_LINK_DOWN, .link = 0});
    assert_int_equal(play.coordinator.phase, COORDINATOR_ROUND);
    answer_by_honest(&play);
    assert_int_equal(trust_strikes(&play.coordinator, "w0"), 1);
    play_close(&play);
}

/* Who comes while the last one computes is asked, too, before all is over. */
static void test_a_joiner_is_asked_what_others_refused(void **state)
{
    struct play play;

    (void)state;
    open_code(&play, "uncoded", 2, 0);
    refuse(&play, 0, 0);
    play_hello(&play, 2, "w2", 7);
    assert_true(member_here(&play.coordinator, 2));
    refuse(&play, 1, 0);
    assert_int_equal(play.coordinator.phase, COORDINATOR_ROUND);
    assert_true(work_given(&play, 0, 2));
    refuse(&play, 2, 0);
    assert_int_equal(play.coordinator.phase, COORDINATOR_FAILED);
    play_close(&play);
}

/* The first lives: the second is told, and the first goes on.  The first again,
 * on another connection, is the same; and who fell silent gives way. */
static void test_a_name_that_is_taken(void **state)
{
    struct play play;

    (void)state;
    open_code(&play, "uncoded", 2, 0);
    play_hello(&play, 3, "w0", 99);
    assert_int_equal(stage_count_msg(&play.actions, MSG_REJECT), 0);
    play.now += play.coordinator.options.job.dead_us;
    play_beat(&play, 0);
    play_beat(&play, 1);
    play_hello(&play, 3, "w0", 99); /* Said again. */
    assert_non_null(strstr(stage_find(&play.actions, MSG_REJECT)->reject.reason,
                           "of this name"));
    assert_int_equal(stage_count(&play.actions, ACTION_CLOSE), 0);
    assert_int_equal(play.coordinator.members[0].state, MEMBER_ACTIVE);
    assert_int_equal(play.coordinator.stats.died, 0);
    play_hello(&play, 3, "w0", 1);
    assert_int_equal(stage_count_msg(&play.actions, MSG_WELCOME), 1);
    assert_int_equal(play.coordinator.members[0].state, MEMBER_NONE);
    play_hello(&play, 4, "w0", 99);
    assert_int_equal(stage_count_msg(&play.actions, MSG_WELCOME), 0);
    play.now += play.coordinator.options.job.dead_us;
    play_hello(&play, 4, "w0", 99); /* Nothing was heard of the other. */
    assert_int_equal(stage_count_msg(&play.actions, MSG_WELCOME), 1);
    play_close(&play);
}

/* Silence that may end is no death: a stopped machine, or a busy one. */
static void test_a_suspect_keeps_its_name(void **state)
{
    struct play play;

    (void)state;
    open_code(&play, "uncoded", 2, 0);
    play.now += play.coordinator.options.suspect_us + MS_US;
    play_step(&play, (struct event){.kind = EVENT_TIME});
    assert_true(play.coordinator.members[0].suspect);
    play_hello(&play, 3, "w0", 99);
    assert_int_equal(stage_count_msg(&play.actions, MSG_WELCOME), 0);
    play_beat(&play, 0);
    play_beat(&play, 1);
    play.now += play.coordinator.options.job.dead_us;
    play_beat(&play, 0);
    play_hello(&play, 3, "w0", 99);
    assert_int_equal(stage_count_msg(&play.actions, MSG_REJECT), 1);
    assert_int_equal(play.coordinator.stats.died, 0);
    play_close(&play);
}

static void say_row(struct play *play, uint32_t link, double value,
                    uint32_t dims)
{
    double row[2 * DIMS + 1] = {0};
    struct msg msg = {.kind = MSG_ROW};

    row[3] = value;
    msg.row = (struct msg_row){.key = play->key, .dims = dims, .row = row};
    play_say(play, link, &msg);
}

static void test_rows_not_finite(void **state)
{
    const double values[] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
    struct play play;

    (void)state;
    open_code(&play, "cyclic", 4, 1);
    for (uint32_t i = 0; i < 3; i++) {
        say_row(&play, 0, values[i], DIMS);
        assert_int_equal(play.coordinator.stats.poison_by[POISON_FINITE],
                         i + 1);
        assert_int_equal(play.coordinator.slots_in, 0);
    }
    assert_int_equal(play.coordinator.stats.banned, 1);
    say_row(&play, 1, 1, DIMS - 1);
    assert_int_equal(play.coordinator.stats.poison_by[POISON_SHAPE], 1);
    /* -0 and denormals are numbers like others. */
    say_row(&play, 1, -0.0, DIMS);
    say_row(&play, 2, 0x1p-1070, DIMS);
    assert_int_equal(play.coordinator.slots_in, 2);
    assert_int_equal(play.coordinator.stats.poison, 4);
    play_close(&play);
}

/* Coefficients of w3 that the certificate has not seen: with its answer the sum
 * comes back to 1e-9 only. */
static void open_uncertain(struct play *play)
{
    struct code_table *table;

    open_code(play, "cyclic", 4, 1);
    table = &play->coordinator.code.table;
    for (uint32_t i = table->row[3]; i < table->row[4]; i++)
        table->value[i] *= 1 + 1e-9;
    play->coordinator.trainer.ledger.options.sync = true;
}

/* A step that is less exact than its code promises waits for one more answer,
 * begins anew with the living, or ends the job; it is never committed. */
static void test_no_step_is_worse_than_its_code(void **state)
{
    struct play play;

    (void)state;
    open_uncertain(&play);
    for (uint32_t link = 0; link < 3; link++)
        say_row(&play, link, 1, DIMS);
    assert_int_equal(play.coordinator.stats.exactness[EXACT_NUMERIC], 1);
    play_close(&play);
    open_uncertain(&play);
    for (uint32_t link = 1; link < 4; link++)
        say_row(&play, link, 1, DIMS);
    assert_int_equal(play.coordinator.phase, COORDINATOR_ROUND);
    play_step(&play, (struct event){.kind = EVENT_LINK_DOWN, .link = 0});
    assert_int_equal(play.coordinator.phase, COORDINATOR_VIEWING);
    assert_int_equal(play.coordinator.code.slots, 3);
    assert_int_equal(play.coordinator.stats.redone, 1);
    play_close(&play);
    open_uncertain(&play);
    for (uint32_t link = 0; link < 4; link++)
        say_row(&play, (link + 1) % 4, 1, DIMS);
    play_step(&play, (struct event){.kind = EVENT_JOURNALED});
    assert_int_equal(play.coordinator.phase, COORDINATOR_FAILED);
    assert_non_null(strstr(play.coordinator.reason, "less exactly than"));
    /* No number ran away, which is what series take ERR_RANGE for. */
    assert_int_equal(stage_find_action(&play.actions, ACTION_FINISH)->err,
                     ERR_UNDECODABLE);
    assert_int_equal(play.coordinator.trainer.optim.step, 0);
    play_close(&play);
}

/* It was cut off, came back, and what it had computed comes with it: the row of
 * a slot that is not its own any more is late, not broken. */
static void test_a_row_after_coming_back_is_no_strike(void **state)
{
    struct play play;

    (void)state;
    open_code(&play, "cyclic", 4, 1);
    play_step(&play, (struct event){.kind = EVENT_LINK_DOWN, .link = 0});
    play_hello(&play, 0, "w0", 1);
    say_row(&play, 0, 1, DIMS);
    assert_int_equal(play.coordinator.stats.stale, 1);
    assert_int_equal(play.coordinator.stats.poison, 0);
    assert_int_equal(play.coordinator.slots_in, 0);
    play_close(&play);
}

/* Strikes are the name's, not the session's. */
static void test_hanging_up_does_not_help(void **state)
{
    struct play play;

    (void)state;
    open_code(&play, "uncoded", 2, 0);
    for (uint32_t life = 0; life < STRIKES_MAX; life++) {
        play_answer(&play, 0, 0, INT64_MIN);
        play_step(&play, (struct event){.kind = EVENT_LINK_DOWN, .link = 0});
        play_hello(&play, 0, "w0", 100 + life);
    }
    assert_int_equal(play.coordinator.stats.banned, 1);
    assert_int_equal(stage_count_msg(&play.actions, MSG_REJECT), 1);
    assert_false(play.coordinator.members[0].state != MEMBER_NONE);
    play_close(&play);
}

/* The table forgets small sinners first, never a banned one. */
static void test_many_names(void **state)
{
    struct play play;
    char name[NAME_SIZE];

    (void)state;
    open_code(&play, "uncoded", 2, 0);
    for (int i = 0; i < 3; i++)
        play_answer(&play, 0, 0, INT64_MIN);
    for (uint32_t i = 0; i < 3 * OFFENDERS_MAX; i++) {
        (void)snprintf(name, sizeof name, "evil-%u", i);
        play_hello(&play, 3, name, 1000 + i);
        play_answer(&play, 3, 0, INT64_MIN);
    }
    play_hello(&play, 4, "w0", 7);
    assert_int_equal(stage_count_msg(&play.actions, MSG_REJECT), 1);
    assert_int_equal(play.coordinator.stats.poison, 3 + 3 * OFFENDERS_MAX);
    play_close(&play);
}

/* P10 at r = 1, said plainly: a lie within the bound is believed. */
static void test_lie_within_bound_is_not_seen(void **state)
{
    struct play play;

    (void)state;
    open_code(&play, "uncoded", 2, 0);
    play_answer(&play, 0, 0, 1000000); /* The truth would be 4. */
    play_answer(&play, 1, 1, 4);
    assert_int_equal(play.coordinator.trainer.optim.step, 1);
    assert_int_equal(play.coordinator.stats.poison, 0);
    assert_true(trainer_weights(&play.coordinator.trainer)[0] ==
                -0.5 * 1000004 / 16);
    play_close(&play);
}

/* A worker left over from another job, which has obeyed more views than this
 * job has had: it is sent away; once it made a fresh coordinator believe that
 * it had been replaced (INV-6), and give up. */
static void test_worker_of_another_job(void **state)
{
    struct msg msg = {.kind = MSG_HELLO};
    struct play play;

    (void)state;
    open_code(&play, "uncoded", 2, 0);
    msg.hello.version = MSG_VERSION;
    msg.hello.incarnation = 5;
    msg.hello.job = play.coordinator.options.job.id + 1;
    msg.hello.view_seen = 1000;
    (void)snprintf(msg.hello.name, NAME_SIZE, "stray");
    play_say(&play, 3, &msg);
    assert_int_equal(stage_count_msg(&play.actions, MSG_REJECT), 1);
    assert_non_null(strstr(stage_find(&play.actions, MSG_REJECT)->reject.reason,
                           "another job"));
    assert_int_equal(play.coordinator.phase, COORDINATOR_ROUND);
    play_close(&play);
}

static void test_words(void **state)
{
    (void)state;
    assert_string_equal(poison_name(POISON_LIE), "lie");
    for (int kind = 0; kind < POISON_KINDS; kind++) {
        assert_true(strlen(poison_name((enum poison_kind)kind)) > 0);
        assert_true(strlen(poison_text((enum poison_kind)kind)) > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_out_of_bound),
        cmocka_unit_test(test_loss_out_of_bound),
        cmocka_unit_test(test_within_bound_is_taken),
        cmocka_unit_test(test_together_out_of_bound),
        cmocka_unit_test(test_wrong_size),
        cmocka_unit_test(test_key_that_never_was),
        cmocka_unit_test(test_late_is_no_strike),
        cmocka_unit_test(test_late_after_a_redone_step_is_no_strike),
        cmocka_unit_test(test_late_in_a_followed_round_is_no_strike),
        cmocka_unit_test(test_one_refuser_is_struck),
        cmocka_unit_test(test_who_refuses_a_piece_refuses_the_row),
        cmocka_unit_test(test_refusals_of_all_end_the_job),
        cmocka_unit_test(test_rogue_names_do_not_end_the_job),
        cmocka_unit_test(test_a_refuser_that_leaves),
        cmocka_unit_test(test_a_joiner_is_asked_what_others_refused),
        cmocka_unit_test(test_a_name_that_is_taken),
        cmocka_unit_test(test_a_suspect_keeps_its_name),
        cmocka_unit_test(test_rows_not_finite),
        cmocka_unit_test(test_no_step_is_worse_than_its_code),
        cmocka_unit_test(test_a_row_after_coming_back_is_no_strike),
        cmocka_unit_test(test_hanging_up_does_not_help),
        cmocka_unit_test(test_many_names),
        cmocka_unit_test(test_lie_within_bound_is_not_seen),
        cmocka_unit_test(test_worker_of_another_job),
        cmocka_unit_test(test_words),
    };

    return cmocka_run_group_tests_name("trust", tests, NULL, NULL);
}

/*
 * The test plays the coordinator and the compute thread, one event at a time.
 * Each test is one rule of docs/protocol.md about workers.
 */
#include "core/worker/worker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "stage.h"

struct play {
    struct worker worker;
    struct actions actions;
    time_us now;
    double weights[8];
    int16_t exponent[9];
};

static void step(struct play *play, struct event event)
{
    event.now = play->now;
    worker_step(&play->worker, &event, &play->actions);
}

static void hear(struct play *play, const struct msg *msg)
{
    step(play, (struct event){.kind = EVENT_MESSAGE, .msg = msg});
}

static void welcome(struct play *play)
{
    struct msg msg = {.kind = MSG_WELCOME};

    msg.welcome = stage_job(8);
    hear(play, &msg);
}

static void open_play(struct play *play, bool resident)
{
    const struct worker_options options = {
        .name = "w0",
        .incarnation = 5,
        .resident = resident,
        .retry_us = 10 * MS_US,
        .retry_max_us = 100 * MS_US,
        .give_up_us = TIME_NEVER,
    };

    memset(play, 0, sizeof *play);
    assert_int_equal(actions_init(&play->actions, 4), ERR_OK);
    worker_init(&play->worker, &options);
    step(play, (struct event){.kind = EVENT_START});
    assert_int_equal(stage_count(&play->actions, ACTION_CONNECT), 1);
    step(play, (struct event){.kind = EVENT_LINK_UP});
    assert_int_equal(stage_count_msg(&play->actions, MSG_HELLO), 1);
    welcome(play);
    assert_int_equal(stage_count(&play->actions, ACTION_OPEN), 1);
    assert_int_equal(play->worker.phase, WORKER_SERVING);
}

static void close_play(struct play *play)
{
    worker_close(&play->worker);
    actions_close(&play->actions);
}

static struct round_key key_of(uint64_t view, uint32_t step_number)
{
    return (struct round_key){.job = 77, .view = view, .step = step_number};
}

static struct msg make_round(struct play *play, struct round_key key,
                             const struct item *items, uint32_t count)
{
    struct msg msg = {.kind = MSG_ROUND};

    msg.round = (struct msg_round){
        .key = key,
        .assignment = 1,
        .count = count,
        .items = items,
        .dims = 8,
        .exponent = play->exponent,
        .weights = play->weights,
    };
    return msg;
}

static const struct item two[] = {{0, 0, 2, 1}, {1, 2, 4, 1}};

static void give(struct play *play, struct round_key key, uint32_t count)
{
    const struct msg msg = make_round(play, key, two, count);

    hear(play, &msg);
}

static void computed(struct play *play, enum err err)
{
    step(play,
         (struct event){.kind = EVENT_COMPUTED, .err = err, .compute_us = 100});
}

static void test_pieces_in_order(void **state)
{
    struct play play;

    (void)state;
    open_play(&play, true);
    give(&play, key_of(1, 0), 2);
    assert_int_equal(
        stage_find_action(&play.actions, ACTION_COMPUTE)->computation.end, 2);
    computed(&play, ERR_OK);
    assert_int_equal(stage_find(&play.actions, MSG_TALLY)->tally.piece, 0);
    assert_int_equal(
        stage_find_action(&play.actions, ACTION_COMPUTE)->computation.end, 4);
    computed(&play, ERR_OK);
    assert_int_equal(stage_find(&play.actions, MSG_TALLY)->tally.piece, 1);
    assert_int_equal(stage_count(&play.actions, ACTION_COMPUTE), 0);
    close_play(&play);
}

/* The driver keeps the vectors, exponents too. */
static void give_kept(struct play *play, struct round_key key, uint32_t count)
{
    struct msg msg = make_round(play, key, two, count);

    msg.round.kept = 9;
    msg.round.kept_scale = true;
    hear(play, &msg);
}

static void coming(struct play *play, struct round_key key)
{
    step(play, (struct event){.kind = EVENT_COMING, .key = &key});
}

static void test_kept_vectors_are_not_copied(void **state)
{
    struct play play;
    const struct action *action;

    (void)state;
    open_play(&play, true);
    give_kept(&play, key_of(1, 0), 1);
    action = stage_find_action(&play.actions, ACTION_COMPUTE);
    assert_ptr_equal(action->computation.what.w, play.weights);
    assert_ptr_equal(action->computation.exponent, play.exponent);
    assert_int_equal(action->kept, 9);
    close_play(&play);
}

/* What is computed for a round that gives way is called off; the same round
 * that comes again lets it finish. */
static void test_a_round_gives_way(void **state)
{
    struct play play;

    (void)state;
    open_play(&play, true);
    give_kept(&play, key_of(1, 0), 2);
    coming(&play, key_of(1, 0));
    assert_int_equal(stage_count(&play.actions, ACTION_CANCEL), 0);
    coming(&play, key_of(1, 1));
    assert_int_equal(stage_count(&play.actions, ACTION_CANCEL), 1);
    computed(&play, ERR_CANCELLED);
    assert_int_equal(stage_count(&play.actions, ACTION_COMPUTE), 0);
    assert_int_equal(stage_count_msg(&play.actions, MSG_TALLY), 0);
    give_kept(&play, key_of(1, 1), 1);
    assert_int_equal(stage_count(&play.actions, ACTION_COMPUTE), 1);
    close_play(&play);
}

/* Nothing is computed: the vectors go at once, and the round with them. */
static void test_an_idle_round_gives_way(void **state)
{
    struct play play;
    const struct msg work = {
        .kind = MSG_WORK,
        .work = {.key = key_of(1, 0), .count = 1, .items = &two[1]}};

    (void)state;
    open_play(&play, true);
    give_kept(&play, key_of(1, 0), 1);
    computed(&play, ERR_OK);
    coming(&play, key_of(1, 0));
    hear(&play, &work);
    assert_int_equal(stage_count(&play.actions, ACTION_COMPUTE), 0);
    give_kept(&play, key_of(1, 0), 1);
    assert_int_equal(stage_count(&play.actions, ACTION_COMPUTE), 1);
    close_play(&play);
}

/* ROOM-1, seed 25518: the same round, sent again and again by a coordinator
 * that lost patience, took away the answer that was held on purpose; it was
 * computed anew each time, and never sent. */
static void test_a_held_answer_does_not_give_way(void **state)
{
    struct play play;
    struct msg msg;

    (void)state;
    open_play(&play, true);
    msg = make_round(&play, key_of(1, 0), two, 1);
    msg.round.kept = 9;
    msg.round.kept_scale = true;
    msg.round.delay_s = 0.5;
    hear(&play, &msg);
    computed(&play, ERR_OK);
    coming(&play, key_of(1, 0));
    assert_true(worker_stays(&play.worker));
    coming(&play, key_of(0, 9)); /* It will not be obeyed. */
    assert_true(worker_stays(&play.worker));
    play.now += 600 * MS_US;
    step(&play, (struct event){.kind = EVENT_TIME});
    assert_int_equal(stage_count_msg(&play.actions, MSG_TALLY), 1);
    assert_false(worker_stays(&play.worker));

    hear(&play, &msg);
    computed(&play, ERR_OK);
    coming(&play, key_of(1, 1)); /* Another one: it gives way at once. */
    assert_false(worker_stays(&play.worker));
    close_play(&play);
}

/* Seed 89918: the same round again, read in place, put off the question for
 * chunks that had been lost, each time it came. */
static void test_needs_are_told_although_the_round_comes_again(void **state)
{
    struct play play;
    uint32_t asked = 0;

    (void)state;
    open_play(&play, false);
    for (uint32_t i = 0; i < 4; i++) {
        coming(&play, key_of(1, 0));
        give_kept(&play, key_of(1, 0), 1);
        play.now += 150 * MS_US;
        step(&play, (struct event){.kind = EVENT_TIME});
        asked += stage_count_msg(&play.actions, MSG_NEED);
    }
    assert_int_equal(asked, 2);
    close_play(&play);
}

/* The last piece of one who leaves is finished, whatever comes. */
static void test_who_leaves_does_not_give_way(void **state)
{
    struct play play;

    (void)state;
    open_play(&play, true);
    give_kept(&play, key_of(1, 0), 1);
    step(&play, (struct event){.kind = EVENT_LEAVE});
    coming(&play, key_of(1, 1));
    assert_int_equal(stage_count(&play.actions, ACTION_CANCEL), 0);
    computed(&play, ERR_OK);
    assert_int_equal(stage_count_msg(&play.actions, MSG_TALLY), 1);
    close_play(&play);
}

/* ROOM-1, found by fuzzing: while the piece of an older round, called off, is
 * still being computed from elsewhere, the round that lies in the driver's
 * memory has nobody there; a message that is read into it, even one that is not
 * obeyed, takes the weights away. */
static void test_a_round_behind_a_called_off_one_gives_way(void **state)
{
    struct play play;

    (void)state;
    open_play(&play, true);
    give(&play, key_of(2, 0), 1);
    give_kept(&play, key_of(2, 1), 1);
    assert_int_equal(stage_count(&play.actions, ACTION_CANCEL), 1);
    coming(&play, key_of(1, 1));
    computed(&play, ERR_CANCELLED);
    assert_int_equal(stage_count(&play.actions, ACTION_COMPUTE), 0);
    close_play(&play);
}

/* WORK-1 */
static void test_lower_view_is_ignored(void **state)
{
    struct play play;

    (void)state;
    open_play(&play, true);
    give(&play, key_of(3, 0), 1);
    computed(&play, ERR_OK);
    give(&play, key_of(2, 9), 1);
    assert_int_equal(stage_count(&play.actions, ACTION_COMPUTE), 0);
    give(&play, key_of(3, 1), 1);
    assert_int_equal(stage_count(&play.actions, ACTION_COMPUTE), 1);
    close_play(&play);
}

static void cancel(struct play *play, struct round_key key)
{
    struct msg msg = {.kind = MSG_CANCEL};

    msg.cancel.key = key;
    hear(play, &msg);
}

/* WORK-2: CANCEL overtakes its ROUND on the other connection. */
static void test_cancel_may_come_first(void **state)
{
    struct play play;

    (void)state;
    open_play(&play, true);
    cancel(&play, key_of(1, 0));
    give(&play, key_of(1, 0), 1);
    assert_int_equal(stage_count(&play.actions, ACTION_COMPUTE), 0);
    give(&play, key_of(1, 1), 1);
    assert_int_equal(stage_count(&play.actions, ACTION_COMPUTE), 1);
    close_play(&play);
}

/* WORK-3: the next round waits for the buffers of the last. */
static void test_one_compute_at_a_time(void **state)
{
    const struct action *compute;
    const double *first;
    struct play play;

    (void)state;
    open_play(&play, true);
    give(&play, key_of(1, 0), 1);
    first =
        stage_find_action(&play.actions, ACTION_COMPUTE)->computation.what.w;
    cancel(&play, key_of(1, 0));
    assert_int_equal(stage_count(&play.actions, ACTION_CANCEL), 1);
    give(&play, key_of(1, 1), 1);
    give(&play, key_of(1, 2), 1);
    assert_int_equal(stage_count(&play.actions, ACTION_COMPUTE), 0);
    computed(&play, ERR_CANCELLED);
    assert_int_equal(stage_count_msg(&play.actions, MSG_TALLY), 0);
    compute = stage_find_action(&play.actions, ACTION_COMPUTE);
    assert_non_null(compute);
    assert_ptr_not_equal(compute->computation.what.w, first);
    computed(&play, ERR_OK);
    assert_int_equal(stage_find(&play.actions, MSG_TALLY)->tally.key.step, 2);
    close_play(&play);
}

static void test_delay_before_first_send(void **state)
{
    struct play play;
    struct msg msg;

    (void)state;
    open_play(&play, true);
    msg = make_round(&play, key_of(1, 0), two, 2);
    msg.round.delay_s = 0.5;
    hear(&play, &msg);
    computed(&play, ERR_OK);
    assert_int_equal(stage_count_msg(&play.actions, MSG_TALLY), 0);
    play.now += 499 * MS_US;
    step(&play, (struct event){.kind = EVENT_TIME});
    assert_int_equal(stage_count_msg(&play.actions, MSG_TALLY), 0);
    assert_int_equal(stage_count_msg(&play.actions, MSG_BEAT), 1);
    play.now += MS_US;
    step(&play, (struct event){.kind = EVENT_TIME});
    assert_int_equal(stage_count_msg(&play.actions, MSG_TALLY), 1);
    computed(&play, ERR_OK); /* Once per round. */
    assert_int_equal(stage_count_msg(&play.actions, MSG_TALLY), 1);
    close_play(&play);
}

/* Of 4 seconds a step, of all of the job's chunks. */
static void test_a_piece_takes_its_share_of_a_delay(void **state)
{
    struct play play;
    struct msg msg;

    (void)state;
    open_play(&play, true);
    msg = make_round(&play, key_of(1, 0), two, 2);
    msg.round.delay_share_s = 4;
    hear(&play, &msg);
    for (uint32_t i = 0; i < 2; i++) {
        computed(&play, ERR_OK);
        play.now += 4 * SECOND_US * 2 / play.worker.job.chunks - 1;
        step(&play, (struct event){.kind = EVENT_TIME});
        assert_int_equal(stage_count_msg(&play.actions, MSG_TALLY), 0);
        play.now++;
        step(&play, (struct event){.kind = EVENT_TIME});
        assert_int_equal(stage_count_msg(&play.actions, MSG_TALLY), 1);
    }
    close_play(&play);
}

static void test_dropped_piece_is_skipped(void **state)
{
    struct play play;
    struct msg msg = {.kind = MSG_DROP};

    (void)state;
    open_play(&play, true);
    give(&play, key_of(1, 0), 2);
    msg.drop = (struct msg_work){.key = key_of(1, 0), .count = 2, .items = two};
    hear(&play, &msg); /* The first has begun and goes on. */
    computed(&play, ERR_OK);
    assert_int_equal(stage_count_msg(&play.actions, MSG_TALLY), 1);
    assert_int_equal(stage_count(&play.actions, ACTION_COMPUTE), 0);
    close_play(&play);
}

static void test_missing_chunks_are_asked_for(void **state)
{
    const uint8_t byte = 0;
    struct play play;
    struct msg msg = {.kind = MSG_DATA};

    (void)state;
    open_play(&play, false);
    give(&play, key_of(1, 0), 1);
    assert_int_equal(stage_count(&play.actions, ACTION_COMPUTE), 0);
    play.now += SECOND_US;
    step(&play, (struct event){.kind = EVENT_TIME});
    assert_int_equal(stage_find(&play.actions, MSG_NEED)->need.end, 2);
    msg.data = (struct msg_data){.chunk = 0, .bytes = &byte, .size = 1};
    hear(&play, &msg);
    assert_int_equal(stage_count(&play.actions, ACTION_STORE), 1);
    msg.data.chunk = 1;
    hear(&play, &msg);
    assert_int_equal(stage_count(&play.actions, ACTION_COMPUTE), 1);
    close_play(&play);
}

/* WORK-4 */
static void test_leave_sends_what_is_done(void **state)
{
    struct msg bye = {.kind = MSG_BYE};
    struct play play;

    (void)state;
    open_play(&play, true);
    give(&play, key_of(1, 0), 2);
    step(&play, (struct event){.kind = EVENT_LEAVE});
    assert_int_equal(stage_count_msg(&play.actions, MSG_LEAVE), 0);
    computed(&play, ERR_OK);
    assert_int_equal(stage_count_msg(&play.actions, MSG_TALLY), 1);
    assert_int_equal(stage_count_msg(&play.actions, MSG_LEAVE), 1);
    assert_int_equal(stage_count(&play.actions, ACTION_COMPUTE), 0);
    hear(&play, &bye);
    assert_int_equal(stage_find_action(&play.actions, ACTION_FINISH)->err,
                     ERR_OK);
    close_play(&play);
}

static void test_leave_does_not_wait_for_ever(void **state)
{
    struct play play;
    uint32_t said = 0;

    (void)state;
    open_play(&play, true);
    step(&play, (struct event){.kind = EVENT_LEAVE});
    for (int i = 0; i < 100 && play.worker.phase != WORKER_DONE; i++) {
        said += stage_count_msg(&play.actions, MSG_LEAVE);
        play.now += 100 * MS_US;
        step(&play, (struct event){.kind = EVENT_TIME});
    }
    assert_int_equal(play.worker.phase, WORKER_DONE);
    assert_in_range(said, 5, 15);
    close_play(&play);
}

static void test_silent_coordinator_is_dialled_again(void **state)
{
    struct play play;

    (void)state;
    open_play(&play, true);
    give(&play, key_of(1, 0), 1);
    play.now += 3 * SECOND_US;
    step(&play, (struct event){.kind = EVENT_TIME});
    assert_int_equal(stage_count(&play.actions, ACTION_CLOSE), 1);
    assert_int_equal(play.worker.phase, WORKER_DIALLING);
    computed(&play, ERR_CANCELLED);
    play.now += SECOND_US;
    step(&play, (struct event){.kind = EVENT_TIME});
    assert_int_equal(stage_count(&play.actions, ACTION_CONNECT), 1);
    step(&play, (struct event){.kind = EVENT_LINK_UP});
    assert_int_equal(stage_find(&play.actions, MSG_HELLO)->hello.view_seen, 1);
    welcome(&play);
    assert_int_equal(stage_count(&play.actions, ACTION_OPEN), 0);
    close_play(&play);
}

/* Somebody takes up the connection and never answers the greeting, though it
 * says something now and then: another way is tried. */
static void test_a_greeting_is_not_waited_for_long(void **state)
{
    const struct msg msg = {.kind = MSG_CANCEL};
    struct play play;

    (void)state;
    open_play(&play, true);
    step(&play, (struct event){.kind = EVENT_LINK_DOWN});
    play.now += SECOND_US;
    step(&play, (struct event){.kind = EVENT_TIME});
    step(&play, (struct event){.kind = EVENT_LINK_UP});
    assert_int_equal(play.worker.phase, WORKER_GREETING);
    for (int i = 0; i < 30 && play.worker.phase == WORKER_GREETING; i++) {
        play.now += 500 * MS_US;
        step(&play, (struct event){.kind = EVENT_MESSAGE, .msg = &msg});
        step(&play, (struct event){.kind = EVENT_TIME});
    }
    assert_int_equal(stage_count(&play.actions, ACTION_CLOSE), 1);
    assert_int_equal(play.worker.phase, WORKER_DIALLING);
    close_play(&play);
}

static void test_coded_round_is_one_row(void **state)
{
    static const struct item coded[] = {{0, 0, 2, 2.0}, {1, 2, 4, -1.0}};
    struct play play;
    struct msg msg;

    (void)state;
    open_play(&play, true);
    msg = make_round(&play, key_of(1, 0), coded, 2);
    msg.round.coded = true;
    hear(&play, &msg);
    tally_fill(&play.worker.tally);
    play.worker.tally.sum[0] = 10;
    computed(&play, ERR_OK);
    assert_int_equal(stage_count_msg(&play.actions, MSG_ROW), 0);
    tally_fill(&play.worker.tally);
    play.worker.tally.sum[0] = 3;
    computed(&play, ERR_OK);
    assert_int_equal(stage_count_msg(&play.actions, MSG_ROW), 1);
    assert_true(stage_find(&play.actions, MSG_ROW)->row.row[0] == 17.0);
    close_play(&play);
}

static void test_refusal_goes_on_with_the_next(void **state)
{
    struct play play;

    (void)state;
    open_play(&play, true);
    give(&play, key_of(1, 0), 2);
    computed(&play, ERR_RANGE);
    assert_int_equal(stage_find(&play.actions, MSG_REFUSE)->refuse.piece, 0);
    assert_int_equal(stage_count(&play.actions, ACTION_COMPUTE), 1);
    close_play(&play);
}

/* A private piece is answered at once, the coded ones together (item 0: no
 * coefficient); asked again, each is computed again by itself. */
static const struct item private_and_coded[] = {
    {0, 0, 1, 0}, {4, 4, 5, 2}, {5, 5, 6, -1}};

static void test_private_then_row(void **state)
{
    struct play play;
    struct msg msg;

    (void)state;
    open_play(&play, true);
    msg = make_round(&play, key_of(1, 0), private_and_coded, 3);
    msg.round.coded = true;
    hear(&play, &msg);
    computed(&play, ERR_OK);
    assert_int_equal(stage_find(&play.actions, MSG_TALLY)->tally.piece, 0);
    computed(&play, ERR_OK);
    assert_int_equal(stage_count_msg(&play.actions, MSG_ROW), 0);
    assert_int_equal(stage_count_msg(&play.actions, MSG_TALLY), 0);
    /* Lost on the way, and asked for while the row is at work. */
    msg.round.assignment = 2;
    hear(&play, &msg);
    assert_int_equal(stage_count(&play.actions, ACTION_COMPUTE), 0);
    computed(&play, ERR_OK);
    assert_int_equal(stage_count_msg(&play.actions, MSG_ROW), 1);
    assert_int_equal(
        stage_find_action(&play.actions, ACTION_COMPUTE)->computation.end, 1);
    computed(&play, ERR_OK);
    assert_int_equal(stage_find(&play.actions, MSG_TALLY)->tally.piece, 0);
    assert_int_equal(stage_count(&play.actions, ACTION_COMPUTE), 0);
    /* The row was lost: once more, from its beginning. */
    msg = make_round(&play, key_of(1, 0), private_and_coded + 1, 2);
    msg.round.coded = true;
    msg.round.assignment = 3;
    hear(&play, &msg);
    computed(&play, ERR_OK);
    computed(&play, ERR_OK);
    assert_int_equal(stage_count_msg(&play.actions, MSG_ROW), 1);
    close_play(&play);
}

/* Weights that the driver keeps are used where they are, sums that it has put
 * elsewhere are sent from there. */
static void test_vectors_stay_where_they_are(void **state)
{
    const int64_t sum[8] = {5};
    const struct action *action;
    struct play play;
    struct msg msg;

    (void)state;
    open_play(&play, true);
    msg = make_round(&play, key_of(1, 0), two, 1);
    msg.round.kept = 42;
    hear(&play, &msg);
    action = stage_find_action(&play.actions, ACTION_COMPUTE);
    assert_non_null(action);
    assert_ptr_equal(action->computation.what.w, play.weights);
    assert_true(action->kept == 42 && action->computation.tally->blank);
    step(&play, (struct event){.kind = EVENT_COMPUTED, .sum = sum});
    assert_ptr_equal(stage_find(&play.actions, MSG_TALLY)->tally.sum, sum);
    /* Those of a message that does not say so are copied. */
    msg = make_round(&play, key_of(1, 1), two, 1);
    hear(&play, &msg);
    action = stage_find_action(&play.actions, ACTION_COMPUTE);
    assert_true(action->computation.what.w != play.weights &&
                action->kept == 0);
    close_play(&play);
}

/* Weights that went while they were read: the round is over, and nobody wants
 * to hear of it. */
static void test_what_was_read_too_late_is_dropped(void **state)
{
    struct play play;
    struct msg msg;

    (void)state;
    open_play(&play, true);
    msg = make_round(&play, key_of(1, 0), two, 2);
    msg.round.kept = 42;
    hear(&play, &msg);
    computed(&play, ERR_STALE);
    assert_int_equal(stage_count(&play.actions, ACTION_SEND), 0);
    assert_int_equal(stage_count(&play.actions, ACTION_COMPUTE), 0);
    give(&play, key_of(1, 2), 1);
    assert_int_equal(stage_count(&play.actions, ACTION_COMPUTE), 1);
    close_play(&play);
}

/* Exponents are taken again when the key names others. */
static void test_a_new_scale_is_taken(void **state)
{
    const struct action *action;
    struct round_key key = key_of(1, 0);
    struct play play;

    (void)state;
    open_play(&play, true);
    key.scale = 1;
    play.exponent[0] = 7;
    give(&play, key, 1);
    action = stage_find_action(&play.actions, ACTION_COMPUTE);
    assert_int_equal(action->computation.exponent[0], 7);
    computed(&play, ERR_OK);
    key.step = 1;
    key.scale = 2;
    play.exponent[0] = 9;
    give(&play, key, 1);
    action = stage_find_action(&play.actions, ACTION_COMPUTE);
    assert_int_equal(action->computation.exponent[0], 9);
    close_play(&play);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces_in_order),
        cmocka_unit_test(test_kept_vectors_are_not_copied),
        cmocka_unit_test(test_a_round_gives_way),
        cmocka_unit_test(test_an_idle_round_gives_way),
        cmocka_unit_test(test_who_leaves_does_not_give_way),
        cmocka_unit_test(test_a_held_answer_does_not_give_way),
        cmocka_unit_test(test_needs_are_told_although_the_round_comes_again),
        cmocka_unit_test(test_a_round_behind_a_called_off_one_gives_way),
        cmocka_unit_test(test_lower_view_is_ignored),
        cmocka_unit_test(test_cancel_may_come_first),
        cmocka_unit_test(test_one_compute_at_a_time),
        cmocka_unit_test(test_delay_before_first_send),
        cmocka_unit_test(test_a_piece_takes_its_share_of_a_delay),
        cmocka_unit_test(test_dropped_piece_is_skipped),
        cmocka_unit_test(test_missing_chunks_are_asked_for),
        cmocka_unit_test(test_leave_sends_what_is_done),
        cmocka_unit_test(test_leave_does_not_wait_for_ever),
        cmocka_unit_test(test_silent_coordinator_is_dialled_again),
        cmocka_unit_test(test_a_greeting_is_not_waited_for_long),
        cmocka_unit_test(test_coded_round_is_one_row),
        cmocka_unit_test(test_refusal_goes_on_with_the_next),
        cmocka_unit_test(test_private_then_row),
        cmocka_unit_test(test_vectors_stay_where_they_are),
        cmocka_unit_test(test_what_was_read_too_late_is_dropped),
        cmocka_unit_test(test_a_new_scale_is_taken),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * A worker of a job on coded data; the test plays the coordinator and the
 * compute thread.  8 chunks of 4 rows and 8 columns: of 4 parts a block has 8
 * rows and 2 columns, of 3 parts 12 rows and 3 columns.
 */
#include "core/product.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/worker/worker.h"
#include "stage.h"

enum { CHUNKS = 8, ROWS = 32, COLS = 8 };

struct play {
    struct worker worker;
    struct actions actions;
    time_us now;
    uint32_t steps;
    double vector[ROWS];
    int16_t exponent[ROWS + 1];
};

static const struct item mixture[] = {
    {0, 0, 2, .5}, {1, 2, 4, -1}, {2, 4, 6, 2}, {3, 6, 8, .25}};
static const struct item third[] = {{2, 5, 8, 1}}; /* Of three parts. */
/* All that a product gives: 8 rows (of three parts 12), 2 columns. */
static const struct item rows[] = {{0, 0, 8, 1}};
static const struct item more_rows[] = {{0, 0, 12, 1}};
static const struct item cols[] = {{0, 0, 2, 1}};

static void step(struct play *play, struct event event)
{
    event.now = play->now;
    worker_step(&play->worker, &event, &play->actions);
}

static void hear(struct play *play, const struct msg *msg)
{
    step(play, (struct event){.kind = EVENT_MESSAGE, .msg = msg});
}

static void open_play(struct play *play, bool resident, bool products)
{
    const struct worker_options options = {.name = "w0",
                                           .incarnation = 5,
                                           .resident = resident,
                                           .retry_us = 10 * MS_US,
                                           .retry_max_us = 100 * MS_US,
                                           .give_up_us = TIME_NEVER};
    struct msg msg = {.kind = MSG_WELCOME};

    memset(play, 0, sizeof *play);
    assert_int_equal(actions_init(&play->actions, 4), ERR_OK);
    worker_init(&play->worker, &options);
    step(play, (struct event){.kind = EVENT_START});
    step(play, (struct event){.kind = EVENT_LINK_UP});
    msg.welcome = stage_job(CHUNKS);
    msg.welcome.products = products;
    msg.welcome.copies = products ? 2 : 0;
    msg.welcome.sum_dims = ROWS;
    hear(play, &msg);
    assert_int_equal(play->worker.phase, WORKER_SERVING);
}

static void close_play(struct play *play)
{
    worker_close(&play->worker);
    actions_close(&play->actions);
}

/* A product with the mixture of all four parts. */
static struct msg product(struct play *play, enum evaluation_kind kind)
{
    struct msg msg = {.kind = MSG_ROUND};

    msg.round = (struct msg_round){
        .key = {.job = 77, .view = 1, .step = play->steps++},
        .assignment = play->steps,
        .count = 1,
        .items = kind == EVALUATE_BACK ? cols : rows,
        .kind = kind,
        .parts = 4,
        .term_count = 4,
        .terms = mixture,
        .dims = kind == EVALUATE_BACK ? ROWS : COLS,
        .weights = play->vector,
        .exponent = play->exponent,
    };
    return msg;
}

static void give(struct play *play, enum evaluation_kind kind)
{
    const struct msg msg = product(play, kind);

    hear(play, &msg);
}

static void computed(struct play *play, enum err err)
{
    step(play,
         (struct event){.kind = EVENT_COMPUTED, .err = err, .compute_us = 100});
}

static void data(struct play *play, uint32_t strip, uint64_t block)
{
    const uint8_t byte = 0;
    struct msg msg = {.kind = MSG_DATA};

    msg.data = (struct msg_data){
        .chunk = strip, .block = block, .bytes = &byte, .size = 1};
    hear(play, &msg);
}

static void test_one_computation_one_row(void **state)
{
    struct play play;
    const struct action *action;

    (void)state;
    open_play(&play, true, true);
    give(&play, EVALUATE_SCORES);
    assert_int_equal(stage_count(&play.actions, ACTION_COMPUTE), 1);
    action = stage_find_action(&play.actions, ACTION_COMPUTE);
    assert_int_equal(action->computation.share.parts, 4);
    assert_int_equal(action->computation.share.count, 4);
    assert_true(action->computation.share.block ==
                product_block(4, mixture, 4));
    assert_int_equal(action->computation.end, 8); /* Rows of the block. */
    for (uint32_t i = 0; i < 8; i++)
        action->computation.vector[i] = i;
    computed(&play, ERR_OK);
    assert_int_equal(stage_count_msg(&play.actions, MSG_ROW), 1);
    assert_int_equal(stage_find(&play.actions, MSG_ROW)->row.dims, 8);
    assert_true(stage_find(&play.actions, MSG_ROW)->row.row[7] == 7);
    assert_true(stage_find(&play.actions, MSG_ROW)->row.row[8] == 0);
    assert_int_equal(stage_count(&play.actions, ACTION_COMPUTE), 0);
    give(&play, EVALUATE_BACK);
    computed(&play, ERR_OK);
    assert_int_equal(stage_find(&play.actions, MSG_ROW)->row.dims, 2);
    close_play(&play);
}

/* A block of one copy has no wide matrix, and its rows are combined. */
static void test_one_copy(void **state)
{
    struct play play;

    (void)state;
    open_play(&play, true, true);
    play.worker.job.copies = 1;
    give(&play, EVALUATE_BACK);
    assert_int_equal(stage_count(&play.actions, ACTION_COMPUTE), 0);
    give(&play, EVALUATE_COMBINE);
    assert_int_equal(stage_count(&play.actions, ACTION_COMPUTE), 1);
    assert_int_equal(stage_find_action(&play.actions, ACTION_COMPUTE)
                         ->computation.share.copies,
                     1);
    computed(&play, ERR_OK);
    assert_int_equal(stage_find(&play.actions, MSG_ROW)->row.dims, COLS);
    close_play(&play);
}

static void test_not_finite_is_refused_once(void **state)
{
    struct play play;

    (void)state;
    open_play(&play, true, true);
    give(&play, EVALUATE_SCORES);
    computed(&play, ERR_RANGE);
    assert_int_equal(stage_count_msg(&play.actions, MSG_REFUSE), 1);
    assert_int_equal(stage_count_msg(&play.actions, MSG_ROW), 0);
    assert_int_equal(stage_count(&play.actions, ACTION_COMPUTE), 0);
    close_play(&play);
}

/* Whoever has no memory leaves: a refusal would speak of the numbers, and cost
 * it its name. */
static void test_no_memory_is_no_refusal(void **state)
{
    struct play play;

    (void)state;
    open_play(&play, true, true);
    give(&play, EVALUATE_SCORES);
    computed(&play, ERR_NOMEM);
    assert_int_equal(stage_count_msg(&play.actions, MSG_REFUSE), 0);
    assert_int_equal(stage_find_action(&play.actions, ACTION_FINISH)->err,
                     ERR_NOMEM);
    close_play(&play);
}

/* WORK-5: only strips of the block that a round has named are kept. */
static void test_strips_of_the_block(void **state)
{
    const uint64_t block = product_block(4, mixture, 4);
    struct play play;

    (void)state;
    open_play(&play, false, true);
    data(&play, 0, block); /* Before anybody spoke of it. */
    assert_int_equal(stage_count(&play.actions, ACTION_STORE), 0);
    give(&play, EVALUATE_SCORES);
    assert_int_equal(stage_count(&play.actions, ACTION_COMPUTE), 0);
    data(&play, 0, block ^ 2);
    assert_int_equal(stage_count(&play.actions, ACTION_STORE), 0);
    data(&play, 0, block);
    assert_int_equal(stage_count(&play.actions, ACTION_STORE), 1);
    play.now += 300 * MS_US;
    step(&play, (struct event){.kind = EVENT_TIME});
    assert_int_equal(stage_find(&play.actions, MSG_NEED)->need.first, 1);
    assert_int_equal(stage_find(&play.actions, MSG_NEED)->need.end, 2);
    data(&play, 1, block);
    assert_int_equal(stage_count(&play.actions, ACTION_COMPUTE), 1);
    computed(&play, ERR_OK);
    give(&play, EVALUATE_BACK);
    for (uint32_t chunk = 0; chunk < CHUNKS; chunk++) {
        assert_int_equal(stage_count(&play.actions, ACTION_COMPUTE), 0);
        data(&play, CHUNKS + chunk, block);
    }
    assert_int_equal(stage_count(&play.actions, ACTION_COMPUTE), 1);
    close_play(&play);
}

/* A product in pieces: each is a ROW of its own, those first whose rows have
 * come, and the numbers of one stay while the next is computed. */
static void test_pieces(void **state)
{
    static const struct item two[] = {{7, 0, 3, 1}, {9, 4, 8, 1}};
    const uint64_t block = product_block(4, mixture, 4);
    struct play play;
    struct msg msg;
    const struct action *action;
    const double *first;

    (void)state;
    open_play(&play, false, true);
    msg = product(&play, EVALUATE_SCORES);
    msg.round.items = two;
    msg.round.count = 2;
    hear(&play, &msg);
    data(&play, 1, block); /* Rows 4 to 7. */
    action = stage_find_action(&play.actions, ACTION_COMPUTE);
    assert_int_equal(action->computation.first, 4);
    assert_int_equal(action->computation.end, 8);
    action->computation.vector[0] = 44;
    data(&play, 0, block);
    computed(&play, ERR_OK);
    assert_int_equal(stage_find(&play.actions, MSG_ROW)->row.pieces[0], 9);
    assert_int_equal(stage_find(&play.actions, MSG_ROW)->row.dims, 4);
    first = stage_find(&play.actions, MSG_ROW)->row.row;
    action = stage_find_action(&play.actions, ACTION_COMPUTE);
    action->computation.vector[0] = 11;
    assert_true(first[0] == 44);
    computed(&play, ERR_OK);
    assert_int_equal(stage_find(&play.actions, MSG_ROW)->row.pieces[0], 7);
    assert_true(stage_find(&play.actions, MSG_ROW)->row.row[0] == 11);
    hear(&play, &msg); /* Its answers were lost: all of them again. */
    computed(&play, ERR_OK);
    assert_int_equal(stage_find(&play.actions, MSG_ROW)->row.count, 2);
    assert_int_equal(stage_count(&play.actions, ACTION_COMPUTE), 0);
    close_play(&play);
}

/* Pieces of two rows each, whose ids are these. */
static const struct item four[] = {
    {5, 0, 2, 1}, {6, 2, 4, 1}, {3, 6, 8, 1}, {4, 4, 6, 1}};

static void give_four(struct play *play, enum evaluation_kind kind)
{
    struct msg msg = product(play, kind);

    msg.round.items = four;
    msg.round.count = 4;
    hear(play, &msg);
}

static void took(struct play *play, int64_t us)
{
    step(play, (struct event){.kind = EVENT_COMPUTED, .compute_us = us});
}

/* So many pieces are being computed, from four[first] on. */
static void assert_computes(const struct play *play, uint32_t first,
                            uint32_t count)
{
    const struct action *action =
        stage_find_action(&play->actions, ACTION_COMPUTE);

    assert_non_null(action);
    assert_int_equal(action->computation.span_count, count);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(action->computation.spans[i].first,
                         four[first + i].first);
        assert_int_equal(action->computation.spans[i].end, four[first + i].end);
    }
}

static void assert_answers(const struct play *play, uint32_t first,
                           uint32_t count, uint32_t dims)
{
    const struct msg *msg = stage_find(&play->actions, MSG_ROW);

    assert_non_null(msg);
    assert_int_equal(msg->row.count, count);
    assert_int_equal(msg->row.dims, dims);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(msg->row.pieces[i], four[first + i].id);
}

/* The first shows how long they take; the others go together. */
static void test_quick_pieces_together(void **state)
{
    static const enum evaluation_kind kinds[] = {EVALUATE_SCORES,
                                                 EVALUATE_COMBINE};

    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        const bool sum = kinds[i] == EVALUATE_COMBINE;
        struct play play;

        open_play(&play, true, true);
        give_four(&play, kinds[i]);
        assert_computes(&play, 0, 1);
        took(&play, 10);
        assert_answers(&play, 0, 1, sum ? COLS : 2);
        assert_computes(&play, 1, 3);
        took(&play, 30);
        assert_answers(&play, 1, 3, sum ? COLS : 6);
        assert_int_equal(stage_count(&play.actions, ACTION_COMPUTE), 0);
        give_four(&play, kinds[i]); /* The next round: it is known. */
        assert_computes(&play, 0, 4);
        close_play(&play);
    }
}

/* 20 ms are the most, with what is injected; a quick one that became slow goes
 * alone again. */
static void test_slow_pieces_alone(void **state)
{
    struct play play;
    struct msg msg;

    (void)state;
    open_play(&play, true, true);
    give_four(&play, EVALUATE_SCORES);
    took(&play, 11 * MS_US);
    assert_computes(&play, 1, 1);
    took(&play, 9 * MS_US);
    assert_answers(&play, 1, 1, 2);
    assert_computes(&play, 2, 2);
    took(&play, 50 * MS_US);
    assert_answers(&play, 2, 2, 4);
    give_four(&play, EVALUATE_SCORES);
    assert_computes(&play, 0, 1);
    msg = product(&play, EVALUATE_SCORES);
    msg.round.items = four;
    msg.round.count = 4;
    msg.round.delay_share_s = 1; /* A piece is 1/16 of the rows, in two rounds:
                                    31 ms. */
    hear(&play, &msg);
    took(&play, 10); /* That of the round before. */
    assert_computes(&play, 0, 1);
    took(&play, 10);
    assert_null(stage_find(&play.actions, MSG_ROW));
    play.now += 32 * MS_US;
    step(&play, (struct event){.kind = EVENT_TIME});
    assert_answers(&play, 0, 1, 2);
    assert_computes(&play, 1, 1);
    close_play(&play);
}

/* What is being computed is not dropped; what waits is, and parts the rest. */
static void test_drop_of_several(void **state)
{
    static const struct item more[] = {{8, 0, 2, 1}, {9, 2, 4, 1}};
    struct play play;
    struct msg drop = {.kind = MSG_DROP};
    struct msg work = {.kind = MSG_WORK};

    (void)state;
    open_play(&play, true, true);
    give_four(&play, EVALUATE_SCORES);
    took(&play, 10);
    assert_computes(&play, 1, 3);
    work.work = (struct msg_work){
        .key = play.worker.key, .assignment = 9, .count = 2, .items = more};
    hear(&play, &work);
    drop.drop = (struct msg_work){.key = play.worker.key, .count = 1};
    drop.drop.items = &four[2];
    hear(&play, &drop);
    drop.drop.items = &more[0];
    hear(&play, &drop);
    took(&play, 30);
    assert_answers(&play, 1, 3, 6);
    assert_int_equal(
        stage_find_action(&play.actions, ACTION_COMPUTE)->computation.first, 2);
    took(&play, 10);
    assert_int_equal(stage_find(&play.actions, MSG_ROW)->row.pieces[0], 9);
    close_play(&play);
}

/* One of several is not finite: it is found, and the others are answered. */
static void test_one_of_several_refused(void **state)
{
    struct play play;

    (void)state;
    open_play(&play, true, true);
    give_four(&play, EVALUATE_SCORES);
    took(&play, 10);
    assert_computes(&play, 1, 3);
    computed(&play, ERR_RANGE);
    assert_null(stage_find(&play.actions, MSG_REFUSE));
    assert_computes(&play, 1, 1);
    took(&play, 10);
    assert_answers(&play, 1, 1, 2);
    computed(&play, ERR_RANGE);
    assert_int_equal(stage_find(&play.actions, MSG_REFUSE)->refuse.piece, 3);
    assert_computes(&play, 3, 1);
    took(&play, 10);
    assert_answers(&play, 3, 1, 2);
    close_play(&play);
}

/* Whoever leaves finishes all that it is at, and no more. */
static void test_leave_with_several(void **state)
{
    static const struct item more[] = {{8, 0, 2, 1}};
    struct play play;
    struct msg work = {.kind = MSG_WORK};

    (void)state;
    open_play(&play, true, true);
    give_four(&play, EVALUATE_SCORES);
    took(&play, 10);
    assert_computes(&play, 1, 3);
    work.work = (struct msg_work){
        .key = play.worker.key, .assignment = 9, .count = 1, .items = more};
    hear(&play, &work);
    step(&play, (struct event){.kind = EVENT_LEAVE});
    took(&play, 30);
    assert_answers(&play, 1, 3, 6);
    assert_int_equal(stage_count(&play.actions, ACTION_COMPUTE), 0);
    assert_non_null(stage_find(&play.actions, MSG_LEAVE));
    close_play(&play);
}

/* Pieces that overlap would not have room together. */
static void test_overlapping_pieces(void **state)
{
    static const struct item big[] = {{1, 0, 6, 1}, {2, 1, 7, 1}, {3, 0, 2, 1}};
    struct play play;
    struct msg msg;

    (void)state;
    open_play(&play, true, true);
    give_four(&play, EVALUATE_SCORES);
    took(&play, 10);
    msg = product(&play, EVALUATE_SCORES);
    msg.round.items = big;
    msg.round.count = 3;
    hear(&play, &msg);
    took(&play, 10); /* Called off. */
    assert_int_equal(stage_find_action(&play.actions, ACTION_COMPUTE)
                         ->computation.span_count,
                     1);
    took(&play, 10);
    assert_int_equal(stage_find_action(&play.actions, ACTION_COMPUTE)
                         ->computation.span_count,
                     2);
    close_play(&play);
}

/* Another block: nothing of the first one is of use, nor is it when the first
 * comes back. */
static void test_another_block(void **state)
{
    const uint64_t block = product_block(4, mixture, 4);
    struct play play;
    struct msg msg;

    (void)state;
    open_play(&play, false, true);
    give(&play, EVALUATE_SCORES);
    data(&play, 0, block);
    data(&play, 1, block);
    computed(&play, ERR_OK);
    msg = product(&play, EVALUATE_SCORES);
    msg.round.parts = 3;
    msg.round.terms = third;
    msg.round.term_count = 1;
    msg.round.items = more_rows;
    hear(&play, &msg);
    assert_int_equal(stage_count(&play.actions, ACTION_COMPUTE), 0);
    for (uint32_t strip = 0; strip < 3; strip++)
        data(&play, strip, product_block(3, third, 1));
    assert_int_equal(stage_count(&play.actions, ACTION_COMPUTE), 1);
    computed(&play, ERR_OK);
    assert_int_equal(stage_find(&play.actions, MSG_ROW)->row.dims, 12);
    give(&play, EVALUATE_SCORES);
    assert_int_equal(stage_count(&play.actions, ACTION_COMPUTE), 0);
    close_play(&play);
}

static void ignored(struct play *play, const struct msg *msg)
{
    hear(play, msg);
    assert_int_equal(stage_count(&play->actions, ACTION_COMPUTE), 0);
}

static void with_terms(struct play *play, const struct item *terms,
                       uint32_t count)
{
    struct msg msg = product(play, EVALUATE_SCORES);

    msg.round.terms = terms;
    msg.round.term_count = count;
    ignored(play, &msg);
}

static void test_what_cannot_be_is_ignored(void **state)
{
    static const struct item twice[] = {{1, 2, 4, 1}, {1, 2, 4, 1}};
    static const struct item beyond[] = {{4, 6, 8, 1}};
    static const struct item nothing[] = {{0, 0, 2, 0}};
    static const struct item empty[] = {{0, 2, 2, 1}};
    static const struct item tall[] = {{0, 0, 3, 1}};
    static const struct item outside[] = {{3, 7, 9, 1}};
    struct play play;
    struct msg msg;

    (void)state;
    open_play(&play, true, true);
    with_terms(&play, mixture, 0);
    with_terms(&play, twice, 2);
    with_terms(&play, beyond, 1);
    with_terms(&play, nothing, 1);
    with_terms(&play, empty, 1);
    with_terms(&play, tall, 1);
    with_terms(&play, outside, 1);
    msg = product(&play, EVALUATE_SCORES);
    msg.round.parts = 0;
    ignored(&play, &msg);
    msg = product(&play, EVALUATE_SCORES);
    msg.round.parts = CHUNKS + 1;
    ignored(&play, &msg);
    msg = product(&play, EVALUATE_SCORES);
    msg.round.dims = ROWS;
    ignored(&play, &msg);
    msg = product(&play, EVALUATE_SCORES);
    msg.round.coded = true;
    ignored(&play, &msg);
    msg = product(&play, EVALUATE_SCORES);
    msg.round.items = more_rows;
    ignored(&play, &msg);
    msg = product(&play, EVALUATE_GRADIENT); /* Not in this job. */
    ignored(&play, &msg);
    give(&play, EVALUATE_SCORES);
    assert_int_equal(stage_count(&play.actions, ACTION_COMPUTE), 1);
    close_play(&play);
    open_play(&play, true, false); /* A job on rows. */
    msg = product(&play, EVALUATE_SCORES);
    ignored(&play, &msg);
    close_play(&play);
}

static void test_names(void **state)
{
    struct item other[4];

    (void)state;
    memcpy(other, mixture, sizeof other);
    assert_true(product_block(4, other, 4) == product_block(4, mixture, 4));
    assert_true(product_block(5, other, 4) != product_block(4, mixture, 4));
    assert_true(product_block(4, other, 3) != product_block(4, mixture, 4));
    other[2].coefficient = 2.0000000000000004;
    assert_true(product_block(4, other, 4) != product_block(4, mixture, 4));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_computation_one_row),
        cmocka_unit_test(test_one_copy),
        cmocka_unit_test(test_not_finite_is_refused_once),
        cmocka_unit_test(test_no_memory_is_no_refusal),
        cmocka_unit_test(test_strips_of_the_block),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_quick_pieces_together),
        cmocka_unit_test(test_slow_pieces_alone),
        cmocka_unit_test(test_drop_of_several),
        cmocka_unit_test(test_one_of_several_refused),
        cmocka_unit_test(test_leave_with_several),
        cmocka_unit_test(test_overlapping_pieces),
        cmocka_unit_test(test_another_block),
        cmocka_unit_test(test_what_cannot_be_is_ignored),
        cmocka_unit_test(test_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

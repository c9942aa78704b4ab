/*
 * A round and its answer across a board, as coordinator and worker fill and
 * take them; everything that cannot be posted must come out as a plain message,
 * everything that is not there any more as ERR_STALE, and what no worker could
 * have said as ERR_FORMAT.
 */
#include "node/host/posting.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "node/host/session.h"

#define DIMS 300u

struct fixture {
    struct board *board;
    struct posting posting;
    struct envelope envelope;
    struct codec_room room;
    double weights[DIMS];
    int16_t exponent[DIMS + 1];
    int64_t sum[DIMS];
    struct item item;
};

static int setup(void **state)
{
    const struct board_shape shape = posting_shape(2, DIMS, DIMS);
    struct fixture *f = mem_new(1, sizeof *f);

    assert_non_null(f);
    assert_int_equal(board_new(&shape, &f->board), ERR_OK);
    assert_int_equal(codec_room_init(&f->room, DIMS, DIMS, 4), ERR_OK);
    f->posting.board = f->board;
    f->item = (struct item){.id = 1, .first = 1, .end = 2, .coefficient = 1};
    for (uint32_t j = 0; j < DIMS; j++) {
        f->weights[j] = 0.5 * j;
        f->exponent[j] = (int16_t)j;
        f->sum[j] = (int64_t)j << 50;
    }
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    envelope_close(&f->envelope);
    posting_close(&f->posting);
    codec_room_close(&f->room);
    board_free(f->board);
    mem_free(f);
    return 0;
}

static struct msg round_of(struct fixture *f, uint32_t step)
{
    return (struct msg){.kind = MSG_ROUND,
                        .round = {.key = {.step = step, .weights = step},
                                  .assignment = 9,
                                  .count = 1,
                                  .items = &f->item,
                                  .kind = EVALUATE_GRADIENT,
                                  .dims = DIMS,
                                  .weights = f->weights,
                                  .exponent = f->exponent}};
}

static struct msg tally_of(struct fixture *f, uint32_t dims)
{
    return (struct msg){.kind = MSG_TALLY,
                        .tally = {.key = {.step = 3},
                                  .piece = 1,
                                  .first = 1,
                                  .end = 2,
                                  .dims = dims,
                                  .sum = f->sum,
                                  .loss = -5}};
}

static const uint8_t *bytes(const struct fixture *f)
{
    return f->envelope.room->bytes;
}

static void assert_round(const struct fixture *f, const struct msg *msg)
{
    assert_int_equal(msg->kind, MSG_ROUND);
    assert_int_equal(msg->round.assignment, 9);
    assert_int_equal(msg->round.items[0].id, 1);
    assert_memory_equal(msg->round.weights, f->weights, sizeof f->weights);
    assert_memory_equal(msg->round.exponent, f->exponent, sizeof f->exponent);
}

static void test_a_round_is_posted_once(void **state)
{
    struct fixture *f = *state;
    const struct msg round = round_of(f, 3);
    struct msg got;
    uint64_t first;

    assert_true(posting_fill(&f->posting, 0, &f->envelope, &round));
    assert_null(f->envelope.tail);
    assert_true(codec_is_posted(bytes(f), f->envelope.head_size));
    first = f->posting.sequence;
    assert_int_equal(
        answer_round(f->board, &f->room, bytes(f), f->envelope.head_size, &got),
        ERR_OK);
    assert_round(f, &got);
    f->weights[0] = 8; /* The same key: not looked at again. */
    assert_true(posting_fill(&f->posting, 1, &f->envelope, &round));
    assert_true(f->posting.sequence == first);
    assert_int_equal(
        answer_round(f->board, &f->room, bytes(f), f->envelope.head_size, &got),
        ERR_OK);
    assert_true(got.round.weights[0] == 0);
}

/* Weights that were written where the next round will lie are not copied there
 * again; those of another place are, and so are all of later rounds in that
 * place, where others may have lain. */
static void test_mirrored_weights_are_left(void **state)
{
    struct fixture *f = *state;
    struct mirror *const mirror = posting_mirror(&f->posting);
    struct msg got, round = round_of(f, 3);
    double *room;

    assert_non_null(mirror);
    room = mirror->open(mirror);
    assert_ptr_equal(mirror->open(mirror), room);
    memcpy(room, f->weights, sizeof f->weights);
    room[0] = -1;
    round.round.mirror = room;
    round.round.mirrored = DIMS - 1;
    f->weights[DIMS - 1] = -2;
    for (uint32_t view = 0; view <= BOARD_ROUNDS; view++) {
        round.round.key.view = view;
        assert_true(posting_fill(&f->posting, 0, &f->envelope, &round));
        assert_int_equal(answer_round(f->board, &f->room, bytes(f),
                                      f->envelope.head_size, &got),
                         ERR_OK);
        assert_true(got.round.weights[0] == (view == 0 ? -1 : 0));
        assert_true(got.round.weights[DIMS - 1] == -2);
    }
    f->posting.board = NULL;
    assert_null(posting_mirror(&f->posting));
}

static void test_a_late_reader_finds_it_gone(void **state)
{
    struct fixture *f = *state;
    struct msg got, round = round_of(f, 1);
    uint8_t old[512];
    size_t size;

    assert_true(posting_fill(&f->posting, 0, &f->envelope, &round));
    size = f->envelope.head_size;
    assert_true(size <= sizeof old);
    memcpy(old, bytes(f), size);
    for (uint32_t step = 2; step < 4; step++) {
        round = round_of(f, step);
        assert_true(posting_fill(&f->posting, 0, &f->envelope, &round));
    }
    assert_int_equal(answer_round(f->board, &f->room, old, size, &got),
                     ERR_STALE);
    for (size_t cut = 0; cut < size; cut++)
        assert_int_equal(answer_round(f->board, &f->room, old, cut, &got),
                         ERR_FORMAT);
}

static void test_far_workers_share_the_vectors(void **state)
{
    struct fixture *f = *state;
    const struct msg round = round_of(f, 3);
    const size_t whole = codec_bound(&round);
    uint8_t *plain = mem_new(whole, 1);
    uint8_t *joined = mem_new(whole, 1);
    struct blob *tail;

    assert_non_null(plain);
    assert_non_null(joined);
    assert_true(posting_fill(&f->posting, BOARD_NONE, &f->envelope, &round));
    tail = f->envelope.tail;
    assert_non_null(tail);
    memcpy(joined, bytes(f), f->envelope.head_size);
    memcpy(joined + f->envelope.head_size, tail->bytes, f->envelope.tail_size);
    assert_int_equal(codec_encode(&round, plain),
                     f->envelope.head_size + f->envelope.tail_size);
    assert_memory_equal(plain, joined,
                        f->envelope.head_size + f->envelope.tail_size);
    assert_true(posting_fill(&f->posting, BOARD_NONE, &f->envelope, &round));
    assert_ptr_equal(f->envelope.tail, tail);
    assert_true(f->posting.sequence == 0); /* Nothing on the board. */
    mem_free(plain);
    mem_free(joined);
}

/* What links still send stays as it is. */
static void test_held_vectors_are_not_overwritten(void **state)
{
    struct fixture *f = *state;
    struct msg round = round_of(f, 3);
    struct blob *held;
    uint8_t before;

    assert_true(posting_fill(&f->posting, BOARD_NONE, &f->envelope, &round));
    held = blob_hold(f->envelope.tail);
    before = held->bytes[f->envelope.tail_size - 1];
    f->weights[DIMS - 1] = -1e300;
    round = round_of(f, 4);
    assert_true(posting_fill(&f->posting, BOARD_NONE, &f->envelope, &round));
    assert_ptr_not_equal(f->envelope.tail, held);
    assert_int_equal(held->bytes[f->envelope.tail_size - 1], before);
    blob_drop(held);
}

static void test_an_answer_comes_back(void **state)
{
    struct fixture *f = *state;
    const struct msg tally = tally_of(f, DIMS);
    struct posted where;
    struct msg got;

    assert_true(answer_fill(f->board, 1, &f->envelope, &tally));
    assert_int_equal(posting_tally(&f->posting, 1, &f->room, bytes(f),
                                   f->envelope.head_size, &got, &where),
                     ERR_OK);
    assert_int_equal(got.tally.piece, 1);
    assert_true(got.tally.loss == -5);
    assert_memory_equal(got.tally.sum, f->sum, sizeof f->sum);
    /* Of another berth's worker, or of nobody on the board, it is a lie. */
    assert_int_equal(posting_tally(&f->posting, 0, &f->room, bytes(f),
                                   f->envelope.head_size, &got, &where),
                     ERR_STALE);
    assert_int_equal(posting_tally(&f->posting, BOARD_NONE, &f->room, bytes(f),
                                   f->envelope.head_size, &got, &where),
                     ERR_FORMAT);
    board_answer_release(f->board, 1, where.place, where.sequence);
    assert_int_equal(posting_tally(&f->posting, 1, &f->room, bytes(f),
                                   f->envelope.head_size, &got, &where),
                     ERR_STALE);
}

static void test_answers_without_a_place_are_sent(void **state)
{
    struct fixture *f = *state;
    const struct msg tally = tally_of(f, DIMS);

    for (uint32_t i = 0; i < BOARD_ANSWERS; i++) {
        assert_true(answer_fill(f->board, 0, &f->envelope, &tally));
        assert_null(f->envelope.tail);
    }
    assert_true(answer_fill(f->board, 0, &f->envelope, &tally));
    assert_non_null(f->envelope.tail); /* Packed. */
    assert_false(codec_is_posted(f->envelope.tail->bytes, 1));
}

static void test_other_messages_are_sent(void **state)
{
    struct fixture *f = *state;
    const struct msg leave = {.kind = MSG_LEAVE};

    assert_true(answer_fill(f->board, 0, &f->envelope, &leave));
    assert_false(codec_is_posted(bytes(f), f->envelope.head_size));
    assert_true(posting_fill(&f->posting, 0, &f->envelope, &leave));
    assert_int_equal(f->envelope.head_size, 1);
}

/* A peer's numbers: a ROUND where a TALLY is due, places that are none, lengths
 * beyond the job's. */
static void test_lies_are_no_messages(void **state)
{
    struct fixture *f = *state;
    const struct msg round = round_of(f, 3);
    const struct msg tally = tally_of(f, DIMS);
    const struct msg longer = tally_of(f, DIMS + 1);
    const struct posted nowhere = {.place = 7, .sequence = 1};
    uint8_t lie[1024];
    struct posted where;
    struct msg got;
    size_t size = codec_encode_posted(&round, &nowhere, lie);

    assert_int_equal(
        posting_tally(&f->posting, 0, &f->room, lie, size, &got, &where),
        ERR_FORMAT);
    size = codec_encode_posted(&tally, &nowhere, lie);
    assert_int_equal(
        posting_tally(&f->posting, 0, &f->room, lie, size, &got, &where),
        ERR_STALE);
    assert_int_equal(answer_round(f->board, &f->room, lie, size, &got),
                     ERR_FORMAT);
    size = codec_encode_posted(&longer, &nowhere, lie);
    assert_int_equal(
        posting_tally(&f->posting, 0, &f->room, lie, size, &got, &where),
        ERR_FORMAT);
}

/* Head and tail one after the other are the plain message, a leaf's too. */
static void assert_sent_plain(struct fixture *f, const struct msg *msg)
{
    uint8_t *plain = mem_new(codec_bound(msg), 1);
    const size_t size = codec_encode(msg, plain);
    const size_t head = f->envelope.head_size;

    assert_non_null(f->envelope.tail);
    assert_int_equal(head + f->envelope.tail_size, size);
    assert_memory_equal(bytes(f), plain, head);
    assert_memory_equal(f->envelope.tail->bytes, plain + head, size - head);
    assert_false(codec_is_posted(bytes(f), head));
    mem_free(plain);
}

static void test_a_leaf_is_sent_all(void **state)
{
    struct fixture *f = *state;
    struct msg round = round_of(f, 3);

    round.leaf = 7;
    assert_true(posting_fill(&f->posting, BOARD_NONE, &f->envelope, &round));
    assert_sent_plain(f, &round);
    round.leaf = 8; /* The same vectors. */
    assert_true(posting_fill(&f->posting, BOARD_NONE, &f->envelope, &round));
    assert_sent_plain(f, &round);
}

/* Narrow weights are floats on a link only: on a board they lie where they were
 * written. */
static void test_narrow_weights_are_wide_on_a_board(void **state)
{
    struct fixture *f = *state;
    struct msg got, round = round_of(f, 3);

    round.round.narrow = true;
    f->weights[1] = 1.0 / 3;
    assert_true(posting_fill(&f->posting, BOARD_NONE, &f->envelope, &round));
    assert_sent_plain(f, &round);
    assert_true(posting_fill(&f->posting, 0, &f->envelope, &round));
    assert_int_equal(
        answer_round(f->board, &f->room, bytes(f), f->envelope.head_size, &got),
        ERR_OK);
    assert_true(got.round.narrow);
    assert_round(f, &got);
}

/* On coded data a round's vector may be as long as the rows are many. */
static void test_products_are_posted_if_they_fit(void **state)
{
    struct fixture *f = *state;
    double long_vector[2 * DIMS] = {0};
    struct msg got, round = round_of(f, 3);

    round.round.kind = EVALUATE_BACK;
    round.round.parts = 2;
    assert_true(posting_fill(&f->posting, 0, &f->envelope, &round));
    assert_int_equal(
        answer_round(f->board, &f->room, bytes(f), f->envelope.head_size, &got),
        ERR_OK);
    assert_int_equal(got.round.parts, 2);
    assert_memory_equal(got.round.weights, f->weights, sizeof f->weights);
    round.round.key.weights = 4;
    round.round.dims = 2 * DIMS;
    round.round.weights = long_vector;
    assert_true(posting_fill(&f->posting, 0, &f->envelope, &round));
    assert_sent_plain(f, &round);
}

/* Sums that were computed on the board are published as they lie there, in
 * the place they lie in, whichever else has become free. */
static void test_sums_in_place_are_not_copied(void **state)
{
    struct fixture *f = *state;
    struct msg tally = tally_of(f, DIMS);
    struct posted where;
    struct msg got;
    int64_t *sum;

    assert_true(answer_fill(f->board, 1, &f->envelope, &tally));
    sum = answer_open(f->board, 1, DIMS); /* The second place. */
    assert_non_null(sum);
    board_answer_release(f->board, 1, 0, 1);
    assert_true(answer_open(f->board, 1, DIMS) != sum);
    memset(sum, 0, DIMS * sizeof *sum);
    sum[3] = 7;
    tally.tally.sum = sum;
    assert_true(answer_fill(f->board, 1, &f->envelope, &tally));
    assert_int_equal(posting_tally(&f->posting, 1, &f->room, bytes(f),
                                   f->envelope.head_size, &got, &where),
                     ERR_OK);
    assert_ptr_equal(got.tally.sum, sum);
    assert_int_equal(where.place, 1);
    assert_null(answer_open(f->board, 1, DIMS + 100000));
}

/* A round is read in place, and says by which number it can be asked after; a
 * coded one is copied. */
static void test_a_round_is_read_in_place(void **state)
{
    struct fixture *f = *state;
    struct msg round = round_of(f, 3);
    struct msg got;

    assert_true(posting_fill(&f->posting, 0, &f->envelope, &round));
    assert_int_equal(
        answer_round(f->board, &f->room, bytes(f), f->envelope.head_size, &got),
        ERR_OK);
    assert_true(got.round.kept == f->posting.sequence);
    assert_ptr_equal(got.round.weights,
                     board_round(f->board, f->posting.sequence));
    assert_int_equal((uintptr_t)got.round.weights % MEM_LINE, 0);
    round = round_of(f, 4);
    round.round.coded = true;
    assert_true(posting_fill(&f->posting, 0, &f->envelope, &round));
    assert_int_equal(
        answer_round(f->board, &f->room, bytes(f), f->envelope.head_size, &got),
        ERR_OK);
    assert_true(got.round.kept == 0);
    assert_ptr_equal(got.round.weights, f->room.weights);
    assert_round(f, &got);
}

/* Sent: what would have gone over the link waits in the relay's bundle. */
static size_t sent(const struct session *session)
{
    return session->bundles[PLANE_BULK].size +
           session->bundles[PLANE_CONTROL].size;
}

static void send(struct fixture *f, struct session *session,
                 const struct msg *msg)
{
    assert_int_equal(session_send(session, &f->posting, &f->envelope, msg),
                     ERR_OK);
}

/* A worker drops an order of a round that it has not been told of.  So orders
 * are notes if their round was one, and follow it on the link if it had to go
 * there: as a note they would overtake it. */
static void test_orders_follow_their_round(void **state)
{
    static const enum msg_kind kinds[] = {MSG_WORK, MSG_DROP, MSG_CANCEL};
    struct fixture *f = *state;
    struct session *const session = session_new(NULL);
    struct msg order = {.work = {.key = {.step = 3}, .count = 1}};
    uint8_t note[BOARD_NOTE_BYTES];
    struct msg round = round_of(f, 3), got;
    size_t before, size;

    assert_non_null(session);
    assert_int_equal(session_bundle(session), ERR_OK);
    session->berth = 0;
    order.work.items = &f->item;
    send(f, session, &round);
    for (size_t i = 0; i < 3; i++) {
        order.kind = kinds[i];
        send(f, session, &order);
    }
    assert_int_equal(sent(session), 0);
    size = board_note_take(f->board, 0, BOARD_WORKER, note);
    assert_true(codec_is_posted(note, size));
    for (size_t i = 0; i < 3; i++) {
        size = board_note_take(f->board, 0, BOARD_WORKER, note);
        assert_int_equal(codec_decode(note, size, &f->room, &got), ERR_OK);
        assert_int_equal(got.kind, kinds[i]);
    }
    for (uint32_t i = 0; i < BOARD_NOTES; i++)
        assert_true(board_note_leave(f->board, 0, BOARD_WORKER, "full", 5));
    round = round_of(f, 4);
    send(f, session, &round);
    before = sent(session);
    assert_true(before > 0);
    while (board_note_take(f->board, 0, BOARD_WORKER, note) > 0)
        continue;
    order.kind = MSG_WORK;
    send(f, session, &order);
    assert_true(sent(session) > before);
    assert_int_equal(board_note_take(f->board, 0, BOARD_WORKER, note), 0);
    session_free(session);
}

static void test_hessians_too_large_are_not_planned_for(void **state)
{
    const struct board_shape small = posting_shape(1, 10, 55);
    const struct board_shape large = posting_shape(1, 20000, 1u << 27);

    (void)state;
    assert_int_equal(small.answer_bytes, 55 * sizeof(int64_t));
    assert_int_equal(large.answer_bytes, 20000 * sizeof(int64_t));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_round_is_posted_once),
        TEST(test_mirrored_weights_are_left),
        TEST(test_a_late_reader_finds_it_gone),
        TEST(test_far_workers_share_the_vectors),
        TEST(test_held_vectors_are_not_overwritten),
        TEST(test_an_answer_comes_back),
        TEST(test_sums_in_place_are_not_copied),
        TEST(test_a_round_is_read_in_place),
        TEST(test_orders_follow_their_round),
        TEST(test_answers_without_a_place_are_sent),
        TEST(test_other_messages_are_sent),
        TEST(test_lies_are_no_messages),
        TEST(test_a_leaf_is_sent_all),
        TEST(test_narrow_weights_are_wide_on_a_board),
        TEST(test_products_are_posted_if_they_fit),
        TEST(test_hessians_too_large_are_not_planned_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

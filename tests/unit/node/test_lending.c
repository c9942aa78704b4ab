/*
 * Vectors that a ring's peers lend each other: the note of one is the message
 * again at the other end, in another process; what no peer sends is refused;
 * one that is killed while it writes leaves nothing that counts.
 */
#include "node/ring/lending.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DIMS = 5000, BERTHS = 4, STEP_BYTES = 4096 };

static struct board *board;
static struct codec_room room;

static int open_all(void **state)
{
    (void)state;
    return lending_new(BERTHS, 2, DIMS, STEP_BYTES, &board) == ERR_OK &&
                   board != NULL &&
                   codec_room_init(&room, DIMS, DIMS, 0) == ERR_OK
               ? 0
               : -1;
}

static int close_all(void **state)
{
    (void)state;
    codec_room_close(&room);
    board_free(board);
    return 0;
}

static struct msg slice_in(uint32_t berth, uint32_t place)
{
    struct slice_room rooms[PEER_ROOMS];
    struct msg msg = {.kind = MSG_SLICE,
                      .slice = {.key = {.step = 5},
                                .end = 1,
                                .dims = DIMS,
                                .at = 100,
                                .count = 50,
                                .loss = -3}};

    lending_rooms(board, berth, DIMS, rooms);
    msg.slice.sum = rooms[place].sum + 100;
    msg.slice.seal = rooms[place].seal;
    msg.slice.number = seal_number(rooms[place].seal);
    return msg;
}

static void test_notes(void **state)
{
    struct envelope envelope = {0};

    (void)state;
    for (uint32_t place = 0; place < PEER_ROOMS; place++) {
        const struct msg msg = slice_in(2, place);
        struct msg got;

        assert_true(lending_posts(board, 2, DIMS, &msg));
        assert_false(lending_posts(board, 1, DIMS, &msg));
        assert_true(lending_fill(board, 2, DIMS, &envelope, &msg));
        assert_null(envelope.tail);
        assert_int_equal(lending_find(board, 2, DIMS, &room,
                                      envelope.room->bytes, envelope.head_size,
                                      &got),
                         ERR_OK);
        assert_ptr_equal(got.slice.sum, msg.slice.sum);
        assert_ptr_equal(got.slice.seal, msg.slice.seal);
        assert_int_equal(got.slice.number, msg.slice.number);
        assert_int_equal(got.slice.count, 50);
        assert_true(got.slice.loss == -3);
        assert_int_equal(got.slice.key.step, 5);
    }
    envelope_close(&envelope);
}

/* Vectors do not overlap, and the last coordinate is in the berth. */
static void test_rooms(void **state)
{
    struct slice_room rooms[BERTHS][PEER_ROOMS];

    (void)state;
    for (uint32_t i = 0; i < BERTHS; i++) {
        lending_rooms(board, i, DIMS, rooms[i]);
        for (uint32_t k = 0; k < PEER_ROOMS; k++)
            for (uint32_t j = 0; j < DIMS; j++)
                rooms[i][k].sum[j] = (int64_t)i * PEER_ROOMS + k;
    }
    for (uint32_t i = 0; i < BERTHS; i++)
        for (uint32_t k = 0; k < PEER_ROOMS; k++) {
            assert_int_equal(seal_number(rooms[i][k].seal), 0);
            for (uint32_t j = 0; j < DIMS; j++)
                assert_int_equal(rooms[i][k].sum[j], i * PEER_ROOMS + k);
        }
}

/* A slice of the model goes as a note, too, or nowhere. */
static void test_stepped(void **state)
{
    const struct share_room made = lending_stepped(board, 2, DIMS);
    struct msg msg = slice_in(2, 1);
    struct envelope envelope = {0};
    struct board *plain = NULL;
    struct msg got;

    (void)state;
    memset(made.memory, 0, STEP_BYTES);
    msg.slice.total = true;
    msg.slice.sum = NULL;
    msg.slice.stepped = made.memory;
    msg.slice.seal = made.seal;
    assert_true(lending_posts(board, 2, DIMS, &msg));
    assert_false(lending_posts(board, 1, DIMS, &msg));
    assert_true(lending_fill(board, 2, DIMS, &envelope, &msg));
    assert_int_equal(lending_find(board, 2, DIMS, &room, envelope.room->bytes,
                                  envelope.head_size, &got),
                     ERR_OK);
    assert_ptr_equal(got.slice.stepped, made.memory);
    assert_ptr_equal(got.slice.seal, made.seal);
    assert_null(got.slice.sum);
    assert_int_equal(lending_new(BERTHS, 2, DIMS, 0, &plain), ERR_OK);
    assert_null(lending_stepped(plain, 2, DIMS).memory);
    assert_int_equal(lending_find(plain, 2, DIMS, &room, envelope.room->bytes,
                                  envelope.head_size, &got),
                     ERR_FORMAT); /* There is no such place. */
    board_free(plain);
    envelope_close(&envelope);
}

static void test_refused(void **state)
{
    const struct msg tally = {.kind = MSG_TALLY, .tally = {.dims = DIMS}};
    struct posted where = {.place = PEER_ROOMS + 1};
    struct msg msg = slice_in(0, 0);
    struct envelope envelope = {0};
    struct msg got;

    (void)state;
    assert_true(envelope_fill_posted(&envelope, &msg, &where));
    assert_int_equal(lending_find(board, 0, DIMS, &room, envelope.room->bytes,
                                  envelope.head_size, &got),
                     ERR_FORMAT); /* No such place. */
    where.place = 0;
    msg.slice.count = 0;
    assert_true(envelope_fill_posted(&envelope, &msg, &where));
    assert_int_equal(lending_find(board, 0, DIMS, &room, envelope.room->bytes,
                                  envelope.head_size, &got),
                     ERR_FORMAT); /* Nothing is lent. */
    msg.slice.count = DIMS;
    assert_true(envelope_fill_posted(&envelope, &msg, &where));
    assert_int_equal(lending_find(board, 0, DIMS, &room, envelope.room->bytes,
                                  envelope.head_size, &got),
                     ERR_FORMAT); /* Beyond the end. */
    assert_true(envelope_fill_posted(&envelope, &tally, &where));
    assert_int_equal(lending_find(board, 0, DIMS, &room, envelope.room->bytes,
                                  envelope.head_size, &got),
                     ERR_FORMAT); /* No message of a peer. */
    envelope_close(&envelope);
}

static void test_too_long(void **state)
{
    struct board *none = board;

    (void)state;
    assert_int_equal(lending_new(1, 1, UINT32_C(1) << 26, 0, &none), ERR_OK);
    assert_null(none);
}

/* kill -9 of one that writes what it had lent; what others were told of does
 * not hold any more, and its next life does not make it hold again. */
static void test_killed(void **state)
{
    const struct msg told = slice_in(3, 1);
    struct slice_room rooms[PEER_ROOMS];
    int status;
    pid_t child;

    (void)state;
    lending_rooms(board, 3, DIMS, rooms);
    assert_true(seal_holds(told.slice.seal, told.slice.number));
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        seal_break(rooms[1].seal);
        rooms[1].sum[100] = 77;
        (void)kill(getpid(), SIGKILL);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(told.slice.sum[0], 77);
    assert_false(seal_holds(told.slice.seal, told.slice.number));
    seal_break(rooms[1].seal);
    assert_false(seal_holds(told.slice.seal, told.slice.number));
    assert_true(seal_holds(told.slice.seal, slice_in(3, 1).slice.number));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rooms),    cmocka_unit_test(test_notes),
        cmocka_unit_test(test_stepped),  cmocka_unit_test(test_refused),
        cmocka_unit_test(test_too_long), cmocka_unit_test(test_killed),
    };

    return cmocka_run_group_tests(tests, open_all, close_all);
}

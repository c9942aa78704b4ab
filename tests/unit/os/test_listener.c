/*
 * Loops that listen to bells of a board.  Two of them hand a number to and fro,
 * awake or asleep as it comes: none is lost, which a lost ring would show by
 * hanging.  What a life leaves that was killed while it was awake does not keep
 * the next one from hearing.
 */
#include "os/run/listener.h"

#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define HANDOVERS 20000u

struct side {
    struct board *board;
    enum board_side own, other;
    struct loop *loop;
    struct listener *bell;
    uint32_t count; /* Taken. */
};

static struct board *board_of(uint32_t berths)
{
    const struct board_shape shape = {
        .berths = berths, .round_bytes = 64, .answer_bytes = 64};
    struct board *board = NULL;

    assert_int_equal(board_new(&shape, &board), ERR_OK);
    return board;
}

static void open_side(struct side *side, loop_callback rung)
{
    assert_int_equal(loop_new(&side->loop), ERR_OK);
    assert_int_equal(listener_new(side->loop, side->board, 0, side->own, rung,
                                  side, &side->bell),
                     ERR_OK);
}

static void close_side(struct side *side)
{
    listener_free(side->bell);
    loop_free(side->loop);
}

static bool leave(struct side *side)
{
    return board_note_leave(side->board, 0, side->other, &side->count,
                            sizeof side->count);
}

/* Take the number, which is the one expected, and give it back. */
static void pass_on(void *context)
{
    struct side *side = context;
    uint8_t note[BOARD_NOTE_BYTES];
    uint32_t got;

    if (board_note_take(side->board, 0, side->own, note) == 0)
        return;
    memcpy(&got, note, sizeof got);
    assert_int_equal(got, side->count);
    if (side->own == BOARD_WORKER)
        assert_true(leave(side));
    if (++side->count < HANDOVERS && side->own == BOARD_COORDINATOR)
        assert_true(leave(side));
    if (side->count == HANDOVERS)
        loop_stop(side->loop);
}

static void *worker(void *argument)
{
    struct side *side = argument;

    loop_run(side->loop);
    return NULL;
}

static void test_no_ring_is_lost(void **state)
{
    struct board *board = board_of(1);
    struct side coordinator = {
        .board = board, .own = BOARD_COORDINATOR, .other = BOARD_WORKER};
    struct side echo = {
        .board = board, .own = BOARD_WORKER, .other = BOARD_COORDINATOR};
    pthread_t thread;

    (void)state;
    open_side(&coordinator, pass_on);
    open_side(&echo, pass_on);
    assert_int_equal(pthread_create(&thread, NULL, worker, &echo), 0);
    assert_true(leave(&coordinator));
    loop_run(coordinator.loop);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(coordinator.count, HANDOVERS);
    assert_int_equal(echo.count, HANDOVERS);
    close_side(&coordinator);
    close_side(&echo);
    board_free(board);
}

static void take(void *context)
{
    struct side *side = context;
    uint8_t note[BOARD_NOTE_BYTES];

    if (board_note_take(side->board, 0, side->own, note) > 0)
        side->count++;
}

static void take_one(void *context)
{
    struct side *side = context;

    take(context);
    loop_stop(side->loop);
}

/* BOARD-5: awake it is not called, and hears; about to sleep it sees. */
static void test_awake_it_is_not_called(void **state)
{
    struct board *board = board_of(1);
    struct pollfd fd = {.fd = board_bell(board, 0, BOARD_WORKER),
                        .events = POLLIN};

    (void)state;
    board_bell_wake(board, 0, BOARD_WORKER);
    assert_false(board_bell_heard(board, 0, BOARD_WORKER));
    assert_true(board_note_leave(board, 0, BOARD_WORKER, "a", 2));
    assert_int_equal(poll(&fd, 1, 0), 0);
    assert_false(board_bell_sleep(board, 0, BOARD_WORKER));
    assert_true(board_bell_heard(board, 0, BOARD_WORKER));
    assert_true(board_bell_sleep(board, 0, BOARD_WORKER));
    board_free(board);
}

static void test_killed_while_awake(void **state)
{
    struct board *board = board_of(1);
    struct side side = {
        .board = board, .own = BOARD_WORKER, .other = BOARD_COORDINATOR};

    (void)state;
    board_bell_wake(board, 0, BOARD_WORKER);
    assert_true(board_note_leave(board, 0, BOARD_WORKER, "old", 4));
    board_berth_reset(board, 0); /* The next life has come. */
    open_side(&side, take_one);
    assert_true(board_note_leave(board, 0, BOARD_WORKER, "new", 4));
    loop_run(side.loop);
    assert_int_equal(side.count, 1);
    close_side(&side);
    board_free(board);
}

/* BOARD-4: the one who left a note was killed before it rang. */
static void test_a_look_without_a_ring(void **state)
{
    struct board *board = board_of(1);
    struct side side = {
        .board = board, .own = BOARD_WORKER, .other = BOARD_COORDINATOR};

    (void)state;
    assert_true(board_note_leave(board, 0, BOARD_WORKER, "a", 2));
    open_side(&side, take); /* Hushes: as if it had not been rung. */
    listener_look(side.bell);
    listener_look(NULL);
    assert_int_equal(side.count, 1);
    close_side(&side);
    board_free(board);
}

static void test_without_notes_there_is_none(void **state)
{
    struct board *board = board_of(BOARD_BELLS_MAX + 1);
    struct side side = {.board = board, .own = BOARD_WORKER};

    (void)state;
    open_side(&side, take);
    assert_null(side.bell);
    close_side(&side);
    board_free(board);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_ring_is_lost),
        cmocka_unit_test(test_awake_it_is_not_called),
        cmocka_unit_test(test_killed_while_awake),
        cmocka_unit_test(test_a_look_without_a_ring),
        cmocka_unit_test(test_without_notes_there_is_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * A tray over a real board: what blocks, when it is due, and that clearing it
 * gives the workers their places back.
 */
#include "node/star/tray.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { BERTHS = 12 };

static void lay(struct tray *tray, struct board *board, uint32_t berth)
{
    struct tray_item item = {.berth = berth};

    item.msg.kind = MSG_TALLY;
    item.msg.tally.piece = 10 + berth;
    item.where.place = board_answer_free(board, berth);
    assert_int_equal(item.where.place, 0);
    item.where.sequence = board_answer_publish(board, berth, 0);
    assert_false(tray_blocks(tray, berth));
    tray_put(tray, 20 + berth, 100 + berth, &item);
    assert_true(tray_blocks(tray, berth));
}

static void test_tray(void **state)
{
    const struct board_shape shape = {
        .berths = BERTHS, .round_bytes = 64, .answer_bytes = 64};
    static struct tray tray;
    struct board *board = NULL;

    (void)state;
    assert_int_equal(board_new(&shape, &board), ERR_OK);
    assert_false(tray_due(&tray, 0));
    lay(&tray, board, 3);
    lay(&tray, board, 1);
    assert_false(tray_due(&tray, 3));
    assert_true(tray_due(&tray, 2));
    assert_true(
        tray_due(&tray, 0)); /* The core waits for none in particular. */
    assert_int_equal(tray.arrivals[0].link, 23);
    assert_int_equal(tray.arrivals[1].at, 101);
    assert_int_equal(tray.arrivals[1].msg->tally.piece, 11);
    for (uint32_t berth = 4; tray.count < TRAY_MAX; berth++)
        lay(&tray, board, berth);
    assert_true(tray_blocks(&tray, 0)); /* It is full. */
    assert_true(tray_due(&tray, 100));
    assert_int_equal(board_answer_free(board, 3), 1);
    tray_clear(&tray, board);
    assert_int_equal(tray.count, 0);
    assert_int_equal(board_answer_free(board, 3), 0);
    assert_int_equal(board_answer_free(board, 1), 0);
    board_free(board);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tray)};

    return cmocka_run_group_tests_name("node/star/tray", tests, NULL, NULL);
}

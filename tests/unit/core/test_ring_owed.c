/*
 * Who stands again and again is waited for longer, and that is forgotten: a
 * peer with one other at the end of a road that stands, looked at as its beats
 * do, without a driver.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/ring/peer_parts.h"

#define DEAD_US (2 * SECOND_US)

/* How long a road stands until seat 1 is given up, `after_us` since it was
 * given up last, for the third time. */
static time_us patience(time_us after_us)
{
    static struct peer peer;
    struct actions actions;
    struct peer_seat *const seat = &peer.seats[1];
    const time_us begin = SECOND_US + after_us;

    peer = (struct peer){.options = {.dead_us = DEAD_US}, .seat_count = 2};
    *seat = (struct peer_seat){.link = 0,
                               .claimed = 1,
                               .stalls = 3,
                               .shun_at = SECOND_US,
                               .shun_us = 8 * DEAD_US};
    seat->moved_at = seat->level_at = begin;
    assert_int_equal(actions_init(&actions, 16), ERR_OK);
    for (peer.now = begin; seat->link != PEER_NO_LINK; peer.now += DEAD_US / 4)
        (void)owed_tend(&peer, &actions);
    actions_close(&actions);
    return peer.now - DEAD_US / 4 - begin;
}

static void test_patience(void **state)
{
    (void)state;
    assert_int_equal(patience(DEAD_US), 8 * DEAD_US);
    assert_int_equal(patience(7 * 8 * DEAD_US), 8 * DEAD_US);
    assert_int_equal(patience(9 * 8 * DEAD_US), 2 * DEAD_US);
    assert_int_equal(patience(3600 * SECOND_US), 2 * DEAD_US);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_patience)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

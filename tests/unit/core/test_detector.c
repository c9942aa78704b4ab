/*
 * Who is suspected, and when: beats are played as a road would deliver them.
 * Loss under TCP is a stall every few seconds, far apart for mean and
 * deviation; a pause that comes once must not make anyone patient.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "play.h"

#define BEAT_US (50 * MS_US)

static void open_two(struct play *play)
{
    const struct coordinator_options options =
        stage_options("uncoded", 2, 0, 3);

    play_open(play, &options);
}

static void beat(struct play *play, uint32_t link)
{
    struct msg msg = {.kind = MSG_BEAT};

    msg.beat.sequence = (uint64_t)play->now;
    msg.beat.queued = 1;
    msg.beat.view = play->key.view;
    msg.beat.step = play->key.step;
    msg.beat.assignment = 100;
    play_say(play, link, &msg);
}

/* Until `to`, looking every 10 ms as the coordinator does; how often link 0
 * was suspected on the way.  Link 1 beats all the time. */
static uint32_t wait_until(struct play *play, time_us to)
{
    uint32_t suspicions = 0;

    while (play->now < to) {
        play->now += 10 * MS_US;
        if (play->now % BEAT_US == 0)
            beat(play, 1);
        play_step(play, (struct event){.kind = EVENT_TIME});
        suspicions += stage_count_trace(&play->actions, TRACE_SUSPECT);
    }
    return suspicions;
}

/* `seconds` of beats from link 0, with a stall of `stall_us` every five. */
static uint32_t play_road(struct play *play, int seconds, time_us stall_us)
{
    uint32_t suspicions = 0;

    for (int second = 0; second < seconds; second++) {
        const time_us end = play->now + SECOND_US;

        if (second % 5 == 4)
            suspicions += wait_until(play, play->now + stall_us);
        while (play->now < end) {
            suspicions += wait_until(play, play->now + BEAT_US);
            beat(play, 0);
        }
    }
    return suspicions;
}

/* 1 % loss and 100 ms round trips: a stall of 350 ms every five seconds.  The
 * first two teach; in ten minutes there is no third suspicion, and nobody
 * dies. */
static void test_stalls_are_learnt(void **state)
{
    struct play play;

    (void)state;
    open_two(&play);
    assert_in_range(play_road(&play, 600, 350 * MS_US), 1, 2);
    assert_int_equal(play.coordinator.stats.died, 0);
    play_close(&play);
}

/* Without stalls the limit stays where it was: 300 ms, and 2 s to death. */
static void test_steady_road_keeps_the_limit(void **state)
{
    struct play play;

    (void)state;
    open_two(&play);
    assert_int_equal(play_road(&play, 20, 0), 0);
    assert_int_equal(wait_until(&play, play.now + 280 * MS_US), 0);
    assert_int_equal(wait_until(&play, play.now + 40 * MS_US), 1);
    (void)wait_until(&play, play.now + 1700 * MS_US);
    assert_int_equal(play.coordinator.stats.died, 1);
    play_close(&play);
}

/* One long pause: the next one is suspected as soon as the first was. */
static void test_one_pause_teaches_nothing(void **state)
{
    struct play play;

    (void)state;
    open_two(&play);
    (void)play_road(&play, 4, 0);
    assert_int_equal(wait_until(&play, play.now + 1500 * MS_US), 1);
    beat(&play, 0);
    (void)play_road(&play, 4, 0);
    assert_int_equal(wait_until(&play, play.now + 310 * MS_US), 1);
    play_close(&play);
}

/* A road that has become good again is believed to be, after a while. */
static void test_patience_fades(void **state)
{
    struct play play;

    (void)state;
    open_two(&play);
    (void)play_road(&play, 60, 400 * MS_US);
    assert_int_equal(wait_until(&play, play.now + 350 * MS_US), 0);
    beat(&play, 0);
    (void)play_road(&play, 120, 0);
    assert_int_equal(wait_until(&play, play.now + 350 * MS_US), 1);
    play_close(&play);
}

/* What is still on its way to a worker is late, not lost. */
static void test_backlog_is_not_sent_again(void **state)
{
    struct msg msg = {.kind = MSG_BEAT};
    struct play play;
    uint32_t resent[2] = {0};

    (void)state;
    for (int backlog = 0; backlog < 2; backlog++) {
        open_two(&play);
        for (int i = 0; i < 40; i++) {
            play.now += BEAT_US;
            msg.beat.sequence = (uint64_t)play.now;
            play_step(&play, (struct event){.kind = EVENT_MESSAGE,
                                            .link = 0,
                                            .msg = &msg,
                                            .backlog = backlog ? 100 : 0});
            resent[backlog] += stage_count_trace(&play.actions, TRACE_RESENT);
        }
        play_close(&play);
    }
    assert_true(resent[0] > 0);
    assert_int_equal(resent[1], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stalls_are_learnt),
        cmocka_unit_test(test_steady_road_keeps_the_limit),
        cmocka_unit_test(test_one_pause_teaches_nothing),
        cmocka_unit_test(test_patience_fades),
        cmocka_unit_test(test_backlog_is_not_sent_again),
    };

    return cmocka_run_group_tests_name("detector", tests, NULL, NULL);
}

/*
 * How quick members are, and who lags: a coordinator under an elastic code; the
 * test plays its workers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "elastic.h"

/* All are well, and say so. */
static void pass(struct play *play, time_us us)
{
    const struct msg beat = {.kind = MSG_BEAT};

    play->now += us;
    for (uint32_t link = 0; link < play->coordinator.members_max; link++) {
        if (play->coordinator.members[link].state != MEMBER_NONE)
            play_say(play, link, &beat);
    }
    play_step(play, (struct event){.kind = EVENT_TIME});
}

/* Two of five are quick, and two suffice: when they are done the other three
 * are waited for as long again, and no longer. */
static void test_most_are_slow(void **state)
{
    (void)state;
    for (uint32_t copies = 1; copies <= 2; copies++) {
        struct play play;
        struct coordinator *c = &play.coordinator;
        uint32_t rounds;

        elastic_open(&play, 5, 2, copies);
        for (rounds = 0; rounds < 8 && c->trainer.optim.step == 0; rounds++) {
            const uint32_t round = c->key.round;

            pass(&play, 100 * MS_US);
            elastic_answer_all(&play, 0);
            elastic_answer_all(&play, 1);
            if (c->key.round == round && c->phase == COORDINATOR_ROUND) {
                assert_true(c->segments.look_at < TIME_NEVER);
                pass(&play, c->segments.look_at - play.now);
                assert_true(c->members[2].lags && !c->members[0].lags);
                (void)elastic_round(&play, 2);
            }
        }
        assert_int_equal(c->trainer.optim.step, 1);
        play_close(&play);
    }
}

/* Half as quick as the other: with two of two nobody can stand in for it. */
static void test_who_is_needed_does_not_lag(void **state)
{
    struct play play;
    struct coordinator *c = &play.coordinator;

    (void)state;
    elastic_open(&play, 4, 2, 1);
    elastic_lose(&play, 2);
    elastic_lose(&play, 3);
    assert_true(elastic_round(&play, 2));
    assert_int_equal(c->what.kind, EVALUATE_COMBINE);
    pass(&play, 100 * MS_US);
    elastic_answer_all(&play, 0);
    for (int i = 0; i < 20; i++)
        pass(&play, 50 * MS_US);
    assert_false(c->members[1].lags);
    assert_int_equal(c->what.kind, EVALUATE_COMBINE);
    assert_false(c->segments.again);
    elastic_answer_all(&play, 1);
    assert_int_equal(c->trainer.optim.step, 1);
    play_close(&play);
}

/* One that hangs in the second round of a way back is left behind as well. */
static void test_a_laggard_of_what_was_left(void **state)
{
    struct play play;
    struct coordinator *c = &play.coordinator;

    (void)state;
    elastic_open(&play, 5, 2, 1);
    assert_true(elastic_round(&play, 5));
    pass(&play, 100 * MS_US);
    for (uint32_t link = 0; link < 4; link++)
        elastic_answer_all(&play, link);
    elastic_lose(&play, 4);
    elastic_journal(&play);
    assert_true(c->segments.again);
    for (uint32_t slow = 3; slow >= 2; slow--) {
        pass(&play, 100 * MS_US);
        for (uint32_t link = 0; link < slow; link++)
            elastic_answer_all(&play, link);
        assert_true(c->segments.look_at < TIME_NEVER);
        pass(&play, c->segments.look_at - play.now);
        assert_true(c->members[slow].lags);
        elastic_journal(&play);
    }
    assert_true(elastic_round(&play, 2));
    assert_int_equal(c->trainer.optim.step, 1);
    play_close(&play);
}

static uint32_t owed(const struct play *play, uint32_t link)
{
    return play->coordinator.members[link].outstanding;
}

/* Two are quick and three a million times slower, which have nothing to do:
 * they are free, but no help.  One of the two that is late is waited for. */
static void test_the_slow_do_not_stand_in(void **state)
{
    struct play play;
    struct coordinator *c = &play.coordinator;

    (void)state;
    elastic_open(&play, 5, 2, 1);
    for (uint32_t link = 0; link < 5; link++)
        c->members[link].pace.speed = link % 4 == 0 ? 1e-6 : 1e-12;
    elastic_step(&play, 5);
    assert_int_equal(owed(&play, 2), 0);
    pass(&play, 100 * MS_US);
    elastic_answer_all(&play, 0);
    for (int i = 0; i < 40; i++)
        pass(&play, 50 * MS_US);
    assert_false(c->members[4].lags);
    assert_int_equal(owed(&play, 2), 0);
    play_close(&play);
}

/* A machine a fifth slower has a fifth less to do, and those who are as quick
 * as most have the same, whoever is slow. */
static void test_shares(void **state)
{
    static const double speeds[][6] = {{1, 1, 1, 0.8, 1, 1},
                                       {1, 1, 1, 1. / 3, 1, 1}};

    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        const struct coordinator_options options = elastic_options(6, 4, 2);
        struct play play;
        struct coordinator *c = &play.coordinator;
        uint32_t others;

        play_open(&play, &options);
        for (uint32_t link = 0; link < 6; link++)
            c->members[link].pace.speed = 1e-6 * speeds[i][link];
        elastic_step(&play, 6);
        others = owed(&play, 0);
        assert_true(owed(&play, 3) < others);
        for (uint32_t link = 0; link < 6; link++)
            assert_true(link == 3 || (owed(&play, link) + 1 >= others &&
                                      owed(&play, link) <= others + 1));
        play_close(&play);
    }
}

/* One that was slow for a while is given nothing; after eight rounds it tries
 * its hand at a piece, for which nobody waits. */
static void test_a_trial(void **state)
{
    struct coordinator_options options = elastic_options(4, 2, 2);
    struct play play;
    struct coordinator *c = &play.coordinator;
    uint32_t rounds = 0;

    (void)state;
    options.optim.steps = 20;
    play_open(&play, &options);
    for (uint32_t link = 0; link < 4; link++)
        c->members[link].pace.speed = link == 2 ? 1e-12 : 1e-6;
    elastic_answer_all(&play, 2);
    for (; rounds < 30 && !c->members[2].lags; rounds++) {
        play.now += 1000;
        assert_true(elastic_round(&play, 4));
        c->members[2].pace.speed = 1e-12;
    }
    assert_int_equal(rounds, 8);
    assert_int_equal(owed(&play, 2), 1);
    play.now += 1000;
    elastic_answer_all(&play, 2);
    assert_false(c->members[2].lags);
    assert_true(elastic_round(&play, 4));
    assert_true(c->members[2].pace.speed > 1e-9);
    play_close(&play);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_most_are_slow),
        cmocka_unit_test(test_who_is_needed_does_not_lag),
        cmocka_unit_test(test_a_laggard_of_what_was_left),
        cmocka_unit_test(test_the_slow_do_not_stand_in),
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_a_trial),
    };

    return cmocka_run_group_tests_name("core/pace", tests, NULL, NULL);
}

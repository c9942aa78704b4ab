/*
 * A coordinator of a job on coded data under an elastic code; the test plays
 * its workers.  Any 2 of 4 machines suffice.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "elastic.h"

enum { SLOTS = 4, NEED = 2 };

static void open_elastic(struct play *play)
{
    elastic_open(play, SLOTS, NEED, 2);
}

/* Fewer than L are left, or will be: the step at hand is given up. */
static void test_a_stop_below_l(void **state)
{
    (void)state;
    for (int first = 0; first < 2; first++) {
        struct play play;

        open_elastic(&play);
        elastic_step(&play, SLOTS);
        if (first)
            play_step(&play, (struct event){.kind = EVENT_STOP});
        elastic_lose(&play, 1);
        elastic_lose(&play, 2);
        assert_int_equal(play.coordinator.phase, COORDINATOR_ROUND);
        elastic_lose(&play, 3);
        if (!first)
            play_step(&play, (struct event){.kind = EVENT_STOP});
        elastic_ends_stopped(&play, 1);
        assert_int_equal(stage_count_msg(&play.actions, MSG_BYE), 1);
        play_close(&play);
    }
}

/* Halfway through a gradient, too: the scores were in vain. */
static void test_a_stop_on_the_way_back(void **state)
{
    struct play play;

    (void)state;
    open_elastic(&play);
    elastic_step(&play, SLOTS);
    assert_true(elastic_round(&play, SLOTS));
    assert_true(play.coordinator.products.halfway);
    for (uint32_t link = 1; link < SLOTS; link++)
        elastic_lose(&play, link);
    play_step(&play, (struct event){.kind = EVENT_STOP});
    elastic_ends_stopped(&play, 1);
    play_close(&play);
}

/* With L of them the step is finished first. */
static void test_a_stop_with_enough(void **state)
{
    struct play play;

    (void)state;
    open_elastic(&play);
    play_step(&play, (struct event){.kind = EVENT_STOP});
    elastic_lose(&play, 1);
    elastic_lose(&play, 2);
    assert_int_equal(play.coordinator.phase, COORDINATOR_ROUND);
    assert_int_equal(stage_count(&play.actions, ACTION_JOURNAL), 0);
    play_close(&play);
}

/* Whoever is silent cannot be waited for either. */
static void test_a_stop_while_others_are_silent(void **state)
{
    const struct msg beat = {.kind = MSG_BEAT};
    struct play play;

    (void)state;
    open_elastic(&play);
    elastic_step(&play, SLOTS);
    play_step(&play, (struct event){.kind = EVENT_STOP});
    for (uint32_t i = 0; i < 40 && play.coordinator.phase == COORDINATOR_ROUND;
         i++) {
        play.now += 50 * MS_US;
        play_say(&play, 0, &beat);
        play_step(&play, (struct event){.kind = EVENT_TIME});
    }
    assert_true(play.coordinator.members[1].suspect);
    assert_int_equal(play.coordinator.alive, SLOTS);
    elastic_ends_stopped(&play, 1);
    play_close(&play);
}

/* Half of them are idle at 100 ms: there will be a look at 130.  Somebody dies
 * just before, and the idle ones get what it owed: they do not lag. */
static void test_new_work_is_no_lag(void **state)
{
    struct play play;
    struct coordinator *c = &play.coordinator;

    (void)state;
    open_elastic(&play);
    play.now += 100 * MS_US;
    elastic_answer_all(&play, 0);
    elastic_answer_all(&play, 1);
    assert_int_equal(c->members[0].outstanding + c->members[1].outstanding, 0);
    assert_int_equal(c->segments.look_at, 130 * MS_US + 1);
    play.now += 29 * MS_US;
    elastic_lose(&play, 3);
    assert_true(c->members[0].outstanding + c->members[1].outstanding > 0);
    play.now += 2 * MS_US;
    play_step(&play, (struct event){.kind = EVENT_TIME});
    for (uint32_t link = 0; link < 3; link++)
        assert_false(c->members[link].lags);
    elastic_answer_all(&play, 0);
    elastic_answer_all(&play, 1);
    assert_true(c->segments.look_at > play.now &&
                c->segments.look_at < TIME_NEVER);
    play.now = c->segments.look_at;
    play_step(&play, (struct event){.kind = EVENT_TIME});
    assert_true(c->members[2].lags);
    play_close(&play);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_stop_below_l),
        cmocka_unit_test(test_a_stop_on_the_way_back),
        cmocka_unit_test(test_a_stop_with_enough),
        cmocka_unit_test(test_a_stop_while_others_are_silent),
        cmocka_unit_test(test_new_work_is_no_lag),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

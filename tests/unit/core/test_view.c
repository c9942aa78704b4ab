/*
 * Who has a slot when there are more workers than a code serves.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "play.h"

static double no_slopes(void *context, uint32_t soft, double *scores)
{
    (void)context;
    (void)soft;
    *scores = 0;
    return 0;
}

/* Code mds goes up to 1,000: one more is no reason to end the job.  It waits,
 * and takes the place of who dies. */
static void test_a_joiner_beyond_the_limit_waits(void **state)
{
    struct coordinator_options options =
        stage_options("mds", CODE_NUMERIC_MAX, 1, 3);
    struct play play;

    (void)state;
    options.slopes = no_slopes;
    play_begin(&play, &options);
    for (uint32_t link = 0; link <= CODE_NUMERIC_MAX; link++) {
        char name[NAME_SIZE];

        (void)snprintf(name, sizeof name, "w%u", link);
        play_hello(&play, link, name, link + 1);
    }
    play_step(&play, (struct event){.kind = EVENT_JOURNALED});
    play_step(&play, (struct event){.kind = EVENT_JOURNALED});
    assert_int_equal(play.coordinator.phase, COORDINATOR_ROUND);
    assert_int_equal(play.coordinator.code.slots, CODE_NUMERIC_MAX);
    assert_int_equal(play.coordinator.members[CODE_NUMERIC_MAX].state,
                     MEMBER_READY);
    for (uint32_t link = 3; link < 5; link++)
        play_step(&play, (struct event){.kind = EVENT_LINK_DOWN, .link = link});
    play_step(&play, (struct event){.kind = EVENT_JOURNALED});
    assert_int_equal(play.coordinator.phase, COORDINATOR_ROUND);
    assert_int_equal(play.coordinator.members[CODE_NUMERIC_MAX].state,
                     MEMBER_ACTIVE);
    play_close(&play);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_joiner_beyond_the_limit_waits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Private data: the test plays owners to a coordinator.  Each test is one rule
 * HOME-n of docs/protocol.md.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/star/coordinator.h"
#include "play.h"

#define CHUNKS 4u
#define WAIT   (10 * SECOND_US)

/* Homes of one chunk and of three. */
static const struct home homes[] = {
    {.part = {{1}}, .first = 0, .end = 1, .rows = 3},
    {.part = {{2}}, .first = 1, .end = CHUNKS, .rows = 12},
};
static const uint32_t home_chunk[] = {0, 1, CHUNKS};
static const uint32_t home_slot[] = {0, 1, 2};
static const struct code_homes code_homes = {2, home_chunk, home_slot};

static struct msg greeting(uint32_t link, uint8_t part)
{
    struct msg msg = {.kind = MSG_HELLO};

    msg.hello.version = MSG_VERSION;
    msg.hello.incarnation = link + 1;
    msg.hello.owns = true;
    msg.hello.part.bytes[0] = part;
    (void)snprintf(msg.hello.name, NAME_SIZE, "h%u", link);
    return msg;
}

static void hello(struct play *play, uint32_t link, uint8_t part)
{
    const struct msg msg = greeting(link, part);

    play_say(play, link, &msg);
}

static void open_play(struct play *play, const char *code, uint32_t stragglers)
{
    struct coordinator_options options = stage_options(code, 2, stragglers, 3);

    options.code.placement = PLACE_HOMES;
    options.code.homes = &code_homes;
    options.job.owned = true;
    options.homes = homes;
    options.home_count = 2;
    options.owner_us = WAIT;
    assert_int_equal(options.job.chunks, CHUNKS);
    play_begin(play, &options);
}

/* Chunks that the last step gave the link to compute, as bits. */
static uint32_t given(const struct play *play, uint32_t link)
{
    uint32_t bits = 0;

    for (uint32_t i = 0; i < play->actions.count; i++) {
        const struct action *action = &play->actions.list[i];
        const bool round = action->msg.kind == MSG_ROUND;
        const struct item *items =
            round ? action->msg.round.items : action->msg.work.items;
        const uint32_t count =
            round ? action->msg.round.count : action->msg.work.count;

        if (action->kind != ACTION_SEND || action->link != link ||
            (!round && action->msg.kind != MSG_WORK))
            continue;
        for (uint32_t k = 0; k < count; k++) {
            for (uint32_t c = items[k].first; c < items[k].end; c++)
                bits |= 1u << c;
        }
    }
    return bits;
}

static void begin(struct play *play, const char *code, uint32_t stragglers)
{
    open_play(play, code, stragglers);
    hello(play, 0, 1);
    hello(play, 1, 2);
    play_step(play, (struct event){.kind = EVENT_JOURNALED});
    assert_int_equal(play->coordinator.phase, COORDINATOR_ROUND);
    assert_int_equal(given(play, 0), 1);
    assert_int_equal(given(play, 1), 14);
}

/* The other one goes on beating, or it would be next. */
static void beats(struct play *play, uint32_t link, time_us until)
{
    struct msg msg = {.kind = MSG_BEAT};

    while (play->now < until) {
        play->now += 40 * MS_US;
        msg.beat.sequence++;
        msg.beat.queued = 1;
        msg.beat.assignment = 1;
        play_say(play, link, &msg);
        play_step(play, (struct event){.kind = EVENT_TIME});
        if (play->coordinator.phase == COORDINATOR_FAILED ||
            stage_count_trace(&play->actions, TRACE_AWAY) > 0)
            return;
    }
}

/* HOME-1: whatever a worker says, it is given and sent nothing else. */
static void test_nobody_is_sent_rows(void **state)
{
    const uint8_t all = 15;
    const struct msg have = {.kind = MSG_HAVE, .have = {CHUNKS, &all, &all}};
    const struct msg need = {.kind = MSG_NEED, .need = {0, CHUNKS}};
    struct play play;

    (void)state;
    begin(&play, "steal", 0);
    play_say(&play, 0, &have);
    play_say(&play, 0, &need);
    assert_int_equal(stage_count(&play.actions, ACTION_SHIP), 0);
    assert_int_equal(stage_count_msg(&play.actions, MSG_DATA), 0);
    play_step(&play, (struct event){.kind = EVENT_LINK_DOWN, .link = 1});
    assert_int_equal(given(&play, 0), 0);
    assert_int_equal(stage_count(&play.actions, ACTION_SHIP), 0);
    play_close(&play);
}

/* HOME-2: it waits, says so, and whoever comes back is given the pieces. */
static void test_waits_for_its_owner(void **state)
{
    struct play play;

    (void)state;
    begin(&play, "steal", 0);
    play_step(&play, (struct event){.kind = EVENT_LINK_DOWN, .link = 1});
    beats(&play, 0, 2 * SECOND_US);
    assert_int_equal(stage_count_trace(&play.actions, TRACE_AWAY), 1);
    assert_int_equal(play.coordinator.phase, COORDINATOR_ROUND);
    hello(&play, 2, 2);
    assert_int_equal(given(&play, 2), 14);
    play_step(&play, (struct event){.kind = EVENT_TIME});
    assert_int_equal(stage_count_trace(&play.actions, TRACE_HOME), 1);
    play_close(&play);
}

/* HOME-3: not for ever. */
static void test_gives_up(void **state)
{
    struct play play;

    (void)state;
    begin(&play, "uncoded", 0);
    play_step(&play, (struct event){.kind = EVENT_LINK_DOWN, .link = 1});
    beats(&play, 0, 2 * SECOND_US);
    beats(&play, 0, WAIT - SECOND_US);
    assert_int_equal(play.coordinator.phase, COORDINATOR_ROUND);
    beats(&play, 0, WAIT + SECOND_US);
    play_step(&play, (struct event){.kind = EVENT_JOURNALED});
    assert_int_equal(play.coordinator.phase, COORDINATOR_FAILED);
    assert_non_null(strstr(play.coordinator.reason, "rows 3 to 14 (h1)"));
    play_close(&play);
}

/* One step was made since the last checkpoint: there is one before the end, and
 * the sentence tells whether it is on the disk. */
static void test_gives_up_with_its_state_saved(void **state)
{
    static const enum err errs[] = {ERR_OK, ERR_IO};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct play play;

        begin(&play, "uncoded", 0);
        play_answer(&play, 0, 0, 1);
        play_answer(&play, 1, 1, 1);
        assert_int_equal(play.coordinator.trainer.optim.step, 1);
        play_step(&play, (struct event){.kind = EVENT_JOURNALED});
        play_step(&play, (struct event){.kind = EVENT_LINK_DOWN, .link = 1});
        beats(&play, 0, 2 * SECOND_US);
        while (play.coordinator.phase == COORDINATOR_ROUND)
            beats(&play, 0, play.now + SECOND_US);
        assert_int_equal(play.coordinator.phase, COORDINATOR_COMMITTING);
        play_step(&play, (struct event){.kind = EVENT_JOURNALED});
        assert_int_equal(stage_count(&play.actions, ACTION_CHECKPOINT), 1);
        assert_int_equal(stage_count(&play.actions, ACTION_FINISH), 0);
        play_step(&play, (struct event){.kind = EVENT_CHECKPOINTED,
                                        .step = 1,
                                        .err = errs[i]});
        assert_int_equal(play.coordinator.phase, COORDINATOR_FAILED);
        assert_non_null(strstr(play.coordinator.reason, "(h1) has been away"));
        assert_non_null(strstr(play.coordinator.reason,
                               i == 0 ? "the state is saved, go on"
                                      : "saved as of step 0 only"));
        play_close(&play);
    }
}

/* HOME-4: a code that leaves some out does not wait, and never gives up. */
static void test_ignore_goes_on(void **state)
{
    struct play play;

    (void)state;
    begin(&play, "ignore", 1);
    play_step(&play, (struct event){.kind = EVENT_LINK_DOWN, .link = 1});
    beats(&play, 0, 2 * SECOND_US);
    beats(&play, 0, WAIT + SECOND_US);
    assert_int_equal(play.coordinator.phase, COORDINATOR_ROUND);
    play_close(&play);
}

/* HOME-5: who has the same file may take over. */
static void test_replicas(void **state)
{
    struct play play;

    (void)state;
    begin(&play, "steal", 0);
    hello(&play, 2, 2);
    play_step(&play, (struct event){.kind = EVENT_LINK_DOWN, .link = 1});
    assert_int_equal(given(&play, 2), 14);
    play_close(&play);
}

static bool refused(struct play *play, uint32_t link, const struct msg *msg)
{
    play_say(play, link, msg);
    return stage_count_msg(&play->actions, MSG_REJECT) == 1 &&
           stage_count_msg(&play->actions, MSG_WELCOME) == 0;
}

static void test_strangers(void **state)
{
    struct play play;
    struct msg msg;

    (void)state;
    begin(&play, "steal", 0);
    msg = greeting(3, 9); /* A file that nobody knows. */
    assert_true(refused(&play, 3, &msg));
    msg = greeting(3, 2);
    msg.hello.owns = false; /* No file at all. */
    assert_true(refused(&play, 3, &msg));
    msg = greeting(3, 2);
    msg.hello.data.bytes[0] = 1; /* The place it had in another run. */
    assert_true(refused(&play, 3, &msg));
    msg = greeting(3, 2);
    assert_false(refused(&play, 3, &msg));
    play_close(&play);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nobody_is_sent_rows),
        cmocka_unit_test(test_waits_for_its_owner),
        cmocka_unit_test(test_gives_up),
        cmocka_unit_test(test_gives_up_with_its_state_saved),
        cmocka_unit_test(test_ignore_goes_on),
        cmocka_unit_test(test_replicas),
        cmocka_unit_test(test_strangers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

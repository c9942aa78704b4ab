/*
 * Who is sent which data: the test plays the other side of a coordinator, then
 * of a worker.  Each test is one rule of "Who has which data" in
 * docs/protocol.md.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/star/coordinator.h"
#include "core/worker/worker.h"
#include "play.h"

#define CHUNKS 4u
#define SHARDS 6u

/* --- the coordinator ------------------------------------------------------ */

static const struct digest digests[SHARDS];

static void need(struct play *play, uint32_t link, uint32_t first, uint32_t end)
{
    const struct msg msg = {.kind = MSG_NEED, .need = {first, end}};

    play_say(play, link, &msg);
}

static void open_play(struct play *play, const char *place)
{
    struct coordinator_options options = stage_options("uncoded", 2, 0, 3);

    options.job.keyed = true;
    options.chunk_digests = digests;
    options.place = place;
    assert_int_equal(options.job.chunks, CHUNKS);
    play_begin(play, &options);
}

/* Chunks shipped to the link, or named to it, as bits. */
static uint32_t sent(const struct play *play, uint32_t link, bool fetch)
{
    uint32_t bits = 0;

    for (uint32_t i = 0; i < play->actions.count; i++) {
        const struct action *action = &play->actions.list[i];
        const bool named =
            action->kind == ACTION_SEND && action->msg.kind == MSG_FETCH;
        const uint32_t first = named ? action->msg.fetch.first : action->first;
        const uint32_t end = named ? action->msg.fetch.end : action->end;

        if (action->link != link || named != fetch ||
            (!named && action->kind != ACTION_SHIP))
            continue;
        for (uint32_t chunk = first; chunk < end; chunk++)
            bits |= 1u << chunk;
    }
    return bits;
}

static int place_of(const struct actions *actions, enum action_kind kind)
{
    for (uint32_t i = 0; i < actions->count; i++) {
        if (actions->list[i].kind == kind &&
            (kind != ACTION_SEND || actions->list[i].msg.kind == MSG_ROUND))
            return (int)i;
    }
    return -1;
}

static void test_round_goes_ahead_of_the_data(void **state)
{
    struct play play;

    (void)state;
    open_play(&play, NULL);
    play_hello_far(&play, 0, false);
    assert_int_equal(stage_count_msg(&play.actions, MSG_CHUNKS), 1);
    play_hello_far(&play, 1, false);
    play_step(&play, (struct event){.kind = EVENT_JOURNALED});
    assert_int_equal(sent(&play, 0, false), 3);
    assert_int_equal(sent(&play, 1, false), 12);
    assert_true(place_of(&play.actions, ACTION_SEND) >= 0);
    assert_true(place_of(&play.actions, ACTION_SEND) <
                place_of(&play.actions, ACTION_SHIP));
    play_close(&play);
}

/* Slots are given once all have said what they have, and by that. */
static void test_data_finds_its_slot(void **state)
{
    struct play play;

    (void)state;
    open_play(&play, NULL);
    play_hello_far(&play, 0, true);
    play_hello_far(&play, 1, true);
    assert_int_equal(play.coordinator.phase, COORDINATOR_GATHERING);
    play_have(&play, 0, 0, 12);
    play_have(&play, 1, 3, 0);
    assert_int_equal(play.coordinator.phase, COORDINATOR_VIEWING);
    play_step(&play, (struct event){.kind = EVENT_JOURNALED});
    assert_int_equal(stage_count(&play.actions, ACTION_SHIP), 0);
    assert_int_equal(sent(&play, 0, true), 12);
    assert_int_equal(sent(&play, 1, true), 0);
    assert_int_equal(play.coordinator.stats.fetched, 2);
    assert_int_equal(play.coordinator.stats.shipped, 0);
    play_close(&play);
}

/* One that does not say is not waited for for ever, nor sent data before. */
static void test_silence_about_data(void **state)
{
    struct play play;

    (void)state;
    open_play(&play, NULL);
    play_hello_far(&play, 0, true);
    play_hello_far(&play, 1, true);
    play_have(&play, 1, 0, 0);
    assert_int_equal(play.coordinator.phase, COORDINATOR_GATHERING);
    play.now += 600 * MS_US;
    play_step(&play, (struct event){.kind = EVENT_TIME});
    assert_int_equal(play.coordinator.phase, COORDINATOR_VIEWING);
    play_step(&play, (struct event){.kind = EVENT_JOURNALED});
    assert_int_equal(sent(&play, 0, false), 0);
    assert_int_equal(sent(&play, 1, false), 12);
    play_have(&play, 0, 1, 0);
    assert_int_equal(sent(&play, 0, false), 2);
    play_close(&play);
}

/* Seed 11317: the beats of many workers put off every tick, and who waited for
 * a HAVE that was lost never looked again. */
static void test_beats_alone_end_the_wait_for_have(void **state)
{
    struct msg beat = {.kind = MSG_BEAT};
    struct play play;

    (void)state;
    open_play(&play, NULL);
    play_hello_far(&play, 0, true);
    play_hello_far(&play, 1, true);
    for (uint32_t i = 0; i < 12; i++) {
        play.now += 50 * MS_US;
        beat.beat.sequence++;
        play_say(&play, i % 2, &beat);
    }
    assert_int_equal(play.coordinator.phase, COORDINATOR_VIEWING);
    play_close(&play);
}

/* DATA-1, from the coordinator's side. */
static void test_what_is_not_near_any_more_is_sent(void **state)
{
    struct play play;

    (void)state;
    open_play(&play, NULL);
    play_hello_far(&play, 0, true);
    play_have(&play, 0, 0, 15);
    play_hello_far(&play, 1, false);
    play_step(&play, (struct event){.kind = EVENT_JOURNALED});
    assert_int_equal(sent(&play, 0, true), 3);
    play_have(&play, 0, 1, 13);
    assert_int_equal(sent(&play, 0, false), 0);
    need(&play, 0, 1, 2);
    assert_int_equal(sent(&play, 0, false), 2);
    assert_int_equal(sent(&play, 0, true), 0);
    play_close(&play);
}

/* DATA-2 */
static void test_shared_data_is_not_sent(void **state)
{
    struct play play;

    (void)state;
    open_play(&play, "/mnt/all/data");
    play_hello_far(&play, 0, true);
    assert_int_equal(stage_find(&play.actions, MSG_CHUNKS)->chunks.place_size,
                     13);
    play_hello_far(&play, 1, true);
    play_have(&play, 1, 0, 15);
    play.now += SECOND_US;
    play_step(&play, (struct event){.kind = EVENT_TIME});
    play_step(&play, (struct event){.kind = EVENT_JOURNALED});
    need(&play, 0, 0, 1); /* CHUNKS never came. */
    assert_int_equal(stage_count_msg(&play.actions, MSG_CHUNKS), 1);
    assert_int_equal(stage_count(&play.actions, ACTION_SHIP), 0);
    play_have(&play, 0, 0, 15);
    assert_int_equal(sent(&play, 0, true), 3);
    assert_int_equal(play.coordinator.stats.shipped, 0);
    play_close(&play);
}

/* Other counts are another job's. */
static void test_have_of_another_job(void **state)
{
    const uint8_t bits[2] = {255, 255};
    const struct msg msg = {.kind = MSG_HAVE, .have = {CHUNKS + 1, bits, bits}};
    struct play play;

    (void)state;
    open_play(&play, NULL);
    play_hello_far(&play, 0, true);
    play_say(&play, 0, &msg);
    assert_int_equal(play.coordinator.members[0].held.members, 0);
    assert_true(play.coordinator.members[0].counting);
    play_close(&play);
}

/* Steps draw their rows from all shards: everybody is sent all, once. */
static void test_scattered_rows_are_all_sent(void **state)
{
    struct coordinator_options options = stage_options("uncoded", 2, 0, 3);
    struct play play;

    (void)state;
    options.job.keyed = true;
    options.job.scattered = SHARDS;
    options.chunk_digests = digests;
    play_begin(&play, &options);
    play_hello_far(&play, 0, false);
    assert_int_equal(stage_find(&play.actions, MSG_CHUNKS)->chunks.count,
                     SHARDS);
    play_hello_far(&play, 1, false);
    play_step(&play, (struct event){.kind = EVENT_JOURNALED});
    assert_int_equal(sent(&play, 0, false), 63);
    assert_int_equal(sent(&play, 1, false), 63);
    assert_int_equal(play.coordinator.stats.shipped, 2 * SHARDS);
    play_close(&play);
}

/* --- the worker ----------------------------------------------------------- */

struct role {
    struct worker worker;
    struct actions actions;
    time_us now;
    struct chunkset near;
    uint32_t scattered;
};

static void play_on(struct role *role, struct event event)
{
    event.now = role->now;
    worker_step(&role->worker, &event, &role->actions);
}

static void hear(struct role *role, const struct msg *msg)
{
    play_on(role, (struct event){.kind = EVENT_MESSAGE, .msg = msg});
}

static void hear_welcome(struct role *role)
{
    struct msg msg = {.kind = MSG_WELCOME};

    msg.welcome = stage_job(CHUNKS);
    msg.welcome.keyed = true;
    msg.welcome.scattered = role->scattered;
    hear(role, &msg);
}

static void hear_chunks(struct role *role)
{
    struct msg msg = {.kind = MSG_CHUNKS};

    msg.chunks.count = role->near.count;
    msg.chunks.digests = digests->bytes;
    hear(role, &msg);
}

static void hear_fetch(struct role *role, uint32_t first, uint32_t end)
{
    const struct msg msg = {.kind = MSG_FETCH, .fetch = {first, end}};

    hear(role, &msg);
}

static void hear_data(struct role *role, uint32_t chunk)
{
    const uint8_t byte = 0;
    const struct msg msg = {
        .kind = MSG_DATA, .data = {.chunk = chunk, .bytes = &byte, .size = 1}};

    hear(role, &msg);
}

static void hear_round(struct role *role, bool coded)
{
    static const double weights[8];
    static const int16_t exponent[9];
    const struct item items[2] = {{0, 0, 2, 1}, {1, 2, 4, 1}};
    struct msg msg = {.kind = MSG_ROUND};

    msg.round = (struct msg_round){
        .key = {.job = 77, .view = 1},
        .assignment = 1,
        .coded = coded,
        .count = 2,
        .items = items,
        .dims = 8,
        .weights = weights,
        .exponent = exponent,
    };
    hear(role, &msg);
}

static void fetched(struct role *role, uint32_t chunk, enum err err)
{
    play_on(role, (struct event){.kind = EVENT_FETCHED,
                                 .chunk = chunk,
                                 .end = chunk + 1,
                                 .err = err});
}

/* Welcomed, with chunks 1 to 3 on its disk. */
static void open_scattered(struct role *role, uint32_t scattered)
{
    const struct worker_options options = {
        .name = "far",
        .incarnation = 5,
        .keeps = true,
        .retry_us = 10 * MS_US,
        .retry_max_us = 100 * MS_US,
        .give_up_us = TIME_NEVER,
    };

    memset(role, 0, sizeof *role);
    role->scattered = scattered;
    assert_int_equal(actions_init(&role->actions, 4), ERR_OK);
    assert_int_equal(
        chunkset_init(&role->near, scattered > 0 ? scattered : CHUNKS), ERR_OK);
    chunkset_add_range(&role->near, 1, CHUNKS);
    worker_init(&role->worker, &options);
    play_on(role, (struct event){.kind = EVENT_START});
    play_on(role, (struct event){.kind = EVENT_LINK_UP});
    assert_true(stage_find(&role->actions, MSG_HELLO)->hello.keeps);
    hear_welcome(role);
    assert_int_equal(stage_count_msg(&role->actions, MSG_HAVE), 0);
    hear_chunks(role);
    assert_int_equal(stage_count(&role->actions, ACTION_RECALL), 1);
    play_on(role, (struct event){.kind = EVENT_RECALLED, .near = &role->near});
    assert_int_equal(stage_find(&role->actions, MSG_HAVE)->have.near[0], 14);
    assert_int_equal(stage_find(&role->actions, MSG_HAVE)->have.held[0], 0);
}

static void open_role(struct role *role)
{
    open_scattered(role, 0);
}

static void close_role(struct role *role)
{
    worker_close(&role->worker);
    chunkset_close(&role->near);
    actions_close(&role->actions);
}

static void test_worker_begins_with_what_is_there(void **state)
{
    struct role role;

    (void)state;
    open_role(&role);
    hear_round(&role, false);
    hear_fetch(&role, 1, 4);
    assert_int_equal(stage_count(&role.actions, ACTION_FETCH), 1);
    hear_fetch(&role, 1, 4); /* Is on its way. */
    assert_int_equal(stage_count(&role.actions, ACTION_FETCH), 0);
    fetched(&role, 2, ERR_OK);
    assert_int_equal(stage_count(&role.actions, ACTION_COMPUTE), 0);
    fetched(&role, 3, ERR_OK);
    assert_int_equal(
        stage_find_action(&role.actions, ACTION_COMPUTE)->computation.first, 2);
    close_role(&role);
}

/* Any row may be in any chunk: nothing is computed before all are here. */
static void test_scattered_rows_are_waited_for(void **state)
{
    struct role role;

    (void)state;
    open_scattered(&role, SHARDS);
    hear_round(&role, false);
    role.now += SECOND_US;
    play_on(&role, (struct event){.kind = EVENT_TIME});
    assert_int_equal(stage_find(&role.actions, MSG_NEED)->need.first, 0);
    assert_int_equal(stage_find(&role.actions, MSG_NEED)->need.end, SHARDS);
    hear_fetch(&role, 1, 4);
    for (uint32_t shard = 1; shard < 4; shard++)
        fetched(&role, shard, ERR_OK);
    hear_data(&role, 0); /* All that has the number of a chunk. */
    hear_data(&role, 4);
    assert_int_equal(stage_count(&role.actions, ACTION_COMPUTE), 0);
    hear_data(&role, 5);
    assert_int_equal(stage_count(&role.actions, ACTION_COMPUTE), 1);
    close_role(&role);
}

/* The order of a row's additions is part of its bits. */
static void test_rows_keep_their_order(void **state)
{
    struct role role;

    (void)state;
    open_role(&role);
    hear_round(&role, true);
    hear_fetch(&role, 2, 4);
    fetched(&role, 2, ERR_OK);
    fetched(&role, 3, ERR_OK);
    assert_int_equal(stage_count(&role.actions, ACTION_COMPUTE), 0);
    hear_data(&role, 0);
    hear_data(&role, 1);
    assert_int_equal(
        stage_find_action(&role.actions, ACTION_COMPUTE)->computation.first, 0);
    close_role(&role);
}

/* As long as data comes, or is being read, nothing is asked for. */
static void test_patience_while_data_comes(void **state)
{
    struct role role;

    (void)state;
    open_role(&role);
    hear_round(&role, false);
    hear_fetch(&role, 1, 2);
    role.now += 150 * MS_US;
    hear_data(&role, 3);
    role.now += 150 * MS_US;
    play_on(&role, (struct event){.kind = EVENT_TIME});
    assert_int_equal(stage_count_msg(&role.actions, MSG_NEED), 0);
    role.now += 150 * MS_US;
    play_on(&role, (struct event){.kind = EVENT_TIME});
    assert_int_equal(stage_find(&role.actions, MSG_NEED)->need.first, 0);
    assert_int_equal(stage_find(&role.actions, MSG_NEED)->need.end, 1);
    close_role(&role);
}

/* DATA-1 */
static void test_damage_is_asked_for(void **state)
{
    struct role role;

    (void)state;
    open_role(&role);
    hear_round(&role, false);
    hear_fetch(&role, 1, 2);
    fetched(&role, 1, ERR_MISMATCH);
    assert_int_equal(stage_find(&role.actions, MSG_HAVE)->have.near[0], 12);
    assert_int_equal(stage_find(&role.actions, MSG_NEED)->need.first, 1);
    assert_int_equal(stage_find(&role.actions, MSG_NEED)->need.end, 2);
    assert_false(chunkset_has(&role.worker.held, 1));
    close_role(&role);
}

/* A lost connection does not lose what is held. */
static void test_have_after_a_new_connection(void **state)
{
    struct role role;

    (void)state;
    open_role(&role);
    hear_data(&role, 0);
    play_on(&role, (struct event){.kind = EVENT_LINK_DOWN});
    role.now += SECOND_US;
    play_on(&role, (struct event){.kind = EVENT_TIME});
    play_on(&role, (struct event){.kind = EVENT_LINK_UP});
    hear_welcome(&role);
    assert_int_equal(stage_find(&role.actions, MSG_HAVE)->have.held[0], 1);
    assert_int_equal(stage_find(&role.actions, MSG_HAVE)->have.near[0], 14);
    hear_chunks(&role);
    assert_int_equal(stage_count(&role.actions, ACTION_RECALL), 0);
    close_role(&role);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_goes_ahead_of_the_data),
        cmocka_unit_test(test_data_finds_its_slot),
        cmocka_unit_test(test_silence_about_data),
        cmocka_unit_test(test_beats_alone_end_the_wait_for_have),
        cmocka_unit_test(test_what_is_not_near_any_more_is_sent),
        cmocka_unit_test(test_shared_data_is_not_sent),
        cmocka_unit_test(test_have_of_another_job),
        cmocka_unit_test(test_scattered_rows_are_all_sent),
        cmocka_unit_test(test_worker_begins_with_what_is_there),
        cmocka_unit_test(test_scattered_rows_are_waited_for),
        cmocka_unit_test(test_rows_keep_their_order),
        cmocka_unit_test(test_patience_while_data_comes),
        cmocka_unit_test(test_damage_is_asked_for),
        cmocka_unit_test(test_have_after_a_new_connection),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

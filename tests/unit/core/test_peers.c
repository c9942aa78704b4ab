/*
 * Who gets chunks from whom: the test plays the workers of a coordinator whose
 * code gives everybody everything, then the coordinator of one worker.  Each
 * test is one of the rules PEER-n of src/core/star/peers.c.
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

#define CHUNKS  4u
#define ALL     15u
#define WORKERS 4u

static const struct digest digests[CHUNKS];

/* --- the coordinator ------------------------------------------------------ */

static struct coordinator_options replicated(uint32_t slots)
{
    struct coordinator_options options =
        stage_options("frc", slots, slots - 1, 3);

    options.job = stage_job(CHUNKS);
    options.job.keyed = true;
    options.chunk_digests = digests;
    options.peers = true;
    return options;
}

static void serving(struct play *play, uint32_t link, uint16_t port, bool local)
{
    const struct msg msg = {.kind = MSG_SERVING, .serving = {port, local}};

    play_say(play, link, &msg);
}

static void failed(struct play *play, uint32_t link, uint32_t first,
                   uint32_t peer, bool wrong)
{
    const struct msg msg = {.kind = MSG_NEED,
                            .need = {first, first + 1, peer, wrong}};

    play_say(play, link, &msg);
}

/* Chunks that the last step had sent to `link`, as bits: from here ... */
static uint32_t shipped(const struct play *play, uint32_t link)
{
    uint32_t bits = 0;

    for (uint32_t i = 0; i < play->actions.count; i++) {
        const struct action *action = &play->actions.list[i];

        for (uint32_t chunk = action->first;
             action->kind == ACTION_SHIP && action->link == link &&
             chunk < action->end;
             chunk++)
            bits |= 1u << chunk;
    }
    return bits;
}

/* ... or from `source`. */
static uint32_t named(const struct play *play, uint32_t link, uint32_t source)
{
    uint32_t bits = 0;

    for (uint32_t i = 0; i < play->actions.count; i++) {
        const struct action *action = &play->actions.list[i];
        const struct msg_fetch *fetch = &action->msg.fetch;

        if (action->kind != ACTION_SEND || action->msg.kind != MSG_FETCH ||
            action->link != link || fetch->peer == 0 || fetch->source != source)
            continue;
        assert_int_equal(fetch->peer,
                         play->coordinator.members[source].peer.id);
        assert_int_equal(fetch->port, 1000 + source);
        for (uint32_t chunk = fetch->first; chunk < fetch->end; chunk++)
            bits |= 1u << chunk;
    }
    return bits;
}

static uint32_t id_of(const struct play *play, uint32_t link)
{
    return play->coordinator.members[link].peer.id;
}

/* Workers 0.. are in, serve, and have the data of `held`; the round opens. */
static void open_play(struct play *play, uint32_t slots)
{
    const struct coordinator_options options = replicated(slots);

    play_begin(play, &options);
    for (uint32_t link = 0; link < slots; link++) {
        play_hello_far(play, link, true);
        assert_int_equal(stage_count_msg(&play->actions, MSG_SERVE), 1);
        serving(play, link, (uint16_t)(1000 + link), false);
    }
    for (uint32_t link = 0; link < slots; link++)
        play_have(play, link, 0, 0);
    play_step(play, (struct event){.kind = EVENT_JOURNALED});
}

/* One copy leaves the coordinator, however many need it. */
static void test_one_copy(void **state)
{
    struct play play;
    uint32_t from_peers = 0;

    (void)state;
    open_play(&play, WORKERS);
    assert_int_equal(shipped(&play, 0), ALL);
    for (uint32_t link = 1; link < WORKERS; link++) {
        assert_int_equal(shipped(&play, link), 0);
        for (uint32_t source = 0; source < WORKERS; source++)
            from_peers |= named(&play, link, source) << (link * CHUNKS);
    }
    assert_int_equal(from_peers, 0xfff0);
    assert_int_equal(play.coordinator.stats.shipped, CHUNKS);
    assert_int_equal(play.coordinator.stats.peered, (WORKERS - 1) * CHUNKS);
    /* Nobody is asked for much more than one copy. */
    for (uint32_t link = 0; link < WORKERS; link++)
        assert_true(play.coordinator.members[link].peer.asked <= CHUNKS);
    play_close(&play);
}

/* Who says that it will not serve is not asked to, nor waited for. */
static void test_alone(void **state)
{
    const struct coordinator_options options = replicated(2);
    struct msg hermit = {.kind = MSG_HELLO};
    struct play play;

    (void)state;
    hermit.hello = (struct msg_hello){
        .version = MSG_VERSION, .incarnation = 2, .alone = true};
    memcpy(hermit.hello.name, "hermit", sizeof "hermit");
    play_begin(&play, &options);
    play_hello_far(&play, 0, true);
    assert_int_equal(stage_count_msg(&play.actions, MSG_SERVE), 1);
    serving(&play, 0, 1000, false);
    play_have(&play, 0, ALL, 0);
    play_say(&play, 1, &hermit);
    assert_int_equal(stage_count_msg(&play.actions, MSG_SERVE), 0);
    assert_int_equal(play.coordinator.phase, COORDINATOR_VIEWING);
    serving(&play, 1, 1001, false); /* It should not, and is no peer for it. */
    play_step(&play, (struct event){.kind = EVENT_JOURNALED});
    assert_int_equal(shipped(&play, 1), ALL);
    assert_int_equal(named(&play, 1, 0), 0);
    play_close(&play);
}

/* PEER-2, PEER-3: what did not come is sent from here, and the pair is over. */
static void test_failure(void **state)
{
    struct play play;

    (void)state;
    open_play(&play, 2);
    assert_int_equal(named(&play, 1, 0), ALL);
    failed(&play, 1, 2, id_of(&play, 0), false);
    assert_int_equal(shipped(&play, 1), 4);
    assert_int_equal(named(&play, 1, 0), 0);
    assert_int_equal(stage_count_trace(&play.actions, TRACE_PEER), 1);
    failed(&play, 1, 3, id_of(&play, 0), false);
    assert_int_equal(shipped(&play, 1), 8);
    assert_int_equal(stage_count_trace(&play.actions, TRACE_PEER), 0);
    assert_int_equal(play.coordinator.stats.peer_failed, 2);
    assert_int_equal(play.coordinator.stats.peer_wrong, 0);
    assert_false(play.coordinator.members[0].peer.mute);
    /* A third worker may still try it; not this one. */
    assert_int_equal(play.coordinator.members[1].peer.failures, 1);
    play_close(&play);
}

/* Even while other data are on their way to it: these are not among them. */
static void test_failure_behind_a_backlog(void **state)
{
    const struct msg asks = {.kind = MSG_NEED, .need = {0, 1, 0, false}};
    struct msg fails = asks;
    struct play play;

    (void)state;
    open_play(&play, 2);
    play_step(&play, (struct event){.kind = EVENT_MESSAGE,
                                    .link = 1,
                                    .msg = &asks,
                                    .backlog = 1});
    assert_int_equal(shipped(&play, 1), 0);
    fails.need.peer = id_of(&play, 0);
    play_step(&play, (struct event){.kind = EVENT_MESSAGE,
                                    .link = 1,
                                    .msg = &fails,
                                    .backlog = 1});
    assert_int_equal(shipped(&play, 1), 1);
    play_close(&play);
}

/* PEER-3: wrong bytes once, or two who were failed. */
static void test_muted(void **state)
{
    for (int wrong = 0; wrong < 2; wrong++) {
        const struct trace *trace = NULL;
        struct play play;

        (void)state;
        open_play(&play, WORKERS);
        play.coordinator.members[2].peer.sources[0].id = id_of(&play, 0);
        failed(&play, 1, 0, id_of(&play, 0), wrong != 0);
        assert_int_equal(play.coordinator.members[0].peer.mute, wrong);
        for (uint32_t i = 0; i < play.actions.count; i++) {
            if (play.actions.list[i].kind == ACTION_TRACE)
                trace = &play.actions.list[i].trace;
        }
        assert_non_null(trace);
        assert_string_equal(trace->name, "far-0");
        assert_string_equal(trace->fetcher, "far-1");
        assert_int_equal(trace->b, wrong);
        failed(&play, 2, 0, id_of(&play, 0), false);
        assert_true(play.coordinator.members[0].peer.mute);
        assert_int_equal(play.coordinator.stats.peer_wrong, wrong);
        play_close(&play);
    }
}

/* Whoever was never sent to a peer cannot speak ill of it. */
static void test_slander(void **state)
{
    struct play play;

    (void)state;
    open_play(&play, 2);
    failed(&play, 0, 0, id_of(&play, 1), true);
    failed(&play, 0, 0, 4711, true);
    assert_false(play.coordinator.members[1].peer.mute);
    assert_int_equal(play.coordinator.stats.peer_wrong, 0);
    assert_int_equal(play.coordinator.stats.peer_failed, 0);
    play_close(&play);
}

/* A source that is gone is explained: its fetchers are as good as new, and
 * nobody is sent to it, nor to whoever has its link next. */
static void test_death(void **state)
{
    struct play play;
    uint32_t id;

    (void)state;
    open_play(&play, 2);
    id = id_of(&play, 0);
    failed(&play, 1, 0, id, false);
    play_step(&play, (struct event){.kind = EVENT_LINK_DOWN, .link = 0});
    assert_int_equal(play.coordinator.members[1].peer.failures, 0);
    assert_int_equal(play.coordinator.members[1].peer.source_count, 0);
    play_hello_far(&play, 0, true);
    serving(&play, 0, 1000, false);
    assert_int_not_equal(id_of(&play, 0), id);
    failed(&play, 1, 1, id, false);
    assert_int_equal(named(&play, 1, 0), 0);
    assert_int_equal(shipped(&play, 1), 2);
    play_close(&play);
}

/* PEER-2: what a worker asks for comes from here, though others have it. */
static void test_need(void **state)
{
    struct play play;

    (void)state;
    open_play(&play, 2);
    play_step(&play, (struct event){.kind = EVENT_LINK_DOWN, .link = 0});
    play_hello_far(&play, 2, true);
    serving(&play, 2, 1002, false);
    play_have(&play, 2, 0, 0);
    for (uint32_t chunk = 0; chunk < CHUNKS; chunk++) {
        const struct msg need = {.kind = MSG_NEED,
                                 .need = {chunk, chunk + 1, 0, false}};

        play_say(&play, 2, &need);
        assert_int_equal(shipped(&play, 2), 1u << chunk);
    }
    play_close(&play);
}

/* Who has not said SERVING, sits behind a relay or came over loopback. */
static void test_who_is_left_out(void **state)
{
    const struct coordinator_options options = replicated(3);
    struct play play;

    (void)state;
    play_begin(&play, &options);
    for (uint32_t link = 0; link < 3; link++)
        play_hello_far(&play, link, true);
    serving(&play, 0, 1000, true); /* Loopback: for its like only. */
    serving(&play, 1, 0, true);    /* Cannot be reached, but can fetch. */
    for (uint32_t link = 0; link < 3; link++)
        play_have(&play, link, 0, 0);
    /* The third may still say it: it is waited for, but not for long. */
    assert_int_equal(play.coordinator.phase, COORDINATOR_GATHERING);
    play.now += SECOND_US;
    for (uint32_t link = 0; link < 3; link++)
        play_have(&play, link, 0, 0); /* Nobody is suspect. */
    play_step(&play, (struct event){.kind = EVENT_TIME});
    play_step(&play, (struct event){.kind = EVENT_JOURNALED});
    assert_int_equal(shipped(&play, 0), ALL);
    assert_int_equal(named(&play, 1, 0), ALL);
    assert_int_equal(shipped(&play, 2), ALL);
    play_close(&play);
}

static void test_no_peers(void **state)
{
    struct coordinator_options options = replicated(2);

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct play play;

        options = replicated(2);
        options.peers = i != 0;
        options.place = i == 1 ? "shared" : NULL;
        options.job.keyed = i != 2;
        options.chunk_digests = i == 2 ? NULL : digests;
        play_begin(&play, &options);
        play_hello_far(&play, 0, true);
        assert_int_equal(stage_count_msg(&play.actions, MSG_SERVE), 0);
        serving(&play, 0, 1000, false);
        assert_int_equal(id_of(&play, 0), 0);
        play_close(&play);
    }
}

/* Its key would be the one that all others are made from. */
static void test_a_worker_named_cluster(void **state)
{
    const struct coordinator_options options = replicated(2);
    struct play play;

    (void)state;
    play_begin(&play, &options);
    play_hello(&play, 0, "cluster", 9);
    assert_int_equal(stage_count_msg(&play.actions, MSG_WELCOME), 1);
    assert_int_equal(stage_count_msg(&play.actions, MSG_SERVE), 0);
    play_close(&play);
}

/* --- the worker ----------------------------------------------------------- */

struct role {
    struct worker worker;
    struct actions actions;
    struct chunkset near;
};

static void play_on(struct role *role, struct event event)
{
    event.now = role->worker.now;
    worker_step(&role->worker, &event, &role->actions);
}

static void hear(struct role *role, const struct msg *msg)
{
    play_on(role, (struct event){.kind = EVENT_MESSAGE, .msg = msg});
}

static void open_role(struct role *role, bool resident)
{
    const struct worker_options options = {.name = "far",
                                           .incarnation = 5,
                                           .keeps = true,
                                           .resident = resident,
                                           .retry_us = 10 * MS_US,
                                           .retry_max_us = 100 * MS_US,
                                           .give_up_us = TIME_NEVER};
    struct msg welcome = {.kind = MSG_WELCOME};
    struct msg chunks = {
        .kind = MSG_CHUNKS,
        .chunks = {.count = CHUNKS, .digests = digests->bytes}};

    memset(role, 0, sizeof *role);
    assert_int_equal(actions_init(&role->actions, 4), ERR_OK);
    assert_int_equal(chunkset_init(&role->near, CHUNKS), ERR_OK);
    worker_init(&role->worker, &options);
    play_on(role, (struct event){.kind = EVENT_START});
    play_on(role, (struct event){.kind = EVENT_LINK_UP});
    welcome.welcome = stage_job(CHUNKS);
    welcome.welcome.keyed = true;
    hear(role, &welcome);
    hear(role, &chunks);
    play_on(role, (struct event){.kind = EVENT_RECALLED, .near = &role->near});
}

static void close_role(struct role *role)
{
    worker_close(&role->worker);
    actions_close(&role->actions);
    chunkset_close(&role->near);
}

static void test_worker_serves(void **state)
{
    struct msg serve = {.kind = MSG_SERVE, .serve.key = {1, 2, 3}};
    struct role role;

    (void)state;
    open_role(&role, false);
    hear(&role, &serve);
    assert_non_null(stage_find_action(&role.actions, ACTION_SERVE));
    assert_memory_equal(
        stage_find_action(&role.actions, ACTION_SERVE)->msg.serve.key,
        serve.serve.key, PEER_KEY);
    play_on(&role, (struct event){.kind = EVENT_SERVING, .port = 4711});
    assert_int_equal(stage_find(&role.actions, MSG_SERVING)->serving.port,
                     4711);
    close_role(&role);
    open_role(&role, true); /* All is here: it has its rows from nobody. */
    hear(&role, &serve);
    assert_null(stage_find_action(&role.actions, ACTION_SERVE));
    close_role(&role);
}

static void fetch(struct role *role, uint32_t first, uint32_t end)
{
    const struct msg msg = {.kind = MSG_FETCH,
                            .fetch = {.first = first, .end = end, .peer = 6}};

    hear(role, &msg);
}

/* What did not come is asked for in one go, naming who should have given it;
 * what came meanwhile is not. */
static void test_worker_asks_again(void **state)
{
    const uint8_t byte = 0;
    const struct msg data = {.kind = MSG_DATA,
                             .data = {.chunk = 2, .bytes = &byte, .size = 1}};
    const struct msg_need *need;
    struct role role;

    (void)state;
    open_role(&role, false);
    fetch(&role, 0, CHUNKS);
    assert_int_equal(stage_count(&role.actions, ACTION_FETCH), 1);
    assert_int_equal(
        stage_find_action(&role.actions, ACTION_FETCH)->msg.fetch.peer, 6);
    hear(&role, &data);
    play_on(&role, (struct event){.kind = EVENT_FETCHED,
                                  .chunk = 0,
                                  .end = CHUNKS,
                                  .peer = 6,
                                  .err = ERR_MISMATCH});
    assert_int_equal(stage_count_msg(&role.actions, MSG_NEED), 2);
    need = &stage_find(&role.actions, MSG_NEED)->need;
    assert_int_equal(need->first, 0);
    assert_int_equal(need->end, 2);
    assert_int_equal(need->peer, 6);
    assert_true(need->wrong);
    assert_false(chunkset_has(&role.worker.held, 0));
    fetch(&role, 0, 1);
    play_on(&role, (struct event){.kind = EVENT_FETCHED,
                                  .chunk = 0,
                                  .end = 1,
                                  .peer = 6,
                                  .err = ERR_TIMEOUT});
    assert_false(stage_find(&role.actions, MSG_NEED)->need.wrong);
    fetch(&role, 0, 1);
    play_on(&role, (struct event){
                       .kind = EVENT_FETCHED, .chunk = 0, .end = 1, .peer = 6});
    assert_true(chunkset_has(&role.worker.held, 0));
    close_role(&role);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_copy),
        cmocka_unit_test(test_alone),
        cmocka_unit_test(test_failure),
        cmocka_unit_test(test_failure_behind_a_backlog),
        cmocka_unit_test(test_muted),
        cmocka_unit_test(test_slander),
        cmocka_unit_test(test_death),
        cmocka_unit_test(test_need),
        cmocka_unit_test(test_who_is_left_out),
        cmocka_unit_test(test_no_peers),
        cmocka_unit_test(test_a_worker_named_cluster),
        cmocka_unit_test(test_worker_serves),
        cmocka_unit_test(test_worker_asks_again),
    };

    return cmocka_run_group_tests_name("peers", tests, NULL, NULL);
}

/*
 * Chunks from worker to worker on one loop: real sockets and keys, a server
 * with some chunks and a fetcher with none.  What the server does not have, is
 * not allowed to give, or gives wrong must be reported as not there, and no
 * stranger gets a byte.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "node/worker/peer_desk.h"
#include "node/worker/peer_fetch.h"
#include "node/worker/peer_server.h"
#include "os/clock.h"
#include "os/net/link.h"
#include "os/net/token.h"
#include "os/rogue.h"

#define CHUNKS 40u
#define ROWS   64u /* Of a chunk. */
#define COLS   600u
#define PEER   9u

struct fixture {
    struct loop *loop;
    struct timer *timer;
    struct dataset data; /* The server's. */
    struct digest digests[CHUNKS];
    struct peer_server *server;
    struct peer_fetch *fetch;
    struct token key; /* The serving key. */
    uint16_t port;
    enum err err[CHUNKS]; /* ERR_UNKNOWN: nothing was heard of it. */
    uint32_t heard;
    uint32_t wait_for;
    uint32_t late; /* Comes in at the server when `timer` is due. */
    bool down, up, spoke;
    uint32_t messages;
};

static void on_fetched(void *context, uint32_t peer, uint32_t first,
                       uint32_t end, const uint8_t *bytes, size_t size,
                       enum err err)
{
    struct fixture *f = context;

    assert_int_equal(peer, PEER);
    assert_true(first < end && end <= CHUNKS);
    for (uint32_t chunk = first; chunk < end; chunk++) {
        assert_int_equal(f->err[chunk], ERR_UNKNOWN); /* Once each. */
        f->err[chunk] = err;
        f->heard++;
    }
    if (err == ERR_OK) {
        const struct digest is = hash_bytes(bytes, size);

        assert_int_equal(end, first + 1);
        assert_true(digest_equal(&is, &f->digests[first]));
    }
    if (f->heard == f->wait_for)
        loop_stop(f->loop);
}

/* A chunk comes in late, as from the coordinator. */
static void on_late(void *context)
{
    struct fixture *f = context;

    chunkset_add(&f->data.present, f->late);
    peer_server_stored(f->server);
}

static void open_data(struct fixture *f)
{
    uint8_t *bytes;

    assert_int_equal(dataset_init(&f->data, CHUNKS * ROWS, COLS, ROWS), ERR_OK);
    for (uint32_t row = 0; row < f->data.rows; row++) {
        f->data.y[row] = row;
        ((float *)dataset_row(&f->data, row))[row % COLS] = 1.0f;
    }
    chunkset_fill(&f->data.present);
    bytes = mem_new(dataset_chunk_bytes_max(&f->data), 1);
    for (uint32_t chunk = 0; chunk < CHUNKS; chunk++) {
        dataset_chunk_encode(&f->data, chunk, bytes);
        f->digests[chunk] =
            hash_bytes(bytes, dataset_chunk_bytes(&f->data, chunk));
        f->err[chunk] = ERR_UNKNOWN;
    }
    mem_free(bytes);
    chunkset_clear(&f->data.present);
}

static void open_fixture(struct fixture *f, bool spoils, const char *name)
{
    struct peer_fetch_options options = {
        .name = name, .fetched = on_fetched, .context = f};
    struct why why = {0};

    memset(f, 0, sizeof *f);
    open_data(f);
    assert_int_equal(loop_new(&f->loop), ERR_OK);
    assert_int_equal(timer_new(f->loop, on_late, f, &f->timer), ERR_OK);
    options.loop = f->loop;
    (void)snprintf(f->key.name, sizeof f->key.name, "%s", TOKEN_CLUSTER);
    memset(f->key.key, 7, sizeof f->key.key);
    assert_int_equal(peer_server_new(f->loop, &f->data, spoils, &f->server),
                     ERR_OK);
    assert_int_equal(
        peer_server_open(f->server, "127.0.0.1", f->key.key, &f->port, &why),
        ERR_OK);
    assert_true(f->port != 0);
    assert_int_equal(peer_fetch_new(&options, &f->fetch), ERR_OK);
    peer_fetch_learn(f->fetch, f->digests, dataset_chunk_bytes_max(&f->data));
}

static void close_fixture(struct fixture *f)
{
    peer_fetch_free(f->fetch);
    peer_server_free(f->server);
    timer_free(f->timer);
    loop_free(f->loop);
    dataset_close(&f->data);
}

/* As the coordinator would introduce worker `name`. */
static struct msg_fetch introduce(const struct fixture *f, const char *name)
{
    struct msg_fetch msg = {.peer = PEER, .port = f->port};

    (void)snprintf(msg.host, sizeof msg.host, "127.0.0.1");
    assert_true(token_key_of(&f->key, name, msg.key));
    return msg;
}

static void fetch(struct fixture *f, const struct msg_fetch *msg,
                  uint32_t first, uint32_t end)
{
    assert_int_equal(peer_fetch_want(f->fetch, msg, first, end), ERR_OK);
}

static void run_until(struct fixture *f, uint32_t heard)
{
    f->wait_for = heard;
    loop_run(f->loop);
}

static void all_are(const struct fixture *f, uint32_t first, uint32_t end,
                    enum err err)
{
    for (uint32_t chunk = first; chunk < end; chunk++)
        assert_int_equal(f->err[chunk], err);
}

/* More than a window, and a chunk is more than one part. */
static void test_all_chunks(void **state)
{
    struct fixture f;
    struct msg_fetch msg;

    (void)state;
    open_fixture(&f, false, "w1");
    assert_true(dataset_chunk_bytes(&f.data, 0) > 2 * PEER_PART_BYTES);
    chunkset_fill(&f.data.present);
    msg = introduce(&f, "w1");
    fetch(&f, &msg, 0, 3);
    fetch(&f, &msg, 3, CHUNKS);
    run_until(&f, CHUNKS);
    all_are(&f, 0, CHUNKS, ERR_OK);
    close_fixture(&f);
}

/* What comes in later is waited for; meanwhile the others come. */
static void test_waits_for_a_chunk(void **state)
{
    struct fixture f;
    struct msg_fetch msg;

    (void)state;
    open_fixture(&f, false, "w1");
    chunkset_add_range(&f.data.present, 1, 8);
    msg = introduce(&f, "w1");
    fetch(&f, &msg, 0, 8);
    run_until(&f, 7);
    all_are(&f, 1, 8, ERR_OK);
    assert_int_equal(f.err[0], ERR_UNKNOWN);
    f.late = 0;
    timer_at(f.timer, clock_now_us());
    run_until(&f, 8);
    assert_int_equal(f.err[0], ERR_OK);
    close_fixture(&f);
}

/* One that never comes is given up, and so is who should give it. */
static void test_gives_up(void **state)
{
    struct fixture f;
    struct msg_fetch msg;

    (void)state;
    open_fixture(&f, false, "w1");
    chunkset_add(&f.data.present, 2);
    msg = introduce(&f, "w1");
    fetch(&f, &msg, 0, 4);
    run_until(&f, 4);
    assert_int_equal(f.err[2], ERR_OK);
    assert_int_equal(f.err[0], ERR_TIMEOUT);
    assert_int_equal(f.err[3], ERR_TIMEOUT);
    close_fixture(&f);
}

static void test_wrong_bytes(void **state)
{
    struct fixture f;
    struct msg_fetch msg;

    (void)state;
    open_fixture(&f, true, "w1");
    chunkset_fill(&f.data.present);
    msg = introduce(&f, "w1");
    fetch(&f, &msg, 0, 6);
    run_until(&f, 6);
    all_are(&f, 0, 6, ERR_MISMATCH);
    close_fixture(&f);
}

/* Nobody listens there any more; or a name, or no port at all. */
static void test_nobody_there(void **state)
{
    struct fixture f;
    struct msg_fetch msg;

    (void)state;
    open_fixture(&f, false, "w1");
    msg = introduce(&f, "w1");
    peer_server_free(f.server);
    f.server = NULL;
    fetch(&f, &msg, 0, 3);
    run_until(&f, 3);
    all_are(&f, 0, 3, ERR_CLOSED);
    msg.port = 0;
    fetch(&f, &msg, 3, 5);
    run_until(&f, 5);
    all_are(&f, 3, 5, ERR_RANGE);
    msg.port = f.port;
    (void)snprintf(msg.host, sizeof msg.host, "localhost");
    msg.key[0] ^= 1;
    fetch(&f, &msg, 5, 6);
    run_until(&f, 6);
    assert_int_equal(f.err[5], ERR_RANGE);
    close_fixture(&f);
}

/* Whoever has taken a peer's port without having its key is told nothing. */
static void test_rogue_peers_hear_nothing(void **state)
{
    (void)state;
    for (int kind = 0; kind < ROGUE_KINDS; kind++) {
        struct fixture f;
        struct rogue rogue;
        struct msg_fetch msg;

        open_fixture(&f, false, "w1");
        rogue_open(&rogue, (enum rogue_kind)kind);
        msg = introduce(&f, "w1");
        msg.port = rogue.port;
        fetch(&f, &msg, 0, 3);
        run_until(&f, 3);
        all_are(&f, 0, 3, ERR_CLOSED);
        rogue_close(&rogue);
        assert_false(rogue.shook);
        assert_int_equal(rogue.heard, 0);
        close_fixture(&f);
    }
}

/* The key of another worker, or of another session, opens nothing. */
static void test_keys(void **state)
{
    struct fixture f;
    struct msg_fetch msg;
    struct why why = {0};
    uint16_t port;

    (void)state;
    open_fixture(&f, false, "w1");
    chunkset_fill(&f.data.present);
    msg = introduce(&f, "w2");
    fetch(&f, &msg, 0, 2);
    run_until(&f, 2);
    all_are(&f, 0, 2, ERR_CLOSED);
    /* The same key again is the same door; another is another one. */
    assert_int_equal(
        peer_server_open(f.server, "127.0.0.1", f.key.key, &port, &why),
        ERR_OK);
    assert_int_equal(port, f.port);
    msg = introduce(&f, "w1");
    f.key.key[0] ^= 1;
    assert_int_equal(
        peer_server_open(f.server, "127.0.0.1", f.key.key, &port, &why),
        ERR_OK);
    msg.port = port;
    fetch(&f, &msg, 2, 4);
    run_until(&f, 4);
    all_are(&f, 2, 4, ERR_CLOSED);
    f.port = port;
    msg = introduce(&f, "w1");
    fetch(&f, &msg, 4, 6);
    run_until(&f, 6);
    all_are(&f, 4, 6, ERR_OK);
    close_fixture(&f);
}

/* --- guests without manners ------------------------------------------------
 */

static void guest_up(void *context, struct link *link)
{
    struct fixture *f = context;
    const struct peer_msg wait = {.kind = PEER_WAIT};
    uint8_t bytes[PEER_SMALL_BYTES];

    f->up = true;
    link_trust(link, PEER_MESSAGE_BYTES);
    link_send(link, PLANE_CONTROL, bytes, peer_codec_encode(&wait, bytes));
}

/* The window and one: more than a guest may ask for. */
static void greedy_up(void *context, struct link *link)
{
    struct fixture *f = context;
    uint8_t bytes[PEER_SMALL_BYTES];

    f->up = true;
    link_trust(link, PEER_MESSAGE_BYTES);
    for (uint32_t i = 0; i <= PEER_WINDOW; i++) {
        const struct peer_msg want = {.kind = PEER_WANT, .chunk = i};

        link_send(link, PLANE_CONTROL, bytes, peer_codec_encode(&want, bytes));
    }
}

static void guest_message(void *context, struct link *link, enum plane plane,
                          const uint8_t *data, size_t size)
{
    struct fixture *f = context;

    (void)link;
    (void)plane;
    (void)data;
    (void)size;
    f->messages++;
}

static void guest_down(void *context, struct link *link, enum link_end how,
                       const char *why)
{
    struct fixture *f = context;

    (void)link;
    (void)how;
    (void)why;
    f->down = true;
    loop_stop(f->loop);
}

static void dial_as_guest(struct fixture *f, const struct link_events *events)
{
    struct token token = {.name = "w1"};
    const struct link_options options = {
        .loop = f->loop, .token = &token, .events = events, .context = f};
    struct net_address address = {.host = "127.0.0.1", .port = f->port};
    struct link_hub *hub;
    struct link *link;

    assert_true(token_key_of(&f->key, "w1", token.key));
    assert_int_equal(link_hub_new(&options, &hub), ERR_OK);
    assert_int_equal(link_dial(hub, &address, &link), ERR_OK);
    loop_run(f->loop);
    link_hub_free(hub);
}

static void test_bad_guests(void **state)
{
    const struct link_events rude = {
        .up = guest_up, .message = guest_message, .down = guest_down};
    const struct link_events greedy = {
        .up = greedy_up, .message = guest_message, .down = guest_down};
    struct fixture f;

    (void)state;
    open_fixture(&f, false, "w1");
    dial_as_guest(&f, &rude);
    assert_true(f.up && f.down);
    assert_int_equal(f.messages, 0);
    f.up = f.down = false;
    dial_as_guest(&f, &greedy);
    assert_true(f.up && f.down);
    assert_int_equal(f.messages, 0);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_chunks),
        cmocka_unit_test(test_waits_for_a_chunk),
        cmocka_unit_test(test_gives_up),
        cmocka_unit_test(test_wrong_bytes),
        cmocka_unit_test(test_nobody_there),
        cmocka_unit_test(test_rogue_peers_hear_nothing),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_bad_guests),
    };

    return cmocka_run_group_tests_name("peer", tests, NULL, NULL);
}

/*
 * Two hubs on one loop and one thread, over real sockets on loopback.  Every
 * test runs the loop until something happened that it waits for, with a limit
 * that only a failure reaches.
 */
#define _DEFAULT_SOURCE /* ifa_flags. */
#include "os/net/link.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"
#include "os/clock.h"
#include "os/rogue.h"

#define LIMIT_US (20 * SECOND_US)

/* What one side has seen. */
struct side {
    struct link_hub *hub;
    struct link *link;
    uint32_t ups, downs, messages, drained, refused;
    enum plane plane;
    enum link_end how;
    char why[512];
    uint8_t *got;
    size_t size;
    bool trust;    /* As soon as it is up. */
    uint8_t *room; /* Where long messages are to go; NULL: anywhere. */
    enum link_room answer;
    bool plain;
    size_t room_bytes; /* That it has; 0: for the longest. */
    uint32_t asked;
    const uint8_t *at; /* Where the last message was. */
};

struct fixture {
    struct loop *loop;
    struct timer *timer;
    struct net_listener listener;
    struct side server, client;
    bool timed_out;
    bool (*until)(struct fixture *f);
};

static struct fixture *current;

static void look(void)
{
    if (current->until != NULL && current->until(current))
        loop_stop(current->loop);
}

static void on_up(void *context, struct link *link)
{
    struct side *side = context;

    side->ups++;
    side->link = link;
    if (side->trust)
        link_trust(link, 64u << 20);
    look();
}

static void on_message(void *context, struct link *link, enum plane plane,
                       const uint8_t *data, size_t size)
{
    struct side *side = context;

    assert_ptr_equal(link, side->link);
    side->messages++;
    side->plane = plane;
    side->at = data;
    mem_free(side->got);
    side->got = mem_new(size, 1);
    memcpy(side->got, data, size);
    side->size = size;
    look();
}

static void on_down(void *context, struct link *link, enum link_end how,
                    const char *why)
{
    struct side *side = context;

    assert_ptr_equal(link, side->link);
    side->downs++;
    side->link = NULL;
    side->how = how;
    (void)snprintf(side->why, sizeof side->why, "%s", why);
    look();
}

static enum link_room on_room(void *context, struct link *link,
                              const uint8_t *begin, size_t size, uint8_t **room,
                              size_t *capacity)
{
    struct side *side = context;

    assert_ptr_equal(link, side->link);
    assert_true(size >= LINK_LOOK_BYTES);
    side->asked++;
    if (side->room != NULL)
        assert_int_equal(begin[0], 0x5a);
    *room = side->room;
    if (side->room_bytes > 0)
        *capacity = side->room_bytes;
    look();
    return side->room != NULL ? side->answer : LINK_ROOM_OWN;
}

static void on_drained(void *context, struct link *link)
{
    struct side *side = context;

    (void)link;
    side->drained++;
    look();
}

static void on_refused(void *context, const char *why)
{
    struct side *side = context;

    side->refused++;
    (void)snprintf(side->why, sizeof side->why, "%s", why);
    look();
}

static const struct link_events events = {.up = on_up,
                                          .message = on_message,
                                          .room = on_room,
                                          .down = on_down,
                                          .drained = on_drained,
                                          .refused = on_refused};

static void on_limit(void *context)
{
    struct fixture *f = context;

    f->timed_out = true;
    loop_stop(f->loop);
}

static void run_until(struct fixture *f, bool (*until)(struct fixture *f))
{
    f->until = until;
    f->timed_out = false;
    timer_at(f->timer, clock_now_us() + LIMIT_US);
    if (!until(f))
        loop_run(f->loop);
    timer_at(f->timer, TIME_NEVER);
    assert_false(f->timed_out);
}

static const struct token cluster = {.name = "cluster", .key = {1, 2, 3}};

static void start_at(struct fixture *f, const char *host,
                     const struct token *server, const struct token *client)
{
    struct net_address any = {.port = 0};
    struct link_options options = {.loop = f->loop, .events = &events};

    (void)snprintf(any.host, sizeof any.host, "%s", host);
    assert_int_equal(net_listen(&any, false, &f->listener, NULL), ERR_OK);
    options.token = server;
    options.context = &f->server;
    options.plain = f->server.plain;
    assert_int_equal(link_hub_new(&options, &f->server.hub), ERR_OK);
    assert_int_equal(link_hub_listen(f->server.hub, f->listener.fd), ERR_OK);
    options.token = client;
    options.context = &f->client;
    options.plain = f->client.plain;
    assert_int_equal(link_hub_new(&options, &f->client.hub), ERR_OK);
    f->server.trust = true;
    f->client.trust = true;
}

static void start(struct fixture *f, const struct token *server,
                  const struct token *client)
{
    start_at(f, "127.0.0.1", server, client);
}

static void dial(struct fixture *f)
{
    assert_int_equal(
        link_dial(f->client.hub, &f->listener.local, &f->client.link), ERR_OK);
}

static int setup(void **state)
{
    struct fixture *f = mem_new(1, sizeof *f);

    assert_int_equal(loop_new(&f->loop), ERR_OK);
    assert_int_equal(timer_new(f->loop, on_limit, f, &f->timer), ERR_OK);
    current = f;
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    link_hub_free(f->client.hub);
    link_hub_free(f->server.hub);
    timer_free(f->timer);
    loop_free(f->loop);
    net_close(&f->listener);
    mem_free(f->client.got);
    mem_free(f->server.got);
    mem_free(f);
    return 0;
}

static bool both_up(struct fixture *f)
{
    return f->server.ups > 0 && f->client.ups > 0;
}

static bool server_heard(struct fixture *f)
{
    return f->server.messages > 0;
}

static bool client_heard(struct fixture *f)
{
    return f->client.messages > 0;
}

static bool client_down(struct fixture *f)
{
    return f->client.downs > 0;
}

static bool server_down(struct fixture *f)
{
    return f->server.downs > 0;
}

static bool both_know(struct fixture *f)
{
    return f->client.downs > 0 && f->server.refused > 0;
}

static void check_round_trip(struct fixture *f, enum plane plane, size_t size)
{
    uint8_t *data = mem_new(size, 1);
    struct rng rng;

    rng_init(&rng, size);
    for (size_t i = 0; i < size; i++)
        data[i] = (uint8_t)rng_next(&rng);
    f->server.messages = 0;
    link_send(f->client.link, plane, data, size);
    run_until(f, server_heard);
    assert_int_equal(f->server.plane, plane);
    assert_int_equal(f->server.size, size);
    assert_memory_equal(f->server.got, data, size);
    f->client.messages = 0;
    link_send(f->server.link, plane, data, size);
    run_until(f, client_heard);
    assert_int_equal(f->client.size, size);
    assert_memory_equal(f->client.got, data, size);
    mem_free(data);
}

static bool server_heard_five(struct fixture *f)
{
    return f->server.messages >= 5;
}

/* Long and short ones in one go: one read may end in another message. */
static void check_burst(struct fixture *f, enum plane plane)
{
    static const size_t sizes[] = {300000, 10, 4092, 700000, 5};
    static uint8_t data[700000];

    f->server.messages = 0;
    for (size_t i = 0; i < 5; i++) {
        memset(data, (int)i, sizes[i]);
        link_send(f->client.link, plane, data, sizes[i]);
    }
    run_until(f, server_heard_five);
    assert_int_equal(f->server.messages, 5);
    assert_int_equal(f->server.size, 5);
    assert_memory_equal(f->server.got, "\4\4\4\4\4", 5);
}

static void check_all_sizes(struct fixture *f)
{
    /* The later ones: what follows a long one, to either side of a read. */
    static const size_t sizes[] = {
        1,       2,     16384,  16385,  65536,  1 << 20, (1 << 20) + 1, 3 << 20,
        5000000, 4091,  300000, 4092,   300000, 4093,    300000,        1,
        1 << 20, 20000, 131067, 131068, 131069, 400000,  4096 + 16384};

    dial(f);
    run_until(f, both_up);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        check_round_trip(f, PLANE_CONTROL, sizes[i]);
        check_round_trip(f, PLANE_BULK, sizes[i]);
    }
    check_burst(f, PLANE_CONTROL);
    check_burst(f, PLANE_BULK);
    assert_int_equal(f->server.ups, 1);
    assert_int_equal(f->client.ups, 1);
}

#define ROOM_BYTES (64u << 20)

static bool client_asked(struct fixture *f)
{
    return f->client.asked > 0;
}

static bool client_heard_both(struct fixture *f)
{
    return f->client.messages == 2;
}

/* A long message for the client, and a short one behind it. */
static uint8_t *send_long(struct fixture *f, size_t size)
{
    uint8_t *data = mem_new(size, 1);

    dial(f);
    run_until(f, both_up);
    for (size_t i = 0; i < size; i++)
        data[i] = (uint8_t)(i % 251);
    data[0] = 0x5a;
    f->client.room = mem_new(ROOM_BYTES, 1);
    link_send(f->server.link, PLANE_BULK, data, size);
    return data;
}

static void check_room_given(struct fixture *f, size_t size)
{
    uint8_t *data;

    f->client.answer = LINK_ROOM_GIVEN;
    data = send_long(f, size);
    run_until(f, client_heard);
    assert_int_equal(f->client.asked, 1);
    assert_ptr_equal(f->client.at, f->client.room);
    assert_memory_equal(f->client.got, data, size);
    link_send(f->server.link, PLANE_BULK, "next", 4);
    run_until(f, client_heard_both);
    assert_ptr_not_equal(f->client.at, f->client.room);
    assert_memory_equal(f->client.room, data, size);
    mem_free(f->client.room);
    mem_free(data);
}

static void test_room_is_given(void **state)
{
    start(*state, &cluster, &cluster);
    check_room_given(*state, 5000000);
}

/* One frame, just long. */
static void test_room_for_one_frame(void **state)
{
    start(*state, &cluster, &cluster);
    check_room_given(*state, LINK_LONG_BYTES);
}

/* What says less of itself than it is goes no further than its room. */
static void check_room_too_small(struct fixture *f, size_t room)
{
    uint8_t *data;

    f->client.answer = LINK_ROOM_GIVEN;
    f->client.room_bytes = room;
    data = send_long(f, 5000000);
    run_until(f, client_down);
    assert_int_equal(f->client.how, LINK_REFUSED);
    assert_int_equal(f->client.messages, 0);
    assert_int_equal(f->client.room[room], 0);
    mem_free(f->client.room);
    mem_free(data);
}

static void test_room_is_too_small(void **state)
{
    start(*state, &cluster, &cluster);
    check_room_too_small(*state, 3000001);
}

static void test_room_is_far_too_small(void **state)
{
    start(*state, &cluster, &cluster);
    check_room_too_small(*state, 2);
}

/* Nothing is read until there is room, then all of it, in order. */
static void check_room_later(struct fixture *f)
{
    const size_t size = 5000000;
    uint8_t *data;

    f->client.answer = LINK_ROOM_LATER;
    data = send_long(f, size);
    link_send(f->server.link, PLANE_BULK, "next", 4);
    run_until(f, client_asked);
    f->server.messages = f->client.messages = 0;
    link_send(f->client.link, PLANE_CONTROL, "still", 5);
    run_until(f, server_heard);
    link_send(f->server.link, PLANE_CONTROL, "there", 5);
    run_until(f, client_heard);
    assert_int_equal(f->client.plane, PLANE_CONTROL);
    f->client.messages = 0;
    link_give(f->client.link, f->client.room);
    link_give(f->client.link, NULL); /* Nobody waits any more. */
    run_until(f, client_heard_both);
    assert_memory_equal(f->client.got, "next", 4);
    assert_memory_equal(f->client.room, data, size);
    assert_int_equal(f->client.asked, 1);
    mem_free(f->client.room);
    mem_free(data);
}

static void test_room_comes_later(void **state)
{
    start(*state, &cluster, &cluster);
    check_room_later(*state);
}

/* Whoever waits for room hears of the end, and leaves the room alone. */
static void test_waiting_for_room_it_ends(void **state)
{
    struct fixture *f = *state;
    uint8_t *data;

    start(f, &cluster, &cluster);
    f->client.answer = LINK_ROOM_LATER;
    data = send_long(f, 5000000);
    run_until(f, client_asked);
    link_close(f->server.link);
    run_until(f, client_down);
    assert_int_equal(f->client.room[0], 0);
    mem_free(f->client.room);
    mem_free(data);
}

static void test_messages(void **state)
{
    struct fixture *f = *state;

    start(f, &cluster, &cluster);
    check_all_sizes(f);
    assert_string_equal(link_peer(f->server.link), "cluster");
}

static void test_a_worker_token_names_its_worker(void **state)
{
    struct fixture *f = *state;
    struct token worker = {.name = "w7"};

    assert_true(token_key_of(&cluster, "w7", worker.key));
    start(f, &cluster, &worker);
    dial(f);
    run_until(f, both_up);
    assert_string_equal(link_peer(f->server.link), "w7");
}

/* The key of w7 under the name of w8, or of the cluster. */
static void check_wrong_name(struct fixture *f, const char *name)
{
    struct token worker = {0};

    assert_true(token_key_of(&cluster, "w7", worker.key));
    (void)snprintf(worker.name, sizeof worker.name, "%s", name);
    start(f, &cluster, &worker);
    dial(f);
    run_until(f, both_know);
    assert_int_equal(f->client.how, LINK_REFUSED);
    assert_non_null(strstr(f->client.why, "does not accept this token"));
    assert_non_null(strstr(f->server.why, "not of this cluster"));
    assert_int_equal(f->server.ups, 0);
}

static void test_a_worker_token_does_not_pose_as_another(void **state)
{
    check_wrong_name(*state, "w8");
}

static void test_a_worker_token_does_not_pose_as_the_cluster(void **state)
{
    check_wrong_name(*state, "cluster");
}

static void test_a_worker_is_no_coordinator(void **state)
{
    struct fixture *f = *state;
    struct token worker = {.name = "w7"}, other = {.name = "w8"};

    /* Who stole w7's key listens; w8 must not talk to it. */
    assert_true(token_key_of(&cluster, "w7", worker.key));
    assert_true(token_key_of(&cluster, "w8", other.key));
    start(f, &worker, &other);
    dial(f);
    run_until(f, client_down);
    assert_int_equal(f->client.how, LINK_REFUSED);
}

static void test_nobody_there(void **state)
{
    struct fixture *f = *state;

    start(f, &cluster, &cluster);
    link_hub_stop_listening(f->server.hub);
    net_close(&f->listener);
    dial(f);
    run_until(f, client_down);
    assert_int_equal(f->client.how, LINK_LOST);
    assert_int_equal(f->client.ups, 0);
}

/* An address that swallows packets: a full queue drops whoever knocks.  Returns
 * the listening socket; `*inside` is what fills the queue. */
static int swallower(struct net_address *address, int *inside)
{
    struct sockaddr_in name = {.sin_family = AF_INET};
    socklen_t size = sizeof name;
    const int fd = socket(AF_INET, SOCK_STREAM, 0);

    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(fd, (const struct sockaddr *)&name, size), 0);
    assert_int_equal(listen(fd, 0), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&name, &size), 0);
    *inside = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(*inside, (const struct sockaddr *)&name, size), 0);
    *address =
        (struct net_address){.host = "127.0.0.1", .port = ntohs(name.sin_port)};
    return fd;
}

static bool any_down(struct fixture *f)
{
    return f->client.downs + f->server.downs > 0;
}

/* Who has another way does not wait as long as who has not. */
static void test_other_ways_make_impatient(void **state)
{
    struct fixture *f = *state;
    struct link_options options = {
        .loop = f->loop, .token = &cluster, .events = &events};
    struct net_address address;
    int inside;
    const int fd = swallower(&address, &inside);

    options.context = &f->server;
    assert_int_equal(link_hub_new(&options, &f->server.hub), ERR_OK);
    options.context = &f->client;
    options.elsewhere = true;
    assert_int_equal(link_hub_new(&options, &f->client.hub), ERR_OK);
    assert_int_equal(link_dial(f->server.hub, &address, &f->server.link),
                     ERR_OK);
    assert_int_equal(link_dial(f->client.hub, &address, &f->client.link),
                     ERR_OK);
    run_until(f, any_down);
    assert_int_equal(f->client.downs, 1);
    assert_int_equal(f->server.downs, 0);
    assert_int_equal(f->client.how, LINK_LOST);
    (void)close(inside);
    (void)close(fd);
    f->listener.fd = -1;
}

static void test_names_resolve(void **state)
{
    struct fixture *f = *state;
    struct net_address address;

    start(f, &cluster, &cluster);
    address = f->listener.local;
    (void)snprintf(address.host, sizeof address.host, "localhost");
    assert_int_equal(link_dial(f->client.hub, &address, &f->client.link),
                     ERR_OK);
    run_until(f, both_up);
}

/* The other side sees the address that we were told to dial from. */
static void test_dials_from_source(void **state)
{
    const struct net_source source = {.four = "127.0.0.5"};
    struct fixture *f = *state;
    struct link_options options = {.loop = f->loop,
                                   .token = &cluster,
                                   .events = &events,
                                   .source = &source,
                                   .context = &f->client};

    start(f, &cluster, &cluster);
    link_hub_free(f->client.hub);
    assert_int_equal(link_hub_new(&options, &f->client.hub), ERR_OK);
    dial(f);
    run_until(f, both_up);
    assert_memory_equal(link_address(f->server.link), "127.0.0.5:", 10);
}

/* A card without an address of that kind has no way there, and says so. */
static void test_source_of_another_kind(void **state)
{
    const struct net_source source = {.six = "::1"};
    struct fixture *f = *state;
    struct link_options options = {.loop = f->loop,
                                   .token = &cluster,
                                   .events = &events,
                                   .source = &source,
                                   .context = &f->client};

    start(f, &cluster, &cluster);
    link_hub_free(f->client.hub);
    assert_int_equal(link_hub_new(&options, &f->client.hub), ERR_OK);
    dial(f);
    run_until(f, client_down);
    assert_int_equal(f->client.how, LINK_REFUSED);
    assert_non_null(strstr(f->client.why, "--interface"));
}

static void test_unknown_names_do_not(void **state)
{
    struct fixture *f = *state;
    const struct net_address address = {.host = "no-such-host.invalid",
                                        .port = 1};

    start(f, &cluster, &cluster);
    assert_int_equal(link_dial(f->client.hub, &address, &f->client.link),
                     ERR_OK);
    run_until(f, client_down);
    assert_int_equal(f->client.how, LINK_LOST);
}

/* Certificates, older TLS, no key to speak of: whoever has not the key of the
 * token is not told a byte, not even a greeting. */
static void test_rogue_servers_hear_nothing(void **state)
{
    struct fixture *f = *state;

    start(f, &cluster, &cluster);
    for (int kind = 0; kind < ROGUE_KINDS; kind++) {
        struct net_address address = {.host = "127.0.0.1"};
        struct rogue rogue;

        rogue_open(&rogue, (enum rogue_kind)kind);
        address.port = rogue.port;
        f->client.downs = 0;
        assert_int_equal(link_dial(f->client.hub, &address, &f->client.link),
                         ERR_OK);
        run_until(f, client_down);
        rogue_close(&rogue);
        assert_false(rogue.shook);
        assert_int_equal(rogue.heard, 0);
        assert_int_equal(f->client.ups, 0);
        assert_int_equal(f->client.how, LINK_REFUSED);
    }
}

static void test_down_is_seen(void **state)
{
    struct fixture *f = *state;

    start(f, &cluster, &cluster);
    dial(f);
    run_until(f, both_up);
    link_hub_free(f->client.hub);
    f->client.hub = NULL;
    run_until(f, server_down);
    assert_int_equal(f->server.how, LINK_LOST);
    assert_int_equal(f->client.downs, 0);
}

/* What was sent before link_close arrives, then the other side sees the end. */
static void test_close_lets_the_last_word_through(void **state)
{
    struct fixture *f = *state;
    uint8_t *data = mem_new(9000000, 1);

    start(f, &cluster, &cluster);
    dial(f);
    run_until(f, both_up);
    link_send(f->server.link, PLANE_BULK, data, 9000000);
    link_send(f->server.link, PLANE_CONTROL, data, 10);
    link_close(f->server.link);
    f->server.link = NULL;
    run_until(f, client_down);
    assert_int_equal(f->client.messages, 2);
    assert_int_equal(f->server.downs, 0);
    mem_free(data);
}

static bool drained(struct fixture *f)
{
    return f->client.drained > 0 &&
           link_queued(f->client.link, PLANE_BULK) == 0;
}

static void test_queue_is_counted_and_drains(void **state)
{
    struct fixture *f = *state;
    uint8_t *data = mem_new(32u << 20, 1);

    start(f, &cluster, &cluster);
    dial(f);
    run_until(f, both_up);
    link_send(f->client.link, PLANE_BULK, data, 32u << 20);
    /* Less what the kernel took at once. */
    assert_true(link_queued(f->client.link, PLANE_BULK) >= 16u << 20);
    assert_int_equal(link_queued(f->client.link, PLANE_CONTROL), 0);
    run_until(f, drained);
    run_until(f, server_heard);
    mem_free(data);
}

/* Head and tail are one message, whichever of them crosses a frame's end; the
 * tail is held until it is sent and no longer. */
static void send_in_two(struct fixture *f, size_t head_size, size_t size)
{
    uint8_t *head = mem_new(head_size, 1);
    struct blob *tail = blob_new(size);

    f->server.messages = 0;
    memset(head, 7, head_size);
    for (size_t i = 0; i < size; i++)
        tail->bytes[i] = (uint8_t)(i * 31);
    link_send_with(f->client.link, PLANE_BULK, head, head_size, tail, size);
    run_until(f, server_heard);
    assert_int_equal(f->server.size, head_size + size);
    for (size_t i = 0; i < head_size; i++)
        assert_int_equal(f->server.got[i], 7);
    assert_memory_equal(f->server.got + head_size, tail->bytes, size);
    blob_drop(tail);
    mem_free(head);
}

static void test_a_message_in_two_parts(void **state)
{
    struct fixture *f = *state;

    start(f, &cluster, &cluster);
    dial(f);
    run_until(f, both_up);
    send_in_two(f, 0, 5);
    send_in_two(f, 3, 5);
    send_in_two(f, 100, LINK_FRAME_BYTES - 100);
    send_in_two(f, 100, LINK_FRAME_BYTES - 99);
    send_in_two(f, LINK_FRAME_BYTES + 9, 3 * LINK_FRAME_BYTES);
}

/* What was lent may go once the blob has it, although it waits to be sent. */
static void check_lent(struct fixture *f)
{
    const size_t size = 24u << 20;
    uint8_t *bytes = mem_new(size, 1);
    struct blob *tail;

    dial(f);
    run_until(f, both_up);
    memset(bytes, 3, size);
    tail = blob_lent(bytes, size);
    assert_non_null(tail);
    link_send_with(f->client.link, PLANE_BULK, "head", 4, tail, size);
    assert_true(link_queued(f->client.link, PLANE_BULK) > size / 2);
    assert_int_equal(tail->holders, 2);
    assert_true(blob_settle(tail));
    memset(bytes, 4, size);
    run_until(f, server_heard);
    assert_int_equal(f->server.size, 4 + size);
    assert_memory_equal(f->server.got, "head", 4);
    for (size_t i = 0; i < size; i++)
        assert_int_equal(f->server.got[4 + i], 3);
    assert_int_equal(tail->holders, 1);
    blob_drop(tail);
    mem_free(bytes);
}

static void test_what_is_lent(void **state)
{
    start(*state, &cluster, &cluster);
    check_lent(*state);
}

static void start_plain(struct fixture *f, bool server, bool client)
{
    f->server.plain = server;
    f->client.plain = client;
    start(f, &cluster, &cluster);
}

static void test_plain_messages(void **state)
{
    struct fixture *f = *state;

    start_plain(f, true, true);
    check_all_sizes(f);
    assert_true(link_plain(f->server.link) && link_plain(f->client.link));
    send_in_two(f, 3, 5);
    send_in_two(f, 100, LINK_FRAME_BYTES - 99);
    send_in_two(f, LINK_FRAME_BYTES + 9, 20 * LINK_FRAME_BYTES);
}

static void test_plain_what_is_lent(void **state)
{
    start_plain(*state, true, true);
    check_lent(*state);
}

static void test_plain_room(void **state)
{
    start_plain(*state, true, true);
    check_room_given(*state, 5000000);
}

static void test_plain_room_later(void **state)
{
    start_plain(*state, true, true);
    check_room_later(*state);
}

static void test_plain_room_too_small(void **state)
{
    start_plain(*state, true, true);
    check_room_too_small(*state, 3000001);
}

/* It ends as a sealed one does, with much still queued. */
static void test_plain_last_words(void **state)
{
    struct fixture *f = *state;
    uint8_t *data = mem_new(9000000, 1);

    start_plain(f, true, true);
    dial(f);
    run_until(f, both_up);
    link_send(f->server.link, PLANE_BULK, data, 9000000);
    link_send(f->server.link, PLANE_BULK, data, 10);
    link_close(f->server.link);
    f->server.link = NULL;
    run_until(f, client_down);
    assert_int_equal(f->client.messages, 2);
    assert_int_equal(f->client.how, LINK_LOST);
    assert_int_equal(f->server.downs, 0);
    mem_free(data);
}

/* One of them wants it sealed: so it is. */
static void check_one_plain(struct fixture *f)
{
    check_all_sizes(f);
    assert_false(link_plain(f->server.link) || link_plain(f->client.link));
}

static void test_plain_for_one_end(void **state)
{
    start_plain(*state, false, true);
    check_one_plain(*state);
}

static void test_plain_for_the_other_end(void **state)
{
    start_plain(*state, true, false);
    check_one_plain(*state);
}

static void test_plain_needs_the_key_too(void **state)
{
    struct fixture *f = *state;
    const struct token other = {.name = "cluster", .key = {3, 2, 1}};

    f->server.plain = f->client.plain = true;
    start(f, &cluster, &other);
    dial(f);
    run_until(f, both_know);
    assert_int_equal(f->server.ups + f->client.ups, 0);
    assert_int_equal(f->client.how, LINK_REFUSED);
}

#define MANY 40u

static bool server_heard_many(struct fixture *f)
{
    return f->server.messages == MANY;
}

/* Items from the last to the first, as several threads might. */
static void run_backwards(struct pool *pool, pool_item item, void *context,
                          uint32_t items)
{
    for (uint32_t i = items; i-- > 0;)
        item(context, i % pool->threads, i);
}

/* Messages that are held back leave in their order, those that the kernel takes
 * at once and those that it does not; nothing leaves before. */
static void check_corked(struct fixture *f, size_t size)
{
    struct pool backwards = {.threads = 2, .run = run_backwards};
    struct blob *tail = blob_new(size);
    size_t queued;

    dial(f);
    run_until(f, both_up);
    for (size_t i = 0; i < size; i++)
        tail->bytes[i] = (uint8_t)(i * 31);
    link_hub_cork(f->client.hub);
    for (uint8_t i = 0; i < MANY; i++)
        link_send_with(f->client.link, PLANE_BULK, &i, 1, tail, size);
    assert_int_equal(tail->holders, MANY + 1);
    queued = link_queued(f->client.link, PLANE_BULK);
    assert_true(queued > MANY * size);
    link_hub_uncork(f->client.hub, &backwards);
    assert_true(link_queued(f->client.link, PLANE_BULK) < queued);
    run_until(f, server_heard_many);
    assert_int_equal(f->server.got[0], MANY - 1);
    assert_int_equal(f->server.size, size + 1);
    assert_memory_equal(f->server.got + 1, tail->bytes, size);
    assert_int_equal(tail->holders, 1);
    f->server.messages = 0;
    send_in_two(f, 3, 5);
    blob_drop(tail);
}

static void test_corked_and_plain(void **state)
{
    start_plain(*state, true, true);
    check_corked(*state, 300000);
}

static void test_corked_short_ones(void **state)
{
    start_plain(*state, true, true);
    check_corked(*state, 70);
}

static void test_corked_and_sealed(void **state)
{
    start(*state, &cluster, &cluster);
    check_corked(*state, 300000);
}

static void test_strangers_may_not_send_much(void **state)
{
    struct fixture *f = *state;
    static uint8_t data[LINK_STRANGER_BYTES + 1];

    start(f, &cluster, &cluster);
    f->server.trust = false;
    dial(f);
    run_until(f, both_up);
    link_send(f->client.link, PLANE_CONTROL, data, sizeof data);
    run_until(f, server_down);
    assert_int_equal(f->server.how, LINK_REFUSED);
    assert_int_equal(f->server.messages, 0);
}

static int connect_to(const struct fixture *f, struct in_addr host)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = host};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    address.sin_port = htons(f->listener.bound.port);
    assert_int_equal(
        connect(fd, (const struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

static int raw_connect(const struct fixture *f)
{
    return connect_to(f, (struct in_addr){htonl(INADDR_LOOPBACK)});
}

static bool server_refused(struct fixture *f)
{
    return f->server.refused > 0;
}

static void test_garbage_is_turned_away(void **state)
{
    struct fixture *f = *state;
    static const char get[] = "GET / HTTP/1.1\r\n\r\n";
    int fd;

    start(f, &cluster, &cluster);
    fd = raw_connect(f);
    assert_int_equal(write(fd, get, sizeof get - 1), sizeof get - 1);
    run_until(f, server_refused);
    assert_int_equal(f->server.ups, 0);
    close(fd);
}

/* More silent strangers than there is room for: an honest peer still gets in,
 * because those who say nothing for a second make way. */
static void test_a_crowd_of_strangers(void **state)
{
    struct fixture *f = *state;
    int fd[2 * LINK_STRANGERS_MAX];

    start(f, &cluster, &cluster);
    for (uint32_t i = 0; i < 2 * LINK_STRANGERS_MAX; i++)
        fd[i] = raw_connect(f);
    dial(f);
    run_until(f, both_up);
    for (uint32_t i = 0; i < 2 * LINK_STRANGERS_MAX; i++)
        close(fd[i]);
}

/* More connections than are accepted without a pause: the doorman comes back
 * for those behind them. */
static void test_a_flood(void **state)
{
    struct fixture *f = *state;

    start(f, &cluster, &cluster);
    for (uint32_t i = 0; i < 600; i++)
        close(raw_connect(f));
    dial(f);
    run_until(f, both_up);
    assert_int_equal(f->server.ups, 1);
}

/* An IPv4 address of this machine that is not loopback. */
static bool own_address(struct in_addr *host)
{
    struct ifaddrs *list = NULL;
    bool found = false;

    assert_int_equal(getifaddrs(&list), 0);
    for (const struct ifaddrs *at = list; at != NULL && !found;
         at = at->ifa_next) {
        if (at->ifa_addr == NULL || at->ifa_addr->sa_family != AF_INET ||
            (at->ifa_flags & IFF_LOOPBACK) != 0)
            continue;
        *host = ((const struct sockaddr_in *)(void *)at->ifa_addr)->sin_addr;
        found = true;
    }
    freeifaddrs(list);
    return found;
}

/* Of one address off loopback eight may be strangers at a time, the others are
 * closed at once.  The honest peer comes last: then all were looked at. */
static void test_strangers_of_one_address(void **state)
{
    struct fixture *f = *state;
    int fd[LINK_PER_HOST_MAX + 5];
    uint32_t closed = 0;
    struct in_addr host;
    char byte;

    if (!own_address(&host))
        skip();
    start_at(f, "0.0.0.0", &cluster, &cluster);
    for (uint32_t i = 0; i < LINK_PER_HOST_MAX + 5; i++)
        fd[i] = connect_to(f, host);
    dial(f);
    run_until(f, both_up);
    for (uint32_t i = 0; i < LINK_PER_HOST_MAX + 5; i++) {
        closed += recv(fd[i], &byte, 1, MSG_DONTWAIT) == 0 ? 1 : 0;
        close(fd[i]);
    }
    assert_int_equal(closed, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_flood, setup, teardown),
        cmocka_unit_test_setup_teardown(test_strangers_of_one_address, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_messages, setup, teardown),
        cmocka_unit_test_setup_teardown(test_room_is_given, setup, teardown),
        cmocka_unit_test_setup_teardown(test_room_for_one_frame, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_room_is_too_small, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_room_is_far_too_small, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_room_comes_later, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_is_lent, setup, teardown),
        cmocka_unit_test_setup_teardown(test_plain_messages, setup, teardown),
        cmocka_unit_test_setup_teardown(test_plain_what_is_lent, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_plain_room, setup, teardown),
        cmocka_unit_test_setup_teardown(test_plain_room_later, setup, teardown),
        cmocka_unit_test_setup_teardown(test_plain_room_too_small, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_plain_last_words, setup, teardown),
        cmocka_unit_test_setup_teardown(test_corked_and_plain, setup, teardown),
        cmocka_unit_test_setup_teardown(test_corked_short_ones, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_corked_and_sealed, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_plain_for_one_end, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_plain_for_the_other_end, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_plain_needs_the_key_too, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_waiting_for_room_it_ends, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_a_worker_token_names_its_worker,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_a_worker_token_does_not_pose_as_another, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_a_worker_token_does_not_pose_as_the_cluster, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_worker_is_no_coordinator, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_nobody_there, setup, teardown),
        cmocka_unit_test_setup_teardown(test_other_ways_make_impatient, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_names_resolve, setup, teardown),
        cmocka_unit_test_setup_teardown(test_dials_from_source, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_source_of_another_kind, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_unknown_names_do_not, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_rogue_servers_hear_nothing, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_down_is_seen, setup, teardown),
        cmocka_unit_test_setup_teardown(test_close_lets_the_last_word_through,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(test_queue_is_counted_and_drains, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_a_message_in_two_parts, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_strangers_may_not_send_much, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_garbage_is_turned_away, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_a_crowd_of_strangers, setup,
                                        teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

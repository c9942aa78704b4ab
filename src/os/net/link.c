/*
 * link.c - pairs connections into links; dials; keeps strangers small.
 *
 * A connection that was accepted is a stranger until it has greeted; then it
 * belongs to the link of its cookie, whichever of the two comes first.  Times
 * are watched by one sweeper per hub, which runs only while there is something
 * to watch.
 */
#include "os/net/link.h"

#include <linux/tcp.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "os/clock.h"
#include "os/log.h"
#include "os/net/conn.h"
#include "os/net/sockaddr.h"
#include "os/random.h"
#include "os/run/limits.h"
#include "os/run/loop_parts.h"

#define MAGIC_BYTES    8u
#define COOKIE_BYTES   16u
#define GREETING_BYTES (MAGIC_BYTES + 1u + COOKIE_BYTES)
#define SWEEP_MS       50u
#define PATIENCE_US    SECOND_US /* For strangers while others wait outside. */
#define SILENCE_US     (100 * MS_US) /* ... who have not said a word. */
#define CREDIT_MAX     128u /* Connections accepted without a pause ... */
#define CREDIT_US                                                              \
    500 /* ... and one more each so often: 50 us of                            \
           work each, so that a flood of any size takes                        \
           a tenth of a processor. */
#define CREDIT_WAIT_MS  2u
#define ADDRESSES_MAX   16u
#define FILES_SPARE     8u
#define STRANGERS_LEAST 16u
#define FULL_SAID_US    (10 * SECOND_US)
#define ADDRESS_US      SECOND_US /* For one address while there are more. */

/* First on every connection, and the answer to it. */
static const uint8_t magic[MAGIC_BYTES] = {'M', 'U', 'S', 'T',
                                           'E', 'R', '-', '1'};

struct link_hub {
    struct link_options options;
    struct tls_context *server, *client;
    uv_tcp_t listener;
    bool listening;
    bool waiting;       /* Someone waits outside to be accepted. */
    uint32_t credit;    /* Connections that may be accepted now ... */
    time_us credit_at;  /* ... as of then. */
    uv_timer_t doorman; /* Accepts when there is credit again. */
    uv_timer_t sweeper;
    struct conn *strangers;
    struct link *links;
    uint32_t half; /* Connections of strangers and of untrusted links, ... */
    uint32_t half_max; /* ... of which there may be so many. */
    uint32_t open;     /* Connections and links that are not gone. */
    uint32_t handles;
    bool freed;
    time_us full_at;    /* When it was said last that there is no room. */
    time_us crowded_at; /* The same of a crowd. */
};

struct link {
    struct link_hub *hub;
    struct link *prev, *next;
    struct conn *conn[PLANES];
    uint8_t cookie[COOKIE_BYTES];
    bool dialled;
    bool up;
    bool trusted;
    bool silent;  /* No events: link_close was called. */
    bool closing; /* `down` is on its way. */
    size_t limit;
    time_us deadline;
    enum link_end how;
    char why[CONN_WHY_SIZE + NET_TEXT_SIZE];
    char peer[TOKEN_NAME_SIZE];
    char address[NET_TEXT_SIZE];
    void *user;

    /* Of a dialled link. */
    struct net_address target;
    uv_getaddrinfo_t resolve;
    bool resolving;
    struct sockaddr_storage addresses[ADDRESSES_MAX];
    uint32_t address_count, address_at;
    time_us address_until; /* Then the next one is tried. */
};

static void hub_accept(struct link_hub *hub);

static void hub_release(struct link_hub *hub)
{
    if (!hub->freed || hub->handles > 0 || hub->open > 0)
        return;
    tls_context_free(hub->server);
    tls_context_free(hub->client);
    mem_free(hub);
}

static void hub_handle_closed(uv_handle_t *handle)
{
    struct link_hub *hub = handle->data;

    hub->handles--;
    hub_release(hub);
}

static void link_unlink(struct link *link)
{
    struct link_hub *hub = link->hub;

    if (link->prev != NULL)
        link->prev->next = link->next;
    else
        hub->links = link->next;
    if (link->next != NULL)
        link->next->prev = link->prev;
}

/* Once nothing of it is open: tell, and forget it. */
static void link_settle(struct link *link)
{
    struct link_hub *hub = link->hub;
    const bool tell = !link->silent && (link->dialled || link->up);

    if (!link->closing || link->resolving ||
        link->conn[PLANE_CONTROL] != NULL || link->conn[PLANE_BULK] != NULL)
        return;
    link_unlink(link);
    hub->open--;
    if (tell)
        hub->options.events->down(hub->options.context, link, link->how,
                                  link->why);
    mem_free(link);
}

static void sweep_soon(struct link_hub *hub, uint64_t wait_ms);

/* Starts the end: closes what is open; link_settle follows from the loop. */
static void link_end(struct link *link, enum link_end how, const char *why)
{
    if (link->closing)
        return;
    link->closing = true;
    link->how = how;
    (void)snprintf(link->why, sizeof link->why, "%s: %s", link->address, why);
    for (int plane = 0; plane < PLANES; plane++) {
        if (link->conn[plane] != NULL)
            conn_close(link->conn[plane]);
    }
    if (link->resolving)
        (void)uv_cancel((uv_req_t *)&link->resolve);
    sweep_soon(link->hub, 0); /* In case nothing was open. */
}

static void stranger_add(struct link_hub *hub, struct conn *conn)
{
    conn->next = hub->strangers;
    if (conn->next != NULL)
        conn->next->prev = conn;
    hub->strangers = conn;
}

static void stranger_remove(struct link_hub *hub, struct conn *conn)
{
    if (conn->prev != NULL)
        conn->prev->next = conn->next;
    else
        hub->strangers = conn->next;
    if (conn->next != NULL)
        conn->next->prev = conn->prev;
    conn->prev = NULL;
    conn->next = NULL;
}

static void half_end(struct conn *conn)
{
    if (conn->half)
        conn->hub->half--;
    conn->half = false;
}

static bool too_many_from(const struct link_hub *hub, const struct conn *conn)
{
    uint32_t count = 0;

    if (sockaddr_loopback(&conn->peer))
        return false;
    for (const struct conn *other = hub->strangers; other != NULL;
         other = other->next)
        count += sockaddr_same_host(&other->peer, &conn->peer) ? 1 : 0;
    return count > LINK_PER_HOST_MAX;
}

static void conn_address(const struct conn *conn, char text[NET_TEXT_SIZE])
{
    struct net_address address = {.port = sockaddr_port(&conn->peer)};

    sockaddr_host(&conn->peer, address.host);
    (void)net_text(&address, text);
}

/* Two connections are two roads: when the peer has closed the one, its last
 * word may still be coming on the other. */
static bool awaits_last_word(const struct conn *conn)
{
    const struct link *link = conn->link;

    return conn->ended && conn->plane == PLANE_BULK && link->up &&
           !link->closing && !link->silent &&
           link->conn[PLANE_CONTROL] != NULL &&
           !link->conn[PLANE_CONTROL]->closing;
}

static void on_failed(struct conn *conn, enum link_end how, const char *why)
{
    struct link_hub *hub = conn->hub;
    char address[NET_TEXT_SIZE], text[CONN_WHY_SIZE + NET_TEXT_SIZE];

    if (conn->link != NULL && awaits_last_word(conn)) {
        conn->link->deadline = clock_now_us() + LINK_FINISH_US;
        conn_close(conn);
        sweep_soon(hub, SWEEP_MS);
        return;
    }
    if (conn->link != NULL) {
        link_end(conn->link, how, why);
        return;
    }
    if (how == LINK_REFUSED && hub->options.events->refused != NULL) {
        conn_address(conn, address);
        (void)snprintf(text, sizeof text, "%s was turned away: %s", address,
                       why);
        hub->options.events->refused(hub->options.context, text);
    }
    conn_close(conn);
}

static void on_closed(struct conn *conn)
{
    struct link_hub *hub = conn->hub;
    struct link *link = conn->link;

    half_end(conn);
    if (link == NULL) {
        stranger_remove(hub, conn);
    } else {
        link->conn[conn->plane] = NULL;
        /* A finished link ends with its connections. */
        if (link->conn[PLANE_CONTROL] == NULL &&
            link->conn[PLANE_BULK] == NULL && link->silent)
            link->closing = true;
        link_settle(link);
    }
    if (hub->waiting)
        hub_accept(hub);
    hub->open--;
    hub_release(hub);
}

static void on_written(struct conn *conn)
{
    struct link_hub *hub = conn->hub;
    struct link *link = conn->link;

    if (link != NULL && link->up && !link->closing && !link->silent &&
        conn->plane == PLANE_BULK && conn_queued(conn) < LINK_LOW_BYTES &&
        hub->options.events->drained != NULL)
        hub->options.events->drained(hub->options.context, link);
}

static void send_greeting(struct conn *conn)
{
    uint8_t greeting[GREETING_BYTES];

    memcpy(greeting, magic, MAGIC_BYTES);
    greeting[MAGIC_BYTES] = (uint8_t)conn->plane;
    memcpy(greeting + MAGIC_BYTES + 1, conn->link->cookie, COOKIE_BYTES);
    conn_send(conn, greeting, sizeof greeting);
}

static void dial_plane(struct link *link, enum plane plane);

/* A dialler greets; control before bulk, so that a refusal costs one. */
static void on_open(struct conn *conn)
{
    if (conn->link == NULL || !conn->link->dialled)
        return;
    send_greeting(conn);
    if (conn->closing)
        return;
    if (conn->plane == PLANE_CONTROL)
        dial_plane(conn->link, PLANE_BULK);
    else
        conn_pause(conn); /* Until the peer is trusted. */
}

static struct link *link_by_cookie(const struct link_hub *hub,
                                   const uint8_t *cookie)
{
    for (struct link *link = hub->links; link != NULL; link = link->next) {
        if (!link->dialled && !link->up && !link->closing &&
            memcmp(link->cookie, cookie, COOKIE_BYTES) == 0)
            return link;
    }
    return NULL;
}

static struct link *link_new(struct link_hub *hub)
{
    struct link *link = mem_new(1, sizeof *link);

    if (link == NULL)
        return NULL;
    link->hub = hub;
    link->deadline = TIME_NEVER;
    link->limit = LINK_STRANGER_BYTES;
    link->next = hub->links;
    if (link->next != NULL)
        link->next->prev = link;
    hub->links = link;
    hub->open++;
    return link;
}

static struct link *link_for_greeting(struct conn *conn, const uint8_t *cookie)
{
    struct link *link = link_by_cookie(conn->hub, cookie);

    if (link != NULL)
        return link;
    link = link_new(conn->hub);
    if (link == NULL)
        return NULL;
    memcpy(link->cookie, cookie, COOKIE_BYTES);
    link->deadline = conn->deadline;
    conn_address(conn, link->address);
    (void)snprintf(link->peer, sizeof link->peer, "%s", tls_peer(conn->tls));
    return link;
}

static void link_raise(struct link *link)
{
    struct link_hub *hub = link->hub;

    conn_pause(link->conn[PLANE_BULK]); /* Until the peer is trusted. */
    conn_send(link->conn[PLANE_CONTROL], magic, MAGIC_BYTES);
    if (link->closing)
        return;
    link->up = true;
    hub->options.events->up(hub->options.context, link);
}

static void greeted(struct conn *conn, const uint8_t *data, size_t size)
{
    struct link *link;
    enum plane plane;

    if (size != GREETING_BYTES || memcmp(data, magic, MAGIC_BYTES) != 0 ||
        data[MAGIC_BYTES] >= PLANES) {
        conn_fail(conn, LINK_REFUSED, "it does not speak Muster's protocol");
        return;
    }
    plane = (enum plane)data[MAGIC_BYTES];
    link = link_for_greeting(conn, data + MAGIC_BYTES + 1);
    if (link == NULL) {
        conn_fail(conn, LINK_LOST, "out of memory");
        return;
    }
    if (link->conn[plane] != NULL ||
        strcmp(link->peer, tls_peer(conn->tls)) != 0) {
        conn_fail(conn, LINK_REFUSED, "its two connections do not match");
        return;
    }
    stranger_remove(conn->hub, conn);
    conn->link = link;
    conn->plane = plane;
    link->conn[plane] = conn;
    if (link->conn[PLANE_CONTROL] != NULL && link->conn[PLANE_BULK] != NULL)
        link_raise(link);
}

static void acknowledged(struct conn *conn, const uint8_t *data, size_t size)
{
    struct link *link = conn->link;
    struct link_hub *hub = link->hub;

    if (conn->plane != PLANE_CONTROL || size != MAGIC_BYTES ||
        memcmp(data, magic, MAGIC_BYTES) != 0) {
        conn_fail(conn, LINK_REFUSED, "it does not speak Muster's protocol");
        return;
    }
    link->up = true;
    link->deadline = TIME_NEVER;
    hub->options.events->up(hub->options.context, link);
}

static void on_message(struct conn *conn, const uint8_t *data, size_t size)
{
    struct link *link = conn->link;
    struct link_hub *hub = conn->hub;

    if (link == NULL)
        greeted(conn, data, size);
    else if (link->up && (conn->plane == PLANE_CONTROL || link->trusted))
        hub->options.events->message(hub->options.context, link, conn->plane,
                                     data, size);
    else if (link->dialled && !link->up)
        acknowledged(conn, data, size);
    else
        conn_fail(conn, LINK_REFUSED, "it spoke out of turn");
}

static enum link_room on_room(struct conn *conn, const uint8_t *begin,
                              size_t size, uint8_t **room)
{
    const struct link_options *options = &conn->hub->options;

    if (conn->link == NULL || !conn->link->trusted ||
        conn->plane != PLANE_BULK || options->events->room == NULL)
        return LINK_ROOM_OWN;
    return options->events->room(options->context, conn->link, begin, size,
                                 room);
}

static const struct conn_ops ops = {
    .open = on_open,
    .message = on_message,
    .room = on_room,
    .failed = on_failed,
    .written = on_written,
    .closed = on_closed,
};

static struct conn *hub_conn(struct link_hub *hub)
{
    struct conn *conn;

    if (conn_new(hub->options.loop, &ops, &conn) != ERR_OK)
        return NULL;
    conn->hub = hub;
    hub->open++;
    return conn;
}

static void say_full(struct link_hub *hub, const char *what)
{
    const time_us now = clock_now_us();

    if (hub->full_at != 0 && now - hub->full_at < FULL_SAID_US)
        return;
    hub->full_at = now;
    log_line("somebody could not be let in: %s (%llu at most); raise the limit "
             "with `ulimit -n`",
             what, (unsigned long long)limits_files());
}

/* The last few descriptors are for the disk: with the lowest free number given
 * to each, a high one says that few are left. */
static bool too_full(struct link_hub *hub, const struct conn *conn)
{
    uv_os_fd_t fd;

    if (uv_fileno((const uv_handle_t *)&conn->tcp, &fd) != 0 ||
        (uint64_t)fd + FILES_SPARE < limits_files())
        return false;
    say_full(hub, "too many open files");
    return true;
}

static void accept_one(struct link_hub *hub)
{
    struct conn *conn = hub_conn(hub);
    int size = sizeof conn->peer;

    if (conn == NULL)
        return; /* It waits; the sweeper tries again. */
    hub->waiting = false;
    hub->credit--;
    conn->half = true;
    hub->half++;
    conn->deadline = clock_now_us() + LINK_STRANGER_US;
    stranger_add(hub, conn);
    if (uv_accept((uv_stream_t *)&hub->listener, (uv_stream_t *)&conn->tcp) !=
            0 ||
        uv_tcp_getpeername(&conn->tcp, (struct sockaddr *)&conn->peer, &size) !=
            0 ||
        too_full(hub, conn) || too_many_from(hub, conn)) {
        conn_close(conn);
        return;
    }
    conn_begin(conn, hub->server, true);
    sweep_soon(hub, SWEEP_MS);
}

static void earn_credit(struct link_hub *hub)
{
    const time_us now = clock_now_us();
    const time_us earned = (now - hub->credit_at) / CREDIT_US;

    if (earned >= CREDIT_MAX - hub->credit) {
        hub->credit = CREDIT_MAX;
        hub->credit_at = now;
        return;
    }
    hub->credit += (uint32_t)earned;
    hub->credit_at += earned * CREDIT_US;
}

static void doorman_looks(uv_timer_t *timer)
{
    struct link_hub *hub = timer->data;

    if (hub->waiting)
        hub_accept(hub);
}

/* libuv holds back further connections until this one is accepted; the kernel
 * keeps them, and refuses more when it has its fill, for next to nothing. */
static void hub_accept(struct link_hub *hub)
{
    if (hub->credit == 0)
        earn_credit(hub);
    if (hub->credit == 0) {
        uv_timer_start(&hub->doorman, doorman_looks, CREDIT_WAIT_MS, 0);
        return;
    }
    if (hub->listening && hub->half < hub->half_max)
        accept_one(hub);
    if (hub->waiting)
        sweep_soon(hub, SWEEP_MS);
}

static void on_connection(uv_stream_t *listener, int status)
{
    struct link_hub *hub = listener->data;

    if (status == UV_EMFILE || status == UV_ENFILE)
        say_full(hub, uv_strerror(status)); /* libuv has turned it away. */
    if (status != 0)
        return; /* Or it gave up already. */
    hub->waiting = true;
    hub_accept(hub);
}

/* Whoever has the key speaks as soon as it is connected, so that many silent
 * ones do not keep it out.  What it said may not have been read yet. */
static bool is_silent(const struct conn *conn)
{
    uv_os_fd_t fd;
    char byte;

    return conn->heard == 0 &&
           uv_fileno((const uv_handle_t *)&conn->tcp, &fd) == 0 &&
           recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) <= 0;
}

static void say_crowded(struct link_hub *hub, time_us now)
{
    if (hub->crowded_at != 0 && now - hub->crowded_at < FULL_SAID_US)
        return;
    hub->crowded_at = now;
    log_line("strangers crowd the door: %u connections say nothing while "
             "others wait; they are closed",
             hub->half);
}

/* Others wait outside: has it had its time? */
static bool in_the_way(struct link_hub *hub, const struct conn *conn,
                       time_us now)
{
    /* Fewer places, shorter stays: as many get their turn in a second. */
    const time_us patience = PATIENCE_US * hub->half_max / LINK_STRANGERS_MAX;
    const time_us since = conn->deadline - LINK_STRANGER_US;

    if (!hub->waiting || conn->closing)
        return false;
    if (now - since < SILENCE_US || !is_silent(conn))
        return now - since >= patience;
    say_crowded(hub, now);
    return true;
}

static void sweep_strangers(struct link_hub *hub, time_us now)
{
    for (struct conn *conn = hub->strangers; conn != NULL; conn = conn->next) {
        if (now >= conn->deadline)
            conn_fail(conn, LINK_LOST, "it took too long");
        else if (in_the_way(hub, conn, now))
            conn_close(conn);
    }
}

static void dial_next(struct link *link);

static bool more_addresses(const struct link *link)
{
    return link->address_at + 1 < link->address_count;
}

/* The next address; the connection to this one closes on its own. */
static void next_address(struct link *link)
{
    struct conn *conn = link->conn[PLANE_CONTROL];

    link->conn[PLANE_CONTROL] = NULL;
    conn->link = NULL;
    stranger_add(link->hub, conn);
    conn_close(conn);
    link->address_at++;
    dial_next(link);
}

/* A road that swallows packets must not use up the time of the others. */
static bool address_silent(const struct link *link, time_us now)
{
    const struct conn *conn = link->conn[PLANE_CONTROL];

    return link->dialled && !link->closing &&
           (more_addresses(link) || link->hub->options.elsewhere) &&
           now >= link->address_until && conn != NULL && !conn->closing &&
           !conn->reached;
}

static void address_late(struct link *link)
{
    if (more_addresses(link))
        next_address(link);
    else
        link_end(link, LINK_LOST, "no answer from there");
}

static void link_late(struct link *link)
{
    if (link->silent) {
        link_end(link, LINK_LOST, "");
        return;
    }
    link_end(link, LINK_LOST,
             link->dialled ? "no answer from a coordinator there"
                           : "it took too long to say who it is");
}

static bool sweep_links(struct link_hub *hub, time_us now)
{
    struct link *next;
    bool watched = false;

    for (struct link *link = hub->links; link != NULL; link = next) {
        next = link->next;
        if (!link->closing && now >= link->deadline)
            link_late(link);
        else if (address_silent(link, now))
            address_late(link);
        watched = watched || (!link->closing && link->deadline != TIME_NEVER);
        link_settle(link);
    }
    return watched;
}

static void sweep(uv_timer_t *timer)
{
    struct link_hub *hub = timer->data;
    const time_us now = clock_now_us();
    bool watched;

    sweep_strangers(hub, now);
    watched = sweep_links(hub, now);
    if (hub->waiting)
        hub_accept(hub);
    if (watched || hub->strangers != NULL || hub->waiting)
        sweep_soon(hub, SWEEP_MS);
}

static void sweep_soon(struct link_hub *hub, uint64_t wait_ms)
{
    if (hub->freed && uv_is_closing((uv_handle_t *)&hub->sweeper))
        return;
    if (wait_ms > 0 && uv_is_active((uv_handle_t *)&hub->sweeper))
        return;
    uv_timer_start(&hub->sweeper, sweep, wait_ms, 0);
}

static void on_connected(uv_connect_t *request, int status)
{
    struct conn *conn = request->data;
    struct link *link = conn->link;

    if (conn->closing)
        return;
    if (status == 0) {
        conn->reached = true;
        conn_begin(conn, link->hub->client, false);
        return;
    }
    if (conn->plane == PLANE_CONTROL && more_addresses(link)) {
        next_address(link);
        return;
    }
    conn_fail(conn, LINK_LOST, uv_strerror(status));
}

static const char *source_of(const struct net_source *source, int family)
{
    return family == AF_INET6 ? source->six : source->four;
}

/* The source address says which network card the packets leave by. */
static int bind_source(struct conn *conn, const struct net_source *source)
{
    struct sockaddr_storage address;

    if (source == NULL ||
        !sockaddr_parse(source_of(source, conn->peer.ss_family), &address))
        return 0;
    return uv_tcp_bind(&conn->tcp, (const struct sockaddr *)&address, 0);
}

static void dial_plane(struct link *link, enum plane plane)
{
    struct conn *conn = hub_conn(link->hub);
    int error;

    if (conn == NULL) {
        link_end(link, LINK_LOST, "out of memory");
        return;
    }
    conn->link = link;
    conn->plane = plane;
    conn->limit = link->limit;
    conn->peer = link->addresses[link->address_at];
    link->conn[plane] = conn;
    error = bind_source(conn, link->hub->options.source);
    if (error == 0)
        error =
            uv_tcp_connect(&conn->connect, &conn->tcp,
                           (const struct sockaddr *)&conn->peer, on_connected);
    if (error != 0)
        link_end(link, LINK_LOST, uv_strerror(error));
}

/* Can this address be dialled from where we must? */
static bool has_way(const struct link *link, uint32_t at)
{
    const struct net_source *source = link->hub->options.source;

    return source == NULL ||
           source_of(source, link->addresses[at].ss_family)[0] != '\0';
}

static void dial_next(struct link *link)
{
    while (!has_way(link, link->address_at) &&
           link->address_at + 1 < link->address_count)
        link->address_at++;
    link->address_until = clock_now_us() + ADDRESS_US;
    if (!has_way(link, link->address_at))
        link_end(link, LINK_REFUSED,
                 "the network card of --interface has no address of its kind "
                 "(IPv4 or IPv6)");
    else
        dial_plane(link, PLANE_CONTROL);
}

static void keep_addresses(struct link *link, const struct addrinfo *list)
{
    for (; list != NULL && link->address_count < ADDRESSES_MAX;
         list = list->ai_next) {
        struct sockaddr_storage *address =
            &link->addresses[link->address_count++];

        memcpy(address, list->ai_addr, list->ai_addrlen);
        sockaddr_set_port(address, link->target.port);
    }
}

static void on_resolved(uv_getaddrinfo_t *request, int status,
                        struct addrinfo *list)
{
    struct link *link = request->data;
    struct link_hub *hub = link->hub;

    link->resolving = false;
    if (status == 0 && !link->closing)
        keep_addresses(link, list);
    uv_freeaddrinfo(list);
    if (link->closing)
        link_settle(link);
    else if (link->address_count == 0)
        link_end(link, LINK_LOST, uv_strerror(status));
    else
        dial_next(link);
    hub_release(hub);
}

static void link_resolve(struct link *link)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                                   .ai_flags = AI_ADDRCONFIG};
    int error;

    link->resolve.data = link;
    error = uv_getaddrinfo(&link->hub->options.loop->uv, &link->resolve,
                           on_resolved, link->target.host, NULL, &hints);
    if (error != 0)
        link_end(link, LINK_LOST, uv_strerror(error));
    else
        link->resolving = true;
}

enum err link_dial(struct link_hub *hub, const struct net_address *address,
                   struct link **link)
{
    struct link *made = link_new(hub);

    if (made == NULL)
        return ERR_NOMEM;
    made->dialled = true;
    made->target = *address;
    made->deadline = clock_now_us() + LINK_STRANGER_US;
    random_fill(made->cookie, sizeof made->cookie);
    (void)net_text(address, made->address);
    *link = made;
    if (sockaddr_parse(address->host, &made->addresses[0])) {
        sockaddr_set_port(&made->addresses[0], address->port);
        made->address_count = 1;
        dial_next(made);
    } else {
        link_resolve(made);
    }
    sweep_soon(hub, SWEEP_MS);
    return ERR_OK;
}

enum err link_hub_new(const struct link_options *options, struct link_hub **hub)
{
    struct link_hub *made = mem_new(1, sizeof *made);
    enum err err;

    if (made == NULL)
        return ERR_NOMEM;
    made->options = *options;
    err = tls_context_new(options->token, true, &made->server);
    if (err == ERR_OK)
        err = tls_context_new(options->token, false, &made->client);
    if (err != ERR_OK) {
        tls_context_free(made->server);
        mem_free(made);
        return err;
    }
    CHECK(uv_timer_init(&options->loop->uv, &made->sweeper) == 0);
    CHECK(uv_timer_init(&options->loop->uv, &made->doorman) == 0);
    made->sweeper.data = made;
    made->doorman.data = made;
    made->handles = 2;
    made->credit = CREDIT_MAX;
    made->credit_at = clock_now_us();
    *hub = made;
    return ERR_OK;
}

/* A third of the descriptors that are left: who is let in needs two. */
static uint32_t strangers_max(void)
{
    const uint64_t open = limits_files_open();
    const uint64_t most = limits_files();
    const uint64_t third = most > open ? (most - open) / 3 : 0;

    if (third < STRANGERS_LEAST)
        return STRANGERS_LEAST;
    return third < LINK_STRANGERS_MAX ? (uint32_t)third : LINK_STRANGERS_MAX;
}

enum err link_hub_listen(struct link_hub *hub, int fd)
{
    int copy;

    CHECK(!hub->listening);
    CHECK(uv_tcp_init(&hub->options.loop->uv, &hub->listener) == 0);
    hub->listener.data = hub;
    hub->handles++;
    hub->listening = true;
    hub->half_max = strangers_max();
    copy = sockaddr_dup(fd);
    if (copy < 0 || uv_tcp_open(&hub->listener, copy) != 0 ||
        uv_listen((uv_stream_t *)&hub->listener, SOMAXCONN, on_connection) !=
            0) {
        link_hub_stop_listening(hub);
        return ERR_IO;
    }
    return ERR_OK;
}

void link_hub_stop_listening(struct link_hub *hub)
{
    if (!hub->listening)
        return;
    hub->listening = false;
    hub->waiting = false;
    uv_close((uv_handle_t *)&hub->listener, hub_handle_closed);
}

void link_hub_free(struct link_hub *hub)
{
    if (hub == NULL)
        return;
    link_hub_stop_listening(hub);
    for (struct conn *conn = hub->strangers; conn != NULL; conn = conn->next)
        conn_close(conn);
    for (struct link *link = hub->links, *next; link != NULL; link = next) {
        next = link->next;
        link->silent = true;
        link_end(link, LINK_LOST, "");
        link_settle(link);
    }
    hub->freed = true;
    uv_close((uv_handle_t *)&hub->sweeper, hub_handle_closed);
    uv_close((uv_handle_t *)&hub->doorman, hub_handle_closed);
}

uint32_t link_hub_open(const struct link_hub *hub)
{
    return hub->open;
}

/* Its connections were well spent: a crowd of workers waits for nobody. */
static void refund(struct link_hub *hub)
{
    hub->credit += PLANES;
    if (hub->credit > CREDIT_MAX)
        hub->credit = CREDIT_MAX;
}

void link_trust(struct link *link, size_t message_max)
{
    CHECK(message_max > LINK_STRANGER_BYTES);
    if (link->closing || link->silent || !link->up ||
        link->conn[PLANE_BULK] == NULL)
        return;
    link->limit = message_max;
    link->deadline = TIME_NEVER;
    for (int plane = 0; plane < PLANES; plane++) {
        link->conn[plane]->limit = message_max;
        half_end(link->conn[plane]);
    }
    if (!link->trusted) {
        conn_resume(link->conn[PLANE_BULK]);
        refund(link->hub);
    }
    link->trusted = true;
    if (link->hub->waiting)
        sweep_soon(link->hub, 0);
}

bool link_trusted(const struct link *link)
{
    return link->trusted;
}

void link_hold(struct link *link, bool hold)
{
    struct conn *conn = link->conn[PLANE_BULK];

    if (link->closing || link->silent || !link->trusted || conn == NULL)
        return;
    if (hold)
        conn_pause(conn);
    else
        conn_resume(conn);
}

void link_give(struct link *link, uint8_t *room)
{
    struct conn *conn = link->conn[PLANE_BULK];

    if (!link->closing && !link->silent && conn != NULL)
        conn_give(conn, room);
}

void link_send(struct link *link, enum plane plane, const void *data,
               size_t size)
{
    CHECK(link->up);
    if (!link->closing && !link->silent && link->conn[plane] != NULL)
        conn_send(link->conn[plane], data, size);
}

void link_send_with(struct link *link, enum plane plane, const void *head,
                    size_t head_size, struct blob *tail, size_t size)
{
    CHECK(link->up);
    CHECK(size <= tail->capacity);
    if (!link->closing && !link->silent && link->conn[plane] != NULL)
        conn_send_with(link->conn[plane], head, head_size, tail, size);
}

size_t link_queued(const struct link *link, enum plane plane)
{
    return link->conn[plane] == NULL ? 0 : conn_queued(link->conn[plane]);
}

static time_us conn_deaf(const struct conn *conn)
{
    uv_os_fd_t fd;
    struct tcp_info info = {0};
    socklen_t size = sizeof info;

    if (conn == NULL || uv_fileno((const uv_handle_t *)&conn->tcp, &fd) != 0 ||
        getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 ||
        info.tcpi_unacked == 0)
        return 0;
    /* What was sent a moment ago after a long silence is not overdue: only once
     * it had to be sent again does the last acknowledgement say how long. */
    if (info.tcpi_retransmits == 0 &&
        info.tcpi_last_data_sent < info.tcpi_last_ack_recv)
        return (time_us)info.tcpi_last_data_sent * MS_US;
    return (time_us)info.tcpi_last_ack_recv * MS_US;
}

time_us link_deaf_us(const struct link *link)
{
    const time_us control = conn_deaf(link->conn[PLANE_CONTROL]);
    const time_us bulk = conn_deaf(link->conn[PLANE_BULK]);

    return control > bulk ? control : bulk;
}

size_t link_backlog(const struct link *link, enum plane plane)
{
    const struct conn *conn = link->conn[plane];
    uv_os_fd_t fd;

    if (conn == NULL || conn->closing ||
        uv_fileno((const uv_handle_t *)&conn->tcp, &fd) != 0)
        return 0;
    return conn_queued(conn) + sockaddr_unacknowledged(fd);
}

void link_close(struct link *link)
{
    link->silent = true;
    if (!link->up) {
        link_end(link, LINK_LOST, "");
        return;
    }
    link->deadline = clock_now_us() + LINK_FINISH_US;
    for (int plane = 0; plane < PLANES; plane++) {
        if (link->conn[plane] != NULL)
            conn_finish(link->conn[plane]);
    }
    sweep_soon(link->hub, SWEEP_MS);
}

void *link_user(const struct link *link)
{
    return link->user;
}

void link_set_user(struct link *link, void *user)
{
    link->user = user;
}

const char *link_peer(const struct link *link)
{
    return link->peer;
}

bool link_may_be(const struct link *link, const char *name)
{
    const char *peer = link_peer(link);

    return strcmp(peer, TOKEN_CLUSTER) == 0 || strcmp(peer, name) == 0;
}

const char *link_address(const struct link *link)
{
    return link->address;
}

bool link_host(const struct link *link, char host[NET_HOST_SIZE])
{
    const struct conn *conn = link->conn[PLANE_CONTROL];

    if (conn == NULL)
        return false;
    sockaddr_host(&conn->peer, host);
    return true;
}

bool link_own_host(const struct link *link, char host[NET_HOST_SIZE])
{
    const struct conn *conn = link->conn[PLANE_CONTROL];
    struct sockaddr_storage own;
    int size = sizeof own;

    if (conn == NULL ||
        uv_tcp_getsockname(&conn->tcp, (struct sockaddr *)&own, &size) != 0)
        return false;
    sockaddr_host(&own, host);
    return true;
}

bool link_reached(const struct link *link)
{
    const struct conn *conn = link->conn[PLANE_CONTROL];

    return conn != NULL && conn->reached;
}

bool link_local(const struct link *link)
{
    const struct conn *conn = link->conn[PLANE_CONTROL];

    return conn != NULL && sockaddr_loopback(&conn->peer);
}

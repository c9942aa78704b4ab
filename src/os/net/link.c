/*
 * link.c - pairs connections into links, and watches over their times.
 *
 * A connection that was accepted is a stranger until it has greeted; then it
 * belongs to the link of its cookie, whichever of the two comes first.  Times
 * are watched by one sweeper per hub, which runs only while there is something
 * to watch.
 */
#include <assert.h>
#include <linux/tcp.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "os/clock.h"
#include "os/net/link_parts.h"
#include "os/net/sockaddr.h"
#include "os/run/loop_parts.h"

#define MAGIC_BYTES    8u
#define GREETING_BYTES (MAGIC_BYTES + 1u + LINK_COOKIE_BYTES)
#define PLAIN_BULK     2u /* For PLANE_BULK: and not sealed, please. */
#define PLAIN_YES      1u

/* First on every connection, and the answer to it. */
static const uint8_t magic[MAGIC_BYTES] = {'M', 'U', 'S', 'T',
                                           'E', 'R', '-', '1'};

void link_hub_release(struct link_hub *hub)
{
    if (!hub->freed || hub->handles > 0 || hub->open > 0)
        return;
    tls_context_free(hub->server);
    tls_context_free(hub->client);
    mem_free(hub);
}

void link_hub_handle_closed(uv_handle_t *handle)
{
    struct link_hub *hub = handle->data;

    hub->handles--;
    link_hub_release(hub);
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

void link_settle(struct link *link)
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

void link_end(struct link *link, enum link_end how, const char *why)
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
    link_sweep_soon(link->hub, 0); /* In case nothing was open. */
}

static void conn_address(const struct conn *conn, char text[NET_TEXT_SIZE])
{
    struct net_address address = {.port = sockaddr_port(&conn->peer)};

    sockaddr_host(&conn->peer, address.host);
    (void)net_text(&address, text);
}

/* Two connections are two roads: when the peer has closed the one, its last
 * word may still be coming on the other.  Of a ring's peer that is what others
 * need to go on: sums, states, and that it leaves and has not died.  Whoever
 * was killed has none, and is not waited for. */
static bool awaits_last_word(const struct conn *conn)
{
    const struct link *link = conn->link;
    const bool control = conn->plane == PLANE_CONTROL;
    const struct conn *other = link->conn[control ? PLANE_BULK : PLANE_CONTROL];

    return conn->ended && link->up && !link->closing && !link->silent &&
           (!control || (conn->parted && link->trusted)) && other != NULL &&
           !other->closing;
}

static void on_failed(struct conn *conn, enum link_end how, const char *why)
{
    struct link_hub *hub = conn->hub;
    char address[NET_TEXT_SIZE], text[CONN_WHY_SIZE + NET_TEXT_SIZE];

    if (conn->link != NULL && awaits_last_word(conn)) {
        conn->link->deadline = clock_now_us() + LINK_FINISH_US;
        conn_close(conn);
        link_sweep_soon(hub, LINK_SWEEP_MS);
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

    stranger_known(conn);
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
        strangers_accept(hub);
    hub->open--;
    link_hub_release(hub);
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
    greeting[MAGIC_BYTES] =
        conn->plane == PLANE_BULK && conn->hub->options.plain
            ? PLAIN_BULK
            : (uint8_t)conn->plane;
    memcpy(greeting + MAGIC_BYTES + 1, conn->link->cookie, LINK_COOKIE_BYTES);
    conn_send(conn, greeting, sizeof greeting);
}

/* A dialler greets; control before bulk, so that a refusal costs one. */
static void on_open(struct conn *conn)
{
    if (conn->link == NULL || !conn->link->dialled)
        return;
    send_greeting(conn);
    if (conn->closing)
        return;
    if (conn->plane == PLANE_CONTROL)
        link_dial_plane(conn->link, PLANE_BULK);
    else
        conn_pause(conn); /* Until the peer is trusted. */
}

static struct link *link_by_cookie(const struct link_hub *hub,
                                   const uint8_t *cookie)
{
    for (struct link *link = hub->links; link != NULL; link = link->next) {
        if (!link->dialled && !link->up && !link->closing &&
            memcmp(link->cookie, cookie, LINK_COOKIE_BYTES) == 0)
            return link;
    }
    return NULL;
}

struct link *link_new(struct link_hub *hub)
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
    memcpy(link->cookie, cookie, LINK_COOKIE_BYTES);
    link->deadline = conn->deadline;
    conn_address(conn, link->address);
    (void)snprintf(link->peer, sizeof link->peer, "%s", tls_peer(conn->tls));
    return link;
}

static void link_raise(struct link *link)
{
    struct link_hub *hub = link->hub;
    uint8_t answer[MAGIC_BYTES + 1];

    link->plain = link->plain && hub->options.plain;
    memcpy(answer, magic, MAGIC_BYTES);
    answer[MAGIC_BYTES] = PLAIN_YES;
    conn_pause(link->conn[PLANE_BULK]); /* Until the peer is trusted. */
    conn_send(link->conn[PLANE_CONTROL], answer,
              MAGIC_BYTES + (link->plain ? 1 : 0));
    if (!link->closing && link->plain)
        conn_go_plain(link->conn[PLANE_BULK]);
    if (link->closing)
        return;
    link->up = true;
    hub->options.events->up(hub->options.context, link);
}

static void greeted(struct conn *conn, const uint8_t *data, size_t size)
{
    struct link *link;
    enum plane plane;
    bool plain;

    if (size != GREETING_BYTES || memcmp(data, magic, MAGIC_BYTES) != 0 ||
        data[MAGIC_BYTES] > PLAIN_BULK) {
        conn_fail(conn, LINK_REFUSED, "it does not speak Muster's protocol");
        return;
    }
    plain = data[MAGIC_BYTES] == PLAIN_BULK;
    plane = plain ? PLANE_BULK : (enum plane)data[MAGIC_BYTES];
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
    link->plain = link->plain || plain;
    if (link->conn[PLANE_CONTROL] != NULL && link->conn[PLANE_BULK] != NULL)
        link_raise(link);
}

static void acknowledged(struct conn *conn, const uint8_t *data, size_t size)
{
    struct link *link = conn->link;
    struct link_hub *hub = link->hub;

    link->plain = hub->options.plain && size == MAGIC_BYTES + 1 &&
                  data[MAGIC_BYTES] == PLAIN_YES;
    if (conn->plane != PLANE_CONTROL ||
        size != MAGIC_BYTES + (link->plain ? 1 : 0) ||
        memcmp(data, magic, MAGIC_BYTES) != 0 ||
        (link->plain && link->conn[PLANE_BULK] == NULL)) {
        conn_fail(conn, LINK_REFUSED, "it does not speak Muster's protocol");
        return;
    }
    if (link->plain)
        conn_go_plain(link->conn[PLANE_BULK]);
    if (link->closing)
        return;
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
                              size_t size, uint8_t **room, size_t *capacity)
{
    const struct link_options *options = &conn->hub->options;

    if (conn->link == NULL || !conn->link->trusted ||
        conn->plane != PLANE_BULK || options->events->room == NULL)
        return LINK_ROOM_OWN;
    return options->events->room(options->context, conn->link, begin, size,
                                 room, capacity);
}

static const struct conn_ops ops = {
    .open = on_open,
    .message = on_message,
    .room = on_room,
    .failed = on_failed,
    .written = on_written,
    .closed = on_closed,
};

struct conn *link_hub_conn(struct link_hub *hub)
{
    struct conn *conn;

    if (conn_new(hub->options.loop, &ops, &conn) != ERR_OK)
        return NULL;
    conn->hub = hub;
    hub->open++;
    return conn;
}

static void link_late(struct link *link)
{
    if (link->silent) {
        link_end(link, LINK_LOST, "");
        return;
    }
    link_end(link, LINK_LOST,
             link->up && (link->conn[PLANE_CONTROL] == NULL ||
                          link->conn[PLANE_BULK] == NULL)
                 ? "it closed the connection"
             : link->dialled ? "no answer from a coordinator there"
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
        else if (link_address_silent(link, now))
            link_address_late(link);
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

    strangers_sweep(hub, now);
    watched = sweep_links(hub, now);
    if (hub->waiting)
        strangers_accept(hub);
    if (watched || hub->strangers != NULL || hub->waiting)
        link_sweep_soon(hub, LINK_SWEEP_MS);
}

void link_sweep_soon(struct link_hub *hub, uint64_t wait_ms)
{
    if (hub->freed && uv_is_closing((uv_handle_t *)&hub->sweeper))
        return;
    if (wait_ms > 0 && uv_is_active((uv_handle_t *)&hub->sweeper))
        return;
    uv_timer_start(&hub->sweeper, sweep, wait_ms, 0);
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
    strangers_begin(made);
    *hub = made;
    return ERR_OK;
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
    uv_close((uv_handle_t *)&hub->sweeper, link_hub_handle_closed);
    uv_close((uv_handle_t *)&hub->doorman, link_hub_handle_closed);
}

uint32_t link_hub_open(const struct link_hub *hub)
{
    return hub->open;
}

void link_trust(struct link *link, size_t message_max)
{
    CHECK(message_max > LINK_STRANGER_BYTES);
    if (link->closing || link->silent || !link->up ||
        link->conn[PLANE_CONTROL] == NULL || link->conn[PLANE_BULK] == NULL)
        return;
    link->limit = message_max;
    link->deadline = TIME_NEVER;
    for (int plane = 0; plane < PLANES; plane++) {
        link->conn[plane]->limit = message_max;
        stranger_known(link->conn[plane]);
    }
    if (!link->trusted) {
        conn_resume(link->conn[PLANE_BULK]);
        strangers_refund(link->hub);
    }
    link->trusted = true;
    if (link->hub->waiting)
        link_sweep_soon(link->hub, 0);
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

size_t link_queued(const struct link *link, enum plane plane)
{
    return link->conn[plane] == NULL ? 0 : conn_queued(link->conn[plane]);
}

size_t link_heard(const struct link *link, enum plane plane)
{
    return link->conn[plane] == NULL ? 0 : link->conn[plane]->heard;
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
    link_sweep_soon(link->hub, LINK_SWEEP_MS);
}

uint64_t link_number(const struct link *link)
{
    uint64_t number;

    static_assert(sizeof number <= LINK_COOKIE_BYTES, "a part of it");
    memcpy(&number, link->cookie, sizeof number);
    return number;
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

bool link_plain(const struct link *link)
{
    return link->plain;
}

bool link_local(const struct link *link)
{
    const struct conn *conn = link->conn[PLANE_CONTROL];

    return conn != NULL && sockaddr_loopback(&conn->peer);
}

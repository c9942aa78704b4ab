/*
 * link_strangers.c - admission control (P11): how many connections that have
 * not said who they are may be open, for how long, and how fast others are
 * accepted.  Whoever has the key gets in whatever a flood of others does.
 */
#include "base/check.h"
#include "os/clock.h"
#include "os/log.h"
#include "os/net/link_parts.h"
#include "os/net/sockaddr.h"
#include "os/run/limits.h"
#include "os/run/loop_parts.h"

#define PATIENCE_US SECOND_US     /* For strangers while others wait outside. */
#define SILENCE_US  (100 * MS_US) /* ... who have not said a word. */
#define CREDIT_MAX  128u          /* Connections accepted without a pause ... */
#define CREDIT_US                                                              \
    500 /* ... and one more each so often: 50 us of                            \
           work each, so that a flood of any size takes                        \
           a tenth of a processor. */
#define CREDIT_WAIT_MS  2u
#define FILES_SPARE     8u
#define STRANGERS_LEAST 16u
#define FULL_SAID_US    (10 * SECOND_US)

void stranger_add(struct link_hub *hub, struct conn *conn)
{
    conn->next = hub->strangers;
    if (conn->next != NULL)
        conn->next->prev = conn;
    hub->strangers = conn;
}

void stranger_remove(struct link_hub *hub, struct conn *conn)
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

void stranger_known(struct conn *conn)
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

void strangers_begin(struct link_hub *hub)
{
    hub->credit = CREDIT_MAX;
    hub->credit_at = clock_now_us();
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
    struct conn *conn = link_hub_conn(hub);
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
    link_sweep_soon(hub, LINK_SWEEP_MS);
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
        strangers_accept(hub);
}

void strangers_accept(struct link_hub *hub)
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
        link_sweep_soon(hub, LINK_SWEEP_MS);
}

static void on_connection(uv_stream_t *listener, int status)
{
    struct link_hub *hub = listener->data;

    if (status == UV_EMFILE || status == UV_ENFILE)
        say_full(hub, uv_strerror(status)); /* libuv has turned it away. */
    if (status != 0)
        return; /* Or it gave up already. */
    hub->waiting = true;
    strangers_accept(hub);
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

void strangers_sweep(struct link_hub *hub, time_us now)
{
    for (struct conn *conn = hub->strangers; conn != NULL; conn = conn->next) {
        if (now >= conn->deadline)
            conn_fail(conn, LINK_LOST, "it took too long");
        else if (in_the_way(hub, conn, now))
            conn_close(conn);
    }
}

void strangers_refund(struct link_hub *hub)
{
    hub->credit += PLANES;
    if (hub->credit > CREDIT_MAX)
        hub->credit = CREDIT_MAX;
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
    uv_close((uv_handle_t *)&hub->listener, link_hub_handle_closed);
}

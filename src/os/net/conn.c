/*
 * conn.c - a connection's life; its messages are others' business:
 *
 *     conn_take.c  read -> TLS -> frames -> message
 *     conn_send.c  message -> frames -> TLS -> write
 */
#include "base/check.h"
#include "base/mem.h"
#include "os/net/conn_parts.h"
#include "os/net/sockaddr.h"
#include "os/run/loop_parts.h"

#define NEAR_BYTES (512 << 10) /* On the way within one machine. */

void conn_fail(struct conn *conn, enum link_end how, const char *why)
{
    if (!conn->closing)
        conn->ops->failed(conn, how, why);
}

void conn_scratch_free(struct conn_scratch *scratch)
{
    if (scratch == NULL)
        return;
    while (scratch->spare_count > 0)
        mem_free(scratch->spares[--scratch->spare_count].bytes);
    mem_free(scratch);
}

static void conn_closed(uv_handle_t *handle)
{
    struct conn *conn = handle->data;

    while (conn->unsealed != NULL)
        conn_drop_unsealed(conn);
    tls_free(conn->tls); /* Before the hub that it is of may go. */
    conn->tls = NULL;
    conn->ops->closed(conn);
    mem_free(conn->message);
    mem_free(conn);
}

void conn_close(struct conn *conn)
{
    if (conn->closing)
        return;
    conn->closing = true;
    uv_close((uv_handle_t *)&conn->tcp, conn_closed);
}

enum err conn_new(struct loop *loop, const struct conn_ops *ops,
                  struct conn **conn)
{
    struct conn *made = mem_new(1, sizeof *made);

    if (loop->scratch == NULL)
        loop->scratch = mem_new(1, sizeof *loop->scratch);
    if (made == NULL || loop->scratch == NULL) {
        mem_free(made);
        return ERR_NOMEM;
    }
    CHECK(uv_tcp_init(&loop->uv, &made->tcp) == 0);
    made->tcp.data = made;
    made->connect.data = made;
    made->shutdown.data = made;
    made->ops = ops;
    made->scratch = loop->scratch;
    made->limit = LINK_STRANGER_BYTES;
    made->deadline = TIME_NEVER;
    *conn = made;
    return ERR_OK;
}

/* Both ends on one machine. */
static bool is_near(const struct conn *conn)
{
    struct sockaddr_storage own;
    int size = sizeof own;

    return uv_tcp_getsockname(&conn->tcp, (struct sockaddr *)&own, &size) ==
               0 &&
           sockaddr_same_host(&own, &conn->peer);
}

/* Left to itself the kernel takes in megabytes before the peer reads any.
 * Where there is no road to fill they only leave the caches before they are
 * copied out again, and the peer's window closes: acknowledgements are put off,
 * and what was received is sent once more. */
static void keep_near(struct conn *conn)
{
    int bytes = NEAR_BYTES;

    (void)uv_send_buffer_size((uv_handle_t *)&conn->tcp, &bytes);
}

void conn_begin(struct conn *conn, struct tls_context *context, bool server)
{
    conn->server = server;
    if (!server)
        (void)uv_tcp_nodelay(&conn->tcp, 1); /* Else it is the listener's. */
    if (is_near(conn))
        keep_near(conn);
    conn_resume(conn);
    if (server)
        conn->sealed = context; /* Whoever says nothing costs no TLS. */
    else if (conn_begin_tls(conn, context))
        conn_shake(conn); /* A client speaks first. */
}

void conn_go_plain(struct conn *conn)
{
    if (conn->open && conn_queued(conn) == 0 && conn->size == 0 &&
        conn->header_size == 0)
        conn->plain = true;
    else
        conn_fail(conn, LINK_REFUSED, "it spoke out of turn");
}

static void conn_end_tls(struct conn *conn)
{
    if (conn->plain)
        return;
    tls_end(conn->tls);
    conn_flush_tls(conn);
}

static void shut(uv_shutdown_t *request, int status)
{
    struct conn *conn = request->data;

    if (status < 0 && !conn->closing)
        conn_close(conn);
}

void conn_finish(struct conn *conn)
{
    if (conn->closing || conn->finishing)
        return;
    if (conn->tls != NULL && conn->open) {
        conn_seal_some(conn, SIZE_MAX);
        conn_end_tls(conn);
    }
    conn->finishing = true;
    conn->waiting = false;
    conn_resume(conn); /* To see the peer's end. */
    if (uv_shutdown(&conn->shutdown, (uv_stream_t *)&conn->tcp, shut) != 0)
        conn_close(conn);
}

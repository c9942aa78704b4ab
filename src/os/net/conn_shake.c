/*
 * conn_shake.c - how a connection begins: with TLS, or with words about why
 * not.
 */
#include "os/net/conn_parts.h"

#define TLS_HANDSHAKE 0x16

static void shaking_failed(struct conn *conn)
{
    const bool plain = conn->first != TLS_HANDSHAKE;

    if (conn->server && plain)
        conn_send_alert(conn);
    else
        conn_flush_tls(conn); /* OpenSSL's alert. */
    if (conn->server && plain)
        conn_fail(conn, LINK_REFUSED, "it came without a key");
    else if (conn->server)
        conn_fail(conn, LINK_REFUSED, "its token is not of this cluster");
    else if (conn->first != TLS_ALERT)
        conn_fail(conn, LINK_REFUSED,
                  "whoever answers there does not hold the key of this token, "
                  "and was told nothing; is that address right?");
    else
        conn_fail(conn, LINK_REFUSED,
                  "the coordinator does not accept this token; it must be of "
                  "the coordinator's cluster");
}

void conn_shake(struct conn *conn)
{
    const enum tls_state state = tls_shake(conn->tls);

    if (state == TLS_FAILED) {
        shaking_failed(conn);
        return;
    }
    conn_flush_tls(conn);
    if (state == TLS_OPEN && !conn->closing) {
        conn->open = true;
        conn->ops->open(conn);
    }
}

bool conn_begin_tls(struct conn *conn, struct tls_context *context)
{
    if (tls_new(context, &conn->tls) == ERR_OK)
        return true;
    conn_fail(conn, LINK_LOST, "out of memory");
    return false;
}

bool conn_begin_sealed(struct conn *conn)
{
    if (conn->tls != NULL)
        return true;
    if (conn->first == TLS_HANDSHAKE)
        return conn_begin_tls(conn, conn->sealed);
    shaking_failed(conn);
    return false;
}

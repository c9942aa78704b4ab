/*
 * conn_shake.c - how a connection begins: with TLS, without, or with words
 * about the two ends that do not agree on it.
 */
#include "os/conn_parts.h"

#define TLS_HANDSHAKE 0x16

static void shaking_failed(struct conn *conn)
{
    const bool plain = conn->first != TLS_HANDSHAKE;

    if (conn->server && plain)
        conn_send_alert(conn);
    else
        conn_flush_tls(conn); /* OpenSSL's alert. */
    if (conn->server && plain)
        conn_fail(conn, LINK_REFUSED, "it came without a token");
    else if (conn->server)
        conn_fail(conn, LINK_REFUSED, "its token is not of this cluster");
    else if (plain && conn->first != TLS_ALERT)
        conn_fail(conn, LINK_REFUSED,
                  "the coordinator there works without a token; leave out "
                  "--token-file");
    else if (!plain)
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

/* A whole TLS alert and nothing else.  Its first byte alone may be the length
 * of a frame. */
static bool is_alert(const char *data, size_t size)
{
    return size == 7 && data[0] == TLS_ALERT && data[1] == 3 && data[3] == 0 &&
           data[4] == 2;
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
    if (conn->sealed == NULL)
        return true;
    if (conn->first == TLS_HANDSHAKE)
        return conn_begin_tls(conn, conn->sealed);
    shaking_failed(conn);
    return false;
}

/* TLS where plain bytes were expected: say so in words, quickly. */
bool conn_mismatched(struct conn *conn, const char *data, size_t size)
{
    static const char answer[] = "MUSTER-1 works without a token here";

    if (conn->tls != NULL)
        return false;
    if (conn->server && conn->first == TLS_HANDSHAKE) {
        conn_send(conn, answer, sizeof answer);
        conn_fail(conn, LINK_REFUSED,
                  "it came with a token, but there is none here; give "
                  "--token-file to both or to neither");
        return true;
    }
    if (!conn->server && is_alert(data, size)) {
        conn_fail(conn, LINK_REFUSED,
                  "the coordinator asks for a token; give it with "
                  "--token-file");
        return true;
    }
    return false;
}

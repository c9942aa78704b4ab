/*
 * conn_parts.h - a connection's files to each other; nobody else's.
 *
 *   conn.c        new, begin, finish, close
 *   conn_shake.c  TLS, or why not
 *   conn_send.c   messages on their way out
 *   conn_take.c   messages on their way in
 */
#ifndef OS_CONN_PARTS_H
#define OS_CONN_PARTS_H

#include "os/net/conn.h"

#define MORE_BIT  0x80000000u /* Of a frame's header: not the last. */
#define TLS_ALERT 0x15        /* First byte of such a record. */

/* conn_shake.c; false: it has failed. */
bool conn_begin_tls(struct conn *conn, struct tls_context *context);
/* The first byte tells whether it is worth a TLS state. */
bool conn_begin_sealed(struct conn *conn);
void conn_shake(struct conn *conn);

/* conn_send.c */
/* Write what TLS has for the peer. */
void conn_flush_tls(struct conn *conn);
/* Until `high` bytes wait for the kernel, SIZE_MAX: all; of what is not sealed
 * as much as it takes, or all. */
void conn_seal_some(struct conn *conn, size_t high);
/* The first message that is not encrypted yet. */
void conn_drop_unsealed(struct conn *conn);
/* A TLS alert, "handshake failure": OpenSSL does not answer what is no TLS. */
void conn_send_alert(struct conn *conn);

#endif /* OS_CONN_PARTS_H */

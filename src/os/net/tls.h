/*
 * tls.h - TLS 1.3 with a pre-shared key over memory buffers (os/ only).
 *
 * No certificates, no names to check, no older versions: both sides hold the
 * key (os/net/token.h) or the handshake fails.  TLS itself would let a server
 * pass over the key and show any certificate; here that fails too.  The
 * handshake adds an ephemeral key exchange (PSK-DHE), so a stolen token does
 * not open recorded traffic. Bytes go in and out through buffers of the
 * connection's, which are opened and sealed where they lie; os/net/conn.h moves
 * them.
 */
#ifndef OS_TLS_H
#define OS_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "os/net/token.h"

struct tls_context;
struct tls;

/* Borrows the token.  A server takes any name whose key derives from it. */
MUST_CHECK enum err tls_context_new(const struct token *token, bool server,
                                    struct tls_context **context);
void tls_context_free(struct tls_context *context);

MUST_CHECK enum err tls_new(struct tls_context *context, struct tls **tls);
void tls_free(struct tls *tls);

enum tls_state { TLS_SHAKING, TLS_OPEN, TLS_FAILED };

/* Bytes from the peer, lent until all is taken from them: until tls_shake says
 * that it is still shaking, or tls_read that there is nothing.  False: what was
 * lent before is not. */
MUST_CHECK bool tls_feed(struct tls *tls, const void *data, size_t size);
/* Go on with the handshake as far as what was fed allows. */
enum tls_state tls_shake(struct tls *tls);
/* Plain bytes, 0 if there are none yet; *closed once the peer is done or the
 * record is bad. */
size_t tls_read(struct tls *tls, void *data, size_t capacity, bool *closed);
/* Encrypt; take the result with tls_take. */
MUST_CHECK enum err tls_write(struct tls *tls, const void *data, size_t size);
void tls_end(struct tls *tls); /* Say that no more will come. */

/* Bytes for the peer, and the memory that they lie in (mem.h's). */
struct tls_out {
    uint8_t *bytes; /* NULL: none. */
    size_t size, capacity;
};

size_t tls_pending(const struct tls *tls);
/* All of them. */
struct tls_out tls_take(struct tls *tls);
/* Has it memory for what it writes next?  Then nothing is to be lent. */
bool tls_has_room(const struct tls *tls);
void tls_lend(struct tls *tls, struct tls_out room);

/* Name on the peer's token; "" before the handshake and on a client. */
const char *tls_peer(const struct tls *tls);

#endif /* OS_TLS_H */

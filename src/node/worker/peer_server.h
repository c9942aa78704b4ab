/*
 * peer_server.h - a worker's chunks for its peers (docs/data.md).
 *
 * The coordinator gives the worker a key; from it, and a peer's name, follows
 * the key of that peer (os/net/token.h), which the coordinator gives to whom it
 * sends here.  So a peer needs no secret of the cluster's, and can pose neither
 * as us nor as another.
 *
 * A chunk that is not here yet is waited for, and the peer is told so as long
 * as data keep coming in; then silence tells it to ask elsewhere.  Bounds:
 * PEER_GUESTS_MAX peers, each with PEER_WINDOW chunks asked for and half a
 * megabyte and one chunk in memory; strangers as in os/net/link.h.  All is the
 * loop's: peers are served while the compute thread computes.
 */
#ifndef NODE_PEER_SERVER_H
#define NODE_PEER_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "core/msg.h"
#include "data/rows/dataset.h"
#include "node/worker/peer_desk.h"
#include "os/run/loop.h"

#define PEER_GUESTS_MAX 12u

struct peer_server;

/* `data` is where the chunks are; it may be filled in later.  `spoils`: for
 * tests, all that is given is wrong. */
MUST_CHECK enum err peer_server_new(struct loop *loop,
                                    const struct dataset *data, bool spoils,
                                    struct peer_server **server);
void peer_server_free(struct peer_server *server); /* Accepts NULL. */

/* What else is given, from now on. */
void peer_server_papers(struct peer_server *server,
                        const struct papers_view *papers);

/* Listen at `host`, at any port, for peers with keys made from `key`; those of
 * another key before are let go.  Errors with a sentence. */
MUST_CHECK enum err peer_server_open(struct peer_server *server,
                                     const char *host,
                                     const uint8_t key[PEER_KEY],
                                     uint16_t *port, struct why *why);

/* A chunk has come in. */
void peer_server_stored(struct peer_server *server); /* Accepts NULL. */

#endif /* NODE_PEER_SERVER_H */

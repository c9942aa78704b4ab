/*
 * session.h - a coordinator's side of one link: what is still to be sent.
 *
 * A data set may be larger than memory could queue, so chunks are encoded only
 * as the connection drains.  Order on the bulk plane: messages first, then
 * chunks in the order in which they were asked for,
 *
 *     SHIP 40..50, ROUND, SHIP 0..9, WORK   is sent as
 *     ROUND, WORK, 40..50, 0..9
 *
 * so that a worker begins with the first chunk that arrives, and has the ROUND
 * that names its block of coded data before strips of it.  A ROUND makes all
 * work queued before it void, so at most one waits.
 *
 * The session of a relay carries many workers': small messages are sent in
 * bundles (wire/bundle.h), which session_flush sends, and each leaf that is
 * shipped chunks has a queue of its own, so that the others do not wait.
 */
#ifndef NODE_SESSION_H
#define NODE_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/chunkset.h"
#include "core/msg.h"
#include "core/star/coordinator.h"
#include "data/rows/dataset.h"
#include "node/host/posting.h"
#include "os/net/link.h"
#include "os/net/token.h"
#include "wire/bundle.h"

#define SESSION_HIGH_BYTES (8u << 20)
#define SESSION_NO_INDEX   UINT32_MAX

struct letter;

struct session {
    struct link *link;
    uint32_t index;       /* The core's link; SESSION_NO_INDEX: no HELLO yet. */
    uint32_t berth;       /* On the board; BOARD_NONE: a worker elsewhere. */
    bool noted;           /* The last round was left there as a note. */
    struct token serving; /* For its peers; no name: none yet. */
    struct chunkset to_ship;
    uint32_t *order; /* Chunks of to_ship, a ring; NULL before the first. */
    uint32_t at;     /* The next of them. */
    struct letter *first, *last;

    /* Of a relay: */
    struct bundle *bundles; /* One for each plane; NULL: it is none. */
    struct session *queues; /* Of leaves that are shipped chunks. */
    struct session *next;   /* Of the queues; of a driver's relays. */
    uint32_t leaf;          /* Of such a queue: whose. */
    bool greeted;           /* At a relay: said what it is. */
};

struct session *session_new(struct link *link);
void session_free(struct session *session);
/* Before the first chunk can be shipped. */
MUST_CHECK enum err session_open(struct session *session, uint32_t index,
                                 uint32_t chunks);

/* From now on it is a relay's. */
MUST_CHECK enum err session_bundle(struct session *session);
/* Send what is bundled. */
void session_flush(struct session *session);

/* ERR_NOMEM: drop the session. */
MUST_CHECK enum err session_send(struct session *session,
                                 struct posting *posting,
                                 struct envelope *envelope,
                                 const struct msg *msg);
/* Bulk that waits here, or is on its way. */
uint64_t session_backlog(const struct session *session);
/* For `leaf` of a relay; 0 = the worker itself.  ERR_NOMEM as above. */
MUST_CHECK enum err session_ship(struct session *session, uint32_t leaf,
                                 uint32_t first, uint32_t end);
/* The leaf is gone: nothing waits for it. */
void session_forget(struct session *session, uint32_t leaf);
/* Send what waits, as far as the connection is not too far behind. */
MUST_CHECK enum err session_pump(struct session *session,
                                 struct envelope *envelope,
                                 const struct dataset *data);
/* For who sends them another way (strips.h): the chunk that is next, once all
 * messages before it are sent; false: none, or `most` bytes are queued.  It
 * stays the next until it is taken. */
bool session_next(struct session *session, size_t most, uint32_t *chunk);
void session_take(struct session *session);

#endif /* NODE_SESSION_H */

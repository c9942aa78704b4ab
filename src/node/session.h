/*
 * session.h - a coordinator's side of one link: what is still to be sent.
 *
 * A data set may be larger than memory could queue, so chunks are encoded only
 * as the connection drains.  Order on the bulk plane: chunks first, then the
 * messages that came after them,
 *
 *     SHIP 0..40, ROUND, SHIP 41..50, WORK   is sent as   0..50, ROUND, WORK
 *
 * because data may come early but never late.  A ROUND makes all work queued
 * before it void, so at most one waits.
 */
#ifndef NODE_SESSION_H
#define NODE_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/chunkset.h"
#include "core/msg.h"
#include "data/dataset.h"
#include "node/posting.h"
#include "os/link.h"

#define SESSION_HIGH_BYTES (8u << 20)
#define SESSION_NO_INDEX   UINT32_MAX

struct letter;

struct session {
    struct link *link;
    uint32_t index; /* The core's link; NO_INDEX: has not said HELLO. */
    uint32_t berth; /* On the board; BOARD_NONE: a worker elsewhere. */
    struct chunkset to_ship;
    struct letter *first, *last;
};

struct session *session_new(struct link *link);
void session_free(struct session *session);
/* Before the first chunk can be shipped. */
MUST_CHECK enum err session_open(struct session *session, uint32_t index,
                                 uint32_t chunks);

/* ERR_NOMEM: drop the session. */
MUST_CHECK enum err session_send(struct session *session,
                                 struct posting *posting,
                                 struct envelope *envelope,
                                 const struct msg *msg);
void session_ship(struct session *session, uint32_t first, uint32_t end);
/* Send what waits, as far as the connection is not too far behind. */
MUST_CHECK enum err session_pump(struct session *session,
                                 struct envelope *envelope,
                                 const struct dataset *data);

#endif /* NODE_SESSION_H */

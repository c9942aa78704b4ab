/*
 * mesh.h - the links of a ring's peer: those it dialled and those it accepted,
 * by the numbers that core/ring/peer.h gives them.
 *
 *     number < PEER_DIALLED     accepted; it has one from its MEET on
 *     number >= PEER_DIALLED    dialled, as CONNECT said
 *
 * ORDER.  The machine is told what a link brings in the order in which it was
 * sent, and a link is two connections.  So only what may overtake goes by the
 * control plane: MEET and REJECT, which come before anything else (bulk is not
 * read before there was a MEET), BEAT and PULSE.
 *
 * NEIGHBOURS.  Slices to a peer that shares a board with this one go as notes
 * of where they lie (lending.h), left on the board, too, if there is room
 * (letters.h); which berth is whose is known by the incarnation in its MEET.
 *
 * WHO COMES IN.  Peers need the cluster's token; that of one worker, which
 * could only be that worker, is turned away here.  Whoever asks (`muster
 * status`) is answered and gone; so is who says HELLO, as to a coordinator,
 * and has no rows: it is told where they are (TERMS), and comes back as a peer.
 */
#ifndef NODE_RING_MESH_H
#define NODE_RING_MESH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/time.h"
#include "core/action.h"
#include "core/msg.h"
#include "node/owners/parts.h"
#include "os/net/interface.h"
#include "os/net/link.h"
#include "os/net/net.h"
#include "os/net/token.h"
#include "os/run/board.h"
#include "os/run/loop.h"

struct mesh;

struct mesh_events {
    void (*up)(void *context, uint32_t number);
    void (*down)(void *context, uint32_t number);
    void (*message)(void *context, uint32_t number, const struct msg *msg);
    /* Text for who asks, with `allowed` to more than look: in `text` of
     * `capacity` bytes, returns how many. */
    size_t (*ask)(void *context, const struct msg_ask *ask, bool allowed,
                  char *text, size_t capacity);
    /* One without rows says HELLO: fill in what it is told; or return why it
     * cannot join. */
    const char *(*hello)(void *context, const struct msg_hello *hello,
                         struct msg_terms *terms);
    /* A dialled one will never be let in: another token, no such program. */
    void (*refused)(void *context, uint32_t number, const char *why);
};

struct mesh_options {
    struct loop *loop;
    const struct token *token;       /* Borrowed, as are the next three. */
    const struct net_source *source; /* To dial from; NULL: any. */
    const struct mesh_events *events;
    void *context;
    int listen_fd;
    bool plain; /* What is large is not sealed between those who both say so:
                   only MEET, beats and pulses are (link.h). */
    uint32_t dims, sum_dims; /* Of weights and of the longest sums. */
    size_t message_max;      /* Bytes of the longest message. */
    struct board *board;     /* With own vectors in `berth`; NULL: none. */
    uint32_t berth;
    struct pool *pool;         /* To encode and to send; NULL: none. */
    const struct parts *parts; /* Private rows; NULL: everybody has all. */
};

MUST_CHECK enum err mesh_new(const struct mesh_options *options,
                             struct mesh **mesh);
void mesh_free(struct mesh *mesh); /* Accepts NULL. */

/* `up` or `down` follows.  ERR_NOMEM: neither does. */
MUST_CHECK enum err mesh_dial(struct mesh *mesh, uint32_t number,
                              const struct net_address *address);
/* A number without a link swallows it, as does a link without memory, of which
 * `down` tells later. */
void mesh_send(struct mesh *mesh, uint32_t number, const struct msg *msg);
/* The same of the SENDs of SLICEs from action `first` on, up to the first that
 * is another, by all of the pool's threads.  Returns how many those are. */
uint32_t mesh_send_slices(struct mesh *mesh, const struct actions *actions,
                          uint32_t first);
/* Of all SLICEs that went to links as bytes, heads included: those that were
 * lent are not counted. */
uint64_t mesh_slice_bytes(const struct mesh *mesh);
/* Bytes of the bulk plane that no socket has taken yet, of all links. */
uint64_t mesh_unsent(const struct mesh *mesh);
/* Has something come by the bulk plane of a link since its last message, or
 * since it was asked of?  Then *number is that link's. */
bool mesh_moved(struct mesh *mesh, uint32_t *number);
/* For how long the machine there has not acknowledged what was sent; 0: it
 * has, or there is no such link. */
time_us mesh_deaf_us(const struct mesh *mesh, uint32_t number);
/* Somebody may leave something on the board soon, or (false) hardly: is it
 * worth staying awake for?  (listener.h) */
void mesh_expect(struct mesh *mesh, bool soon);
/* Nothing comes of it any more; what is queued is still sent. */
void mesh_close(struct mesh *mesh, uint32_t number);

/* Close all and listen no more; for farewell_begin. */
const struct link_hub *mesh_end(struct mesh *mesh);

#endif /* NODE_RING_MESH_H */

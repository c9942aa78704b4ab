/*
 * link.h - sessions between two processes: messages, not bytes.
 *
 * A link is two TCP connections, so that a heartbeat never waits behind a
 * gradient (behind 64 MiB sends they came 1.4 s late):
 *
 *     dialler                                    hub that listens
 *       | -- control: TLS "MUSTER-1" 0 cookie -----> |
 *       | -- bulk:    TLS "MUSTER-1" 1 cookie -----> |  pairs by cookie
 *       | <------------------- control: "MUSTER-1" - |
 *      up                                           up
 *
 * Where both want it (`plain`) only the control connection goes on with TLS.
 * The other has proved its key by then, and carries its frames as they are from
 * its greeting on: the dialler asks with 2 in place of 1, and is answered
 * "MUSTER-1" 1.
 *
 * Messages travel as frames of at most 1 MiB: u32 little-endian, bits 0..20
 * the size, bit 31 "the message goes on", then the bytes.
 *
 * Strangers (P11): until link_trust a peer may have 5 s and 16 KiB, at most
 * LINK_STRANGERS_MAX connections (a third of the descriptors that are left, if
 * that is less) are in that state (the rest wait in the
 * kernel), and its bulk connection is not read at all.  Connections that lead
 * to nothing are accepted at 2,000 a second at most: a flood costs a tenth of a
 * processor, however large.
 *
 * Rules of lifetime:
 *   LINK-1  no callback runs inside a call into this file.
 *   LINK-2  `down` comes exactly once for a link that was dialled or was up,
 *           unless link_close was called; after either the link is gone.
 *   LINK-3  sending never blocks; a peer that does not read is cut off at
 *           LINK_QUEUE_MAX bytes.
 *   LINK-4  a long message may be put together in memory of the receiver's own
 *           (`room`), which the link lets go of when it passes the message on
 *           or goes down.
 */
#ifndef OS_LINK_H
#define OS_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/pool.h"
#include "os/net/blob.h"
#include "os/net/interface.h"
#include "os/net/net.h"
#include "os/net/token.h"
#include "os/run/loop.h"

#define LINK_FRAME_BYTES    (1u << 20)
#define LINK_STRANGER_BYTES 16384u
#define LINK_STRANGER_US    (5 * SECOND_US)
#define LINK_STRANGERS_MAX  64u
#define LINK_PER_HOST_MAX   8u /* Of those, from one address off loopback. */
#define LINK_QUEUE_MAX      (UINT64_C(1) << 29)
#define LINK_LOW_BYTES      (4u << 20)
#define LINK_FINISH_US      (2 * SECOND_US)
#define LINK_LONG_BYTES     (256u << 10) /* From here on a message is long. */
#define LINK_LOOK_BYTES     64u /* Known of it when room is asked for. */

enum plane { PLANE_CONTROL, PLANE_BULK, PLANES };

/* LOST: may work another time.  REFUSED: will not (token, protocol). */
enum link_end { LINK_LOST, LINK_REFUSED };

/* OWN: the link's own memory.  GIVEN: at *room, which has link_trust's
 * message_max bytes, or as many as *capacity was set to: a longer message is
 * refused.  LATER: nothing is read until link_give. */
enum link_room { LINK_ROOM_OWN, LINK_ROOM_GIVEN, LINK_ROOM_LATER };

struct link_hub;
struct link;

struct link_events {
    void (*up)(void *context, struct link *link);
    void (*message)(void *context, struct link *link, enum plane plane,
                    const uint8_t *data, size_t size);
    void (*down)(void *context, struct link *link, enum link_end how,
                 const char *why);
    /* A long message begins so on the bulk connection of a trusted link: where
     * is it to be put together?  May be NULL: OWN. */
    enum link_room (*room)(void *context, struct link *link,
                           const uint8_t *begin, size_t size, uint8_t **room,
                           size_t *capacity);
    /* The bulk queue of a link fell below LINK_LOW_BYTES.  May be NULL. */
    void (*drained)(void *context, struct link *link);
    /* Someone was turned away before there was a link.  May be NULL. */
    void (*refused)(void *context, const char *why);
};

struct link_options {
    struct loop *loop;
    const struct token *token;       /* Borrowed. */
    const struct net_source *source; /* To dial from; NULL: any.  Borrowed. */
    const struct link_events *events;
    void *context;
    bool plain;     /* What is large need not be sealed: whoever is between
                       the two is trusted. */
    bool elsewhere; /* Who dials has other addresses to try: one that swallows
                       packets is given up after a second. */
};

MUST_CHECK enum err link_hub_new(const struct link_options *options,
                                 struct link_hub **hub);
/* Accept on a listening socket, which stays the caller's. */
MUST_CHECK enum err link_hub_listen(struct link_hub *hub, int fd);
void link_hub_stop_listening(struct link_hub *hub);
/* Closes all its links without events. */
void link_hub_free(struct link_hub *hub);
/* Links and connections that are not gone yet. */
uint32_t link_hub_open(const struct link_hub *hub);

/* `up` or `down` follows. */
MUST_CHECK enum err link_dial(struct link_hub *hub,
                              const struct net_address *address,
                              struct link **link);

/* The peer is who it should be: messages up to `message_max`, bulk too. */
void link_trust(struct link *link, size_t message_max);
bool link_trusted(const struct link *link);

/* Stop or go on reading the bulk connection of a trusted link: whoever sends
 * too much is made to wait. */
void link_hold(struct link *link, bool hold);

/* The room that was asked for, and was to come LATER; else nothing happens. */
void link_give(struct link *link, uint8_t *room);

/* Copies.  A link that is going down swallows it; `down` will tell. */
void link_send(struct link *link, enum plane plane, const void *data,
               size_t size);
/* One message, `head` and then the first `size` bytes of `tail`: the head is
 * copied, the tail is held until it is sent and must not change meanwhile. */
void link_send_with(struct link *link, enum plane plane, const void *head,
                    size_t head_size, struct blob *tail, size_t size);
/* What is sent on bulk connections from here on leaves with link_hub_uncork, to
 * several peers at once, by the threads of `pool` (NULL: one after the other).
 * No other call to the hub or its links comes in between. */
void link_hub_cork(struct link_hub *hub);
void link_hub_uncork(struct link_hub *hub, struct pool *pool);
size_t link_queued(const struct link *link, enum plane plane);
/* Bytes that came by that connection so far: grows while a message comes that
 * is not whole yet. */
size_t link_heard(const struct link *link, enum plane plane);
/* The same, and what the kernel has and the peer's has not acknowledged. */
size_t link_backlog(const struct link *link, enum plane plane);

/* For how long the peer's machine has acknowledged nothing although there is
 * something to acknowledge; 0 = there is not.  A machine acknowledges also for
 * a process that is stopped, within 40 ms on Linux. */
time_us link_deaf_us(const struct link *link);

/* No more events.  What is queued is still sent, for LINK_FINISH_US. */
void link_close(struct link *link);

/* The same at both ends, and drawn anew for each link. */
uint64_t link_number(const struct link *link);
void *link_user(const struct link *link);
void link_set_user(struct link *link, void *user);
/* The name on the peer's token; "" for a dialled link. */
const char *link_peer(const struct link *link);
/* S1: the token of one worker lets in that worker alone, that of the cluster
 * anybody. */
bool link_may_be(const struct link *link, const char *name);
/* Where it is, "127.0.0.1:4711". */
const char *link_address(const struct link *link);
/* The same without the port, in numbers, and of our own end; false if it is
 * gone. */
bool link_host(const struct link *link, char host[NET_HOST_SIZE]);
bool link_own_host(const struct link *link, char host[NET_HOST_SIZE]);
/* Of a dialled link: has the other machine answered, if only that? */
bool link_reached(const struct link *link);
/* Is what is large sent as it is? */
bool link_plain(const struct link *link);
/* Is the other end on this machine, as far as its address tells? */
bool link_local(const struct link *link);

#endif /* OS_LINK_H */

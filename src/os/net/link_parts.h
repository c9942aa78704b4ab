/*
 * link_parts.h - a link's files to each other; nobody else's.
 *
 *   link.c            pairs connections, ends links, watches times
 *   link_dial.c       the side that dials
 *   link_send.c       messages on their way out
 *   link_strangers.c  the side that listens, until it knows who is there
 */
#ifndef OS_NET_LINK_PARTS_H
#define OS_NET_LINK_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "os/net/conn.h"
#include "os/net/link.h"
#include "os/net/tls.h"

#define LINK_COOKIE_BYTES  16u
#define LINK_ADDRESSES_MAX 16u
#define LINK_SWEEP_MS      50u

struct link_hub {
    struct link_options options;
    struct tls_context *server, *client;
    uv_tcp_t listener;
    bool listening;
    bool waiting;       /* Someone waits outside to be accepted. */
    uint32_t credit;    /* Connections that may be accepted now ... */
    time_us credit_at;  /* ... as of then. */
    uv_timer_t doorman; /* Accepts when there is credit again. */
    uv_timer_t sweeper;
    struct conn *strangers;
    struct link *links;
    uint32_t half; /* Connections of strangers and of untrusted links, ... */
    uint32_t half_max; /* ... of which there may be so many. */
    uint32_t open;     /* Connections and links that are not gone. */
    uint32_t handles;
    bool corked; /* Bulk connections hold back what they are sent. */
    bool freed;
    time_us full_at;    /* When it was said last that there is no room. */
    time_us crowded_at; /* The same of a crowd. */
};

struct link {
    struct link_hub *hub;
    struct link *prev, *next;
    struct conn *conn[PLANES];
    uint8_t cookie[LINK_COOKIE_BYTES];
    bool dialled;
    bool plain; /* The dialler asks for it; from `up` on: so it is. */
    bool up;
    bool trusted;
    bool silent;  /* No events: link_close was called. */
    bool closing; /* `down` is on its way. */
    size_t limit;
    time_us deadline;
    enum link_end how;
    char why[CONN_WHY_SIZE + NET_TEXT_SIZE];
    char peer[TOKEN_NAME_SIZE];
    char address[NET_TEXT_SIZE];
    void *user;

    /* Of a dialled link. */
    struct net_address target;
    uv_getaddrinfo_t resolve;
    bool resolving;
    struct sockaddr_storage addresses[LINK_ADDRESSES_MAX];
    uint32_t address_count, address_at;
    time_us address_until; /* Then the next one is tried. */
};

/* link.c */
struct link *link_new(struct link_hub *hub);
struct conn *link_hub_conn(struct link_hub *hub);
/* Starts the end: closes what is open; link_settle follows from the loop. */
void link_end(struct link *link, enum link_end how, const char *why);
/* Once nothing of it is open: tell, and forget it. */
void link_settle(struct link *link);
void link_sweep_soon(struct link_hub *hub, uint64_t wait_ms);
void link_hub_release(struct link_hub *hub);
void link_hub_handle_closed(uv_handle_t *handle);

/* link_dial.c */
void link_dial_plane(struct link *link, enum plane plane);
/* A road that swallows packets must not use up the time of the others. */
bool link_address_silent(const struct link *link, time_us now);
void link_address_late(struct link *link);

/* link_strangers.c */
void strangers_begin(struct link_hub *hub);
void stranger_add(struct link_hub *hub, struct conn *conn);
void stranger_remove(struct link_hub *hub, struct conn *conn);
/* It is one no more. */
void stranger_known(struct conn *conn);
/* libuv holds back further connections until this one is accepted; the kernel
 * keeps them, and refuses more when it has its fill, for next to nothing. */
void strangers_accept(struct link_hub *hub);
void strangers_sweep(struct link_hub *hub, time_us now);
/* Its connections were well spent: a crowd of workers waits for nobody. */
void strangers_refund(struct link_hub *hub);

#endif /* OS_NET_LINK_PARTS_H */

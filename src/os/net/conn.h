/*
 * conn.h - one TCP connection that carries messages, half of a link (os/ only).
 */
#ifndef OS_CONN_H
#define OS_CONN_H

#include <uv.h>

#include "os/net/link.h"
#include "os/net/tls.h"

#define CONN_HEADER_BYTES 4u
#define CONN_WHY_SIZE     256u

struct conn;
struct parcel;

/* Called by the loop, except `failed`, which may come from inside a send: it
 * only marks and closes. */
struct conn_ops {
    /* Connected, and both sides proved their key. */
    void (*open)(struct conn *conn);
    void (*message)(struct conn *conn, const uint8_t *data, size_t size);
    /* Where a message of which so much is here is put together. */
    enum link_room (*room)(struct conn *conn, const uint8_t *begin, size_t size,
                           uint8_t **room, size_t *capacity);
    void (*failed)(struct conn *conn, enum link_end how, const char *why);
    void (*written)(struct conn *conn);
    void (*closed)(struct conn *conn); /* Free what hangs on it. */
};

#define CONN_SPARES 8u

/* One buffer per loop serves all reads, and what was encrypted and has left
 * leaves its memory to what is next.  It is on the heap: a library's
 * _Thread_local would be taken from the stack of each of its host's threads. */
struct conn_scratch {
    char raw[131072];
    uint8_t plain[16384];
    struct tls_out spares[CONN_SPARES];
    uint32_t spare_count;
};

struct conn {
    uv_tcp_t tcp;
    uv_connect_t connect;
    uv_shutdown_t shutdown;
    const struct conn_ops *ops;
    struct conn_scratch *scratch; /* The loop's. */
    struct tls *tls;
    struct tls_context *sealed; /* Server: TLS begins with the first byte. */
    bool server;
    bool open;
    bool plain;     /* Both have proved their key, and seal nothing any more. */
    bool finishing; /* Input is thrown away; closes at the peer's end. */
    bool closing;
    bool ended;    /* The peer closed it in good order, ... */
    bool parted;   /* ... and said so first: it was not killed. */
    size_t limit;  /* Largest message taken. */
    size_t heard;  /* Bytes read. */
    uint8_t first; /* The first byte ever read. */
    size_t queued; /* Bytes handed to libuv and not yet written. */
    /* Messages that are encrypted as what is queued gets away. */
    struct parcel *unsealed, *unsealed_last;
    size_t unsealed_bytes;
    bool corked;  /* They wait for conn_try, ... */
    size_t tried; /* ... which has seen to so many bytes of them, ... */
    bool failing; /* ... or has no memory to. */

    uint8_t header[CONN_HEADER_BYTES];
    size_t header_size;
    size_t frame_left;
    bool more;
    uint8_t *message; /* Of several reads or frames. */
    size_t size, capacity;
    uint8_t *room; /* Where it is put together instead; NULL: there. */
    size_t room_bytes;
    bool asked;   /* Where it is to be put. */
    bool waiting; /* For room. */

    /* The link's business. */
    struct link_hub *hub;
    struct link *link; /* NULL: a stranger that has not greeted. */
    enum plane plane;
    bool half;    /* Counted among the strangers. */
    bool reached; /* Dialled, and somebody answered. */
    time_us deadline;
    struct sockaddr_storage peer;
    struct conn *prev, *next;
};

MUST_CHECK enum err conn_new(struct loop *loop, const struct conn_ops *ops,
                             struct conn **conn);
/* The socket is connected: shake hands and read. */
void conn_begin(struct conn *conn, struct tls_context *context, bool server);
/* What both send from now on goes as it is.  It fails if something is on its
 * way. */
void conn_go_plain(struct conn *conn);
void conn_send(struct conn *conn, const void *data, size_t size);
void conn_send_with(struct conn *conn, const void *head, size_t head_size,
                    struct blob *tail, size_t size);
/* What is sent waits for conn_uncork. */
void conn_cork(struct conn *conn);
/* Of a corked one, by any thread while its loop does nothing else: seals, or
 * writes, what is at hand.  Then its loop takes out the cork, and sends the
 * rest. */
void conn_try(struct conn *conn);
void conn_uncork(struct conn *conn);
/* Bytes that are still to be sent. */
size_t conn_queued(const struct conn *conn);
/* The room it is waiting for. */
void conn_give(struct conn *conn, uint8_t *room);
void conn_pause(struct conn *conn);
void conn_resume(struct conn *conn);
/* Send what is queued, then close when the peer has closed. */
void conn_finish(struct conn *conn);
void conn_close(struct conn *conn);
/* Report and let the owner close. */
void conn_fail(struct conn *conn, enum link_end how, const char *why);

#endif /* OS_CONN_H */

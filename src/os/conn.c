/*
 * conn.c - from libuv's reads to messages and back, through TLS if need be.
 *
 *     read -> [TLS] -> frames -> message          message -> frames -> [TLS]
 *                                                                   -> write
 *
 * A message that lies whole in what was read is passed on in place; others are
 * put together in `message`, which grows with what has arrived, never with
 * what was announced.  Where it is large enough already, and nothing is to be
 * decrypted, the kernel puts the rest of a frame there at once.
 */
#include "os/conn.h"

#include <string.h>

#include "base/bytes.h"
#include "base/check.h"
#include "base/mem.h"
#include "os/loop_parts.h"

#define SIZE_MASK   0x1fffffu
#define MORE_BIT    0x80000000u
#define SLICE_BYTES (256u << 10) /* Encrypted at once. */

#define TLS_ALERT     0x15
#define TLS_HANDSHAKE 0x16

struct parcel {
    uv_write_t request;
    struct conn *conn;
    size_t size;       /* On the wire. */
    struct blob *tail; /* Held; NULL: all of it is in `data`. */
    uint8_t data[];
};

static _Thread_local struct conn_scratch scratch;

static void conn_ended(struct conn *conn)
{
    conn->ended = true;
    conn_fail(conn, LINK_LOST, "it closed the connection");
}

void conn_fail(struct conn *conn, enum link_end how, const char *why)
{
    if (!conn->closing)
        conn->ops->failed(conn, how, why);
}

static void conn_closed(uv_handle_t *handle)
{
    struct conn *conn = handle->data;

    conn->ops->closed(conn);
    tls_free(conn->tls);
    mem_free(conn->message);
    mem_free(conn);
}

void conn_close(struct conn *conn)
{
    if (conn->closing)
        return;
    conn->closing = true;
    uv_close((uv_handle_t *)&conn->tcp, conn_closed);
}

enum err conn_new(struct loop *loop, const struct conn_ops *ops,
                  struct conn **conn)
{
    struct conn *made = mem_new(1, sizeof *made);

    if (made == NULL)
        return ERR_NOMEM;
    CHECK(uv_tcp_init(&loop->uv, &made->tcp) == 0);
    made->tcp.data = made;
    made->connect.data = made;
    made->shutdown.data = made;
    made->ops = ops;
    made->limit = LINK_STRANGER_BYTES;
    made->deadline = TIME_NEVER;
    *conn = made;
    return ERR_OK;
}

static void parcel_free(struct parcel *parcel)
{
    blob_drop(parcel->tail);
    mem_free(parcel);
}

static void parcel_written(uv_write_t *request, int status)
{
    struct parcel *parcel = request->data;
    struct conn *conn = parcel->conn;

    conn->queued -= parcel->size;
    parcel_free(parcel);
    if (conn->closing)
        return;
    if (status < 0)
        conn_fail(conn, LINK_LOST, uv_strerror(status));
    else
        conn->ops->written(conn);
}

/* Leave out the first `size` bytes. */
static void skip_bytes(uv_buf_t **list, unsigned *count, size_t size)
{
    while (size > 0 && size >= (*list)->len) {
        size -= (*list)->len;
        (*list)++;
        (*count)--;
    }
    if (size == 0)
        return;
    (*list)->base += size;
    (*list)->len -= size;
}

/* Most messages fit into the kernel's buffer: no callback, no epoll_ctl.  True
 * if nothing is left; else the lists say what is. */
static bool write_now(struct conn *conn, struct parcel *parcel, uv_buf_t **list,
                      unsigned *count)
{
    int written;

    if (conn->queued > 0)
        return false;
    written = uv_try_write((uv_stream_t *)&conn->tcp, *list, *count);
    if (written <= 0)
        return false; /* uv_write will say why. */
    parcel->size -= (size_t)written;
    skip_bytes(list, count, (size_t)written);
    return parcel->size == 0;
}

/* Takes the parcel; libuv copies the list of buffers. */
static void parcel_write_list(struct conn *conn, struct parcel *parcel,
                              uv_buf_t *list, unsigned count)
{
    int error;

    if (write_now(conn, parcel, &list, &count)) {
        parcel_free(parcel);
        return;
    }
    parcel->conn = conn;
    parcel->request.data = parcel;
    conn->queued += parcel->size;
    error = uv_write(&parcel->request, (uv_stream_t *)&conn->tcp, list, count,
                     parcel_written);
    if (error == 0)
        return;
    conn->queued -= parcel->size;
    parcel_free(parcel);
    conn_fail(conn, LINK_LOST, uv_strerror(error));
}

static void parcel_write(struct conn *conn, struct parcel *parcel)
{
    uv_buf_t buffer = uv_buf_init((char *)parcel->data, (unsigned)parcel->size);

    parcel_write_list(conn, parcel, &buffer, 1);
}

static struct parcel *parcel_new(struct conn *conn, size_t size)
{
    struct parcel *parcel = mem_new(1, sizeof *parcel + size);

    if (parcel == NULL)
        conn_fail(conn, LINK_LOST, "out of memory");
    else
        parcel->size = size;
    return parcel;
}

/* Write what TLS has for the peer. */
static void flush_tls(struct conn *conn)
{
    const size_t size = tls_pending(conn->tls);
    struct parcel *parcel;

    if (size == 0 || conn->closing)
        return;
    parcel = parcel_new(conn, size);
    if (parcel == NULL)
        return;
    CHECK(tls_take(conn->tls, parcel->data, size) == size);
    parcel_write(conn, parcel);
}

/* Encrypts; what is written are slices, and at the end a flush by the caller:
 * the parts of a small message leave together. */
static void seal(struct conn *conn, const uint8_t *data, size_t size)
{
    for (size_t at = 0; at < size && !conn->closing;) {
        const size_t rest = size - at;
        const size_t slice = rest < SLICE_BYTES ? rest : SLICE_BYTES;

        if (tls_write(conn->tls, data + at, slice) != ERR_OK) {
            conn_fail(conn, LINK_LOST, "out of memory");
            return;
        }
        if (tls_pending(conn->tls) >= SLICE_BYTES)
            flush_tls(conn);
        at += slice;
    }
}

static void write_sealed(struct conn *conn, const uint8_t *data, size_t size)
{
    seal(conn, data, size);
    flush_tls(conn);
}

static size_t framed_size(size_t size)
{
    const size_t frames = (size + LINK_FRAME_BYTES - 1) / LINK_FRAME_BYTES;

    return size + frames * CONN_HEADER_BYTES;
}

static void frame(uint8_t *out, const uint8_t *data, size_t size)
{
    struct writer writer = writer_on(out, framed_size(size));

    while (size > 0) {
        const bool more = size > LINK_FRAME_BYTES;
        const size_t take = more ? LINK_FRAME_BYTES : size;

        put_u32(&writer, (uint32_t)take | (more ? MORE_BIT : 0));
        put_bytes(&writer, data, take);
        data += take;
        size -= take;
    }
    CHECK(writer.ok && writer.size == writer.capacity);
}

void conn_send(struct conn *conn, const void *data, size_t size)
{
    struct parcel *parcel;

    CHECK(size > 0 && size <= UINT32_MAX / 2);
    if (conn->closing || conn->finishing)
        return;
    if (conn->queued + size > LINK_QUEUE_MAX) {
        conn_fail(conn, LINK_LOST, "it does not read what it is sent");
        return;
    }
    parcel = parcel_new(conn, framed_size(size));
    if (parcel == NULL)
        return;
    frame(parcel->data, data, size);
    if (conn->tls == NULL) {
        parcel_write(conn, parcel);
        return;
    }
    write_sealed(conn, parcel->data, parcel->size);
    parcel_free(parcel);
}

/* The list of buffers of a message in two parts, frame by frame: a header, what
 * is left of the head, then of the tail. */
struct pieces {
    uv_buf_t *list;
    unsigned count;
    uint8_t *header;      /* Room for one more. */
    uint8_t *head, *tail; /* Not written to; libuv has no const. */
    size_t head_size, size;
};

static void add_piece(struct pieces *pieces, uint8_t **from, size_t *left,
                      size_t *room)
{
    const size_t take = *left < *room ? *left : *room;

    if (take == 0)
        return;
    pieces->list[pieces->count++] = uv_buf_init((char *)*from, (unsigned)take);
    *from += take;
    *left -= take;
    *room -= take;
}

static void add_frame(struct pieces *pieces)
{
    const size_t left = pieces->head_size + pieces->size;
    const bool more = left > LINK_FRAME_BYTES;
    size_t room = more ? LINK_FRAME_BYTES : left;
    struct writer writer = writer_on(pieces->header, CONN_HEADER_BYTES);

    put_u32(&writer, (uint32_t)room | (more ? MORE_BIT : 0));
    pieces->list[pieces->count++] =
        uv_buf_init((char *)pieces->header, CONN_HEADER_BYTES);
    pieces->header += CONN_HEADER_BYTES;
    add_piece(pieces, &pieces->head, &pieces->head_size, &room);
    add_piece(pieces, &pieces->tail, &pieces->size, &room);
}

/* Everything but the tail in the parcel: headers, head, list of buffers. */
static struct parcel *parcel_with(struct conn *conn, const void *head,
                                  size_t head_size, struct blob *tail,
                                  size_t size, struct pieces *pieces)
{
    const size_t wire = framed_size(head_size + size);
    const size_t headers = wire - head_size - size;
    const size_t buffers = 3 * headers / CONN_HEADER_BYTES;
    const size_t lists = buffers * sizeof(uv_buf_t);
    struct parcel *parcel = parcel_new(conn, lists + headers + head_size);

    if (parcel == NULL)
        return NULL;
    parcel->size = wire;
    parcel->tail = blob_hold(tail);
    *pieces = (struct pieces){
        .list = (uv_buf_t *)(void *)parcel->data,
        .header = parcel->data + lists,
        .head = parcel->data + lists + headers,
        .tail = tail->bytes,
        .head_size = head_size,
        .size = size,
    };
    if (head_size > 0)
        memcpy(parcel->data + lists + headers, head, head_size);
    while (pieces->head_size + pieces->size > 0)
        add_frame(pieces);
    return parcel;
}

/* With TLS each link has its own bytes anyway: only the encoding is spared. */
static void seal_pieces(struct conn *conn, const struct pieces *pieces)
{
    for (unsigned i = 0; i < pieces->count && !conn->closing; i++)
        seal(conn, (const uint8_t *)pieces->list[i].base, pieces->list[i].len);
    flush_tls(conn);
}

void conn_send_with(struct conn *conn, const void *head, size_t head_size,
                    struct blob *tail, size_t size)
{
    struct pieces pieces;
    struct parcel *parcel;

    CHECK(head_size + size > 0 && head_size + size <= UINT32_MAX / 2);
    if (conn->closing || conn->finishing)
        return;
    if (conn->queued + head_size + size > LINK_QUEUE_MAX) {
        conn_fail(conn, LINK_LOST, "it does not read what it is sent");
        return;
    }
    parcel = parcel_with(conn, head, head_size, tail, size, &pieces);
    if (parcel == NULL)
        return;
    if (conn->tls == NULL) {
        parcel_write_list(conn, parcel, pieces.list, pieces.count);
        return;
    }
    seal_pieces(conn, &pieces);
    parcel_free(parcel);
}

static bool take_header(struct conn *conn, const uint8_t **data, size_t *size)
{
    struct reader in;
    uint32_t word;

    while (conn->header_size<CONN_HEADER_BYTES && * size> 0) {
        conn->header[conn->header_size++] = *(*data)++;
        (*size)--;
    }
    if (conn->header_size < CONN_HEADER_BYTES)
        return false;
    in = reader_on(conn->header, CONN_HEADER_BYTES);
    word = get_u32(&in);
    conn->more = (word & MORE_BIT) != 0;
    conn->frame_left = word & SIZE_MASK;
    if ((word & ~(MORE_BIT | SIZE_MASK)) != 0 || conn->frame_left == 0 ||
        conn->frame_left > LINK_FRAME_BYTES) {
        conn_fail(conn, LINK_REFUSED, "it does not speak Muster's protocol");
        return false;
    }
    if (conn->frame_left > conn->limit - conn->size) {
        conn_fail(conn, LINK_REFUSED, "a message is larger than allowed");
        return false;
    }
    return true;
}

static bool append(struct conn *conn, const uint8_t *data, size_t size)
{
    if (conn->size + size > conn->capacity) {
        uint8_t *grown = mem_grow(conn->message, conn->size, conn->size + size,
                                  1, &conn->capacity);

        if (grown == NULL) {
            conn_fail(conn, LINK_LOST, "out of memory");
            return false;
        }
        conn->message = grown;
    }
    if (data != conn->message + conn->size) /* Else see lend. */
        memcpy(conn->message + conn->size, data, size);
    conn->size += size;
    return true;
}

/* One frame's worth of bytes, or as much of it as is here. */
static void take_body(struct conn *conn, const uint8_t *data, size_t size)
{
    const bool whole = size == conn->frame_left && !conn->more;

    if (whole && conn->size == 0) {
        conn->header_size = 0;
        conn->ops->message(conn, data, size);
        return;
    }
    if (!append(conn, data, size))
        return;
    conn->frame_left -= size;
    if (conn->frame_left > 0)
        return;
    conn->header_size = 0;
    if (whole) {
        const size_t all = conn->size;

        conn->size = 0;
        conn->ops->message(conn, conn->message, all);
    }
}

static void take_frames(struct conn *conn, const uint8_t *data, size_t size)
{
    while (size > 0 && !conn->closing && !conn->finishing) {
        size_t take;

        if (conn->header_size < CONN_HEADER_BYTES &&
            !take_header(conn, &data, &size))
            return;
        take = size < conn->frame_left ? size : conn->frame_left;
        if (take > 0)
            take_body(conn, data, take);
        data += take;
        size -= take;
    }
}

/* A TLS alert, "handshake failure": OpenSSL does not answer what is no TLS. */
static void send_alert(struct conn *conn)
{
    static const uint8_t alert[] = {TLS_ALERT, 3, 3, 0, 2, 2, 40};
    struct parcel *parcel = parcel_new(conn, sizeof alert);

    if (parcel == NULL)
        return;
    memcpy(parcel->data, alert, sizeof alert);
    parcel_write(conn, parcel);
}

static void shaking_failed(struct conn *conn)
{
    const bool plain = conn->first != TLS_HANDSHAKE;

    if (conn->server && plain)
        send_alert(conn);
    else
        flush_tls(conn); /* OpenSSL's alert. */
    if (conn->server && plain)
        conn_fail(conn, LINK_REFUSED, "it came without a token");
    else if (conn->server)
        conn_fail(conn, LINK_REFUSED, "its token is not of this cluster");
    else if (plain && conn->first != TLS_ALERT)
        conn_fail(conn, LINK_REFUSED,
                  "the coordinator there works without a token; leave out "
                  "--token-file");
    else
        conn_fail(conn, LINK_REFUSED,
                  "the coordinator does not accept this token; it must be of "
                  "the coordinator's cluster");
}

static void shake(struct conn *conn)
{
    const enum tls_state state = tls_shake(conn->tls);

    if (state == TLS_FAILED) {
        shaking_failed(conn);
        return;
    }
    flush_tls(conn);
    if (state == TLS_OPEN && !conn->closing) {
        conn->open = true;
        conn->ops->open(conn);
    }
}

static void take_sealed(struct conn *conn, const char *data, size_t size)
{
    bool closed = false;

    if (tls_feed(conn->tls, data, size) != ERR_OK) {
        conn_fail(conn, LINK_LOST, "out of memory");
        return;
    }
    if (!conn->open)
        shake(conn);
    while (conn->open && !conn->closing && !closed) {
        const size_t got =
            tls_read(conn->tls, scratch.plain, sizeof scratch.plain, &closed);

        if (got == 0)
            break;
        take_frames(conn, scratch.plain, got);
    }
    if (closed)
        conn_ended(conn);
    else if (conn->open && !conn->closing)
        flush_tls(conn);
}

/* A whole TLS alert and nothing else.  Its first byte alone may be the length
 * of a frame. */
static bool is_alert(const char *data, size_t size)
{
    return size == 7 && data[0] == TLS_ALERT && data[1] == 3 && data[3] == 0 &&
           data[4] == 2;
}

static bool begin_tls(struct conn *conn, struct tls_context *context)
{
    if (tls_new(context, &conn->tls) == ERR_OK)
        return true;
    conn_fail(conn, LINK_LOST, "out of memory");
    return false;
}

/* The first byte tells whether it is worth a TLS state. */
static bool begin_sealed(struct conn *conn)
{
    if (conn->sealed == NULL)
        return true;
    if (conn->first == TLS_HANDSHAKE)
        return begin_tls(conn, conn->sealed);
    shaking_failed(conn);
    return false;
}

/* TLS where plain bytes were expected: say so in words, quickly. */
static bool mismatched(struct conn *conn, const char *data, size_t size)
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

static void take_input(struct conn *conn, const char *data, size_t size)
{
    if (conn->heard == 0) {
        conn->first = (uint8_t)data[0];
        conn->heard = 1;
        if (!begin_sealed(conn) || mismatched(conn, data, size))
            return;
    }
    conn->heard += size;
    if (conn->limit == LINK_STRANGER_BYTES &&
        conn->heard > 2 * (size_t)LINK_STRANGER_BYTES) {
        conn_fail(conn, LINK_REFUSED, "it sends too much before it is known");
        return;
    }
    if (conn->tls != NULL)
        take_sealed(conn, data, size);
    else
        take_frames(conn, (const uint8_t *)data, size);
}

/* The rest of a frame that goes where the message is put together; 0: what is
 * to come must be looked at first, or there is no room. */
static size_t straight_bytes(const struct conn *conn)
{
    const size_t room = conn->capacity - conn->size;

    if (conn->tls != NULL || conn->finishing || conn->size == 0 ||
        conn->header_size < CONN_HEADER_BYTES ||
        conn->frame_left < sizeof scratch.raw || room < sizeof scratch.raw)
        return 0;
    return conn->frame_left < room ? conn->frame_left : room;
}

static void lend(uv_handle_t *handle, size_t wanted, uv_buf_t *buffer)
{
    const struct conn *conn = handle->data;
    const size_t straight = straight_bytes(conn);

    (void)wanted;
    if (straight > 0) {
        *buffer =
            uv_buf_init((char *)conn->message + conn->size, (unsigned)straight);
        return;
    }
    *buffer = uv_buf_init(scratch.raw, conn->limit == LINK_STRANGER_BYTES
                                           ? LINK_STRANGER_BYTES
                                           : sizeof scratch.raw);
}

static void arrived(uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer)
{
    struct conn *conn = stream->data;

    if (size == 0 || conn->closing)
        return;
    if (conn->finishing) {
        if (size < 0)
            conn_close(conn);
        return; /* Nobody listens any more. */
    }
    if (size == UV_EOF)
        conn_ended(conn);
    else if (size < 0)
        conn_fail(conn, LINK_LOST, uv_strerror((int)size));
    else
        take_input(conn, buffer->base, (size_t)size);
}

void conn_pause(struct conn *conn)
{
    if (!conn->closing)
        (void)uv_read_stop((uv_stream_t *)&conn->tcp);
}

void conn_resume(struct conn *conn)
{
    int error;

    if (conn->closing)
        return;
    error = uv_read_start((uv_stream_t *)&conn->tcp, lend, arrived);
    if (error != 0 && error != UV_EALREADY)
        conn_fail(conn, LINK_LOST, uv_strerror(error));
}

void conn_begin(struct conn *conn, struct tls_context *context, bool server)
{
    conn->server = server;
    if (!server)
        (void)uv_tcp_nodelay(&conn->tcp, 1); /* Else it is the listener's. */
    conn_resume(conn);
    if (context == NULL) {
        conn->open = true;
        conn->ops->open(conn);
        return;
    }
    if (server)
        conn->sealed = context; /* Whoever says nothing costs no TLS. */
    else if (begin_tls(conn, context))
        shake(conn); /* A client speaks first. */
}

static void shut(uv_shutdown_t *request, int status)
{
    struct conn *conn = request->data;

    if (status < 0 && !conn->closing)
        conn_close(conn);
}

void conn_finish(struct conn *conn)
{
    if (conn->closing || conn->finishing)
        return;
    if (conn->tls != NULL && conn->open) {
        tls_end(conn->tls);
        flush_tls(conn);
    }
    conn->finishing = true;
    conn_resume(conn); /* To see the peer's end. */
    if (uv_shutdown(&conn->shutdown, (uv_stream_t *)&conn->tcp, shut) != 0)
        conn_close(conn);
}

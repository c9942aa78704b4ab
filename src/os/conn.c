/*
 * conn.c - from libuv's reads to messages and back, through TLS if need be.
 *
 *     read -> [TLS] -> frames -> message          message -> frames -> [TLS]
 *                                                                   -> write
 *
 * A message that lies whole in what was read is passed on in place; others are
 * put together in `message`, which grows with what has arrived, never with
 * what was announced.  Where it is large enough already, and nothing is to be
 * decrypted, the kernel puts the rest of a frame there at once.  A long one the
 * receiver may want elsewhere, in `room`.
 *
 * With TLS what is sent is encrypted a slice at a time, as the kernel takes it:
 * a queue holds messages that several connections share, not a copy of each.
 */
#include "os/conn.h"

#include <string.h>

#include "base/bytes.h"
#include "base/check.h"
#include "base/mem.h"
#include "os/loop_parts.h"
#include "os/sockaddr.h"

#define SIZE_MASK       0x1fffffu
#define MORE_BIT        0x80000000u
#define SLICE_BYTES     (256u << 10) /* Encrypted at once. */
#define BEGINNING_BYTES 4096u
#define STRAIGHT_BYTES  16384u      /* Less is copied sooner than read apart. */
#define NEAR_BYTES      (512 << 10) /* On the way within one machine. */
#define SEALED_HIGH     (1u << 20)  /* Encrypted ahead of the kernel. */

#define TLS_ALERT     0x15
#define TLS_HANDSHAKE 0x16

struct parcel {
    uv_write_t request;
    struct conn *conn;
    size_t size;       /* On the wire. */
    struct blob *tail; /* Held; NULL: all of it is in `data`. */
    /* TLS, while it waits to be encrypted: */
    struct parcel *next;
    uv_buf_t *list; /* What is left of it. */
    unsigned count;
    uv_buf_t whole; /* The list of one that is all in `data`. */
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

static void parcel_free(struct parcel *parcel)
{
    blob_drop(parcel->tail);
    mem_free(parcel);
}

static void drop_unsealed(struct conn *conn)
{
    struct parcel *parcel = conn->unsealed;

    conn->unsealed = parcel->next;
    if (conn->unsealed == NULL)
        conn->unsealed_last = NULL;
    parcel_free(parcel);
}

static void conn_closed(uv_handle_t *handle)
{
    struct conn *conn = handle->data;

    while (conn->unsealed != NULL)
        drop_unsealed(conn);
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

static void seal_some(struct conn *conn, size_t high);

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
        seal_some(conn, SEALED_HIGH);
    if (status >= 0 && !conn->closing)
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

/* Encrypts a slice of the first message.  What is written are slices and the
 * end of a message: the parts of a small one leave together. */
static void seal_slice(struct conn *conn)
{
    struct parcel *parcel = conn->unsealed;
    const size_t rest = parcel->list->len;
    const size_t slice = rest < SLICE_BYTES ? rest : SLICE_BYTES;

    if (tls_write(conn->tls, parcel->list->base, slice) != ERR_OK) {
        conn_fail(conn, LINK_LOST, "out of memory");
        return;
    }
    skip_bytes(&parcel->list, &parcel->count, slice);
    conn->unsealed_bytes -= slice;
    if (parcel->count == 0)
        drop_unsealed(conn);
    if (tls_pending(conn->tls) >= SLICE_BYTES || conn->unsealed == NULL)
        flush_tls(conn);
}

/* Until `high` bytes wait for the kernel. */
static void seal_some(struct conn *conn, size_t high)
{
    while (conn->unsealed != NULL && conn->queued < high && !conn->closing)
        seal_slice(conn);
    if (conn->tls != NULL && conn->open)
        flush_tls(conn);
}

/* Takes the parcel, whose list is made. */
static void parcel_seal(struct conn *conn, struct parcel *parcel)
{
    if (conn->unsealed_last != NULL)
        conn->unsealed_last->next = parcel;
    else
        conn->unsealed = parcel;
    conn->unsealed_last = parcel;
    conn->unsealed_bytes += parcel->size;
    seal_some(conn, SEALED_HIGH);
}

size_t conn_queued(const struct conn *conn)
{
    return conn->queued + conn->unsealed_bytes;
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
    if (conn_queued(conn) + size > LINK_QUEUE_MAX) {
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
    parcel->whole = uv_buf_init((char *)parcel->data, (unsigned)parcel->size);
    parcel->list = &parcel->whole;
    parcel->count = 1;
    parcel_seal(conn, parcel);
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

void conn_send_with(struct conn *conn, const void *head, size_t head_size,
                    struct blob *tail, size_t size)
{
    struct pieces pieces;
    struct parcel *parcel;

    CHECK(head_size + size > 0 && head_size + size <= UINT32_MAX / 2);
    if (conn->closing || conn->finishing)
        return;
    if (conn_queued(conn) + head_size + size > LINK_QUEUE_MAX) {
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
    parcel->list = pieces.list;
    parcel->count = pieces.count;
    parcel_seal(conn, parcel);
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

/* Where the message is put together, and how much may be there. */
static uint8_t *assembly(const struct conn *conn)
{
    return conn->room != NULL ? conn->room : conn->message;
}

static size_t assembly_bytes(const struct conn *conn)
{
    return conn->room != NULL ? conn->limit : conn->capacity;
}

static bool append(struct conn *conn, const uint8_t *data, size_t size)
{
    if (conn->room == NULL && conn->size + size > conn->capacity) {
        uint8_t *grown = mem_grow(conn->message, conn->size, conn->size + size,
                                  1, &conn->capacity);

        if (grown == NULL) {
            conn_fail(conn, LINK_LOST, "out of memory");
            return false;
        }
        conn->message = grown;
    }
    if (data != assembly(conn) + conn->size) /* Else see lend. */
        memcpy(assembly(conn) + conn->size, data, size);
    conn->size += size;
    return true;
}

/* What is here of the message moves there.  It is put together in memory of
 * ours no more, so that there need not be much of it. */
static void move_to(struct conn *conn, uint8_t *room)
{
    memcpy(room, conn->message, conn->size);
    conn->room = room;
    if (conn->capacity <= LINK_LONG_BYTES)
        return;
    mem_free(conn->message);
    conn->message = NULL;
    conn->capacity = 0;
}

/* Of a long message: is it wanted elsewhere?  More of the frame is to come than
 * can have been read, so that nothing behind it is in our hands if it waits. */
static void ask_room(struct conn *conn)
{
    uint8_t *room = NULL;
    enum link_room answer;

    if (conn->asked || conn->size < LINK_LOOK_BYTES ||
        conn->size + conn->frame_left < LINK_LONG_BYTES ||
        conn->frame_left < sizeof scratch.raw)
        return;
    conn->asked = true;
    answer = conn->ops->room(conn, conn->message, conn->size, &room);
    if (conn->closing || conn->finishing)
        return;
    if (answer == LINK_ROOM_GIVEN)
        move_to(conn, room);
    conn->waiting = answer == LINK_ROOM_LATER;
    if (conn->waiting)
        conn_pause(conn);
}

void conn_give(struct conn *conn, uint8_t *room)
{
    if (!conn->waiting || conn->closing || conn->finishing)
        return;
    conn->waiting = false;
    move_to(conn, room);
    conn_resume(conn);
}

/* One frame's worth of bytes, or as much of it as is here. */
static void take_body(struct conn *conn, const uint8_t *data, size_t size)
{
    const bool whole = size == conn->frame_left && !conn->more;

    if (whole && conn->size == 0) {
        conn->header_size = 0;
        conn->was_long = false;
        conn->ops->message(conn, data, size);
        return;
    }
    if (!append(conn, data, size))
        return;
    conn->frame_left -= size;
    ask_room(conn);
    if (conn->frame_left > 0)
        return;
    conn->header_size = 0;
    if (whole && !conn->closing && !conn->finishing) {
        const uint8_t *const message = assembly(conn);
        const size_t all = conn->size;

        conn->size = 0;
        conn->room = NULL;
        conn->asked = false;
        conn->was_long = all > 2 * sizeof scratch.raw;
        conn->ops->message(conn, message, all);
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

/* The rest of a frame that goes where the message is put together; 0: what is
 * to come must be looked at first, or there is no room. */
static size_t straight_bytes(const struct conn *conn)
{
    const size_t room = assembly_bytes(conn) - conn->size;

    if (conn->finishing || conn->size == 0 ||
        conn->header_size < CONN_HEADER_BYTES ||
        conn->frame_left < STRAIGHT_BYTES || room < STRAIGHT_BYTES)
        return 0;
    return conn->frame_left < room ? conn->frame_left : room;
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
        const bool here = straight_bytes(conn) > 0;
        uint8_t *const plain =
            here ? assembly(conn) + conn->size : scratch.plain;
        const size_t got = tls_read(
            conn->tls, plain,
            here ? straight_bytes(conn) : sizeof scratch.plain, &closed);

        if (got == 0)
            break;
        take_frames(conn, plain, got);
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

/* After a long message comes another, most often: of that one only the
 * beginning is worth copying, the rest can go where it belongs at once. */
static size_t scratch_bytes(const struct conn *conn)
{
    const bool beginning = conn->header_size == 0;

    if (conn->limit == LINK_STRANGER_BYTES)
        return LINK_STRANGER_BYTES;
    return beginning && conn->was_long && conn->tls == NULL
               ? BEGINNING_BYTES
               : sizeof scratch.raw;
}

static void lend(uv_handle_t *handle, size_t wanted, uv_buf_t *buffer)
{
    const struct conn *conn = handle->data;
    const size_t straight = conn->tls == NULL ? straight_bytes(conn) : 0;

    (void)wanted;
    if (straight > 0) {
        *buffer = uv_buf_init((char *)assembly(conn) + conn->size,
                              (unsigned)straight);
        return;
    }
    *buffer = uv_buf_init(scratch.raw, (unsigned)scratch_bytes(conn));
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

    if (conn->closing || conn->waiting)
        return;
    error = uv_read_start((uv_stream_t *)&conn->tcp, lend, arrived);
    if (error != 0 && error != UV_EALREADY)
        conn_fail(conn, LINK_LOST, uv_strerror(error));
}

/* Both ends on one machine. */
static bool is_near(const struct conn *conn)
{
    struct sockaddr_storage own;
    int size = sizeof own;

    return uv_tcp_getsockname(&conn->tcp, (struct sockaddr *)&own, &size) ==
               0 &&
           sockaddr_same_host(&own, &conn->peer);
}

/* Left to itself the kernel takes in megabytes before the peer reads any.
 * Where there is no road to fill they only leave the caches before they are
 * copied out again, and the peer's window closes: acknowledgements are put off,
 * and what was received is sent once more. */
static void keep_near(struct conn *conn)
{
    int bytes = NEAR_BYTES;

    (void)uv_send_buffer_size((uv_handle_t *)&conn->tcp, &bytes);
}

void conn_begin(struct conn *conn, struct tls_context *context, bool server)
{
    conn->server = server;
    if (!server)
        (void)uv_tcp_nodelay(&conn->tcp, 1); /* Else it is the listener's. */
    if (is_near(conn))
        keep_near(conn);
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
        seal_some(conn, SIZE_MAX);
        tls_end(conn->tls);
        flush_tls(conn);
    }
    conn->finishing = true;
    conn->waiting = false;
    conn_resume(conn); /* To see the peer's end. */
    if (uv_shutdown(&conn->shutdown, (uv_stream_t *)&conn->tcp, shut) != 0)
        conn_close(conn);
}

/*
 * conn_take.c - from what a connection reads to messages.
 *
 * A message that lies whole in what was read is passed on in place; others are
 * put together in `message`, which grows with what has arrived, never with
 * what was announced.  Where it is large enough already, the rest of a frame is
 * decrypted, or read, right into it.  A long one the receiver may want
 * elsewhere, in `room`.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "os/net/conn_parts.h"

#define SIZE_MASK      0x1fffffu
#define STRAIGHT_BYTES 16384u /* Less is copied sooner than read apart. */
#define BEGIN_BYTES    4096u  /* Plain: read of what may be a long message. */

static void conn_ended(struct conn *conn)
{
    conn->ended = true;
    conn_fail(conn, LINK_LOST, "it closed the connection");
}

/* The frame's end, in the message. */
static bool fits(struct conn *conn)
{
    const size_t most = conn->room != NULL ? conn->room_bytes : conn->limit;

    if (conn->frame_left <= most - conn->size)
        return true;
    conn_fail(conn, LINK_REFUSED, "a message is larger than allowed");
    return false;
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
    return fits(conn);
}

/* Where the message is put together, and how much may be there. */
static uint8_t *assembly(const struct conn *conn)
{
    return conn->room != NULL ? conn->room : conn->message;
}

static size_t assembly_bytes(const struct conn *conn)
{
    return conn->room != NULL ? conn->room_bytes : conn->capacity;
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
    if (data != assembly(conn) + conn->size) /* Else it was read there. */
        memcpy(assembly(conn) + conn->size, data, size);
    conn->size += size;
    return true;
}

/* What is here of the message moves there.  It is put together in memory of
 * ours no more, so that there need not be much of it. */
static void move_to(struct conn *conn, uint8_t *room, size_t capacity)
{
    if (conn->size > capacity) {
        conn_fail(conn, LINK_REFUSED, "a message is larger than allowed");
        return;
    }
    memcpy(room, conn->message, conn->size);
    conn->room = room;
    conn->room_bytes = capacity;
    if (!fits(conn))
        return;
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
    size_t capacity = conn->limit;
    enum link_room answer;

    if (conn->asked || conn->size < LINK_LOOK_BYTES ||
        conn->size + conn->frame_left < LINK_LONG_BYTES ||
        conn->frame_left < sizeof conn->scratch->raw)
        return;
    conn->asked = true;
    answer = conn->ops->room(conn, conn->message, conn->size, &room, &capacity);
    if (conn->closing || conn->finishing)
        return;
    if (answer == LINK_ROOM_GIVEN)
        move_to(conn, room, capacity);
    conn->waiting = answer == LINK_ROOM_LATER;
    if (conn->waiting)
        conn_pause(conn);
}

void conn_give(struct conn *conn, uint8_t *room)
{
    if (!conn->waiting || conn->closing || conn->finishing)
        return;
    conn->waiting = false;
    move_to(conn, room, conn->limit);
    conn_resume(conn);
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

    if (!tls_feed(conn->tls, data, size)) {
        conn_fail(conn, LINK_LOST, "it sent more after what is no TLS");
        return;
    }
    if (!conn->open)
        conn_shake(conn);
    while (conn->open && !conn->closing && !closed) {
        const bool here = straight_bytes(conn) > 0;
        uint8_t *const plain =
            here ? assembly(conn) + conn->size : conn->scratch->plain;
        const size_t got = tls_read(
            conn->tls, plain,
            here ? straight_bytes(conn) : sizeof conn->scratch->plain, &closed);

        if (got == 0)
            break;
        take_frames(conn, plain, got);
    }
    conn->parted = closed;
    if (closed)
        conn_ended(conn);
    else if (conn->open && !conn->closing)
        conn_flush_tls(conn);
}

static void take_input(struct conn *conn, const char *data, size_t size)
{
    if (conn->heard == 0) {
        conn->first = (uint8_t)data[0];
        conn->heard = 1;
        if (!conn_begin_sealed(conn))
            return;
    }
    conn->heard += size;
    if (conn->limit == LINK_STRANGER_BYTES &&
        conn->heard > 2 * (size_t)LINK_STRANGER_BYTES) {
        conn_fail(conn, LINK_REFUSED, "it sends too much before it is known");
        return;
    }
    if (conn->plain)
        take_frames(conn, (const uint8_t *)data, size);
    else
        take_sealed(conn, data, size);
}

/* What is not sealed is read to where it is to lie.  Little is read of what may
 * be the beginning of much, and between two frames of it only the header. */
static uv_buf_t lend_plain(const struct conn *conn)
{
    const size_t straight = straight_bytes(conn);
    const bool between = conn->header_size < CONN_HEADER_BYTES;

    if (straight > 0)
        return uv_buf_init((char *)assembly(conn) + conn->size,
                           (unsigned)straight);
    if (between && conn->size > 0)
        return uv_buf_init(conn->scratch->raw,
                           CONN_HEADER_BYTES - (unsigned)conn->header_size);
    return uv_buf_init(conn->scratch->raw,
                       between ? BEGIN_BYTES
                               : (unsigned)sizeof conn->scratch->raw);
}

static void lend(uv_handle_t *handle, size_t wanted, uv_buf_t *buffer)
{
    const struct conn *conn = handle->data;
    const bool stranger = conn->limit == LINK_STRANGER_BYTES;

    (void)wanted;
    if (conn->plain && !stranger)
        *buffer = lend_plain(conn);
    else
        *buffer = uv_buf_init(conn->scratch->raw,
                              stranger ? LINK_STRANGER_BYTES
                                       : (unsigned)sizeof conn->scratch->raw);
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

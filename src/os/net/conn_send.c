/*
 * conn_send.c - what a connection is to send: frames, sealed and written.
 *
 * With TLS what is sent is encrypted a slice at a time, as the kernel takes it:
 * a queue holds messages that several connections share, not a copy of each.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/check.h"
#include "base/mem.h"
#include "os/net/conn_parts.h"

#define SLICE_BYTES (256u << 10) /* Encrypted at once. */
#define SEALED_HIGH (1u << 20)   /* Encrypted ahead of the kernel. */

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

static void parcel_free(struct parcel *parcel)
{
    blob_drop(parcel->tail);
    mem_free(parcel);
}

void conn_drop_unsealed(struct conn *conn)
{
    struct parcel *parcel = conn->unsealed;

    conn->unsealed = parcel->next;
    if (conn->unsealed == NULL)
        conn->unsealed_last = NULL;
    parcel_free(parcel);
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
        conn_seal_some(conn, SEALED_HIGH);
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

void conn_flush_tls(struct conn *conn)
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
        conn_drop_unsealed(conn);
    if (tls_pending(conn->tls) >= SLICE_BYTES || conn->unsealed == NULL)
        conn_flush_tls(conn);
}

void conn_seal_some(struct conn *conn, size_t high)
{
    while (conn->unsealed != NULL && conn->queued < high && !conn->closing)
        seal_slice(conn);
    if (conn->tls != NULL && conn->open)
        conn_flush_tls(conn);
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
    conn_seal_some(conn, SEALED_HIGH);
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
    parcel->list = pieces.list;
    parcel->count = pieces.count;
    parcel_seal(conn, parcel);
}

void conn_send_alert(struct conn *conn)
{
    static const uint8_t alert[] = {TLS_ALERT, 3, 3, 0, 2, 2, 40};
    struct parcel *parcel = parcel_new(conn, sizeof alert);

    if (parcel == NULL)
        return;
    memcpy(parcel->data, alert, sizeof alert);
    parcel_write(conn, parcel);
}

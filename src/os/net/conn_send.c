/*
 * conn_send.c - what a connection is to send: frames, sealed and written.
 *
 * What is sent is encrypted a slice at a time, as the kernel takes it: a queue
 * holds messages that several connections share, not a copy of each.  Where
 * nothing is sealed the kernel takes it from where it lies; only what it is to
 * take next, once it has room, is copied, so that libuv never holds what may
 * move (blob_settle).
 *
 * Messages to several connections may leave by several threads (conn_try): they
 * are corked first, and what threads touch then is a connection's own, but for
 * bytes, which they read.
 */
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "base/bytes.h"
#include "base/check.h"
#include "base/mem.h"
#include "os/net/conn_parts.h"

#define SLICE_BYTES (256u << 10) /* Encrypted at once. */
#define SEALED_HIGH (1u << 20)   /* Encrypted ahead of the kernel. */
#define TRIED_BYTES (512u << 10) /* Encrypted by one of several threads. */
#define AHEAD_BYTES (64u << 10)  /* Plain: copied for when there is room. */
#define PIECES_MAX  12u          /* Plain: written at once. */
#define SPARE_BYTES (1u << 20)   /* More is not kept for another time. */

/* Bytes of a message that lie together. */
struct piece {
    const uint8_t *own; /* The parcel's; NULL: the tail's, ... */
    size_t at;          /* ... from here on. */
    size_t size;
};

struct parcel {
    uv_write_t request;
    struct conn *conn;
    size_t size;           /* On the wire. */
    struct blob *tail;     /* Held; NULL: all of it is in `data`, ... */
    struct tls_out sealed; /* ... or here, sealed or copied. */
    /* While it waits to be encrypted, or to be written as it is: */
    struct parcel *next;
    struct piece *list; /* What is left of it. */
    size_t count;
    struct piece whole; /* The list of one that is all in `data`. */
    uint8_t data[];
};

static void spare_keep(struct conn_scratch *scratch, struct tls_out spare)
{
    if (spare.capacity <= SPARE_BYTES && scratch->spare_count < CONN_SPARES)
        scratch->spares[scratch->spare_count++] = spare;
    else
        mem_free(spare.bytes);
}

static struct tls_out spare_take(struct conn_scratch *scratch)
{
    return scratch->spare_count > 0 ? scratch->spares[--scratch->spare_count]
                                    : (struct tls_out){.bytes = NULL};
}

static void parcel_free(struct parcel *parcel)
{
    blob_drop(parcel->tail);
    if (parcel->sealed.bytes != NULL)
        spare_keep(parcel->conn->scratch, parcel->sealed);
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

static void parcel_write(struct conn *conn, struct parcel *parcel,
                         uint8_t *bytes)
{
    uv_buf_t buffer = uv_buf_init((char *)bytes, (unsigned)parcel->size);

    parcel_write_list(conn, parcel, &buffer, 1);
}

static struct parcel *parcel_new(struct conn *conn, size_t size)
{
    struct parcel *parcel = mem_new(1, sizeof *parcel + size);

    if (parcel == NULL) {
        conn_fail(conn, LINK_LOST, "out of memory");
        return NULL;
    }
    parcel->conn = conn;
    parcel->size = size;
    return parcel;
}

void conn_flush_tls(struct conn *conn)
{
    struct parcel *parcel;

    if (tls_pending(conn->tls) == 0 || conn->closing)
        return;
    parcel = parcel_new(conn, 0);
    if (parcel == NULL)
        return;
    parcel->sealed = tls_take(conn->tls);
    parcel->size = parcel->sealed.size;
    parcel_write(conn, parcel, parcel->sealed.bytes);
}

/* A tail may move (blob_settle). */
static const uint8_t *piece_bytes(const struct parcel *parcel,
                                  const struct piece *piece)
{
    return piece->own != NULL ? piece->own : parcel->tail->bytes + piece->at;
}

/* So much of it has been seen to. */
static void parcel_skip(struct parcel *parcel, size_t size)
{
    while (size > 0) {
        struct piece *piece = parcel->list;
        const size_t take = size < piece->size ? size : piece->size;

        if (piece->own != NULL)
            piece->own += take;
        piece->at += take;
        piece->size -= take;
        size -= take;
        if (piece->size > 0)
            continue;
        parcel->list++;
        parcel->count--;
    }
}

/* ... and it may be all. */
static void parcel_done(struct conn *conn, size_t size)
{
    parcel_skip(conn->unsealed, size);
    conn->unsealed_bytes -= size;
    if (conn->unsealed->count == 0)
        conn_drop_unsealed(conn);
}

/* Encrypts a slice of the first message.  What is written are slices and the
 * end of a message: the parts of a small one leave together. */
static void seal_slice(struct conn *conn)
{
    struct parcel *parcel = conn->unsealed;
    const size_t rest = parcel->list->size;
    const size_t slice = rest < SLICE_BYTES ? rest : SLICE_BYTES;

    if (!tls_has_room(conn->tls))
        tls_lend(conn->tls, spare_take(conn->scratch));
    if (tls_write(conn->tls, piece_bytes(parcel, parcel->list), slice) !=
        ERR_OK) {
        conn_fail(conn, LINK_LOST, "out of memory");
        return;
    }
    parcel_done(conn, slice);
    if (tls_pending(conn->tls) >= SLICE_BYTES || conn->unsealed == NULL)
        conn_flush_tls(conn);
}

/* Some of the first message; false: the kernel has taken what it can. */
static bool write_plain(struct conn *conn)
{
    struct parcel *parcel = conn->unsealed;
    uv_buf_t list[PIECES_MAX];
    unsigned count = 0;
    size_t size = 0;
    int written;

    for (; count < PIECES_MAX && count < parcel->count; count++) {
        const struct piece *const piece = &parcel->list[count];
        /* NOLINTNEXTLINE(performance-no-int-to-ptr): libuv only reads it. */
        char *const bytes = (char *)(uintptr_t)piece_bytes(parcel, piece);

        list[count] = uv_buf_init(bytes, (unsigned)piece->size);
        size += piece->size;
    }
    written = uv_try_write((uv_stream_t *)&conn->tcp, list, count);
    if (written > 0)
        parcel_done(conn, (size_t)written);
    return written > 0 && (size_t)written == size;
}

/* What comes next is libuv's, copied, up to `most` bytes of the first
 * message. */
static void copy_ahead(struct conn *conn, size_t most)
{
    struct parcel *copied = parcel_new(conn, 0);
    struct tls_out *out;

    if (copied == NULL)
        return;
    out = &copied->sealed;
    *out = spare_take(conn->scratch);
    if (out->capacity < most) {
        mem_free(out->bytes);
        *out = (struct tls_out){.bytes = mem_new(most, 1), .capacity = most};
    }
    out->size = 0;
    if (out->bytes == NULL) {
        parcel_free(copied);
        conn_fail(conn, LINK_LOST, "out of memory");
        return;
    }
    while (out->size < most && conn->unsealed != NULL) {
        const struct parcel *const parcel = conn->unsealed;
        const size_t room = most - out->size;
        const size_t take =
            parcel->list->size < room ? parcel->list->size : room;

        memcpy(out->bytes + out->size, piece_bytes(parcel, parcel->list), take);
        out->size += take;
        parcel_done(conn, take);
    }
    copied->size = out->size;
    parcel_write(conn, copied, out->bytes);
}

static void push_plain(struct conn *conn, bool all)
{
    while (conn->unsealed != NULL && !conn->closing) {
        if (conn->queued == 0 && write_plain(conn))
            continue;
        if (conn->unsealed != NULL && (conn->queued == 0 || all))
            copy_ahead(conn, AHEAD_BYTES);
        if (conn->queued > 0 && !all)
            return; /* Until that is written. */
    }
}

void conn_seal_some(struct conn *conn, size_t high)
{
    if (conn->plain) {
        push_plain(conn, high == SIZE_MAX);
        return;
    }
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
    if (!conn->corked)
        conn_seal_some(conn, SEALED_HIGH);
}

/* --- by other threads ----------------------------------------------------- */

void conn_cork(struct conn *conn)
{
    if (conn->corked || conn->closing)
        return;
    conn->corked = true;
    conn->tried = 0;
    if (!conn->plain && conn->open && !tls_has_room(conn->tls))
        tls_lend(conn->tls, spare_take(conn->scratch));
}

/* Calls `take` for the pieces that wait, in order, until it returns false. */
typedef bool (*piece_take)(void *context, const uint8_t *bytes, size_t size);

static void each_piece(const struct conn *conn, piece_take take, void *context)
{
    for (const struct parcel *parcel = conn->unsealed; parcel != NULL;
         parcel = parcel->next)
        for (size_t i = 0; i < parcel->count; i++)
            if (!take(context, piece_bytes(parcel, &parcel->list[i]),
                      parcel->list[i].size))
                return;
}

struct gathering {
    struct iovec list[PIECES_MAX];
    unsigned count;
};

static bool gather(void *context, const uint8_t *bytes, size_t size)
{
    struct gathering *gathering = context;

    gathering->list[gathering->count++] = (struct iovec){
        /* NOLINTNEXTLINE(performance-no-int-to-ptr): it is only read. */
        .iov_base = (void *)(uintptr_t)bytes,
        .iov_len = size};
    return gathering->count < PIECES_MAX;
}

static void try_plain(struct conn *conn)
{
    struct gathering gathering = {.count = 0};
    struct msghdr message = {.msg_iov = gathering.list};
    uv_os_fd_t fd;
    ssize_t written;

    if (uv_fileno((const uv_handle_t *)&conn->tcp, &fd) != 0)
        return;
    each_piece(conn, gather, &gathering);
    message.msg_iovlen = gathering.count;
    written = sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (written > 0)
        conn->tried = (size_t)written; /* What failed fails again. */
}

static bool seal(void *context, const uint8_t *bytes, size_t size)
{
    struct conn *conn = context;
    const size_t room = TRIED_BYTES - conn->tried;
    const size_t take = size < room ? size : room;

    conn->failing = tls_write(conn->tls, bytes, take) != ERR_OK;
    if (!conn->failing)
        conn->tried += take;
    return !conn->failing && conn->tried < TRIED_BYTES;
}

void conn_try(struct conn *conn)
{
    if (conn->closing || conn->queued > 0)
        return;
    if (conn->plain)
        try_plain(conn);
    else if (conn->open)
        each_piece(conn, seal, conn);
}

static size_t parcel_left(const struct parcel *parcel)
{
    size_t left = 0;

    for (size_t i = 0; i < parcel->count; i++)
        left += parcel->list[i].size;
    return left;
}

void conn_uncork(struct conn *conn)
{
    conn->corked = false;
    while (conn->tried > 0) {
        const size_t left = parcel_left(conn->unsealed);
        const size_t take = conn->tried < left ? conn->tried : left;

        parcel_done(conn, take);
        conn->tried -= take;
    }
    if (conn->failing)
        conn_fail(conn, LINK_LOST, "out of memory");
    else if (!conn->closing)
        conn_seal_some(conn, SEALED_HIGH);
}

/* -------------------------------------------------------------------------- */

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
    parcel->whole = (struct piece){.own = parcel->data, .size = parcel->size};
    parcel->list = &parcel->whole;
    parcel->count = 1;
    parcel_seal(conn, parcel);
}

/* The list of a message in two parts, frame by frame: a header, what is left of
 * the head, then of the tail. */
struct pieces {
    struct piece *list;
    size_t count;
    uint8_t *header; /* Room for one more. */
    const uint8_t *head;
    size_t head_size;
    size_t at, size; /* Of the tail. */
};

static void add_head(struct pieces *pieces, size_t *room)
{
    const size_t take = pieces->head_size < *room ? pieces->head_size : *room;

    if (take == 0)
        return;
    pieces->list[pieces->count++] =
        (struct piece){.own = pieces->head, .size = take};
    pieces->head += take;
    pieces->head_size -= take;
    *room -= take;
}

static void add_tail(struct pieces *pieces, size_t room)
{
    if (room == 0)
        return;
    pieces->list[pieces->count++] =
        (struct piece){.at = pieces->at, .size = room};
    pieces->at += room;
    pieces->size -= room;
}

static void add_frame(struct pieces *pieces)
{
    const size_t left = pieces->head_size + pieces->size;
    const bool more = left > LINK_FRAME_BYTES;
    size_t room = more ? LINK_FRAME_BYTES : left;
    struct writer writer = writer_on(pieces->header, CONN_HEADER_BYTES);

    put_u32(&writer, (uint32_t)room | (more ? MORE_BIT : 0));
    pieces->list[pieces->count++] =
        (struct piece){.own = pieces->header, .size = CONN_HEADER_BYTES};
    pieces->header += CONN_HEADER_BYTES;
    add_head(pieces, &room);
    add_tail(pieces, room);
}

/* Everything but the tail in the parcel: headers, head, list. */
static struct parcel *parcel_with(struct conn *conn, const void *head,
                                  size_t head_size, struct blob *tail,
                                  size_t size)
{
    const size_t wire = framed_size(head_size + size);
    const size_t headers = wire - head_size - size;
    const size_t lists = 3 * headers / CONN_HEADER_BYTES * sizeof(struct piece);
    struct parcel *parcel = parcel_new(conn, lists + headers + head_size);
    struct pieces pieces;

    if (parcel == NULL)
        return NULL;
    parcel->size = wire;
    parcel->tail = blob_hold(tail);
    pieces = (struct pieces){
        .list = (struct piece *)(void *)parcel->data,
        .header = parcel->data + lists,
        .head = parcel->data + lists + headers,
        .head_size = head_size,
        .size = size,
    };
    if (head_size > 0)
        memcpy(parcel->data + lists + headers, head, head_size);
    while (pieces.head_size + pieces.size > 0)
        add_frame(&pieces);
    parcel->list = pieces.list;
    parcel->count = pieces.count;
    return parcel;
}

void conn_send_with(struct conn *conn, const void *head, size_t head_size,
                    struct blob *tail, size_t size)
{
    struct parcel *parcel;

    CHECK(head_size + size > 0 && head_size + size <= UINT32_MAX / 2);
    if (conn->closing || conn->finishing)
        return;
    if (conn_queued(conn) + head_size + size > LINK_QUEUE_MAX) {
        conn_fail(conn, LINK_LOST, "it does not read what it is sent");
        return;
    }
    parcel = parcel_with(conn, head, head_size, tail, size);
    if (parcel != NULL)
        parcel_seal(conn, parcel);
}

void conn_send_alert(struct conn *conn)
{
    static const uint8_t alert[] = {TLS_ALERT, 3, 3, 0, 2, 2, 40};
    struct parcel *parcel = parcel_new(conn, sizeof alert);

    if (parcel == NULL)
        return;
    memcpy(parcel->data, alert, sizeof alert);
    parcel_write(conn, parcel, parcel->data);
}

/*
 * session.c - flow control of one link at the coordinator: messages go first,
 * chunks follow as the connection drains, and what waits for a relay's leaves
 * waits in a queue of each leaf.
 */
#include "node/host/session.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"

/* An envelope that waits: its head, and the tail held. */
struct letter {
    struct letter *next;
    bool work; /* Void once the next round opens. */
    struct blob *tail;
    size_t tail_size;
    size_t size;
    uint8_t bytes[];
};

static void letter_free(struct letter *letter)
{
    blob_drop(letter->tail);
    token_wipe(letter->bytes, letter->size); /* A FETCH has a key in it. */
    mem_free(letter);
}

struct session *session_new(struct link *link)
{
    struct session *session = mem_new(1, sizeof *session);

    if (session == NULL)
        return NULL;
    session->link = link;
    session->index = SESSION_NO_INDEX;
    session->berth = BOARD_NONE;
    return session;
}

static bool is_work(enum msg_kind kind)
{
    return kind == MSG_ROUND || kind == MSG_TASK || kind == MSG_WORK ||
           kind == MSG_DROP || kind == MSG_ALONE;
}

/* All of them, or those of rounds that are over. */
static void drop_letters(struct session *session, bool all)
{
    struct letter **at = &session->first;

    session->last = NULL;
    while (*at != NULL) {
        struct letter *letter = *at;

        if (all || letter->work) {
            *at = letter->next;
            letter_free(letter);
        } else {
            session->last = letter;
            at = &letter->next;
        }
    }
}

void session_free(struct session *session)
{
    while (session->queues != NULL) {
        struct session *next = session->queues->next;

        session_free(session->queues);
        session->queues = next;
    }
    mem_free(session->bundles);
    drop_letters(session, true);
    chunkset_close(&session->to_ship);
    mem_free(session->order);
    token_close(&session->serving);
    mem_free(session);
}

enum err session_open(struct session *session, uint32_t index, uint32_t chunks)
{
    const enum err err = chunkset_init(&session->to_ship, chunks);

    if (err == ERR_OK)
        session->index = index;
    return err;
}

static bool waits(const struct session *session)
{
    return session->first != NULL || session->to_ship.members > 0;
}

/* Must a message wait its turn? */
static bool behind(const struct session *session)
{
    return session->first != NULL ||
           (session->to_ship.members > 0 &&
            link_queued(session->link, PLANE_BULK) >= SESSION_HIGH_BYTES);
}

static enum err keep_letter(struct session *session, bool work,
                            const struct envelope *envelope)
{
    const size_t size = envelope->head_size;
    struct letter *letter = mem_new(1, sizeof *letter + size);

    if (letter == NULL)
        return ERR_NOMEM;
    letter->work = work;
    letter->size = size;
    if (size > 0)
        memcpy(letter->bytes, envelope->room->bytes, size);
    if (envelope->tail != NULL)
        letter->tail = blob_hold(envelope->tail);
    letter->tail_size = envelope->tail_size;
    if (session->last != NULL)
        session->last->next = letter;
    else
        session->first = letter;
    session->last = letter;
    return ERR_OK;
}

enum err session_bundle(struct session *session)
{
    if (session->bundles == NULL)
        session->bundles = mem_new(PLANES, sizeof *session->bundles);
    return session->bundles != NULL ? ERR_OK : ERR_NOMEM;
}

static void flush_plane(struct session *session, enum plane plane)
{
    struct bundle *bundle = &session->bundles[plane];

    if (bundle->size > 0)
        link_send(session->link, plane, bundle->bytes, bundle->size);
    bundle->size = 0;
}

void session_flush(struct session *session)
{
    if (session->bundles == NULL)
        return;
    flush_plane(session, PLANE_CONTROL);
    flush_plane(session, PLANE_BULK);
}

/* False: it is too large for a bundle, or this one is full. */
static bool bundle_envelope(struct bundle *bundle,
                            const struct envelope *envelope)
{
    uint8_t whole[BUNDLE_ITEM_MAX];
    const size_t head = envelope->head_size;
    const size_t tail = envelope->tail == NULL ? 0 : envelope->tail_size;

    if (head > sizeof whole || tail > sizeof whole - head)
        return false;
    if (head > 0)
        memcpy(whole, envelope->room->bytes, head);
    if (tail > 0)
        memcpy(whole + head, envelope->tail->bytes, tail);
    return bundle_add(bundle, whole, head + tail);
}

static void send_now(struct session *session, enum plane plane,
                     const struct envelope *envelope)
{
    if (session->bundles != NULL) {
        struct bundle *bundle = &session->bundles[plane];

        if (bundle_envelope(bundle, envelope))
            return;
        flush_plane(session, plane);
        if (bundle_envelope(bundle, envelope))
            return;
    }
    envelope_send(envelope, session->link, plane);
}

/* Of a leaf; NULL: it has none, nothing waits. */
static struct session *queue_of(struct session *session, uint32_t leaf)
{
    for (struct session *at = session->queues; at != NULL; at = at->next) {
        if (at->leaf == leaf)
            return at;
    }
    return NULL;
}

/* Where a bulk message must wait its turn; NULL: nowhere. */
static struct session *waiting(struct session *session, uint32_t leaf)
{
    struct session *queue;

    if (leaf == 0)
        return behind(session) ? session : NULL;
    queue = queue_of(session, leaf);
    return queue != NULL && behind(queue) ? queue : NULL;
}

void session_forget(struct session *session, uint32_t leaf)
{
    for (struct session **at = &session->queues; *at != NULL;
         at = &(*at)->next) {
        struct session *queue = *at;

        if (queue->leaf != leaf)
            continue;
        *at = queue->next;
        session_free(queue);
        return;
    }
}

/* Small orders follow their round: to the board if that is there, else after
 * it on the link, where a note would overtake it and be of no round at all. */
static bool leave(struct session *session, struct board *board,
                  const struct envelope *envelope, const struct msg *msg)
{
    const bool order = session->noted && msg_is_order(msg->kind);
    const bool left =
        envelope_leave(envelope, board, session->berth, BOARD_WORKER, order);

    if (msg->kind == MSG_ROUND)
        session->noted = left;
    return left;
}

enum err session_send(struct session *session, struct posting *posting,
                      struct envelope *envelope, const struct msg *msg)
{
    const bool bulk = msg_is_bulk(msg->kind);
    struct session *queue = bulk ? waiting(session, msg->leaf) : NULL;

    if (!posting_fill(posting, session->berth, envelope, msg))
        return ERR_NOMEM;
    if (queue == NULL) {
        if (!leave(session, posting->board, envelope, msg))
            send_now(session, bulk ? PLANE_BULK : PLANE_CONTROL, envelope);
        return ERR_OK;
    }
    session->noted = false;
    if (msg->kind == MSG_ROUND || msg->kind == MSG_TASK)
        drop_letters(queue, false);
    return keep_letter(queue, is_work(msg->kind), envelope);
}

uint64_t session_backlog(const struct session *session)
{
    return link_backlog(session->link, PLANE_BULK) + waits(session);
}

static enum err add_queue(struct session *session, uint32_t leaf,
                          struct session **queue)
{
    struct session *made = session_new(session->link);
    enum err err = made != NULL ? ERR_OK : ERR_NOMEM;

    if (err == ERR_OK)
        err = session_open(made, session->index, session->to_ship.count);
    if (err != ERR_OK) {
        if (made != NULL)
            session_free(made);
        return err;
    }
    made->leaf = leaf;
    made->next = session->queues;
    session->queues = made;
    *queue = made;
    return ERR_OK;
}

static enum err add_chunks(struct session *session, uint32_t first,
                           uint32_t end)
{
    struct chunkset *set = &session->to_ship;

    if (session->order == NULL)
        session->order = mem_new(set->count, sizeof *session->order);
    if (session->order == NULL)
        return ERR_NOMEM;
    for (uint32_t chunk = first; chunk < end; chunk++) {
        if (chunkset_has(set, chunk))
            continue;
        session->order[(session->at + set->members) % set->count] = chunk;
        chunkset_add(set, chunk);
    }
    return ERR_OK;
}

void session_take(struct session *session)
{
    const uint32_t chunk = session->order[session->at];

    session->at = (session->at + 1) % session->to_ship.count;
    chunkset_remove(&session->to_ship, chunk);
}

enum err session_ship(struct session *session, uint32_t leaf, uint32_t first,
                      uint32_t end)
{
    struct session *queue = session;
    enum err err = ERR_OK;

    if (leaf != 0) {
        queue = queue_of(session, leaf);
        if (queue == NULL)
            err = add_queue(session, leaf, &queue);
    }
    return err == ERR_OK ? add_chunks(queue, first, end) : err;
}

static enum err send_data(struct session *session, struct envelope *envelope,
                          const struct msg_data *data)
{
    const struct msg msg = {
        .kind = MSG_DATA, .leaf = session->leaf, .data = *data};

    if (!envelope_fill(envelope, &msg))
        return ERR_NOMEM;
    envelope_send(envelope, session->link, PLANE_BULK);
    return ERR_OK;
}

static enum err send_chunk(struct session *session, struct envelope *envelope,
                           const struct dataset *data, uint32_t chunk)
{
    const size_t size = dataset_chunk_bytes(data, chunk);
    uint8_t *bytes = mem_new(size, 1);
    const struct msg_data msg = {.chunk = chunk, .bytes = bytes, .size = size};
    enum err err;

    if (bytes == NULL)
        return ERR_NOMEM;
    dataset_chunk_encode(data, chunk, bytes);
    err = send_data(session, envelope, &msg);
    mem_free(bytes);
    return err;
}

static void send_letter(struct session *session)
{
    struct letter *letter = session->first;

    session->first = letter->next;
    if (session->first == NULL)
        session->last = NULL;
    if (letter->tail == NULL)
        link_send(session->link, PLANE_BULK, letter->bytes, letter->size);
    else
        link_send_with(session->link, PLANE_BULK, letter->bytes, letter->size,
                       letter->tail, letter->tail_size);
    letter_free(letter);
}

bool session_next(struct session *session, size_t most, uint32_t *chunk)
{
    while (waits(session) && link_queued(session->link, PLANE_BULK) < most) {
        if (session->first == NULL) {
            *chunk = session->order[session->at];
            return true;
        }
        send_letter(session);
    }
    return false;
}

static enum err pump(struct session *session, struct envelope *envelope,
                     const struct dataset *data)
{
    uint32_t chunk;

    while (session_next(session, SESSION_HIGH_BYTES, &chunk)) {
        const enum err err = send_chunk(session, envelope, data, chunk);

        if (err != ERR_OK)
            return err;
        session_take(session);
    }
    return ERR_OK;
}

/* Queues that are empty go: their leaves are served like all others. */
static enum err pump_queues(struct session *session, struct envelope *envelope,
                            const struct dataset *data)
{
    struct session **at = &session->queues;

    while (*at != NULL) {
        struct session *queue = *at;
        const enum err err = pump(queue, envelope, data);

        if (err != ERR_OK)
            return err;
        if (waits(queue)) {
            at = &queue->next;
            continue;
        }
        *at = queue->next;
        session_free(queue);
    }
    return ERR_OK;
}

enum err session_pump(struct session *session, struct envelope *envelope,
                      const struct dataset *data)
{
    enum err err;

    /* What is in a bundle was said before what waits. */
    if (session->bundles != NULL && (session->queues != NULL || waits(session)))
        flush_plane(session, PLANE_BULK);
    err = pump_queues(session, envelope, data);
    return err == ERR_OK ? pump(session, envelope, data) : err;
}

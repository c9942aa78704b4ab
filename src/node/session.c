#include "node/session.h"

#include <string.h>

#include "base/mem.h"

/* An envelope that waits: its head, and the tail held. */
struct letter {
    struct letter *next;
    struct blob *tail;
    size_t tail_size;
    size_t size;
    uint8_t bytes[];
};

static void letter_free(struct letter *letter)
{
    blob_drop(letter->tail);
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

static void drop_letters(struct session *session)
{
    while (session->first != NULL) {
        struct letter *next = session->first->next;

        letter_free(session->first);
        session->first = next;
    }
    session->last = NULL;
}

void session_free(struct session *session)
{
    drop_letters(session);
    chunkset_close(&session->to_ship);
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

static enum err keep_letter(struct session *session,
                            const struct envelope *envelope)
{
    const size_t size = envelope->head_size;
    struct letter *letter = mem_new(1, sizeof *letter + size);

    if (letter == NULL)
        return ERR_NOMEM;
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

enum err session_send(struct session *session, struct posting *posting,
                      struct envelope *envelope, const struct msg *msg)
{
    const bool bulk = msg_is_bulk(msg->kind);

    if (!posting_fill(posting, session->berth, envelope, msg))
        return ERR_NOMEM;
    if (!bulk || !waits(session)) {
        envelope_send(envelope, session->link,
                      bulk ? PLANE_BULK : PLANE_CONTROL);
        return ERR_OK;
    }
    if (msg->kind == MSG_ROUND)
        drop_letters(session);
    return keep_letter(session, envelope);
}

void session_ship(struct session *session, uint32_t first, uint32_t end)
{
    chunkset_add_range(&session->to_ship, first, end);
}

static enum err send_chunk(struct session *session, struct envelope *envelope,
                           const struct dataset *data, uint32_t chunk)
{
    const size_t size = dataset_chunk_bytes(data, chunk);
    uint8_t *bytes = mem_new(size, 1);
    const struct msg msg = {
        .kind = MSG_DATA,
        .data = {.chunk = chunk, .bytes = bytes, .size = size}};
    bool filled;

    if (bytes == NULL)
        return ERR_NOMEM;
    dataset_chunk_encode(data, chunk, bytes);
    filled = envelope_fill(envelope, &msg);
    mem_free(bytes);
    if (!filled)
        return ERR_NOMEM;
    envelope_send(envelope, session->link, PLANE_BULK);
    return ERR_OK;
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

enum err session_pump(struct session *session, struct envelope *envelope,
                      const struct dataset *data)
{
    while (waits(session) &&
           link_queued(session->link, PLANE_BULK) < SESSION_HIGH_BYTES) {
        const uint32_t chunk = chunkset_next(&session->to_ship, 0);
        enum err err;

        if (session->to_ship.members == 0) {
            send_letter(session);
            continue;
        }
        chunkset_remove(&session->to_ship, chunk);
        err = send_chunk(session, envelope, data, chunk);
        if (err != ERR_OK)
            return err;
    }
    return ERR_OK;
}

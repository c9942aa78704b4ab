#include "node/session.h"

#include <string.h>

#include "base/mem.h"
#include "core/product.h"
#include "data/coded.h"
#include "wire/codec.h"

struct letter {
    struct letter *next;
    bool work; /* Void once the next round opens. */
    size_t size;
    uint8_t bytes[];
};

struct session *session_new(struct link *link)
{
    struct session *session = mem_new(1, sizeof *session);

    if (session == NULL)
        return NULL;
    session->link = link;
    session->index = SESSION_NO_INDEX;
    return session;
}

static bool is_work(enum msg_kind kind)
{
    return kind == MSG_ROUND || kind == MSG_WORK || kind == MSG_DROP;
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
            mem_free(letter);
        } else {
            session->last = letter;
            at = &letter->next;
        }
    }
}

void session_free(struct session *session)
{
    drop_letters(session, true);
    chunkset_close(&session->to_ship);
    mem_free(session->order);
    mem_free(session);
}

enum err session_open(struct session *session, uint32_t index, uint32_t chunks)
{
    const enum err err = chunkset_init(&session->to_ship, chunks);

    if (err == ERR_OK)
        session->index = index;
    return err;
}

size_t envelope_fill(struct envelope *envelope, const struct msg *msg)
{
    const size_t bound = codec_bound(msg);

    if (bound > envelope->capacity) {
        uint8_t *grown =
            mem_grow(envelope->bytes, 0, bound, 1, &envelope->capacity);

        if (grown == NULL)
            return 0;
        envelope->bytes = grown;
    }
    return codec_encode(msg, envelope->bytes);
}

void envelope_close(struct envelope *envelope)
{
    mem_free(envelope->bytes);
    *envelope = (struct envelope){0};
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
                            const uint8_t *bytes, size_t size)
{
    struct letter *letter = mem_new(1, sizeof *letter + size);

    if (letter == NULL)
        return ERR_NOMEM;
    letter->work = work;
    letter->size = size;
    memcpy(letter->bytes, bytes, size);
    if (session->last != NULL)
        session->last->next = letter;
    else
        session->first = letter;
    session->last = letter;
    return ERR_OK;
}

enum err session_send(struct session *session, struct envelope *envelope,
                      const struct msg *msg)
{
    const bool bulk = msg_is_bulk(msg->kind);
    const size_t size = envelope_fill(envelope, msg);

    if (size == 0)
        return ERR_NOMEM;
    if (!bulk || !behind(session)) {
        link_send(session->link, bulk ? PLANE_BULK : PLANE_CONTROL,
                  envelope->bytes, size);
        return ERR_OK;
    }
    if (msg->kind == MSG_ROUND)
        drop_letters(session, false);
    return keep_letter(session, is_work(msg->kind), envelope->bytes, size);
}

uint64_t session_backlog(const struct session *session)
{
    return link_backlog(session->link, PLANE_BULK) + waits(session);
}

enum err session_ship(struct session *session, uint32_t first, uint32_t end)
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

static uint32_t take_chunk(struct session *session)
{
    const uint32_t chunk = session->order[session->at];

    session->at = (session->at + 1) % session->to_ship.count;
    chunkset_remove(&session->to_ship, chunk);
    return chunk;
}

static enum err send_data(struct session *session, struct envelope *envelope,
                          const struct msg_data *data)
{
    const struct msg msg = {.kind = MSG_DATA, .data = *data};
    const size_t size = envelope_fill(envelope, &msg);

    if (size == 0)
        return ERR_NOMEM;
    link_send(session->link, PLANE_BULK, envelope->bytes, size);
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

/* One that another code has made void is left out. */
static enum err send_strip(struct session *session, struct envelope *envelope,
                           const struct dataset *data,
                           const struct coordinator *core, uint32_t strip)
{
    const struct block_shape shape = coded_shape(data, core->code.parts);
    struct block_term *terms = mem_new(shape.parts, sizeof *terms);
    uint8_t *bytes = mem_new(coded_strip_bytes_max(&shape), 1);
    struct msg_data msg = {.chunk = strip, .bytes = bytes};
    enum err err = terms == NULL || bytes == NULL ? ERR_NOMEM : ERR_OK;
    uint32_t count = 0;

    if (err == ERR_OK && block_has_strip(&shape, strip))
        count = product_terms(core, session->index, terms, &msg.block);
    if (count > 0) {
        msg.size = coded_strip_bytes(&shape, strip);
        err = coded_strip_encode(data, &shape, terms, count, strip, bytes);
        if (err == ERR_OK)
            err = send_data(session, envelope, &msg);
    }
    mem_free(terms);
    mem_free(bytes);
    return err;
}

static void send_letter(struct session *session)
{
    struct letter *letter = session->first;

    session->first = letter->next;
    if (session->first == NULL)
        session->last = NULL;
    link_send(session->link, PLANE_BULK, letter->bytes, letter->size);
    mem_free(letter);
}

enum err session_pump(struct session *session, struct envelope *envelope,
                      const struct dataset *data,
                      const struct coordinator *core)
{
    while (waits(session) &&
           link_queued(session->link, PLANE_BULK) < SESSION_HIGH_BYTES) {
        uint32_t chunk;
        enum err err;

        if (session->first != NULL) {
            send_letter(session);
            continue;
        }
        chunk = take_chunk(session);
        err = core->options.job.products
                  ? send_strip(session, envelope, data, core, chunk)
                  : send_chunk(session, envelope, data, chunk);
        if (err != ERR_OK)
            return err;
    }
    return ERR_OK;
}

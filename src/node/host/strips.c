/*
 * strips.c - who is sent a strip together with whom, and the strips.
 */
#include "node/host/strips.h"

#include "base/mem.h"
#include "core/product.h"
#include "core/star/products.h"
#include "data/rows/coded.h"

/* More gain little, and all of them are in memory at once. */
#define TOGETHER_MAX 16u
/* Whoever has room for a strip takes along those that have a little less: made
 * later theirs would cost another pass. */
#define TOGETHER_BYTES (2 * SESSION_HIGH_BYTES)

struct strips {
    const struct dataset *data;
    const struct coordinator *core;
    struct block_shape shape;
    uint32_t strip;
    uint32_t count; /* Who is sent it: */
    struct session *to[TOGETHER_MAX];
    uint64_t block[TOGETHER_MAX];
    struct coded_strip made[TOGETHER_MAX];
    struct blob *bytes[TOGETHER_MAX];
    struct block_term *terms; /* shape.parts of each. */
};

/* The first that has room. */
static uint32_t find_first(struct session *const *sessions, uint32_t count,
                           uint32_t *strip)
{
    uint32_t i = 0;

    while (i < count && (sessions[i] == NULL ||
                         !session_next(sessions[i], SESSION_HIGH_BYTES, strip)))
        i++;
    return i;
}

/* One that another code has made void is left out. */
static enum err add(struct strips *strips, struct session *session)
{
    const uint32_t at = strips->count;
    struct block_term *terms = strips->terms + (size_t)at * strips->shape.parts;
    uint32_t count = 0;

    if (block_has_strip(&strips->shape, strips->strip))
        count = product_terms(strips->core, session->index, terms,
                              &strips->block[at]);
    if (count == 0) {
        session_take(session);
        return ERR_OK;
    }
    strips->bytes[at] =
        blob_new(coded_strip_bytes(&strips->shape, strips->strip));
    if (strips->bytes[at] == NULL)
        return ERR_NOMEM;
    strips->made[at] =
        (struct coded_strip){terms, count, strips->bytes[at]->bytes};
    strips->to[strips->count++] = session;
    return ERR_OK;
}

static enum err gather(struct strips *strips, struct session *const *sessions,
                       uint32_t count)
{
    enum err err = ERR_OK;

    for (uint32_t i = 0;
         i < count && err == ERR_OK && strips->count < TOGETHER_MAX; i++) {
        uint32_t next;

        if (sessions[i] != NULL &&
            session_next(sessions[i], TOGETHER_BYTES, &next) &&
            next == strips->strip)
            err = add(strips, sessions[i]);
    }
    return err;
}

/* The head, and behind it the strip as it was made. */
static enum err send_all(const struct strips *strips)
{
    struct envelope envelope = {0};
    bool good = true;

    for (uint32_t i = 0; good && i < strips->count; i++) {
        const struct msg msg = {
            .kind = MSG_DATA,
            .data = {.chunk = strips->strip, .block = strips->block[i]}};

        good = envelope_fill(&envelope, &msg);
        if (!good)
            break;
        link_send_with(strips->to[i]->link, PLANE_BULK, envelope.tail->bytes,
                       envelope.tail_size, strips->bytes[i],
                       coded_strip_bytes(&strips->shape, strips->strip));
        session_take(strips->to[i]);
    }
    envelope_close(&envelope);
    return good ? ERR_OK : ERR_NOMEM;
}

static enum err send_strip(struct strips *strips,
                           struct session *const *sessions, uint32_t count,
                           uint64_t *passes)
{
    enum err err = gather(strips, sessions, count);

    if (err == ERR_OK && strips->count > 0) {
        ++*passes;
        err = coded_strips_encode(strips->data, &strips->shape, strips->made,
                                  strips->count, strips->strip);
    }
    if (err == ERR_OK)
        err = send_all(strips);
    for (uint32_t i = 0; i < strips->count; i++)
        blob_drop(strips->bytes[i]);
    strips->count = 0;
    return err;
}

enum err strips_pump(struct session *const *sessions, uint32_t count,
                     const struct dataset *data, const struct coordinator *core,
                     uint64_t *passes, struct session **failed)
{
    struct strips strips = {
        .data = data,
        .core = core,
        .shape = product_shape(&core->options.job, core->code.parts)};
    uint32_t first = find_first(sessions, count, &strips.strip);
    enum err err = ERR_OK;

    if (first == count)
        return ERR_OK;
    strips.terms = mem_new((size_t)TOGETHER_MAX * strips.shape.parts,
                           sizeof *strips.terms);
    if (strips.terms == NULL)
        err = ERR_NOMEM;
    while (err == ERR_OK && first < count) {
        err = send_strip(&strips, sessions, count, passes);
        if (err == ERR_OK)
            first = find_first(sessions, count, &strips.strip);
    }
    if (err != ERR_OK)
        *failed = sessions[first];
    mem_free(strips.terms);
    return err;
}

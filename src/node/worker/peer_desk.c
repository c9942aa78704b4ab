/*
 * peer_desk.c - the serving side's queue for one peer: which of the wanted
 * chunks are here, and the next part to be sent.
 */
#include "node/worker/peer_desk.h"

#include "base/mem.h"

void peer_desk_init(struct peer_desk *desk, const struct dataset *data)
{
    *desk = (struct peer_desk){.data = data};
}

void peer_desk_close(struct peer_desk *desk)
{
    mem_free(desk->bytes);
    *desk = (struct peer_desk){0};
}

enum err peer_desk_want(struct peer_desk *desk, uint32_t chunk)
{
    const uint32_t chunks = dataset_chunks(desk->data);

    if (chunk > chunks || (chunk == chunks && desk->papers.size == 0))
        return ERR_RANGE;
    if (desk->count == PEER_WINDOW)
        return ERR_TOOBIG;
    desk->wanted[desk->count++] = chunk;
    return ERR_OK;
}

static bool is_papers(const struct peer_desk *desk, uint32_t chunk)
{
    return chunk == dataset_chunks(desk->data);
}

static bool is_here(const struct peer_desk *desk, uint32_t chunk)
{
    return is_papers(desk, chunk) || chunkset_has(&desk->data->present, chunk);
}

/* The first that is here; `count` if none is. */
static uint32_t first_here(const struct peer_desk *desk)
{
    uint32_t i = 0;

    while (i < desk->count && !is_here(desk, desk->wanted[i]))
        i++;
    return i;
}

/* As it is shipped, in `bytes`. */
static enum err encode(struct peer_desk *desk, uint32_t chunk)
{
    const size_t size = dataset_chunk_bytes(desk->data, chunk);

    if (size > desk->capacity) {
        uint8_t *grown = mem_grow(desk->bytes, 0, size, 1, &desk->capacity);

        if (grown == NULL)
            return ERR_NOMEM;
        desk->bytes = grown;
    }
    dataset_chunk_encode(desk->data, chunk, desk->bytes);
    desk->giving = (struct papers_view){desk->bytes, size};
    return ERR_OK;
}

static enum err take(struct peer_desk *desk)
{
    const uint32_t i = first_here(desk);
    enum err err = ERR_OK;

    if (i == desk->count)
        return ERR_NOTFOUND;
    if (is_papers(desk, desk->wanted[i]))
        desk->giving = desk->papers;
    else
        err = encode(desk, desk->wanted[i]);
    if (err != ERR_OK)
        return err;
    desk->chunk = desk->wanted[i];
    desk->at = 0;
    desk->count--;
    for (uint32_t j = i; j < desk->count; j++)
        desk->wanted[j] = desk->wanted[j + 1];
    return ERR_OK;
}

enum err peer_desk_next(struct peer_desk *desk, struct peer_msg *part)
{
    const enum err err = desk->giving.size > 0 ? ERR_OK : take(desk);
    size_t count;

    if (err != ERR_OK)
        return err;
    count = desk->giving.size - desk->at;
    count = count < PEER_PART_BYTES ? count : PEER_PART_BYTES;
    *part = (struct peer_msg){.kind = PEER_PART,
                              .chunk = desk->chunk,
                              .size = desk->giving.size,
                              .at = desk->at,
                              .bytes = desk->giving.bytes + desk->at,
                              .count = count};
    desk->at += count;
    if (desk->at == desk->giving.size)
        desk->giving.size = 0;
    return ERR_OK;
}

bool peer_desk_waits(const struct peer_desk *desk)
{
    return desk->giving.size == 0 && desk->count > 0 &&
           first_here(desk) == desk->count;
}

bool peer_desk_idle(const struct peer_desk *desk)
{
    return desk->giving.size == 0 && desk->count == 0;
}

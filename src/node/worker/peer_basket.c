/*
 * peer_basket.c - reassembly of one chunk from the parts in which a peer sends
 * it, hashed as they come.
 */
#include "node/worker/peer_basket.h"

#include <string.h>

#include "base/mem.h"

void peer_basket_close(struct peer_basket *basket)
{
    if (basket->size > 0)
        (void)hasher_end(&basket->hasher);
    mem_free(basket->bytes);
    *basket = (struct peer_basket){0};
}

static enum err begin(struct peer_basket *basket, const struct peer_msg *part,
                      size_t size_max)
{
    if (part->at != 0 || part->size > size_max)
        return ERR_FORMAT;
    if (part->size > basket->room) {
        uint8_t *grown =
            mem_grow(basket->bytes, 0, part->size, 1, &basket->room);

        if (grown == NULL)
            return ERR_NOMEM;
        basket->bytes = grown;
    }
    basket->chunk = part->chunk;
    basket->size = part->size;
    basket->at = 0;
    hasher_init(&basket->hasher);
    return ERR_OK;
}

enum err peer_basket_put(struct peer_basket *basket,
                         const struct peer_msg *part, size_t size_max,
                         bool *whole, struct digest *digest)
{
    const enum err err =
        basket->size > 0 ? ERR_OK : begin(basket, part, size_max);

    if (err != ERR_OK)
        return err;
    if (part->chunk != basket->chunk || part->size != basket->size ||
        part->at != basket->at)
        return ERR_FORMAT;
    memcpy(basket->bytes + basket->at, part->bytes, part->count);
    hasher_add(&basket->hasher, part->bytes, part->count);
    basket->at += part->count;
    *whole = basket->at == basket->size;
    if (*whole) {
        *digest = hasher_end(&basket->hasher);
        basket->size = 0;
    }
    return ERR_OK;
}

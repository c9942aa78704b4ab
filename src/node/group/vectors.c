/*
 * vectors.c - slices in, parts out.
 */
#include "node/group/vectors.h"

#include <string.h>

#include "base/mem.h"
#include "math/exact/exact.h"

static bool fit(struct vector *vector, size_t size)
{
    uint8_t *grown;

    if (size > vector->capacity) {
        grown = mem_grow(vector->bytes, 0, size, 1, &vector->capacity);
        if (grown == NULL)
            return false;
        vector->bytes = grown;
    }
    vector->size = size;
    return true;
}

static void copy(void *to, const void *from, size_t size)
{
    if (size > 0)
        memcpy(to, from, size);
}

void vectors_close(struct vectors *vectors)
{
    for (uint32_t i = 0; i < 2; i++) {
        for (uint32_t k = 0; k < SUM_SEATS; k++)
            mem_free(vectors->slices[i][k].bytes);
        mem_free(vectors->totals[i].bytes);
    }
    blob_drop(vectors->slice);
    blob_drop(vectors->part);
    *vectors = (struct vectors){.part = NULL};
}

/* Where the slice is in a whole vector, in bytes. */
struct place {
    size_t at, size, whole;
};

static struct place place_of(const struct sum_action *action)
{
    const size_t unit = exact_size((enum exact_type)action->shape.type);
    const uint64_t count = action->shape.count;

    return (struct place){
        .at = unit * sum_slice_at(count, action->slots, action->slot),
        .size = unit * sum_slice_size(count, action->slots, action->slot),
        .whole = unit * count,
    };
}

bool vectors_keep(struct vectors *vectors, const struct sum_action *action,
                  const void *own)
{
    struct vector *total = &vectors->totals[action->call & 1];
    struct vector *slice = &vectors->slices[action->call & 1][action->slot];
    const struct place place = place_of(action);
    const struct sum_msg *msg = &action->msg;

    if (msg->kind == SUM_PART) {
        if (!fit(total, place.whole))
            return false;
        copy(total->bytes + place.at, msg->bytes, msg->size);
    } else if (msg->kind == SUM_SLICE) {
        if (!fit(slice, msg->size))
            return false;
        copy(slice->bytes, msg->bytes, msg->size);
    } else {
        if (!fit(slice, place.size))
            return false;
        copy(slice->bytes, (const uint8_t *)own + place.at, place.size);
    }
    return true;
}

bool vectors_add(struct vectors *vectors, const struct sum_action *action)
{
    const enum exact_type type = (enum exact_type)action->shape.type;
    const struct place place = place_of(action);
    struct vector *total = &vectors->totals[action->call & 1];
    const void *rows[SUM_SEATS];
    double column[SUM_SEATS];
    uint32_t count = 0;

    if (!fit(total, place.whole) ||
        blob_fresh(&vectors->part, place.size + 1) == NULL)
        return false;
    for (uint32_t i = 0; i < action->slots; i++) {
        if ((action->set >> i & 1) != 0)
            rows[count++] = vectors->slices[action->call & 1][i].bytes;
    }
    if (place.size > 0)
        exact_sum(isa_best(), type, rows, count, place.size / exact_size(type),
                  column, vectors->part->bytes);
    copy(total->bytes + place.at, vectors->part->bytes, place.size);
    return true;
}

struct blob *vectors_cut(struct vectors *vectors,
                         const struct sum_action *action, const void *own,
                         size_t *size)
{
    const struct place place = place_of(action);

    *size = place.size;
    if (action->msg.kind == SUM_PART)
        return vectors->part;
    if (blob_fresh(&vectors->slice, place.size + 1) == NULL)
        return NULL;
    copy(vectors->slice->bytes, (const uint8_t *)own + place.at, place.size);
    return vectors->slice;
}

const uint8_t *vectors_total(const struct vectors *vectors, uint64_t call)
{
    return vectors->totals[call & 1].bytes;
}

/*
 * vectors.c - slices in, parts out.
 */
#include "node/group/vectors.h"

#include <string.h>

#include "base/mem.h"
#include "math/exact/exact.h"

uint8_t *vector_numbers(const struct vector *vector)
{
    return vector->memory + MEM_LINE;
}

bool vector_fit(struct vector *vector, size_t size)
{
    if (vector->memory != NULL && size <= vector->capacity)
        return true;
    mem_free(vector->memory);
    vector->memory = mem_new(MEM_LINE + size, 1);
    vector->capacity = vector->memory == NULL ? 0 : size;
    return vector->memory != NULL;
}

void vector_close(struct vector *vector)
{
    mem_free(vector->memory);
    *vector = (struct vector){.memory = NULL};
}

static void copy(void *to, const void *from, size_t size)
{
    if (size > 0)
        memcpy(to, from, size);
}

void vectors_close(struct vectors *vectors)
{
    for (uint32_t k = 0; k < SUM_SEATS; k++) {
        for (uint32_t i = 0; i < 2; i++) {
            vector_close(&vectors->slices[i][k]);
            vector_close(&vectors->totals[i].parts[k]);
        }
        blob_drop(vectors->lent[k]);
    }
    blob_drop(vectors->totals[0].part);
    blob_drop(vectors->totals[1].part);
    memset(vectors, 0, sizeof *vectors);
}

/* Where slice `slot` is in a whole vector, in bytes. */
struct place {
    size_t at, size;
};

static struct place place_in(const struct sum_shape *shape, uint32_t slots,
                             uint32_t slot)
{
    const size_t unit = exact_size((enum exact_type)shape->type);

    return (struct place){
        .at = unit * sum_slice_at(shape->count, slots, slot),
        .size = unit * sum_slice_size(shape->count, slots, slot),
    };
}

static struct place place_of(const struct sum_action *action)
{
    return place_in(&action->shape, action->slots, action->slot);
}

static struct total *total_of(struct vectors *vectors,
                              const struct sum_action *action)
{
    struct total *total = &vectors->totals[action->call & 1];

    total->shape = action->shape;
    total->slots = action->slots;
    return total;
}

/* The message's bytes, with the memory that they came in or copied. */
static bool take(struct vector *vector, const struct sum_msg *msg,
                 struct vector *arrived)
{
    vector->lent = NULL;
    if (arrived != NULL && arrived->memory != NULL &&
        msg->bytes == vector_numbers(arrived)) {
        const struct vector other = *vector;

        *vector = *arrived;
        *arrived = other;
        return true;
    }
    if (!vector_fit(vector, msg->size))
        return false;
    copy(vector_numbers(vector), msg->bytes, msg->size);
    return true;
}

bool vectors_keep(struct vectors *vectors, const struct sum_action *action,
                  const void *own, struct vector *arrived)
{
    const struct sum_msg *msg = &action->msg;
    const struct place place = place_of(action);
    struct vector *own_slice;

    if (msg->kind == SUM_PART)
        return take(&total_of(vectors, action)->parts[action->slot], msg,
                    arrived);
    if (msg->kind == SUM_SLICE)
        return take(&vectors->slices[action->call & 1][action->slot], msg,
                    arrived);
    own_slice = &vectors->slices[action->call & 1][action->slot];
    own_slice->lent = (const uint8_t *)own + place.at;
    own_slice->lent_size = place.size;
    return true;
}

bool vectors_add(struct vectors *vectors, const struct sum_action *action)
{
    const enum exact_type type = (enum exact_type)action->shape.type;
    const struct place place = place_of(action);
    struct total *total = total_of(vectors, action);
    const void *rows[SUM_SEATS];
    double column[SUM_SEATS];
    uint32_t count = 0;

    total->own = action->slot;
    if (blob_fresh(&total->part, place.size + 1) == NULL)
        return false;
    for (uint32_t i = 0; i < action->slots; i++) {
        const struct vector *slice = &vectors->slices[action->call & 1][i];

        if ((action->set >> i & 1) != 0)
            rows[count++] =
                slice->lent != NULL ? slice->lent : vector_numbers(slice);
    }
    if (place.size > 0)
        exact_sum(isa_best(), type, rows, count, place.size / exact_size(type),
                  column, total->part->bytes);
    return true;
}

/* Who holds it besides us is a link. */
static bool settle_sent(struct blob **lent)
{
    const bool settled =
        *lent == NULL || (*lent)->holders == 1 || blob_settle(*lent);

    blob_drop(*lent);
    *lent = NULL;
    return settled;
}

struct blob *vectors_cut(struct vectors *vectors,
                         const struct sum_action *action, const void *own,
                         size_t *size)
{
    const struct place place = place_of(action);
    struct blob **lent = &vectors->lent[action->slot];

    *size = place.size;
    if (action->msg.kind == SUM_PART)
        return vectors->totals[action->call & 1].part;
    /* A link to one who is out of the view may have it still: nobody would know
     * of that when the user has his vector back. */
    if (!settle_sent(lent))
        return NULL;
    *lent = blob_lent((const uint8_t *)own + place.at, place.size);
    return *lent;
}

void vectors_total(const struct vectors *vectors, uint64_t call, void *to)
{
    const struct total *total = &vectors->totals[call & 1];

    for (uint32_t i = 0; i < total->slots; i++) {
        const struct place place = place_in(&total->shape, total->slots, i);

        if (place.size > 0)
            memcpy((uint8_t *)to + place.at,
                   i == total->own ? total->part->bytes
                                   : vector_numbers(&total->parts[i]),
                   place.size);
    }
}

static bool settle_slice(struct vector *slice, bool over)
{
    const uint8_t *const lent = slice->lent;

    slice->lent = NULL;
    if (lent == NULL || over)
        return true;
    if (!vector_fit(slice, slice->lent_size))
        return false;
    copy(vector_numbers(slice), lent, slice->lent_size);
    return true;
}

bool vectors_settle(struct vectors *vectors, bool over)
{
    bool settled = true;

    for (uint32_t i = 0; i < SUM_SEATS; i++) {
        settled = settle_slice(&vectors->slices[0][i], over) && settled;
        settled = settle_slice(&vectors->slices[1][i], over) && settled;
        settled = settle_sent(&vectors->lent[i]) && settled;
    }
    return settled;
}

/*
 * outbox.c - double buffering of answers: sums are computed, packed in place
 * and sent from the same memory, one box in flight while the other is filled.
 */
#include "node/host/outbox.h"

#include <stddef.h>

#include "base/check.h"
#include "base/mem.h"
#include "math/exact/pack.h"

/* From the first byte of a box to its sums: they begin on a line, as the blob
 * does. */
static size_t lead(const struct outbox *outbox)
{
    const size_t before = offsetof(struct blob, store);
    const size_t least = before + pack_lead(outbox->sum_dims);

    return (least + MEM_LINE - 1) / MEM_LINE * MEM_LINE - before;
}

static int64_t *sums_of(const struct outbox *outbox, struct blob *box)
{
    return (int64_t *)(void *)(box->bytes + lead(outbox));
}

void outbox_init(struct outbox *outbox, uint32_t sum_dims)
{
    *outbox = (struct outbox){.sum_dims = sum_dims};
}

void outbox_close(struct outbox *outbox)
{
    for (uint32_t i = 0; i < OUTBOXES; i++)
        blob_drop(outbox->boxes[i]);
    *outbox = (struct outbox){0};
}

static bool is_free(const struct blob *box)
{
    return box == NULL || box->holders == 1;
}

/* One box that is free; the others that are go, but for `most` in all. */
static uint32_t free_box(struct outbox *outbox, uint32_t most)
{
    uint32_t used = 0;
    uint32_t found = OUTBOXES;

    for (uint32_t i = 0; i < OUTBOXES; i++)
        used += !is_free(outbox->boxes[i]);
    for (uint32_t i = 0; i < OUTBOXES; i++) {
        if (!is_free(outbox->boxes[i]))
            continue;
        if (found == OUTBOXES && used < most) {
            found = i;
        } else if (used + 1 >= most) {
            blob_drop(outbox->boxes[i]);
            outbox->boxes[i] = NULL;
        }
    }
    return found;
}

bool outbox_open(struct outbox *outbox, uint32_t most, int64_t **sum)
{
    const size_t bytes =
        lead(outbox) + (size_t)outbox->sum_dims * sizeof(int64_t);
    const uint32_t at = free_box(outbox, most);

    *sum = NULL;
    if (at == OUTBOXES)
        return true;
    if (outbox->boxes[at] == NULL)
        outbox->boxes[at] = blob_new(bytes);
    if (outbox->boxes[at] == NULL)
        return false;
    *sum = sums_of(outbox, outbox->boxes[at]);
    return true;
}

static struct blob *box_of(const struct outbox *outbox, const struct msg *msg)
{
    for (uint32_t i = 0; msg->kind == MSG_TALLY && i < OUTBOXES; i++) {
        if (outbox->boxes[i] != NULL &&
            sums_of(outbox, outbox->boxes[i]) == msg->tally.sum)
            return outbox->boxes[i];
    }
    return NULL;
}

bool outbox_owns(const struct outbox *outbox, const struct msg *msg)
{
    return box_of(outbox, msg) != NULL;
}

bool outbox_fill(struct outbox *outbox, struct envelope *envelope,
                 const struct msg *msg)
{
    struct blob *const box = box_of(outbox, msg);

    CHECK(box != NULL && is_free(box));
    if (!envelope_fill_head(envelope, msg))
        return false;
    envelope->tail = box;
    envelope->tail_size =
        pack_i64(sums_of(outbox, box), msg->tally.dims, box->bytes);
    return true;
}

void outbox_abandon(struct outbox *outbox)
{
    for (uint32_t i = 0; i < OUTBOXES; i++) {
        if (is_free(outbox->boxes[i]))
            continue;
        blob_drop(outbox->boxes[i]);
        outbox->boxes[i] = NULL;
    }
}

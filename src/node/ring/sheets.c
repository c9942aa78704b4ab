/*
 * sheets.c - what a peer sends of its sums, packed by all of its threads.
 */
#include "node/ring/sheets.h"

#include "base/check.h"
#include "core/key.h"
#include "wire/codec.h"

void sheets_begin(struct sheets *sheets, const struct pool *pool)
{
    const uint32_t threads = pool != NULL ? pool->threads : 1;

    CHECK(sheets->count == 0);
    sheets->most = threads == 1               ? 1
                   : threads < SHEETS_MAX / 2 ? 2 * threads
                                              : SHEETS_MAX;
}

/* What nobody holds any more, or new; NULL if out of memory. */
static struct blob *take_blob(struct sheets *sheets, size_t bound)
{
    struct blob **found = NULL;

    for (uint32_t i = 0; i < SHEETS_MAX; i++) {
        struct blob **const at = &sheets->shelf[i];

        if (*at != NULL && (*at)->holders > 1)
            continue;
        if (*at != NULL && (*at)->capacity >= bound)
            return blob_hold(*at);
        found = at;
    }
    if (found == NULL)
        return blob_new(bound); /* Links hold all that are kept. */
    blob_drop(*found);
    *found = blob_new(bound);
    return *found != NULL ? blob_hold(*found) : NULL;
}

/* Only totals are. */
static bool are_alike(const struct msg_slice *a, const struct msg_slice *b)
{
    return a->total && b->total && a->sum == b->sum && a->at == b->at &&
           a->count == b->count && a->dims == b->dims && a->flags == b->flags &&
           a->first == b->first && a->end == b->end && a->loss == b->loss &&
           key_equal(&a->key, &b->key);
}

bool sheets_add(struct sheets *sheets, const struct msg *msg, uint32_t *which)
{
    CHECK(msg->kind == MSG_SLICE && sheets->most > 0);
    if (sheets->count == 0 ||
        !are_alike(&sheets->list[sheets->count - 1].msg->slice, &msg->slice)) {
        if (sheets->count == sheets->most)
            return false;
        sheets->list[sheets->count++] = (struct sheet){
            .msg = msg, .blob = take_blob(sheets, codec_bound(msg))};
    }
    *which = sheets->count - 1;
    return true;
}

static void encode(void *context, uint32_t thread, uint32_t item)
{
    struct sheet *const sheet = &((struct sheet *)context)[item];

    (void)thread;
    if (sheet->blob != NULL)
        sheet->size = codec_encode(sheet->msg, sheet->blob->bytes);
}

void sheets_encode(struct sheets *sheets, struct pool *pool)
{
    struct pool *const hands =
        pool != NULL && sheets->count > 1 ? pool : pool_serial();

    hands->run(hands, encode, sheets->list, sheets->count);
}

void sheets_end(struct sheets *sheets)
{
    for (uint32_t i = 0; i < sheets->count; i++)
        blob_drop(sheets->list[i].blob);
    sheets->count = 0;
}

void sheets_close(struct sheets *sheets)
{
    sheets_end(sheets);
    for (uint32_t i = 0; i < SHEETS_MAX; i++)
        blob_drop(sheets->shelf[i]);
    *sheets = (struct sheets){.count = 0};
}

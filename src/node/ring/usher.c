/*
 * usher.c - whose rows are of this ring, and what their owner is told.
 */
#include "node/ring/usher.h"

#include <stdio.h>

#include "base/mem.h"
#include "core/link/greeting.h"
#include "node/arithmetic.h"
#include "os/net/token.h"
#include "wire/roll_codec.h"

static bool say(struct link *link, const struct roll_msg *msg)
{
    uint8_t *bytes = mem_new(roll_codec_bound(msg), 1);

    if (bytes == NULL)
        return false;
    link_send(link, PLANE_CONTROL, bytes, roll_codec_encode(msg, bytes));
    mem_free(bytes);
    return true;
}

static const char *objection(const struct parts *parts, const struct link *link,
                             const struct roll_msg *msg)
{
    const struct digest arithmetic = arithmetic_digest();
    const char *no;

    if (parts == NULL)
        return "this is a ring whose peers have all rows; a ring of owners is "
               "started with --owners, on each machine";
    if (msg->kind != ROLL_PEER)
        return "this is a ring of owners, who all train; come with `muster "
               "train --topology ring --owners N --data-private FILE --peers "
               "ADDRESS`";
    if (!link_may_be(link, TOKEN_CLUSTER))
        return "a peer of a ring needs the cluster's token, not a worker's own";
    no = greeting_objection(msg->offer.version, &msg->offer.arithmetic,
                            &arithmetic);
    if (no != NULL)
        return no;
    if (parts_find(parts, &msg->offer.part) == parts->count)
        return "its rows are none of this ring's: they are others than it "
               "began with, or are read in another way";
    return NULL;
}

/* Whoever has rows of this ring is told what all its owners know. */
static void tell(const struct parts *parts, struct link *link,
                 const struct roll_offer *offer)
{
    const struct roll_msg schema = {
        .kind = ROLL_SCHEMA,
        .schema = parts_schema(parts, parts_find(parts, &offer->part), true)};
    struct roll_msg all = {.kind = ROLL_PARTS};
    uint8_t *bytes = NULL;
    size_t size = 0;

    if (parts_encode(parts, &bytes, &size) != ERR_OK)
        return; /* It asks again. */
    all.parts = (struct roll_parts){.size = (uint32_t)size, .bytes = bytes};
    if (say(link, &schema))
        (void)say(link, &all);
    mem_free(bytes);
}

const char *usher_answer(const struct parts *parts, struct link *link,
                         const uint8_t *data, size_t size)
{
    struct roll_msg msg;
    struct roll_msg no = {.kind = ROLL_NO};
    const char *why = roll_codec_decode(data, size, &msg) == ERR_OK
                          ? objection(parts, link, &msg)
                          : "it sent what is no message";

    if (why == NULL) {
        tell(parts, link, &msg.offer);
        return NULL;
    }
    (void)snprintf(no.no.reason, sizeof no.no.reason, "%s", why);
    (void)say(link, &no);
    return why;
}

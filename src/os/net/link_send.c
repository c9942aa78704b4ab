/*
 * link_send.c - what a link is to send: at once, or with what others are.
 */
#include "base/check.h"
#include "os/net/link_parts.h"

#define CORKED_MAX 64u /* Connections that are uncorked at once. */

void link_send(struct link *link, enum plane plane, const void *data,
               size_t size)
{
    CHECK(link->up);
    if (link->closing || link->silent || link->conn[plane] == NULL)
        return;
    if (link->hub->corked && plane == PLANE_BULK)
        conn_cork(link->conn[plane]);
    conn_send(link->conn[plane], data, size);
}

void link_send_with(struct link *link, enum plane plane, const void *head,
                    size_t head_size, struct blob *tail, size_t size)
{
    CHECK(link->up);
    CHECK(size <= tail->capacity);
    if (link->closing || link->silent || link->conn[plane] == NULL)
        return;
    if (link->hub->corked && plane == PLANE_BULK)
        conn_cork(link->conn[plane]);
    conn_send_with(link->conn[plane], head, head_size, tail, size);
}

void link_hub_cork(struct link_hub *hub)
{
    CHECK(!hub->corked);
    hub->corked = true;
}

static void try_one(void *context, uint32_t thread, uint32_t item)
{
    struct conn *const *const corked = context;

    (void)thread;
    conn_try(corked[item]);
}

/* Some of those that are corked; 0: none are left. */
static uint32_t find_corked(const struct link_hub *hub,
                            struct conn *corked[CORKED_MAX])
{
    uint32_t count = 0;

    for (const struct link *link = hub->links;
         link != NULL && count < CORKED_MAX; link = link->next)
        if (link->conn[PLANE_BULK] != NULL && link->conn[PLANE_BULK]->corked)
            corked[count++] = link->conn[PLANE_BULK];
    return count;
}

void link_hub_uncork(struct link_hub *hub, struct pool *pool)
{
    struct conn *corked[CORKED_MAX];
    struct pool *hands;
    uint32_t count;

    CHECK(hub->corked);
    hub->corked = false;
    while ((count = find_corked(hub, corked)) > 0) {
        hands = pool != NULL && count > 1 ? pool : pool_serial();
        hands->run(hands, try_one, corked, count);
        for (uint32_t i = 0; i < count; i++)
            conn_uncork(corked[i]);
    }
}

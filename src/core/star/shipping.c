/*
 * shipping.c - who is sent which data, and who fetches it by itself.
 *
 * A worker that has kept chunks, on disk or over a lost connection, or that
 * can read them where all can, says so in HAVE before it is sent any.  What is
 * `near` to it is then named (FETCH) instead of shipped (DATA).  It checks what
 * it reads against the digests of CHUNKS and asks (NEED) for what is not as it
 * should be; HAVE or FETCH lost on the way cost time, never bits.
 *
 * What another worker has is named too, with that worker (peers.c).
 *
 * Coded data has none of this: blocks are always shipped, strip by strip.
 */
#include <string.h>

#include "base/bugs.h"
#include "base/check.h"
#include "core/star/coordinator_parts.h"

enum err shipping_room(struct member *member, const struct job *job)
{
    return job->keyed ? chunkset_init(&member->near, job_shards(job)) : ERR_OK;
}

bool shipping_counting(const struct coordinator *c)
{
    for (uint32_t link = 0; link < c->members_max; link++) {
        const struct member *member = &c->members[link];

        if (member_here(c, link) &&
            (member->counting || member->peer.invited) &&
            c->now < member->counting_until)
            return true;
    }
    return false;
}

void shipping_describe(struct coordinator *c, uint32_t link,
                       struct actions *actions)
{
    const struct coordinator_options *options = &c->options;
    struct msg_chunks *msg;

    if (!options->job.keyed)
        return;
    CHECK(options->chunk_digests != NULL);
    msg = &coordinator_send(c, actions, link, MSG_CHUNKS)->chunks;
    msg->place = options->place;
    msg->place_size = options->place == NULL ? 0 : strlen(options->place);
    msg->count = job_shards(&options->job);
    msg->digests = options->chunk_digests->bytes;
}

/* The link that leads to it. */
static uint32_t way_to(const struct member *member, uint32_t link)
{
    return member->via > 0 ? member->via - 1 : link;
}

/* The last action, if it is of that kind, to that worker, of that peer, and
 * ends there. */
static uint32_t *last_end(const struct coordinator *c, struct actions *actions,
                          enum action_kind kind, uint32_t link, uint32_t peer,
                          uint32_t first)
{
    const struct member *member = &c->members[link];
    struct action *last;

    if (actions->count == 0)
        return NULL;
    last = &actions->list[actions->count - 1];
    if (last->kind != kind || last->link != way_to(member, link))
        return NULL;
    if (kind == ACTION_SHIP)
        return last->leaf == member->leaf && last->end == first ? &last->end
                                                                : NULL;
    return last->msg.kind == MSG_FETCH && last->msg.leaf == member->leaf &&
                   last->msg.fetch.peer == peer && last->msg.fetch.end == first
               ? &last->msg.fetch.end
               : NULL;
}

static void ship(const struct coordinator *c, uint32_t link, uint32_t first,
                 uint32_t end, struct actions *actions)
{
    uint32_t *last = last_end(c, actions, ACTION_SHIP, link, 0, first);
    struct action *action;

    if (last != NULL) {
        *last = end; /* Carry on with the last shipment. */
        return;
    }
    action = actions_add(actions, ACTION_SHIP);
    action->link = way_to(&c->members[link], link);
    action->leaf = c->members[link].leaf;
    action->first = first;
    action->end = end;
}

/* `source` is LINK_NONE if they are near. */
static void let_fetch(const struct coordinator *c, uint32_t link,
                      uint32_t source, uint32_t first, uint32_t end,
                      struct actions *actions)
{
    const struct peering *peer =
        source == LINK_NONE ? NULL : &c->members[source].peer;
    const uint32_t id = peer == NULL ? 0 : peer->id;
    uint32_t *last = last_end(c, actions, ACTION_SEND, link, id, first);
    struct msg_fetch *msg;

    if (last != NULL) {
        *last = end;
        return;
    }
    msg = &coordinator_send(c, actions, link, MSG_FETCH)->fetch;
    msg->first = first;
    msg->end = end;
    msg->peer = id;
    msg->source = source;
    msg->port = peer == NULL ? 0 : peer->port;
}

/* What is not near, or the first part of it; returns where that ends. */
static uint32_t bring(struct coordinator *c, uint32_t link, uint32_t first,
                      uint32_t end, bool direct, struct actions *actions)
{
    const uint32_t source =
        direct ? LINK_NONE : peers_source(c, link, first, &end);

    if (source == LINK_NONE) {
        ship(c, link, first, end, actions);
        c->stats.shipped += end - first;
    } else {
        let_fetch(c, link, source, first, end, actions);
        c->stats.peered += end - first;
    }
    return end;
}

static void send(struct coordinator *c, uint32_t link, uint32_t first,
                 uint32_t end, bool direct, struct actions *actions)
{
    struct member *member = &c->members[link];
    const struct chunkset *near = &member->near;

    if (member->counting || chunkset_has_range(&member->held, first, end))
        return;
    CHECK(!homes_on(c)); /* HOME-1. */
    first = chunkset_next_gap(&member->held, first);
    while (end > first && chunkset_has(&member->held, end - 1))
        end--;
    chunkset_add_range(&member->held, first, end);
    peers_note(c, link, first, end);
    while (first < end) {
        const bool is_near = near->members > 0 && chunkset_has(near, first);
        uint32_t stop = end;

        if (is_near)
            stop = chunkset_next_gap(near, first);
        else if (near->members > 0)
            stop = chunkset_next(near, first);
        stop = stop < end ? stop : end;
        if (is_near)
            let_fetch(c, link, LINK_NONE, first, stop, actions);
        else
            stop = bring(c, link, first, stop, direct, actions);
        if (is_near)
            c->stats.fetched += stop - first;
        first = stop;
    }
}

void shipping_send(struct coordinator *c, uint32_t link, uint32_t first,
                   uint32_t end, struct actions *actions)
{
    send(c, link, first, end, false, actions);
}

void shipping_direct(struct coordinator *c, uint32_t link, uint32_t first,
                     uint32_t end, struct actions *actions)
{
    send(c, link, first, end, !BUG(BUG_PEER_AGAIN), actions);
}

bool shipping_again(struct coordinator *c, uint32_t link,
                    struct actions *actions)
{
    struct member *member = &c->members[link];

    if (c->options.place == NULL || member->near.members > 0)
        return false;
    shipping_describe(c, link, actions);
    member->counting = true;
    return true;
}

static bool bit(const uint8_t *bits, uint32_t chunk)
{
    return (bits[chunk / 8] >> chunk % 8 & 1) != 0;
}

void shipping_have(struct coordinator *c, uint32_t link,
                   const struct msg_have *msg, struct actions *actions)
{
    struct member *member = &c->members[link];
    const bool waited = member->counting;

    if (msg->count != job_shards(&c->options.job) || c->options.job.products ||
        homes_on(c))
        return;
    if (c->options.job.keyed)
        chunkset_clear(&member->near);
    /* Nothing was sent meanwhile, and what was on its way may be lost. */
    if (waited)
        chunkset_clear(&member->held);
    for (uint32_t chunk = 0; chunk < msg->count; chunk++) {
        if (bit(msg->held, chunk))
            chunkset_add(&member->held, chunk);
        if (c->options.job.keyed && bit(msg->near, chunk))
            chunkset_add(&member->near, chunk);
    }
    member->counting = false;
    peers_note(c, link, 0, msg->count);
    if (waited && c->phase == COORDINATOR_GATHERING)
        view_gather(c, actions);
    else if (waited)
        work_ship(c, link, actions);
}

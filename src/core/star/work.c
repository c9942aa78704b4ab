/*
 * work.c - who was given which piece, and the messages that say so.
 *
 * Each piece has a short list of assignees.  What a worker was given may be
 * lost on the way: it is then sent again, whole.
 */
#include "base/bugs.h"
#include "base/check.h"
#include "core/product.h"
#include "core/star/coordinator_parts.h"

/* --- assignees ----------------------------------------------------------- */

bool work_has(const struct piece_state *piece, uint32_t link)
{
    for (uint32_t i = 0; i < piece->assignee_count; i++) {
        if (piece->assignee[i] == link)
            return true;
    }
    return false;
}

bool work_give(struct coordinator *c, uint32_t id, uint32_t link)
{
    struct piece_state *piece = &c->pieces[id];

    if (work_has(piece, link) || piece->assignee_count == c->assignees_max)
        return false;
    piece->assignee[piece->assignee_count++] = link;
    c->members[link].outstanding++;
    slow_owes(&c->members[link].slow, true, c->now);
    c->stats.pieces_assigned++;
    return true;
}

bool work_take(struct coordinator *c, uint32_t id, uint32_t link)
{
    struct piece_state *piece = &c->pieces[id];

    for (uint32_t i = 0; i < piece->assignee_count; i++) {
        if (piece->assignee[i] != link)
            continue;
        piece->assignee[i] = piece->assignee[--piece->assignee_count];
        CHECK(c->members[link].outstanding > 0);
        c->members[link].outstanding--;
        slow_owes(&c->members[link].slow, c->members[link].outstanding > 0,
                  c->now);
        return true;
    }
    return false;
}

void work_forget(struct coordinator *c, uint32_t link)
{
    for (uint32_t id = 0; c->pieces != NULL && id < c->segments.max; id++)
        (void)work_take(c, id, link);
    c->members[link].outstanding = 0;
    slow_owes(&c->members[link].slow, false, c->now);
    c->members[link].in_round = false;
}

/* --- sending work -------------------------------------------------------- */

static struct item *take_items(struct coordinator *c, uint32_t count)
{
    struct item *items = c->items.list + c->items.used;

    CHECK(c->items.used + count <= c->items.capacity);
    c->items.used += count;
    return items;
}

static struct item item_of(const struct coordinator *c, uint32_t id,
                           const struct member *member)
{
    const struct piece *piece;
    struct item item;

    if (product_on(c))
        return segments_item(c, id);
    piece = &c->code.pieces[id];
    item = (struct item){
        .id = id, .first = piece->first, .end = piece->end, .coefficient = 1};

    if (c->code.carrier == CARRIER_F64 && code_plain(&c->code, id))
        item.coefficient = 0;
    else if (c->code.carrier == CARRIER_F64 && member->state == MEMBER_ACTIVE)
        item.coefficient = code_coefficient(&c->code, member->slot, id);
    return item;
}

/* What these chunks of a step are computed from. */
static void ship_chunks(struct coordinator *c, uint32_t link, uint32_t first,
                        uint32_t end, struct actions *actions)
{
    const struct shards needs = job_needs(&c->options.job, first, end);

    shipping_send(c, link, needs.first, needs.end, actions);
}

static void ship_items(struct coordinator *c, uint32_t link,
                       const struct item *items, uint32_t count,
                       struct actions *actions)
{
    for (uint32_t i = 0; i < count; i++)
        ship_chunks(c, link, items[i].first, items[i].end, actions);
}

/* Strips of a block, those of the first product first. */
static void ship_block(struct coordinator *c, uint32_t link,
                       struct actions *actions)
{
    const struct block_shape shape = product_blocks(c);

    for (uint32_t i = 0; i < shape.copies; i++) {
        const struct block_strips strips =
            block_strips_all(&shape, i == 0 ? EVALUATE_SCORES : EVALUATE_BACK);

        shipping_send(c, link, strips.first, strips.end, actions);
    }
}

/* Input coding: everybody multiplies numbers of its own. */
static void put_own(const struct coordinator *c, uint32_t slot,
                    struct msg_round *msg)
{
    const struct block_shape shape = product_blocks(c);

    msg->dims = block_in(&shape, EVALUATE_COMBINE);
    msg->weights = combine_vector(c, slot);
}

static void put_weights(const struct coordinator *c, struct msg_round *msg)
{
    msg->kind = c->what.kind;
    msg->soft = c->what.soft;
    if (sizes_on(c))
        msg->size =
            BUG(BUG_SIZE_OLD) ? c->options.code.size : sizes_at(c, c->key.step);
    msg->dims = round_vector_dims(c);
    msg->narrow = c->options.narrow && msg->kind == EVALUATE_GRADIENT;
    msg->weights = c->what.w;
    if (msg->weights == trainer_weights(&c->trainer))
        msg->mirror = trainer_mirrored(&c->trainer, &msg->mirrored);
    msg->direction = c->what.v;
    msg->exponent = c->trainer.exponent;
}

/* Do all rounds of a view open alike, for all behind one relay?  What is
 * compared is drawn anew in each, and so are delays. */
static bool opens_alike(const struct coordinator *c)
{
    return c->ballots == NULL && c->options.delay.count == 0 && !stale_on(c) &&
           !product_on(c);
}

/* Does the round need every answer that it opens with, and move no work
 * before? */
static bool needs_all(const struct coordinator *c)
{
    return c->code.spec.stop == STOP_ALL && c->code.spec.stragglers == 0 &&
           c->code.spec.schedule != SCHED_STEAL && c->ballots == NULL;
}

/* Weights and scale to a relay, once for all behind it.  If a round of this
 * view `opens`, and the last one did so with a TASK for each leaf, that is all
 * there is to say. */
static void send_cast(struct coordinator *c, uint32_t relay, bool opens,
                      struct actions *actions)
{
    struct member *member = &c->members[relay];
    struct msg_round *msg;

    if (member->cast && key_equal(&member->cast_key, &c->key))
        return;
    member->repeats = opens && opens_alike(c) && member->repeat_view == c->view;
    member->repeat_view = opens && opens_alike(c) ? c->view : 0;
    msg = &coordinator_send(c, actions, relay, MSG_ROUND)->round;
    msg->key = c->key;
    msg->coded = c->code.carrier == CARRIER_F64;
    msg->repeat = member->repeats;
    msg->patient = needs_all(c);
    msg->single = c->ballots != NULL; /* To be compared one by one. */
    msg->assignment = member->repeats ? ++c->assignments : 0;
    put_weights(c, msg);
    member->cast = true;
    member->cast_key = c->key;
    member->called_off = false;
    member->assignment = msg->assignment;
}

/* It was sent the round, here or by its relay. */
static void note_round(struct coordinator *c, struct member *member,
                       uint64_t assignment)
{
    member->assignment = assignment;
    member->key = c->key;
    member->in_round = true;
    member->assigned_at = c->now;
    member->idle_beats = 0;
}

/* Which block the worker is to hold. */
static void put_block(struct coordinator *c, uint32_t link,
                      struct msg_round *msg)
{
    const uint32_t slot = c->members[link].slot;
    struct item *terms = take_items(c, c->code.parts);

    CHECK(c->members[link].state == MEMBER_ACTIVE);
    msg->parts = c->code.parts;
    msg->terms = terms;
    msg->term_count = product_block_items(c, slot, terms);
    product_switch(c, link, product_block(msg->parts, terms, msg->term_count));
    if (msg->kind == EVALUATE_COMBINE)
        put_own(c, slot, msg);
}

/* The whole round to one worker: weights, scale and pieces.  Data it lacks
 * comes after: chunks so that it begins with the first that arrives, strips
 * because only the round names their block. */
static void send_round(struct coordinator *c, uint32_t link,
                       const struct item *items, uint32_t count,
                       struct actions *actions)
{
    struct member *member = &c->members[link];
    const struct delay_draw delay =
        member->state == MEMBER_ACTIVE
            ? delay_draw(&c->options.delay, c->key.step, member->slot,
                         member->name)
            : (struct delay_draw){0};
    struct msg_round *msg;

    if (member->via > 0)
        send_cast(c, member->via - 1, false, actions);
    msg = &coordinator_send(c, actions, link,
                            member->via > 0 ? MSG_TASK : MSG_ROUND)
               ->round;
    msg->key = c->key;
    msg->assignment = ++c->assignments;
    msg->coded = c->code.carrier == CARRIER_F64 && !product_on(c);
    msg->delay_s = delay.add_s;
    msg->delay_factor = delay.factor;
    msg->delay_share_s = delay.share_s;
    msg->count = count;
    msg->items = items;
    if (member->via == 0)
        put_weights(c, msg);
    note_round(c, member, c->assignments);
    if (product_on(c)) {
        put_block(c, link, msg);
        ship_block(c, link, actions);
    } else {
        ship_items(c, link, items, count, actions);
    }
}

/* What a leaf was given is not what its relay could repeat. */
static void spoil_repeat(struct coordinator *c, const struct member *member)
{
    if (member->via > 0)
        c->members[member->via - 1].repeat_view = 0;
}

/* As a round opens: does its relay repeat what the leaf began the last one
 * with? */
static bool repeated(struct coordinator *c, struct member *member,
                     struct actions *actions)
{
    const struct member *relay;

    if (member->via == 0)
        return false;
    relay = &c->members[member->via - 1];
    send_cast(c, member->via - 1, true, actions);
    if (relay->repeats)
        note_round(c, member, relay->assignment);
    return relay->repeats;
}

/* The whole round, as it opens.  What a relay is to repeat it must be able to
 * keep, and its leaf to begin without data. */
static void open_round(struct coordinator *c, uint32_t link,
                       const uint32_t *ids, uint32_t count,
                       struct actions *actions)
{
    const struct member *member = &c->members[link];
    const uint64_t sent = c->stats.shipped + c->stats.fetched;
    struct item *items = take_items(c, count);

    for (uint32_t i = 0; i < count; i++)
        items[i] = item_of(c, ids[i], member);
    send_round(c, link, items, count, actions);
    if (count > REPEAT_MAX || c->stats.shipped + c->stats.fetched != sent)
        spoil_repeat(c, member);
}

void work_open(struct coordinator *c, uint32_t link, const uint32_t *ids,
               uint32_t count, struct actions *actions)
{
    for (uint32_t i = 0; i < count; i++)
        CHECK(work_give(c, ids[i], link));
    if (!repeated(c, &c->members[link], actions))
        open_round(c, link, ids, count, actions);
}

void work_send(struct coordinator *c, uint32_t link, const uint32_t *ids,
               uint32_t count, struct actions *actions)
{
    struct member *member = &c->members[link];
    struct item *items = take_items(c, count);
    struct msg_work *msg;

    for (uint32_t i = 0; i < count; i++)
        items[i] = item_of(c, ids[i], member);
    if (!member->in_round) {
        send_round(c, link, items, count, actions);
        spoil_repeat(c, member);
        return;
    }
    msg = &coordinator_send(c, actions, link, MSG_WORK)->work;
    msg->key = c->key;
    msg->assignment = ++c->assignments;
    member->assignment = msg->assignment;
    msg->count = count;
    msg->items = items;
    member->assigned_at = c->now;
    member->idle_beats = 0;
    if (!product_on(c))
        ship_items(c, link, items, count, actions);
}

void work_take_back(struct coordinator *c, uint32_t link, const uint32_t *ids,
                    uint32_t count, struct actions *actions)
{
    struct msg_work *msg = &coordinator_send(c, actions, link, MSG_DROP)->drop;
    struct item *items = take_items(c, count);

    for (uint32_t i = 0; i < count; i++) {
        items[i] = item_of(c, ids[i], &c->members[link]);
        (void)work_take(c, ids[i], link);
    }
    msg->key = c->key;
    msg->assignment = c->members[link].assignment;
    msg->count = count;
    msg->items = items;
}

/* --- pieces that several may answer -------------------------------------- */

static bool same_relay(const struct coordinator *c, uint32_t a, uint32_t b)
{
    return c->members[a].via == c->members[b].via && c->members[a].via > 0;
}

/* Has one before assignee `i` of the piece the same relay? */
static bool relay_told(const struct coordinator *c,
                       const struct piece_state *piece, uint32_t i)
{
    for (uint32_t k = 0; k < i; k++) {
        if (same_relay(c, piece->assignee[k], piece->assignee[i]))
            return true;
    }
    return false;
}

void work_alone(struct coordinator *c, uint32_t id, struct actions *actions)
{
    const struct piece_state *piece = &c->pieces[id];
    struct item *item = NULL;

    for (uint32_t i = 0; i < piece->assignee_count; i++) {
        const uint32_t via = c->members[piece->assignee[i]].via;
        struct msg_work *msg;

        if (via == 0 || relay_told(c, piece, i))
            continue;
        if (item == NULL) {
            item = take_items(c, 1);
            *item = item_of(c, id, &c->members[via - 1]);
        }
        msg = &coordinator_send(c, actions, via - 1, MSG_ALONE)->alone;
        msg->key = c->key;
        msg->count = 1;
        msg->items = item;
    }
}

/* Given from the start to workers with different ways here? */
static bool contested(const struct coordinator *c, uint32_t id)
{
    const struct piece_state *piece = &c->pieces[id];

    for (uint32_t i = 1; i < piece->assignee_count; i++) {
        if (!same_relay(c, piece->assignee[0], piece->assignee[i]))
            return true;
    }
    return false;
}

void work_contested(struct coordinator *c, struct actions *actions)
{
    for (uint32_t id = 0; id < c->code.plain_count; id++) {
        if (contested(c, id))
            work_alone(c, id, actions);
    }
}

/* --- again, and data ----------------------------------------------------- */

void work_resend(struct coordinator *c, uint32_t link, struct actions *actions)
{
    struct item *items = c->items.list + c->items.used;
    uint32_t count = 0;

    CHECK(c->items.used + c->piece_count <= c->items.capacity);
    for (uint32_t id = 0; id < c->piece_count; id++) {
        if (work_has(&c->pieces[id], link))
            items[count++] = item_of(c, id, &c->members[link]);
    }
    c->items.used += count;
    if (count == 0)
        return;
    if (c->members[link].via > 0) /* The weights, too, may have been lost. */
        c->members[c->members[link].via - 1].cast = false;
    c->stats.resent++;
    coordinator_trace(c, actions, TRACE_RESENT, link)->a = count;
    send_round(c, link, items, count, actions);
    spoil_repeat(c, &c->members[link]);
}

void work_need(struct coordinator *c, uint32_t link, const struct msg_need *msg,
               struct actions *actions)
{
    if (msg->first >= msg->end || msg->end > job_shards(&c->options.job) ||
        homes_on(c) ||
        (c->backlog && msg->peer == 0)) /* On a slow road asking twice makes it
                                           slower. */
        return;
    peers_failed(c, link, msg, actions);
    for (uint32_t chunk = msg->first; chunk < msg->end; chunk++)
        chunkset_remove(&c->members[link].held, chunk);
    c->members[link].counting = false; /* Its HAVE was lost. */
    if (product_on(c) && !c->code_built)
        return; /* Nobody has a block yet: its round will bring it. */
    if (shipping_again(c, link, actions))
        return;
    shipping_direct(c, link, msg->first, msg->end, actions);
}

void work_reserve(struct coordinator *c, uint32_t slot, struct actions *actions)
{
    const uint32_t link = c->slot_link[slot];
    uint32_t count;

    if (link == LINK_NONE || product_on(c) ||
        chunkset_full(&c->members[link].held))
        return;
    count = code_held(&c->code, slot, c->ids, c->code.piece_count);
    for (uint32_t i = 0; i < count; i++)
        ship_chunks(c, link, c->code.pieces[c->ids[i]].first,
                    c->code.pieces[c->ids[i]].end, actions);
}

void work_ship(struct coordinator *c, uint32_t link, struct actions *actions)
{
    const struct member *member = &c->members[link];

    if (c->phase != COORDINATOR_ROUND || product_on(c))
        return;
    for (uint32_t id = 0; id < c->piece_count; id++) {
        if (work_has(&c->pieces[id], link))
            ship_chunks(c, link, c->code.pieces[id].first,
                        c->code.pieces[id].end, actions);
    }
    if (member->state == MEMBER_ACTIVE)
        work_reserve(c, member->slot, actions);
}

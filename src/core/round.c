/*
 * round.c - who computes what in the step at hand.
 *
 * The code's pieces are a partition of all chunks.  Each piece has a short
 * list of assignees; it is `in` once the first of them has answered.  The
 * initial work comes from the code; after that pieces move for three reasons:
 *
 *   steal   a worker that runs out takes the last piece of the group member
 *           that is furthest behind (schedule `steal`)
 *   hedge   nobody healthy works on a piece any more: the least busy healthy
 *           worker gets it too, with its data if need be
 *   resend  an assignment or an answer was lost on the way
 *
 * A piece may so be computed twice; the second answer is dropped whole
 * (TALLY-1), which is why moving work needs no agreement with the victim.
 */
#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/quick.h"
#include "core/bugs.h"
#include "core/coordinator_parts.h"
#include "core/product.h"
#include "math/vec.h"

#define STEAL_BACKLOG 1u /* A worker with no more than this takes more. */
#define STEAL_SPARE   1u /* Computing a piece beyond those it waits for. */
#define REFUSALS_MAX  3u

/* --- assignees ----------------------------------------------------------- */

static bool assigned(const struct piece_state *piece, uint32_t link)
{
    for (uint32_t i = 0; i < piece->assignee_count; i++) {
        if (piece->assignee[i] == link)
            return true;
    }
    return false;
}

static bool assign(struct coordinator *c, uint32_t id, uint32_t link)
{
    struct piece_state *piece = &c->pieces[id];

    if (assigned(piece, link) || piece->assignee_count == c->assignees_max)
        return false;
    piece->assignee[piece->assignee_count++] = link;
    c->members[link].outstanding++;
    slow_owes(&c->members[link].slow, true, c->now);
    c->stats.pieces_assigned++;
    return true;
}

static void unassign(struct coordinator *c, uint32_t id, uint32_t link)
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
        return;
    }
}

void round_unassign(struct coordinator *c, uint32_t link)
{
    for (uint32_t id = 0; c->pieces != NULL && id < c->code.piece_count; id++)
        unassign(c, id, link);
    c->members[link].outstanding = 0;
    slow_owes(&c->members[link].slow, false, c->now);
    c->members[link].in_round = false;
}

/* --- sending work -------------------------------------------------------- */

static struct item *take_items(struct coordinator *c, uint32_t count)
{
    struct item *items = c->items + c->items_used;

    CHECK(c->items_used + count <= c->items_capacity);
    c->items_used += count;
    return items;
}

static struct item item_of(const struct coordinator *c, uint32_t id,
                           const struct member *member)
{
    const struct piece *piece = &c->code.pieces[id];
    struct item item = {
        .id = id, .first = piece->first, .end = piece->end, .coefficient = 1};

    if (c->code.carrier == CARRIER_F64 && code_plain(&c->code, id))
        item.coefficient = 0;
    else if (c->code.carrier == CARRIER_F64 && member->state == MEMBER_ACTIVE)
        item.coefficient = code_coefficient(&c->code, member->slot, id);
    return item;
}

/* Data the worker lacks for these chunks. */
static void ship(struct coordinator *c, uint32_t link, uint32_t first,
                 uint32_t end, struct actions *actions)
{
    shipping_send(c, link, first, end, actions);
}

static void ship_items(struct coordinator *c, uint32_t link,
                       const struct item *items, uint32_t count,
                       struct actions *actions)
{
    for (uint32_t i = 0; i < count; i++)
        ship(c, link, items[i].first, items[i].end, actions);
}

/* Strips of a block, those of the first product first. */
static void ship_block(struct coordinator *c, uint32_t link,
                       struct actions *actions)
{
    const struct block_shape shape =
        product_shape(&c->options.job, c->code.parts);

    for (int i = 0; i < 2; i++) {
        const enum evaluation_kind kind =
            i == 0 ? EVALUATE_SCORES : EVALUATE_BACK;

        ship(c, link, block_strip_first(&shape, kind),
             block_strip_end(&shape, kind), actions);
    }
}

/* Numbers of the vector that is sent out. */
static uint32_t vector_dims(const struct coordinator *c)
{
    return c->what.kind == EVALUATE_BACK ? block_pad(c->options.job.rows)
                                         : c->options.job.dims;
}

static void put_weights(const struct coordinator *c, struct msg_round *msg)
{
    msg->kind = c->what.kind;
    msg->parts = product_on(c) ? c->code.parts : 0;
    msg->dims = vector_dims(c);
    msg->weights = c->what.w;
    msg->direction = c->what.v;
    msg->exponent = c->exponent;
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

    if (product_on(c))
        product_switch(c, link, product_block(c->code.parts, items, count));
    if (member->via > 0)
        send_cast(c, member->via - 1, false, actions);
    msg = &coordinator_send(c, actions, link,
                            member->via > 0 ? MSG_TASK : MSG_ROUND)
               ->round;
    msg->key = c->key;
    msg->assignment = ++c->assignments;
    msg->coded = c->code.carrier == CARRIER_F64;
    msg->delay_s = delay.add_s;
    msg->delay_factor = delay.factor;
    msg->count = count;
    msg->items = items;
    if (member->via == 0)
        put_weights(c, msg);
    note_round(c, member, c->assignments);
    if (product_on(c))
        ship_block(c, link, actions);
    else
        ship_items(c, link, items, count, actions);
}

/* The same as a round opens.  What a relay is to repeat it must be able to
 * keep, and its leaf to begin without data. */
static void open_round(struct coordinator *c, uint32_t link,
                       const struct item *items, uint32_t count,
                       struct actions *actions)
{
    struct member *member = &c->members[link];
    struct member *relay =
        member->via > 0 ? &c->members[member->via - 1] : NULL;
    const uint64_t sent = c->stats.shipped + c->stats.fetched;

    if (relay != NULL) {
        send_cast(c, member->via - 1, true, actions);
        if (relay->repeats) {
            note_round(c, member, relay->assignment);
            return;
        }
    }
    send_round(c, link, items, count, actions);
    if (relay != NULL &&
        (count > REPEAT_MAX || c->stats.shipped + c->stats.fetched != sent))
        relay->repeat_view = 0;
}

/* What a leaf has been given since is not what the round opened with. */
static void spoil_repeat(struct coordinator *c, const struct member *member)
{
    if (member->via > 0)
        c->members[member->via - 1].repeat_view = 0;
}

/* One more piece for a worker, whether or not it is in the round yet. */
static void send_piece(struct coordinator *c, uint32_t link, uint32_t id,
                       struct actions *actions)
{
    struct member *member = &c->members[link];
    struct item *item = take_items(c, 1);
    struct msg_work *msg;

    *item = item_of(c, id, member);
    if (!member->in_round) {
        send_round(c, link, item, 1, actions);
        spoil_repeat(c, member);
        return;
    }
    msg = &coordinator_send(c, actions, link, MSG_WORK)->work;
    msg->key = c->key;
    msg->assignment = ++c->assignments;
    member->assignment = msg->assignment;
    msg->count = 1;
    msg->items = item;
    member->assigned_at = c->now;
    member->idle_beats = 0;
    ship_items(c, link, item, 1, actions);
}

static void send_drop(struct coordinator *c, uint32_t link, uint32_t id,
                      struct actions *actions)
{
    struct msg_work *msg = &coordinator_send(c, actions, link, MSG_DROP)->drop;
    struct item *item = take_items(c, 1);

    *item = item_of(c, id, &c->members[link]);
    msg->key = c->key;
    msg->assignment = c->members[link].assignment;
    msg->count = 1;
    msg->items = item;
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

/* A piece that was moved may be answered by two: no relay must merge it with
 * others, or one piece counted before would void them all (TALLY-1). */
static void send_alone(struct coordinator *c, uint32_t id,
                       struct actions *actions)
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

static void send_contested(struct coordinator *c, struct actions *actions)
{
    for (uint32_t id = 0; id < c->code.plain_count; id++) {
        if (contested(c, id))
            send_alone(c, id, actions);
    }
}

/* --- opening ------------------------------------------------------------- */

static void slot_arrived(struct coordinator *c, uint32_t slot)
{
    if (c->slot_in[slot])
        return;
    c->slot_in[slot] = true;
    c->slots_in++;
}

static const struct group *group_of(const struct coordinator *c, uint32_t slot)
{
    for (uint32_t i = 0; i < c->code.group_count; i++) {
        const struct group *group = &c->code.groups[i];

        if (slot >= group->slot_first && slot < group->slot_end)
            return group;
    }
    return NULL;
}

/* The one of its group whose pieces it gives the second answer to. */
static uint32_t mirrored_slot(const struct coordinator *c, uint32_t slot)
{
    const struct group *group = group_of(c, slot);

    if (group == NULL || group->slot_end - group->slot_first < 2)
        return slot;
    return slot == group->slot_first ? group->slot_end - 1 : slot - 1;
}

/* Where pieces are computed once (steal), those that are compared go to a
 * second one of the group at once, after its own. */
static uint32_t add_mirrored(const struct coordinator *c, uint32_t slot,
                             uint32_t count)
{
    const uint32_t other = mirrored_slot(c, slot);
    const struct group *group = group_of(c, slot);

    if (c->ballots == NULL || c->code.spec.schedule != SCHED_STEAL ||
        other == slot)
        return count;
    for (uint32_t id = group->piece_first; id < group->piece_end; id++) {
        if (c->code.pieces[id].owner == other && verify_wanted(c, id) > 1)
            c->ids[count++] = id;
    }
    return count;
}

static void open_slot(struct coordinator *c, uint32_t slot,
                      struct actions *actions)
{
    const uint32_t link = c->slot_link[slot];
    const uint32_t count = add_mirrored(
        c, slot, code_work(&c->code, slot, c->ids, c->code.piece_count));
    struct item *items;

    c->slot_todo[slot] = c->code.carrier == CARRIER_TALLY ? count : 0;
    if (!c->code.busy[slot])
        slot_arrived(c, slot); /* More slots than chunks: nothing to do. */
    if (count == 0 || link == LINK_NONE || stale_busy(c, slot))
        return;
    items = take_items(c, count);
    for (uint32_t i = 0; i < count; i++) {
        CHECK(assign(c, c->ids[i], link));
        items[i] = item_of(c, c->ids[i], &c->members[link]);
    }
    open_round(c, link, items, count, actions);
}

/* Under `steal` a slot also holds what its group may ask it to take over; it
 * travels after the round so that nobody waits for it. */
static void ship_reserve(struct coordinator *c, uint32_t slot,
                         struct actions *actions)
{
    const uint32_t link = c->slot_link[slot];
    uint32_t count;

    if (link == LINK_NONE || product_on(c) ||
        chunkset_full(&c->members[link].held))
        return;
    count = code_held(&c->code, slot, c->ids, c->code.piece_count);
    for (uint32_t i = 0; i < count; i++)
        ship(c, link, c->code.pieces[c->ids[i]].first,
             c->code.pieces[c->ids[i]].end, actions);
}

/* Parts that are restored one by one are kept one by one. */
static uint32_t row_folds(const struct coordinator *c)
{
    return product_on(c) ? 0 : c->code.folds;
}

/* Folds are added to; single rows are overwritten. */
static void clear_rows(struct coordinator *c)
{
    memset(c->rows, 0,
           row_folds(c) * ((size_t)c->row_dims + 1) * sizeof *c->rows);
}

/* Who works on an older step still owes its answer. */
static void clear_assignees(struct coordinator *c)
{
    for (uint32_t id = 0; id < c->code.piece_count; id++)
        c->pieces[id].assignee_count = 0;
    for (uint32_t i = 0; i < c->alive; i++) {
        struct member *member = &c->members[c->present[i]];

        member->outstanding = 0;
        slow_owes(&member->slow, false, c->now);
    }
}

static void clear_round(struct coordinator *c)
{
    if (!stale_on(c))
        clear_assignees(c);
    for (uint32_t id = 0; id < c->code.piece_count; id++)
        c->pieces[id].in = false;
    memset(c->piece_in, 0, c->code.piece_count * sizeof *c->piece_in);
    memset(c->slot_in, 0, c->code.slots * sizeof *c->slot_in);
    tally_blank(&c->total);
    clear_rows(c);
    c->late = false;
    c->pieces_in = 0;
    c->slots_in = 0;
    c->refusals = 0;
    for (uint32_t i = 0; i < c->alive; i++) {
        struct member *member = &c->members[c->present[i]];

        member->in_round = false;
        member->answered = 0;
        member->answered_at = c->now;
        member->idle_beats = 0;
    }
}

static void new_key(struct coordinator *c)
{
    c->key.job = c->options.job.id;
    c->key.view = c->view;
    c->key.step = c->optim.step;
    c->key.round = product_round(c);
    c->key.scale =
        quick_u64(c->exponent, c->total.dims * sizeof *c->exponent, 0);
    c->key.weights = evaluation_name(&c->what, vector_dims(c));
}

static enum err choose_scale(struct coordinator *c)
{
    if (!c->options.follow)
        return c->options.scale(c->options.scale_context, &c->what,
                                c->exponent);
    if (!vec_finite(c->what.w, c->options.job.dims))
        return ERR_RANGE;
    follow_exponents(&c->follow, c->what.kind, c->exponent);
    return ERR_OK;
}

void round_again(struct coordinator *c, struct actions *actions)
{
    c->key.attempt++;
    c->stats.redone++;
    if (c->view_dirty)
        view_form(c, actions);
    else
        round_open(c, actions);
}

void round_open(struct coordinator *c, struct actions *actions)
{
    const struct ask ask = optim_next(&c->optim);
    uint32_t first;
    enum err err;

    CHECK(ask.kind == ASK_EVALUATE);
    c->what = ask.what;
    c->total.dims = evaluation_dims(c->what.kind, c->options.job.dims);
    c->arrived.dims = c->total.dims;
    c->row_dims = c->total.dims;
    CHECK(c->total.dims <= c->options.job.sum_dims);
    err = choose_scale(c);
    if (err != ERR_OK && optim_reject(&c->optim)) {
        commit_rejected(c, actions);
        return;
    }
    if (err != ERR_OK && err != ERR_TOOBIG) {
        coordinator_fail(c, actions, ERR_RANGE,
                         "the weights are not finite after step %u: the "
                         "training diverged; a smaller --lr helps",
                         c->optim.step);
        return;
    }
    if (product_on(c))
        product_open(c);
    new_key(c);
    clear_round(c);
    verify_open(c);
    adapt_open(&c->adapt, c->now);
    c->phase = COORDINATOR_ROUND;
    c->step_began_at = c->now;
    (void)coordinator_trace(c, actions, TRACE_STEP, LINK_NONE);
    first = code_first_slot(&c->code, c->optim.step);
    for (uint32_t i = 0; i < c->code.slots; i++) {
        const uint32_t slot = (first + i) % c->code.slots;

        if (stale_was_early(c, slot))
            slot_arrived(c, slot);
        open_slot(c, slot, actions);
    }
    send_contested(c, actions);
    for (uint32_t slot = 0; slot < c->code.slots; slot++)
        ship_reserve(c, slot, actions);
    round_rebalance(c, actions);
}

static bool enough(const struct coordinator *c)
{
    const struct code_progress progress = {
        .piece_in = c->piece_in,
        .slot_in = c->slot_in,
        .pieces_in = c->pieces_in,
        .slots_in = c->slots_in,
        .late = c->late,
    };

    /* Whatever the stop rule: with everything in there is nothing to wait
     * for. */
    return (c->code.carrier == CARRIER_TALLY &&
            c->pieces_in + BUG(BUG_ONE_SHORT) >= c->code.piece_count) ||
           (code_enough(&c->code, &progress) && stale_may_end(c));
}

/* --- moving work --------------------------------------------------------- */

static uint32_t healthy_assignees(const struct coordinator *c, uint32_t id)
{
    const struct piece_state *piece = &c->pieces[id];
    uint32_t count = 0;

    for (uint32_t i = 0; i < piece->assignee_count; i++)
        count += member_healthy(c, piece->assignee[i]);
    return count;
}

/* Has `victim` been silent for twice what `thief` needs for a piece?  Then its
 * last piece, already begun, is worth computing a second time. */
static bool worth_repeating(const struct coordinator *c, uint32_t thief,
                            uint32_t victim)
{
    const struct member *fast = &c->members[thief];
    const time_us spent = c->now - c->step_began_at;
    const time_us usual = spent / (fast->answered > 0 ? fast->answered : 1);

    return fast->outstanding == 0 &&
           c->now - c->members[victim].answered_at >= 2 * usual;
}

/* Is a piece better off with `thief`?  It has less to do even then, or it has
 * shown that it is faster.  Never true both ways: two workers must not pass a
 * piece to and fro. */
static bool gains(const struct coordinator *c, uint32_t thief, uint32_t victim)
{
    const struct member *to = &c->members[thief];
    const struct member *from = &c->members[victim];

    return from->outstanding > to->outstanding + 1 ||
           to->answered > from->answered;
}

/* Of those who are to answer the piece, the one with the most to do. */
static uint32_t slowest(const struct coordinator *c,
                        const struct piece_state *piece)
{
    uint32_t found = piece->assignee[0];

    for (uint32_t i = 1; c->ballots != NULL && i < piece->assignee_count; i++) {
        if (c->members[piece->assignee[i]].outstanding >
            c->members[found].outstanding)
            found = piece->assignee[i];
    }
    return found;
}

/* How badly the piece wants to be taken over by `thief`; 0 = not at all. */
static uint32_t steal_worth(const struct coordinator *c, uint32_t id,
                            uint32_t thief)
{
    const struct piece_state *piece = &c->pieces[id];
    uint32_t wanted;
    uint32_t victim;
    uint32_t backlog;

    if (piece->in || assigned(piece, thief) || verify_voted(c, id, thief) ||
        piece->assignee_count == c->assignees_max)
        return 0;
    wanted = verify_wanted(c, id);
    if (wanted == 0 || healthy_assignees(c, id) >= wanted + STEAL_SPARE)
        return 0;
    if (piece->assignee_count < wanted)
        return UINT32_MAX; /* Nobody's: first of all. */
    victim = slowest(c, piece);
    backlog = c->members[victim].outstanding;
    if (backlog > 1 && piece->assignee_count == wanted &&
        gains(c, thief, victim))
        return backlog;
    return worth_repeating(c, thief, victim) ? 1 : 0;
}

/* The victim is told to skip the piece, so it does not count as working on it
 * any more: if the thief dies, the piece is nobody's and is given out again.
 * Should the victim have begun it, its answer is as good as any. */
static void take_from(struct coordinator *c, uint32_t victim, uint32_t id,
                      struct actions *actions)
{
    send_drop(c, victim, id, actions);
    unassign(c, id, victim);
}

static void steal_for(struct coordinator *c, uint32_t link,
                      struct actions *actions)
{
    const struct member *member = &c->members[link];
    const struct group *group;
    uint32_t best = 0;
    uint32_t best_id = 0;

    if (c->code.spec.schedule != SCHED_STEAL ||
        member->state != MEMBER_ACTIVE || member->suspect ||
        member->outstanding > STEAL_BACKLOG)
        return;
    group = group_of(c, member->slot);
    CHECK(group != NULL);
    /* The last piece of the one furthest behind: it is reached last. */
    for (uint32_t id = group->piece_first; id < group->piece_end; id++) {
        const uint32_t worth = steal_worth(c, id, link);

        if (worth > 0 && worth >= best) {
            best = worth;
            best_id = id;
        }
    }
    if (best == 0)
        return;
    if (best > 1 &&
        c->pieces[best_id].assignee_count == verify_wanted(c, best_id))
        take_from(c, slowest(c, &c->pieces[best_id]), best_id, actions);
    CHECK(assign(c, best_id, link));
    c->stats.stolen++;
    coordinator_trace(c, actions, TRACE_STOLEN, link)->a = best_id;
    send_piece(c, link, best_id, actions);
    send_alone(c, best_id, actions);
}

/* The healthy worker that can take one more piece soonest: least to do, and
 * rather one that has the data.  LINK_NONE if there is none. */
static uint32_t best_helper(const struct coordinator *c, uint32_t id)
{
    const struct piece *piece = &c->code.pieces[id];
    uint64_t best = UINT64_MAX;
    uint32_t helper = LINK_NONE;

    for (uint32_t link = 0; link < c->members_max; link++) {
        const struct member *member = &c->members[link];
        uint64_t cost;

        if (!member_healthy(c, link) || assigned(&c->pieces[id], link) ||
            verify_voted(c, id, link) ||
            (homes_on(c) &&
             !chunkset_has_range(&member->held, piece->first, piece->end)))
            continue;
        cost = (uint64_t)member->strikes * 1000 + 2 * member->outstanding +
               !chunkset_has_range(&member->held, piece->first, piece->end);
        if (cost < best) {
            best = cost;
            helper = link;
        }
    }
    return helper;
}

/* False if there is nobody to ask. */
static bool hedge(struct coordinator *c, uint32_t id, struct actions *actions)
{
    const uint32_t helper = best_helper(c, id);

    if (helper == LINK_NONE)
        return false;
    /* A list full of suspects makes room by forgetting one of them. */
    if (c->pieces[id].assignee_count == c->assignees_max)
        unassign(c, id, c->pieces[id].assignee[0]);
    CHECK(assign(c, id, helper));
    c->stats.hedged++;
    coordinator_trace(c, actions, TRACE_HEDGED, helper)->a = id;
    send_piece(c, helper, id, actions);
    send_alone(c, id, actions);
    return true;
}

/* As many healthy workers on the piece as answers are wanted. */
static void hedge_piece(struct coordinator *c, uint32_t id,
                        struct actions *actions)
{
    uint32_t healthy;

    if (c->pieces[id].in || BUG(BUG_FORGET_DEAD))
        return;
    healthy = healthy_assignees(c, id);
    while (healthy < verify_wanted(c, id) && hedge(c, id, actions))
        healthy++;
    if (healthy == 0)
        verify_alone(c, id, actions);
}

/* Too many of a coded round are gone for good: the same step again, with a
 * code for the living. */
static void begin_anew(struct coordinator *c, struct actions *actions)
{
    c->key.attempt++;
    c->stats.redone++;
    view_form(c, actions);
}

/* Could the step end with the slots that have answered and those that still
 * will: healthy, and with something left to answer? */
static bool can_end(struct coordinator *c)
{
    for (uint32_t slot = 0; slot < c->code.slots; slot++) {
        const uint32_t link = c->slot_link[slot];

        c->slot_alive[slot] =
            c->slot_in[slot] || (link != LINK_NONE && member_healthy(c, link) &&
                                 c->members[link].outstanding > 0);
    }
    return code_feasible(&c->code, c->slot_alive);
}

static bool must_hedge(struct coordinator *c)
{
    return c->code.spec.estimate == ESTIMATE_EXACT || !can_end(c);
}

/* Coded answers cannot be hedged: are there enough, come or to come? */
static bool can_decode(struct coordinator *c)
{
    for (uint32_t slot = 0; slot < c->code.slots; slot++)
        c->slot_alive[slot] =
            c->slot_in[slot] || c->slot_link[slot] != LINK_NONE;
    return code_decodable(&c->code, c->slot_alive);
}

void round_rebalance(struct coordinator *c, struct actions *actions)
{
    if (c->phase != COORDINATOR_ROUND)
        return;
    if (c->code.carrier == CARRIER_F64 && !can_decode(c)) {
        begin_anew(c, actions);
        return;
    }
    /* The one that was waited for may have gone. */
    if (stale_on(c) && enough(c)) {
        commit_round(c, actions);
        return;
    }
    if (c->code.carrier == CARRIER_F64 || must_hedge(c)) {
        for (uint32_t id = 0; id < c->code.plain_count; id++)
            hedge_piece(c, id, actions);
    }
    for (uint32_t slot = 0; slot < c->code.slots; slot++) {
        if (c->slot_link[slot] != LINK_NONE)
            steal_for(c, c->slot_link[slot], actions);
    }
}

void round_resend(struct coordinator *c, uint32_t link, struct actions *actions)
{
    struct item *items = c->items + c->items_used;
    uint32_t count = 0;

    CHECK(c->items_used + c->code.piece_count <= c->items_capacity);
    for (uint32_t id = 0; id < c->code.piece_count; id++) {
        if (assigned(&c->pieces[id], link))
            items[count++] = item_of(c, id, &c->members[link]);
    }
    c->items_used += count;
    if (count == 0)
        return;
    if (c->members[link].via > 0) /* The weights, too, may have been lost. */
        c->members[c->members[link].via - 1].cast = false;
    c->stats.resent++;
    coordinator_trace(c, actions, TRACE_RESENT, link)->a = count;
    send_round(c, link, items, count, actions);
    spoil_repeat(c, &c->members[link]);
}

void round_need(struct coordinator *c, uint32_t link,
                const struct msg_need *msg, struct actions *actions)
{
    if (msg->first >= msg->end || msg->end > job_strips(&c->options.job) ||
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

void round_ship(struct coordinator *c, uint32_t link, struct actions *actions)
{
    const struct member *member = &c->members[link];

    if (c->phase != COORDINATOR_ROUND)
        return;
    for (uint32_t id = 0; id < c->code.piece_count; id++) {
        if (assigned(&c->pieces[id], link))
            ship(c, link, c->code.pieces[id].first, c->code.pieces[id].end,
                 actions);
    }
    if (member->state == MEMBER_ACTIVE)
        ship_reserve(c, member->slot, actions);
}

/* --- answers ------------------------------------------------------------- */

/* TALLY-3: the answer is to the round that is open, and to nothing else. */
static bool key_current(const struct coordinator *c,
                        const struct round_key *key)
{
    if (c->phase != COORDINATOR_ROUND)
        return false;
    if (BUG(BUG_STALE_VIEW))
        return key->job == c->key.job && key->step == c->key.step &&
               key->weights == c->key.weights;
    if (BUG(BUG_STALE_STEP))
        return key->job == c->key.job && key->view == c->key.view;
    return key_equal(key, &c->key);
}

/* The same, for a code whose members may be at work on older rounds. */
static bool key_awaited(const struct coordinator *c, uint32_t link,
                        const struct round_key *key)
{
    return stale_on(c) ? stale_awaits(c, link, key) : key_current(c, key);
}

static void stale(struct coordinator *c, uint32_t link,
                  const struct round_key *key, struct actions *actions)
{
    c->stats.stale++;
    coordinator_trace(c, actions, TRACE_STALE, link)->key = *key;
    /* A relay has no name to strike. */
    if (!member_here(c, link) || !trust_key_impossible(c, key))
        return;
    trust_strike(c, link, POISON_KEY, actions);
    round_rebalance(c, actions);
}

/* Add the sums whatever the sets say: what the planted bugs do. */
static void add_blindly(struct coordinator *c)
{
    for (uint32_t j = 0; j < c->total.dims; j++)
        c->total.sum[j] =
            (int64_t)((uint64_t)c->total.sum[j] + (uint64_t)c->arrived.sum[j]);
    c->total.loss += c->arrived.loss;
}

static bool planted_double(const struct coordinator *c, uint32_t id,
                           uint32_t link)
{
    const bool expected = assigned(&c->pieces[id], link);

    (void)expected;
    return (BUG(BUG_APPLY_DUPLICATE) && !expected) ||
           (BUG(BUG_MERGE_OVERLAP) && expected);
}

/* What the answer cost, for reports; its key may be of an older step. */
static void trace_answer(const struct coordinator *c, uint32_t link,
                         int64_t compute_us, struct trace *trace)
{
    const struct member *member;

    trace->answer.compute_us = compute_us;
    if (link == LINK_NONE) /* A leaf that has gone since. */
        return;
    member = &c->members[link];
    if (member->state == MEMBER_ACTIVE)
        trace->answer.delay_factor =
            delay_draw(&c->options.delay, trace->key.step, member->slot,
                       member->name)
                .factor;
}

static void trace_merged(struct coordinator *c, uint32_t link,
                         const struct round_key *key, uint32_t id,
                         int64_t compute_us, struct actions *actions)
{
    struct trace *trace = coordinator_trace(c, actions, TRACE_TALLY, link);

    trace->key = *key;
    trace->a = id;
    trace->b = c->code.pieces[id].end - c->code.pieces[id].first;
    trace_answer(c, link, compute_us, trace);
}

/* May it count before anything but its bound is looked at?  Not what is
 * compared first, nor what is in already. */
static bool counts_at_once(const struct coordinator *c,
                           const struct msg_tally *msg)
{
    return c->ballots == NULL && !c->pieces[msg->piece].in &&
           chunkset_misses_range(&c->total.chunks, msg->first, msg->end) &&
           !BUG(BUG_SKIP_FINITE);
}

/* False: some sum is out of the proved bound (P9). */
static bool lay_out(struct coordinator *c, const struct msg_tally *msg)
{
    chunkset_clear(&c->arrived.chunks);
    chunkset_add_range(&c->arrived.chunks, msg->first, msg->end);
    c->arrived.loss = msg->loss;
    c->absorbed = counts_at_once(c, msg);
    if (c->absorbed)
        return tally_absorb(&c->total, &c->arrived, msg->sum);
    return tally_take(&c->arrived, msg->sum);
}

static void piece_arrived(struct coordinator *c, uint32_t id)
{
    c->pieces[id].in = true;
    c->piece_in[id] = true;
    c->pieces_in++;
    c->stats.pieces_merged++;
}

/* Count the answer in, once (TALLY-1). */
static void merge(struct coordinator *c, uint32_t link,
                  const struct msg_tally *msg, struct actions *actions)
{
    const uint32_t id = msg->piece;

    if (!c->absorbed &&
        (c->pieces[id].in || tally_merge(&c->total, &c->arrived) != ERR_OK)) {
        if (planted_double(c, id, link)) {
            add_blindly(c);
            trace_merged(c, link, &msg->key, id, msg->compute_us, actions);
            return;
        }
        c->stats.duplicates++;
        coordinator_trace(c, actions, TRACE_DUPLICATE, link)->a = id;
        return;
    }
    piece_arrived(c, id);
    trace_merged(c, link, &msg->key, id, msg->compute_us, actions);
}

/* One that was asked has answered: its slot owes one piece less. */
static void credit_slot(struct coordinator *c, uint32_t link, uint32_t id)
{
    const struct member *member = &c->members[link];

    if (member->state != MEMBER_ACTIVE ||
        !code_holds(&c->code, member->slot, id) ||
        c->slot_todo[member->slot] == 0)
        return;
    if (--c->slot_todo[member->slot] == 0)
        slot_arrived(c, member->slot);
}

/* True if it had been asked. */
static bool note_answered(struct coordinator *c, uint32_t link, uint32_t id)
{
    struct member *member = &c->members[link];
    const bool asked = assigned(&c->pieces[id], link);

    unassign(c, id, link);
    member->answered++;
    member->answers++;
    member->answered_at = c->now;
    return asked;
}

static void credit(struct coordinator *c, uint32_t link, uint32_t id)
{
    if (note_answered(c, link, id))
        credit_slot(c, link, id);
}

/* A piece was confirmed: the slots of those who said so owe one less. */
static void credit_votes(struct coordinator *c, uint32_t id)
{
    const struct ballot *ballot = &c->ballots[id];

    for (uint32_t link = 0; link < c->members_max; link++) {
        for (uint32_t i = 0; member_here(c, link) && i < ballot->count; i++) {
            if (ballot->votes[i].asked &&
                strcmp(ballot->votes[i].name, c->members[link].name) == 0)
                credit_slot(c, link, id);
        }
    }
}

static bool tally_shape_ok(const struct coordinator *c,
                           const struct msg_tally *msg)
{
    return msg->dims == c->total.dims && msg->piece < c->code.plain_count &&
           msg->first == c->code.pieces[msg->piece].first &&
           msg->end == c->code.pieces[msg->piece].end;
}

/* For the choice of code: how quick is it? */
static void note_answer(struct coordinator *c, uint32_t link, uint32_t chunks,
                        int64_t compute_us)
{
    const struct member *member = &c->members[link];

    if (member->state == MEMBER_ACTIVE)
        adapt_answer(&c->adapt, member->slot, c->now, chunks, compute_us,
                     member->outstanding > 0);
}

/* An answer in bound: merged, or kept to be compared. */
static void take_tally(struct coordinator *c, uint32_t link,
                       const struct msg_tally *msg, struct actions *actions)
{
    const bool compared = c->ballots != NULL && c->ballots[msg->piece].checked;

    switch (verify_vote(c, link, msg->piece, actions)) {
    case VERDICT_COUNT:
        merge(c, link, msg, actions);
        if (compared) {
            (void)note_answered(c, link, msg->piece);
            credit_votes(c, msg->piece);
        } else {
            credit(c, link, msg->piece);
        }
        break;
    case VERDICT_DROP:
        c->stats.duplicates++;
        coordinator_trace(c, actions, TRACE_DUPLICATE, link)->a = msg->piece;
        if (member_here(c, link))
            (void)note_answered(c, link, msg->piece);
        break;
    case VERDICT_WAIT:
        (void)note_answered(c, link, msg->piece);
        break;
    }
    if (member_here(c, link))
        note_answer(c, link, msg->end - msg->first, msg->compute_us);
    if (enough(c))
        commit_round(c, actions);
    else if (member_here(c, link) && !compared)
        steal_for(c, link, actions);
    else
        round_rebalance(c, actions);
}

void round_judged(struct coordinator *c, uint32_t id, struct actions *actions)
{
    struct trace *trace;

    piece_arrived(c, id);
    trace = coordinator_trace(c, actions, TRACE_JUDGED, LINK_NONE);
    trace->a = c->code.pieces[id].first;
    trace->b = c->code.pieces[id].end;
    credit_votes(c, id);
    if (enough(c))
        commit_round(c, actions);
}

void round_tally(struct coordinator *c, uint32_t link,
                 const struct msg_tally *msg, struct actions *actions)
{
    enum poison_kind kind = POISON_SHAPE;

    if (!key_current(c, &msg->key)) {
        stale(c, link, &msg->key, actions);
        return;
    }
    if (tally_shape_ok(c, msg)) {
        if (lay_out(c, msg) || BUG(BUG_SKIP_FINITE)) {
            take_tally(c, link, msg, actions);
            return;
        }
        unassign(c, msg->piece, link);
        kind = POISON_BOUND;
    }
    trust_strike(c, link, kind, actions);
    round_rebalance(c, actions);
}

/* --- answers that a relay merged ------------------------------------------ */

static bool answer_ok(const struct coordinator *c, const struct answer *answer)
{
    return answer->piece < c->code.plain_count &&
           answer->first == c->code.pieces[answer->piece].first &&
           answer->end == c->code.pieces[answer->piece].end;
}

/* Lay it out as one tally; false if it is none of this round's. */
static bool lay_out_sum(struct coordinator *c, const struct msg_sum *msg)
{
    if (msg->dims != c->total.dims || msg->count > ANSWERS_MAX ||
        c->ballots != NULL) /* It was told not to merge what is compared. */
        return false;
    tally_blank(&c->arrived);
    memcpy(c->arrived.sum, msg->sum, msg->dims * sizeof *msg->sum);
    c->arrived.blank = false;
    c->arrived.loss = msg->loss;
    for (uint32_t i = 0; i < msg->count; i++) {
        const struct answer *answer = &msg->answers[i];

        if (!answer_ok(c, answer))
            return false;
        if (!answer->counted)
            continue;
        if (!chunkset_misses_range(&c->arrived.chunks, answer->first,
                                   answer->end))
            return false; /* Twice in one sum. */
        chunkset_add_range(&c->arrived.chunks, answer->first, answer->end);
    }
    return BUG(BUG_SKIP_FINITE) || tally_in_bound(&c->arrived);
}

/* TALLY-1: all of it, or, if one piece is in already, nothing. */
static bool merge_sum(struct coordinator *c, uint32_t relay,
                      const struct msg_sum *msg, struct actions *actions)
{
    if (tally_merge(&c->total, &c->arrived) != ERR_OK) {
        c->stats.duplicates++;
        (void)coordinator_trace(c, actions, TRACE_DUPLICATE, relay);
        return false;
    }
    for (uint32_t i = 0; i < msg->count; i++) {
        const struct answer *answer = &msg->answers[i];

        if (!answer->counted)
            continue;
        piece_arrived(c, answer->piece);
        trace_merged(c, c->answerer[i], &msg->key, answer->piece,
                     answer->compute_us, actions);
    }
    return true;
}

/* Whoever answered owes it no more.  A piece that is not in, because its sum
 * was dropped, is nobody's now and is given out again. */
static void credit_answer(struct coordinator *c, uint32_t link,
                          const struct answer *answer)
{
    c->members[link].heard_at = c->now;
    if (!c->pieces[answer->piece].in) {
        unassign(c, answer->piece, link);
        return;
    }
    credit(c, link, answer->piece);
    note_answer(c, link, answer->end - answer->first, answer->compute_us);
}

static void credit_sum(struct coordinator *c, const struct msg_sum *msg)
{
    for (uint32_t i = 0; i < msg->count; i++) {
        if (member_here(c, c->answerer[i]))
            credit_answer(c, c->answerer[i], &msg->answers[i]);
    }
}

/* Whose answer in the sum has other chunks than its piece?  A relay does not
 * know the pieces: that is the worker's doing.  LINK_NONE: nobody's here. */
static uint32_t misfit(const struct coordinator *c, uint32_t relay,
                       const struct msg_sum *msg)
{
    for (uint32_t i = 0; i < msg->count; i++) {
        const uint32_t link = leaves_member(c, relay, msg->answers[i].leaf);

        if (!answer_ok(c, &msg->answers[i]) && link != LINK_NONE &&
            member_here(c, link))
            return link;
    }
    return LINK_NONE;
}

/* The sum cannot be used; its pieces are given out again. */
static void drop_sum(struct coordinator *c, uint32_t relay,
                     const struct msg_sum *msg, uint32_t culprit,
                     struct actions *actions)
{
    for (uint32_t i = 0; i < msg->count; i++) {
        const uint32_t link = leaves_member(c, relay, msg->answers[i].leaf);

        if (member_here(c, link) && answer_ok(c, &msg->answers[i]))
            credit_answer(c, link, &msg->answers[i]);
    }
    trust_strike(c, culprit, POISON_SHAPE, actions);
    round_rebalance(c, actions);
}

void round_sum(struct coordinator *c, uint32_t link, const struct msg_sum *msg,
               struct actions *actions)
{
    uint32_t culprit;
    bool merged;

    if (!key_current(c, &msg->key)) {
        stale(c, link, &msg->key, actions);
        return;
    }
    culprit = misfit(c, link, msg);
    if (culprit != LINK_NONE) {
        drop_sum(c, link, msg, culprit, actions);
        return;
    }
    if (!lay_out_sum(c, msg)) {
        /* Its relay checks what it merges: it is the relay that is broken. */
        c->stats.poison++;
        (void)coordinator_trace(c, actions, TRACE_POISON, link);
        coordinator_hang_up(c, actions, link);
        leaves_down(c, link, actions);
        return;
    }
    for (uint32_t i = 0; i < msg->count; i++)
        c->answerer[i] = leaves_member(c, link, msg->answers[i].leaf);
    merged = merge_sum(c, link, msg, actions);
    credit_sum(c, msg);
    if (enough(c)) {
        commit_round(c, actions);
        return;
    }
    if (!merged)
        round_rebalance(c, actions);
    for (uint32_t i = 0; i < msg->count; i++) {
        if (member_here(c, c->answerer[i]))
            steal_for(c, c->answerer[i], actions);
    }
}

time_us round_deadline_at(const struct coordinator *c)
{
    if (c->phase != COORDINATOR_ROUND || c->late ||
        c->code.spec.stop != STOP_DEADLINE)
        return TIME_NEVER;
    return c->step_began_at + (time_us)(c->code.spec.deadline_s * 1e6);
}

void round_deadline(struct coordinator *c, struct actions *actions)
{
    if (c->now < round_deadline_at(c))
        return;
    c->late = true;
    if (enough(c))
        commit_round(c, actions);
}

/* Its coded pieces come as one row, once. */
static void keep_row(struct coordinator *c, uint32_t slot, const double *row)
{
    const struct code *code = &c->code;
    const size_t width = (size_t)c->row_dims + 1;

    if (row_folds(c) == 0)
        memcpy(c->rows + slot * width, row, width * sizeof *row);
    for (uint32_t k = 0; k < row_folds(c); k++) {
        const double factor = code->basis[(size_t)k * code->slots + slot];
        double *fold = c->rows + k * width;

        for (size_t j = 0; j < width; j++)
            fold[j] += factor * row[j];
    }
}

static void unassign_coded(struct coordinator *c, uint32_t link)
{
    for (uint32_t id = c->code.plain_count; id < c->code.piece_count; id++)
        unassign(c, id, link);
}

/* Chunks behind a row; whatever a block is the sum of, it is one block. */
static uint64_t row_chunks(struct coordinator *c, uint32_t slot)
{
    const struct block_shape shape =
        product_shape(&c->options.job, c->code.parts);
    const uint32_t count =
        code_work(&c->code, slot, c->ids, c->code.piece_count);
    uint64_t chunks = 0;

    if (product_on(c))
        return block_chunks(&shape);
    for (uint32_t i = 0; i < count; i++) {
        if (c->ids[i] >= c->code.plain_count)
            chunks +=
                c->code.pieces[c->ids[i]].end - c->code.pieces[c->ids[i]].first;
    }
    return chunks;
}

static bool row_shape_ok(const struct coordinator *c, uint32_t link,
                         const struct msg_row *msg)
{
    return c->code.carrier == CARRIER_F64 &&
           c->members[link].state == MEMBER_ACTIVE && msg->dims == c->row_dims;
}

/* It is computed again, at the weights of the open round; without one, the next
 * round asks. */
static void refuse_row(struct coordinator *c, uint32_t link,
                       enum poison_kind kind, struct actions *actions)
{
    trust_strike(c, link, kind, actions);
    if (member_here(c, link) && c->phase == COORDINATOR_ROUND)
        round_resend(c, link, actions);
    else
        round_unassign(c, link);
    round_rebalance(c, actions);
}

/* Count the row in, once (TALLY-1). */
static void take_row(struct coordinator *c, uint32_t link,
                     const struct msg_row *msg, struct actions *actions)
{
    struct member *member = &c->members[link];
    struct trace *trace;

    keep_row(c, member->slot, msg->row);
    unassign_coded(c, link);
    member->answers++;
    member->answered_at = c->now;
    if (!stale_on(c) || stale_arrived(c, member->slot, &msg->key))
        slot_arrived(c, member->slot);
    c->stats.pieces_merged++;
    trace = coordinator_trace(c, actions, TRACE_TALLY, link);
    trace->key = msg->key;
    trace->a = member->slot;
    trace->b = row_chunks(c, member->slot);
    trace_answer(c, link, msg->compute_us, trace);
}

void round_row(struct coordinator *c, uint32_t link, const struct msg_row *msg,
               struct actions *actions)
{
    const struct member *member = &c->members[link];
    const size_t width = (size_t)c->row_dims + 1;

    if (!key_awaited(c, link, &msg->key)) {
        stale(c, link, &msg->key, actions);
        return;
    }
    if (!row_shape_ok(c, link, msg)) {
        refuse_row(c, link, POISON_SHAPE, actions);
        return;
    }
    if (!(BUG(BUG_SKIP_FINITE) || vec_finite(msg->row, width))) {
        refuse_row(c, link, POISON_FINITE, actions);
        return;
    }
    if (c->slot_in[member->slot] && !stale_on(c) && !BUG(BUG_ROW_TWICE)) {
        c->stats.duplicates++;
        (void)coordinator_trace(c, actions, TRACE_DUPLICATE, link);
        return;
    }
    take_row(c, link, msg, actions);
    if (c->phase == COORDINATOR_ROUND && enough(c))
        commit_round(c, actions);
    else if (stale_behind(c, link))
        open_slot(c, member->slot, actions);
}

void round_fail_range(struct coordinator *c, uint32_t id,
                      struct actions *actions)
{
    coordinator_fail(c, actions, ERR_RANGE,
                     "step %u: chunks %u to %u give a gradient that is "
                     "not finite; look for huge values in the data or "
                     "lower --lr",
                     c->key.step, c->code.pieces[id].first,
                     c->code.pieces[id].end - 1);
}

/* Where no bound is proved a larger scale may be all it takes.  Which one does
 * not depend on who refused what, so the first refusal is enough. */
static void grow_scale(struct coordinator *c, struct actions *actions)
{
    switch (follow_refuse(&c->follow, c->what.kind)) {
    case FOLLOW_STANDS:
    case FOLLOW_AGAIN:
        round_again(c, actions);
        return;
    case FOLLOW_HOPELESS:
        commit_hopeless(c, actions);
        return;
    case FOLLOW_NO_FUNCTION:
        commit_no_function(c, actions);
        return;
    }
}

/* A chunk that does not fit a proved bound is broken data or a broken machine:
 * let another one try, but not for ever. */
void round_refuse(struct coordinator *c, uint32_t link,
                  const struct msg_refuse *msg, struct actions *actions)
{
    if (!key_awaited(c, link, &msg->key) || msg->piece >= c->code.piece_count) {
        stale(c, link, &msg->key, actions);
        return;
    }
    if (verify_refused(c, link, msg->piece, actions)) {
        unassign(c, msg->piece, link);
        round_rebalance(c, actions);
        return;
    }
    unassign(c, msg->piece, link);
    if (c->options.follow) {
        grow_scale(c, actions);
        return;
    }
    c->members[link].strikes++;
    if (++c->refusals >= REFUSALS_MAX || c->alive == 1) {
        round_fail_range(c, msg->piece, actions);
        return;
    }
    round_rebalance(c, actions);
}

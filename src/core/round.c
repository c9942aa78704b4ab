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
#include "math/vec.h"

#define STEAL_BACKLOG  1u /* A worker with no more than this takes more. */
#define STEAL_LIVE_MAX 2u /* Computing a piece at the same time. */
#define REFUSALS_MAX   3u

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
        return;
    }
}

void round_unassign(struct coordinator *c, uint32_t link)
{
    for (uint32_t id = 0; c->pieces != NULL && id < c->code.piece_count; id++)
        unassign(c, id, link);
    c->members[link].outstanding = 0;
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

/* Data the worker lacks for these chunks travels ahead on the same road. */
static void ship(struct coordinator *c, uint32_t link, uint32_t first,
                 uint32_t end, struct actions *actions)
{
    struct chunkset *held = &c->members[link].held;
    struct action *action;

    if (chunkset_has_range(held, first, end))
        return;
    first = chunkset_next_gap(held, first);
    while (end > first && chunkset_has(held, end - 1))
        end--;
    chunkset_add_range(held, first, end);
    if (actions->count > 0) {
        action = &actions->list[actions->count - 1];
        if (action->kind == ACTION_SHIP && action->link == link &&
            action->end == first) {
            action->end = end; /* Carry on with the last shipment. */
            return;
        }
    }
    action = actions_add(actions, ACTION_SHIP);
    action->link = link;
    action->first = first;
    action->end = end;
}

static void ship_items(struct coordinator *c, uint32_t link,
                       const struct item *items, uint32_t count,
                       struct actions *actions)
{
    for (uint32_t i = 0; i < count; i++)
        ship(c, link, items[i].first, items[i].end, actions);
}

/* The whole round to one worker: weights, scale and pieces. */
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

    ship_items(c, link, items, count, actions);
    msg = &coordinator_send(actions, link, MSG_ROUND)->round;
    msg->key = c->key;
    msg->assignment = ++member->assignment;
    msg->coded = c->code.carrier == CARRIER_F64;
    msg->delay_s = delay.add_s;
    msg->delay_factor = delay.factor;
    msg->count = count;
    msg->items = items;
    msg->kind = c->what.kind;
    msg->dims = c->options.job.dims;
    msg->weights = c->what.w;
    msg->direction = c->what.v;
    msg->exponent = c->exponent;
    member->in_round = true;
    member->assigned_at = c->now;
    member->idle_beats = 0;
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
        return;
    }
    ship_items(c, link, item, 1, actions);
    msg = &coordinator_send(actions, link, MSG_WORK)->work;
    msg->key = c->key;
    msg->assignment = ++member->assignment;
    msg->count = 1;
    msg->items = item;
    member->assigned_at = c->now;
    member->idle_beats = 0;
}

static void send_drop(struct coordinator *c, uint32_t link, uint32_t id,
                      struct actions *actions)
{
    struct msg_work *msg = &coordinator_send(actions, link, MSG_DROP)->drop;
    struct item *item = take_items(c, 1);

    *item = item_of(c, id, &c->members[link]);
    msg->key = c->key;
    msg->assignment = c->members[link].assignment;
    msg->count = 1;
    msg->items = item;
}

/* --- opening ------------------------------------------------------------- */

static void slot_arrived(struct coordinator *c, uint32_t slot)
{
    if (c->slot_in[slot])
        return;
    c->slot_in[slot] = true;
    c->slots_in++;
}

static void open_slot(struct coordinator *c, uint32_t slot,
                      struct actions *actions)
{
    const uint32_t link = c->slot_link[slot];
    const uint32_t count =
        code_work(&c->code, slot, c->ids, c->code.piece_count);
    struct item *items;

    c->slot_todo[slot] = c->code.carrier == CARRIER_TALLY ? count : 0;
    if (!c->code.busy[slot])
        slot_arrived(c, slot); /* More slots than chunks: nothing to do. */
    if (count == 0 || link == LINK_NONE)
        return;
    items = take_items(c, count);
    for (uint32_t i = 0; i < count; i++) {
        CHECK(assign(c, c->ids[i], link));
        items[i] = item_of(c, c->ids[i], &c->members[link]);
    }
    send_round(c, link, items, count, actions);
}

/* Under `steal` a slot also holds what its group may ask it to take over; it
 * travels after the round so that nobody waits for it. */
static void ship_reserve(struct coordinator *c, uint32_t slot,
                         struct actions *actions)
{
    const uint32_t link = c->slot_link[slot];
    uint32_t count;

    if (link == LINK_NONE || chunkset_full(&c->members[link].held))
        return;
    count = code_held(&c->code, slot, c->ids, c->code.piece_count);
    for (uint32_t i = 0; i < count; i++)
        ship(c, link, c->code.pieces[c->ids[i]].first,
             c->code.pieces[c->ids[i]].end, actions);
}

/* Folds are added to; single rows are overwritten. */
static void clear_rows(struct coordinator *c)
{
    memset(c->rows, 0,
           c->code.folds * ((size_t)c->total.dims + 1) * sizeof *c->rows);
}

static void clear_round(struct coordinator *c)
{
    for (uint32_t id = 0; id < c->code.piece_count; id++) {
        c->pieces[id].in = false;
        c->pieces[id].assignee_count = 0;
    }
    memset(c->piece_in, 0, c->code.piece_count * sizeof *c->piece_in);
    memset(c->slot_in, 0, c->code.slots * sizeof *c->slot_in);
    tally_clear(&c->total);
    clear_rows(c);
    c->late = false;
    c->pieces_in = 0;
    c->slots_in = 0;
    c->refusals = 0;
    for (uint32_t link = 0; link < c->options.links_max; link++) {
        struct member *member = &c->members[link];

        member->outstanding = 0;
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
    c->key.round = c->optim.round;
    c->key.scale =
        quick_u64(c->exponent, c->total.dims * sizeof *c->exponent, 0);
    c->key.weights = evaluation_name(&c->what, c->options.job.dims);
}

void round_open(struct coordinator *c, struct actions *actions)
{
    const struct ask ask = optim_next(&c->optim);
    enum err err;

    CHECK(ask.kind == ASK_EVALUATE);
    c->what = ask.what;
    c->total.dims = evaluation_dims(c->what.kind, c->options.job.dims);
    c->arrived.dims = c->total.dims;
    CHECK(c->total.dims <= c->options.job.sum_dims);
    err = c->options.scale(c->options.scale_context, &c->what, c->exponent);
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
    new_key(c);
    clear_round(c);
    adapt_open(&c->adapt, c->now);
    c->phase = COORDINATOR_ROUND;
    c->step_began_at = c->now;
    (void)coordinator_trace(c, actions, TRACE_STEP, LINK_NONE);
    for (uint32_t slot = 0; slot < c->code.slots; slot++)
        open_slot(c, slot, actions);
    for (uint32_t slot = 0; slot < c->code.slots; slot++)
        ship_reserve(c, slot, actions);
    round_rebalance(c, actions);
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

static const struct group *group_of(const struct coordinator *c, uint32_t slot)
{
    for (uint32_t i = 0; i < c->code.group_count; i++) {
        const struct group *group = &c->code.groups[i];

        if (slot >= group->slot_first && slot < group->slot_end)
            return group;
    }
    return NULL;
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

/* How badly the piece wants to be taken over by `thief`; 0 = not at all. */
static uint32_t steal_worth(const struct coordinator *c, uint32_t id,
                            uint32_t thief)
{
    const struct piece_state *piece = &c->pieces[id];
    uint32_t victim;
    uint32_t backlog;

    if (piece->in || assigned(piece, thief) ||
        piece->assignee_count == c->assignees_max ||
        healthy_assignees(c, id) >= STEAL_LIVE_MAX)
        return 0;
    if (piece->assignee_count == 0)
        return UINT32_MAX; /* Nobody's: first of all. */
    victim = piece->assignee[0];
    backlog = c->members[victim].outstanding;
    if (backlog > 1 && piece->assignee_count == 1 && gains(c, thief, victim))
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
    if (best > 1 && c->pieces[best_id].assignee_count == 1)
        take_from(c, c->pieces[best_id].assignee[0], best_id, actions);
    CHECK(assign(c, best_id, link));
    c->stats.stolen++;
    coordinator_trace(c, actions, TRACE_STOLEN, link)->a = best_id;
    send_piece(c, link, best_id, actions);
}

/* The healthy worker that can take one more piece soonest: least to do, and
 * rather one that has the data.  LINK_NONE if there is none. */
static uint32_t best_helper(const struct coordinator *c, uint32_t id)
{
    const struct piece *piece = &c->code.pieces[id];
    uint64_t best = UINT64_MAX;
    uint32_t helper = LINK_NONE;

    for (uint32_t link = 0; link < c->options.links_max; link++) {
        const struct member *member = &c->members[link];
        uint64_t cost;

        if (!member_healthy(c, link) || assigned(&c->pieces[id], link))
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

static void hedge(struct coordinator *c, uint32_t id, struct actions *actions)
{
    const uint32_t helper = best_helper(c, id);

    if (helper == LINK_NONE)
        return;
    /* A list full of suspects makes room by forgetting one of them. */
    if (c->pieces[id].assignee_count == c->assignees_max)
        unassign(c, id, c->pieces[id].assignee[0]);
    CHECK(assign(c, id, helper));
    c->stats.hedged++;
    coordinator_trace(c, actions, TRACE_HEDGED, helper)->a = id;
    send_piece(c, helper, id, actions);
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
    if (c->code.carrier == CARRIER_F64 || must_hedge(c)) {
        for (uint32_t id = 0; id < c->code.plain_count; id++) {
            if (!c->pieces[id].in && healthy_assignees(c, id) == 0)
                hedge(c, id, actions);
        }
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
    c->stats.resent++;
    coordinator_trace(c, actions, TRACE_RESENT, link)->a = count;
    send_round(c, link, items, count, actions);
}

void round_need(struct coordinator *c, uint32_t link,
                const struct msg_need *msg, struct actions *actions)
{
    if (msg->first >= msg->end || msg->end > c->options.job.chunks)
        return;
    for (uint32_t chunk = msg->first; chunk < msg->end; chunk++)
        chunkset_remove(&c->members[link].held, chunk);
    ship(c, link, msg->first, msg->end, actions);
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
    return key_equal(key, &c->key);
}

static void stale(struct coordinator *c, uint32_t link,
                  const struct round_key *key, struct actions *actions)
{
    c->stats.stale++;
    coordinator_trace(c, actions, TRACE_STALE, link)->key = *key;
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

static void trace_merged(struct coordinator *c, uint32_t link,
                         const struct msg_tally *msg, struct actions *actions)
{
    struct trace *trace = coordinator_trace(c, actions, TRACE_TALLY, link);

    trace->key = msg->key;
    trace->a = msg->piece;
    trace->b = msg->end - msg->first;
}

/* False: some sum is out of the proved bound (P9). */
static bool lay_out(struct coordinator *c, const struct msg_tally *msg)
{
    chunkset_clear(&c->arrived.chunks);
    chunkset_add_range(&c->arrived.chunks, msg->first, msg->end);
    c->arrived.loss = msg->loss;
    return tally_take(&c->arrived, msg->sum);
}

/* Count the answer in, once (TALLY-1). */
static void merge(struct coordinator *c, uint32_t link,
                  const struct msg_tally *msg, struct actions *actions)
{
    const uint32_t id = msg->piece;

    if (c->pieces[id].in || tally_merge(&c->total, &c->arrived) != ERR_OK) {
        if (planted_double(c, id, link)) {
            add_blindly(c);
            trace_merged(c, link, msg, actions);
            return;
        }
        c->stats.duplicates++;
        coordinator_trace(c, actions, TRACE_DUPLICATE, link)->a = id;
        return;
    }
    c->pieces[id].in = true;
    c->piece_in[id] = true;
    c->pieces_in++;
    c->stats.pieces_merged++;
    trace_merged(c, link, msg, actions);
}

/* The answer came from one that was asked: its slot owes one piece less. */
static void credit(struct coordinator *c, uint32_t link, uint32_t id)
{
    struct member *member = &c->members[link];
    const bool asked = assigned(&c->pieces[id], link);

    unassign(c, id, link);
    member->answered++;
    member->answers++;
    member->answered_at = c->now;
    if (!asked || member->state != MEMBER_ACTIVE ||
        !code_holds(&c->code, member->slot, id) ||
        c->slot_todo[member->slot] == 0)
        return;
    if (--c->slot_todo[member->slot] == 0)
        slot_arrived(c, member->slot);
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
            c->pieces_in == c->code.piece_count) ||
           code_enough(&c->code, &progress);
}

static bool tally_shape_ok(const struct coordinator *c,
                           const struct msg_tally *msg)
{
    return msg->dims == c->total.dims && msg->piece < c->code.plain_count &&
           msg->first == c->code.pieces[msg->piece].first &&
           msg->end == c->code.pieces[msg->piece].end;
}

/* For the choice of code: how quick is it? */
static void note_answer(struct coordinator *c, uint32_t link,
                        const struct msg_tally *msg)
{
    const struct member *member = &c->members[link];

    if (member->state == MEMBER_ACTIVE)
        adapt_answer(&c->adapt, member->slot, c->now, msg->end - msg->first,
                     msg->compute_us, member->outstanding > 0);
}

void round_tally(struct coordinator *c, uint32_t link,
                 const struct msg_tally *msg, struct actions *actions)
{
    if (!key_current(c, &msg->key)) {
        stale(c, link, &msg->key, actions);
        return;
    }
    if (tally_shape_ok(c, msg)) {
        if (lay_out(c, msg) || BUG(BUG_SKIP_FINITE)) {
            merge(c, link, msg, actions);
            credit(c, link, msg->piece);
            note_answer(c, link, msg);
            if (enough(c))
                commit_round(c, actions);
            else
                steal_for(c, link, actions);
            return;
        }
        unassign(c, msg->piece, link);
    }
    roster_strike(c, link, actions);
    round_rebalance(c, actions);
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
    const size_t width = (size_t)c->total.dims + 1;

    if (code->folds == 0)
        memcpy(c->rows + slot * width, row, width * sizeof *row);
    for (uint32_t k = 0; k < code->folds; k++) {
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

void round_row(struct coordinator *c, uint32_t link, const struct msg_row *msg,
               struct actions *actions)
{
    struct member *member = &c->members[link];
    const size_t width = (size_t)c->total.dims + 1;
    struct trace *trace;

    if (!key_current(c, &msg->key)) {
        stale(c, link, &msg->key, actions);
        return;
    }
    if (c->code.carrier != CARRIER_F64 || member->state != MEMBER_ACTIVE ||
        msg->dims != c->total.dims ||
        !(BUG(BUG_SKIP_FINITE) || vec_finite(msg->row, width))) {
        roster_strike(c, link, actions);
        if (member_here(c, link))
            round_resend(c, link, actions);
        round_rebalance(c, actions);
        return;
    }
    if (c->slot_in[member->slot]) {
        c->stats.duplicates++;
        (void)coordinator_trace(c, actions, TRACE_DUPLICATE, link);
        return;
    }
    keep_row(c, member->slot, msg->row);
    unassign_coded(c, link);
    member->answers++;
    member->answered_at = c->now;
    slot_arrived(c, member->slot);
    c->stats.pieces_merged++;
    trace = coordinator_trace(c, actions, TRACE_TALLY, link);
    trace->key = msg->key;
    trace->a = member->slot;
    if (enough(c))
        commit_round(c, actions);
}

/* A chunk that does not fit a proved bound is broken data or a broken machine:
 * let another one try, but not for ever. */
void round_refuse(struct coordinator *c, uint32_t link,
                  const struct msg_refuse *msg, struct actions *actions)
{
    if (!key_current(c, &msg->key) || msg->piece >= c->code.piece_count) {
        stale(c, link, &msg->key, actions);
        return;
    }
    unassign(c, msg->piece, link);
    c->members[link].strikes++;
    if (++c->refusals >= REFUSALS_MAX || c->alive == 1) {
        coordinator_fail(c, actions, ERR_RANGE,
                         "step %u: chunks %u to %u give a gradient that is "
                         "not finite; look for huge values in the data or "
                         "lower --lr",
                         c->key.step, c->code.pieces[msg->piece].first,
                         c->code.pieces[msg->piece].end - 1);
        return;
    }
    round_rebalance(c, actions);
}

/*
 * sum_call.c - one call in one view: slices, parts, and who has them all.
 */
#include <string.h>

#include "base/bugs.h"
#include "base/check.h"
#include "core/sum/sum_parts.h"
#include "core/sum/table.h"
#include "math/exact/exact.h"

uint64_t sum_slice_at(uint64_t count, uint32_t slots, uint32_t slot)
{
    return table_slice(count, slots, slot);
}

uint64_t sum_slice_size(uint64_t count, uint32_t slots, uint32_t slot)
{
    return table_slice(count, slots, slot + 1) -
           table_slice(count, slots, slot);
}

static uint64_t open_call(const struct sum_member *member)
{
    return member->committed + 1;
}

static struct sum_traffic *traffic_of(struct sum_member *member, uint64_t call)
{
    return &member->traffic[call & 1];
}

void sum_call_reset(struct sum_member *member)
{
    memset(member->traffic, 0, sizeof member->traffic);
    member->added = member->holds = false;
    member->given = member->doubt = false;
}

static void describe(const struct sum_member *member, struct sum_action *action,
                     uint64_t call, uint32_t slot,
                     const struct sum_shape *shape)
{
    action->call = call;
    action->slot = slot;
    action->slots = member->view.count;
    action->shape = *shape;
}

/* Slices and parts: what the driver is to add to the message. */
static void send_piece(const struct sum_member *member, uint32_t seat,
                       enum sum_kind kind, uint32_t slot,
                       const struct sum_shape *shape,
                       struct sum_actions *actions)
{
    struct sum_action *action;

    if (seat == member->me || member->roads[seat] == SUM_NOBODY)
        return;
    action = sum_act(actions, SUM_ACTION_SEND);
    action->link = member->roads[seat];
    action->msg = sum_words(member, kind);
    action->msg.shape = *shape;
    describe(member, action, action->msg.call, slot, shape);
}

/* Who was in, by name: the same text for everyone. */
static void write_who(const struct sum_member *member, struct sum_last *last)
{
    const struct sum_seat *seats = member->view.seats;
    uint32_t order[SUM_SEATS], count = 0;
    size_t size = 0;

    for (uint32_t i = 0; i < member->view.count; i++) {
        uint32_t at = count;

        if ((member->set & sum_bit(i)) == 0)
            continue;
        for (; at > 0 && strcmp(seats[order[at - 1]].name, seats[i].name) > 0;
             at--)
            order[at] = order[at - 1];
        order[at] = i;
        count++;
    }
    for (uint32_t k = 0; k < count; k++) {
        const size_t length = strlen(seats[order[k]].name);

        if (k > 0)
            last->who[size++] = ',';
        memcpy(last->who + size, seats[order[k]].name, length);
        size += length;
    }
    last->who[size] = '\0';
}

/* All of the view have the total, or its successor says so. */
void sum_commit(struct sum_member *member, struct sum_actions *actions)
{
    const bool mine = member->given && !member->doubt;

    CHECK(member->holds);
    member->committed++;
    member->last.call = member->committed;
    member->last.contributed = sum_count(member->set);
    member->last.members = member->view.count;
    member->last.shape = traffic_of(member, member->committed)->shape;
    write_who(member, &member->last);
    *traffic_of(member, member->committed) = (struct sum_traffic){0};
    member->added = member->holds = member->closed = false;
    member->given = member->doubt = false;
    member->set = sum_all(&member->view);
    if (traffic_of(member, open_call(member))->odd)
        member->ask_at = member->now;
    if (member->pending && (mine || member->told < member->committed))
        sum_answer_total(member, mine, actions);
    else if (mine)
        member->told = member->committed;
}

/* SUM-2: only here is HAVE said. */
static void advance(struct sum_member *member, struct sum_actions *actions)
{
    struct sum_traffic *t = traffic_of(member, open_call(member));
    const uint64_t all = sum_all(&member->view);

    if (!member->added && !t->odd && t->shape.type != 0 &&
        (t->slices & member->set) == member->set &&
        sum_count(member->set) >= member->view.least) {
        struct sum_action *action = sum_act(actions, SUM_ACTION_ADD);

        describe(member, action, open_call(member), member->me, &t->shape);
        action->set = member->set;
        member->added = true;
        t->parts |= sum_bit(member->me);
        for (uint32_t i = 0; i < member->view.count; i++)
            send_piece(member, i, SUM_PART, member->me, &t->shape, actions);
    }
    if (!member->holds && member->added &&
        (t->parts == all || BUG(BUG_SUM_HALF))) {
        const struct sum_msg have = sum_words(member, SUM_HAVE);

        member->holds = true;
        t->haves |= sum_bit(member->me);
        sum_tell_all(member, &have, actions);
    }
    if (member->holds && (t->haves == all || BUG(BUG_SUM_ALONE)))
        sum_commit(member, actions);
}

/* Vectors that differ cannot be added: the successor says which it is to be. */
static void note_slice(struct sum_member *member, uint32_t seat, uint64_t call,
                       const struct sum_shape *shape)
{
    struct sum_traffic *t = traffic_of(member, call);

    t->slices |= sum_bit(seat);
    if (t->shape.type == 0)
        t->shape = *shape;
    if (sum_same_shape(&t->shape, shape) || t->odd)
        return;
    t->odd = true;
    if (call == open_call(member))
        member->ask_at = member->now;
}

void sum_try_give(struct sum_member *member, struct sum_actions *actions)
{
    struct sum_action *action;

    if (!member->in || member->frozen || !member->pending || member->given ||
        member->withdraw != ERR_OK || (member->set & sum_bit(member->me)) == 0)
        return;
    member->given = true;
    for (uint32_t i = 0; i < member->view.count; i++)
        send_piece(member, i, SUM_SLICE, i, &member->shape, actions);
    action = sum_act(actions, SUM_ACTION_KEEP);
    describe(member, action, open_call(member), member->me, &member->shape);
    note_slice(member, member->me, open_call(member), &member->shape);
    advance(member, actions);
}

/* Bytes that the piece has, if the vector is one that there may be. */
static bool fits(const struct sum_member *member, const struct sum_msg *msg,
                 uint32_t slot)
{
    const size_t unit = exact_size((enum exact_type)msg->shape.type);

    return unit != 0 && msg->shape.count > 0 &&
           msg->shape.count <= member->view.size_max / unit &&
           msg->size == unit * sum_slice_size(msg->shape.count,
                                              member->view.count, slot);
}

static void keep(struct sum_member *member, uint32_t seat,
                 const struct sum_msg *msg, struct sum_actions *actions)
{
    struct sum_action *action = sum_act(actions, SUM_ACTION_KEEP);

    describe(member, action, msg->call, seat, &msg->shape);
    action->msg = *msg;
}

static void on_slice(struct sum_member *member, uint32_t seat,
                     const struct sum_msg *msg, struct sum_actions *actions)
{
    const struct sum_traffic *t = traffic_of(member, msg->call);
    const bool early = msg->call == open_call(member) + 1;

    if ((msg->call != open_call(member) && !early) ||
        (t->slices & sum_bit(seat)) != 0 || !fits(member, msg, member->me) ||
        (!early && (member->set & sum_bit(seat)) == 0) ||
        (BUG(BUG_SUM_EARLY) && early))
        return;
    keep(member, seat, msg, actions);
    note_slice(member, seat, msg->call, &msg->shape);
    if (!early)
        advance(member, actions);
}

static void on_part(struct sum_member *member, uint32_t seat,
                    const struct sum_msg *msg, struct sum_actions *actions)
{
    struct sum_traffic *t = traffic_of(member, msg->call);

    if (msg->call != open_call(member) || (t->parts & sum_bit(seat)) != 0 ||
        !fits(member, msg, seat) ||
        (t->shape.type != 0 && (t->shape.type != msg->shape.type ||
                                t->shape.count != msg->shape.count)))
        return;
    t->parts |= sum_bit(seat);
    if (t->shape.type == 0)
        t->shape = msg->shape;
    keep(member, seat, msg, actions);
    advance(member, actions);
}

/* SUM-4: of this view, and it is not over. */
void sum_call_message(struct sum_member *member, uint32_t seat,
                      const struct sum_msg *msg, struct sum_actions *actions)
{
    if (!member->in || seat == SUM_NOBODY ||
        (msg->number != member->view.number && !BUG(BUG_SUM_STALE)) ||
        (member->frozen && !BUG(BUG_SUM_THAW)))
        return;
    if (msg->kind == SUM_SLICE)
        on_slice(member, seat, msg, actions);
    else if (msg->kind == SUM_PART)
        on_part(member, seat, msg, actions);
    else if (msg->call == open_call(member)) {
        traffic_of(member, msg->call)->haves |= sum_bit(seat);
        advance(member, actions);
    }
    sum_try_give(member, actions);
}

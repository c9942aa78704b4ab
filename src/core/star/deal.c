/*
 * deal.c - who is asked for which pieces of a product with coded data: arcs by
 * speed, and what is missing anew when somebody leaves, joins or lags.
 */
#include "base/check.h"
#include "core/product.h"
#include "core/star/coordinator_parts.h"

#define LAG_FACTOR  1.3  /* Of the time in which half of them were done. */
#define PACE_ALIKE  0.15 /* Speeds that differ by less are the same. */
#define PACE_WEIGHT 0.5  /* Of the last round, in the speed. */
#define PACE_LAGGED 0.7  /* Of what a laggard was thought to be. */

/* --- speeds -------------------------------------------------------------- */

/* A share of the block, computed since it was asked or had answered last. */
static void note_pace(struct coordinator *c, struct member *member, uint32_t id)
{
    const struct block_shape shape = product_blocks(c);
    const struct segment *segment = &c->segments.list[id];
    const time_us since = member->answered_at > member->assigned_at
                              ? member->answered_at
                              : member->assigned_at;

    member->pace.share += (double)(segment->end - segment->first) /
                          block_range(&shape, c->what.kind);
    member->pace.us += (double)(c->now - since);
}

static void settle_pace(struct pace *pace)
{
    const double now = pace->us > 0 ? pace->share / pace->us : 0;

    if (now > 0 && pace->speed > 0)
        pace->speed += PACE_WEIGHT * (now - pace->speed);
    else if (now > 0)
        pace->speed = now;
    pace->share = 0;
    pace->us = 0;
}

void deal_settle(struct coordinator *c)
{
    for (uint32_t i = 0; i < c->alive; i++)
        settle_pace(&c->members[c->present[i]].pace);
}

/* Blocks a microsecond, of all whose speed is known; 0: of nobody. */
static double mean_speed(const struct coordinator *c)
{
    double sum = 0;
    uint32_t count = 0;

    for (uint32_t i = 0; i < c->alive; i++) {
        const double speed = c->members[c->present[i]].pace.speed;

        sum += speed;
        count += speed > 0;
    }
    return count == 0 ? 0 : sum / count;
}

/* Pieces a second.  Small differences are noise, and would only give every
 * round other sets of members to decode. */
static double speed_of(const struct coordinator *c, const struct member *member,
                       double mean)
{
    const double speed = member->pace.speed;
    const double scale = mean > 0 ? 1e6 * c->code.segments : 1;
    const double usual = mean > 0 ? mean : 1;

    if (speed <= 0 ||
        (speed > usual * (1 - PACE_ALIKE) && speed < usual * (1 + PACE_ALIKE)))
        return usual * scale;
    return speed * scale;
}

/* --- who may be asked ---------------------------------------------------- */

bool deal_counts_on(const struct coordinator *c, uint32_t slot)
{
    const uint32_t link = c->slot_link[slot];

    return link != LINK_NONE && member_healthy(c, link) &&
           !refusals_of_row(c, link) && !c->members[link].lags;
}

/* Pieces that it has shown to have the data of: strips are sent in order. */
static uint32_t ready_pieces(const struct coordinator *c,
                             const struct member *member)
{
    if (member->resident)
        return c->code.segments;
    if (c->what.kind == EVALUATE_BACK) /* A column is of all strips. */
        return member->wide ? c->code.segments : 0;
    return member->ready;
}

/* Members who can be given pieces, to s->members in the order of their slots;
 * returns how many. */
uint32_t deal_members(struct coordinator *c)
{
    const double mean = mean_speed(c);
    uint32_t count = 0;

    for (uint32_t slot = 0; slot < c->code.slots; slot++) {
        const struct member *member;

        if (!deal_counts_on(c, slot))
            continue;
        member = &c->members[c->slot_link[slot]];
        c->segments.members[count++] = (struct arc_member){
            .block = slot,
            .ready = ready_pieces(c, member),
            .speed = speed_of(c, member, mean),
        };
    }
    return count;
}

/* Its answer shows that what was sent before has arrived.  The next proof is
 * asked for twice as far on. */
static void note_ready(struct coordinator *c, struct member *member,
                       uint32_t id)
{
    const bool scores = c->what.kind == EVALUATE_SCORES;

    if (member->resident ||
        (scores ? id < member->ready
                : member->wide || c->what.kind != EVALUATE_BACK))
        return;
    if (scores)
        member->ready = id + 1;
    else
        member->wide = true;
    c->segments.changed = true;
}

/* --- giving out ---------------------------------------------------------- */

/* The piece it is at: of those it owes, the one it was given first.
 * UINT32_MAX: it owes none. */
static uint32_t piece_at(const struct coordinator *c, uint32_t slot)
{
    const uint32_t *given = c->segments.given + (size_t)slot * c->segments.max;
    const uint32_t link = c->slot_link[slot];
    uint32_t found = UINT32_MAX;

    for (uint32_t id = 0; id < c->piece_count; id++) {
        if (given[id] != 0 && work_has(&c->pieces[id], link) &&
            (found == UINT32_MAX || given[id] < given[found]))
            found = id;
    }
    return found;
}

/* What is in, and what is being computed: that is not taken back. */
static void describe(struct coordinator *c, uint32_t members)
{
    struct segments *s = &c->segments;

    for (uint32_t id = 0; id < c->piece_count; id++) {
        s->done[id] = s->list[id].from;
        s->doing[id] = (struct blockset){0};
        /* It may be in because there is nothing in it. */
        for (uint32_t slot = 0; c->piece_in[id] && slot < c->code.slots; slot++)
            blockset_add(&s->done[id], slot);
    }
    for (uint32_t i = 0; i < members; i++) {
        struct arc_member *member = &s->members[i];
        const uint32_t at = piece_at(c, member->block);

        if (at == UINT32_MAX || c->piece_in[at])
            continue;
        blockset_add(&s->doing[at], member->block);
        member->free_s = 0.5 / member->speed;
        member->next = (at + 1) % c->piece_count;
    }
}

/* The slot is to do these pieces, and what it is at: it is told what is new to
 * it, and what it may skip. */
static void deal(struct coordinator *c, uint32_t slot, const uint32_t *list,
                 uint32_t count, struct actions *actions)
{
    struct segments *s = &c->segments;
    uint32_t *given = s->given + (size_t)slot * s->max;
    const uint32_t link = c->slot_link[slot];
    const uint32_t at = piece_at(c, slot);
    uint32_t fresh = 0;

    s->deals++;
    for (uint32_t i = 0; i < count; i++)
        s->dealt[list[i]] = s->deals;
    for (uint32_t id = 0; id < c->piece_count; id++) {
        if (id != at && s->dealt[id] != s->deals &&
            work_has(&c->pieces[id], link))
            work_take_back(c, id, link, actions);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!work_give(c, list[i], link))
            continue;
        given[list[i]] = ++s->gives;
        c->ids[fresh++] = list[i];
    }
    if (fresh > 0)
        work_send(c, link, c->ids, fresh, actions);
}

/* One piece besides what it has; false: it has that, too. */
static bool give_one(struct coordinator *c, uint32_t slot, uint32_t id,
                     struct actions *actions)
{
    struct segments *s = &c->segments;

    if (!work_give(c, id, c->slot_link[slot]))
        return false;
    s->given[(size_t)slot * s->max + id] = ++s->gives;
    work_send(c, c->slot_link[slot], &id, 1, actions);
    return true;
}

/* A piece that the block could still answer, from `id` on; UINT32_MAX: none. */
static uint32_t open_piece(const struct coordinator *c, uint32_t block,
                           uint32_t id)
{
    while (id < c->piece_count &&
           (c->piece_in[id] || blockset_has(&c->segments.list[id].from, block)))
        id++;
    return id < c->piece_count ? id : UINT32_MAX;
}

/* One whose data is still coming is given, besides what it is known to have,
 * a piece that would prove that twice as much has come. */
static void probe(struct coordinator *c, const struct arc_member *member,
                  struct actions *actions)
{
    uint32_t id;

    if (member->ready >= c->piece_count)
        return;
    id = open_piece(c, member->block, 2 * member->ready);
    if (id == UINT32_MAX)
        id = open_piece(c, member->block, member->ready);
    if (id != UINT32_MAX)
        (void)give_one(c, member->block, id, actions);
}

/* Everything that is missing, anew. */
void deal_plan(struct coordinator *c, struct actions *actions)
{
    struct segments *s = &c->segments;
    const uint32_t members = deal_members(c);
    const struct residual_task task = {.pieces = c->piece_count,
                                       .cover = s->need,
                                       .done = s->done,
                                       .doing = s->doing,
                                       .members = s->members,
                                       .count = members};

    s->changed = false;
    describe(c, members);
    residual_plan(&s->plan, &task);
    for (uint32_t i = 0; i < members; i++)
        deal(c, s->members[i].block, s->plan.list + s->plan.first[i],
             s->plan.first[i + 1] - s->plan.first[i], actions);
    for (uint32_t i = 0; i < members; i++)
        probe(c, &s->members[i], actions);
}

/* Everybody does everything. */
void deal_all(struct coordinator *c, struct actions *actions)
{
    const uint32_t first = code_first_slot(&c->code, c->key.step);
    const uint32_t all = 0;

    CHECK(c->piece_count == 1);
    for (uint32_t i = 0; i < c->code.slots; i++) {
        const uint32_t slot = (first + i) % c->code.slots;

        if (c->slot_link[slot] != LINK_NONE)
            deal(c, slot, &all, 1, actions);
    }
}

/* One more is wanted of a piece whose answers decode badly: of anybody who has
 * not given one. */
void deal_one_more(struct coordinator *c, uint32_t id, struct actions *actions)
{
    for (uint32_t slot = 0; slot < c->code.slots; slot++) {
        if (deal_counts_on(c, slot) &&
            !blockset_has(&c->segments.list[id].from, slot) &&
            give_one(c, slot, id, actions))
            return;
    }
}

/* Half of them have nothing left to do: who takes much longer lags. */
static void note_idle(struct coordinator *c)
{
    uint32_t busy = 0;
    uint32_t all = 0;

    for (uint32_t slot = 0; slot < c->code.slots; slot++) {
        const uint32_t link = c->slot_link[slot];

        if (link == LINK_NONE || !c->members[link].in_round)
            continue;
        all++;
        busy += c->members[link].outstanding > 0;
    }
    /* A way back ends: only its first round leaves laggards behind. */
    if (c->segments.look_at == TIME_NEVER && 2 * busy <= all && busy > 0 &&
        !combine_again(c))
        c->segments.look_at =
            c->round_began_at +
            (time_us)(LAG_FACTOR * (double)(c->now - c->round_began_at)) + 1;
}

void deal_answered(struct coordinator *c, uint32_t link, uint32_t id)
{
    struct member *member = &c->members[link];

    note_pace(c, member, id);
    note_ready(c, member, id);
    (void)work_take(c, id, link);
    member->answered++;
    member->answers++;
    member->answered_at = c->now;
    if (member->outstanding == 0)
        member->lags = false;
    if (code_spec_elastic(&c->code.spec))
        note_idle(c);
}

/* --- who came, who went, who lags ---------------------------------------- */

time_us deal_look_at(const struct coordinator *c)
{
    return c->phase == COORDINATOR_ROUND && product_on(c) ? c->segments.look_at
                                                          : TIME_NEVER;
}

/* What laggards owe goes to others, too; whoever is first counts. */
static void look_for_laggards(struct coordinator *c)
{
    if (c->now < c->segments.look_at)
        return;
    c->segments.look_at = TIME_NEVER;
    for (uint32_t i = 0; i < c->alive; i++) {
        struct member *member = &c->members[c->present[i]];

        member->lags = member->outstanding > 0;
        if (member->lags)
            member->pace.speed *= PACE_LAGGED;
    }
    c->segments.changed = true;
}

/* Whoever came in mid-round takes a free block at once. */
static void seat(struct coordinator *c)
{
    for (uint32_t i = 0; i < c->alive; i++)
        view_seat(c, c->present[i]);
}

/* Seats that are filled. */
static uint32_t seated(const struct coordinator *c)
{
    uint32_t count = 0;

    for (uint32_t slot = 0; slot < c->code.slots; slot++)
        count += c->slot_link[slot] != LINK_NONE;
    return count;
}

/* Fewer than L machines: nothing can end, and people should know. */
static void tell_waiting(struct coordinator *c, struct actions *actions)
{
    const bool waiting = seated(c) < c->segments.need;
    struct trace *trace;

    if (waiting == c->segments.waiting)
        return;
    c->segments.waiting = waiting;
    trace = coordinator_trace(c, actions, waiting ? TRACE_SHORT : TRACE_ENOUGH,
                              LINK_NONE);
    trace->a = seated(c);
    trace->b = c->segments.need;
}

/* All who could have answered have refused. */
static bool hopeless(const struct coordinator *c)
{
    uint32_t willing = 0;

    for (uint32_t slot = 0; slot < c->code.slots; slot++) {
        const uint32_t link = c->slot_link[slot];

        willing += link != LINK_NONE && !refusals_of_row(c, link);
    }
    return willing < c->segments.need && seated(c) >= c->segments.need &&
           c->refusals.count > 0;
}

void deal_balance(struct coordinator *c, struct actions *actions)
{
    const uint64_t sent = c->assignments;
    struct segments *s = &c->segments;

    CHECK(code_spec_elastic(&c->code.spec));
    seat(c);
    tell_waiting(c, actions);
    if (hopeless(c)) {
        answers_no_range(c, 0, actions);
        return;
    }
    look_for_laggards(c);
    if (!s->changed)
        return;
    s->changed = false;
    if (combine_on(c))
        combine_balance(c, actions);
    else
        deal_plan(c, actions);
    /* Who has just been given something does not lag: when half of them are
     * idle again there will be another look. */
    if (c->assignments != sent)
        s->look_at = TIME_NEVER;
}

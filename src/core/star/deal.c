/*
 * deal.c - who is asked for which pieces of a product with coded data: arcs by
 * speed, and what is missing anew when somebody leaves, joins or lags.
 */
#include "base/check.h"
#include "core/product.h"
#include "core/star/coordinator_parts.h"

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
    const double usual = pace_usual(c);
    uint32_t count = 0;

    for (uint32_t slot = 0; slot < c->code.slots; slot++) {
        const struct member *member;

        if (!deal_counts_on(c, slot))
            continue;
        member = &c->members[c->slot_link[slot]];
        c->segments.members[count++] = (struct arc_member){
            .block = slot,
            .ready = ready_pieces(c, member),
            .speed = pace_speed(c, member, usual),
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
    c->segments.outdated = true;
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

/* All that is not in the deal at hand, nor what it is at. */
static void take_back(struct coordinator *c, uint32_t slot,
                      struct actions *actions)
{
    const struct segments *s = &c->segments;
    const uint32_t link = c->slot_link[slot];
    const uint32_t at = piece_at(c, slot);
    uint32_t count = 0;

    for (uint32_t id = 0; id < c->piece_count; id++) {
        if (id != at && s->dealt[id] != s->deals &&
            work_has(&c->pieces[id], link))
            c->ids[count++] = id;
    }
    if (count > 0)
        work_take_back(c, link, c->ids, count, actions);
}

void deal_slot(struct coordinator *c, uint32_t slot, const uint32_t *list,
               uint32_t count, struct actions *actions)
{
    struct segments *s = &c->segments;
    uint32_t *given = s->given + (size_t)slot * s->max;
    const uint32_t link = c->slot_link[slot];
    uint32_t fresh = 0;

    s->deals++;
    for (uint32_t i = 0; i < count; i++)
        s->dealt[list[i]] = s->deals;
    take_back(c, slot, actions);
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

    s->outdated = false;
    describe(c, members);
    residual_plan(&s->plan, &task);
    for (uint32_t i = 0; i < members; i++)
        deal_slot(c, s->members[i].block, s->plan.list + s->plan.first[i],
                  s->plan.first[i + 1] - s->plan.first[i], actions);
    for (uint32_t i = 0; i < members; i++)
        probe(c, &s->members[i], actions);
}

/* Who has been passed over for long tries its hand at a piece.  Nobody waits
 * for it: it counts as one who lags. */
void deal_trials(struct coordinator *c, struct actions *actions)
{
    for (uint32_t slot = 0; slot < c->code.slots; slot++) {
        const uint32_t id =
            open_piece(c, slot, slot * c->piece_count / c->code.slots);
        const uint32_t link = c->slot_link[slot];

        if (pace_tries(c, slot) && id != UINT32_MAX &&
            id < ready_pieces(c, &c->members[link]) &&
            give_one(c, slot, id, actions))
            c->members[link].lags = true;
    }
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
            deal_slot(c, slot, &all, 1, actions);
    }
}

/* One more is wanted of a piece whose answers decode badly: of anybody who has
 * not given one. */
bool deal_one_more(struct coordinator *c, uint32_t id, struct actions *actions)
{
    for (uint32_t slot = 0; slot < c->code.slots; slot++) {
        if (deal_counts_on(c, slot) &&
            !blockset_has(&c->segments.list[id].from, slot) &&
            give_one(c, slot, id, actions))
            return true;
    }
    return false;
}

bool deal_awaits(const struct coordinator *c, uint32_t id)
{
    const struct piece_state *piece = &c->pieces[id];

    for (uint32_t i = 0; i < piece->assignee_count; i++) {
        const struct member *member = &c->members[piece->assignee[i]];

        if (member->state == MEMBER_ACTIVE && deal_counts_on(c, member->slot))
            return true;
    }
    return false;
}

void deal_answered(struct coordinator *c, uint32_t link, uint32_t id)
{
    struct member *member = &c->members[link];

    pace_answered(c, member, id);
    note_ready(c, member, id);
    (void)work_take(c, id, link);
    member->answered++;
    member->answers++;
    member->answered_at = c->now;
    if (member->outstanding == 0)
        member->lags = false;
    if (code_spec_elastic(&c->code.spec))
        pace_idle(c);
}

/* --- who came, who went, who lags ---------------------------------------- */

time_us deal_look_at(const struct coordinator *c)
{
    return c->phase == COORDINATOR_ROUND && product_on(c) ? c->segments.look_at
                                                          : TIME_NEVER;
}

/* Seats that are filled. */
static uint32_t seated(const struct coordinator *c)
{
    uint32_t count = 0;

    for (uint32_t slot = 0; slot < c->code.slots; slot++)
        count += c->slot_link[slot] != LINK_NONE;
    return count;
}

/* Whoever came in mid-round takes a free block at once, and is asked for what
 * waits for one more. */
static void seat(struct coordinator *c, struct actions *actions)
{
    const uint32_t before = seated(c);

    for (uint32_t i = 0; i < c->alive; i++)
        view_seat(c, c->present[i]);
    if (seated(c) > before)
        segments_look_again(c, actions);
}

bool deal_may_join(const struct coordinator *c)
{
    return seated(c) < c->code.slots;
}

bool deal_stuck(const struct coordinator *c)
{
    const struct segments *s = &c->segments;

    if (!code_spec_elastic(&c->code.spec))
        return false;
    if (combine_on(c))
        return s->ill;
    for (uint32_t id = 0; id < c->piece_count; id++) {
        if (!c->piece_in[id] && s->list[id].count >= s->need &&
            c->pieces[id].assignee_count == 0)
            return true;
    }
    return false;
}

/* Machines that the step takes, if there are fewer; else 0. */
static uint32_t wanted(const struct coordinator *c)
{
    const uint32_t here = seated(c);

    if (here < c->segments.need)
        return c->segments.need;
    return deal_stuck(c) ? here + 1 : 0;
}

/* Fewer than L machines, or L that decode too badly: nothing can end, and
 * people should know. */
static void tell_waiting(struct coordinator *c, struct actions *actions)
{
    const uint32_t waits = wanted(c);
    struct trace *trace;

    if (waits == c->segments.waits_for)
        return;
    c->segments.waits_for = waits;
    trace = coordinator_trace(
        c, actions, waits > 0 ? TRACE_SHORT : TRACE_ENOUGH, LINK_NONE);
    trace->a = seated(c);
    trace->b = waits > 0 ? waits : c->segments.need;
    trace->value = waits > c->segments.need; /* Enough, were they others. */
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

static void replan(struct coordinator *c, struct actions *actions)
{
    c->segments.outdated = false;
    if (combine_on(c))
        combine_balance(c, actions);
    else
        deal_plan(c, actions);
}

void deal_balance(struct coordinator *c, struct actions *actions)
{
    const uint64_t sent = c->assignments;
    struct segments *s = &c->segments;

    CHECK(code_spec_elastic(&c->code.spec));
    seat(c, actions);
    if (hopeless(c)) {
        answers_no_range(c, 0, actions);
        return;
    }
    pace_idle(c);
    pace_look(c);
    if (s->outdated)
        replan(c, actions);
    if (c->phase == COORDINATOR_ROUND)
        tell_waiting(c, actions);
    /* Who has just been given something does not lag: when half of them are
     * idle again there will be another look. */
    if (c->assignments != sent)
        s->look_at = TIME_NEVER;
}

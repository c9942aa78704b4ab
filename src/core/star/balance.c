/*
 * balance.c - pieces that move while the round is open.
 *
 *   steal   a worker that runs out takes the last piece of the group member
 *           that is furthest behind (schedule `steal`)
 *   hedge   nobody healthy works on a piece any more: the least busy healthy
 *           worker gets it too, with its data if need be
 *
 * A piece may so be computed twice; the second answer is dropped whole
 * (TALLY-1), which is why moving work needs no agreement with the victim.
 */
#include "base/bugs.h"
#include "base/check.h"
#include "core/star/coordinator_parts.h"

#define STEAL_BACKLOG 1u /* A worker with no more than this takes more. */
#define STEAL_SPARE   1u /* Computing a piece beyond those it waits for. */

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
    const time_us spent = c->now - c->round_began_at;
    const time_us usual = spent / (fast->answered > 0 ? fast->answered : 1);

    return fast->outstanding == 0 &&
           c->now - c->members[victim].answered_at >= 2 * usual;
}

/* Is a piece better off with `thief`?  It has less to do even then, or it has
 * shown that it is faster: by more than one answer, which the other may be
 * about to give.  Never true both ways: two workers must not pass a piece to
 * and fro. */
static bool gains(const struct coordinator *c, uint32_t thief, uint32_t victim)
{
    const struct member *to = &c->members[thief];
    const struct member *from = &c->members[victim];

    return from->outstanding > to->outstanding + 1 ||
           to->answered > from->answered + 1;
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

    if (c->piece_in[id] || work_has(piece, thief) ||
        verify_voted(c, id, thief) || refusals_has(c, id, thief) ||
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

void balance_steal(struct coordinator *c, uint32_t link,
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
    group = round_group(c, member->slot);
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
        /* The victim does not count as working on it any more: if the thief
         * dies, the piece is nobody's and is given out again. */
        work_take_back(c, slowest(c, &c->pieces[best_id]), &best_id, 1,
                       actions);
    CHECK(work_give(c, best_id, link));
    c->stats.stolen++;
    coordinator_trace(c, actions, TRACE_STOLEN, link)->a = best_id;
    work_send(c, link, &best_id, 1, actions);
    work_alone(c, best_id, actions);
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
        const bool lacks = !job_suffices(&c->options.job, &member->held,
                                         piece->first, piece->end);
        uint64_t cost;

        if (!member_healthy(c, link) || work_has(&c->pieces[id], link) ||
            verify_voted(c, id, link) || refusals_has(c, id, link) ||
            (homes_on(c) && lacks))
            continue;
        cost =
            (uint64_t)member->strikes * 1000 + 2 * member->outstanding + lacks;
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
        (void)work_take(c, id, c->pieces[id].assignee[0]);
    CHECK(work_give(c, id, helper));
    c->stats.hedged++;
    coordinator_trace(c, actions, TRACE_HEDGED, helper)->a = id;
    work_send(c, helper, &id, 1, actions);
    work_alone(c, id, actions);
    return true;
}

/* As many healthy workers on the piece as answers are wanted. */
static void hedge_piece(struct coordinator *c, uint32_t id,
                        struct actions *actions)
{
    uint32_t healthy;

    if (c->piece_in[id] || c->phase != COORDINATOR_ROUND ||
        BUG(BUG_FORGET_DEAD))
        return;
    if (refusals_true(c, id)) { /* The others have gone. */
        answers_no_range(c, id, actions);
        return;
    }
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

static void give_up_inexact(struct coordinator *c, struct actions *actions)
{
    commit_give_up(c, actions, ERR_UNDECODABLE,
                   "step %u: what these workers answer restores the gradient "
                   "less exactly than code %s promises (%s)",
                   c->key.step, c->code.spec.name,
                   exactness_name(c->code.exactness));
}

/* Nobody is left to wait for, and what is in is less exact than the code
 * promises.  With a code for the living all can be in; if they were, or one of
 * them refuses, that would not help. */
static void refit(struct coordinator *c, struct actions *actions)
{
    bool all = true;

    for (uint32_t slot = 0; slot < c->code.slots; slot++)
        all = all && (c->slot_in[slot] || c->slot_link[slot] != LINK_NONE);
    if (all) {
        give_up_inexact(c, actions);
        return;
    }
    c->recoding.refit = true;
    begin_anew(c, actions);
}

/* Is a row still to come? */
static bool row_awaited(const struct coordinator *c)
{
    for (uint32_t slot = 0; slot < c->code.slots; slot++) {
        const uint32_t link = c->slot_link[slot];

        if (!c->slot_in[slot] && link != LINK_NONE &&
            c->members[link].outstanding > 0 && !refusals_of_row(c, link))
            return true;
    }
    return false;
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

void balance_round(struct coordinator *c, struct actions *actions)
{
    if (c->phase != COORDINATOR_ROUND)
        return;
    if (product_on(c) && !c->doubtful) {
        segments_look_again(c, actions);
        if (round_enough(c)) {
            commit_round(c, actions);
            return;
        }
    }
    if (code_spec_elastic(&c->code.spec)) {
        if (c->doubtful)
            give_up_inexact(c, actions);
        else
            deal_balance(c, actions);
        return;
    }
    if (c->code.carrier == CARRIER_F64 && !can_decode(c)) {
        begin_anew(c, actions);
        return;
    }
    if (refusals_block(c)) {
        c->recoding.refit = true;
        begin_anew(c, actions);
        return;
    }
    if (c->doubtful && !row_awaited(c)) {
        refit(c, actions);
        return;
    }
    /* The one that was waited for may have gone. */
    if (stale_on(c) && round_enough(c)) {
        commit_round(c, actions);
        return;
    }
    if (c->code.carrier == CARRIER_F64 || must_hedge(c)) {
        for (uint32_t id = 0; id < c->code.plain_count; id++)
            hedge_piece(c, id, actions);
    }
    if (c->code.spec.schedule != SCHED_STEAL)
        return;
    for (uint32_t slot = 0; slot < c->code.slots; slot++) {
        if (c->slot_link[slot] != LINK_NONE)
            balance_steal(c, c->slot_link[slot], actions);
    }
}

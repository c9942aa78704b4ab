/*
 * combine.c - X^T r by input coding: each member multiplies the rows of its own
 * block with numbers of its own, and the sum of what all send is the gradient.
 *
 * The rows of the blocks are cut into pieces.  For every piece a set of L
 * members is chosen, and the L numbers r of each of its rows' parts are spread
 * over them, u = G_S^-T r (code/erasure.h).  What a member sends of a piece
 * counts when it comes; the piece is whole when all of its set have answered.
 *
 * When a member is gone, or lags, or refuses, the round ends early: everybody
 * finishes what it is at, and is told to skip the rest.  Then, of each piece,
 *
 *     all of the set have answered    it is in the sum
 *     none have                       r is spread anew, as if nothing had been
 *     some have                       what is missing are numbers u_p of each
 *                                     row; their share of the parts, u_p G[p],
 *                                     is spread over L others
 *
 * and the next round does so with those who are there.  Only the last kind
 * costs more than it would have, L members for each that is missing.  Members
 * do their pieces by turns, at the same time (code/turns.h), so that there are
 * few of them.
 *
 * Numbers belong to a round, and answers name theirs: whatever comes late, the
 * sum is right (TALLY-1).  The storage of a member stays one block.
 */
#include <string.h>

#include "base/bugs.h"
#include "base/check.h"
#include "code/turns.h"
#include "core/product.h"
#include "core/star/coordinator_parts.h"

bool combine_on(const struct coordinator *c)
{
    return c->what.kind == EVALUATE_COMBINE;
}

/* Numbers of a part in `unsummed`, and of a slot in `inputs`. */
static size_t stride_of(const struct coordinator *c)
{
    const struct block_shape shape = product_blocks(c);

    return block_in(&shape, EVALUATE_COMBINE);
}

const double *combine_vector(const struct coordinator *c, uint32_t slot)
{
    return c->segments.inputs + slot * stride_of(c);
}

/* --- what is left to multiply -------------------------------------------- */

/* To begin with nothing is summed: all slopes are left to multiply. */
void combine_begin(struct coordinator *c)
{
    const struct block_shape shape = product_blocks(c);
    const size_t stride = stride_of(c);
    struct segments *s = &c->segments;

    memset(s->unsummed, 0, stride * c->code.parts * sizeof *s->unsummed);
    for (uint32_t part = 0; part < c->code.parts; part++) {
        const uint32_t first = block_part_row(&shape, part);
        const uint32_t end = block_part_row(&shape, part + 1);

        memcpy(s->unsummed + part * stride, c->products.scores + first,
               (end - first) * sizeof *s->unsummed);
    }
    memset(s->whole, 0, s->max * sizeof *s->whole);
    s->again = false;
}

/* Of the piece's set, those whose answer is not in the sum. */
static struct blockset missing_of(const struct coordinator *c, uint32_t id)
{
    const struct segments *s = &c->segments;
    struct blockset missing = {0};

    for (uint32_t block = blockset_next(&s->sets[id], 0); block < BLOCKS_MAX;
         block = blockset_next(&s->sets[id], block + 1)) {
        if (!blockset_has(&s->list[id].from, block))
            blockset_add(&missing, block);
    }
    return missing;
}

/* Put back what the answer of `slot`, which did not come, would have given. */
static void put_back(struct coordinator *c, uint32_t id, uint32_t slot)
{
    const struct segment *segment = &c->segments.list[id];
    const double *own = combine_vector(c, slot);
    const size_t stride = stride_of(c);

    for (uint32_t part = 0; part < c->code.parts; part++) {
        const double factor =
            BUG(BUG_COMBINE_RAW) ? 1 : code_coefficient(&c->code, slot, part);
        double *left = c->segments.unsummed + part * stride;

        for (uint32_t row = segment->first; factor != 0 && row < segment->end;
             row++)
            left[row] += factor * own[row];
    }
}

/* Some of the set have answered and are in the sum: what is left of the piece's
 * rows is what the others would have given. */
static void code_anew(struct coordinator *c, uint32_t id,
                      const struct blockset *missing)
{
    const struct segment *segment = &c->segments.list[id];
    const size_t stride = stride_of(c);

    for (uint32_t part = 0; part < c->code.parts; part++)
        memset(c->segments.unsummed + part * stride + segment->first, 0,
               (segment->end - segment->first) * sizeof *c->segments.unsummed);
    for (uint32_t block = blockset_next(missing, 0); block < BLOCKS_MAX;
         block = blockset_next(missing, block + 1))
        put_back(c, id, block);
}

bool combine_more(struct coordinator *c)
{
    struct segments *s = &c->segments;
    bool more = !s->planned;

    for (uint32_t id = 0; id < c->piece_count; id++) {
        const struct blockset missing = missing_of(c, id);

        if (s->whole[id] || !s->planned)
            continue;
        s->whole[id] = blockset_count(&missing) == 0;
        more = more || !s->whole[id];
        if (!s->whole[id] && blockset_count(&s->list[id].from) > 0)
            code_anew(c, id, &missing);
    }
    s->again = true;
    return more && !BUG(BUG_COMBINE_LOST);
}

bool combine_again(const struct coordinator *c)
{
    return combine_on(c) && c->segments.again && !BUG(BUG_COMBINE_ENDLESS);
}

/* --- who multiplies what ------------------------------------------------- */

/* The paper's rule, for comparison: whose arcs meet in a piece. */
static enum err deal_arcs(struct coordinator *c, uint32_t members)
{
    struct segments *s = &c->segments;
    double worst;
    enum err err;

    for (uint32_t i = 0; i < members; i++)
        s->members[i].ready = c->piece_count;
    err = arcs_settle(&c->code.erasure, s->rule, s->members, members,
                      c->piece_count, product_rcond(c), s->arcs, &worst);
    for (uint32_t id = 0; id < c->piece_count && err == ERR_OK; id++) {
        s->sets[id] = (struct blockset){0};
        if (!s->whole[id])
            arcs_set(s->members, s->arcs, members, c->piece_count, id,
                     &s->sets[id]);
    }
    return err;
}

static enum err deal_sets(struct coordinator *c, uint32_t members)
{
    struct segments *s = &c->segments;

    if (s->rule == ARC_CYCLIC)
        return deal_arcs(c, members);
    return turns_deal(&c->code.erasure, s->members, members, s->whole,
                      c->piece_count, product_rcond(c), s->sets);
}

/* What the set is to multiply rows [first, end) with. */
static enum err spread(struct coordinator *c, const struct blockset *blocks,
                       uint32_t first, uint32_t end)
{
    struct segments *s = &c->segments;
    const size_t stride = stride_of(c);
    const struct erasure_set *set;
    enum err err = erasure_find(&c->code.erasure, blocks, &set);

    if (err == ERR_OK && set->rcond < product_rcond(c) && deal_may_join(c))
        err = ERR_UNDECODABLE; /* One more could mend it. */
    if (err != ERR_OK)
        return err;
    for (uint32_t part = 0; part < c->code.parts; part++)
        s->answer[part] = s->unsummed + part * stride + first;
    for (uint32_t i = 0; i < set->count; i++)
        s->part[i] = s->inputs + set->block[i] * stride + first;
    erasure_spread(&c->code.erasure, set, end - first, s->answer, s->part);
    product_note(c, set);
    return ERR_OK;
}

/* Neighbours of the same set together.  Rows that a member has no part in are
 * zeros: it does not look at them, but product_most does. */
static enum err spread_all(struct coordinator *c)
{
    const struct segments *s = &c->segments;
    enum err err = ERR_OK;

    memset(s->inputs, 0, stride_of(c) * c->code.slots * sizeof *s->inputs);
    for (uint32_t id = 0; id < c->piece_count && err == ERR_OK;) {
        uint32_t next = id + 1;

        while (next < c->piece_count && !s->whole[id] &&
               blockset_equal(&s->sets[id], &s->sets[next]))
            next++;
        if (!s->whole[id])
            err = spread(c, &s->sets[id], s->list[id].first,
                         s->list[next - 1].end);
        id = next;
    }
    return err;
}

/* All pieces of the member's, in order: so all members are near the same one
 * at any time. */
static void give(struct coordinator *c, uint32_t slot, struct actions *actions)
{
    struct segments *s = &c->segments;
    uint32_t count = 0;

    for (uint32_t id = 0; id < c->piece_count; id++) {
        if (blockset_has(&s->sets[id], slot))
            s->plan.list[count++] = id;
    }
    deal_slot(c, slot, s->plan.list, count, actions);
}

/* Those whose block has arrived, if they are enough: rows that are still on
 * their way would hold everybody up.  Returns how many. */
static uint32_t choose_members(struct coordinator *c)
{
    struct segments *s = &c->segments;
    const uint32_t all = deal_members(c);
    uint32_t ready = 0;

    for (uint32_t i = 0; i < all; i++)
        ready += s->members[i].ready >= c->code.segments;
    if (ready < s->need)
        return all;
    ready = 0;
    for (uint32_t i = 0; i < all; i++) {
        if (s->members[i].ready >= c->code.segments)
            s->members[ready++] = s->members[i];
    }
    return ready;
}

static enum err lay(struct coordinator *c, uint32_t members)
{
    const enum err err = deal_sets(c, members);

    return err == ERR_OK ? spread_all(c) : err;
}

/* Who multiplies what, if those who are counted on can do it.  Where a set of
 * them decodes badly it is tried without each of them in turn. */
static enum err lay_out(struct coordinator *c, uint32_t *members)
{
    struct segments *s = &c->segments;
    const uint32_t all = choose_members(c);
    enum err err = lay(c, all);

    *members = all;
    for (uint32_t i = 0; err != ERR_OK && all > s->need && i < all; i++) {
        *members = choose_members(c) - 1;
        memmove(&s->members[i], &s->members[i + 1],
                (*members - i) * sizeof *s->members);
        err = lay(c, *members);
    }
    return err;
}

/* Without the laggards it cannot be done; false: there are none. */
static bool forgive(struct coordinator *c)
{
    bool any = false;

    for (uint32_t i = 0; i < c->alive; i++) {
        any = any || c->members[c->present[i]].lags;
        c->members[c->present[i]].lags = false;
    }
    return any;
}

/* Too few are here, or too bad a set of them: somebody's coming will bring us
 * back. */
static void spread_out(struct coordinator *c, struct actions *actions)
{
    struct segments *s = &c->segments;
    uint32_t members;
    enum err err = lay_out(c, &members);

    if (err != ERR_OK && forgive(c))
        err = lay_out(c, &members);
    s->ill = err != ERR_OK && members >= s->need;
    c->doubtful = s->ill && !deal_may_join(c); /* balance.c says so. */
    if (err != ERR_OK)
        return;
    s->planned = true;
    for (uint32_t i = 0; i < members; i++)
        give(c, s->members[i].block, actions);
}

/* As long as nothing is given out nothing comes in. */
void combine_open(struct coordinator *c, struct actions *actions)
{
    struct segments *s = &c->segments;

    s->planned = false;
    s->ill = false;
    s->ending = false;
    for (uint32_t id = 0; id < c->piece_count; id++) {
        s->sets[id] = (struct blockset){0};
        s->whole[id] = s->whole[id] || c->piece_in[id]; /* It has no rows. */
        c->pieces_in += s->whole[id] && !c->piece_in[id];
        c->piece_in[id] = s->whole[id];
    }
    spread_out(c, actions);
}

/* --- what comes back ----------------------------------------------------- */

/* May the row be added to the gradient?  It is one sum over several pieces and
 * counts whole or not at all: `slot` must have been asked for each of them, and
 * have answered none before. */
bool combine_counts(const struct coordinator *c, uint32_t slot,
                    const struct msg_row *msg)
{
    const struct segments *s = &c->segments;

    for (uint32_t i = 0; i < msg->count; i++) {
        const uint32_t id = msg->pieces[i];

        if (!blockset_has(&s->sets[id], slot) ||
            (blockset_has(&s->list[id].from, slot) && !BUG(BUG_COMBINE_TWICE)))
            return false;
    }
    return true;
}

void combine_add(struct coordinator *c, const double *row)
{
    const struct block_shape shape = product_blocks(c);
    const uint32_t dims = block_out(&shape, EVALUATE_COMBINE);

    for (uint32_t j = 0; j < dims; j++)
        c->gradient[j] += row[j];
}

/* Will somebody of the piece's set, who has not answered, not do so? */
static bool is_short(const struct coordinator *c, uint32_t id)
{
    const struct blockset missing = missing_of(c, id);

    for (uint32_t slot = blockset_next(&missing, 0); slot < BLOCKS_MAX;
         slot = blockset_next(&missing, slot + 1)) {
        if (!deal_counts_on(c, slot) ||
            !work_has(&c->pieces[id], c->slot_link[slot]))
            return true;
    }
    return false;
}

/* Everybody finishes what it is at, and no more. */
static void end_early(struct coordinator *c, struct actions *actions)
{
    c->segments.ending = true;
    for (uint32_t slot = 0; slot < c->code.slots; slot++) {
        if (c->slot_link[slot] != LINK_NONE)
            deal_slot(c, slot, NULL, 0, actions);
    }
}

void combine_balance(struct coordinator *c, struct actions *actions)
{
    if (!c->segments.planned) {
        spread_out(c, actions);
        return;
    }
    for (uint32_t id = 0; id < c->piece_count && !c->segments.ending; id++) {
        if (!c->piece_in[id] && is_short(c, id))
            end_early(c, actions);
    }
    for (uint32_t id = 0; id < c->piece_count; id++) {
        if (c->piece_in[id] || deal_awaits(c, id))
            continue;
        c->piece_in[id] = true;
        c->pieces_in++;
    }
    if (round_enough(c))
        commit_round(c, actions);
}

/*
 * combine.c - X^T r by input coding: each member multiplies the rows of its own
 * block with numbers of its own, and the sum of what all send is the gradient.
 *
 * For every row of the blocks a set of L members is chosen, and the L numbers r
 * of that row's parts are spread over them, u = G_S^-T r (code/erasure.h).  A
 * member's rows are cut into a few pieces, each of which counts when it comes.
 * Those that do not come, because their member is gone or lags, are numbers
 * u_p[row]; their share of the parts is u_p G[p], which is what the next round
 * spreads over those who are there.  So nothing that was delivered is lost, and
 * the storage of a member stays one block.
 */
#include <string.h>

#include "base/bugs.h"
#include "base/check.h"
#include "core/product.h"
#include "core/star/coordinator_parts.h"

bool combine_on(const struct coordinator *c)
{
    return c->what.kind == EVALUATE_COMBINE;
}

/* Numbers of a part in `left`, and of a slot in `own`. */
static size_t stride_of(const struct coordinator *c)
{
    const struct block_shape shape = product_blocks(c);

    return block_in(&shape, EVALUATE_COMBINE);
}

const double *combine_vector(const struct coordinator *c, uint32_t slot)
{
    return c->segments.own + slot * stride_of(c);
}

/* --- what is left to multiply -------------------------------------------- */

/* First all slopes. */
void combine_begin(struct coordinator *c)
{
    const struct block_shape shape = product_blocks(c);
    const size_t stride = stride_of(c);

    memset(c->segments.left, 0,
           stride * c->code.parts * sizeof *c->segments.left);
    for (uint32_t part = 0; part < c->code.parts; part++) {
        const uint32_t first = block_part_row(&shape, part);
        const uint32_t end = block_part_row(&shape, part + 1);

        memcpy(c->segments.left + part * stride, c->products.scores + first,
               (end - first) * sizeof *c->segments.left);
    }
    c->segments.left_first = 0;
    c->segments.left_end = block_rows(&shape);
    c->segments.again = false;
}

/* Then what a piece that did not come would have given. */
static void leave(struct coordinator *c, uint32_t id)
{
    const struct segment *segment = &c->segments.list[id];
    const uint32_t slot = c->segments.owner[id];
    const double *own = combine_vector(c, slot);
    const size_t stride = stride_of(c);

    for (uint32_t part = 0; part < c->code.parts; part++) {
        const double factor =
            BUG(BUG_COMBINE_RAW) ? 1 : code_coefficient(&c->code, slot, part);
        double *left = c->segments.left + part * stride;

        for (uint32_t row = segment->first; factor != 0 && row < segment->end;
             row++)
            left[row] += factor * own[row];
    }
}

/* Where all that did not come ends, if it is counted from row `first` around
 * the circle. */
static uint32_t end_from(const struct coordinator *c, uint32_t first)
{
    const struct block_shape shape = product_blocks(c);
    const struct segments *s = &c->segments;
    uint32_t last = first;

    for (uint32_t id = 0; id < c->piece_count; id++) {
        const struct segment *segment = &s->list[id];
        const uint32_t end = segment->first < first
                                 ? segment->end + block_rows(&shape)
                                 : segment->end;

        if (!s->came[id] && end > last)
            last = end;
    }
    return last;
}

/* The shortest arc of the circle that has all that did not come.  A member's
 * arc may go around its end, and the rows between its two ranges, which nobody
 * lacks, would cost as much as they do. */
static void find_left(struct coordinator *c)
{
    struct segments *s = &c->segments;

    s->left_first = s->left_end = 0;
    for (uint32_t id = 0; id < c->piece_count; id++) {
        const uint32_t first = s->list[id].first;
        const uint32_t end = s->came[id] ? 0 : end_from(c, first);

        if (first < end && (s->left_first == s->left_end ||
                            end - first < s->left_end - s->left_first)) {
            s->left_first = first;
            s->left_end = end;
        }
    }
}

bool combine_more(struct coordinator *c)
{
    find_left(c);
    memset(c->segments.left, 0,
           stride_of(c) * c->code.parts * sizeof *c->segments.left);
    for (uint32_t id = 0; id < c->piece_count; id++) {
        if (!c->segments.came[id])
            leave(c, id);
    }
    c->segments.again = true;
    return !BUG(BUG_COMBINE_LOST) &&
           c->segments.left_first < c->segments.left_end;
}

bool combine_again(const struct coordinator *c)
{
    return combine_on(c) && c->segments.again && !BUG(BUG_COMBINE_ENDLESS);
}

/* --- who multiplies what ------------------------------------------------- */

/* Group g of the rows that are left, counted on beyond the last row. */
static uint32_t group_row(const struct coordinator *c, uint32_t group)
{
    const struct segments *s = &c->segments;
    const uint64_t rows = s->left_end - s->left_first;

    return s->left_first + (uint32_t)(group * rows / s->groups);
}

struct range {
    uint32_t first, end;
};

/* Of rows [first, end), counted so, those up to the last of a block, or those
 * beyond it. */
static struct range range_of(const struct coordinator *c, uint32_t first,
                             uint32_t end, bool beyond)
{
    const struct block_shape shape = product_blocks(c);
    const uint32_t rows = block_rows(&shape);

    if (beyond)
        return (struct range){first > rows ? first - rows : 0,
                              end > rows ? end - rows : 0};
    return (struct range){first < rows ? first : rows, end < rows ? end : rows};
}

/* What the group's set is to multiply these rows with. */
static enum err spread(struct coordinator *c, uint32_t members, uint32_t group,
                       struct range rows)
{
    struct segments *s = &c->segments;
    const size_t stride = stride_of(c);
    struct blockset blocks = {0};
    const struct erasure_set *set;
    enum err err;

    arcs_set(s->members, s->arcs, members, s->groups, group, &blocks);
    err = erasure_find(&c->code.erasure, &blocks, &set);
    if (err == ERR_OK && set->rcond < product_rcond(c) && deal_may_join(c))
        err = ERR_UNDECODABLE; /* One more could mend it. */
    if (err != ERR_OK)
        return err;
    for (uint32_t part = 0; part < c->code.parts; part++)
        s->answer[part] = s->left + part * stride + rows.first;
    for (uint32_t i = 0; i < set->count; i++)
        s->part[i] = s->own + set->block[i] * stride + rows.first;
    erasure_spread(&c->code.erasure, set, rows.end - rows.first, s->answer,
                   s->part);
    product_note(c, set);
    return ERR_OK;
}

static enum err spread_all(struct coordinator *c, uint32_t members)
{
    struct segments *s = &c->segments;
    enum err err = ERR_OK;

    memset(s->own, 0, stride_of(c) * c->code.slots * sizeof *s->own);
    for (uint32_t group = 0; group < s->groups && err == ERR_OK;) {
        const uint32_t next = arcs_turn(s->arcs, members, s->groups, group);

        for (int beyond = 0; beyond < 2 && err == ERR_OK; beyond++) {
            const struct range rows =
                range_of(c, group_row(c, group), group_row(c, next), beyond);

            if (rows.first < rows.end)
                err = spread(c, members, group, rows);
        }
        group = next;
    }
    return err;
}

static void add_piece(struct coordinator *c, uint32_t slot, struct range rows)
{
    struct segments *s = &c->segments;
    const uint32_t id = c->piece_count;

    if (rows.first >= rows.end)
        return;
    CHECK(id < s->max);
    s->list[id] = (struct segment){.first = rows.first, .end = rows.end};
    s->owner[id] = slot;
    s->came[id] = false;
    c->piece_in[id] = false;
    c->piece_count++;
}

/* Groups [first, end) of a member, as up to COMBINE_CUTS pieces, and one more
 * where they go beyond the last row. */
static void cut(struct coordinator *c, uint32_t slot, uint32_t first,
                uint32_t end, uint32_t cuts)
{
    const uint64_t groups = end - first;

    for (uint32_t i = 0; i < cuts; i++) {
        const uint32_t from =
            group_row(c, first + (uint32_t)(i * groups / cuts));
        const uint32_t to =
            group_row(c, first + (uint32_t)((i + 1) * groups / cuts));

        add_piece(c, slot, range_of(c, from, to, false));
        add_piece(c, slot, range_of(c, from, to, true));
    }
}

/* An arc that wraps is two ranges of rows, in the order of the circle: what a
 * member has not delivered is then one arc, too. */
static void cut_arc(struct coordinator *c, uint32_t slot, struct arc arc)
{
    const uint32_t groups = c->segments.groups;
    const uint32_t end = arc.begin + arc.count;
    const uint32_t behind = end > groups ? end - groups : 0;
    const uint32_t cuts =
        behind > 0 ? COMBINE_CUTS * (arc.count - behind) / arc.count + 1
                   : COMBINE_CUTS;

    cut(c, slot, arc.begin, end - behind, cuts);
    if (behind > 0)
        cut(c, slot, 0, behind, COMBINE_CUTS + 1 - cuts);
}

static void send_pieces(struct coordinator *c, uint32_t slot,
                        struct actions *actions)
{
    uint32_t count = 0;

    for (uint32_t id = 0; id < c->piece_count; id++) {
        if (c->segments.owner[id] != slot ||
            !work_give(c, id, c->slot_link[slot]))
            continue;
        c->segments.given[slot * (size_t)c->segments.max + id] =
            ++c->segments.gives;
        c->ids[count++] = id;
    }
    if (count > 0)
        work_send(c, c->slot_link[slot], c->ids, count, actions);
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

static enum err lay_arcs(struct coordinator *c, uint32_t members)
{
    struct segments *s = &c->segments;
    const uint32_t rows = s->left_end - s->left_first;
    double worst;
    enum err err;

    s->groups = rows < c->code.segments ? rows : c->code.segments;
    for (uint32_t i = 0; i < members; i++)
        s->members[i].ready = s->groups;
    err = arcs_settle(&c->code.erasure, s->rule, s->members, members, s->groups,
                      product_rcond(c), s->arcs, &worst);
    return err == ERR_OK ? spread_all(c, members) : err;
}

/* Who multiplies what, if those who are counted on can do it.  Where a set of
 * them decodes badly it is tried without each of them in turn. */
static enum err lay_out(struct coordinator *c, uint32_t *members)
{
    struct segments *s = &c->segments;
    const uint32_t all = choose_members(c);
    enum err err = lay_arcs(c, all);

    *members = all;
    for (uint32_t i = 0; err != ERR_OK && all > s->need && i < all; i++) {
        *members = choose_members(c) - 1;
        memmove(&s->members[i], &s->members[i + 1],
                (*members - i) * sizeof *s->members);
        err = lay_arcs(c, *members);
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
    c->piece_count = 0;
    for (uint32_t i = 0; i < members; i++)
        cut_arc(c, s->members[i].block, s->arcs[i]);
    s->planned = true;
    for (uint32_t i = 0; i < members; i++)
        send_pieces(c, s->members[i].block, actions);
}

/* As long as nothing is given out there is one piece, which does not come. */
void combine_open(struct coordinator *c, struct actions *actions)
{
    struct segments *s = &c->segments;

    s->planned = false;
    s->ill = false;
    c->piece_count = 1;
    s->list[0] = (struct segment){0};
    s->owner[0] = UINT32_MAX;
    s->came[0] = false;
    spread_out(c, actions);
}

bool combine_take(struct coordinator *c, uint32_t slot, uint32_t id,
                  const double *row)
{
    const struct block_shape shape = product_blocks(c);
    const uint32_t dims = block_out(&shape, EVALUATE_COMBINE);

    if (c->segments.owner[id] != slot ||
        (c->segments.came[id] && !BUG(BUG_COMBINE_TWICE)))
        return false;
    c->segments.came[id] = true;
    for (uint32_t j = 0; j < dims; j++)
        c->gradient[j] += row[j];
    return true;
}

/* Pieces of those who are gone, and, once the others are done, of those who
 * lag, are left for the next round. */
void combine_balance(struct coordinator *c, struct actions *actions)
{
    if (!c->segments.planned) {
        spread_out(c, actions);
        return;
    }
    for (uint32_t id = 0; id < c->piece_count; id++) {
        const uint32_t slot = c->segments.owner[id];

        if (c->piece_in[id] || (deal_counts_on(c, slot) &&
                                work_has(&c->pieces[id], c->slot_link[slot])))
            continue;
        c->piece_in[id] = true;
        c->pieces_in++;
    }
    if (round_enough(c))
        commit_round(c, actions);
}

/*
 * refusals.c - workers that say a piece does not fit the proved bound.
 *
 * Whether it fits is a matter of the data and the weights, not of who computes
 * it.  So a true refusal is everybody's: the job ends when all who are here and
 * could compute the piece have said so, by name, and not before, for names cost
 * a rogue nothing.  A refusal that another's answer belies is a strike.  Who
 * has refused a piece is not given it again in the round.
 *
 * Coded answers are of many pieces at once: to refuse one is to refuse the row.
 * More of those than the code can do without are believed.  If it is vacant
 * slots that make them too many, or others wait for a slot, the round begins
 * anew with a code for all who are here: it can do without some again.
 *
 * Who refuses more than REFUSED_MAX pieces in a round counts as refusing them
 * all, so that the memory is that of init.
 */
#include <string.h>

#include "base/mem.h"
#include "base/quick.h"
#include "core/star/coordinator_parts.h"

#define ROW UINT32_MAX /* In the place of a piece. */

enum err refusals_init(struct coordinator *c)
{
    struct refusals *refusals = &c->refusals;

    /* Never more than half full, so that a search finds a gap soon. */
    refusals->room = 2;
    while (refusals->room < 2 * (size_t)c->members_max)
        refusals->room *= 2;
    refusals->who = mem_new(refusals->room, sizeof *refusals->who);
    return refusals->who == NULL ? ERR_NOMEM : ERR_OK;
}

void refusals_close(struct coordinator *c)
{
    mem_free(c->refusals.who);
    c->refusals = (struct refusals){0};
}

void refusals_clear(struct coordinator *c)
{
    struct refusals *refusals = &c->refusals;

    if (refusals->count > 0)
        memset(refusals->who, 0, refusals->room * sizeof *refusals->who);
    refusals->count = 0;
}

/* Its place, or the gap where it would be. */
static struct refuser *find(const struct refusals *refusals, const char *name)
{
    size_t at = quick_u64(name, strlen(name), 0);

    for (;; at++) {
        struct refuser *who = &refusals->who[at & (refusals->room - 1)];

        if (who->count == 0 || strcmp(who->name, name) == 0)
            return who;
    }
}

static bool has(const struct refuser *who, uint32_t id)
{
    for (uint32_t i = 0; i < who->count && i < REFUSED_MAX; i++) {
        if (who->piece[i] == id)
            return true;
    }
    return who->count > REFUSED_MAX;
}

static bool refused(const struct coordinator *c, uint32_t id, const char *name)
{
    return c->refusals.count > 0 && has(find(&c->refusals, name), id);
}

bool refusals_has(const struct coordinator *c, uint32_t id, uint32_t link)
{
    return refused(c, id, c->members[link].name);
}

bool refusals_of_row(const struct coordinator *c, uint32_t link)
{
    return refused(c, ROW, c->members[link].name);
}

bool refusals_plain(const struct coordinator *c, uint32_t id)
{
    return !product_on(c) && code_plain(&c->code, id);
}

bool refusals_add(struct coordinator *c, uint32_t id, uint32_t link)
{
    struct refusals *refusals = &c->refusals;
    const uint32_t what = refusals_plain(c, id) ? id : ROW;
    struct refuser *who = find(refusals, c->members[link].name);

    if (has(who, what))
        return false;
    if (who->count == 0) {
        /* More names than members: somebody comes and goes.  Begin anew. */
        if (refusals->count == refusals->room / 2) {
            refusals_clear(c);
            who = find(refusals, c->members[link].name);
        }
        memcpy(who->name, c->members[link].name, NAME_SIZE);
        refusals->count++;
    }
    if (who->count < REFUSED_MAX)
        who->piece[who->count] = what;
    who->count++;
    return true;
}

static bool refused_by_any(const struct coordinator *c, uint32_t id)
{
    for (size_t i = 0; c->refusals.count > 0 && i < c->refusals.room; i++) {
        if (has(&c->refusals.who[i], id))
            return true;
    }
    return false;
}

/* Who is here, has not refused it, and could compute it. */
static bool hope_for(const struct coordinator *c, uint32_t id)
{
    const struct piece *piece = &c->code.pieces[id];

    for (uint32_t i = 0; i < c->alive; i++) {
        const uint32_t link = c->present[i];

        if (!refusals_has(c, id, link) &&
            (!homes_on(c) || chunkset_has_range(&c->members[link].held,
                                                piece->first, piece->end)))
            return true;
    }
    return false;
}

/* Can the coded round still end, without those who have refused? */
static bool hope_for_row(struct coordinator *c)
{
    for (uint32_t slot = 0; slot < c->code.slots; slot++) {
        const uint32_t link = c->slot_link[slot];

        c->slot_alive[slot] = c->slot_in[slot] ||
                              (link != LINK_NONE && !refusals_of_row(c, link));
    }
    return code_decodable(&c->code, c->slot_alive);
}

/* Has the code more slots than are filled, or are there others to fill them?
 */
static bool refits(const struct coordinator *c)
{
    for (uint32_t slot = 0; slot < c->code.slots; slot++) {
        if (!c->slot_in[slot] && c->slot_link[slot] == LINK_NONE)
            return true;
    }
    for (uint32_t i = 0; i < c->alive; i++) {
        const uint32_t link = c->present[i];

        if (c->members[link].state == MEMBER_READY && !refusals_of_row(c, link))
            return true;
    }
    return false;
}

bool refusals_block(struct coordinator *c)
{
    return c->code.carrier == CARRIER_F64 && refused_by_any(c, ROW) &&
           refits(c) && !hope_for_row(c);
}

bool refusals_true(struct coordinator *c, uint32_t id)
{
    if (c->refusals.count == 0)
        return false;
    if (code_spec_elastic(&c->code.spec))
        return false; /* segments.c judges. */
    return refusals_plain(c, id)
               ? !hope_for(c, id) && refused_by_any(c, id)
               : !refits(c) && !hope_for_row(c) && refused_by_any(c, ROW);
}

/* The round has ended: is there what it refused?  Rows are in if it has. */
static bool belied(const struct coordinator *c, const struct refuser *who)
{
    for (uint32_t i = 0; i < who->count && i < REFUSED_MAX; i++) {
        if (who->piece[i] == ROW || c->piece_in[who->piece[i]])
            return true;
    }
    return false;
}

void refusals_settle(struct coordinator *c, struct actions *actions)
{
    for (size_t i = 0; c->refusals.count > 0 && i < c->refusals.room; i++) {
        if (belied(c, &c->refusals.who[i]))
            trust_strike_name(c, c->refusals.who[i].name, POISON_REFUSAL,
                              actions);
    }
    refusals_clear(c);
}

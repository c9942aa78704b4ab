/*
 * refusals.c - workers that say a piece does not fit the proved bound.
 *
 * Whether it fits is a matter of the data and the weights, not of who computes
 * it.  So a true refusal is everybody's: the job ends once REFUSALS_MAX names,
 * or all who could compute the piece, have said so.  One that nobody repeats,
 * and that another's answer belies, is a strike.  Names count once for each
 * piece, and who has refused a piece is not given it again.
 *
 * Coded answers are of many pieces at once; there a name counts once in a
 * round.
 */
#include <string.h>

#include "base/quick.h"
#include "core/coordinator_parts.h"

static uint64_t hash_of(const char *name)
{
    return quick_u64(name, strlen(name), 0);
}

static struct refusers *refusers_of(struct coordinator *c, uint32_t id)
{
    return code_plain(&c->code, id) ? &c->pieces[id].refusers : &c->refusers;
}

static bool among(const struct refusers *refusers, const char *name)
{
    const uint64_t hash = hash_of(name);

    for (uint32_t i = 0; i < refusers->count; i++) {
        if (refusers->name[i] == hash)
            return true;
    }
    return false;
}

bool refusals_has(const struct coordinator *c, uint32_t id, uint32_t link)
{
    return among(&c->pieces[id].refusers, c->members[link].name);
}

bool refusals_of_row(const struct coordinator *c, uint32_t link)
{
    return among(&c->refusers, c->members[link].name);
}

bool refusals_add(struct coordinator *c, uint32_t id, uint32_t link)
{
    struct refusers *refusers = refusers_of(c, id);
    const char *name = c->members[link].name;

    if (refusers->count == REFUSALS_MAX || among(refusers, name))
        return false;
    refusers->name[refusers->count++] = hash_of(name);
    return true;
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

        c->slot_alive[slot] =
            c->slot_in[slot] ||
            (link != LINK_NONE && !among(&c->refusers, c->members[link].name));
    }
    return code_decodable(&c->code, c->slot_alive);
}

bool refusals_true(struct coordinator *c, uint32_t id)
{
    const struct refusers *refusers = refusers_of(c, id);

    if (refusers->count == 0)
        return false;
    return refusers->count == REFUSALS_MAX ||
           (code_plain(&c->code, id) ? !hope_for(c, id) : !hope_for_row(c));
}

static void strike_alone(struct coordinator *c, const struct refusers *refusers,
                         struct actions *actions)
{
    for (uint32_t i = 0; refusers->count == 1 && i < c->alive; i++) {
        const uint32_t link = c->present[i];

        if (hash_of(c->members[link].name) == refusers->name[0]) {
            trust_strike(c, link, POISON_REFUSAL, actions);
            return;
        }
    }
}

void refusals_settle(struct coordinator *c, struct actions *actions)
{
    for (uint32_t id = 0; id < c->code.piece_count; id++) {
        if (c->pieces[id].in)
            strike_alone(c, &c->pieces[id].refusers, actions);
        c->pieces[id].refusers.count = 0;
    }
    strike_alone(c, &c->refusers, actions);
    c->refusers.count = 0;
}

void refusals_clear(struct coordinator *c)
{
    for (uint32_t id = 0; id < c->code.piece_count; id++)
        c->pieces[id].refusers.count = 0;
    c->refusers.count = 0;
}

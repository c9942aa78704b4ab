/*
 * stale.c - bounded staleness: steps that take answers to older steps.
 *
 * `ignore` calls off whoever is late.  With staleness=B >= 1 a late worker
 * goes on, and what it sends is taken in the step then open, once, if its
 * weights are at most B updates old:
 *
 *     step      t        t+1       t+2       t+3
 *     worker 0  [w_t  ]  [w_t+1]   [w_t+2]   [w_t+3]
 *     worker 1  [w_t  ]  [w_t+1]   [w_t+2]   [w_t+3]
 *     worker 2  [w_t           |             ][w_t+3]
 *                                  ^ B = 2: step t+2 waits for it
 *
 * A step ends when k slots have answered since the last update and nobody is
 * so far behind that its answer would be too old for the next one; so no work
 * is thrown away for its age, and the bound holds by waiting (Ho et al., NIPS
 * 2013).  A slot counts once in a step: if it answers again, with newer
 * weights, the newer answer stands for its rows.
 *
 * What a member owes is `outstanding`, to the round of `member->key`; its
 * answer must carry that key in every field (TALLY-3).  Only real rows are
 * taken from older rounds: they need no exponents of those.  An answer that
 * comes while a step is being written to the disk counts in the next step
 * (`ages.early`).  A new view calls everything off: who fills which slot, and
 * with which rows, may have changed.
 */
#include <string.h>

#include "base/check.h"
#include "core/star/coordinator_parts.h"

bool stale_on(const struct coordinator *c)
{
    return c->code_built && c->code.spec.placement == PLACE_STALE;
}

static bool owes(const struct coordinator *c, uint32_t link)
{
    return c->members[link].state == MEMBER_ACTIVE &&
           c->members[link].outstanding > 0;
}

bool stale_busy(const struct coordinator *c, uint32_t slot)
{
    const uint32_t link = c->slot_link[slot];

    return stale_on(c) && link != LINK_NONE && owes(c, link);
}

bool stale_awaits(const struct coordinator *c, uint32_t link,
                  const struct round_key *key)
{
    return (c->phase == COORDINATOR_ROUND ||
            c->phase == COORDINATOR_COMMITTING) &&
           owes(c, link) && key_equal(key, &c->members[link].key);
}

bool stale_may_end(const struct coordinator *c)
{
    for (uint32_t slot = 0; stale_on(c) && slot < c->code.slots; slot++) {
        if (stale_busy(c, slot) &&
            c->key.step + 1 - c->members[c->slot_link[slot]].key.step >
                c->code.spec.staleness)
            return false;
    }
    return true;
}

/* While a step is being committed, optim.step is already that of the next. */
bool stale_arrived(struct coordinator *c, uint32_t slot,
                   const struct round_key *key)
{
    c->ages.age[slot] = c->trainer.optim.step - key->step;
    CHECK(c->ages.age[slot] <= c->code.spec.staleness);
    c->ages.early[slot] = c->phase == COORDINATOR_COMMITTING;
    return !c->ages.early[slot];
}

bool stale_was_early(struct coordinator *c, uint32_t slot)
{
    const bool early = stale_on(c) && c->ages.early[slot];

    c->ages.early[slot] = false;
    return early;
}

bool stale_behind(const struct coordinator *c, uint32_t link)
{
    return c->phase == COORDINATOR_ROUND && stale_on(c) &&
           member_here(c, link) && c->members[link].outstanding == 0 &&
           c->members[link].key.step < c->key.step;
}

void stale_call_off(struct coordinator *c, struct actions *actions)
{
    if (!stale_on(c))
        return;
    memset(c->ages.early, 0, c->members_max * sizeof *c->ages.early);
    for (uint32_t link = 0; link < c->members_max; link++) {
        if (!member_here(c, link) || c->members[link].outstanding == 0)
            continue;
        coordinator_send(c, actions, link, MSG_CANCEL)->cancel.key = c->key;
        work_forget(c, link);
    }
}

void stale_check(const struct coordinator *c)
{
    if (c->phase != COORDINATOR_ROUND || !stale_on(c))
        return;
    for (uint32_t slot = 0; slot < c->code.slots; slot++) {
        const struct round_key *key;

        if (!stale_busy(c, slot))
            continue;
        key = &c->members[c->slot_link[slot]].key;
        CHECK(key->view == c->view);                              /* INV-2 */
        CHECK(key->step <= c->key.step);                          /* INV-8 */
        CHECK(c->key.step - key->step <= c->code.spec.staleness); /* INV-8 */
    }
}

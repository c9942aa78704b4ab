/*
 * together.c - answers that came one after the other, added up in one pass.
 *
 * One by one, each answer reads and writes the whole tally.  Where a round
 * needs all of them nothing is lost by waiting for the next, and what has come
 * is added up block by block while the tally's block is in the first cache.
 * Only that is done ahead: the machine is then told of each answer in its turn,
 * with its own time.
 *
 * INV-1 needs that what is in the tally is counted.  An answer picked here is,
 * if its round is still open when its turn comes: its piece cannot come in
 * before, nor the round end without it, and only its own poison could send its
 * worker home.  If the round is over, so is its tally.
 */
#include <assert.h>

#include "base/bugs.h"
#include "base/check.h"
#include "core/star/coordinator_parts.h"

static_assert(ARRIVALS_MAX <= TALLY_CLAIMS_MAX, "all may be claims");
static_assert(ARRIVALS_MAX <= 64, "one bit each");

/* Can no answer but the last change anything? */
static bool patient(const struct coordinator *c)
{
    return c->phase == COORDINATOR_ROUND && c->code.carrier == CARRIER_TALLY &&
           c->code.spec.stop == STOP_ALL && c->code.spec.stragglers == 0 &&
           c->code.spec.schedule != SCHED_STEAL && c->ballots == NULL &&
           !stale_on(c) && !BUG(BUG_ONE_SHORT);
}

uint32_t coordinator_awaits(const struct coordinator *coordinator)
{
    const struct coordinator *c = coordinator;

    return patient(c) ? c->code.piece_count - c->pieces_in : 0;
}

/* Has one before it the same sender or the same piece?  Then what becomes of
 * that one decides. */
static bool depends(const struct arrival *arrivals, uint32_t i)
{
    const struct arrival *arrival = &arrivals[i];

    for (uint32_t k = 0; k < i; k++) {
        if (arrivals[k].link == arrival->link ||
            arrivals[k].msg->tally.piece == arrival->msg->tally.piece)
            return true;
    }
    return false;
}

static bool will_count(const struct coordinator *c,
                       const struct arrival *arrivals, uint32_t i)
{
    const struct msg *msg = arrivals[i].msg;

    return msg->leaf == 0 && member_here(c, arrivals[i].link) &&
           answers_countable(c, &msg->tally) && !depends(arrivals, i);
}

uint64_t together_add(struct coordinator *c, const struct arrival *arrivals,
                      uint32_t count)
{
    struct tally_claim claims[ARRIVALS_MAX];
    uint32_t of[ARRIVALS_MAX];
    uint32_t picked = 0;
    uint64_t added = 0;

    CHECK(count <= ARRIVALS_MAX);
    for (uint32_t i = 0; i < count; i++) {
        const struct msg_tally *msg = &arrivals[i].msg->tally;

        CHECK(arrivals[i].msg->kind == MSG_TALLY);
        if (!patient(c) || !will_count(c, arrivals, i))
            continue;
        claims[picked] = (struct tally_claim){.sum = msg->sum,
                                              .first = msg->first,
                                              .end = msg->end,
                                              .loss = msg->loss};
        of[picked++] = i;
    }
    if (picked < 2)
        return 0; /* One alone is judged and added as ever. */
    c->decoding = (struct tally_decoding){.exponent = c->trainer.exponent,
                                          .gradient = c->gradient};
    /* With the last of them the sums are complete: nobody adds to them. */
    tally_absorb_many(&c->tally, &c->arrived, claims, picked,
                      picked == coordinator_awaits(c) ? &c->decoding : NULL);
    for (uint32_t i = 0; i < picked; i++) {
        if (claims[i].good)
            added |= UINT64_C(1) << of[i];
    }
    return added;
}

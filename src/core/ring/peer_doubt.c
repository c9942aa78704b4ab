/*
 * peer_doubt.c - two that should be equal are not: all go back to where they
 * were, compute again, and see who was wrong.
 *
 * RING-7  Where states of equal positions differ, all go back to the last state
 *         that was common, and compute again.
 */
#include <string.h>

#include "core/ring/peer_parts.h"

uint64_t doubt_past(const struct peer *p, uint32_t step)
{
    const uint32_t at = step % PEER_PAST;

    return p->past[at].step == step ? p->past[at].name : 0;
}

enum err doubt_return(struct peer *p, bool anchored, struct actions *actions)
{
    const struct checkpoint head = peer_head(p);

    memset(p->past, 0, sizeof p->past);
    p->key.attempt = 0;
    return anchored ? trainer_take(&p->trainer, p->anchor, p->anchor_size,
                                   &head, actions)
                    : trainer_restart(&p->trainer, &head, actions);
}

void doubt_accuse(struct peer *p, uint32_t seat, const struct round_key *key)
{
    p->accused = seat;
    if (key->round > 0 || key->attempt > 0)
        return; /* Names of steps are of their first round. */
    p->seats[seat].claim_step = key->step;
    p->seats[seat].claim = key->weights;
}

void doubt_raise(struct peer *p, struct actions *actions)
{
    struct ring_stand stand = {.position = peer_position(p),
                               .step = p->trainer.optim.step};

    stand.weights = doubt_past(p, stand.step);
    p->seats[0].claim_step = stand.step;
    p->seats[0].claim = stand.weights;
    council_say(p, &stand, true, actions);
    p->doubt_view = p->view.key;
    p->back = true;
    council_halt(p, actions);
}

/* In a view that has begun it is its beginning; where it is not, what all
 * reported as the last one's. */
static bool anchors_equal(const struct peer *p)
{
    const struct ring_stand *mine = &p->seats[0].stand;

    for (uint32_t i = 0; i < p->view.count; i++) {
        const struct ring_stand *stand = &p->seats[p->view.seat[i]].stand;

        if (stand->anchor_position != mine->anchor_position ||
            stand->anchor != mine->anchor)
            return false;
    }
    return p->anchor_size > 0;
}

/* RING-7 */
void doubt_go_back(struct peer *p, struct actions *actions)
{
    const char *const other =
        p->accused == 0 ? "the others" : p->seats[p->accused].name;
    enum err err;

    p->back = false;
    if (p->doubted) {
        peer_end(p, actions, ERR_MISMATCH,
                 "step %u: this peer and %s have different models, and had "
                 "when all computed again from where they agreed: one of the "
                 "machines is faulty; their states are kept",
                 p->trainer.optim.step, other);
        return;
    }
    p->doubted = true;
    p->stats.doubts++;
    err = doubt_return(p, p->begun || anchors_equal(p), actions);
    if (err != ERR_OK) {
        peer_end(p, actions, err, "no way back: %s", err_text(err));
        return;
    }
    if (p->seats[0].report_view != p->view.key)
        return; /* Another view was taken up meanwhile: report to it. */
    p->broken = p->roster_due = true;
    p->phase = PEER_GATHERING;
}

/* Once is bad luck: it has the right state now.  Twice is a machine with which
 * all would go back again and again. */
static void blame(struct peer *p, uint32_t seat, struct actions *actions)
{
    p->seats[seat].wrong++;
    if (p->seats[seat].wrong < 2)
        return;
    if (seat == 0)
        peer_end(p, actions, ERR_MISMATCH,
                 "step %u: this peer had another model than the others, twice, "
                 "and was wrong: its machine is faulty",
                 p->trainer.optim.step);
    else if (p->seats[seat].link != PEER_NO_LINK)
        links_ban(p, seat, actions);
}

void doubt_settle(struct peer *p, uint32_t step, uint64_t name,
                  struct actions *actions)
{
    bool open = false;

    if (!p->doubted)
        return;
    for (uint32_t i = 0; i < p->seat_count; i++) {
        struct peer_seat *seat = &p->seats[i];

        if (seat->claim_step == step && seat->claim != 0 &&
            seat->claim != name) {
            struct trace *trace = peer_trace(p, actions, TRACE_POISON);

            memcpy(trace->name, seat->name, NAME_SIZE);
            trace->key.step = step;
            blame(p, i, actions);
        }
        if (seat->claim_step <= step)
            seat->claim = seat->claim_step = 0;
        open |= seat->claim_step > step;
    }
    p->doubted = open;
}

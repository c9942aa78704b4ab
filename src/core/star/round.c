/*
 * round.c - the round at hand: when it opens and when it may end.
 *
 * The code's pieces are a partition of all chunks; which slot begins with
 * which is the code's choice.  A piece is `in` once its first answer is
 * counted.
 *
 *   work.c      who was given which piece, and the messages that say so
 *   balance.c   pieces that move to another worker meanwhile
 *   answers.c   what comes back
 */
#include <string.h>

#include "base/bugs.h"
#include "base/check.h"
#include "base/quick.h"
#include "core/star/coordinator_parts.h"
#include "math/blocks.h"
#include "math/vec.h"

void round_slot_in(struct coordinator *c, uint32_t slot)
{
    if (c->slot_in[slot])
        return;
    c->slot_in[slot] = true;
    c->slots_in++;
}

const struct group *round_group(const struct coordinator *c, uint32_t slot)
{
    for (uint32_t i = 0; i < c->code.group_count; i++) {
        const struct group *group = &c->code.groups[i];

        if (slot >= group->slot_first && slot < group->slot_end)
            return group;
    }
    return NULL;
}

/* The one of its group whose pieces it gives the second answer to. */
static uint32_t mirrored_slot(const struct coordinator *c, uint32_t slot)
{
    const struct group *group = round_group(c, slot);

    if (group == NULL || group->slot_end - group->slot_first < 2)
        return slot;
    return slot == group->slot_first ? group->slot_end - 1 : slot - 1;
}

/* Where pieces are computed once (steal), those that are compared go to a
 * second one of the group at once, after its own. */
static uint32_t add_mirrored(const struct coordinator *c, uint32_t slot,
                             uint32_t count)
{
    const struct group *group;
    uint32_t other;

    if (c->ballots == NULL || c->code.spec.schedule != SCHED_STEAL)
        return count; /* Before groups are looked for: there may be many. */
    group = round_group(c, slot);
    other = mirrored_slot(c, slot);
    if (other == slot)
        return count;
    for (uint32_t id = group->piece_first; id < group->piece_end; id++) {
        if (c->code.pieces[id].owner == other && verify_wanted(c, id) > 1)
            c->ids[count++] = id;
    }
    return count;
}

void round_open_slot(struct coordinator *c, uint32_t slot,
                     struct actions *actions)
{
    const uint32_t link = c->slot_link[slot];
    const uint32_t count = add_mirrored(
        c, slot, code_work(&c->code, slot, c->ids, c->piece_count));

    c->slot_todo[slot] = c->code.carrier == CARRIER_TALLY ? count : 0;
    if (!c->code.busy[slot])
        round_slot_in(c, slot); /* More slots than chunks: nothing to do. */
    if (count == 0 || link == LINK_NONE || stale_busy(c, slot))
        return;
    work_open(c, link, c->ids, count, actions);
}

/* Folds are added to; single answers are overwritten. */
static void clear_coded(struct coordinator *c)
{
    if (!product_on(c))
        memset(c->coded, 0,
               c->code.folds * ((size_t)c->tally.dims + 1) * sizeof *c->coded);
}

/* Who works on an older step still owes its answer. */
static void clear_assignees(struct coordinator *c)
{
    for (uint32_t id = 0; id < c->segments.max; id++)
        c->pieces[id].assignee_count = 0;
    for (uint32_t i = 0; i < c->alive; i++) {
        struct member *member = &c->members[c->present[i]];

        member->outstanding = 0;
        slow_owes(&member->slow, false, c->now);
    }
}

static void clear_round(struct coordinator *c)
{
    if (!stale_on(c))
        clear_assignees(c);
    memset(c->piece_in, 0, c->segments.max * sizeof *c->piece_in);
    memset(c->slot_in, 0, c->code.slots * sizeof *c->slot_in);
    tally_blank(&c->tally);
    c->decoding.done = false;
    clear_coded(c);
    c->late = false;
    c->doubtful = false;
    c->pieces_in = 0;
    c->slots_in = 0;
    refusals_clear(c);
    for (uint32_t i = 0; i < c->alive; i++) {
        struct member *member = &c->members[c->present[i]];

        member->in_round = false;
        member->answered = 0;
        member->answered_at = c->now;
        member->idle_beats = 0;
    }
}

uint32_t round_vector_dims(const struct coordinator *c)
{
    return c->what.kind == EVALUATE_BACK || c->what.kind == EVALUATE_COMBINE
               ? block_pad(c->options.job.rows)
               : c->options.job.dims;
}

/* Those of a scale that stayed the same keep their name; products have none. */
static void name_scale(struct coordinator *c)
{
    const uint32_t count =
        evaluation_exponents(c->what.kind, c->options.job.dims);

    if (!c->options.scale->same || product_on(c))
        c->key.scale = quick_long(c->options.pool, c->trainer.exponent,
                                  count * sizeof *c->trainer.exponent, 0);
}

static void new_key(struct coordinator *c)
{
    c->key.job = c->options.job.id;
    c->key.view = c->view;
    if (c->key.step != c->trainer.optim.step)
        product_step(c);
    c->key.step = c->trainer.optim.step;
    c->key.round = product_round(c);
    name_scale(c);
    c->key.weights =
        evaluation_name(&c->what, round_vector_dims(c), c->options.pool);
    c->opened = c->key;
}

void round_again(struct coordinator *c, struct actions *actions)
{
    stale_call_off(c, actions); /* Late answers are not to this scale. */
    c->key.attempt++;
    c->stats.redone++;
    if (c->view_dirty)
        view_form(c, actions);
    else
        round_open(c, actions);
}

/* What can be answered here is; then what the workers are asked. */
static enum trainer_next ask(struct coordinator *c)
{
    struct total out = {.sums = c->gradient,
                        .exactness = c->code.exactness,
                        .chunks = c->options.job.chunks,
                        .rescale = 1,
                        .in_bound = true};
    enum trainer_next next = trainer_ask(&c->trainer);

    while (next == TRAINER_ASKS && lines_answer(c, &out)) {
        next = trainer_feed(&c->trainer, &out);
        if (next == TRAINER_MORE)
            next = trainer_ask(&c->trainer);
    }
    return next;
}

void round_open(struct coordinator *c, struct actions *actions)
{
    const bool reserves = c->code.spec.schedule != SCHED_ALL;
    const enum trainer_next next = ask(c);
    uint32_t first;

    if (next != TRAINER_ASKS) { /* Every trial was too far, or it diverged. */
        commit_next(c, next, actions);
        return;
    }
    c->what = c->trainer.what;
    c->tally.dims = evaluation_dims(c->what.kind, c->options.job.dims);
    c->arrived.dims = c->tally.dims;
    c->piece_count = c->code.piece_count;
    CHECK(c->tally.dims <= c->options.job.sum_dims);
    if (product_on(c))
        product_open(c);
    new_key(c);
    clear_round(c);
    verify_open(c);
    adapt_open(&c->recoding.adapt, c->now);
    c->phase = COORDINATOR_ROUND;
    c->round_began_at = c->now;
    (void)coordinator_trace(c, actions, TRACE_ROUND, LINK_NONE);
    if (product_on(c)) {
        segments_open(c, actions);
        balance_round(c, actions);
        return;
    }
    first = code_first_slot(&c->code, c->trainer.optim.step);
    for (uint32_t i = 0; i < c->code.slots; i++) {
        const uint32_t slot = (first + i) % c->code.slots;

        if (stale_was_early(c, slot))
            round_slot_in(c, slot);
        round_open_slot(c, slot, actions);
    }
    work_contested(c, actions);
    /* Where all begin with all that they hold, nothing is left to reserve. */
    for (uint32_t slot = 0; slot < c->code.slots && reserves; slot++)
        work_reserve(c, slot, actions);
    balance_round(c, actions);
}

bool round_enough(const struct coordinator *c)
{
    const struct code_progress progress = {
        .piece_in = c->piece_in,
        .slot_in = c->slot_in,
        .pieces_in = c->pieces_in,
        .slots_in = c->slots_in,
        .late = c->late,
    };

    if (product_on(c))
        return segments_enough(c);
    /* Whatever the stop rule: with everything in there is nothing to wait
     * for. */
    return (c->code.carrier == CARRIER_TALLY &&
            c->pieces_in + BUG(BUG_ONE_SHORT) >= c->piece_count) ||
           (code_enough(&c->code, &progress) && stale_may_end(c));
}

/* Those who answered, and those who are here and well.  An answer of an elastic
 * round is one of many that are wanted of each. */
static void count_on(struct coordinator *c)
{
    const bool elastic = code_spec_elastic(&c->code.spec);

    for (uint32_t slot = 0; slot < c->code.slots; slot++) {
        const uint32_t link = c->slot_link[slot];

        c->slot_alive[slot] = (c->slot_in[slot] && !elastic) ||
                              (link != LINK_NONE && member_healthy(c, link));
    }
}

bool round_forsaken(struct coordinator *c)
{
    uint32_t well = 0;

    for (uint32_t i = 0; i < c->alive; i++)
        well += member_healthy(c, c->present[i]);
    if (well == 0)
        return true;
    count_on(c);
    if (deal_stuck(c))
        return true;
    if (homes_on(c))
        return !code_feasible(&c->code, c->slot_alive);
    /* What is no part of a coded answer anybody can take over. */
    return c->code.carrier == CARRIER_F64 &&
           !code_decodable(&c->code, c->slot_alive);
}

time_us round_deadline_at(const struct coordinator *c)
{
    if (c->phase != COORDINATOR_ROUND || c->late ||
        c->code.spec.stop != STOP_DEADLINE)
        return TIME_NEVER;
    return c->round_began_at + (time_us)(c->code.spec.deadline_s * 1e6);
}

void round_deadline(struct coordinator *c, struct actions *actions)
{
    if (c->now < round_deadline_at(c))
        return;
    c->late = true;
    if (round_enough(c))
        commit_round(c, actions);
}

/*
 * answers.c - what workers and relays answer, counted once and in one piece.
 *
 *   TALLY    the sum of one piece
 *   SUM      what a relay merged of several
 *   ROW      all coded pieces of a slot, in one
 *   REFUSE   a piece that does not fit its scale
 */
#include <string.h>

#include "base/bugs.h"
#include "base/check.h"
#include "core/product.h"
#include "core/star/coordinator_parts.h"
#include "math/vec.h"

/* --- whose, and to what --------------------------------------------------- */

/* TALLY-3: the answer is to the round that is open, and to nothing else. */
static bool key_current(const struct coordinator *c,
                        const struct round_key *key)
{
    if (c->phase != COORDINATOR_ROUND)
        return false;
    if (BUG(BUG_STALE_VIEW))
        return key->job == c->key.job && key->step == c->key.step &&
               key->weights == c->key.weights;
    if (BUG(BUG_STALE_STEP))
        return key->job == c->key.job && key->view == c->key.view;
    return key_equal(key, &c->key);
}

/* The same, for a code whose members may be at work on older rounds. */
static bool key_awaited(const struct coordinator *c, uint32_t link,
                        const struct round_key *key)
{
    return stale_on(c) ? stale_awaits(c, link, key) : key_current(c, key);
}

static void stale(struct coordinator *c, uint32_t link,
                  const struct round_key *key, struct actions *actions)
{
    c->stats.stale++;
    coordinator_trace(c, actions, TRACE_STALE, link)->key = *key;
    /* A relay has no name to strike. */
    if (!member_here(c, link) || !trust_key_impossible(c, key))
        return;
    trust_strike(c, link, POISON_KEY, actions);
    balance_round(c, actions);
}

/* Add the sums whatever the sets say: what the planted bugs do. */
static void add_blindly(struct coordinator *c)
{
    for (uint32_t j = 0; j < c->tally.dims; j++)
        c->tally.sum[j] =
            (int64_t)((uint64_t)c->tally.sum[j] + (uint64_t)c->arrived.sum[j]);
    c->tally.loss += c->arrived.loss;
}

static bool planted_double(const struct coordinator *c, uint32_t id,
                           uint32_t link)
{
    const bool expected = work_has(&c->pieces[id], link);

    (void)expected;
    return (BUG(BUG_APPLY_DUPLICATE) && !expected) ||
           (BUG(BUG_MERGE_OVERLAP) && expected);
}

/* How slow it was on purpose, in a step that may be an older one. */
static double delay_factor(const struct coordinator *c, uint32_t link,
                           uint32_t step)
{
    const struct member *member;

    if (link == LINK_NONE) /* A leaf that has gone since. */
        return 0;
    member = &c->members[link];
    return member->state != MEMBER_ACTIVE
               ? 0
               : delay_draw(&c->options.delay, step, member->slot, member->name)
                     .factor;
}

void answers_trace(const struct coordinator *c, uint32_t link,
                   int64_t compute_us, struct trace *trace)
{
    trace->answer.compute_us = compute_us;
    trace->answer.delay_factor = delay_factor(c, link, trace->key.step);
}

static void trace_merged(struct coordinator *c, uint32_t link,
                         const struct round_key *key, uint32_t id,
                         int64_t compute_us, struct actions *actions)
{
    struct trace *trace = coordinator_trace(c, actions, TRACE_TALLY, link);

    trace->key = *key;
    trace->a = id;
    trace->b = c->code.pieces[id].end - c->code.pieces[id].first;
    answers_trace(c, link, compute_us, trace);
}

/* May it count before anything but its bound is looked at?  Not what is
 * compared first, nor what is in already. */
static bool counts_at_once(const struct coordinator *c,
                           const struct msg_tally *msg)
{
    return c->ballots == NULL && !c->piece_in[msg->piece] &&
           !samples_is_one(c, msg->piece) &&
           chunkset_misses_range(&c->tally.chunks, msg->first, msg->end) &&
           !BUG(BUG_SKIP_FINITE);
}

/* False: some sum is out of the proved bound (P9), or is no sum at all. */
static bool lay_out(struct coordinator *c, const struct msg_tally *msg)
{
    chunkset_clear(&c->arrived.chunks);
    chunkset_add_range(&c->arrived.chunks, msg->first, msg->end);
    c->arrived.loss = msg->loss;
    c->absorbed = c->ahead || counts_at_once(c, msg);
    if (c->ahead)
        return true;
    if (samples_is_one(c, msg->piece))
        return samples_take(c, msg);
    if (msg->sum == NULL)
        return c->absorbed
                   ? tally_absorb_packed(&c->tally, &c->arrived, &msg->packed)
                   : tally_take_packed(&c->arrived, &msg->packed);
    if (c->absorbed)
        return tally_absorb(&c->tally, &c->arrived, msg->sum);
    return tally_take(&c->arrived, msg->sum);
}

static void piece_arrived(struct coordinator *c, uint32_t id)
{
    c->piece_in[id] = true;
    c->pieces_in++;
    c->stats.pieces_merged++;
}

/* Count the answer in, once (TALLY-1). */
static void merge(struct coordinator *c, uint32_t link,
                  const struct msg_tally *msg, struct actions *actions)
{
    const uint32_t id = msg->piece;

    if (!c->absorbed &&
        (c->piece_in[id] ||
         (!samples_is_one(c, id) && /* That is kept by itself. */
          tally_merge(&c->tally, &c->arrived) != ERR_OK))) {
        if (planted_double(c, id, link)) {
            add_blindly(c);
            trace_merged(c, link, &msg->key, id, msg->compute_us, actions);
            return;
        }
        c->stats.duplicates++;
        coordinator_trace(c, actions, TRACE_DUPLICATE, link)->a = id;
        return;
    }
    piece_arrived(c, id);
    trace_merged(c, link, &msg->key, id, msg->compute_us, actions);
}

/* One that was asked has answered: its slot owes one piece less. */
static void credit_slot(struct coordinator *c, uint32_t link, uint32_t id)
{
    const struct member *member = &c->members[link];

    if (member->state != MEMBER_ACTIVE ||
        !code_holds(&c->code, member->slot, id) ||
        c->slot_todo[member->slot] == 0)
        return;
    if (--c->slot_todo[member->slot] == 0)
        round_slot_in(c, member->slot);
}

/* True if it had been asked. */
static bool note_answered(struct coordinator *c, uint32_t link, uint32_t id)
{
    struct member *member = &c->members[link];

    member->answered++;
    member->answers++;
    member->answered_at = c->now;
    return work_take(c, id, link);
}

static void credit(struct coordinator *c, uint32_t link, uint32_t id)
{
    if (note_answered(c, link, id))
        credit_slot(c, link, id);
}

/* A piece was confirmed: the slots of those who said so owe one less. */
static void credit_votes(struct coordinator *c, uint32_t id)
{
    const struct ballot *ballot = &c->ballots[id];

    for (uint32_t link = 0; link < c->members_max; link++) {
        for (uint32_t i = 0; member_here(c, link) && i < ballot->count; i++) {
            if (ballot->votes[i].asked &&
                strcmp(ballot->votes[i].name, c->members[link].name) == 0)
                credit_slot(c, link, id);
        }
    }
}

static bool tally_shape_ok(const struct coordinator *c,
                           const struct msg_tally *msg)
{
    return msg->dims == c->tally.dims && msg->piece < c->code.plain_count &&
           msg->first == c->code.pieces[msg->piece].first &&
           msg->end == c->code.pieces[msg->piece].end;
}

bool answers_countable(const struct coordinator *c, const struct msg_tally *msg)
{
    return key_current(c, &msg->key) && tally_shape_ok(c, msg) &&
           msg->sum != NULL && counts_at_once(c, msg);
}

/* For the choice of code: how quick is it? */
static void note_answer(struct coordinator *c, uint32_t link, uint32_t chunks,
                        int64_t compute_us)
{
    const struct member *member = &c->members[link];

    if (member->state == MEMBER_ACTIVE)
        adapt_answer(&c->recoding.adapt, member->slot, c->now, chunks,
                     compute_us, member->outstanding > 0);
}

/* An answer in bound: merged, or kept to be compared. */
static void take_tally(struct coordinator *c, uint32_t link,
                       const struct msg_tally *msg, struct actions *actions)
{
    const bool compared = c->ballots != NULL && c->ballots[msg->piece].checked;

    switch (verify_vote(c, link, msg->piece, actions)) {
    case VERDICT_COUNT:
        merge(c, link, msg, actions);
        if (compared) {
            (void)note_answered(c, link, msg->piece);
            credit_votes(c, msg->piece);
        } else {
            credit(c, link, msg->piece);
        }
        break;
    case VERDICT_DROP:
        c->stats.duplicates++;
        coordinator_trace(c, actions, TRACE_DUPLICATE, link)->a = msg->piece;
        if (member_here(c, link))
            (void)note_answered(c, link, msg->piece);
        break;
    case VERDICT_WAIT:
        (void)note_answered(c, link, msg->piece);
        break;
    }
    if (member_here(c, link))
        note_answer(c, link, msg->end - msg->first, msg->compute_us);
    if (round_enough(c))
        commit_round(c, actions);
    else if (member_here(c, link) && !compared)
        balance_steal(c, link, actions);
    else
        balance_round(c, actions);
}

void answers_judged(struct coordinator *c, uint32_t id, struct actions *actions)
{
    struct trace *trace;

    piece_arrived(c, id);
    trace = coordinator_trace(c, actions, TRACE_JUDGED, LINK_NONE);
    trace->a = c->code.pieces[id].first;
    trace->b = c->code.pieces[id].end;
    credit_votes(c, id);
    if (round_enough(c))
        commit_round(c, actions);
}

void answers_tally(struct coordinator *c, uint32_t link,
                   const struct msg_tally *msg, struct actions *actions)
{
    enum poison_kind kind = POISON_SHAPE;

    if (!key_current(c, &msg->key)) {
        stale(c, link, &msg->key, actions);
        return;
    }
    if (tally_shape_ok(c, msg)) {
        if (lay_out(c, msg) || BUG(BUG_SKIP_FINITE)) {
            take_tally(c, link, msg, actions);
            return;
        }
        (void)work_take(c, msg->piece, link);
        kind = POISON_BOUND;
    }
    trust_strike(c, link, kind, actions);
    balance_round(c, actions);
}

/* --- answers that a relay merged ------------------------------------------ */

static bool answer_ok(const struct coordinator *c, const struct answer *answer)
{
    return answer->piece < c->code.plain_count &&
           answer->first == c->code.pieces[answer->piece].first &&
           answer->end == c->code.pieces[answer->piece].end;
}

/* Whose they are, to c->answerer. */
static void find_answerers(struct coordinator *c, uint32_t relay,
                           const struct msg_sum *msg)
{
    for (uint32_t i = 0; i < msg->count; i++)
        c->answerer[i] = leaves_member(c, relay, msg->answers[i].leaf);
}

/* Lay it out as one tally; false if it is none of this round's. */
static bool lay_out_sum(struct coordinator *c, const struct msg_sum *msg)
{
    if (msg->dims != c->tally.dims ||
        c->ballots != NULL) /* It was told not to merge what is compared. */
        return false;
    tally_blank(&c->arrived);
    memcpy(c->arrived.sum, msg->sum, msg->dims * sizeof *msg->sum);
    c->arrived.blank = false;
    c->arrived.loss = msg->loss;
    for (uint32_t i = 0; i < msg->count; i++) {
        const struct answer *answer = &msg->answers[i];

        if (!answer_ok(c, answer))
            return false;
        if (!answer->counted)
            continue;
        if (!chunkset_misses_range(&c->arrived.chunks, answer->first,
                                   answer->end))
            return false; /* Twice in one sum. */
        chunkset_add_range(&c->arrived.chunks, answer->first, answer->end);
    }
    return BUG(BUG_SKIP_FINITE) || tally_in_bound(&c->arrived);
}

static struct trace_answer merged_answer(const struct coordinator *c,
                                         uint32_t link, uint32_t step,
                                         const struct answer *answer)
{
    return (struct trace_answer){
        .link = link == LINK_NONE ? -1 : (int32_t)link,
        .piece = answer->piece,
        .chunks = answer->end - answer->first,
        .compute_us = answer->compute_us,
        .delay_factor = delay_factor(c, link, step),
    };
}

/* TALLY-1: all of it, or, if one piece is in already, nothing. */
static bool merge_sum(struct coordinator *c, uint32_t relay,
                      const struct msg_sum *msg, struct actions *actions)
{
    uint32_t count = 0;
    struct trace *trace;

    if (tally_merge(&c->tally, &c->arrived) != ERR_OK) {
        c->stats.duplicates++;
        (void)coordinator_trace(c, actions, TRACE_DUPLICATE, relay);
        return false;
    }
    for (uint32_t i = 0; i < msg->count; i++) {
        if (!msg->answers[i].counted)
            continue;
        piece_arrived(c, msg->answers[i].piece);
        c->merged[count++] =
            merged_answer(c, c->answerer[i], msg->key.step, &msg->answers[i]);
    }
    trace = coordinator_trace(c, actions, TRACE_SUM, relay);
    trace->key = msg->key;
    trace->a = count;
    trace->answers = c->merged;
    return true;
}

/* Whoever answered owes it no more.  A piece that is not in, because its sum
 * was dropped, is nobody's now and is given out again. */
static void credit_answer(struct coordinator *c, uint32_t link,
                          const struct answer *answer)
{
    c->members[link].heard_at = c->now;
    if (!c->piece_in[answer->piece]) {
        (void)work_take(c, answer->piece, link);
        return;
    }
    credit(c, link, answer->piece);
    note_answer(c, link, answer->end - answer->first, answer->compute_us);
}

static void credit_sum(struct coordinator *c, const struct msg_sum *msg)
{
    for (uint32_t i = 0; i < msg->count; i++) {
        if (member_here(c, c->answerer[i]) && answer_ok(c, &msg->answers[i]))
            credit_answer(c, c->answerer[i], &msg->answers[i]);
    }
}

/* Whose answer in the sum has other chunks than its piece?  A relay does not
 * know the pieces: that is the worker's doing.  LINK_NONE: nobody's here. */
static uint32_t misfit(const struct coordinator *c, const struct msg_sum *msg)
{
    for (uint32_t i = 0; i < msg->count; i++) {
        if (!answer_ok(c, &msg->answers[i]) && member_here(c, c->answerer[i]))
            return c->answerer[i];
    }
    return LINK_NONE;
}

/* The sum cannot be used; its pieces are given out again. */
static void drop_sum(struct coordinator *c, const struct msg_sum *msg,
                     uint32_t culprit, struct actions *actions)
{
    credit_sum(c, msg);
    trust_strike(c, culprit, POISON_SHAPE, actions);
    balance_round(c, actions);
}

void answers_sum(struct coordinator *c, uint32_t link,
                 const struct msg_sum *msg, struct actions *actions)
{
    uint32_t culprit;
    bool merged;

    CHECK(msg->count <= ANSWERS_MAX);
    if (!key_current(c, &msg->key)) {
        stale(c, link, &msg->key, actions);
        return;
    }
    find_answerers(c, link, msg);
    culprit = misfit(c, msg);
    if (culprit != LINK_NONE) {
        drop_sum(c, msg, culprit, actions);
        return;
    }
    if (!lay_out_sum(c, msg)) {
        /* Its relay checks what it merges: it is the relay that is broken. */
        c->stats.poison++;
        (void)coordinator_trace(c, actions, TRACE_POISON, link);
        coordinator_hang_up(c, actions, link);
        leaves_down(c, link, actions);
        return;
    }
    merged = merge_sum(c, link, msg, actions);
    credit_sum(c, msg);
    if (round_enough(c)) {
        commit_round(c, actions);
        return;
    }
    if (!merged)
        balance_round(c, actions);
    for (uint32_t i = 0; i < msg->count; i++) {
        if (member_here(c, c->answerer[i]))
            balance_steal(c, c->answerer[i], actions);
    }
}

/* --- coded answers -------------------------------------------------------- */

/* Its coded pieces come as one row, once. */
static void keep_row(struct coordinator *c, uint32_t slot, const double *row)
{
    const struct code *code = &c->code;
    const size_t width = (size_t)c->tally.dims + 1;

    if (code->folds == 0)
        memcpy(c->coded + slot * width, row, width * sizeof *row);
    for (uint32_t k = 0; k < code->folds; k++) {
        const double factor = code->basis[(size_t)k * code->slots + slot];
        double *fold = c->coded + k * width;

        for (size_t j = 0; j < width; j++)
            fold[j] += factor * row[j];
    }
}

static void unassign_coded(struct coordinator *c, uint32_t link)
{
    for (uint32_t id = c->code.plain_count; id < c->piece_count; id++)
        (void)work_take(c, id, link);
}

/* Chunks behind a row. */
static uint64_t row_chunks(struct coordinator *c, uint32_t slot)
{
    const uint32_t count =
        code_work(&c->code, slot, c->ids, c->code.piece_count);
    uint64_t chunks = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (c->ids[i] >= c->code.plain_count)
            chunks +=
                c->code.pieces[c->ids[i]].end - c->code.pieces[c->ids[i]].first;
    }
    return chunks;
}

static bool row_shape_ok(const struct coordinator *c, const struct msg_row *msg)
{
    if (product_on(c))
        return segments_fit(c, msg);
    return c->code.carrier == CARRIER_F64 && msg->dims == c->tally.dims;
}

/* It is computed again, at the weights of the open round; without one, the next
 * round asks. */
static void refuse_row(struct coordinator *c, uint32_t link,
                       enum poison_kind kind, struct actions *actions)
{
    trust_strike(c, link, kind, actions);
    c->segments.outdated = true;
    if (member_here(c, link) && c->phase == COORDINATOR_ROUND)
        work_resend(c, link, actions);
    else
        work_forget(c, link);
    balance_round(c, actions);
}

/* A piece that it was not given: counted, it would be as of its block.  From
 * one who came back within the round it may be of its last session, of another
 * block. */
static void refuse_unasked(struct coordinator *c, uint32_t link,
                           const struct msg_row *msg, struct actions *actions)
{
    if (segments_newcomer(c, link))
        stale(c, link, &msg->key, actions);
    else
        refuse_row(c, link, POISON_SHAPE, actions);
}

/* Count the row in, once (TALLY-1). */
static void take_row(struct coordinator *c, uint32_t link,
                     const struct msg_row *msg, struct actions *actions)
{
    struct member *member = &c->members[link];
    struct trace *trace;

    keep_row(c, member->slot, msg->row);
    unassign_coded(c, link);
    member->answers++;
    member->answered_at = c->now;
    if (!stale_on(c) || stale_arrived(c, member->slot, &msg->key))
        round_slot_in(c, member->slot);
    c->stats.pieces_merged++;
    trace = coordinator_trace(c, actions, TRACE_TALLY, link);
    trace->key = msg->key;
    trace->a = member->slot;
    trace->b = row_chunks(c, member->slot);
    answers_trace(c, link, msg->compute_us, trace);
}

void answers_row(struct coordinator *c, uint32_t link,
                 const struct msg_row *msg, struct actions *actions)
{
    const struct member *member = &c->members[link];

    /* Who came back within the round has no slot, and this is of its last. */
    if (!key_awaited(c, link, &msg->key) || member->state != MEMBER_ACTIVE) {
        stale(c, link, &msg->key, actions);
        return;
    }
    if (!row_shape_ok(c, msg)) {
        refuse_row(c, link, POISON_SHAPE, actions);
        return;
    }
    if (!(BUG(BUG_SKIP_FINITE) ||
          vec_finite(msg->row, (size_t)msg->dims + 1))) {
        refuse_row(c, link, POISON_FINITE, actions);
        return;
    }
    if (product_on(c) &&
        vec_largest(msg->row, msg->dims) > product_most(c, member->slot)) {
        refuse_row(c, link, POISON_BOUND, actions);
        return;
    }
    if (product_on(c) && !segments_asked(c, link, msg)) {
        refuse_unasked(c, link, msg, actions);
        return;
    }
    if (product_on(c)) {
        segments_take(c, link, msg, actions);
        if (round_enough(c))
            commit_round(c, actions);
        else
            balance_round(c, actions);
        return;
    }
    if (c->slot_in[member->slot] && !stale_on(c) && !BUG(BUG_ROW_TWICE)) {
        c->stats.duplicates++;
        (void)coordinator_trace(c, actions, TRACE_DUPLICATE, link);
        return;
    }
    take_row(c, link, msg, actions);
    if (c->phase == COORDINATOR_ROUND && round_enough(c))
        commit_round(c, actions);
    else if (stale_behind(c, link))
        round_open_slot(c, member->slot, actions);
}

/* --- refusals ------------------------------------------------------------- */

static void fail_range(struct coordinator *c, uint32_t id,
                       struct actions *actions)
{
    if (product_on(c)) {
        coordinator_fail(c, actions, ERR_RANGE,
                         "step %u: a product with the data is not finite; look "
                         "for huge values in the data or lower --lr",
                         c->key.step);
        return;
    }
    coordinator_fail(c, actions, ERR_RANGE,
                     "step %u: chunks %u to %u give a gradient that is "
                     "not finite; look for huge values in the data or "
                     "lower --lr",
                     c->key.step, c->code.pieces[id].first,
                     c->code.pieces[id].end - 1);
}

void answers_no_range(struct coordinator *c, uint32_t id,
                      struct actions *actions)
{
    if (!commit_refused(c, actions))
        fail_range(c, id, actions);
}

/* staleness: it did not fit the scale of an older round, which is over, and
 * whose scale was as good as any before it was tried.  What it owes is asked
 * for again, at the weights there are now. */
static bool refused_older(struct coordinator *c, uint32_t link,
                          const struct round_key *key, struct actions *actions)
{
    if (scale_proved(c->options.scale) || key_equal(key, &c->key))
        return false;
    if (stale_behind(c, link))
        round_open_slot(c, c->members[link].slot, actions);
    return true;
}

/* A chunk that does not fit a proved bound is broken data or a broken machine:
 * let another one try. */
void answers_refuse(struct coordinator *c, uint32_t link,
                    const struct msg_refuse *msg, struct actions *actions)
{
    if (!key_awaited(c, link, &msg->key) || msg->piece >= c->piece_count) {
        stale(c, link, &msg->key, actions);
        return;
    }
    if (verify_refused(c, link, msg->piece, actions)) {
        (void)work_take(c, msg->piece, link);
        balance_round(c, actions);
        return;
    }
    /* A row without one of its pieces would be another row. */
    if (refusals_plain(c, msg->piece))
        (void)work_take(c, msg->piece, link);
    else
        unassign_coded(c, link);
    /* Which scale comes next does not depend on who refused what, so the first
     * refusal is enough. */
    if (refused_older(c, link, &msg->key, actions) ||
        commit_refused(c, actions))
        return;
    if (c->piece_in[msg->piece] || !refusals_add(c, msg->piece, link)) {
        c->stats.duplicates++;
        (void)coordinator_trace(c, actions, TRACE_DUPLICATE, link);
    }
    c->segments.outdated = true;
    if (!c->piece_in[msg->piece] && refusals_true(c, msg->piece))
        answers_no_range(c, msg->piece, actions);
    else
        balance_round(c, actions);
}

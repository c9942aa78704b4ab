/*
 * commit.c - from a covered round to the next one.
 *
 * Decode, feed the optimiser, write the receipt.  Steps of an exact run need
 * not wait for the disk: one that was lost can be computed again to the same
 * bits, and the journal's hashes prove it.  Those of an approximate run cannot
 * (not even one that happened to cover everything: the next time it may not),
 * so they are durable before anyone hears of them.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "core/bugs.h"
#include "core/star/coordinator_parts.h"
#include "math/vec.h"

/* --- decoding ------------------------------------------------------------ */

static uint64_t rows_in(const struct coordinator *c)
{
    const struct job *job = &c->options.job;
    const uint32_t last = job->chunks - 1;
    uint64_t rows = (uint64_t)c->total.chunks.members * job->chunk_rows;

    if (homes_on(c))
        return homes_rows(c, &c->total.chunks);
    if (chunkset_has(&c->total.chunks, last))
        rows -= (uint64_t)job->chunks * job->chunk_rows - job->rows;
    return rows;
}

/* TALLY-5: rescaled once, in fp64, after the merge. */
static void decode_tally(struct coordinator *c, struct outcome *out)
{
    out->chunks = c->total.chunks.members;
    out->answered = c->slots_in;
    out->rescale = code_rescale(&c->code, rows_in(c), c->options.job.rows);
    /* An unbiased estimate is one even when all is in. */
    out->exactness = chunkset_full(&c->total.chunks) && out->rescale == 1
                         ? EXACT_BITWISE
                         : EXACT_APPROX;
    tally_fill(&c->total);
    out->in_bound = tally_gradient(&c->total, c->exponent, c->gradient);
    out->loss = tally_loss_value(&c->total, c->exponent);
    if (out->exactness == EXACT_BITWISE)
        return;
    for (uint32_t j = 0; j < c->total.dims; j++)
        c->gradient[j] *= out->rescale;
    out->loss *= out->rescale;
}

static void add_rows(struct coordinator *c, const double *weight,
                     uint32_t count, const bool *in)
{
    const size_t width = (size_t)c->total.dims + 1;

    for (uint32_t i = 0; i < count; i++) {
        const double *row = c->rows + i * width;

        if (weight[i] == 0 || (in != NULL && !in[i]))
            continue;
        for (size_t j = 0; j < width; j++)
            c->gradient[j] += weight[i] * row[j];
    }
}

static uint64_t rows_of(const struct coordinator *c, uint32_t slot)
{
    const struct job *job = &c->options.job;
    const uint32_t count =
        code_work(&c->code, slot, c->ids, c->code.piece_count);
    uint64_t rows = 0;

    for (uint32_t i = 0; i < count; i++) {
        const struct piece *piece = &c->code.pieces[c->ids[i]];
        const uint64_t end = (uint64_t)piece->end * job->chunk_rows;

        rows += (end < job->rows ? end : job->rows) -
                (uint64_t)piece->first * job->chunk_rows;
    }
    return rows;
}

/* The mean over the rows that took part, in the order of the slots.  A part
 * that is missing is missing from this mean alone; the receipt says which. */
static void decode_mean(struct coordinator *c, struct outcome *out)
{
    uint64_t rows = 0;

    out->chunks = code_covered(&c->code, c->piece_in, c->slot_in);
    out->answered = c->slots_in;
    out->exactness = EXACT_APPROX;
    for (uint32_t slot = 0; slot < c->code.slots; slot++)
        rows += c->slot_in[slot] ? rows_of(c, slot) : 0;
    CHECK(rows > 0);
    out->rescale = code_rescale(&c->code, rows, c->options.job.rows);
    for (uint32_t slot = 0; slot < c->code.slots; slot++)
        c->decode[slot] = (double)rows_of(c, slot) / (double)rows;
    memset(c->gradient, 0, ((size_t)c->total.dims + 1) * sizeof *c->gradient);
    add_rows(c, c->decode, c->code.slots, c->slot_in);
    out->loss = c->gradient[c->total.dims];
}

/* What came as tallies, then the coded answers by their weights. */
static enum err decode_rows(struct coordinator *c, struct outcome *out)
{
    const struct code *code = &c->code;
    const uint32_t dims = c->total.dims;
    enum err err = code_decode(code, c->slot_in, c->decode, &out->residual);

    if (err != ERR_OK)
        return err;
    tally_fill(&c->total);
    out->in_bound = tally_gradient(&c->total, c->exponent, c->gradient);
    c->gradient[dims] = tally_loss_value(&c->total, c->exponent);
    if (code->folds > 0)
        add_rows(c, code_folds(code), code->folds, NULL);
    else
        add_rows(c, c->decode, code->slots, c->slot_in);
    out->loss = c->gradient[dims];
    out->exactness =
        out->residual <= CODE_RESIDUAL_MAX ? EXACT_NUMERIC : EXACT_APPROX;
    out->answered = c->slots_in;
    out->chunks = out->exactness == EXACT_NUMERIC
                      ? c->options.job.chunks
                      : code_covered(code, c->piece_in, c->slot_in);
    out->rescale = 1;
    return ERR_OK;
}

/* The sum of the rows that came, each at the weights it was computed at, in the
 * order of the slots. */
static void decode_stale(struct coordinator *c, struct outcome *out)
{
    const uint32_t dims = c->total.dims;
    uint64_t rows = 0;

    out->chunks = code_covered(&c->code, c->piece_in, c->slot_in);
    out->exactness = EXACT_APPROX;
    for (uint32_t slot = 0; slot < c->code.slots; slot++) {
        const bool in = c->slot_in[slot] && c->code.busy[slot];

        c->decode[slot] = in ? 1 : 0;
        out->answered += in;
        rows += in ? rows_of(c, slot) : 0;
        out->age_sum += in ? c->slot_age[slot] : 0;
        if (in && c->slot_age[slot] > out->age_max)
            out->age_max = c->slot_age[slot];
    }
    CHECK(rows > 0);
    out->rescale = code_rescale(&c->code, rows, c->options.job.rows);
    memset(c->gradient, 0, ((size_t)dims + 1) * sizeof *c->gradient);
    add_rows(c, c->decode, c->code.slots, c->slot_in);
    for (uint32_t j = 0; j <= dims; j++)
        c->gradient[j] *= out->rescale;
    out->loss = c->gradient[dims];
}

/* --- journal and checkpoint ---------------------------------------------- */

static void append(struct coordinator *c, const struct record *record,
                   bool sync, struct actions *actions)
{
    struct action *action;

    CHECK(c->records_used < RECORDS_MAX);
    record_encode(record, &c->chain, c->records[c->records_used]);
    action = actions_add(actions, ACTION_JOURNAL);
    action->bytes = c->records[c->records_used++];
    action->size = RECORD_BYTES;
    action->sync = sync;
    c->journal_loose = !sync;
    c->journal_wait++;
}

/* What the journal has must be durable before a checkpoint (STORE-2): an empty
 * write does that. */
static void sync_journal(struct coordinator *c, struct actions *actions)
{
    struct action *action = actions_add(actions, ACTION_JOURNAL);

    action->bytes = c->records[0];
    action->sync = true;
    c->journal_loose = false;
    c->journal_wait++;
}

/* coordinator_hash, but once for each step: a receipt and a checkpoint both
 * want it. */
static struct digest hash_of_step(struct coordinator *c)
{
    if (c->hashed_step == 0 || c->hashed_step != c->optim.step)
        c->hashed = coordinator_hash(c);
    c->hashed_step = c->optim.step;
    return c->hashed;
}

/* The receipt that was put off, now that its hash is known. */
static void write_receipt(struct coordinator *c, const struct digest *weights,
                          struct actions *actions)
{
    c->receipt_due = false;
    if (c->journal_broken)
        return;
    c->receipt.weights = *weights;
    append(c, &c->receipt, false, actions);
}

/* INV-5: the weights are still those of the step, whoever else reads them. */
void commit_receipt(struct coordinator *c, struct actions *actions)
{
    struct digest weights;

    if (!c->receipt_due)
        return;
    weights = hash_of_step(c);
    write_receipt(c, &weights, actions);
}

void commit_journal(struct coordinator *c, const struct record *record,
                    bool sync, struct actions *actions)
{
    commit_receipt(c, actions);
    append(c, record, sync, actions);
}

static bool checkpoint_due(const struct coordinator *c)
{
    const uint32_t behind = c->optim.step - c->checkpoint_step;

    return !c->checkpoint_busy && !c->journal_broken &&
           (behind >= c->options.checkpoint_steps ||
            (c->options.sync && behind > 0) ||
            c->now - c->checkpoint_at >= c->options.checkpoint_us);
}

static void ask_checkpoint(struct coordinator *c, struct actions *actions)
{
    struct writer state = writer_on(c->state, coordinator_state_bytes(c));
    struct checkpoint checkpoint = {
        .job = c->options.job.id,
        .config = c->options.config,
        .view = c->view,
        .step = c->optim.step,
        .weights = hash_of_step(c),
        .state = c->state,
    };
    struct action *action;

    optim_save(&c->optim, &state);
    scale_save(c->options.scale, &state);
    CHECK(state.ok);
    checkpoint.state_size = state.size;
    action = actions_add(actions, ACTION_CHECKPOINT);
    action->bytes = c->checkpoint;
    action->size = checkpoint_encode(&checkpoint, c->checkpoint);
    action->step = c->optim.step;
    c->checkpoint_busy = true;
    c->checkpoint_at = c->now;
}

void commit_checkpointed(struct coordinator *c, uint32_t step, enum err err,
                         struct actions *actions)
{
    CHECK(c->checkpoint_busy);
    c->checkpoint_busy = false;
    c->checkpoint_step = step;
    if (err == ERR_OK) {
        c->saved_step = step;
        coordinator_trace(c, actions, TRACE_CHECKPOINT, LINK_NONE)->key.step =
            step;
    } else {
        c->stats.alarms++;
        (void)coordinator_trace(c, actions, TRACE_ALARM, LINK_NONE);
    }
    if (c->phase == COORDINATOR_COMMITTING && c->journal_wait == 0)
        commit_advance(c, actions);
}

/* --- receipts ------------------------------------------------------------ */

static void mark_silent(const struct coordinator *c, struct record *record)
{
    for (uint32_t slot = 0; slot < c->code.slots && slot < RECORD_SLOTS; slot++)
        if (!c->slot_in[slot])
            record->silent[slot / 8] |= (uint8_t)(1u << slot % 8);
}

static struct record receipt(const struct coordinator *c,
                             const struct outcome *out)
{
    struct record record = {
        .kind = RECORD_STEP,
        .job = c->options.job.id,
        .view = c->view,
        .step = c->optim.step,
        .attempt = out->attempts,
        .slots = c->code.slots,
        .answered = out->answered,
        .chunks = out->chunks,
        .exactness = (uint32_t)out->exactness,
        .scale = c->key.scale,
        .residual = out->residual,
        .rescale = out->rescale,
        .objective = c->optim.objective,
        .age_sum = out->age_sum,
        .age_max = out->age_max,
    };

    if (c->what.kind == EVALUATE_LOCAL)
        mark_silent(c, &record);
    memcpy(record.code, c->code.spec.name, sizeof record.code);
    return record;
}

/* INV-5: a step computed again gives the bits the journal promised.  True if
 * the step is such a one (and so is not journaled twice). */
static bool replayed(struct coordinator *c, const struct record *record,
                     struct actions *actions)
{
    const uint32_t at = record->step - c->replay_first;

    if (record->step < c->replay_first || at >= c->replay_count)
        return false;
    if (!digest_zero(&c->replay[at]) && /* Zero: its receipt was lost. */
        !digest_equal(&c->replay[at], &record->weights))
        coordinator_fail(c, actions, ERR_MISMATCH,
                         "step %u, computed again, gives another model than "
                         "the journal says: this machine or its disk is "
                         "faulty",
                         record->step);
    return true;
}

/* Once for all behind a relay. */
static void send_cancel(struct coordinator *c, uint32_t link,
                        struct actions *actions)
{
    const uint32_t via = c->members[link].via;
    const uint32_t to = via > 0 ? via - 1 : link;

    if (via > 0 && c->members[to].called_off)
        return;
    coordinator_send(c, actions, to, MSG_CANCEL)->cancel.key = c->key;
    c->members[to].called_off = via > 0;
}

static void call_off(struct coordinator *c, struct actions *actions)
{
    if (stale_on(c))
        return; /* They go on. */
    for (uint32_t i = 0; i < c->alive; i++) {
        const uint32_t link = c->present[i];

        if (c->members[link].outstanding == 0)
            continue;
        send_cancel(c, link, actions);
        work_forget(c, link);
    }
}

static void count_step(struct coordinator *c, const struct outcome *out,
                       struct actions *actions)
{
    struct trace *trace;

    c->stats.exactness[out->exactness]++;
    c->stats.chunks_covered += out->chunks;
    if (out->residual > c->stats.worst_residual)
        c->stats.worst_residual = out->residual;
    c->stats.aged += out->answered;
    c->stats.age_sum += out->age_sum;
    if (out->age_max > c->stats.age_max)
        c->stats.age_max = out->age_max;
    trace = coordinator_trace(c, actions, TRACE_COMMIT, LINK_NONE);
    trace->key.step = c->optim.step;
    trace->a = (uint64_t)out->exactness;
    trace->b = out->chunks;
    trace->value = c->optim.objective;
}

/* The weights diverged: nothing can be made of them. */
static void fail_diverged(struct coordinator *c, struct actions *actions)
{
    coordinator_fail(c, actions, ERR_RANGE,
                     "the training diverged at step %u: weights or loss are "
                     "not finite; a smaller --lr helps",
                     c->optim.step);
}

/* The job is over without an update: the gradient is small enough (--tol), or
 * no step makes it smaller. */
static void end_without_update(struct coordinator *c, struct actions *actions)
{
    commit_receipt(c, actions);
    if (c->journal_broken)
        commit_advance(c, actions);
    else
        sync_journal(c, actions);
}

/* A step is as exact as the least exact of its rounds. */
static void add_round(struct outcome *step, const struct outcome *round)
{
    if (round->exactness > step->exactness)
        step->exactness = round->exactness;
    if (round->residual > step->residual)
        step->residual = round->residual;
    step->attempts += round->attempts;
    step->answered = round->answered;
    step->chunks = round->chunks;
    step->rescale = round->rescale;
    step->age_sum = round->age_sum;
    step->age_max = round->age_max;
}

/* May workers be sent the next round before the receipt is written?  An exact
 * step need not even be durable; but nothing may be journaled between the two
 * (commit_journal sees to it), and a step that was promised before is compared
 * with its promise first. */
static bool may_put_off(const struct coordinator *c)
{
    const uint32_t at = c->optim.step - c->replay_first;
    const bool replays =
        c->optim.step >= c->replay_first && at < c->replay_count;

    return c->options.late_receipts && !c->journal_broken && !replays &&
           !c->view_dirty && c->code_built && !c->options.adapt;
}

/* The next round first, then the receipt. */
static void end_step_early(struct coordinator *c, struct actions *actions)
{
    CHECK(!c->hashing);
    c->receipt_due = true;
    commit_advance(c, actions);
    if (c->phase != COORDINATOR_ROUND) {
        commit_receipt(c, actions);
        return;
    }
    (void)actions_add(actions, ACTION_RECEIPT);
    c->hashing = true;
}

void commit_hashed(struct coordinator *c, const struct digest *digest,
                   struct actions *actions)
{
    const bool waits = c->round_waits;

    CHECK(c->hashing);
    c->hashing = false;
    c->round_waits = false;
    if (c->receipt_due && digest != NULL)
        write_receipt(c, digest, actions);
    commit_receipt(c, actions);
    if (waits && c->phase == COORDINATOR_ROUND && round_enough(c))
        commit_round(c, actions);
}

/* The model has been updated: write the receipt, go on. */
static void end_step(struct coordinator *c, struct actions *actions)
{
    const struct outcome out = c->outcome;
    struct record record = receipt(c, &out);
    const bool sync =
        c->options.sync || c->stopping ||
        (!coordinator_promises_bits(c) && !BUG(BUG_UNSYNCED_STEP)) ||
        checkpoint_due(c) || optim_next(&c->optim).kind == ASK_DONE;

    c->outcome = (struct outcome){0};
    count_step(c, &out, actions);
    if (!sync && may_put_off(c)) {
        c->receipt = record;
        end_step_early(c, actions);
        return;
    }
    record.weights = hash_of_step(c);
    if (!replayed(c, &record, actions) && !c->journal_broken)
        commit_journal(c, &record, sync, actions);
    if (c->phase == COORDINATOR_FAILED)
        return;
    if (c->journal_wait == 0 || !sync)
        commit_advance(c, actions);
}

static enum err decode(struct coordinator *c, struct outcome *out)
{
    if (c->what.kind == EVALUATE_LOCAL) {
        decode_mean(c, out);
        return ERR_OK;
    }
    if (stale_on(c)) {
        decode_stale(c, out);
        return ERR_OK;
    }
    if (product_on(c))
        return product_decode(c, out);
    if (c->code.carrier == CARRIER_F64)
        return decode_rows(c, out);
    decode_tally(c, out);
    return ERR_OK;
}

/* For the choice of code. */
static void note_round(struct coordinator *c)
{
    if (!c->options.adapt)
        return;
    for (uint32_t slot = 0; slot < c->code.slots; slot++)
        c->slot_alive[slot] = c->slot_link[slot] != LINK_NONE;
    adapt_end(&c->adapt, c->now, c->slot_alive);
}

static void fail_no_function(struct coordinator *c, struct actions *actions)
{
    coordinator_fail(c, actions, ERR_MISMATCH,
                     "step %u: the function gave two answers for the same "
                     "weights and chunk",
                     c->optim.step);
}

/* No scale fits this point: on to the next trial, or the end. */
static void end_hopeless(struct coordinator *c, struct actions *actions)
{
    call_off(c, actions);
    if (optim_reject(&c->optim)) {
        c->key.attempt = 0;
        commit_rejected(c, actions);
        return;
    }
    coordinator_fail(c, actions, ERR_RANGE,
                     "step %u: gradient or loss of a chunk is not finite or "
                     "too large",
                     c->optim.step);
}

/* What the scale says of the evaluation.  False: the round is done again, or
 * the job is over. */
bool commit_scale_stands(struct coordinator *c, enum scale_verdict verdict,
                         struct actions *actions)
{
    switch (verdict) {
    case SCALE_STANDS:
        return true;
    case SCALE_AGAIN:
        round_again(c, actions);
        break;
    case SCALE_HOPELESS:
        end_hopeless(c, actions);
        break;
    case SCALE_NO_FUNCTION:
        fail_no_function(c, actions);
        break;
    }
    return false;
}

/* Whole tallies were looked at by tally_gradient. */
static bool finite(const struct coordinator *c, const struct outcome *out)
{
    return isfinite(out->loss) && (out->exactness == EXACT_BITWISE ||
                                   vec_finite(c->gradient, c->total.dims));
}

void commit_round(struct coordinator *c, struct actions *actions)
{
    struct outcome out = {.exactness = EXACT_BITWISE, .in_bound = true};
    bool updated;

    c->round_waits = c->hashing;
    if (c->round_waits)
        return; /* INV-5: commit_hashed goes on. */
    if (decode(c, &out) != ERR_OK)
        return; /* These answers do not suffice: wait for one more. */
    /* A certificate has not tried every set of stragglers. */
    c->doubtful =
        c->code.carrier == CARRIER_F64 && out.exactness > c->code.exactness;
    if (c->doubtful) {
        balance_round(c, actions);
        return;
    }
    if (!BUG(BUG_SKIP_FINITE) && !out.in_bound) {
        coordinator_fail(c, actions, ERR_DENIED,
                         "step %u: the answers add up to more than the data "
                         "allow, so that some worker lied; --verify finds out "
                         "who",
                         c->key.step);
        return;
    }
    if (!BUG(BUG_SKIP_FINITE) && !finite(c, &out)) {
        coordinator_fail(c, actions, ERR_RANGE,
                         "step %u: the decoded gradient is not finite",
                         c->key.step);
        return;
    }
    note_round(c);
    refusals_settle(c, actions);
    call_off(c, actions);
    if (!commit_scale_stands(
            c, scale_stands(c->options.scale, c->what.kind, c->gradient),
            actions))
        return;
    out.attempts = c->key.attempt;
    add_round(&c->outcome, &out);
    c->phase = COORDINATOR_COMMITTING;
    c->key.attempt = 0;
    c->halfway = product_on(c) && !c->halfway;
    if (c->halfway) {
        commit_advance(c, actions); /* The scores; now the way back. */
        return;
    }
    updated = optim_feed(&c->optim, c->gradient, out.loss);
    if (c->optim.diverged)
        fail_diverged(c, actions);
    else if (updated)
        end_step(c, actions);
    else if (optim_next(&c->optim).kind == ASK_DONE)
        end_without_update(c, actions);
    else
        commit_advance(c, actions); /* Another round of the same step. */
}

/* The last step may not be durable yet: it was finished here, by the judge,
 * after the last worker had gone. */
void commit_stop(struct coordinator *c, struct actions *actions)
{
    c->phase = COORDINATOR_COMMITTING;
    end_without_update(c, actions);
}

/* No deeper than the trials of one search: each call places the next. */
void commit_rejected(struct coordinator *c, struct actions *actions)
{
    c->phase = COORDINATOR_COMMITTING;
    if (optim_next(&c->optim).kind == ASK_DONE)
        end_without_update(c, actions);
    else
        commit_advance(c, actions);
}

/* Without a journal exact steps go on, they can be computed again; a view or an
 * approximate step must be durable before anyone hears of it. */
void commit_fail_disk(struct coordinator *c, enum err err,
                      struct actions *actions)
{
    coordinator_fail(c, actions, err,
                     "the journal cannot be written (%s): a new view or an "
                     "approximate step must be durable before it is used; "
                     "free disk space and go on with --resume",
                     err_text(err));
}

static void journal_failed(struct coordinator *c, enum err err,
                           struct actions *actions)
{
    c->stats.alarms++;
    (void)coordinator_trace(c, actions, TRACE_ALARM, LINK_NONE);
    c->journal_broken = true;
    if (c->phase == COORDINATOR_VIEWING || c->phase == COORDINATOR_GATHERING ||
        !coordinator_promises_bits(c))
        commit_fail_disk(c, err, actions);
}

void commit_journaled(struct coordinator *c, enum err err,
                      struct actions *actions)
{
    CHECK(c->journal_wait > 0);
    c->journal_wait--;
    if (err != ERR_OK && !c->journal_broken)
        journal_failed(c, err, actions);
    if (c->journal_wait > 0)
        return;
    if (c->phase == COORDINATOR_VIEWING)
        view_journaled(c, actions);
    else if (c->phase == COORDINATOR_COMMITTING)
        commit_advance(c, actions);
    else if (c->phase == COORDINATOR_GATHERING)
        view_gather(c, actions);
}

/* --- on ------------------------------------------------------------------ */

/* The disk may have failed since the last checkpoint. */
static const char *stopped_text(struct coordinator *c)
{
    if (c->saved_step == c->optim.step)
        return "stopped; the state is saved";
    (void)snprintf(c->reason, sizeof c->reason,
                   "stopped at step %u; the disk failed, and the state is "
                   "saved as of step %u only",
                   c->optim.step, c->saved_step);
    return c->reason;
}

static void finish(struct coordinator *c, struct actions *actions)
{
    const bool done = optim_next(&c->optim).kind == ASK_DONE;
    struct action *action;

    for (uint32_t link = 0; link < c->members_max; link++) {
        struct msg *bye;

        if (!member_here(c, link))
            continue;
        bye = coordinator_send(c, actions, link, MSG_BYE);
        bye->bye.finished = done;
        memcpy(bye->bye.reason, done ? "done" : "stopped", done ? 5 : 8);
    }
    leaves_bye(c, done, done ? "done" : "stopped", actions);
    (void)coordinator_trace(c, actions, TRACE_DONE, LINK_NONE);
    action = actions_add(actions, ACTION_FINISH);
    action->err = done ? ERR_OK : ERR_CANCELLED;
    action->reason = done ? "done" : stopped_text(c);
    c->phase = COORDINATOR_DONE;
}

void commit_give_up(struct coordinator *c, struct actions *actions,
                    enum err err, const char *format, ...)
{
    va_list args;

    if (c->journal_wait > 0)
        return;
    va_start(args, format);
    (void)vsnprintf(c->despair, sizeof c->despair, format, args);
    va_end(args);
    c->gave_up = err;
    c->phase = COORDINATOR_COMMITTING;
    end_without_update(c, actions);
}

static void fail_saved(struct coordinator *c, struct actions *actions)
{
    if (c->saved_step == c->optim.step)
        coordinator_fail(c, actions, c->gave_up,
                         "%s; the state is saved, go on with --resume",
                         c->despair);
    else
        coordinator_fail(c, actions, c->gave_up,
                         "%s; the disk failed, and the state is saved as of "
                         "step %u only, go on with --resume",
                         c->despair, c->saved_step);
}

static void save_last(struct coordinator *c, struct actions *actions)
{
    if (c->journal_loose) /* Told to stop after the last step ended. */
        sync_journal(c, actions);
    else
        ask_checkpoint(c, actions);
}

/* The last state is durable before anyone hears that the job is over. */
static void end_job(struct coordinator *c, struct actions *actions)
{
    c->phase = COORDINATOR_COMMITTING;
    if (c->checkpoint_busy)
        return;
    if (c->checkpoint_step != c->optim.step && !c->journal_broken)
        save_last(c, actions);
    else if (c->gave_up != ERR_OK)
        fail_saved(c, actions);
    else
        finish(c, actions);
}

void commit_abandon(struct coordinator *c, struct actions *actions)
{
    const bool waits =
        c->phase == COORDINATOR_ROUND || c->phase == COORDINATOR_GATHERING;

    if (!c->stopping || c->alive > 0 || !waits || c->journal_wait > 0)
        return;
    c->phase = COORDINATOR_COMMITTING;
    end_without_update(c, actions);
}

void commit_advance(struct coordinator *c, struct actions *actions)
{
    const bool boundary = c->optim.round == 0 && !c->halfway; /* Of a step. */

    if (c->gave_up != ERR_OK || (c->stopping && (boundary || c->alive == 0)) ||
        optim_next(&c->optim).kind == ASK_DONE) {
        end_job(c, actions);
        return;
    }
    if (c->phase == COORDINATOR_COMMITTING && boundary && checkpoint_due(c))
        ask_checkpoint(c, actions);
    if (c->phase == COORDINATOR_COMMITTING && boundary && c->options.sync &&
        c->checkpoint_busy)
        return; /* P6: commit_checkpointed goes on. */
    if (c->phase == COORDINATOR_COMMITTING && boundary)
        view_adapt(c, actions);
    if (c->view_dirty || !c->code_built)
        view_form(c, actions);
    else
        round_open(c, actions);
}

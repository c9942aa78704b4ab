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

#include "base/bugs.h"
#include "base/check.h"
#include "core/run/failure.h"
#include "core/star/coordinator_parts.h"
#include "math/vec.h"

/* --- checkpoints --------------------------------------------------------- */

static void ask_checkpoint(struct coordinator *c, struct actions *actions)
{
    const struct checkpoint head = {
        .job = c->options.job.id, .config = c->options.config, .view = c->view};

    trainer_checkpoint(&c->trainer, &head, c->now, actions);
}

void commit_checkpointed(struct coordinator *c, uint32_t step, enum err err,
                         struct actions *actions)
{
    trainer_checkpointed(&c->trainer, step, err);
    if (err == ERR_OK) {
        coordinator_trace(c, actions, TRACE_CHECKPOINT, LINK_NONE)->key.step =
            step;
    } else {
        c->stats.alarms++;
        (void)coordinator_trace(c, actions, TRACE_ALARM, LINK_NONE);
    }
    if (c->phase == COORDINATOR_COMMITTING && !ledger_waits(&c->trainer.ledger))
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
                             const struct total *out)
{
    struct record record = {
        .kind = RECORD_STEP,
        .job = c->options.job.id,
        .view = c->view,
        .step = c->trainer.optim.step,
        .attempt = out->attempts,
        .slots = c->code.slots,
        .answered = out->answered,
        .chunks = out->chunks,
        .exactness = (uint32_t)out->exactness,
        .scale = c->key.scale,
        .residual = out->residual,
        .condition = (float)out->condition,
        .rescale = out->rescale,
        .objective = c->trainer.optim.objective,
        .age_sum = out->age_sum,
        .age_max = out->age_max,
    };

    if (c->what.kind == EVALUATE_LOCAL)
        mark_silent(c, &record);
    memcpy(record.code, c->code.spec.name, sizeof record.code);
    return record;
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

static void count_step(struct coordinator *c, const struct total *out,
                       struct actions *actions)
{
    struct trace *trace;

    c->stats.exactness[out->exactness]++;
    c->stats.worst_residual =
        record_worse(c->stats.worst_residual, out->residual);
    if (out->condition > c->stats.worst_condition)
        c->stats.worst_condition = out->condition;
    c->stats.aged += out->answered;
    c->stats.age_sum += out->age_sum;
    if (out->age_max > c->stats.age_max)
        c->stats.age_max = out->age_max;
    trace = coordinator_trace(c, actions, TRACE_COMMIT, LINK_NONE);
    trace->key.step = c->trainer.optim.step;
    trace->a = (uint64_t)out->exactness;
    trace->b = out->chunks;
    trace->value = c->trainer.optim.objective;
}

/* Nothing can be made of these weights, or sums. */
static void fail(struct coordinator *c, enum trainer_next next,
                 struct actions *actions)
{
    struct why why = {0};
    const enum err err = failure_of(&c->trainer, next, &why);

    coordinator_fail(c, actions, err, "%s", why.text);
}

/* The job is over without an update: the gradient is small enough (--tol), or
 * no step makes it smaller. */
static void end_without_update(struct coordinator *c, struct actions *actions)
{
    if (c->trainer.ledger.broken)
        commit_advance(c, actions);
    else
        trainer_sync(&c->trainer, actions);
}

/* May workers be sent the next round before the receipt is written?  An exact
 * step need not even be durable; but nothing may be journaled between the two
 * (trainer_journal sees to it). */
static bool may_put_off(const struct coordinator *c)
{
    return !c->view_dirty && c->code_built && !c->options.adapt &&
           trainer_may_put_off(&c->trainer);
}

static void fail_contradicted(struct coordinator *c, struct actions *actions)
{
    coordinator_fail(c, actions, ERR_MISMATCH,
                     "step %u, computed again, gives another model than the "
                     "journal says: this machine or its disk is faulty",
                     c->trainer.optim.step);
}

/* Is it over, and its result somebody else's? */
static bool is_passed(const struct coordinator *c)
{
    return c->options.passing && trainer_done(&c->trainer);
}

/* Must what is journaled now be durable before anyone hears of it? */
static bool is_urgent(const struct coordinator *c)
{
    return c->trainer.ledger.options.sync || c->stopping.how != STOPPING_NOT ||
           (!coordinator_promises_bits(c) && !BUG(BUG_UNSYNCED_STEP)) ||
           (trainer_done(&c->trainer) && !c->options.passing);
}

/* STORE-2: a checkpoint follows at once, or waits for a receipt that does. */
static bool is_awaited(const struct coordinator *c)
{
    return !may_put_off(c) && trainer_checkpoint_due(&c->trainer, c->now);
}

/* The model has been updated: write the receipt, go on. */
static void end_step(struct coordinator *c, struct actions *actions)
{
    const struct total out = trainer_step_total(&c->trainer);
    struct record record = receipt(c, &out);

    count_step(c, &out, actions);
    switch (trainer_commit(&c->trainer, &record, is_urgent(c) || is_awaited(c),
                           may_put_off(c), actions)) {
    case RECEIPT_WRITTEN:
        commit_advance(c, actions);
        break;
    case RECEIPT_PUT_OFF: /* The next round first, then the receipt. */
        commit_advance(c, actions);
        trainer_write_receipt(&c->trainer, actions);
        break;
    case RECEIPT_CONTRADICTS:
        fail_contradicted(c, actions);
        break;
    case RECEIPT_WAITS:
        break;
    }
}

/* A pass is over: nothing goes on before its loss is known. */
static void ask_measure(struct coordinator *c, struct actions *actions)
{
    c->phase = COORDINATOR_COMMITTING;
    if (!c->measuring)
        (void)actions_add(actions, ACTION_MEASURE);
    c->measuring = true;
}

void commit_measured(struct coordinator *c, double loss, enum err err,
                     struct actions *actions)
{
    struct trace *trace;
    enum receipt_fate fate;

    CHECK(c->measuring);
    c->measuring = false;
    if (err != ERR_OK) {
        coordinator_fail(c, actions, err,
                         "step %u: the held-out rows cannot be measured: %s",
                         c->trainer.optim.step, err_text(err));
        return;
    }
    trainer_measured(&c->trainer, loss);
    trace = coordinator_trace(c, actions, TRACE_PASS, LINK_NONE);
    trace->key.step = c->trainer.optim.step;
    trace->a = c->trainer.early.best_step;
    trace->value = loss;
    fate = trainer_commit_pass(
        &c->trainer, c->options.job.id, c->view,
        is_urgent(c) || trainer_checkpoint_due(&c->trainer, c->now), actions);
    if (fate == RECEIPT_CONTRADICTS)
        coordinator_fail(c, actions, ERR_MISMATCH,
                         "step %u, computed again, gives another loss of the "
                         "held-out rows than the journal says: this machine "
                         "or its disk is faulty",
                         c->trainer.optim.step);
    else if (fate == RECEIPT_WRITTEN)
        commit_advance(c, actions);
}

/* For the choice of code. */
static void note_round(struct coordinator *c)
{
    if (!c->options.adapt)
        return;
    for (uint32_t slot = 0; slot < c->code.slots; slot++)
        c->slot_alive[slot] = c->slot_link[slot] != LINK_NONE;
    adapt_end(&c->recoding.adapt, c->now, c->slot_alive);
}

/* On to the next question, or out. */
void commit_next(struct coordinator *c, enum trainer_next next,
                 struct actions *actions)
{
    if (next == TRAINER_AGAIN) {
        round_again(c, actions);
        return;
    }
    c->phase = COORDINATOR_COMMITTING;
    c->key.attempt = 0;
    switch (next) {
    case TRAINER_MORE:
        commit_advance(c, actions);
        break;
    case TRAINER_STEPPED:
        end_step(c, actions);
        break;
    case TRAINER_DONE:
        end_without_update(c, actions);
        break;
    case TRAINER_DIVERGED:
    case TRAINER_RANGE:
    case TRAINER_NO_FUNCTION:
        fail(c, next, actions);
        break;
    case TRAINER_ASKS:
    case TRAINER_STANDS:
    case TRAINER_AGAIN:
        CHECK(!"no answer to an answer");
    }
}

bool commit_refused(struct coordinator *c, struct actions *actions)
{
    const enum trainer_next next = trainer_refuse(&c->trainer);

    if (next == TRAINER_STANDS)
        return false;
    if (next != TRAINER_AGAIN && next != TRAINER_NO_FUNCTION)
        call_off(c, actions);
    commit_next(c, next, actions);
    return true;
}

/* Whole tallies were looked at by tally_gradient. */
static bool finite(const struct coordinator *c, const struct total *out)
{
    const uint32_t count =
        out->sums == c->gradient ? c->tally.dims : c->options.job.rows;

    return isfinite(out->loss) &&
           (out->exactness == EXACT_BITWISE || vec_finite(out->sums, count));
}

void commit_round(struct coordinator *c, struct actions *actions)
{
    struct total out = {.sums = c->gradient,
                        .exactness = EXACT_BITWISE,
                        .attempts = c->key.attempt,
                        .in_bound = true};

    if (decode_round(c, &out) != ERR_OK)
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
                         "step %u: what the answers come to is not finite",
                         c->key.step);
        return;
    }
    note_round(c);
    refusals_settle(c, actions);
    call_off(c, actions);
    if (!product_on(c) || !product_more(c)) {
        commit_next(c, trainer_feed(&c->trainer, &out), actions);
        return;
    }
    trainer_note(&c->trainer, &out); /* The scores; now the way back. */
    commit_next(c, TRAINER_MORE, actions);
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
    if (c->phase == COORDINATOR_VIEWING || c->phase == COORDINATOR_GATHERING ||
        !coordinator_promises_bits(c))
        commit_fail_disk(c, err, actions);
}

void commit_journaled(struct coordinator *c, enum err err,
                      struct actions *actions)
{
    if (trainer_journaled(&c->trainer, err, actions))
        journal_failed(c, err, actions);
    if (ledger_waits(&c->trainer.ledger))
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
    if (c->trainer.ledger.saved_step == c->trainer.optim.step)
        return "stopped; the state is saved";
    (void)snprintf(c->reason, sizeof c->reason,
                   "stopped at step %u; the disk failed, and the state is "
                   "saved as of step %u only",
                   c->trainer.optim.step, c->trainer.ledger.saved_step);
    return c->reason;
}

/* The result is handed over before anyone hears that the job is over: of one
 * that is passing there may be nothing on disk to find it in again. */
static void finish(struct coordinator *c, struct actions *actions)
{
    const bool done = trainer_done(&c->trainer);
    struct action *const action = actions_add(actions, ACTION_FINISH);

    action->err = done ? ERR_OK : ERR_CANCELLED;
    action->reason = done ? "done" : stopped_text(c);
    for (uint32_t link = 0; link < c->members_max; link++) {
        struct msg *bye;

        if (!member_here(c, link))
            continue;
        bye = coordinator_send(c, actions, link, MSG_BYE);
        bye->bye.finished = done;
        bye->bye.more = done && c->options.more;
        memcpy(bye->bye.reason, done ? "done" : "stopped", done ? 5 : 8);
    }
    leaves_bye(c, done, done ? "done" : "stopped", actions);
    (void)coordinator_trace(c, actions, TRACE_DONE, LINK_NONE);
    c->phase = COORDINATOR_DONE;
}

void commit_give_up(struct coordinator *c, struct actions *actions,
                    enum err err, const char *format, ...)
{
    va_list args;

    if (ledger_waits(&c->trainer.ledger))
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
    if (c->trainer.ledger.saved_step == c->trainer.optim.step)
        coordinator_fail(c, actions, c->gave_up,
                         "%s; the state is saved, go on with --resume",
                         c->despair);
    else
        coordinator_fail(c, actions, c->gave_up,
                         "%s; the disk failed, and the state is saved as of "
                         "step %u only, go on with --resume",
                         c->despair, c->trainer.ledger.saved_step);
}

static void save_last(struct coordinator *c, struct actions *actions)
{
    if (c->trainer.ledger.loose) /* Told to stop after the last step ended. */
        trainer_sync(&c->trainer, actions);
    else
        ask_checkpoint(c, actions);
}

static bool is_unsaved(const struct coordinator *c)
{
    const bool passed = is_passed(c) && c->gave_up == ERR_OK;

    return !passed && !c->trainer.ledger.broken &&
           c->trainer.ledger.checkpoint_step != c->trainer.optim.step;
}

/* The last state is durable before anyone hears that the job is over, unless
 * whoever asked for it takes the result over. */
static void end_job(struct coordinator *c, struct actions *actions)
{
    c->phase = COORDINATOR_COMMITTING;
    if (c->trainer.ledger.checkpoint_busy)
        return;
    if (is_unsaved(c))
        save_last(c, actions);
    else if (c->gave_up != ERR_OK)
        fail_saved(c, actions);
    else
        finish(c, actions);
}

/* Answers may be owed by somebody who is well, and for whom nobody stands in.
 */
time_us commit_patience_ends(const struct coordinator *c)
{
    if (c->stopping.how != STOPPING_AT_BOUNDARY ||
        c->phase != COORDINATOR_ROUND)
        return TIME_NEVER;
    return c->stopping.at + COORDINATOR_PATIENCE_US;
}

/* The last step may not be durable yet: it may have been finished here, by the
 * judge, after the last worker had gone. */
void commit_abandon(struct coordinator *c, struct actions *actions)
{
    if (c->stopping.how == STOPPING_NOT || ledger_waits(&c->trainer.ledger) ||
        !(c->phase == COORDINATOR_GATHERING ||
          c->now >= commit_patience_ends(c) ||
          (c->phase == COORDINATOR_ROUND && round_forsaken(c))))
        return;
    c->stopping.how = STOPPING_NOW;
    c->phase = COORDINATOR_COMMITTING;
    end_without_update(c, actions);
}

void commit_advance(struct coordinator *c, struct actions *actions)
{
    const bool boundary =
        trainer_at_boundary(&c->trainer) && !product_halfway(c);

    if (trainer_due(&c->trainer)) {
        ask_measure(c, actions);
        return;
    }
    if (c->gave_up != ERR_OK || c->stopping.how == STOPPING_NOW ||
        (c->stopping.how == STOPPING_AT_BOUNDARY && boundary) ||
        trainer_done(&c->trainer)) {
        end_job(c, actions);
        return;
    }
    if (c->phase == COORDINATOR_COMMITTING && boundary &&
        trainer_checkpoint_due(&c->trainer, c->now))
        ask_checkpoint(c, actions);
    if (c->phase == COORDINATOR_COMMITTING && boundary &&
        c->trainer.ledger.options.sync && c->trainer.ledger.checkpoint_busy)
        return; /* P6: commit_checkpointed goes on. */
    if (c->phase == COORDINATOR_COMMITTING && boundary)
        view_adapt(c, actions);
    if (c->view_dirty || !c->code_built)
        view_form(c, actions);
    else
        round_open(c, actions);
}

/*
 * trainer.c - from a question to its answer to the next question.
 */
#include "core/run/trainer.h"

#include <string.h>

#include "base/bytes.h"
#include "base/check.h"
#include "base/mem.h"

static enum err init_early(struct trainer *t)
{
    const struct optim_options *optim = &t->options.optim;
    const struct early_options options = {
        .every = optim->held_out ? sampler_steps(&optim->sampler) : 0,
        .patience = optim->patience,
        .dims = t->options.dims};

    return early_init(&t->early, &options);
}

/* An optimiser that was just made. */
static enum err prepare(struct trainer *t)
{
    t->optim.pool = t->options.pool;
    t->optim.tap.names = t->options.kept;
    return t->options.shares ? optim_share(&t->optim) : ERR_OK;
}

enum err trainer_init(struct trainer *trainer,
                      const struct trainer_options *options)
{
    struct trainer *t = trainer;
    enum err err;

    *t = (struct trainer){.options = *options};
    err = optim_init(&t->optim, &options->optim, options->dims);
    if (err != ERR_OK)
        return err;
    err = prepare(t);
    if (err != ERR_OK)
        return err;
    options->scale->pool = options->pool;
    t->sum_dims = optim_sum_dims(&t->optim);
    if (t->sum_dims < options->sums_min)
        t->sum_dims = options->sums_min;
    t->exponent = mem_new((size_t)t->sum_dims + 1, sizeof *t->exponent);
    if (t->exponent == NULL)
        return ERR_NOMEM;
    err = init_early(t);
    if (err != ERR_OK)
        return err;
    scale_begin(options->scale);
    return options->kept ? ledger_init(&t->ledger, &options->ledger,
                                       trainer_state_bytes(t))
                         : ERR_OK;
}

void trainer_close(struct trainer *trainer)
{
    optim_close(&trainer->optim);
    early_close(&trainer->early);
    ledger_close(&trainer->ledger);
    mem_free(trainer->exponent);
    *trainer = (struct trainer){0};
}

/* --- state ---------------------------------------------------------------- */

size_t trainer_state_bytes(const struct trainer *trainer)
{
    return optim_state_bytes(&trainer->optim) +
           scale_bytes(trainer->options.scale) + early_bytes(&trainer->early);
}

void trainer_save(const struct trainer *trainer, struct writer *out)
{
    optim_save(&trainer->optim, out);
    scale_save(trainer->options.scale, out);
    early_save(&trainer->early, out);
}

enum err trainer_load(struct trainer *trainer, const uint8_t *state,
                      size_t size, struct why *why)
{
    struct reader in = reader_on(state, size);
    enum err err = optim_load(&trainer->optim, &in);

    if (err == ERR_OK)
        err = scale_load(trainer->options.scale, &in);
    if (err == ERR_OK)
        err = early_load(&trainer->early, &in);
    return err == ERR_OK
               ? ERR_OK
               : why_set(why, err, "checkpoint: it is not of this optimiser");
}

static enum err load_checkpoint(struct trainer *t,
                                const struct checkpoint *checkpoint,
                                struct why *why)
{
    const enum err err =
        trainer_load(t, checkpoint->state, checkpoint->state_size, why);

    if (err == ERR_OK && t->optim.step != checkpoint->step)
        return why_set(why, ERR_FORMAT,
                       "checkpoint: it is not of this optimiser");
    return err;
}

enum err trainer_resume(struct trainer *trainer,
                        const struct recovery *recovery,
                        const struct digest *config, bool promises_bits,
                        struct why *why)
{
    const struct checkpoint *checkpoint = &recovery->checkpoint;
    const struct journal_summary *journal = &recovery->journal;
    enum err err = ERR_OK;

    if (!digest_equal(&journal->config, config))
        return why_set(why, ERR_MISMATCH, "%s", STORE_OTHER_CONFIG);
    if (recovery->has_checkpoint &&
        (checkpoint->job != journal->job || checkpoint->step > journal->step))
        return why_set(why, ERR_MISMATCH,
                       "its checkpoint (step %u) and its journal (step %u) do "
                       "not belong together",
                       checkpoint->step, journal->step);
    if (recovery->has_checkpoint)
        err = load_checkpoint(trainer, checkpoint, why);
    if (err != ERR_OK)
        return err;
    return ledger_resume(&trainer->ledger, recovery, trainer->optim.step,
                         promises_bits);
}

/* --- questions and answers ------------------------------------------------ */

bool trainer_done(const struct trainer *trainer)
{
    return early_over(&trainer->early) ||
           optim_next(&trainer->optim).kind == ASK_DONE;
}

bool trainer_due(const struct trainer *trainer)
{
    return trainer_at_boundary(trainer) && !trainer->optim.diverged &&
           early_due(&trainer->early, trainer->optim.step);
}

void trainer_measured(struct trainer *trainer, double loss)
{
    early_take(&trainer->early, trainer->optim.step, loss,
               trainer_weights(trainer));
}

bool trainer_at_boundary(const struct trainer *trainer)
{
    return trainer->optim.round == 0;
}

enum trainer_next trainer_ask(struct trainer *trainer)
{
    struct trainer *t = trainer;

    CHECK(!trainer_due(t));
    while (!trainer_done(t)) {
        t->what = optim_next(&t->optim).what;
        if (scale_exponents(t->options.scale, &t->what, t->exponent) == ERR_OK)
            return TRAINER_ASKS;
        if (!optim_reject(&t->optim))
            return TRAINER_DIVERGED;
    }
    return TRAINER_DONE;
}

static enum trainer_next more(const struct trainer *t)
{
    return trainer_done(t) ? TRAINER_DONE : TRAINER_MORE;
}

static enum trainer_next heed(struct trainer *t, enum scale_verdict verdict)
{
    switch (verdict) {
    case SCALE_STANDS:
        return TRAINER_STANDS;
    case SCALE_AGAIN:
        return TRAINER_AGAIN;
    case SCALE_HOPELESS:
        return optim_reject(&t->optim) ? more(t) : TRAINER_RANGE;
    case SCALE_NO_FUNCTION:
        break;
    }
    return TRAINER_NO_FUNCTION;
}

/* A step is as exact as the least exact of its rounds. */
void trainer_note(struct trainer *trainer, const struct total *total)
{
    struct total *so_far = &trainer->so_far;

    if (total->exactness > so_far->exactness)
        so_far->exactness = total->exactness;
    so_far->residual = record_worse(so_far->residual, total->residual);
    if (total->condition > so_far->condition)
        so_far->condition = total->condition;
    so_far->attempts += total->attempts;
    so_far->answered = total->answered;
    so_far->chunks = total->chunks;
    so_far->rescale = total->rescale;
    so_far->age_sum = total->age_sum;
    so_far->age_max = total->age_max;
}

static void place_copy(struct trainer *t)
{
    struct mirror *const mirror = t->options.mirror;

    t->optim.tap.copy =
        mirror != NULL && optim_taps(&t->optim) ? mirror->open(mirror) : NULL;
}

/* A scale that goes by the sums would have to see all of them; and a part is
 * nothing that is mirrored. */
uint32_t trainer_shared(const struct trainer *trainer)
{
    const struct trainer *const t = trainer;

    return t->what.kind == EVALUATE_GRADIENT && t->what.w == t->optim.b &&
                   scale_proved(t->options.scale) && t->options.mirror == NULL
               ? optim_shared(&t->optim)
               : 0;
}

void trainer_gather_begin(struct trainer *trainer)
{
    CHECK(trainer_shared(trainer) > 0);
    optim_gather_begin(&trainer->optim);
}

void trainer_gather(struct trainer *trainer, const struct optim_part *part,
                    const double *sums)
{
    optim_gather(&trainer->optim, part, sums);
}

void trainer_gather_end(struct trainer *trainer)
{
    optim_gather_end(&trainer->optim);
}

enum trainer_next trainer_feed(struct trainer *trainer,
                               const struct total *total)
{
    struct trainer *t = trainer;
    const enum trainer_next next =
        heed(t, scale_stands(t->options.scale, t->what.kind, total->sums));
    bool updated;

    CHECK(!t->ledger.due); /* INV-5: its weights are still there. */
    CHECK(!trainer_due(t));
    if (next != TRAINER_STANDS)
        return next;
    trainer_note(t, total);
    place_copy(t);
    if (!total->gathered)
        optim_ungather(&t->optim);
    updated = optim_feed(&t->optim, total->sums, total->loss);
    if (t->optim.diverged)
        return TRAINER_DIVERGED;
    return updated ? TRAINER_STEPPED : more(t);
}

enum trainer_next trainer_refuse(struct trainer *trainer)
{
    return heed(trainer,
                scale_refused(trainer->options.scale, trainer->what.kind));
}

struct total trainer_step_total(struct trainer *trainer)
{
    const struct total total = trainer->so_far;

    trainer->so_far = (struct total){0};
    return total;
}

/* --- the model ------------------------------------------------------------ */

const double *trainer_weights(const struct trainer *trainer)
{
    return optim_weights(&trainer->optim);
}

const double *trainer_mirrored(const struct trainer *trainer, uint32_t *count)
{
    const struct optim_tap *const tap = &trainer->optim.tap;

    *count = tap->end;
    return tap->copy;
}

const double *trainer_model(const struct trainer *trainer, uint32_t *count)
{
    return early_model(&trainer->early, optim_model(&trainer->optim, count));
}

struct optim_outcome trainer_outcome(const struct trainer *trainer)
{
    const struct early *early = &trainer->early;
    struct optim_outcome outcome = optim_outcome(&trainer->optim);

    outcome.held_out = early->loss;
    outcome.held_out_step = early->step;
    outcome.least_step = early->best_step;
    if (early_over(early) && outcome.end != OPTIM_DIVERGED)
        outcome.end = OPTIM_EARLY;
    if (early_model(early, trainer_weights(trainer)) ==
        trainer_weights(trainer))
        return outcome;
    outcome.best_step = early->best_step;
    outcome.held_out = early->best;
    outcome.held_out_step = early->best_step;
    outcome.at_model = false;
    return outcome;
}

/* The last byte says that it is no SHA-256, and is never 0. */
static struct digest name_of(const struct trainer *t)
{
    const struct evaluation what = {
        .kind = EVALUATE_GRADIENT, .w = t->optim.b, .known = t->optim.known};
    struct digest digest = {.bytes[DIGEST_BYTES - 1] = 1};
    struct writer out = writer_on(digest.bytes, sizeof digest.bytes);

    put_u64(&out, evaluation_name(&what, t->options.dims, t->options.pool));
    return digest;
}

struct digest trainer_hash(const struct trainer *trainer)
{
    const struct trainer_options *o = &trainer->options;

    return o->dims >= RECEIPT_NAMED
               ? name_of(trainer)
               : hash_vectors(trainer_weights(trainer), o->vectors,
                              o->dims / o->vectors, o->length);
}

/* Once for each step: a receipt and a checkpoint both want it. */
static struct digest hash_of_step(struct trainer *t)
{
    if (t->hashed_step == 0 || t->hashed_step != t->optim.step)
        t->hashed = trainer_hash(t);
    t->hashed_step = t->optim.step;
    return t->hashed;
}

/* --- elsewhere in mid-run --------------------------------------------------
 */

/* What a journal says instead of the steps between. */
static void journal_move(struct trainer *t, uint32_t from,
                         const struct checkpoint *head, struct actions *actions)
{
    const uint32_t step = t->optim.step;
    struct record record = {.kind = step < from ? RECORD_ROLLBACK : RECORD_GAP,
                            .job = head->job,
                            .view = head->view,
                            .step = step,
                            .exactness = EXACT_BITWISE,
                            .rescale = 1};

    t->hashed_step = 0;
    t->so_far = (struct total){0};
    if (!t->options.kept || step == from)
        return;
    if (ledger_move(&t->ledger, from, step))
        return; /* It is there, from before a resume. */
    record.weights = hash_of_step(t);
    if (!t->ledger.broken)
        ledger_append(&t->ledger, &record, false, actions);
}

enum err trainer_take(struct trainer *trainer, const uint8_t *state,
                      size_t size, const struct checkpoint *head,
                      struct actions *actions)
{
    const uint32_t from = trainer->optim.step;
    enum err err;

    err = trainer_load(trainer, state, size, NULL);
    if (err == ERR_OK)
        journal_move(trainer, from, head, actions);
    return err;
}

enum err trainer_restart(struct trainer *trainer, const struct checkpoint *head,
                         struct actions *actions)
{
    struct trainer *t = trainer;
    const uint32_t from = t->optim.step;
    enum err err;

    optim_close(&t->optim);
    early_close(&t->early);
    scale_begin(t->options.scale);
    err = optim_init(&t->optim, &t->options.optim, t->options.dims);
    if (err != ERR_OK)
        return err;
    err = prepare(t);
    if (err == ERR_OK)
        err = init_early(t);
    if (err == ERR_OK)
        journal_move(t, from, head, actions);
    return err;
}

/* --- with a ledger -------------------------------------------------------- */

void trainer_start(struct trainer *trainer, time_us now)
{
    ledger_start(&trainer->ledger, now);
}

void trainer_turn(struct trainer *trainer)
{
    ledger_turn(&trainer->ledger);
}

void trainer_write_receipt(struct trainer *trainer, struct actions *actions)
{
    struct digest weights;

    if (!trainer->ledger.due)
        return;
    weights = hash_of_step(trainer);
    ledger_receipt(&trainer->ledger, &weights, actions);
}

void trainer_journal(struct trainer *trainer, const struct record *record,
                     bool sync, struct actions *actions)
{
    trainer_write_receipt(trainer, actions);
    ledger_append(&trainer->ledger, record, sync, actions);
}

enum receipt_fate trainer_commit_pass(struct trainer *trainer, uint64_t job,
                                      uint64_t view, bool sync,
                                      struct actions *actions)
{
    const struct early *early = &trainer->early;
    struct ledger *ledger = &trainer->ledger;
    const struct record record = {.kind = RECORD_PASS,
                                  .job = job,
                                  .view = view,
                                  .step = early->step,
                                  .best_step = early->best_step,
                                  .objective = early->loss};

    /* Without patience other rows may be held out after a resume. */
    if (early->options.patience > 0 && ledger_contradicts_pass(ledger, &record))
        return RECEIPT_CONTRADICTS;
    if (!ledger->broken && ledger_wants_pass(ledger, early->step))
        trainer_journal(trainer, &record, sync, actions);
    return sync && ledger_waits(ledger) ? RECEIPT_WAITS : RECEIPT_WRITTEN;
}

enum receipt_fate trainer_commit(struct trainer *trainer,
                                 struct record *receipt, bool sync, bool late,
                                 struct actions *actions)
{
    struct ledger *ledger = &trainer->ledger;

    if (!sync && late && ledger_may_put_off(ledger, receipt->step)) {
        ledger_put_off(ledger, receipt);
        return RECEIPT_PUT_OFF;
    }
    receipt->weights = hash_of_step(trainer);
    if (ledger_contradicts(ledger, receipt))
        return RECEIPT_CONTRADICTS;
    if (!ledger_replays(ledger, receipt->step) && !ledger->broken)
        trainer_journal(trainer, receipt, sync, actions);
    return sync && ledger_waits(ledger) ? RECEIPT_WAITS : RECEIPT_WRITTEN;
}

void trainer_sync(struct trainer *trainer, struct actions *actions)
{
    ledger_sync(&trainer->ledger, actions);
}

bool trainer_journaled(struct trainer *trainer, enum err err,
                       struct actions *actions)
{
    const bool failed = ledger_journaled(&trainer->ledger, err);

    ledger_file(&trainer->ledger, actions);
    return failed;
}

bool trainer_may_put_off(const struct trainer *trainer)
{
    return ledger_may_put_off(&trainer->ledger, trainer->optim.step);
}

bool trainer_checkpoint_due(const struct trainer *trainer, time_us now)
{
    return ledger_checkpoint_due(&trainer->ledger, trainer->optim.step, now);
}

void trainer_checkpoint(struct trainer *trainer, const struct checkpoint *head,
                        time_us now, struct actions *actions)
{
    struct writer state = ledger_state(&trainer->ledger);
    struct checkpoint checkpoint = *head;

    checkpoint.step = trainer->optim.step;
    if (!ledger_owes(&trainer->ledger, checkpoint.step))
        checkpoint.weights = hash_of_step(trainer);
    trainer_save(trainer, &state);
    ledger_take(&trainer->ledger, &checkpoint, &state, now);
    ledger_file(&trainer->ledger, actions);
}

void trainer_checkpointed(struct trainer *trainer, uint32_t step, enum err err)
{
    ledger_checkpointed(&trainer->ledger, step, err);
}

void trainer_check(const struct trainer *trainer)
{
    ledger_check(&trainer->ledger, trainer->optim.step);
}

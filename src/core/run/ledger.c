/*
 * ledger.c - what is to be written, in which order, and what it waits for.
 */
#include "core/run/ledger.h"

#include <string.h>

#include "base/bytes.h"
#include "base/check.h"
#include "base/mem.h"

enum err ledger_init(struct ledger *ledger,
                     const struct ledger_options *options, size_t state_size)
{
    CHECK(options->checkpoint_steps > 0);
    *ledger = (struct ledger){.options = *options, .state_size = state_size};
    ledger->checkpoint = mem_new(checkpoint_bytes(state_size), 1);
    return ledger->checkpoint == NULL ? ERR_NOMEM : ERR_OK;
}

void ledger_close(struct ledger *ledger)
{
    mem_free(ledger->checkpoint);
    mem_free(ledger->replay);
    *ledger = (struct ledger){0};
}

/* --- where a run goes on -------------------------------------------------- */

static void note_replay(void *context, const struct record *record)
{
    struct ledger *ledger = context;
    struct promise *promise;

    if (!ledger_replays(ledger, record->step))
        return;
    promise = &ledger->replay[record->step - ledger->replay_first];
    if (record->kind == RECORD_STEP || record->kind == RECORD_GAP)
        *promise = (struct promise){.weights = record->weights};
    if (record->kind == RECORD_PASS) {
        promise->passed = true;
        promise->best_step = record->best_step;
        promise->loss = record->objective;
    }
}

/* Exact steps after the checkpoint are computed again and must match. */
static enum err prepare_replay(struct ledger *ledger,
                               const struct recovery *recovery, uint32_t step)
{
    struct journal_summary summary;

    ledger->replay_first = step + 1;
    ledger->replay_count = recovery->journal.step - step;
    ledger->replay = mem_new(ledger->replay_count, sizeof *ledger->replay);
    if (ledger->replay == NULL)
        return ERR_NOMEM;
    return journal_scan(recovery->journal_bytes, recovery->journal.valid_bytes,
                        note_replay, ledger, &summary);
}

enum err ledger_resume(struct ledger *ledger, const struct recovery *recovery,
                       uint32_t step, bool promises_bits)
{
    ledger->chain = recovery->journal.chain;
    ledger->resumed = true;
    if (recovery->has_checkpoint)
        ledger->checkpoint_step = ledger->saved_step = step;
    ledger->pass_step = recovery->journal.pass_step;
    if (promises_bits)
        return prepare_replay(ledger, recovery, step);
    if (ledger->pass_step > step)
        ledger->pass_step = step;
    ledger->rollback = recovery->journal.step > step;
    return ERR_OK;
}

void ledger_start(struct ledger *ledger, time_us now)
{
    ledger->checkpoint_at = now;
}

void ledger_turn(struct ledger *ledger)
{
    ledger->records_used = 0;
}

/* --- the journal ---------------------------------------------------------- */

static void write_journal(struct ledger *ledger, const uint8_t *bytes,
                          size_t size, bool sync, struct actions *actions)
{
    struct action *action = actions_add(actions, ACTION_JOURNAL);

    action->bytes = bytes;
    action->size = size;
    action->sync = sync;
    ledger->loose = !sync;
    ledger->waits++;
}

static void append(struct ledger *ledger, const struct record *record,
                   bool sync, struct actions *actions)
{
    uint8_t *bytes;

    CHECK(ledger->records_used < LEDGER_RECORDS);
    bytes = ledger->records[ledger->records_used++];
    record_encode(record, &ledger->chain, bytes);
    write_journal(ledger, bytes, RECORD_BYTES, sync, actions);
}

void ledger_append(struct ledger *ledger, const struct record *record,
                   bool sync, struct actions *actions)
{
    CHECK(!ledger->due); /* INV-5 */
    append(ledger, record, sync, actions);
}

/* An empty write does that. */
void ledger_sync(struct ledger *ledger, struct actions *actions)
{
    write_journal(ledger, ledger->records[0], 0, true, actions);
}

bool ledger_waits(const struct ledger *ledger)
{
    return ledger->waits > 0;
}

bool ledger_journaled(struct ledger *ledger, enum err err)
{
    const bool failed = err != ERR_OK && !ledger->broken;

    CHECK(ledger->waits > 0);
    ledger->waits--;
    ledger->broken |= failed;
    return failed;
}

bool ledger_replays(const struct ledger *ledger, uint32_t step)
{
    return step >= ledger->replay_first &&
           step - ledger->replay_first < ledger->replay_count;
}

bool ledger_contradicts(const struct ledger *ledger,
                        const struct record *receipt)
{
    const struct digest *promised;

    if (!ledger_replays(ledger, receipt->step))
        return false;
    promised = &ledger->replay[receipt->step - ledger->replay_first].weights;
    return !digest_zero(promised) && /* Zero: its receipt was lost. */
           !digest_equal(promised, &receipt->weights);
}

/* JOUR-4: rows that were not held out before a resume are measured at the ends
 * of passes that the journal has gone beyond. */
bool ledger_wants_pass(const struct ledger *ledger, uint32_t step)
{
    return step > ledger->pass_step &&
           step + 1 >= ledger->replay_first + ledger->replay_count;
}

bool ledger_contradicts_pass(const struct ledger *ledger,
                             const struct record *pass)
{
    const struct promise *promise;

    if (!ledger_replays(ledger, pass->step))
        return false;
    promise = &ledger->replay[pass->step - ledger->replay_first];
    return promise->passed && (promise->best_step != pass->best_step ||
                               memcmp(&promise->loss, &pass->objective,
                                      sizeof promise->loss) != 0);
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

bool ledger_move(struct ledger *ledger, uint32_t from, uint32_t to)
{
    const uint32_t last = ledger->replay_first + ledger->replay_count;

    CHECK(!ledger->due); /* INV-5 */
    if (to > from)
        return to < last;
    ledger->checkpoint_step = least(ledger->checkpoint_step, to);
    ledger->saved_step = least(ledger->saved_step, to);
    ledger->pass_step = least(ledger->pass_step, to);
    ledger->replay_count = 0; /* What follows is written again. */
    return false;
}

/* --- a receipt that waits ------------------------------------------------- */

/* A step that was promised before is compared with its promise first. */
bool ledger_may_put_off(const struct ledger *ledger, uint32_t step)
{
    return !ledger->broken && !ledger_replays(ledger, step);
}

void ledger_put_off(struct ledger *ledger, const struct record *receipt)
{
    CHECK(!ledger->due);
    ledger->due = true;
    ledger->receipt = *receipt;
}

bool ledger_owes(const struct ledger *ledger, uint32_t step)
{
    return ledger->due && ledger->receipt.step == step;
}

void ledger_receipt(struct ledger *ledger, const struct digest *weights,
                    struct actions *actions)
{
    bool taken;

    CHECK(ledger->due);
    ledger->due = false;
    if (ledger->broken)
        return;
    ledger->receipt.weights = *weights;
    taken =
        ledger->checkpoint_taken && ledger->receipt.step == ledger->head.step;
    append(ledger, &ledger->receipt, taken, actions);
    if (taken) {
        ledger->head.weights = *weights;
        ledger->head_known = true;
    }
}

/* --- checkpoints ---------------------------------------------------------- */

bool ledger_checkpoint_due(const struct ledger *ledger, uint32_t step,
                           time_us now)
{
    const uint32_t behind = step - ledger->checkpoint_step;

    return !ledger->checkpoint_busy && !ledger->broken &&
           (behind >= ledger->options.checkpoint_steps ||
            (ledger->options.sync && behind > 0) ||
            now - ledger->checkpoint_at >= ledger->options.checkpoint_us);
}

struct writer ledger_state(struct ledger *ledger)
{
    CHECK(!ledger->checkpoint_busy);
    return writer_on(checkpoint_state(ledger->checkpoint), ledger->state_size);
}

void ledger_take(struct ledger *ledger, const struct checkpoint *head,
                 const struct writer *state, time_us now)
{
    CHECK(state->ok);
    ledger->head = *head;
    ledger->head.state = checkpoint_state(ledger->checkpoint);
    ledger->head.state_size = state->size;
    ledger->head_known = !ledger_owes(ledger, head->step);
    ledger->checkpoint_taken = ledger->checkpoint_busy = true;
    ledger->checkpoint_at = now;
}

/* Without a journal there is none. */
void ledger_file(struct ledger *ledger, struct actions *actions)
{
    struct action *action;

    if (!ledger->checkpoint_taken)
        return;
    if (ledger->broken)
        ledger->checkpoint_taken = ledger->checkpoint_busy = false;
    if (ledger->broken || !ledger->head_known || ledger->waits > 0)
        return;
    action = actions_add(actions, ACTION_CHECKPOINT);
    action->bytes = ledger->checkpoint;
    action->size = checkpoint_encode(&ledger->head, ledger->checkpoint);
    action->step = ledger->head.step;
    ledger->checkpoint_taken = false;
}

void ledger_checkpointed(struct ledger *ledger, uint32_t step, enum err err)
{
    CHECK(ledger->checkpoint_busy && !ledger->checkpoint_taken);
    ledger->checkpoint_busy = false;
    ledger->checkpoint_step = step;
    if (err == ERR_OK)
        ledger->saved_step = step;
}

void ledger_check(const struct ledger *ledger, uint32_t step)
{
    CHECK(ledger->checkpoint_step <= step);
    CHECK(ledger->saved_step <= ledger->checkpoint_step);
    CHECK(!ledger->checkpoint_taken || ledger->checkpoint_busy);
    CHECK(!ledger->due); /* INV-5 */
}

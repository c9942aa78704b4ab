/*
 * checker.c - invariants CHECK-1 to CHECK-9, kept as books of what left the
 * machines.  The first violation is the one that is reported; what follows it
 * may be its consequence.
 */
#include "sim/checker.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "math/vec.h"
#include "sim/averages.h"

/* A search on a line ends at the first trial that is good enough: near the
 * optimum, where slopes are all rounding, at another one. */
#define NUMERIC_WEIGHTS_MAX  1e-9
#define SEARCHED_WEIGHTS_MAX 1e-6

enum err checker_init(struct checker *checker, struct oracle *oracle,
                      enum exactness class, uint32_t staleness, uint32_t links)
{
    enum err err;

    *checker = (struct checker){.oracle = oracle,
                                .averages =
                                    oracle->problem != NULL && oracle->averages,
                                .class = class,
                                .staleness = staleness,
                                .links = links};
    err = chunkset_init(&checker->merged, oracle->chunks);
    if (err == ERR_OK)
        err = chunkset_init(&checker->sampled, oracle->chunks);
    if (err != ERR_OK) {
        checker_close(checker);
        return err;
    }
    checker->joined = mem_new(links, sizeof *checker->joined);
    checker->row_in =
        mem_new((size_t)links * SEGMENTS_MAX, sizeof *checker->row_in);
    checker->recent = mem_new(staleness + 1u, sizeof *checker->recent);
    checker->row_last = mem_new(links, sizeof *checker->row_last);
    if (checker->joined == NULL || checker->row_in == NULL ||
        checker->recent == NULL || checker->row_last == NULL) {
        checker_close(checker);
        return ERR_NOMEM;
    }
    for (uint32_t link = 0; link < links; link++)
        checker->joined[link] = CHECKER_NOBODY;
    if (oracle->uneven.pass > 0)
        checker_violate(checker,
                        "CHECK-10: row %u is %u times in the batches of pass "
                        "%u",
                        oracle->uneven.row, oracle->uneven.times,
                        oracle->uneven.pass);
    return ERR_OK;
}

void checker_close(struct checker *checker)
{
    chunkset_close(&checker->merged);
    chunkset_close(&checker->sampled);
    mem_free(checker->joined);
    mem_free(checker->row_in);
    mem_free(checker->recent);
    mem_free(checker->row_last);
    checker->joined = NULL;
    checker->row_in = NULL;
    checker->recent = NULL;
    checker->row_last = NULL;
}

void checker_violate(struct checker *checker, const char *format, ...)
{
    va_list list;

    if (checker->violated)
        return;
    checker->violated = true;
    va_start(list, format);
    (void)vsnprintf(checker->text, sizeof checker->text, format, list);
    va_end(list);
}

/* --- lives of the coordinator -------------------------------------------- */

void checker_recovered(struct checker *checker, const struct recovery *recovery)
{
    const uint32_t step =
        recovery->has_checkpoint ? recovery->checkpoint.step : 0;

    if (checker->has_checkpoint &&
        (!recovery->has_checkpoint || step < checker->checkpoint))
        checker_violate(checker,
                        "CHECK-4: checkpoint of step %u was durable, recovery "
                        "found step %u",
                        checker->checkpoint, step);
    if (recovery->has_checkpoint && recovery->journal.step < step)
        checker_violate(checker,
                        "STORE-2: checkpoint of step %u, journal ends at %u",
                        step, recovery->journal.step);
    checker->committed = step;
    checker->open = false;
    for (uint32_t link = 0; link < checker->links; link++)
        checker->joined[link] = CHECKER_NOBODY;
}

void checker_checkpointed(struct checker *checker, uint32_t step)
{
    checker->has_checkpoint = true;
    checker->checkpoint = step;
}

void checker_link_down(struct checker *checker, uint32_t link)
{
    CHECK(link < checker->links);
    checker->joined[link] = CHECKER_NOBODY;
}

/* --- rounds -------------------------------------------------------------- */

static bool promises_bits(const struct checker *checker)
{
    return checker->class == EXACT_BITWISE && !checker->gullible;
}

static void round_opened(struct checker *checker, const struct round_key *key)
{
    const struct oracle *oracle = checker->oracle;

    chunkset_clear(&checker->merged);
    chunkset_clear(&checker->sampled);
    memset(checker->row_in, 0,
           (size_t)checker->links * SEGMENTS_MAX * sizeof *checker->row_in);
    checker->key = *key;
    checker->recent[key->step % (checker->staleness + 1)] = *key;
    checker->open = true;
    if (key->step != checker->committed)
        checker_violate(checker, "CHECK-6: round of step %u after %u commits",
                        key->step, checker->committed);
    if (promises_bits(checker) && key->step < oracle->steps &&
        key->round == 0 && key->weights != oracle->keys[key->step])
        checker_violate(checker,
                        "CHECK-1: step %u starts from other weights than on "
                        "one machine",
                        key->step);
}

static void merged_chunks(struct checker *checker, uint32_t first, uint32_t end,
                          uint32_t link)
{
    const uint32_t chunks = checker->oracle->chunks;
    const bool sample = first >= chunks; /* Kept beside what is merged. */
    struct chunkset *const in = sample ? &checker->sampled : &checker->merged;

    first -= sample ? chunks : 0;
    end -= sample ? chunks : 0;
    if (!chunkset_misses_range(in, first, end))
        checker_violate(checker,
                        "CHECK-3: step %u: %s %u..%u merged twice (link %u)",
                        checker->key.step, sample ? "samples of" : "chunks",
                        first, end, link);
    chunkset_add_range(in, first, end);
}

static void merged_range(struct checker *checker, uint32_t link,
                         const struct msg_tally *tally)
{
    if (!key_equal(&tally->key, &checker->key))
        checker_violate(
            checker,
            "CHECK-3: merged a tally of view %" PRIu64
            " step %u attempt %u in view %" PRIu64 " step %u attempt %u",
            tally->key.view, tally->key.step, tally->key.attempt,
            checker->key.view, checker->key.step, checker->key.attempt);
    merged_chunks(checker, tally->first, tally->end, link);
}

/* The step it counts in is that after the last commit, open or about to be. */
static void merged_stale(struct checker *checker, uint32_t link,
                         const struct round_key *key)
{
    const uint32_t at = key->step % (checker->staleness + 1);

    if (key->step > checker->committed ||
        checker->committed - key->step > checker->staleness)
        checker_violate(checker,
                        "CHECK-8: step %u took an answer to step %u with "
                        "staleness %u",
                        checker->committed, key->step, checker->staleness);
    else if (key->view != checker->key.view ||
             !key_equal(key, &checker->recent[at]))
        checker_violate(checker,
                        "CHECK-8: step %u took a row of view %" PRIu64
                        " step %u attempt %u, a round that was not",
                        checker->committed, key->view, key->step, key->attempt);
    if (key_order(key, &checker->row_last[link]) <= 0)
        checker_violate(checker,
                        "CHECK-8: the answer of link %u to step %u counted "
                        "twice",
                        link, key->step);
    checker->row_last[link] = *key;
}

/* One piece of a product, or all coded pieces: 0. */
static void merged_row(struct checker *checker, uint32_t link,
                       const struct msg_row *row, uint64_t piece)
{
    const uint64_t at = row->count > 0 ? piece : 0;

    if (checker->staleness > 0) {
        merged_stale(checker, link, &row->key);
        return;
    }
    if (!key_equal(&row->key, &checker->key))
        checker_violate(checker,
                        "CHECK-3: merged a row of view %" PRIu64
                        " step %u in view %" PRIu64 " step %u",
                        row->key.view, row->key.step, checker->key.view,
                        checker->key.step);
    CHECK(at < SEGMENTS_MAX);
    if (checker->row_in[(size_t)link * SEGMENTS_MAX + at])
        checker_violate(checker,
                        "CHECK-3: step %u: row of link %u merged twice",
                        checker->key.step, link);
    checker->row_in[(size_t)link * SEGMENTS_MAX + at] = true;
}

/* Elastic codes: who comes in mid-round may answer what another did who was on
 * its link before, of another block. */
static void forget_rows(struct checker *checker, uint32_t link)
{
    memset(checker->row_in + (size_t)link * SEGMENTS_MAX, 0,
           SEGMENTS_MAX * sizeof *checker->row_in);
}

/* One answer of a SUM, whose leaf may have gone since. */
static void merged_of_sum(struct checker *checker, const struct msg_sum *sum,
                          uint32_t piece)
{
    for (uint32_t i = 0; i < sum->count; i++) {
        const struct answer *answer = &sum->answers[i];

        if (answer->piece == piece && answer->counted) {
            const struct msg_tally tally = {
                .key = sum->key, .first = answer->first, .end = answer->end};

            merged_range(checker, CHECKER_NOBODY, &tally);
            return;
        }
    }
    checker_violate(checker, "CHECK-3: piece %u merged of a sum without it",
                    piece);
}

static void merged(struct checker *checker, const struct trace *trace,
                   const struct msg *msg, uint32_t conn, bool poisoned)
{
    const uint32_t link = (uint32_t)trace->link;

    if (msg == NULL || link >= checker->links) {
        checker_violate(checker, "CHECK-3: merged what nobody sent");
        return;
    }
    /* Late rows may come while a step is being written. */
    if (!checker->open && checker->staleness == 0)
        checker_violate(checker, "CHECK-3: merged outside a round");
    if (checker->joined[link] != conn)
        checker_violate(checker,
                        "CHECK-3: merged from link %u, which has not joined",
                        link);
    if (poisoned)
        checker_violate(checker, "CHECK-3: merged poison from link %u", link);
    if (msg->kind == MSG_TALLY)
        merged_range(checker, link, &msg->tally);
    else if (msg->kind == MSG_ROW)
        merged_row(checker, link, &msg->row, trace->a);
    else
        checker_violate(checker, "CHECK-3: merged a message of kind %d",
                        (int)msg->kind);
}

static void committed(struct checker *checker, const struct trace *trace)
{
    if (!checker->open)
        checker_violate(checker, "CHECK-6: commit without a round");
    if (trace->a == EXACT_BITWISE && !chunkset_full(&checker->merged))
        checker_violate(checker,
                        "CHECK-6: bitwise commit of step %u with %u of %u "
                        "chunks",
                        checker->key.step, checker->merged.members,
                        checker->oracle->chunks);
    if (checker->class != EXACT_APPROX && trace->a == EXACT_APPROX)
        checker_violate(checker, "CHECK-6: approximate commit of step %u",
                        checker->key.step);
    checker->open = false;
    checker->committed++;
    checker->commits++;
    checker->chunks_merged += trace->b;
    if (checker->committed > checker->best)
        checker->best = checker->committed;
}

/* Whose lie or refusal it was is seen when another answers; what relays merged
 * of poison, and pass on in a SUM, is not marked as such. */
static void struck(struct checker *checker, const struct trace *trace,
                   const struct msg *msg, bool poisoned)
{
    if (msg != NULL && !poisoned && msg->kind != MSG_SUM &&
        trace->a != POISON_LIE && trace->a != POISON_REFUSAL)
        checker_violate(checker,
                        "CHECK-9: %s is struck (%s) for an honest answer",
                        trace->name, poison_name((enum poison_kind)trace->a));
}

void checker_trace(struct checker *checker, const struct trace *trace,
                   const struct msg *msg, uint32_t conn, bool poisoned)
{
    const uint32_t link = (uint32_t)trace->link;

    switch (trace->kind) {
    case TRACE_JOINED:
        if (msg != NULL && link < checker->links) {
            checker->joined[link] = conn;
            forget_rows(checker, link);
        }
        break;
    case TRACE_DIED:
    case TRACE_LEFT:
        if (link < checker->links)
            checker->joined[link] = CHECKER_NOBODY;
        break;
    case TRACE_ROUND:
        round_opened(checker, &trace->key);
        break;
    case TRACE_TALLY:
        if (msg != NULL && msg->kind == MSG_SUM && checker->open && !poisoned)
            merged_of_sum(checker, &msg->sum, (uint32_t)trace->a);
        else
            merged(checker, trace, msg, conn, poisoned);
        break;
    case TRACE_JUDGED:
        merged_chunks(checker, (uint32_t)trace->a, (uint32_t)trace->b, link);
        break;
    case TRACE_COMMIT:
        committed(checker, trace);
        break;
    case TRACE_ROLLBACK:
        if (checker->class == EXACT_BITWISE)
            checker_violate(checker, "CHECK-2: a bitwise run rolled back");
        break;
    case TRACE_POISON:
        struck(checker, trace, msg, poisoned);
        break;
    case TRACE_SUSPECT:
    case TRACE_CLEARED:
    case TRACE_VIEW:
    case TRACE_DUPLICATE:
    case TRACE_STALE:
    case TRACE_HEDGED:
    case TRACE_STOLEN:
    case TRACE_RESENT:
    case TRACE_CHECKPOINT:
    case TRACE_PASS:
    case TRACE_ALARM:
    case TRACE_DONE:
    case TRACE_FAILED:
    case TRACE_SWITCH:
    case TRACE_STINT:
    case TRACE_PULSE:
    case TRACE_BANNED:
    case TRACE_AWAY:
    case TRACE_HOME:
    case TRACE_SHORT:
    case TRACE_ENOUGH:
    case TRACE_PEER:
    case TRACE_SUM:
    case TRACE_STOP:
    case TRACE_SIZE:
        break;
    }
}

/* What the worst power cut would leave of the journal. */
static void look_at_journal(struct checker *checker,
                            const struct disk_model *disk)
{
    struct journal_summary summary = {0};
    const uint8_t *data;
    size_t size;

    if (disk_model_durable(disk, JOURNAL_FILE, &data, &size) &&
        journal_scan(data, size, NULL, NULL, &summary) != ERR_OK)
        checker_violate(checker, "CHECK-2: the durable journal is broken");
    if (summary.view > checker->view_durable)
        checker->view_durable = summary.view;
    checker->step_durable = summary.step;
}

void checker_round_sent(struct checker *checker, const struct round_key *key,
                        const struct disk_model *disk)
{
    const bool redoable = checker->class == EXACT_BITWISE;

    if (key->view <= checker->view_durable &&
        (redoable || key->step == checker->step_durable))
        return; /* The common case needs no look. */
    look_at_journal(checker, disk);
    if (key->view > checker->view_durable)
        checker_violate(checker,
                        "CHECK-2: view %" PRIu64
                        " used, the durable journal ends at view %" PRIu64,
                        key->view, checker->view_durable);
    if (!redoable && key->step > checker->step_durable)
        checker_violate(checker,
                        "CHECK-2: step %u of an approximate run announced, the "
                        "durable journal ends at step %u",
                        key->step, checker->step_durable);
}

void checker_answer(struct checker *checker, const char *name,
                    const struct round_key *key, uint64_t *highest)
{
    if (key->view < *highest)
        checker_violate(checker,
                        "CHECK-7: %s answered for view %" PRIu64
                        " after view %" PRIu64,
                        name, key->view, *highest);
    *highest = key->view;
}

/* --- the journal --------------------------------------------------------- */

static void check_step(struct checker *checker, const struct record *record)
{
    const struct oracle *oracle = checker->oracle;
    const bool bitwise = record->exactness == EXACT_BITWISE;

    if (bitwise && record->chunks != oracle->chunks)
        checker_violate(checker,
                        "CHECK-2: step %u is called bitwise with %u of %u "
                        "chunks",
                        record->step, record->chunks, oracle->chunks);
    if (record->exactness != EXACT_APPROX && record->rescale != 1.0)
        checker_violate(checker, "CHECK-2: step %u is rescaled unflagged",
                        record->step);
    if (record->exactness == EXACT_NUMERIC &&
        !(record->residual <= checker->residual_max))
        checker_violate(checker, "CHECK-2: step %u has residual %g",
                        record->step, record->residual);
    if (record->age_max > checker->staleness ||
        record->age_sum > (uint64_t)record->answered * record->age_max)
        checker_violate(checker,
                        "CHECK-8: the receipt of step %u has ages up to %u "
                        "with staleness %u",
                        record->step, record->age_max, checker->staleness);
    if (promises_bits(checker) &&
        (record->step > oracle->steps ||
         !digest_equal(&record->weights, &oracle->hash[record->step])))
        checker_violate(checker,
                        "CHECK-2: the journal has other weights for step %u "
                        "than one machine",
                        record->step);
}

struct scan {
    struct checker *checker;
    struct averages averages; /* Zeroed: not of that code. */
};

static void check_average(struct scan *scan, const struct record *record)
{
    const char *wrong = scan->averages.oracle == NULL
                            ? NULL
                            : averages_redo(&scan->averages, record);

    if (wrong != NULL)
        checker_violate(scan->checker, "CHECK-2: the receipt of average %u %s",
                        record->step, wrong);
}

static void visit(void *context, const struct record *record)
{
    struct scan *scan = context;
    struct checker *checker = scan->checker;

    if (record->kind == RECORD_STEP) {
        check_step(checker, record);
        check_average(scan, record);
    }
    if (record->kind == RECORD_ROLLBACK && checker->class == EXACT_BITWISE)
        checker_violate(checker, "CHECK-2: a bitwise run rolled back");
    if (record->kind == RECORD_GAP) /* Power cuts are no excuse. */
        checker_violate(checker, "STORE-2: the receipts up to step %u are lost",
                        record->step);
}

void checker_journal(struct checker *checker, const struct disk_model *disk,
                     bool ended)
{
    struct scan scan = {.checker = checker};
    struct journal_summary summary = {0};
    const uint8_t *data;
    size_t size;

    if (checker->averages)
        CHECK(averages_init(&scan.averages, checker->oracle) == ERR_OK);
    if (disk_model_seen(disk, JOURNAL_FILE, &data, &size) &&
        journal_scan(data, size, visit, &scan, &summary) != ERR_OK)
        checker_violate(checker, "CHECK-2: the journal breaks its rules");
    averages_close(&scan.averages);
    if (ended && summary.step != checker->committed)
        checker_violate(checker,
                        "CHECK-2: the run ended after %u steps, its journal "
                        "has %u",
                        checker->committed, summary.step);
}

/* --- the end ------------------------------------------------------------- */

static double distance(const double *a, const double *b, uint32_t count)
{
    double apart = 0;

    for (uint32_t j = 0; j < count; j++)
        apart += (a[j] - b[j]) * (a[j] - b[j]);
    return sqrt(apart);
}

static void check_weights(struct checker *checker, const double *weights)
{
    const struct oracle *oracle = checker->oracle;
    const struct digest hash = oracle_hash(oracle, weights);
    const struct digest model = oracle_hash(oracle, oracle->weights);
    const double norm = vec_norm(oracle->weights, oracle->dims);
    const double most =
        checker->searches ? SEARCHED_WEIGHTS_MAX : NUMERIC_WEIGHTS_MAX;
    const double apart = distance(weights, oracle->weights, oracle->dims);

    if (promises_bits(checker) && !digest_equal(&hash, &model))
        checker_violate(checker,
                        "CHECK-1: other weights than one machine's (%g apart)",
                        apart);
    if (checker->class == EXACT_NUMERIC &&
        !(apart <= most * (norm > 0 ? norm : 1)))
        checker_violate(checker, "CHECK-1: weights are %g apart, norm %g",
                        apart, norm);
}

void checker_final(struct checker *checker, const double *weights,
                   uint32_t step)
{
    const struct oracle *oracle = checker->oracle;

    if (!vec_finite(weights, oracle->dims))
        checker_violate(checker, "CHECK-1: the weights are not finite");
    else
        check_weights(checker, weights);
    if (checker->class == EXACT_BITWISE && step != oracle->steps)
        checker_violate(checker, "CHECK-1: %u steps, one machine makes %u",
                        step, oracle->steps);
}

/*
 * journal.c - encoding of journal records, their hash chain, and a scan that
 * ends at the first record that breaks the chain or a rule.
 */
#include "core/run/journal.h"

#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/check.h"
#include "math/computation.h"

#define RECORD_MAGIC UINT32_C(0x314a524d) /* "MRJ1" */
#define BODY_BYTES   (RECORD_BYTES - DIGEST_BYTES)

static void body_encode(const struct record *record, uint8_t body[BODY_BYTES])
{
    struct writer out = writer_on(body, BODY_BYTES);
    uint32_t condition; /* The bits of the float. */

    memcpy(&condition, &record->condition, sizeof condition);
    memset(body, 0, BODY_BYTES);
    put_u32(&out, RECORD_MAGIC);
    put_u32(&out, (uint32_t)record->kind);
    put_u64(&out, record->job);
    put_u64(&out, record->view);
    put_u32(&out, record->step);
    put_u32(&out, record->attempt);
    put_u32(&out, record->slots);
    put_u32(&out, record->answered);
    put_u32(&out, record->chunks);
    put_u32(&out, record->exactness);
    put_u64(&out, record->scale);
    put_f64(&out, record->residual);
    put_f64(&out, record->rescale);
    put_f64(&out, record->objective);
    put_bytes(&out, record->weights.bytes, DIGEST_BYTES);
    put_bytes(&out, record->code, RECORD_CODE_SIZE);
    if (record->kind == RECORD_VIEW) {
        put_u32(&out, record->stragglers);
        put_u32(&out, record->k);
        put_u32(&out, record->planned);
        put_f64(&out, record->gain);
        put_f64(&out, record->gain_low);
        put_f64(&out, record->gain_high);
    } else if (record->kind == RECORD_PASS) {
        put_u32(&out, record->best_step);
    } else if (record->kind == RECORD_SIZE) {
        put_f64(&out, record->size);
    } else {
        put_bytes(&out, record->silent, sizeof record->silent);
        put_u64(&out, record->age_sum);
        put_u32(&out, record->age_max);
        put_u32(&out, condition);
    }
    CHECK(out.ok);
}

static bool body_decode(const uint8_t body[BODY_BYTES], struct record *record)
{
    struct reader in = reader_on(body, BODY_BYTES);
    const uint32_t magic = get_u32(&in);
    const uint32_t kind = get_u32(&in);
    uint32_t condition;

    record->kind = (enum record_kind)kind;
    record->job = get_u64(&in);
    record->view = get_u64(&in);
    record->step = get_u32(&in);
    record->attempt = get_u32(&in);
    record->slots = get_u32(&in);
    record->answered = get_u32(&in);
    record->chunks = get_u32(&in);
    record->exactness = get_u32(&in);
    record->scale = get_u64(&in);
    record->residual = get_f64(&in);
    record->rescale = get_f64(&in);
    record->objective = get_f64(&in);
    get_bytes(&in, record->weights.bytes, DIGEST_BYTES);
    get_bytes(&in, record->code, RECORD_CODE_SIZE);
    record->code[RECORD_CODE_SIZE - 1] = '\0';
    if (kind == RECORD_VIEW) {
        record->stragglers = get_u32(&in);
        record->k = get_u32(&in);
        record->planned = get_u32(&in);
        record->gain = get_f64(&in);
        record->gain_low = get_f64(&in);
        record->gain_high = get_f64(&in);
    } else if (kind == RECORD_PASS) {
        record->best_step = get_u32(&in);
    } else if (kind == RECORD_SIZE) {
        record->size = get_f64(&in);
    } else {
        get_bytes(&in, record->silent, sizeof record->silent);
        record->age_sum = get_u64(&in);
        record->age_max = get_u32(&in);
        condition = get_u32(&in);
        memcpy(&record->condition, &condition, sizeof condition);
    }
    return in.ok && magic == RECORD_MAGIC && kind >= RECORD_JOB &&
           kind <= RECORD_SIZE;
}

static struct digest chain_next(const struct digest *chain,
                                const uint8_t body[BODY_BYTES])
{
    struct hasher hasher;

    hasher_init(&hasher);
    hasher_add(&hasher, chain->bytes, DIGEST_BYTES);
    hasher_add(&hasher, body, BODY_BYTES);
    return hasher_end(&hasher);
}

double record_worse(double residual, double other)
{
    if (isnan(residual) || isnan(other))
        return (double)NAN;
    return other > residual ? other : residual;
}

void record_encode(const struct record *record, struct digest *chain,
                   uint8_t out[RECORD_BYTES])
{
    body_encode(record, out);
    *chain = chain_next(chain, out);
    memcpy(out + BODY_BYTES, chain->bytes, DIGEST_BYTES);
}

/* The JOUR rules for `record` coming after what `so_far` sums up. */
static bool record_follows(const struct journal_summary *so_far,
                           const struct record *record)
{
    if (so_far->records == 0)
        return record->kind == RECORD_JOB;
    if (record->job != so_far->job)
        return false;
    switch (record->kind) {
    case RECORD_JOB:
        return false;
    case RECORD_VIEW:
        return record->view > so_far->view;
    case RECORD_STEP:
        return record->view == so_far->view && record->step == so_far->step + 1;
    case RECORD_ROLLBACK:
        return record->step <= so_far->step;
    case RECORD_GAP:
        return record->view >= so_far->view && record->step > so_far->step;
    case RECORD_PASS:
        return record->step == so_far->step &&
               record->step > so_far->pass_step &&
               record->best_step <= record->step;
    case RECORD_MERGE:
        return record->view == so_far->view && record->step <= so_far->step;
    case RECORD_SIZE:
        return record->step > so_far->step && computation_samples(record->size);
    }
    return false;
}

static void summary_add(struct journal_summary *summary,
                        const struct record *record)
{
    if (record->kind == RECORD_JOB) {
        summary->job = record->job;
        summary->config = record->weights;
    }
    if (record->kind == RECORD_VIEW) {
        summary->view = record->view;
        summary->members = record->answered;
        summary->stragglers = record->stragglers;
        summary->k = record->k;
        summary->planned = record->planned;
        memcpy(summary->code, record->code, sizeof summary->code);
    }
    if (record->kind == RECORD_GAP)
        summary->view = record->view;
    if (record->kind == RECORD_STEP || record->kind == RECORD_ROLLBACK ||
        record->kind == RECORD_GAP)
        summary->step = record->step;
    if (record->kind == RECORD_PASS)
        summary->pass_step = record->step;
    if (summary->pass_step > summary->step) /* Rolled back. */
        summary->pass_step = summary->step;
    summary->records++;
}

enum err journal_more(const uint8_t *data, size_t size, record_visitor visit,
                      void *context, struct journal_summary *summary)
{
    struct journal_summary found = *summary;
    size_t used = 0;

    while (size - used >= RECORD_BYTES) {
        const uint8_t *at = data + used;
        const struct digest chain = chain_next(&found.chain, at);
        struct record record;

        if (memcmp(chain.bytes, at + BODY_BYTES, DIGEST_BYTES) != 0)
            break;
        if (!body_decode(at, &record) || !record_follows(&found, &record)) {
            *summary = found; /* Which record it is. */
            return ERR_FORMAT;
        }
        summary_add(&found, &record);
        found.chain = chain;
        found.valid_bytes += RECORD_BYTES;
        used += RECORD_BYTES;
        if (visit != NULL)
            visit(context, &record);
    }
    found.torn = used < size;
    *summary = found;
    return ERR_OK;
}

enum err journal_scan(const uint8_t *data, size_t size, record_visitor visit,
                      void *context, struct journal_summary *summary)
{
    *summary = (struct journal_summary){0};
    return journal_more(data, size, visit, context, summary);
}

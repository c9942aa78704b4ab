/*
 * placement_sgc.c - stochastic gradient coding: weights that need no decoding.
 *
 * Every part is on d slots; a slot answers with the sum of its parts over
 * d (1-p), p = s/n the chance of being late, and the coordinator adds up
 * whatever comes.  The mean of that is the sum; how far one step is off shrinks
 * with d (Bitar, Wootters & El Rouayheb, "Stochastic gradient coding for
 * straggler mitigation in distributed learning", 2020).
 *
 * Two slots should have few parts in common: the copies of part j are on slots
 * j - o for offsets o whose differences mod n are all different as long as
 * there are enough numbers (a Golomb ruler on a circle); then two slots share
 * at most one part.
 */
#include "base/mem.h"
#include "code/axes.h"

static uint32_t copies(const struct code *code)
{
    return code->spec.replicas > 0 ? code->spec.replicas
                                   : code->spec.stragglers + 1;
}

/* Is `offset` free, and its differences to the others new? */
static bool fits(const uint32_t *offset, uint32_t count, uint32_t candidate,
                 const bool *used, uint32_t n)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t ahead = (candidate + n - offset[i]) % n;

        if (ahead == 0 || used[ahead] || used[n - ahead])
            return false;
    }
    return true;
}

static bool taken(const uint32_t *offset, uint32_t count, uint32_t candidate)
{
    for (uint32_t i = 0; i < count; i++) {
        if (offset[i] == candidate)
            return true;
    }
    return false;
}

static uint32_t next_offset(const uint32_t *offset, uint32_t count,
                            const bool *used, uint32_t n)
{
    for (uint32_t candidate = 0; candidate < n; candidate++) {
        if (fits(offset, count, candidate, used, n))
            return candidate;
    }
    for (uint32_t candidate = 0; candidate < n; candidate++) {
        if (!taken(offset, count, candidate))
            return candidate;
    }
    return 0;
}

static enum err sgc_prepare(struct code *code)
{
    const uint32_t n = code->slots;
    const uint32_t d = copies(code);
    bool *used = mem_new((size_t)n + 1, sizeof *used);

    code->arc = mem_new((size_t)n + 1, sizeof *code->arc);
    if (code->arc == NULL || used == NULL) {
        mem_free(used);
        return ERR_NOMEM;
    }
    for (uint32_t k = 0; k < d; k++) {
        const uint32_t offset = next_offset(code->arc, k, used, n);

        for (uint32_t i = 0; i < k; i++) {
            const uint32_t ahead = (offset + n - code->arc[i]) % n;

            used[ahead] = true;
            used[n - ahead] = true;
        }
        code->arc[k] = offset;
    }
    mem_free(used);
    return ERR_OK;
}

static uint32_t sgc_row(const struct code *code, uint32_t slot, uint32_t *spans,
                        uint32_t max)
{
    const uint32_t d = copies(code);

    for (uint32_t k = 0; k < d && k < max; k++)
        spans[k] = (slot + code->arc[k]) % code->slots;
    return d;
}

static enum err sgc_vet(const struct code *code, struct why *why)
{
    const struct code_spec *spec = &code->spec;

    if (copies(code) > code->slots)
        return why_set(why, ERR_SHAPE,
                       "code %s cannot put %u copies of a part on %u workers",
                       spec->name, copies(code), code->slots);
    if (spec->estimate != ESTIMATE_UNBIASED ||
        (spec->stop != STOP_FIRST && spec->stop != STOP_ALL &&
         spec->stop != STOP_DEADLINE))
        return why_set(why, ERR_SHAPE,
                       "code %s goes only with schedule all, stop first:K, all "
                       "or deadline:T, estimate unbiased",
                       spec->name);
    return ERR_OK;
}

static uint32_t sgc_folds(const struct code *code)
{
    (void)code;
    return 1;
}

/* The chance to be in time: k/n where k are waited for. */
static double in_time(const struct code *code)
{
    const double n = code->slots;

    if (code->spec.stop == STOP_ALL)
        return 1;
    return code->spec.stop == STOP_FIRST ? code->spec.k / n
                                         : (n - code->spec.stragglers) / n;
}

static enum err sgc_draw(struct code *code, uint32_t draw)
{
    const double value = 1 / (copies(code) * in_time(code));

    (void)draw;
    for (uint32_t i = 0; i < code->table.count; i++)
        code->table.value[i] = value;
    for (uint32_t slot = 0; slot < code->slots; slot++)
        code->basis[slot] = 1;
    return ERR_OK;
}

static enum err sgc_decode(const struct code *code, const bool *slot_in,
                           double *weight)
{
    for (uint32_t slot = 0; slot < code->slots; slot++)
        weight[slot] = slot_in[slot] && code->busy[slot] ? 1 : 0;
    code->decoder->fold[0] = 1;
    return ERR_OK;
}

const struct placement_ops placement_sgc = {
    .name = "sgc",
    .carrier = CARRIER_F64,
    .traits = TRAIT(COPIES) | TRAIT(ESTIMATE),
    .prepare = sgc_prepare,
    .row = sgc_row,
    .vet = sgc_vet,
    .folds = sgc_folds,
    .draw = sgc_draw,
    .decode = sgc_decode,
    .fixed = true,
};

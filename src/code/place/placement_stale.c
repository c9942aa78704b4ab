/*
 * placement_stale.c - every part in one place, answered when it is ready.
 *
 * Slot i holds part i, as in `once`; its answer may be to a step that is over,
 * at most spec.staleness updates ago (core/star/stale.c).  Answers are real
 * sums, not tallies: a tally's exponents are those of its own round, and
 * answers of several rounds are added up here.  Approximate whoever answers.
 *
 * Stale synchronous parallel: Ho et al., "More effective distributed ML via a
 * stale synchronous parallel parameter server", NIPS 2013.
 */
#include "code/axes.h"

static uint32_t stale_row(const struct code *code, uint32_t slot,
                          uint32_t *spans, uint32_t max)
{
    (void)code;
    if (max > 0)
        spans[0] = slot;
    return 1;
}

static enum err stale_vet(const struct code *code, struct why *why)
{
    const struct code_spec *spec = &code->spec;

    if (spec->staleness >= 1 && spec->estimate == ESTIMATE_RATIO &&
        spec->stop == STOP_FIRST)
        return ERR_OK;
    return why_set(why, ERR_SHAPE,
                   "code %s with staleness goes only with stop first:K, "
                   "estimate ratio",
                   spec->name);
}

static enum err stale_draw(struct code *code, uint32_t draw)
{
    (void)draw;
    for (uint32_t i = 0; i < code->table.count; i++)
        code->table.value[i] = 1;
    return ERR_OK;
}

static enum err stale_decode(const struct code *code, const bool *slot_in,
                             double *weight)
{
    for (uint32_t slot = 0; slot < code->slots; slot++)
        weight[slot] = slot_in[slot] && code->busy[slot] ? 1 : 0;
    return ERR_OK;
}

const struct placement_ops placement_stale = {
    .name = "stale",
    .carrier = CARRIER_F64,
    .summed = true,
    .traits = TRAIT(LATE) | TRAIT(ESTIMATE),
    .row = stale_row,
    .vet = stale_vet,
    .draw = stale_draw,
    .decode = stale_decode,
    .fixed = true,
};

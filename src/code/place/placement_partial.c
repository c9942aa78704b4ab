/*
 * placement_partial.c - private parts besides coded ones.
 *
 *     3 slots, s = 1, P = 3:   private   coded
 *                     slot 0   0         3 4
 *                     slot 1   1           4 5
 *                     slot 2   2         3   5       (partial-cyclic)
 *
 * A slot holds P parts: P-s-1 that are only its own, and s+1 that others hold
 * too, as in frc or in cyclic.  The private ones are computed and sent first,
 * and all are needed; the coded ones tolerate s stragglers.  For machines that
 * are slow rather than dead: a straggler gets its small private share done
 * while the others do theirs and a part of its coded one (Tandon et al.,
 * section 5, "partial stragglers").  There are n(P-s) parts in all.
 */
#include "code/place/placement_cyclic.h"

static uint32_t held_parts(const struct code *code)
{
    return code->spec.parts > 0 ? code->spec.parts
                                : 2 * (code->spec.stragglers + 1);
}

/* Private parts of a slot. */
static uint32_t own_parts(const struct code *code)
{
    return held_parts(code) - code->spec.stragglers - 1;
}

static uint32_t partial_parts(const struct code *code)
{
    return code->slots * (own_parts(code) + 1);
}

static uint32_t partial_plain(const struct code *code)
{
    return code->slots;
}

static uint32_t groups(const struct code *code)
{
    return code->slots / (code->spec.stragglers + 1);
}

static uint32_t frc_count(const struct code *code)
{
    return code->slots + groups(code);
}

static uint32_t private_first(const struct code *code, uint32_t span)
{
    return span * own_parts(code);
}

static uint32_t frc_first(const struct code *code, uint32_t span)
{
    const uint32_t n = code->slots;

    if (span <= n)
        return private_first(code, span);
    return private_first(code, n) +
           (uint32_t)((uint64_t)(span - n) * n / groups(code));
}

static uint32_t frc_row(const struct code *code, uint32_t slot, uint32_t *spans,
                        uint32_t max)
{
    const uint64_t count = groups(code);

    if (max > 0)
        spans[0] = slot;
    /* As in placement_rep.c. */
    if (max > 1)
        spans[1] =
            code->slots + (uint32_t)(((slot + 1) * count - 1) / code->slots);
    return 2;
}

static enum err partial_vet(const struct code *code, struct why *why)
{
    const struct code_spec *spec = &code->spec;
    const uint32_t least = spec->stragglers + 2;

    if (held_parts(code) < least)
        return why_set(why, ERR_SHAPE,
                       "code %s with %u stragglers needs at least %u parts a "
                       "worker, %u coded and one of its own; parts=%u has "
                       "none",
                       spec->name, spec->stragglers, least, least - 1,
                       held_parts(code));
    if (partial_parts(code) > CODE_SLOTS_MAX * CODE_PIECES_MAX)
        return why_set(why, ERR_SHAPE, "code %s: parts=%u is too many",
                       spec->name, held_parts(code));
    return ERR_OK;
}

static enum err frc_vet(const struct code *code, struct why *why)
{
    const struct code_spec *spec = &code->spec;
    const uint32_t copies = spec->stragglers + 1;

    if (spec->divisible && code->slots % copies != 0)
        return why_set(why, ERR_SHAPE,
                       "code %s needs groups of %u workers and %u does not "
                       "divide %u; use `rep`, which serves any number",
                       spec->name, copies, copies, code->slots);
    if (spec->stop != STOP_COVER && spec->stop != STOP_DEADLINE)
        return why_set(why, ERR_SHAPE,
                       "code %s goes with stop cover or deadline:T",
                       spec->name);
    return partial_vet(code, why);
}

static uint32_t cyclic_count(const struct code *code)
{
    return 2 * code->slots;
}

static uint32_t cyclic_first(const struct code *code, uint32_t span)
{
    const uint32_t n = code->slots;

    return span <= n ? private_first(code, span)
                     : private_first(code, n) + span - n;
}

static uint32_t partial_row(const struct code *code, uint32_t slot,
                            uint32_t *spans, uint32_t max)
{
    if (max == 0)
        return 1 + cyclic_row(code, slot, spans, 0);
    spans[0] = slot;
    return 1 + cyclic_row(code, slot, spans + 1, max - 1);
}

static enum err partial_cyclic_vet(const struct code *code, struct why *why)
{
    const enum err err = partial_vet(code, why);

    return err != ERR_OK ? err : cyclic_vet(code, why);
}

const struct placement_ops placement_partial_frc = {
    .name = "partial-frc",
    .carrier = CARRIER_TALLY,
    .traits = TRAIT(COPIES),
    .parts = partial_parts,
    .span_count = frc_count,
    .span_first = frc_first,
    .row = frc_row,
    .vet = frc_vet,
};

const struct placement_ops placement_partial_cyclic = {
    .name = "partial-cyclic",
    .carrier = CARRIER_F64,
    .traits = TRAIT(COPIES),
    .parts = partial_parts,
    .span_count = cyclic_count,
    .span_first = cyclic_first,
    .plain_spans = partial_plain,
    .row = partial_row,
    .vet = partial_cyclic_vet,
    .folds = coded_folds,
    .draw = cyclic_draw,
    .draw_cost = cyclic_draw_cost,
};

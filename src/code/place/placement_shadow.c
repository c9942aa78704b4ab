/*
 * placement_shadow.c - parts in one place each, and samples of them in another.
 *
 *     6 workers, S = 2:   slot 0 1 2 3   parts 0 1 2 3
 *                         slot 4         samples of parts 0 2
 *                         slot 5         samples of parts 1 3
 *
 * Slot P + j has samples of the parts p with p mod S = j, so that two
 * stragglers may share a shadow.  Chunk K + k of a code is a sample of chunk k
 * of the data; part P + p has those of part p.  With too few workers for S
 * shadows there are fewer, one worker has none.
 *
 * Salamy, Sharma, Ghobadi & Medard, "FlexEnt: Entropy Coding to Curb Stragglers
 * in Large-Scale Distributed Machine Learning".
 */
#include <stdio.h>

#include "code/axes.h"

static uint32_t shadows_of(const struct code *code)
{
    const uint32_t most = code->slots - 1;

    return code->spec.shadows < most ? code->spec.shadows : most;
}

static uint32_t shadow_parts(const struct code *code)
{
    return 2 * (code->slots - shadows_of(code));
}

static uint32_t shadow_part_first(const struct code *code, uint32_t part)
{
    const uint32_t primaries = code->parts / 2;
    const uint32_t own = part < primaries ? part : part - primaries;

    return (part < primaries ? 0 : code->samples) +
           (uint32_t)((uint64_t)own * code->samples / primaries);
}

static uint32_t shadow_row(const struct code *code, uint32_t slot,
                           uint32_t *spans, uint32_t max)
{
    const uint32_t primaries = code->parts / 2;
    const uint32_t shadows = shadows_of(code);
    uint32_t count = 0;

    if (slot < primaries) {
        if (max > 0)
            spans[0] = slot;
        return 1;
    }
    for (uint32_t p = slot - primaries; p < primaries; p += shadows) {
        if (count < max)
            spans[count] = primaries + p;
        count++;
    }
    return count;
}

/* As few shadows as leave more primaries than may be slow, if one does. */
static enum err refuse_stragglers(const struct code *code, struct why *why)
{
    const struct code_spec *const spec = &code->spec;
    const uint32_t primaries = code->slots - shadows_of(code);
    char fewer[32] = "";

    if (spec->stragglers + 1 < code->slots)
        (void)snprintf(fewer, sizeof fewer, ", at most %u shadow%s",
                       code->slots - spec->stragglers - 1,
                       code->slots - spec->stragglers == 2 ? "" : "s");
    return why_set(
        why, ERR_SHAPE,
        "code %s cannot lose %u of %u primary workers (%u of %u %s); "
        "take --stragglers %u%s, or %u workers",
        spec->name, spec->stragglers, primaries, shadows_of(code), code->slots,
        shadows_of(code) == 1 ? "is a shadow" : "are shadows", primaries - 1,
        fewer, spec->stragglers + 1 + spec->shadows);
}

static enum err shadow_vet(const struct code *code, struct why *why)
{
    const struct code_spec *const spec = &code->spec;
    const uint32_t primaries = code->slots - shadows_of(code);

    if (spec->stop != STOP_SHADOW || spec->estimate == ESTIMATE_UNBIASED)
        return why_set(why, ERR_SHAPE,
                       "code %s goes only with its own stop, and the estimates "
                       "abandon, rescale, shadow and shrink",
                       spec->name);
    /* A life that goes on with fewer waits for more of them (stop.c). */
    if (!spec->quick && spec->stragglers >= primaries)
        return refuse_stragglers(code, why);
    return ERR_OK;
}

const struct placement_ops placement_shadow = {
    .name = "shadow",
    .carrier = CARRIER_TALLY,
    .sampled = true,
    .traits = TRAIT(COPIES) | TRAIT(SAMPLES),
    .parts = shadow_parts,
    .part_first = shadow_part_first,
    .row = shadow_row,
    .vet = shadow_vet,
};

/*
 * placement_rep.c - fractional repetition for any number of slots.
 *
 * Consecutive slots form g = floor(n / (s+1)) groups, as equal in size as
 * whole numbers allow; all members hold all parts of all members:
 *
 *     8 slots, s = 2:    group     0           1
 *                        slots     0 1 2 3     4 5 6 7
 *                        parts     0 1 2 3     4 5 6 7
 *
 * One answer for a group is enough, and a group has at least s+1 members, so s
 * silent slots never empty one.  Where s+1 divides n this is the FRC of Tandon
 * et al., "Gradient Coding", ICML 2017, with groups of s+1; otherwise some
 * groups are larger and hold more, which costs load but no coefficients: the
 * sum stays a sum of integers, the same bits whoever answered.
 */
#include "code/axes.h"

#include "base/check.h"

static uint32_t rep_count(const struct code *code)
{
    CHECK(code->spec.stragglers < code->slots);
    return code->slots / (code->spec.stragglers + 1);
}

static uint32_t rep_first(const struct code *code, uint32_t span)
{
    return (uint32_t)((uint64_t)span * code->slots / rep_count(code));
}

/* The last group whose first slot is not beyond `slot`: floor(q n / g) <= slot
 * exactly when q n < (slot + 1) g. */
static uint32_t rep_group(const struct code *code, uint32_t slot)
{
    const uint64_t groups = rep_count(code);

    return (uint32_t)(((slot + 1) * groups - 1) / code->slots);
}

static uint32_t rep_row(const struct code *code, uint32_t slot, uint32_t *spans,
                        uint32_t max)
{
    if (max > 0)
        spans[0] = rep_group(code, slot);
    return 1;
}

static enum err rep_vet(const struct code *code, struct why *why)
{
    const struct code_spec *spec = &code->spec;
    const uint32_t copies = spec->stragglers + 1;

    if (!spec->divisible || code->slots % copies == 0)
        return ERR_OK;
    return why_set(why, ERR_SHAPE,
                   "code %s needs groups of %u workers and %u does not divide "
                   "%u; use `rep`, the same code for any number of workers",
                   spec->name, copies, copies, code->slots);
}

static uint32_t rep_group_size(const struct code *code)
{
    return code->spec.stragglers + 1;
}

const struct placement_ops placement_rep = {
    .name = "rep",
    .carrier = CARRIER_TALLY,
    .grouped = true,
    .traits = TRAIT(COPIES),
    .group_size = rep_group_size,
    .span_count = rep_count,
    .span_first = rep_first,
    .row = rep_row,
    .vet = rep_vet,
};

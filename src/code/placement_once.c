/*
 * placement_once.c - every part in one place: slot i holds part i.
 *
 * No redundancy, n groups of one slot each.
 */
#include "code/axes.h"

static uint32_t once_count(const struct code *code)
{
    return code->slots;
}

static uint32_t once_first(const struct code *code, uint32_t span)
{
    (void)code;
    return span;
}

static uint32_t once_held(const struct code *code, uint32_t slot, uint32_t *ids,
                          uint32_t max)
{
    const struct group *group = &code->groups[slot];

    return code_ids(ids, 0, max, group->piece_first, group->piece_end);
}

const struct placement_ops placement_once = {
    .name = "once",
    .carrier = CARRIER_TALLY,
    .span_count = once_count,
    .span_first = once_first,
    .holds = group_holds,
    .coefficient = group_coefficient,
    .held = once_held,
};

/*
 * placement_once.c - every part in one place: slot i holds part i.
 *
 * No redundancy, n groups of one slot each.
 */
#include "code/axes.h"

static uint32_t once_row(const struct code *code, uint32_t slot,
                         uint32_t *spans, uint32_t max)
{
    (void)code;
    if (max > 0)
        spans[0] = slot;
    return 1;
}

static uint32_t once_group_size(const struct code *code)
{
    (void)code;
    return 1;
}

const struct placement_ops placement_once = {
    .name = "once",
    .carrier = CARRIER_TALLY,
    .grouped = true,
    .group_size = once_group_size,
    .row = once_row,
};

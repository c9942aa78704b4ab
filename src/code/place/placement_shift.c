/*
 * placement_shift.c - slot i holds parts i, i+1, .. i+s mod n, as plain sums.
 *
 *     5 slots, s = 1:      part   0    1    2    3    4
 *                  slot 0         1st  2nd
 *                  slot 1              1st  2nd
 *                  slot 2                   1st  2nd
 *                  slot 3                        1st  2nd
 *                  slot 4         2nd                 1st
 *
 * The staircase of Amiri & Gunduz, "Computation Scheduling for Distributed
 * Machine Learning with Straggling Workers", 2019: every part is somebody's
 * first, so that a machine without slow neighbours is never waited for.
 */
#include "code/axes.h"

static uint32_t shift_row(const struct code *code, uint32_t slot,
                          uint32_t *spans, uint32_t max)
{
    const uint32_t copies = code->spec.stragglers + 1;

    for (uint32_t k = 0; k < copies && k < max; k++)
        spans[k] = (slot + k) % code->slots;
    return copies;
}

const struct placement_ops placement_shift = {
    .name = "shift",
    .carrier = CARRIER_TALLY,
    .cut = true,
    .traits = TRAIT(COPIES),
    .row = shift_row,
};

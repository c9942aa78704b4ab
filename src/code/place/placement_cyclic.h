/*
 * placement_cyclic.h - what partial-cyclic takes over from cyclic.
 */
#ifndef CODE_PLACEMENT_CYCLIC_H
#define CODE_PLACEMENT_CYCLIC_H

#include "code/axes.h"

/* The s+1 coded spans from the slot's own on; the last of its row. */
uint32_t cyclic_row(const struct code *code, uint32_t slot, uint32_t *spans,
                    uint32_t max);
MUST_CHECK enum err cyclic_draw(struct code *code, uint32_t draw);
uint64_t cyclic_draw_cost(const struct code *code);
MUST_CHECK enum err cyclic_vet(const struct code *code, struct why *why);

#endif /* CODE_PLACEMENT_CYCLIC_H */

/*
 * placement_mds.c - coded data: any k = n-s answers give everything.
 *
 *     5 slots, s = 2:      part   0    1    2
 *                  slot 0         1
 *                  slot 1              1
 *                  slot 2                   1
 *                  slot 3         g30  g31  g32
 *                  slot 4         g40  g41  g42
 *
 * Slot i holds sum_j G_ij X_j, a block as large as one part of the data
 * (math/blocks.h), and answers its product with a vector: of k parts and
 * n blocks any k answers determine the product of every part almost surely, and
 * every slot has 1/k of the work.  A gradient of a linear model is two such
 * products.  Lee et al., "Speeding up distributed machine learning using
 * codes", IEEE Trans. IT 2018.
 *
 * G has N(0,1)/sqrt(k) below the identity, so that all rows are about as long;
 * systematic because then only what is missing is solved for, and a condition
 * number depends on s, not on k.  There are no more parts than chunks; with
 * fewer chunks than n-s more may straggle.
 */
#include <float.h>
#include <string.h>

#include "code/axes.h"

static uint32_t mds_parts(const struct code *code)
{
    const uint32_t k = code->slots - code->spec.stragglers;

    return k < code->chunks ? k : code->chunks;
}

static uint32_t mds_row(const struct code *code, uint32_t slot, uint32_t *spans,
                        uint32_t max)
{
    const uint32_t k = mds_parts(code);

    if (slot < k && max > 0)
        spans[0] = slot;
    for (uint32_t j = 0; slot >= k && j < k && j < max; j++)
        spans[j] = j;
    return slot < k ? 1 : k;
}

/* The others are parts as they are. */
static enum err mds_draw(struct code *code, uint32_t draw)
{
    struct erasure *const erasure = &code->erasure;
    const uint32_t k = mds_parts(code);
    enum err err;

    (void)draw;
    if (erasure->room != NULL)
        return ERR_OK; /* Another would be the same. */
    err = erasure_init(erasure, k, code->slots, code->spec.seed);
    erasure->rounding = code->spec.result ? DBL_EPSILON : 0;
    for (uint32_t slot = k; err == ERR_OK && slot < code->slots; slot++)
        memcpy(code->table.value + code->table.row[slot],
               erasure->row + (size_t)slot * k, k * sizeof *erasure->row);
    return err;
}

enum err blocks_pick(const struct code *code, const bool *slot_in,
                     const struct erasure_set **set)
{
    struct blockset answered = {0};

    for (uint32_t slot = 0; slot < code->slots; slot++)
        if (slot_in[slot])
            blockset_add(&answered, slot);
    return erasure_pick(&code->erasure, &answered, ERASURE_RCOND,
                        CODE_RESIDUAL_MAX, set);
}

/* The sum of the parts, which is for people to look at. */
static enum err mds_decode(const struct code *code, const bool *slot_in,
                           double *weight)
{
    const struct erasure_set *set;
    const enum err err = blocks_pick(code, slot_in, &set);

    memset(weight, 0, code->slots * sizeof *weight);
    for (uint32_t i = 0; err == ERR_OK && i < set->count; i++) {
        double *const own = &weight[set->block[i]];

        *own = i < set->copies;
        for (uint32_t m = 0; m < set->missing; m++)
            *own += set->weight[(size_t)m * set->count + i];
    }
    return err;
}

const struct placement_ops placement_mds = {
    .name = "mds",
    .carrier = CARRIER_F64,
    .traits = TRAIT(COPIES) | TRAIT(BLOCKS),
    .parts = mds_parts,
    .row = mds_row,
    .vet = coded_vet,
    .draw = mds_draw,
    .decode = mds_decode,
    .fixed = true,
};

/* What is known of the worst set comes with the matrix, and each that is met is
 * looked at: there is nothing to certify. */
const struct placement_ops placement_cec = {
    .name = "cec",
    .carrier = CARRIER_F64,
    .traits = TRAIT(COPIES) | TRAIT(BLOCKS) | TRAIT(ELASTIC),
    .parts = mds_parts,
    .row = mds_row,
    .draw = mds_draw,
    .decode = mds_decode,
    .uncertified = true,
    .fixed = true,
};

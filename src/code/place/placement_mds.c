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
 * number depends on s, not on k (handbook 8.1).  There are no more parts than
 * chunks; with fewer chunks than n-s more may straggle.
 *
 * All a with a^T G = 1: a0 = 1 on the first k slots; L has for every slot p of
 * the last n-k the row (g_p, -e_p).
 */
#include <string.h>

#include "code/axes.h"

#define PATTERN_WORK_MAX 816000000u

static uint32_t mds_parts(const struct code *code)
{
    const uint32_t k = code->slots - code->spec.stragglers;

    return k < code->chunks ? k : code->chunks;
}

static uint32_t mds_folds(const struct code *code)
{
    return code->slots - mds_parts(code) + 1;
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

/* What is known of the worst set comes with the matrix, and each set that is
 * met is looked at: there is nothing to certify. */
static enum err cec_draw(struct code *code, uint32_t draw)
{
    struct erasure *const erasure = &code->erasure;
    const uint32_t k = mds_parts(code);
    const enum err err = erasure_init(erasure, k, code->slots, code->spec.seed);

    (void)draw;
    for (uint32_t slot = k; err == ERR_OK && slot < code->slots; slot++)
        memcpy(code->table.value + code->table.row[slot],
               erasure->row + (size_t)slot * k, k * sizeof *erasure->row);
    return err;
}

static enum err mds_draw(struct code *code, uint32_t draw)
{
    const uint32_t n = code->slots;
    const uint32_t k = mds_parts(code);
    const enum err err = cec_draw(code, draw);

    if (err != ERR_OK)
        return err;
    memset(code->basis, 0, (size_t)code->folds * n * sizeof *code->basis);
    for (uint32_t i = 0; i < k; i++)
        code->basis[i] = 1;
    for (uint32_t slot = k; slot < n; slot++) {
        double *row = code->basis + (size_t)(slot - k + 1) * n;

        memcpy(row, code->table.value + code->table.row[slot], k * sizeof *row);
        row[slot] = -1;
    }
    /* a0 stays: what is there is copied, to the bit. */
    basis_orthonormalise(code, false);
    return ERR_OK;
}

/* One pattern of stragglers is solved for each part that is missing, and a
 * coordinator that is at it beats for nobody: a second, not fifteen. */
static enum err mds_vet(const struct code *code, struct why *why)
{
    const struct code_spec *spec = &code->spec;
    const uint64_t s = spec->stragglers;

    if ((s + 1) * s * s * s > PATTERN_WORK_MAX)
        return why_set(why, ERR_SHAPE,
                       "code %s with %u workers and %u stragglers takes too "
                       "long to set up; at most 168 may straggle",
                       spec->name, code->slots, spec->stragglers);
    return coded_vet(code, why);
}

const struct placement_ops placement_mds = {
    .name = "mds",
    .carrier = CARRIER_F64,
    .traits = TRAIT(COPIES) | TRAIT(BLOCKS),
    .parts = mds_parts,
    .row = mds_row,
    .vet = mds_vet,
    .folds = mds_folds,
    .draw = mds_draw,
    .fixed = true,
};

const struct placement_ops placement_cec = {
    .name = "cec",
    .carrier = CARRIER_F64,
    .traits = TRAIT(COPIES) | TRAIT(BLOCKS) | TRAIT(ELASTIC),
    .parts = mds_parts,
    .row = mds_row,
    .draw = cec_draw,
    .uncertified = true,
    .fixed = true,
};

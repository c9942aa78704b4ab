/*
 * placement_cb.c - real coefficients for any placement with s+1 holders.
 *
 * Wang et al., "Heterogeneity-aware gradient coding for straggler tolerance",
 * ICDCS 2019.  Draw C ((s+1) x n) at random.  For part j with holders W solve
 * C[:, W] b = 1 and put b into column j of B: then C B is all ones.  For any
 * lambda with lambda^T 1 = 1 the weights a = C^T lambda restore the sum, and s
 * conditions are left to make them vanish on s stragglers.  In the words of
 * decode.c: a0 = row 0 of C, L = the other rows less row 0.
 *
 * Loads follow the speeds: slot i is given m_i = P (s+1) c_i / sum(c) parts (at
 * most P), laid end to end round the circle of P parts.  A circle of P that is
 * covered s+1 times has s+1 holders everywhere, all different because no arc is
 * longer than the circle:
 *
 *     speeds 1 1 2, s = 1, P = 8:   slot 0  ####
 *                                   slot 1      ####
 *                                   slot 2  ########
 *
 * Or the holders are those of a matrix the user gives.
 */
#include <math.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/rng.h"
#include "code/axes.h"

#define DRAW_WORK_MAX 8000000000u
#define FINENESS      8u /* Parts a slot when loads differ. */

static const double *speeds(const struct code *code)
{
    return code->spec.speeds == code->slots ? code->spec.speed : NULL;
}

static uint32_t cb_parts(const struct code *code)
{
    const uint32_t fine = code->slots * FINENESS;

    if (code->spec.matrix != NULL)
        return code->spec.matrix->cols;
    if (speeds(code) == NULL)
        return code->slots;
    return fine < code->chunks          ? fine
           : code->slots > code->chunks ? code->slots
                                        : code->chunks;
}

/* What is left of `total` shared out in proportion to the speeds of slots that
 * are not full; returns how many of them came to be full. */
static uint32_t share(const struct code *code, const double *speed,
                      double *load, double total)
{
    const double full = code->parts;
    double sum = 0;
    uint32_t filled = 0;

    for (uint32_t i = 0; i < code->slots; i++) {
        if (load[i] >= full)
            total -= full;
        else
            sum += speed[i];
    }
    for (uint32_t i = 0; i < code->slots; i++) {
        if (load[i] >= full)
            continue;
        load[i] = total * speed[i] / sum;
        if (load[i] >= full) {
            load[i] = full;
            filled++;
        }
    }
    return filled;
}

/* Where arcs begin: the cumulative loads, rounded, not the loads. */
static enum err cb_prepare(struct code *code)
{
    const uint32_t n = code->slots;
    const uint32_t copies = code->spec.stragglers + 1;
    const double *speed = speeds(code);
    double *load;
    double at = 0;

    if (code->spec.matrix != NULL)
        return ERR_OK;
    code->arc = mem_new((size_t)n + 1, sizeof *code->arc);
    load = mem_new(n, sizeof *load);
    if (code->arc == NULL || load == NULL) {
        mem_free(load);
        return ERR_NOMEM;
    }
    for (uint32_t i = 0; i < n; i++)
        load[i] = speed == NULL ? copies : 0;
    while (speed != NULL &&
           share(code, speed, load, (double)code->parts * copies) > 0)
        ;
    for (uint32_t i = 0; i < n; i++) {
        at += load[i];
        code->arc[i + 1] = (uint32_t)floor(at + 0.5);
    }
    code->arc[n] = code->parts * copies;
    mem_free(load);
    return ERR_OK;
}

static uint32_t matrix_row(const struct code_matrix *matrix, uint32_t slot,
                           uint32_t *spans, uint32_t max)
{
    uint32_t count = 0;

    for (uint32_t j = 0; j < matrix->cols; j++) {
        if (matrix->entry[(size_t)slot * matrix->cols + j] == 0)
            continue;
        if (count < max)
            spans[count] = j;
        count++;
    }
    return count;
}

static uint32_t cb_row(const struct code *code, uint32_t slot, uint32_t *spans,
                       uint32_t max)
{
    uint32_t length;

    if (code->spec.matrix != NULL)
        return matrix_row(code->spec.matrix, slot, spans, max);
    length = code->arc[slot + 1] - code->arc[slot];
    for (uint32_t k = 0; k < length && k < max; k++)
        spans[k] = (code->arc[slot] + k) % code->parts;
    return length;
}

static enum err vet_holders(const struct code *code, struct why *why)
{
    const struct code_matrix *matrix = code->spec.matrix;
    const uint32_t copies = code->spec.stragglers + 1;

    if (matrix->rows != code->slots)
        return why_set(why, ERR_SHAPE,
                       "the matrix has %u rows; code %s with %u workers needs "
                       "a row for each",
                       matrix->rows, code->spec.name, code->slots);
    for (uint32_t j = 0; j < matrix->cols; j++) {
        uint32_t holders = 0;

        for (uint32_t i = 0; i < matrix->rows; i++)
            holders += matrix->entry[(size_t)i * matrix->cols + j] != 0;
        if (holders != copies)
            return why_set(why, ERR_SHAPE,
                           "column %u of the matrix has %u holders; code %s "
                           "with --stragglers %u needs %u of every part",
                           j + 1, holders, code->spec.name,
                           code->spec.stragglers, copies);
    }
    return ERR_OK;
}

static enum err vet_speeds(const struct code *code, struct why *why)
{
    if (code->spec.speeds != 0 && code->spec.speeds != code->slots &&
        !code->spec.quick)
        return why_set(why, ERR_SHAPE, "speeds: %u numbers for %u workers",
                       code->spec.speeds, code->slots);
    for (uint32_t i = 0; i < code->spec.speeds; i++) {
        if (!(code->spec.speed[i] > 0) || !isfinite(code->spec.speed[i]))
            return why_set(why, ERR_SHAPE,
                           "speeds: number %u is not above zero", i + 1);
    }
    return ERR_OK;
}

static enum err cb_vet(const struct code *code, struct why *why)
{
    const uint64_t copies = (uint64_t)code->spec.stragglers + 1;
    enum err err = vet_speeds(code, why);

    if (err == ERR_OK && code->spec.matrix != NULL)
        err = vet_holders(code, why);
    if (err == ERR_OK &&
        copies * copies * copies * cb_parts(code) > DRAW_WORK_MAX)
        return why_set(why, ERR_SHAPE,
                       "code %s with %u workers and %u stragglers takes too "
                       "long to set up; use `rep`, which needs no algebra",
                       code->spec.name, code->slots, code->spec.stragglers);
    return err != ERR_OK ? err : coded_vet(code, why);
}

/* Column `span` of B: C[:, holders] b = 1. */
static enum err solve_column(struct code *code, uint32_t span, uint64_t seed,
                             struct shortest *room)
{
    const struct code_table *table = &code->table;
    const uint32_t first = table->column[span];
    const uint32_t copies = table->column[span + 1] - first;
    enum err err;

    CHECK(copies == code->spec.stragglers + 1);
    for (uint32_t r = 0; r < copies; r++) {
        for (uint32_t k = 0; k < copies; k++)
            shortest_row(room, r)[k] =
                rng_normal_at(seed, r, table->holder[first + k]);
        room->right[r] = 1;
    }
    err = shortest_solve(room, copies, copies);
    for (uint32_t k = 0; k < copies && err == ERR_OK; k++)
        table->value[table->entry[first + k]] = room->x[k];
    return err;
}

static enum err cb_draw(struct code *code, uint32_t draw)
{
    const uint32_t n = code->slots;
    const uint64_t seed = rng_at(code->spec.seed, draw, n);
    struct shortest room;
    enum err err = shortest_init(&room, code->spec.stragglers + 1);

    for (uint32_t q = 0; q < code->span_count && err == ERR_OK; q++)
        err = solve_column(code, q, seed, &room);
    shortest_close(&room);
    if (err != ERR_OK)
        return err;
    for (uint32_t k = 0; k < code->folds; k++) {
        for (uint32_t i = 0; i < n; i++) {
            const double base = k == 0 ? 0 : rng_normal_at(seed, 0, i);

            code->basis[(size_t)k * n + i] = rng_normal_at(seed, k, i) - base;
        }
    }
    basis_orthonormalise(code);
    return ERR_OK;
}

const struct placement_ops placement_cb = {
    .name = "cb",
    .carrier = CARRIER_F64,
    .traits = TRAIT(COPIES),
    .parts = cb_parts,
    .prepare = cb_prepare,
    .row = cb_row,
    .vet = cb_vet,
    .folds = coded_folds,
    .draw = cb_draw,
};

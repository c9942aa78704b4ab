/*
 * placement_cyclic.c - cyclic repetition with real coefficients.
 *
 *     5 slots, s = 1:      part   0    1    2    3    4
 *                  slot 0         1    b01
 *                  slot 1              1    b12
 *                  slot 2                   1    b23
 *                  slot 3                        1    b34
 *                  slot 4         b40                 1
 *
 * Slot i answers with one vector, the sum over its row of B of coefficient
 * times part gradient.  B is the cyclic repetition scheme of Tandon et al.,
 * "Gradient Coding", ICML 2017: draw H (s x n) at random with H 1 = 0 and
 * choose row i in the null space of H with support i..i+s.  That space has
 * dimension n-s and contains the all-ones row; almost surely any n-s rows of B
 * span it, so any n-s answers restore the plain sum.  "Almost surely" says
 * nothing about rounding: see certify.c.
 *
 * a0 and L of decode.c come once for a matrix from the bordered system
 *
 *     [ B^T  H^T ] [ x ]   [ right ]
 *     [  C    0  ] [ z ] = [ below ]
 *
 * with H the matrix B was made from and C any s x n matrix.  The rows of B are
 * orthogonal to those of H and together they span everything, so z = 0 where
 * right is 0 or 1 and x solves B^T x = right with C x = below.
 *
 * partial-cyclic has P-s-1 private parts for each slot in front, sent first and
 * needed from everyone, and then n coded parts as here.
 */
#include "code/place/placement_cyclic.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/rng.h"
#include "code/shortest.h"
#include "code/square.h"

/* Multiply-adds of one matrix: some seconds. */
#define DRAW_WORK_MAX 8000000000u
/* The stream of C; any constant serves, H has the draw's own seed. */
#define BORDER_SEED 0x626f72646572u

/* Coded spans come after the private ones. */
static uint32_t coded_span(const struct code *code, uint32_t number)
{
    return code->plain_spans + number % code->slots;
}

uint32_t cyclic_row(const struct code *code, uint32_t slot, uint32_t *spans,
                    uint32_t max)
{
    const uint32_t copies = code->spec.stragglers + 1;

    for (uint32_t k = 0; k < copies && k < max; k++)
        spans[k] = coded_span(code, slot + k);
    return copies;
}

/* Row i of H B^T = 0: x at i+1..i+s with H[:, i+1..i+s] x = -H[:, i].  `h` is
 * column by column: s entries for each of the n columns. */
static enum err solve_row(struct code *code, uint32_t i, const double *h,
                          struct shortest *room)
{
    const uint32_t n = code->slots;
    const uint32_t s = code->spec.stragglers;
    const uint32_t last = code->table.row[i + 1]; /* After private spans. */
    double *value = code->table.value + (last - s - 1);
    enum err err;

    for (uint32_t r = 0; r < s; r++) {
        for (uint32_t k = 0; k < s; k++)
            shortest_row(room, r)[k] = h[(size_t)((i + 1 + k) % n) * s + r];
        room->right[r] = -h[(size_t)i * s + r];
    }
    err = shortest_solve(room, s, s);
    if (err != ERR_OK)
        return err;
    value[0] = 1;
    memcpy(value + 1, room->x, s * sizeof *value);
    return ERR_OK;
}

/* H: n columns of s entries, column by column because columns are solved with;
 * the last is minus the sum of the others, so that H 1 = 0. */
static void draw_h(double *h, uint32_t s, uint32_t n, uint64_t seed)
{
    double *last = h + (size_t)(n - 1) * s;

    memset(last, 0, s * sizeof *last);
    for (uint32_t col = 0; col + 1 < n; col++) {
        for (uint32_t row = 0; row < s; row++) {
            h[(size_t)col * s + row] = rng_normal_at(seed, row, col);
            last[row] -= h[(size_t)col * s + row];
        }
    }
}

static void set_bordered(const struct code *code, const double *h,
                         double *system)
{
    const uint32_t n = code->slots;
    const uint32_t s = code->spec.stragglers;
    const size_t width = (size_t)n + s;

    memset(system, 0, width * width * sizeof *system);
    for (uint32_t i = 0; i < n; i++) {
        const double *value =
            code->table.value + code->table.row[i + 1] - s - 1;

        for (uint32_t k = 0; k <= s; k++)
            system[(i + k) % n * width + i] = value[k];
        for (uint32_t r = 0; r < s; r++) {
            system[i * width + n + r] = h[(size_t)i * s + r];
            system[(n + r) * width + i] = rng_normal_at(BORDER_SEED, r, i);
        }
    }
}

/* Row 0 of the basis is a0, row 1 + k is the null vector with C x = e_k. */
static enum err solve_basis(struct code *code, const double *h, double *system,
                            double *right)
{
    const uint32_t n = code->slots;
    const uint32_t s = code->spec.stragglers;
    const size_t width = (size_t)n + s;
    enum err err;

    set_bordered(code, h, system);
    for (uint32_t row = 0; row <= s; row++) {
        for (uint32_t i = 0; i < n + s; i++)
            right[row * width + i] = row == 0 ? i < n : i + 1 == n + row;
    }
    err = square_solve(system, right, n + s, s + 1);
    if (err != ERR_OK)
        return err;
    for (uint32_t row = 0; row <= s; row++)
        memcpy(code->basis + (size_t)row * n, right + row * width,
               n * sizeof *right);
    basis_orthonormalise(code);
    return ERR_OK;
}

static enum err draw_with(struct code *code, uint32_t draw, double *h,
                          struct shortest *room)
{
    const uint32_t n = code->slots;
    const uint32_t s = code->spec.stragglers;
    const size_t width = (size_t)n + s;
    double *system = mem_new(width * width, sizeof *system);
    double *right = mem_new(width * (s + 1), sizeof *right);
    enum err err = ERR_NOMEM;

    if (system != NULL && right != NULL) {
        err = ERR_OK;
        draw_h(h, s, n, rng_at(code->spec.seed, draw, n));
        for (uint32_t i = 0; i < n && err == ERR_OK; i++)
            err = solve_row(code, i, h, room);
        if (err == ERR_OK)
            err = solve_basis(code, h, system, right);
    }
    mem_free(system);
    mem_free(right);
    return err;
}

enum err cyclic_draw(struct code *code, uint32_t draw)
{
    const uint32_t s = code->spec.stragglers;
    struct shortest room;
    double *h = mem_new((size_t)code->slots * s, sizeof *h);
    enum err err = shortest_init(&room, s);

    if (h == NULL)
        err = ERR_NOMEM;
    if (err == ERR_OK)
        err = draw_with(code, draw, h, &room);
    shortest_close(&room);
    mem_free(h);
    return err;
}

uint64_t cyclic_draw_cost(const struct code *code)
{
    const uint64_t n = code->slots;
    const uint64_t s = code->spec.stragglers;
    const uint64_t order = n + s;

    return order * order * order + n * s * s * s;
}

enum err cyclic_vet(const struct code *code, struct why *why)
{
    const struct code_spec *spec = &code->spec;

    if (cyclic_draw_cost(code) > DRAW_WORK_MAX)
        return why_set(why, ERR_SHAPE,
                       "code %s with %u workers and %u stragglers takes too "
                       "long to set up; use `rep`, which needs no algebra",
                       spec->name, code->slots, spec->stragglers);
    return coded_vet(code, why);
}

const struct placement_ops placement_cyclic = {
    .name = "cyclic",
    .carrier = CARRIER_F64,
    .traits = TRAIT(COPIES),
    .row = cyclic_row,
    .vet = cyclic_vet,
    .folds = coded_folds,
    .draw = cyclic_draw,
    .draw_cost = cyclic_draw_cost,
};

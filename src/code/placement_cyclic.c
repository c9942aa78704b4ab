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
 */
#include "code/axes.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/rng.h"
#include "math/solve.h"

/* Of the s+1 systems of n+s unknowns that one matrix takes: some seconds. */
#define DRAW_WORK_MAX 8000000000u

static uint32_t cyclic_count(const struct code *code)
{
    return code->slots;
}

static uint32_t cyclic_first(const struct code *code, uint32_t span)
{
    (void)code;
    return span;
}

/* A piece is a whole part here, and its owner is the slot of that number. */
static uint32_t cyclic_part(const struct code *code, uint32_t piece)
{
    return code->pieces[piece].owner;
}

static bool cyclic_holds(const struct code *code, uint32_t slot, uint32_t piece)
{
    const uint32_t part = cyclic_part(code, piece);

    return (part + code->slots - slot) % code->slots <= code->spec.stragglers;
}

static double cyclic_coefficient(const struct code *code, uint32_t slot,
                                 uint32_t piece)
{
    return code->matrix[(size_t)slot * code->slots + cyclic_part(code, piece)];
}

static uint32_t cyclic_held(const struct code *code, uint32_t slot,
                            uint32_t *ids, uint32_t max)
{
    uint32_t count = 0;

    for (uint32_t k = 0; k <= code->spec.stragglers; k++) {
        const uint32_t part = (slot + k) % code->slots;
        const uint32_t piece = code_piece_at(code, code_part_first(code, part));

        if (!code_part_empty(code, part))
            count = code_ids(ids, count, max, piece, piece + 1);
    }
    return count;
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

/* Row i of B: 1 at i, and x at i+1..i+s with H[:, i+1..i+s] x = -H[:, i]. */
static enum err solve_row(struct code *code, uint32_t i, const double *h,
                          double *square, double *x)
{
    const uint32_t n = code->slots;
    const uint32_t s = code->spec.stragglers;
    double *row = code->matrix + (size_t)i * n;
    enum err err;

    for (uint32_t r = 0; r < s; r++) {
        for (uint32_t k = 0; k < s; k++)
            square[(size_t)r * s + k] = h[(size_t)((i + 1 + k) % n) * s + r];
        x[r] = -h[(size_t)i * s + r];
    }
    err = s == 0 ? ERR_OK : solve_square(square, x, s);
    if (err != ERR_OK)
        return err;
    row[i] = 1;
    for (uint32_t k = 0; k < s; k++)
        row[(i + 1 + k) % n] = x[k];
    return ERR_OK;
}

enum err cyclic_draw(struct code *code, uint32_t draw)
{
    const uint32_t n = code->slots;
    const uint32_t s = code->spec.stragglers;
    double *h = mem_new((size_t)n * s, sizeof *h);
    double *square = mem_new((size_t)s * s, sizeof *square);
    double *x = mem_new(s, sizeof *x);
    enum err err = ERR_NOMEM;

    if (h == NULL || square == NULL || x == NULL)
        goto out;
    err = ERR_OK;
    memset(code->matrix, 0, (size_t)n * n * sizeof *code->matrix);
    draw_h(h, s, n, rng_at(code->spec.seed, draw, n));
    for (uint32_t i = 0; i < n && err == ERR_OK; i++)
        err = solve_row(code, i, h, square, x);
    if (err == ERR_OK)
        err = decode_prepare(code, h);
out:
    mem_free(x);
    mem_free(square);
    mem_free(h);
    return err;
}

static enum err cyclic_vet(const struct code *code, struct why *why)
{
    const struct code_spec *spec = &code->spec;
    const uint32_t least = code->slots - spec->stragglers;
    const uint64_t order = (uint64_t)code->slots + spec->stragglers;

    if (code->slots > CODE_NUMERIC_MAX)
        return why_set(why, ERR_SHAPE,
                       "code %s serves at most %u workers, not %u; use `rep`",
                       spec->name, CODE_NUMERIC_MAX, code->slots);
    if (order * order * order * (spec->stragglers + 1) > DRAW_WORK_MAX)
        return why_set(why, ERR_SHAPE,
                       "code %s with %u workers and %u stragglers takes too "
                       "long to set up; use `rep`, which needs no algebra",
                       spec->name, code->slots, spec->stragglers);
    if (spec->schedule != SCHED_ALL || spec->estimate != ESTIMATE_EXACT ||
        (spec->stop != STOP_FIRST && spec->stop != STOP_ALL))
        return why_set(why, ERR_SHAPE,
                       "code %s sends one coded vector a worker; it goes only "
                       "with schedule all, stop first:K or all, estimate exact",
                       spec->name);
    if (spec->stop == STOP_FIRST && spec->k < least)
        return why_set(why, ERR_SHAPE,
                       "code %s with %u workers and %u stragglers needs %u "
                       "answers to decode; it cannot stop at %u",
                       spec->name, code->slots, spec->stragglers, least,
                       spec->k);
    return ERR_OK;
}

static enum err cyclic_finish(struct code *code, struct why *why)
{
    enum err err;

    code->matrix =
        mem_new((size_t)code->slots * code->slots, sizeof *code->matrix);
    code->basis = mem_new(((size_t)code->spec.stragglers + 1) * code->slots,
                          sizeof *code->basis);
    if (code->matrix == NULL || code->basis == NULL)
        return ERR_NOMEM;
    err = certify_best(code);
    if (err != ERR_OK)
        return err;
    if (code->certificate.worst_residual <= CODE_RESIDUAL_MAX)
        return ERR_OK;
    return why_set(why, ERR_RANGE,
                   "code %s with %u workers and %u stragglers restores the "
                   "gradient only to %.1e where %.0e is promised; use `rep`, "
                   "which is exact",
                   code->spec.name, code->slots, code->spec.stragglers,
                   code->certificate.worst_residual, CODE_RESIDUAL_MAX);
}

const struct placement_ops placement_cyclic = {
    .name = "cyclic",
    .carrier = CARRIER_F64,
    .span_count = cyclic_count,
    .span_first = cyclic_first,
    .holds = cyclic_holds,
    .coefficient = cyclic_coefficient,
    .held = cyclic_held,
    .vet = cyclic_vet,
    .finish = cyclic_finish,
};

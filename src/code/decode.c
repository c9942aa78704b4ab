/*
 * decode.c - weights that restore the sum from real-coefficient answers.
 *
 * Slot i answered f_i = sum_j B_ij g_j.  Weights a, zero on the slots that are
 * out, with a^T B = 1 give sum_i a_i f_i = sum_j g_j.  All solutions are
 *
 *     a = a0 + L^T mu,     a0^T B = 1,   L B = 0,   L is s x n,
 *
 * so that a pattern of stragglers F asks only for a small system, L_F^T mu =
 * -a0_F: O(s^3 + n s) instead of the O(n (n-s)^2) of a least-squares solution
 * of B_S^T a = 1.  With a0 orthogonal to the orthonormal rows of L the shortest
 * mu gives the shortest a, which amplifies rounding least; that matters when
 * fewer than s slots are out and many solutions exist.
 *
 * The rows a0, L (the basis) come from the placement.  They also fold the
 * answers as they arrive: with y_0 = sum_i a0_i f_i and y_k = sum_i L_ki f_i
 * the sum is y_0 + sum_k mu_k y_k, so that s+1 vectors are kept instead of n,
 * and the end of a step costs s+1 additions of vectors instead of n.
 */
#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "code/axes.h"

static double *basis_row(const struct code *code, uint32_t row)
{
    return code->basis + (size_t)row * code->slots;
}

static double dot(const double *a, const double *b, uint32_t n)
{
    double sum = 0;

    for (uint32_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static void remove_from(double *a, const double *unit, uint32_t n)
{
    const double along = dot(a, unit, n);

    for (uint32_t i = 0; i < n; i++)
        a[i] -= along * unit[i];
}

/* Gram-Schmidt on L, each vector twice because once loses digits where rows
 * are nearly parallel; then a0. */
void basis_orthonormalise(struct code *code)
{
    const uint32_t n = code->slots;
    const uint32_t s = code->folds - 1;

    for (uint32_t row = 1; row <= s + 1; row++) {
        double *a = basis_row(code, row <= s ? row : 0);

        for (uint32_t pass = 0; pass < 2; pass++) {
            for (uint32_t k = 1; k < row; k++)
                remove_from(a, basis_row(code, k), n);
        }
        if (row <= s) {
            const double length = sqrt(dot(a, a, n));

            for (uint32_t i = 0; i < n; i++)
                a[i] /= length;
        }
    }
}

uint32_t coded_folds(const struct code *code)
{
    return code->spec.stragglers + 1;
}

enum err coded_vet(const struct code *code, struct why *why)
{
    const struct code_spec *spec = &code->spec;
    const uint32_t least = code->slots - spec->stragglers;

    if (spec->estimate != ESTIMATE_EXACT ||
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

enum err decoder_new(struct code *code)
{
    const uint32_t s = code->folds > 0 ? code->folds - 1 : 0;
    struct decoder *decoder = mem_new(1, sizeof *decoder);
    enum err err;

    if (decoder == NULL)
        return ERR_NOMEM;
    code->decoder = decoder;
    err = shortest_init(&decoder->room, s);
    decoder->fold = mem_new((size_t)s + 1, sizeof *decoder->fold);
    decoder->out = mem_new(s, sizeof *decoder->out);
    if (err != ERR_OK || decoder->fold == NULL || decoder->out == NULL)
        return ERR_NOMEM;
    return code->folds > 0 ? ERR_OK : least_new(code, &decoder->least);
}

void decoder_free(struct decoder *decoder)
{
    if (decoder == NULL)
        return;
    shortest_close(&decoder->room);
    mem_free(decoder->fold);
    mem_free(decoder->out);
    least_free(decoder->least);
    mem_free(decoder);
}

/* List the slots that are out; false if they are more than s.  A slot without
 * work is never out: its answer, zero, is known. */
static bool list_out(const struct code *code, const bool *slot_in)
{
    struct decoder *decoder = code->decoder;

    decoder->out_count = 0;
    for (uint32_t slot = 0; slot < code->slots; slot++) {
        if (slot_in[slot] || !code->busy[slot])
            continue;
        if (decoder->out_count + 1 >= code->folds)
            return false;
        decoder->out[decoder->out_count++] = slot;
    }
    return true;
}

/* The shortest mu with L_F^T mu = -a0_F. */
static enum err solve_mu(const struct code *code, const double *a0)
{
    struct decoder *decoder = code->decoder;
    const uint32_t s = code->folds - 1;
    enum err err;

    for (uint32_t r = 0; r < decoder->out_count; r++) {
        double *row = shortest_row(&decoder->room, r);

        for (uint32_t k = 0; k < s; k++)
            row[k] = basis_row(code, 1 + k)[decoder->out[r]];
        decoder->room.right[r] = -a0[decoder->out[r]];
    }
    err = shortest_solve(&decoder->room, decoder->out_count, s);
    if (err != ERR_OK)
        return err;
    decoder->fold[0] = 1;
    memcpy(decoder->fold + 1, decoder->room.x, s * sizeof *decoder->fold);
    return ERR_OK;
}

/* a = a0 + L^T mu.  What a slot without work would weigh multiplies zero, so it
 * weighs nothing; a slot that is out weighs nothing but for rounding. */
static void set_weights(const struct code *code, double *weight)
{
    const struct decoder *decoder = code->decoder;
    const uint32_t n = code->slots;

    memset(weight, 0, n * sizeof *weight);
    for (uint32_t k = 0; k < code->folds; k++) {
        const double *row = basis_row(code, k);

        for (uint32_t slot = 0; slot < n; slot++)
            weight[slot] += decoder->fold[k] * row[slot];
    }
    for (uint32_t slot = 0; slot < n; slot++) {
        if (!code->busy[slot])
            weight[slot] = 0;
    }
    for (uint32_t k = 0; k < decoder->out_count; k++)
        weight[decoder->out[k]] = 0;
}

static enum err decode_basis(const struct code *code, const bool *slot_in,
                             double *weight)
{
    enum err err;

    if (!list_out(code, slot_in))
        return ERR_UNDECODABLE;
    err = solve_mu(code, basis_row(code, 0));
    if (err == ERR_OK)
        set_weights(code, weight);
    return err;
}

/* (a^T B)_span. */
static double span_total(const struct code *code, const double *weight,
                         uint32_t span)
{
    const struct code_table *table = &code->table;
    double total = 0;

    for (uint32_t i = table->column[span]; i < table->column[span + 1]; i++)
        total += weight[table->holder[i]] * table->value[table->entry[i]];
    return total;
}

/* An empty span has no gradient to get wrong.  NaN is the worst there is. */
double decode_residual(const struct code *code, const double *weight)
{
    double most = 0;

    for (uint32_t q = code->plain_spans; q < code->span_count; q++) {
        const double error = fabs(span_total(code, weight, q) - 1);

        if (!code_span_empty(code, q) && !(error <= most))
            most = isnan(error) ? HUGE_VAL : error;
    }
    return most;
}

enum err code_decode(const struct code *code, const bool *slot_in,
                     double *weight, double *residual)
{
    const struct placement_ops *place = placement_ops(code->spec.placement);
    enum err err;

    CHECK(code->carrier == CARRIER_F64);
    err = place->decode != NULL ? place->decode(code, slot_in, weight)
                                : decode_basis(code, slot_in, weight);
    if (err == ERR_OK)
        *residual = decode_residual(code, weight);
    return err;
}

const double *code_folds(const struct code *code)
{
    CHECK(code->folds > 0);
    return code->decoder->fold;
}

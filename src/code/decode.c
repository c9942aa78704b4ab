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
 * a0 and L come once for a matrix from the bordered system
 *
 *     [ B^T  H^T ] [ x ]   [ right ]
 *     [  C    0  ] [ z ] = [ below ]
 *
 * with H the matrix B was made from and C any s x n matrix.  The rows of B are
 * orthogonal to those of H and together they span everything, so z = 0 where
 * right is 0 or 1 and x solves B^T x = right with C x = below.
 */
#include "code/axes.h"

#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/rng.h"
#include "math/solve.h"

/* The stream of C; any constant serves, H has the draw's own seed. */
#define BORDER_SEED 0x626f72646572u

static double *basis_row(const struct code *code, uint32_t row)
{
    return code->basis + (size_t)row * code->slots;
}

/* `h` is column by column: s entries for each of the n columns. */
static void set_bordered(const struct code *code, const double *h,
                         double *system)
{
    const uint32_t n = code->slots;
    const uint32_t s = code->spec.stragglers;
    const size_t width = (size_t)n + s;

    memset(system, 0, width * width * sizeof *system);
    for (uint32_t j = 0; j < n; j++) {
        for (uint32_t i = 0; i < n; i++)
            system[j * width + i] = code->matrix[(size_t)i * n + j];
        for (uint32_t r = 0; r < s; r++) {
            system[j * width + n + r] = h[(size_t)j * s + r];
            system[(n + r) * width + j] = rng_normal_at(BORDER_SEED, r, j);
        }
    }
}

/* Row 0 of the basis is a0, row 1 + k is the null vector with C x = e_k. */
static enum err solve_basis(struct code *code, const double *h, double *system,
                            double *right)
{
    const uint32_t n = code->slots;
    const uint32_t s = code->spec.stragglers;

    for (uint32_t row = 0; row <= s; row++) {
        enum err err;

        set_bordered(code, h, system);
        for (uint32_t i = 0; i < n + s; i++)
            right[i] = row == 0 ? i < n : i + 1 == n + row;
        err = solve_square(system, right, n + s);
        if (err != ERR_OK)
            return err;
        memcpy(basis_row(code, row), right, n * sizeof *right);
    }
    return ERR_OK;
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
static void orthonormalise(struct code *code)
{
    const uint32_t n = code->slots;
    const uint32_t s = code->spec.stragglers;

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

enum err decode_prepare(struct code *code, const double *h)
{
    const size_t width = (size_t)code->slots + code->spec.stragglers;
    double *system = mem_new(width * width, sizeof *system);
    double *right = mem_new(width, sizeof *right);
    enum err err = ERR_NOMEM;

    if (system != NULL && right != NULL)
        err = solve_basis(code, h, system, right);
    if (err == ERR_OK)
        orthonormalise(code);
    mem_free(system);
    mem_free(right);
    return err;
}

enum err decoder_init(struct decoder *decoder, const struct code *code)
{
    const size_t s = code->spec.stragglers;

    decoder->code = code;
    decoder->system = mem_new(s * s, sizeof *decoder->system);
    decoder->mu = mem_new(s, sizeof *decoder->mu);
    decoder->out = mem_new(s, sizeof *decoder->out);
    if (decoder->system == NULL || decoder->mu == NULL || decoder->out == NULL)
        return ERR_NOMEM;
    return ERR_OK;
}

void decoder_close(struct decoder *decoder)
{
    mem_free(decoder->system);
    mem_free(decoder->mu);
    mem_free(decoder->out);
    *decoder = (struct decoder){0};
}

/* List the slots that are out; false if they are more than s.  A slot without
 * work is never out: its answer, zero, is known. */
static bool list_out(struct decoder *decoder, const bool *slot_in)
{
    const struct code *code = decoder->code;

    decoder->out_count = 0;
    for (uint32_t slot = 0; slot < code->slots; slot++) {
        if (slot_in[slot] || !code->busy[slot])
            continue;
        if (decoder->out_count == code->spec.stragglers)
            return false;
        decoder->out[decoder->out_count++] = slot;
    }
    return true;
}

/* The shortest mu with L_F^T mu = -a0_F. */
static enum err solve_mu(struct decoder *decoder)
{
    const struct code *code = decoder->code;
    const uint32_t s = code->spec.stragglers;
    const uint32_t rows = decoder->out_count;

    for (uint32_t r = 0; r < s; r++)
        decoder->mu[r] = 0;
    if (rows == 0)
        return ERR_OK;
    for (uint32_t r = 0; r < rows; r++) {
        for (uint32_t k = 0; k < s; k++)
            decoder->system[(size_t)r * s + k] =
                basis_row(code, 1 + k)[decoder->out[r]];
        decoder->mu[r] = -basis_row(code, 0)[decoder->out[r]];
    }
    if (rows == s)
        return solve_square(decoder->system, decoder->mu, s);
    return solve_least_squares(decoder->system, decoder->mu, rows, s);
}

/* a = a0 + L^T mu.  What a slot without work would weigh multiplies zero, so it
 * weighs nothing; a slot that is out weighs nothing but for rounding. */
static void set_weights(const struct decoder *decoder, double *weight)
{
    const struct code *code = decoder->code;
    const uint32_t n = code->slots;

    memcpy(weight, basis_row(code, 0), n * sizeof *weight);
    for (uint32_t k = 0; k < code->spec.stragglers; k++) {
        const double *unit = basis_row(code, 1 + k);

        for (uint32_t slot = 0; slot < n; slot++)
            weight[slot] += decoder->mu[k] * unit[slot];
    }
    for (uint32_t slot = 0; slot < n; slot++) {
        if (!code->busy[slot])
            weight[slot] = 0;
    }
    for (uint32_t k = 0; k < decoder->out_count; k++)
        weight[decoder->out[k]] = 0;
}

/* (a^T B)_part; the holders of a part are the s+1 slots up to it. */
static double part_total(const struct code *code, const double *weight,
                         uint32_t part)
{
    const uint32_t n = code->slots;
    double total = 0;

    for (uint32_t k = 0; k <= code->spec.stragglers; k++) {
        const uint32_t slot = (part + n - k) % n;

        total += weight[slot] * code->matrix[(size_t)slot * n + part];
    }
    return total;
}

/* max |a^T B - 1|; an empty part has no gradient to get wrong.  NaN is the
 * worst there is. */
static double worst_error(const struct code *code, const double *weight)
{
    double most = 0;

    for (uint32_t part = 0; part < code->slots; part++) {
        const double error = fabs(part_total(code, weight, part) - 1);

        if (!code_part_empty(code, part) && !(error <= most))
            most = isnan(error) ? HUGE_VAL : error;
    }
    return most;
}

enum err decoder_run(struct decoder *decoder, const bool *slot_in,
                     double *weight, double *residual)
{
    enum err err;

    if (!list_out(decoder, slot_in))
        return ERR_UNDECODABLE;
    err = solve_mu(decoder);
    if (err != ERR_OK)
        return err;
    set_weights(decoder, weight);
    *residual = worst_error(decoder->code, weight);
    return ERR_OK;
}

/*
 * certify.c - how well a cyclic matrix restores the sum, tried beforehand.
 *
 * Every n-s rows of a random B span the right space almost surely, but some
 * patterns of stragglers are so close to singular that the sum comes back with
 * an error far above rounding: 5e-9 was seen at n = 50, s = 5.  So several
 * matrices are drawn, each is decoded with the stragglers of every pattern
 * (all C(n,s) if they are few; otherwise every run of s neighbours, which is a
 * rack, and as many random ones as fit), and the best is kept together with
 * what was seen.  A draw is given up as soon as it is worse than the best.
 *
 * The work is bounded by counting operations, not by a clock: the same build
 * on the same machine always tries the same patterns.
 */
#include "code/axes.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"

#define DRAWS_MAX     2000u
#define PATTERNS_MAX  100000u
#define WORK_MAX      1000000000u /* Multiply-adds; about a second. */
#define PATTERN_WORK  2000u /* Calls and set-up of one, in the same unit. */
#define RESIDUAL_GOOD (CODE_RESIDUAL_MAX / 4)

struct trial {
    struct code *code;
    struct decoder decoder;
    uint32_t *out; /* s straggling slots, ascending. */
    bool *in;      /* The complement. */
    double *weight;
    struct rng rng;
    uint32_t patterns; /* For each draw. */
    bool exhaustive;
    uint64_t draw_cost; /* Of making one matrix. */
    uint64_t cost;      /* Of decoding one pattern. */
    uint64_t spent;
};

/* C(n, s), or anything above `cap` once it is larger. */
static uint64_t choose(uint32_t n, uint32_t s, uint64_t cap)
{
    uint64_t count = 1;

    for (uint32_t k = 1; k <= s && count <= cap; k++)
        count = count * (n - s + k) / k;
    return count;
}

/* A tenth of the work for one draw, so that there are some to choose from, but
 * never fewer than the runs of neighbours. */
static void plan_patterns(struct trial *trial)
{
    const uint64_t n = trial->code->slots;
    const uint64_t s = trial->code->spec.stragglers;
    const uint64_t all = choose((uint32_t)n, (uint32_t)s, PATTERNS_MAX);
    uint64_t fit;

    trial->draw_cost = (s + 1) * (n + s) * (n + s) * (n + s) / 3;
    trial->cost = s * s * s + 4 * n * (s + 1) + PATTERN_WORK;
    fit = WORK_MAX / 10 / trial->cost;
    fit = fit > PATTERNS_MAX ? PATTERNS_MAX : fit < n ? n : fit;
    trial->exhaustive = all <= fit;
    trial->patterns = (uint32_t)(trial->exhaustive ? all : fit);
}

static enum err trial_init(struct trial *trial, struct code *code)
{
    const enum err err = decoder_init(&trial->decoder, code);

    trial->code = code;
    trial->out = mem_new(code->spec.stragglers, sizeof *trial->out);
    trial->in = mem_new(code->slots, sizeof *trial->in);
    trial->weight = mem_new(code->slots, sizeof *trial->weight);
    if (err != ERR_OK || trial->out == NULL || trial->in == NULL ||
        trial->weight == NULL)
        return ERR_NOMEM;
    plan_patterns(trial);
    return ERR_OK;
}

static void trial_close(struct trial *trial)
{
    decoder_close(&trial->decoder);
    mem_free(trial->out);
    mem_free(trial->in);
    mem_free(trial->weight);
}

/* The next s-subset of n in lexicographic order, from 0..s-1 on. */
static void next_subset(uint32_t *out, uint32_t s, uint32_t n)
{
    uint32_t i = s;

    while (i > 0 && out[i - 1] == n - s + i - 1)
        i--;
    if (i == 0)
        return;
    out[i - 1]++;
    for (uint32_t k = i; k < s; k++)
        out[k] = out[k - 1] + 1;
}

static void set_listed(struct trial *trial, uint32_t number)
{
    const uint32_t s = trial->code->spec.stragglers;
    const uint32_t n = trial->code->slots;

    if (number == 0) {
        for (uint32_t k = 0; k < s; k++)
            trial->out[k] = k;
    } else {
        next_subset(trial->out, s, n);
    }
    memset(trial->in, true, n * sizeof *trial->in);
    for (uint32_t k = 0; k < s; k++)
        trial->in[trial->out[k]] = false;
}

/* Pattern `number` of a sample: first the n runs of neighbours. */
static void set_sampled(struct trial *trial, uint32_t number)
{
    const uint32_t s = trial->code->spec.stragglers;
    const uint32_t n = trial->code->slots;
    uint32_t left = s;

    memset(trial->in, true, n * sizeof *trial->in);
    for (uint32_t k = 0; number < n && k < s; k++)
        trial->in[(number + k) % n] = false;
    while (number >= n && left > 0) {
        const uint32_t slot = (uint32_t)rng_below(&trial->rng, n);

        left -= trial->in[slot];
        trial->in[slot] = false;
    }
}

/* sum_i |a_i| |B_i|_1 / n: how much rounding of the answers can grow. */
static double amplification(const struct code *code, const double *weight)
{
    const uint32_t n = code->slots;
    double total = 0;

    for (uint32_t slot = 0; slot < n; slot++) {
        for (uint32_t k = 0; k <= code->spec.stragglers; k++) {
            const size_t part = (slot + k) % n;

            total += fabs(weight[slot] * code->matrix[slot * (size_t)n + part]);
        }
    }
    return total / n;
}

static enum err try_pattern(struct trial *trial, uint32_t number,
                            struct certificate *seen)
{
    double residual;
    double grows;
    enum err err;

    if (trial->exhaustive)
        set_listed(trial, number);
    else
        set_sampled(trial, number);
    trial->spent += trial->cost;
    err = decoder_run(&trial->decoder, trial->in, trial->weight, &residual);
    if (err == ERR_UNDECODABLE)
        residual = HUGE_VAL;
    else if (err != ERR_OK)
        return err;
    grows =
        err == ERR_OK ? amplification(trial->code, trial->weight) : HUGE_VAL;
    if (residual > seen->worst_residual)
        seen->worst_residual = residual;
    if (grows > seen->worst_amplification)
        seen->worst_amplification = grows;
    seen->patterns++;
    return ERR_OK;
}

/* The certificate of one draw, cut short once it cannot beat `best`. */
static enum err try_draw(struct trial *trial, uint32_t draw, double best,
                         struct certificate *seen)
{
    enum err err = cyclic_draw(trial->code, draw);

    *seen = (struct certificate){.exhaustive = trial->exhaustive};
    trial->spent += trial->draw_cost;
    if (err == ERR_UNDECODABLE) { /* H was singular: not a code. */
        seen->worst_residual = HUGE_VAL;
        return ERR_OK;
    }
    rng_init(&trial->rng, trial->code->spec.seed);
    for (uint32_t i = 0;
         i < trial->patterns && err == ERR_OK && seen->worst_residual < best;
         i++)
        err = try_pattern(trial, i, seen);
    return err;
}

static bool may_draw(const struct trial *trial, uint32_t draw)
{
    if (trial->code->certificate.worst_residual <= RESIDUAL_GOOD)
        return false;
    return draw < DRAWS_MAX &&
           trial->spent + trial->draw_cost + trial->cost * trial->patterns <=
               WORK_MAX;
}

static enum err search(struct trial *trial, uint32_t *chosen)
{
    struct certificate *best = &trial->code->certificate;
    struct certificate seen;

    best->worst_residual = HUGE_VAL;
    for (uint32_t draw = 0; draw == 0 || may_draw(trial, draw); draw++) {
        const enum err err = try_draw(trial, draw, best->worst_residual, &seen);

        if (err != ERR_OK)
            return err;
        if (seen.worst_residual < best->worst_residual) {
            *best = seen;
            *chosen = draw;
        }
    }
    return ERR_OK;
}

enum err certify_best(struct code *code)
{
    struct trial trial = {0};
    uint32_t chosen = 0;
    enum err err = trial_init(&trial, code);

    if (err == ERR_OK)
        err = search(&trial, &chosen);
    if (err == ERR_OK && code->certificate.worst_residual < HUGE_VAL)
        err = cyclic_draw(code, chosen);
    trial_close(&trial);
    return err;
}

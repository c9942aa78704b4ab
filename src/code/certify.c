/*
 * certify.c - how well coefficients restore the sum, tried beforehand.
 *
 * Random coefficients can be undone almost surely, but some patterns of
 * stragglers are so close to singular that the sum comes back with an error far
 * above rounding: 5e-9 was seen at n = 50, s = 5.  So several are drawn, each
 * is decoded with the stragglers of every pattern (all C(n,s) if they are no
 * more than 1e5; otherwise runs of s neighbours, which are racks, and as many
 * random ones as fit), and the best is kept together with what was seen.  A
 * draw is given up as soon as it is worse than the best.
 *
 * A code of data (mds) restores every part, not their sum: its residual is the
 * largest of those that are missing.
 *
 * The work is bounded by counting operations, not by a clock: the same build
 * on the same machine always tries the same patterns.  What came of it is
 * remembered in the spec's memory, if it has one.
 */
#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/rng.h"
#include "code/axes.h"

#define DRAWS_MAX     2000u
#define PATTERNS_MAX  100000u
#define WORK_MAX      2500000000u /* Multiply-adds; less than 5 s. */
#define WORK_QUICK    200000000u
#define PATTERN_WORK  500u /* Calls and set-up of one, in the same unit. */
#define NORMAL_WORK   30u  /* One normal number. */
#define RESIDUAL_GOOD (CODE_RESIDUAL_MAX / 4)

struct trial {
    struct code *code;
    uint32_t *out; /* s straggling slots, ascending. */
    bool *in;      /* The complement. */
    double *weight;
    struct rng rng;
    uint32_t patterns; /* For each draw. */
    bool exhaustive;
    uint64_t draw_cost; /* Of making one set of coefficients. */
    uint64_t cost;      /* Of decoding one pattern. */
    uint64_t budget, spent;
};

/* C(n, s), or anything above `cap` once it is larger. */
static uint64_t choose(uint32_t n, uint32_t s, uint64_t cap)
{
    uint64_t count = 1;

    for (uint32_t k = 1; k <= s && count <= cap; k++)
        count = count * (n - s + k) / k;
    return count;
}

static uint64_t draw_cost(const struct code *code)
{
    const uint64_t n = code->slots;
    const uint64_t s = code->spec.stragglers;
    const struct placement_ops *place = placement_ops(code->spec.placement);

    if (place->draw_cost != NULL)
        return place->draw_cost(code);
    return ((uint64_t)code->span_count * (s + 1) + n) * (s + 1) *
           (s + 1 + NORMAL_WORK);
}

static uint64_t pattern_cost(const struct code *code)
{
    const uint64_t n = code->slots;
    const uint64_t s = code->spec.stragglers;

    if (code_spec_products(&code->spec)) /* Of parts that are missing. */
        return PATTERN_WORK + 3 * s * s * s + 3 * s * s * code->parts;
    if (code->folds ==
        0) /* Least squares, by a library that does 16 at once. */
        return PATTERN_WORK + n * n * code->span_count / 16;
    return PATTERN_WORK + 3 * s * s * s + 3 * n * (s + 1) +
           4 * (uint64_t)code->table.count;
}

/* All patterns if they are few; if not, a tenth of the work for one draw, so
 * that there are some to choose from. */
static void plan_patterns(struct trial *trial)
{
    const struct code *code = trial->code;
    const uint64_t all =
        choose(code->slots, code->spec.stragglers, PATTERNS_MAX);
    uint64_t fit;

    trial->budget = code->spec.quick ? WORK_QUICK : WORK_MAX;
    trial->draw_cost = draw_cost(code);
    trial->cost = pattern_cost(code);
    fit = trial->budget / (code->folds == 0 ? 1 : 10) / trial->cost;
    fit = fit > PATTERNS_MAX ? PATTERNS_MAX : fit < 1 ? 1 : fit;
    trial->exhaustive = all <= PATTERNS_MAX &&
                        (all <= fit || all * trial->cost <= trial->budget);
    trial->patterns = (uint32_t)(trial->exhaustive ? all : fit);
}

static enum err trial_init(struct trial *trial, struct code *code)
{
    trial->code = code;
    trial->out = mem_new(code->spec.stragglers, sizeof *trial->out);
    trial->in = mem_new(code->slots, sizeof *trial->in);
    trial->weight = mem_new(code->slots, sizeof *trial->weight);
    if (trial->out == NULL || trial->in == NULL || trial->weight == NULL)
        return ERR_NOMEM;
    plan_patterns(trial);
    return ERR_OK;
}

static void trial_close(struct trial *trial)
{
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

/* Pattern `number` of a sample: the runs of neighbours take at most half. */
static void set_sampled(struct trial *trial, uint32_t number)
{
    const uint32_t s = trial->code->spec.stragglers;
    const uint32_t n = trial->code->slots;
    const uint32_t half = trial->patterns / 2 + 1;
    const uint32_t runs = n < half ? n : half;
    uint32_t left = s;

    memset(trial->in, true, n * sizeof *trial->in);
    for (uint32_t k = 0; number < runs && k < s; k++)
        trial->in[((uint64_t)number * n / runs + k) % n] = false;
    while (number >= runs && left > 0) {
        const uint32_t slot = (uint32_t)rng_below(&trial->rng, n);

        left -= trial->in[slot];
        trial->in[slot] = false;
    }
}

/* sum_i |a_i| |B_i|_1 / coded spans: how much rounding of the answers can
 * grow. */
static double amplification(const struct code *code, const double *weight)
{
    const struct code_table *table = &code->table;
    double total = 0;

    for (uint32_t slot = 0; slot < code->slots; slot++) {
        for (uint32_t i = table->row[slot]; i < table->row[slot + 1]; i++) {
            if (table->span[i] >= code->plain_spans)
                total += fabs(weight[slot] * table->value[i]);
        }
    }
    return total / (code->span_count - code->plain_spans);
}

/* How the sum comes of those who answered. */
static enum err try_sum(struct trial *trial, double *residual, double *grows)
{
    const enum err err =
        code_decode(trial->code, trial->in, trial->weight, residual);

    if (err == ERR_OK)
        *grows = amplification(trial->code, trial->weight);
    return err;
}

/* ... or, of coded data, each part. */
static enum err try_parts(const struct trial *trial, double *residual,
                          double *grows)
{
    const struct erasure_set *set;
    const enum err err = blocks_pick(trial->code, trial->in, &set);

    if (err == ERR_OK) {
        *residual = set->residual;
        *grows = set->amplification;
    }
    return err;
}

static enum err try_pattern(struct trial *trial, uint32_t number,
                            struct certificate *seen)
{
    double residual = HUGE_VAL;
    double grows = HUGE_VAL;
    enum err err;

    if (trial->exhaustive)
        set_listed(trial, number);
    else
        set_sampled(trial, number);
    trial->spent += trial->cost;
    err = code_spec_products(&trial->code->spec)
              ? try_parts(trial, &residual, &grows)
              : try_sum(trial, &residual, &grows);
    if (err != ERR_OK && err != ERR_UNDECODABLE)
        return err;
    if (residual > seen->worst_residual)
        seen->worst_residual = residual;
    if (grows > seen->worst_amplification)
        seen->worst_amplification = grows;
    seen->patterns++;
    return ERR_OK;
}

static enum err draw_number(struct code *code, uint32_t draw)
{
    return placement_ops(code->spec.placement)->draw(code, draw);
}

/* The certificate of one draw, cut short once it cannot beat `best`. */
static enum err try_draw(struct trial *trial, uint32_t draw, double best,
                         struct certificate *seen)
{
    enum err err = draw_number(trial->code, draw);

    *seen = (struct certificate){.exhaustive = trial->exhaustive};
    trial->spent += trial->draw_cost;
    if (err == ERR_UNDECODABLE) { /* Singular: not a code. */
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
    if (placement_ops(trial->code->spec.placement)->fixed ||
        trial->code->certificate.worst_residual <= RESIDUAL_GOOD)
        return false;
    return draw < DRAWS_MAX &&
           trial->spent + trial->draw_cost + trial->cost * trial->patterns <=
               trial->budget;
}

/* A fixed matrix has one certificate, to its end, whatever it says. */
static enum err search(struct trial *trial, uint32_t *chosen)
{
    const bool fixed = placement_ops(trial->code->spec.placement)->fixed;
    struct certificate *best = &trial->code->certificate;
    struct certificate seen;

    best->worst_residual = HUGE_VAL;
    for (uint32_t draw = 0; draw == 0 || may_draw(trial, draw); draw++) {
        const enum err err = try_draw(
            trial, draw, fixed ? HUGE_VAL : best->worst_residual, &seen);

        if (err != ERR_OK)
            return err;
        if (draw == 0 || seen.worst_residual < best->worst_residual) {
            *best = seen;
            *chosen = draw;
        }
    }
    return ERR_OK;
}

/* --- memory -------------------------------------------------------------- */

/* Everything that the coefficients and the empty spans depend on. */
static uint64_t memo_key(const struct code *code)
{
    const struct code_spec *spec = &code->spec;
    const struct code_matrix *matrix = spec->matrix;
    const uint32_t numbers[] = {
        (uint32_t)spec->placement,
        (uint32_t)spec->stop,
        (uint32_t)spec->decoding,
        code->slots,
        spec->stragglers,
        spec->k,
        code->parts,
        code->span_count,
        spec->replicas,
        spec->result,
        (uint32_t)spec->seed,
        (uint32_t)(spec->seed >> 32),
        code->chunks < code->parts ? code->chunks : 0,
    };
    struct hasher hasher;
    struct digest digest;

    hasher_init(&hasher);
    hasher_add(&hasher, numbers, sizeof numbers);
    if (spec->speed != NULL)
        hasher_add_f64(&hasher, spec->speed, spec->speeds);
    if (matrix != NULL)
        hasher_add_f64(&hasher, matrix->entry,
                       (size_t)matrix->rows * matrix->cols);
    digest = hasher_end(&hasher);
    return digest_short(&digest);
}

/* One made in a hurry is good enough for whoever is in a hurry. */
static const struct code_memo *recall(const struct code_spec *spec,
                                      uint64_t key)
{
    const struct code_memory *memory = spec->memory;
    const uint32_t kept = memory == NULL               ? 0
                          : memory->count < CODE_MEMOS ? memory->count
                                                       : CODE_MEMOS;

    for (uint32_t i = 0; i < kept; i++) {
        if (memory->memo[i].key == key &&
            (spec->quick || !memory->memo[i].quick))
            return &memory->memo[i];
    }
    return NULL;
}

static void remember(const struct code *code, uint64_t key, uint32_t draw)
{
    struct code_memory *memory = code->spec.memory;

    if (memory != NULL)
        memory->memo[memory->count++ % CODE_MEMOS] =
            (struct code_memo){key, draw, code->spec.quick, code->certificate};
}

enum err certify_best(struct code *code)
{
    const uint64_t key = memo_key(code);
    const struct code_memo *memo = recall(&code->spec, key);
    struct trial trial = {0};
    uint32_t chosen = 0;
    enum err err;

    if (memo != NULL) {
        code->certificate = memo->certificate;
        return draw_number(code, memo->draw);
    }
    err = trial_init(&trial, code);
    if (err == ERR_OK)
        err = search(&trial, &chosen);
    if (err == ERR_OK)
        err = draw_number(code, chosen);
    if (err == ERR_OK)
        remember(code, key, chosen);
    trial_close(&trial);
    return err;
}

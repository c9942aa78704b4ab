/*
 * error.c - how far a step is off when some slots are silent.
 *
 * Every chunk ends up in the update with some factor c; 1 is right, 0 is
 * missing.  The error of a step is the mean of (c-1)^2 over the chunks: for
 * plain sums the share that is missing, for coded ones |a^T B - 1|^2 over the
 * parts, for both what Charles et al., "Approximate gradient coding via sparse
 * random graphs", 2017, divide by the number of parts.  A part that a sample
 * stands for has no such factor.
 */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "code/axes.h"

static uint32_t span_chunks(const struct code *code, uint32_t span)
{
    return code_part_first(code, code_span_first(code, span + 1)) -
           code_part_first(code, code_span_first(code, span));
}

static double coded_factor(const struct code *code, uint32_t span,
                           const double *weight)
{
    const struct code_table *table = &code->table;
    double total = 0;

    for (uint32_t i = table->column[span]; i < table->column[span + 1]; i++)
        total += weight[table->holder[i]] * table->value[table->entry[i]];
    return total;
}

/* Plain sums: all are multiplied by the same number. */
static double plain_factor(const struct code *code, const bool *slot_in)
{
    uint64_t chunks = 0;

    for (uint32_t q = 0; q < code->plain_spans; q++) {
        if (table_covers(&code->table, q, slot_in))
            chunks += span_chunks(code, q);
    }
    return code->carrier == CARRIER_F64
               ? 1
               : code_rescale(code, chunks, code->chunks);
}

/* Of parts, of which some may be missing: what came counts alike. */
static double missing_error(const struct code *code, uint64_t chunks_in)
{
    const double factor = code_rescale(code, chunks_in, code->samples);
    const double in = (double)chunks_in;

    return ((code->samples - in) + in * (factor - 1) * (factor - 1)) /
           code->samples;
}

/* NaN: a sample stands for a part, and how well it does is the rows' affair. */
static enum err sampled_error(const struct code *code, const bool *slot_in,
                              double *error)
{
    const enum estimate estimate = code->spec.estimate;
    const uint32_t primaries = code_primaries(code);
    uint64_t chunks_in = 0;

    for (uint32_t p = 0; p < primaries; p++) {
        const uint32_t chunks = span_chunks(code, p);

        if (chunks == 0 || table_covers(&code->table, p, slot_in))
            chunks_in += chunks;
        else if (!table_covers(&code->table, primaries + p, slot_in))
            return ERR_UNDECODABLE; /* A step waits for either. */
    }
    if (estimate == ESTIMATE_REFERENCE || estimate == ESTIMATE_RATIO)
        *error = missing_error(code, chunks_in);
    else
        *error = chunks_in == code->samples ? 0 : (double)NAN;
    return ERR_OK;
}

enum err code_error(const struct code *code, const bool *slot_in,
                    double *weight, double *error)
{
    double factor;
    double total = 0;
    double residual;
    enum err err = ERR_OK;

    if (code_spec_sampled(&code->spec))
        return sampled_error(code, slot_in, error);
    if (code->carrier == CARRIER_F64)
        err = code_decode(code, slot_in, weight, &residual);
    if (err != ERR_OK)
        return err;
    factor = plain_factor(code, slot_in);
    for (uint32_t q = 0; q < code->span_count; q++) {
        const double c = q >= code->plain_spans ? coded_factor(code, q, weight)
                         : table_covers(&code->table, q, slot_in) ? factor
                                                                  : 0;

        total += span_chunks(code, q) * (c - 1) * (c - 1);
    }
    *error = total / code->chunks;
    return ERR_OK;
}

/* `silent` slots at random are out. */
static void draw_silent(struct rng *rng, bool *in, uint32_t n, uint32_t silent)
{
    memset(in, true, n * sizeof *in);
    while (silent > 0) {
        const uint32_t slot = (uint32_t)rng_below(rng, n);

        silent -= in[slot];
        in[slot] = false;
    }
}

enum err code_expected_error(const struct code *code, uint32_t silent,
                             uint32_t samples, double *mean)
{
    bool *in = mem_new(code->slots, sizeof *in);
    double *weight = mem_new(code->slots, sizeof *weight);
    struct rng rng;
    double total = 0;
    enum err err = in == NULL || weight == NULL ? ERR_NOMEM : ERR_OK;

    rng_init(&rng, code->spec.seed);
    for (uint32_t i = 0; i < samples && err == ERR_OK; i++) {
        double error = 0;

        draw_silent(&rng, in, code->slots, silent);
        err = code_error(code, in, weight, &error);
        if (err == ERR_UNDECODABLE) { /* Then nothing of it is used. */
            error = 1;
            err = ERR_OK;
        }
        total += error;
    }
    mem_free(in);
    mem_free(weight);
    if (err == ERR_OK)
        *mean = total / samples;
    return err;
}

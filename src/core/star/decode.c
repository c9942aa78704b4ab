/*
 * decode.c - what the answers of a round come to: sums, and what the receipt
 * says of them.
 */
#include <string.h>

#include "base/check.h"
#include "core/star/coordinator_parts.h"

/* Which rows a step's chunks have; of all of them the job says it. */
static struct sampler sampler_in(const struct coordinator *c)
{
    const struct job *job = &c->options.job;

    return c->options.optim.sampler.kind == SAMPLER_WHOLE
               ? (struct sampler){.rows = job->rows,
                                  .chunk_rows = job->chunk_rows}
               : c->options.optim.sampler;
}

/* Rows of the step at hand. */
static uint64_t rows_wanted(const struct coordinator *c)
{
    const struct sampler sampler = sampler_in(c);

    return sampler_rows(&sampler, c->key.step);
}

/* Those of them behind what was merged. */
static uint64_t rows_in(const struct coordinator *c)
{
    const struct chunkset *chunks = &c->tally.chunks;
    const struct sampler sampler = sampler_in(c);
    uint64_t rows = 0;

    if (chunkset_full(chunks))
        return rows_wanted(c);
    if (homes_on(c) && sampler.kind == SAMPLER_WHOLE)
        return homes_rows(c, chunks);
    for (uint32_t chunk = chunkset_next(chunks, 0); chunk < chunks->count;
         chunk = chunkset_next(chunks, chunk + 1))
        rows += sampler_chunk_rows(&sampler, c->key.step, chunk);
    return rows;
}

/* TALLY-5: rescaled once, in fp64, after the merge. */
static void decode_tally(struct coordinator *c, struct total *out)
{
    out->chunks = c->tally.chunks.members;
    out->answered = c->slots_in;
    out->rescale = code_rescale(&c->code, rows_in(c), rows_wanted(c));
    /* An unbiased estimate is one even when all is in. */
    out->exactness = chunkset_full(&c->tally.chunks) && out->rescale == 1
                         ? EXACT_BITWISE
                         : EXACT_APPROX;
    if (c->decoding.done) {
        out->in_bound = c->decoding.good;
    } else {
        tally_fill(&c->tally);
        out->in_bound =
            tally_gradient(&c->tally, c->trainer.exponent, c->gradient);
    }
    out->loss = tally_loss_value(&c->tally, c->trainer.exponent);
    if (out->exactness == EXACT_BITWISE)
        return;
    for (uint32_t j = 0; j < c->tally.dims; j++)
        c->gradient[j] *= out->rescale;
    out->loss *= out->rescale;
}

static void add_coded(struct coordinator *c, const double *weight,
                      uint32_t count, const bool *in)
{
    const size_t width = (size_t)c->tally.dims + 1;

    for (uint32_t i = 0; i < count; i++) {
        const double *answer = c->coded + i * width;

        if (weight[i] == 0 || (in != NULL && !in[i]))
            continue;
        for (size_t j = 0; j < width; j++)
            c->gradient[j] += weight[i] * answer[j];
    }
}

/* ... behind a slot's answer. */
static uint64_t rows_of(const struct coordinator *c, uint32_t slot)
{
    const struct sampler sampler = sampler_in(c);
    const uint32_t count =
        code_work(&c->code, slot, c->ids, c->code.piece_count);
    uint64_t rows = 0;

    for (uint32_t i = 0; i < count; i++) {
        const struct piece *piece = &c->code.pieces[c->ids[i]];

        for (uint32_t chunk = piece->first; chunk < piece->end; chunk++)
            rows += sampler_chunk_rows(&sampler, c->key.step, chunk);
    }
    return rows;
}

/* The mean over the rows that took part, in the order of the slots.  A part
 * that is missing is missing from this mean alone; the receipt says which. */
static void decode_mean(struct coordinator *c, struct total *out)
{
    uint64_t rows = 0;

    out->chunks = code_covered(&c->code, c->piece_in, c->slot_in);
    out->answered = c->slots_in;
    out->exactness = EXACT_APPROX;
    for (uint32_t slot = 0; slot < c->code.slots; slot++)
        rows += c->slot_in[slot] ? rows_of(c, slot) : 0;
    CHECK(rows > 0);
    out->rescale = code_rescale(&c->code, rows, rows_wanted(c));
    for (uint32_t slot = 0; slot < c->code.slots; slot++)
        c->decode[slot] = (double)rows_of(c, slot) / (double)rows;
    memset(c->gradient, 0, ((size_t)c->tally.dims + 1) * sizeof *c->gradient);
    add_coded(c, c->decode, c->code.slots, c->slot_in);
    out->loss = c->gradient[c->tally.dims];
}

/* What came as tallies, then the coded answers by their weights. */
static enum err decode_coded(struct coordinator *c, struct total *out)
{
    const struct code *code = &c->code;
    const uint32_t dims = c->tally.dims;
    enum err err = code_decode(code, c->slot_in, c->decode, &out->residual);

    if (err != ERR_OK)
        return err;
    tally_fill(&c->tally);
    out->in_bound = tally_gradient(&c->tally, c->trainer.exponent, c->gradient);
    c->gradient[dims] = tally_loss_value(&c->tally, c->trainer.exponent);
    if (code->folds > 0)
        add_coded(c, code_folds(code), code->folds, NULL);
    else
        add_coded(c, c->decode, code->slots, c->slot_in);
    out->loss = c->gradient[dims];
    out->exactness =
        out->residual <= CODE_RESIDUAL_MAX ? EXACT_NUMERIC : EXACT_APPROX;
    out->answered = c->slots_in;
    out->chunks = out->exactness == EXACT_NUMERIC
                      ? c->options.job.chunks
                      : code_covered(code, c->piece_in, c->slot_in);
    out->rescale = 1;
    return ERR_OK;
}

/* The sum of the coded answers that came, each at the weights it was computed
 * at, in the order of the slots. */
static void decode_stale(struct coordinator *c, struct total *out)
{
    const uint32_t dims = c->tally.dims;
    uint64_t rows = 0;

    out->chunks = code_covered(&c->code, c->piece_in, c->slot_in);
    out->exactness = EXACT_APPROX;
    for (uint32_t slot = 0; slot < c->code.slots; slot++) {
        const bool in = c->slot_in[slot] && c->code.busy[slot];

        c->decode[slot] = in ? 1 : 0;
        out->answered += in;
        rows += in ? rows_of(c, slot) : 0;
        out->age_sum += in ? c->ages.age[slot] : 0;
        if (in && c->ages.age[slot] > out->age_max)
            out->age_max = c->ages.age[slot];
    }
    CHECK(rows > 0);
    out->rescale = code_rescale(&c->code, rows, rows_wanted(c));
    memset(c->gradient, 0, ((size_t)dims + 1) * sizeof *c->gradient);
    add_coded(c, c->decode, c->code.slots, c->slot_in);
    for (uint32_t j = 0; j <= dims; j++)
        c->gradient[j] *= out->rescale;
    out->loss = c->gradient[dims];
}

enum err decode_round(struct coordinator *c, struct total *out)
{
    if (c->what.kind == EVALUATE_LOCAL) {
        decode_mean(c, out);
        return ERR_OK;
    }
    if (stale_on(c)) {
        decode_stale(c, out);
        return ERR_OK;
    }
    if (product_on(c)) {
        product_decode(c, out);
        return ERR_OK;
    }
    if (c->code.carrier == CARRIER_F64)
        return decode_coded(c, out);
    if (samples_on(c)) {
        const struct sampler sampler = sampler_in(c);

        samples_decode(c, &sampler, out);
        return ERR_OK;
    }
    decode_tally(c, out);
    return ERR_OK;
}

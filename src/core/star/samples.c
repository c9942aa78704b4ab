/*
 * samples.c - answers that are samples of a part's rows (code flexent).
 *
 * Piece P + i of the code is a sample of piece i.  Its answer is a tally on the
 * round's own scale, but of other rows than any part's: it is never merged, and
 * is kept in fp64, by itself, with the variance that its worker told.  When the
 * round ends, samples stand for the parts that are missing (code/shadow.h), in
 * the order of the parts: the same answers give the same bits.
 */
#include <assert.h>
#include <math.h>

#include "base/bugs.h"
#include "base/check.h"
#include "code/shadow.h"
#include "core/star/coordinator_parts.h"

/* c->coded has the sum of each sample, its loss and its variance; behind all of
 * them is room for the list of parts that are missing. */
#define EXTRA        2u
#define PART_NUMBERS (sizeof(struct shadow_part) / sizeof(double))

static_assert(sizeof(struct shadow_part) % sizeof(double) == 0, "whole ones");

bool samples_on(const struct coordinator *c)
{
    return c->code_built && code_spec_sampled(&c->code.spec);
}

bool samples_is_one(const struct coordinator *c, uint32_t piece)
{
    return samples_on(c) && piece >= code_data_pieces(&c->code) &&
           piece < c->code.piece_count;
}

size_t samples_numbers(const struct coordinator *c, const struct code *code)
{
    return code_spec_sampled(&code->spec)
               ? ((size_t)c->options.job.sum_dims + EXTRA + PART_NUMBERS) *
                     code_data_pieces(code)
               : 0;
}

static double *sum_of(const struct coordinator *c, uint32_t part)
{
    return c->coded + (size_t)part * (c->tally.dims + EXTRA);
}

static struct shadow_part *parts_of(const struct coordinator *c)
{
    return (void *)sum_of(c, code_data_pieces(&c->code));
}

/* --- as they come -------------------------------------------------------- */

bool samples_take(struct coordinator *c, const struct msg_tally *msg)
{
    const uint32_t part = msg->piece - code_data_pieces(&c->code);
    const uint32_t dims = c->tally.dims;
    const int shift = draw_shift(sizes_at(c, c->key.step));
    double *const sum = sum_of(c, part);

    c->arrived.loss = msg->loss;
    if (isnan(msg->variance) || msg->variance < 0 ||
        !(msg->sum == NULL ? tally_take_packed(&c->arrived, &msg->packed)
                           : tally_take(&c->arrived, msg->sum)))
        return false;
    if (c->piece_in[msg->piece] && !BUG(BUG_MERGE_OVERLAP))
        return true;
    if (BUG(BUG_SAMPLE_OLD) && sum[dims + 1] > 0)
        return true;
    (void)tally_gradient(&c->arrived, c->trainer.exponent, sum);
    sum[dims] = tally_loss_value(&c->arrived, c->trainer.exponent);
    for (uint32_t j = 0; j <= dims; j++)
        sum[j] = ldexp(sum[j], shift);
    sum[dims + 1] =
        ldexp(msg->variance, BUG(BUG_SAMPLE_SHIFT) ? shift : 2 * shift);
    return true;
}

/* --- at the end ---------------------------------------------------------- */

static uint64_t rows_of(const struct coordinator *c,
                        const struct sampler *sampler, uint32_t piece)
{
    uint64_t rows = 0;

    for (uint32_t chunk = c->code.pieces[piece].first;
         chunk < c->code.pieces[piece].end; chunk++)
        rows += sampler_chunk_rows(sampler, c->key.step, chunk);
    return rows;
}

/* Coordinates that are weights': behind a network's are sizes. */
static uint32_t weights_of(const struct coordinator *c)
{
    return c->options.vectors == 1 && c->options.length < c->tally.dims
               ? c->options.length
               : c->tally.dims;
}

static double length_of(const double *sum, uint32_t dims)
{
    double squares = 0;

    for (uint32_t j = 0; j < dims; j++)
        squares += sum[j] * sum[j];
    return sqrt(squares);
}

/* Of the gradient's length, which says nothing if it has none. */
static double relative(double error2, double length)
{
    if (error2 == 0)
        return 0;
    return length > 0 ? sqrt(error2) / length : (double)NAN;
}

/* Of a part's rows, which are sampled together, by its worker. */
static double share_drawn(const struct coordinator *c, uint64_t rows)
{
    const double size = sizes_at(c, c->key.step);

    return rows == 0 || BUG(BUG_SAMPLE_SHARE)
               ? size
               : draw_size(size, (uint32_t)rows) / (double)rows;
}

/* Lists the parts that are missing; returns how many.  *rows_in: those of the
 * others. */
static uint32_t find_missing(struct coordinator *c,
                             const struct sampler *sampler, uint64_t *rows_in)
{
    const uint32_t pieces = code_data_pieces(&c->code);
    struct shadow_part *const parts = parts_of(c);
    uint32_t count = 0;

    *rows_in = 0;
    for (uint32_t id = 0; id < pieces; id++) {
        const uint64_t rows = rows_of(c, sampler, id);

        const double *sum;

        if (c->piece_in[id] || BUG(BUG_SAMPLE_ROWS))
            *rows_in += rows;
        if (c->piece_in[id])
            continue;
        CHECK(c->piece_in[pieces + id]);
        sum = sum_of(c, BUG(BUG_SAMPLE_OTHER) ? (id + 1) % pieces : id);
        parts[count++] =
            (struct shadow_part){.sum = sum,
                                 .variance = sum[c->tally.dims + 1],
                                 .rows = rows,
                                 .share = share_drawn(c, rows)};
    }
    return count;
}

void samples_decode(struct coordinator *c, const struct sampler *sampler,
                    struct total *out)
{
    const uint32_t dims = c->tally.dims;
    uint64_t rows_in;
    const uint32_t count = find_missing(c, sampler, &rows_in);
    double error2;

    out->chunks = c->tally.chunks.members;
    out->answered = c->slots_in;
    out->rescale = 1;
    out->exactness =
        count == 0 || BUG(BUG_SAMPLE_EXACT) ? EXACT_BITWISE : EXACT_APPROX;
    tally_fill(&c->tally);
    out->in_bound = tally_gradient(&c->tally, c->trainer.exponent, c->gradient);
    c->gradient[dims] = tally_loss_value(&c->tally, c->trainer.exponent);
    if (count > 0) {
        error2 = shadow_fill(c->code.spec.estimate, parts_of(c), count, rows_in,
                             weights_of(c), dims + 1, c->gradient);
        out->residual = relative(error2, length_of(c->gradient, weights_of(c)));
    }
    out->loss = c->gradient[dims];
}

/*
 * products.c - the rounds of a job on coded data: which products are asked for,
 * and how any k of the answers are decoded.
 */
#include "core/star/products.h"

#include <string.h>

#include "base/check.h"
#include "core/product.h"
#include "core/star/coordinator_parts.h"

uint32_t product_terms(const struct coordinator *c, uint32_t link,
                       struct block_term *terms, uint64_t *block)
{
    const struct member *member = &c->members[link];
    uint32_t count = 0;

    if (!c->code_built || member->state != MEMBER_ACTIVE || member->block == 0)
        return 0;
    for (uint32_t part = 0; part < c->code.parts; part++) {
        const double factor = code_coefficient(&c->code, member->slot, part);

        if (factor != 0)
            terms[count++] =
                (struct block_term){.part = part,
                                    .first = c->code.pieces[part].first,
                                    .end = c->code.pieces[part].end,
                                    .factor = factor};
    }
    *block = member->block;
    return count;
}

/* --- a round ------------------------------------------------------------- */

bool product_on(const struct coordinator *c)
{
    return c->options.job.products;
}

uint32_t product_round(const struct coordinator *c)
{
    return product_on(c) ? 2 * c->trainer.optim.round + c->halves.halfway
                         : c->trainer.optim.round;
}

void product_open(struct coordinator *c)
{
    const struct block_shape shape =
        product_shape(&c->options.job, c->code.parts);

    CHECK(c->what.kind == EVALUATE_GRADIENT || c->what.kind == EVALUATE_SCORES);
    CHECK(c->code.piece_count == c->code.parts);
    c->what.known = (struct known){0};
    if (c->halves.halfway)
        c->what.w = c->halves.scores;
    c->what.kind = c->halves.halfway ? EVALUATE_BACK : EVALUATE_SCORES;
    c->coded_dims = block_out(&shape, c->what.kind);
}

bool product_turns_back(const struct coordinator *c)
{
    return product_on(c) && !c->halves.halfway &&
           c->trainer.what.kind == EVALUATE_GRADIENT;
}

void product_switch(struct coordinator *c, uint32_t link, uint64_t block)
{
    struct member *member = &c->members[link];

    if (member->block != block && !member->resident)
        chunkset_clear(&member->held);
    member->block = block;
}

uint32_t product_width(const struct coordinator *c, const struct code *code)
{
    const struct block_shape shape =
        product_shape(&c->options.job, code->parts);
    const uint32_t rows = block_out(&shape, EVALUATE_SCORES);
    const uint32_t cols = block_out(&shape, EVALUATE_BACK);

    return 1 + (rows > cols ? rows : cols);
}

/* --- decoding ------------------------------------------------------------ */

/* out[0..count) = what the part's own slot would have answered. */
static enum err restore(struct coordinator *c, uint32_t part, uint32_t count,
                        double *out, double *residual)
{
    const size_t width = (size_t)c->coded_dims + 1;
    double one = 0;
    enum err err;

    CHECK(count <= c->coded_dims);
    if (c->slot_in[part]) {
        memcpy(out, c->coded + part * width, count * sizeof *out);
        return ERR_OK;
    }
    err = code_decode_part(&c->code, c->slot_in, part, c->decode, &one);
    if (err != ERR_OK)
        return err;
    *residual = one > *residual ? one : *residual;
    memset(out, 0, count * sizeof *out);
    for (uint32_t slot = 0; slot < c->code.slots; slot++) {
        const double *answer = c->coded + slot * width;

        for (uint32_t i = 0; c->decode[slot] != 0 && i < count; i++)
            out[i] += c->decode[slot] * answer[i];
    }
    return ERR_OK;
}

static enum err decode_parts(struct coordinator *c, double *residual)
{
    const struct block_shape shape =
        product_shape(&c->options.job, c->code.parts);
    enum err err = ERR_OK;

    for (uint32_t part = 0; part < c->code.parts && err == ERR_OK; part++) {
        const struct piece *piece = &c->code.pieces[part];
        uint32_t first = block_first_row(&shape, piece->first);
        uint32_t end = block_first_row(&shape, piece->end);
        double *to = c->halves.scores;

        if (c->halves.halfway) {
            first = block_first_col(&shape, part);
            end = block_first_col(&shape, part + 1);
            to = c->gradient;
        }
        err = restore(c, part, end - first, to + first, residual);
    }
    return err;
}

enum err product_decode(struct coordinator *c, struct total *out)
{
    const struct job *job = &c->options.job;
    enum err err;

    if (c->halves.halfway)
        memset(c->gradient, 0, job->dims * sizeof *c->gradient);
    err = decode_parts(c, &out->residual);
    if (err != ERR_OK)
        return err;
    if (c->trainer.what.kind == EVALUATE_SCORES) {
        out->sums = c->halves.scores;
    } else if (!c->halves.halfway) {
        memset(c->gradient, 0, job->dims * sizeof *c->gradient);
        c->halves.loss = c->options.slopes(c->options.slopes_context,
                                           c->what.soft, c->halves.scores);
    }
    out->loss = c->halves.loss;
    out->exactness =
        out->residual <= CODE_RESIDUAL_MAX ? EXACT_NUMERIC : EXACT_APPROX;
    out->answered = c->slots_in;
    out->chunks = job->chunks;
    out->rescale = 1;
    return ERR_OK;
}

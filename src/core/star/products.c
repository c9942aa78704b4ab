/*
 * products.c - the rounds of a job on coded data: which product is asked for,
 * and what comes of them together.
 */
#include "core/star/products.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/bugs.h"
#include "base/check.h"
#include "core/product.h"
#include "core/star/coordinator_parts.h"

#define NARROW_ROUNDING 0x1p-24 /* Of fp32, relative. */

/* --- blocks -------------------------------------------------------------- */

struct block_shape product_blocks(const struct coordinator *c)
{
    return product_shape(&c->options.job, c->code.parts);
}

/* Part `part` of block `slot`; false: it is not in it. */
static bool find_item(const struct coordinator *c, uint32_t slot, uint32_t part,
                      struct item *item)
{
    *item =
        (struct item){.id = part,
                      .first = c->code.pieces[part].first,
                      .end = c->code.pieces[part].end,
                      .coefficient = code_coefficient(&c->code, slot, part)};
    return item->coefficient != 0;
}

uint32_t product_block_items(const struct coordinator *c, uint32_t slot,
                             struct item *items)
{
    uint32_t count = 0;

    for (uint32_t part = 0; part < c->code.parts; part++)
        count += find_item(c, slot, part, &items[count]);
    return count;
}

uint32_t product_terms(const struct coordinator *c, uint32_t link,
                       struct block_term *terms, uint64_t *block)
{
    const struct member *member = &c->members[link];
    const uint32_t slot = BUG(BUG_OTHER_BLOCK)
                              ? (member->slot + 1) % c->code.slots
                              : member->slot;
    struct item item;
    uint32_t count = 0;

    if (!c->code_built || member->state != MEMBER_ACTIVE || member->block == 0)
        return 0;
    for (uint32_t part = 0; part < c->code.parts; part++) {
        if (find_item(c, slot, part, &item))
            terms[count++] = product_term(&item);
    }
    *block = member->block;
    return count;
}

double product_rcond(const struct coordinator *c)
{
    return c->code.spec.narrow ? ERASURE_RCOND_F32 : ERASURE_RCOND;
}

/* What is solved for has the rounding of narrow blocks, amplified, and where a
 * set is of ill condition that of any; parts that are there are copies. */
void product_note(struct coordinator *c, const struct erasure_set *set)
{
    const double each = c->code.spec.narrow             ? NARROW_ROUNDING
                        : set->rcond < product_rcond(c) ? DBL_EPSILON
                                                        : 0;
    const double rounding = set->missing > 0 ? set->amplification * each : 0;

    c->products.condition = fmax(c->products.condition, 1 / set->rcond);
    if (set->residual + rounding > c->products.residual)
        c->products.residual = set->residual + rounding;
}

void product_switch(struct coordinator *c, uint32_t link, uint64_t block)
{
    struct member *member = &c->members[link];

    if (member->block == block)
        return;
    if (!member->resident)
        chunkset_clear(&member->held);
    member->block = block;
    member->ready = 0;
    member->wide = false;
}

static double sum_abs(const double *v, size_t count)
{
    double sum = 0;

    CHECK(v != NULL);
    for (size_t i = 0; i < count; i++)
        sum += fabs(v[i]);
    return sum;
}

/* A number of an answer is a sum of products of the vector's with a block's,
 * and those are sums of data's.  Twice that covers all roundings. */
double product_most(const struct coordinator *c, uint32_t slot)
{
    const struct block_shape shape = product_blocks(c);
    const double reach = combine_on(c)
                             ? sum_abs(combine_vector(c, slot),
                                       block_in(&shape, EVALUATE_COMBINE))
                             : c->products.reach;
    double factors = 0;

    if (c->options.largest <= 0)
        return HUGE_VAL;
    for (uint32_t part = 0; part < c->code.parts; part++)
        factors += fabs(code_coefficient(&c->code, slot, part));
    return 2 * c->options.largest * factors * reach + DBL_MIN;
}

/* --- rounds -------------------------------------------------------------- */

bool product_on(const struct coordinator *c)
{
    return c->options.job.products;
}

bool product_halfway(const struct coordinator *c)
{
    return c->products.halfway;
}

uint32_t product_round(const struct coordinator *c)
{
    return product_on(c) ? c->products.round : c->trainer.optim.round;
}

/* The scores are known: from them come loss and slopes, which are what the way
 * back multiplies. */
static void begin_way_back(struct coordinator *c)
{
    const struct job *job = &c->options.job;

    if (lines_on(c))
        lines_turn(c);
    else
        c->products.loss = c->options.slopes(c->options.slopes_context,
                                             c->what.soft, c->products.scores);
    c->products.halfway = true;
    memset(c->gradient, 0, job->dims * sizeof *c->gradient);
    if (job->copies < 2)
        combine_begin(c);
}

/* The way back is with a second copy of the data, or by input coding. */
void product_open(struct coordinator *c)
{
    const double *const wanted = lines_on(c) && !c->products.halfway
                                     ? lines_unknown_vector(c)
                                     : c->what.w;

    CHECK(lines_on(c) || c->what.kind == EVALUATE_GRADIENT ||
          c->what.kind == EVALUATE_SCORES);
    CHECK(c->code.piece_count == c->code.parts);
    if (wanted == NULL)
        begin_way_back(c);
    c->products.alone = c->what.kind == EVALUATE_SCORES;
    c->products.residual = 0;
    c->products.condition = 0;
    c->what = (struct evaluation){
        .kind = EVALUATE_SCORES, .w = wanted, .soft = c->what.soft};
    c->piece_count = c->code.segments;
    if (c->products.halfway) {
        c->what.w = c->products.scores;
        c->what.kind =
            c->options.job.copies > 1 ? EVALUATE_BACK : EVALUATE_COMBINE;
    }
    c->products.reach = sum_abs(c->what.w, round_vector_dims(c));
}

bool product_more(struct coordinator *c)
{
    c->products.round++;
    pace_settle(c);
    if (combine_on(c) && combine_more(c))
        return true;
    if (c->what.kind == EVALUATE_SCORES && !c->products.alone) {
        if (lines_on(c)) /* Whether to turn is seen when a round is opened. */
            lines_keep(c);
        else
            begin_way_back(c);
        return true;
    }
    c->products.halfway = false;
    return false;
}

void product_step(struct coordinator *c)
{
    c->products.round = 0;
}

/* The residual above which a step is not numeric. */
static double numeric_most(const struct coordinator *c)
{
    const double most = code_spec_residual_max(&c->code.spec);
    const double wanted = c->options.residual_max;

    return wanted > 0 ? fmin(wanted, most) : most;
}

/* A code that promises nothing waits for nobody. */
double product_residual_max(const struct coordinator *c)
{
    return c->code.exactness == EXACT_APPROX ? HUGE_VAL : numeric_most(c);
}

/* Pieces were decoded as they came. */
void product_decode(struct coordinator *c, struct total *out)
{
    const struct job *job = &c->options.job;

    out->residual = c->products.residual;
    out->condition = c->products.condition;
    out->sums = c->products.alone ? c->products.scores : c->gradient;
    out->loss = c->products.loss;
    out->exactness =
        out->residual <= numeric_most(c) ? EXACT_NUMERIC : EXACT_APPROX;
    out->answered = c->slots_in;
    out->chunks = job->chunks;
    out->rescale = 1;
}

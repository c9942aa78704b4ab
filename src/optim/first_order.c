/*
 * first_order.c - gd, agd, momentum, nesterov, adam and adamw: one gradient,
 * one update; and the average, which has only to add.
 *
 * Each update walks the coordinates once; a coordinate depends on no other.
 * Its sums are those of math/vec.h, however the walk is cut.
 */
#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/quick.h"
#include "math/vec.h"
#include "optim/parts.h"

#define SLICE_LEAST 2048u
#define BLOCK       SLICE_GRAIN /* As vec_sum has it. */
/* Blocks that are tapped together: names are made of four at a time (quick.c),
 * and 32 KiB are still in a near cache. */
#define TAPPED 4u

static struct evaluation at_model(const struct optim *opt)
{
    return (struct evaluation){
        .kind = EVALUATE_GRADIENT, .w = opt->b, .known = opt->known};
}

static uint32_t one_vector(const struct optim *opt)
{
    (void)opt;
    return 1;
}

static uint32_t two_vectors(const struct optim *opt)
{
    (void)opt;
    return 2;
}

static uint32_t three_vectors(const struct optim *opt)
{
    (void)opt;
    return 3;
}

static void place(struct optim *opt)
{
    opt->b = opt->kept;
    opt->u = opt->vectors > 1 ? opt->kept + opt->dims : NULL;
    opt->v = opt->vectors > 2 ? opt->kept + 2 * (size_t)opt->dims : NULL;
}

/* One walk over the coordinates, a block at a time, so that what is read is
 * still in the first cache for all that is done with it. */
struct walk {
    struct optim *opt;
    const double *sum;
    double rows;           /* optim_divisor. */
    optim_update update;   /* NULL: only measure. */
    struct vec_sum slopes; /* Of squares. */
    double largest;        /* Of what was updated; infinite if not finite. */
    uint64_t name;         /* quick_part of what was tapped. */
};

static double larger(double a, double b)
{
    return b > a ? b : a;
}

static double update_block(const struct walk *walk,
                           const struct optim_span *block, const double *slope)
{
    walk->update(walk->opt, walk->sum + block->from, slope, block);
    return vec_largest(walk->opt->b + block->from, block->to - block->from);
}

/* What is known of a block before it is updated: slopes, and squares. */
static void measure_block(const struct optim *opt, const double *sum,
                          double rows, const struct optim_span *block,
                          struct optim_squares *squares, double *slope)
{
    const uint32_t count = block->to - block->from;
    const double *const b = opt->b + block->from;

    vec_measure(sum, rows, 2 * block->l2, b, count, slope);
    vec_sum_add(&squares->slopes, slope, slope, count);
    vec_sum_add(&squares->weights, b, b, count);
}

/* Slopes are kept if nothing is updated; else `room` is enough for them.
 * Returns the largest of what was updated, infinite if some is not finite. */
static double walk_block(const struct walk *walk,
                         const struct optim_span *block,
                         struct optim_squares *squares, double *room)
{
    double *const slope =
        walk->update != NULL ? room : walk->opt->gradient + block->from;

    measure_block(walk->opt, walk->sum + block->from, walk->rows, block,
                  squares, slope);
    return walk->update != NULL ? update_block(walk, block, slope) : 0;
}

double optim_step_block(struct optim *opt, const double *sum,
                        const struct optim_span *block,
                        struct optim_squares *squares, double *room)
{
    measure_block(opt, sum, optim_divisor(opt), block, squares, room);
    opt->ops->update(opt, sum, room, block);
    return vec_largest(opt->b + block->from, block->to - block->from);
}

/* Whole blocks of the first span, by slices. */
struct head {
    const struct walk *walk;
    double l2;
    double largest[SLICES_MAX];
    uint64_t name[SLICES_MAX];
};

static uint64_t tap_blocks(const struct optim *opt, uint32_t from, uint32_t to)
{
    const struct optim_tap *const tap = &opt->tap;
    const size_t word = sizeof *opt->b;

    if (tap->copy != NULL)
        memcpy(tap->copy + from, opt->b + from, (to - from) * word);
    return tap->names ? quick_part(opt->b, from * word, to * word, KNOWN_SEED)
                      : 0;
}

static void walk_slice(void *context, uint32_t slice, uint32_t first,
                       uint32_t end)
{
    struct head *head = context;
    double *const blocks = head->walk->opt->blocks;
    double room[BLOCK];
    double largest = 0;
    uint32_t tapped = first;
    uint64_t name = 0;

    for (uint32_t at = first; at < end; at += BLOCK) {
        const struct optim_span block = {at, at + BLOCK, head->l2};
        struct optim_squares squares = {0};

        largest =
            larger(largest, walk_block(head->walk, &block, &squares, room));
        blocks[at / BLOCK * 2] = vec_sum_end(&squares.slopes);
        blocks[at / BLOCK * 2 + 1] = vec_sum_end(&squares.weights);
        if (head->walk->update == NULL ||
            (at + BLOCK < end && at + BLOCK - tapped < TAPPED * BLOCK))
            continue;
        name += tap_blocks(head->walk->opt, tapped, at + BLOCK);
        tapped = at + BLOCK;
    }
    head->largest[slice] = largest;
    head->name[slice] = name;
}

/* Their sums, in order: what vec_sum would have come to.  Returns where they
 * end. */
static uint32_t walk_head(struct walk *walk, const struct optim_span *span,
                          struct optim_squares *squares)
{
    struct optim *const opt = walk->opt;
    struct head head = {.walk = walk, .l2 = span->l2};
    const uint32_t end = span->to / BLOCK * BLOCK;
    const double *const blocks = opt->blocks;
    const bool gathered = opt->gathered.end > 0;
    uint32_t slices = 0;

    if ((opt->pool == NULL && !opt->tap.names && !gathered) || span->from > 0 ||
        end == 0)
        return span->from;
    if (!gathered)
        slices = pool_slices(opt->pool, end, SLICE_LEAST, walk_slice, &head);
    for (uint32_t i = 0; i < end / BLOCK; i++) {
        squares->slopes.sum += blocks[i * 2];
        squares->weights.sum += blocks[i * 2 + 1];
    }
    for (uint32_t i = 0; i < slices; i++) {
        walk->largest = larger(walk->largest, head.largest[i]);
        walk->name += head.name[i];
    }
    if (gathered) {
        CHECK(opt->gathered.end == end);
        walk->largest = larger(walk->largest, opt->gathered.largest);
        walk->name += opt->gathered.name;
    }
    if (walk->update != NULL)
        opt->tap.end = end;
    return end;
}

/* Returns |b|^2 before the update. */
static double walk_span(struct walk *walk, const struct optim_span *span)
{
    struct optim_squares squares = {.slopes = walk->slopes};
    double room[BLOCK];

    for (uint32_t at = walk_head(walk, span, &squares); at < span->to;
         at += BLOCK) {
        const uint32_t left = span->to - at;
        const struct optim_span block = {at, at + (left < BLOCK ? left : BLOCK),
                                         span->l2};

        walk->largest =
            larger(walk->largest, walk_block(walk, &block, &squares, room));
    }
    walk->slopes = squares.slopes;
    return vec_sum_end(&squares.weights);
}

static void walk_all(struct walk *walk, double loss_sum)
{
    struct optim *opt = walk->opt;
    double objective = loss_sum / walk->rows;
    struct optim_span span = {0};

    while (optim_span_next(opt, &span))
        objective += span.l2 * walk_span(walk, &span);
    opt->objective = objective;
    opt->gradient_norm = sqrt(vec_sum_end(&walk->slopes));
}

/* A span's second walk, by slices. */
struct second {
    const struct walk *walk;
    const struct optim_span *span;
    double largest[SLICES_MAX];
};

static void update_slice(void *context, uint32_t slice, uint32_t first,
                         uint32_t end)
{
    struct second *second = context;
    const uint32_t from = second->span->from;
    const struct optim_span part = {from + first, from + end, second->span->l2};

    second->largest[slice] = update_block(
        second->walk, &part, second->walk->opt->gradient + part.from);
}

static void update_all(struct walk *walk)
{
    struct optim_span span = {0};

    while (optim_span_next(walk->opt, &span)) {
        struct second second = {.walk = walk, .span = &span};
        const uint32_t slices =
            pool_slices(walk->opt->pool, span.to - span.from, SLICE_LEAST,
                        update_slice, &second);

        for (uint32_t i = 0; i < slices; i++)
            walk->largest = larger(walk->largest, second.largest[i]);
    }
}

static double shortening(const struct optim *opt)
{
    const double clip = opt->options.clip;

    return clip > 0 && opt->gradient_norm > clip ? clip / opt->gradient_norm
                                                 : 1;
}

/* Then there is a second walk. */
bool optim_walks_twice(const struct optim_options *options)
{
    const struct optim_options *const o = options;

    return o->tol > 0 || o->gap > 0 || o->clip > 0;
}

bool optim_taps(const struct optim *opt)
{
    return opt->ops->what == at_model && !optim_walks_twice(&opt->options);
}

static struct known known_of(const struct walk *walk)
{
    const struct optim_tap *const tap = &walk->opt->tap;
    const bool named = tap->names || walk->opt->gathered.end > 0;

    return (struct known){.largest = walk->largest,
                          .named = named ? tap->end : 0,
                          .name = walk->name};
}

static bool feed(struct optim *opt, const double *sum, double loss_sum)
{
    const optim_update update = opt->ops->update;
    const bool twice = optim_walks_twice(&opt->options);
    struct walk walk = {.opt = opt,
                        .sum = sum,
                        .rows = optim_divisor(opt),
                        .update = twice ? NULL : update};

    opt->shortened = 1;
    opt->tap.end = 0;
    optim_take_gathered(opt);
    walk_all(&walk, loss_sum);
    if (twice && optim_converged(opt))
        return false;
    if (twice) {
        opt->shortened = shortening(opt);
        walk.update = update;
        update_all(&walk);
    }
    opt->known = known_of(&walk);
    opt->gathered.end = 0;
    opt->step++;
    opt->diverged = !(walk.largest < HUGE_VAL && isfinite(opt->gradient_norm) &&
                      isfinite(opt->objective));
    return true;
}

/* --- gd ------------------------------------------------------------------ */

static void gd_update(struct optim *opt, const double *g, const double *slope,
                      const struct optim_span *span)
{
    const double eta = optim_rate(opt) * opt->shortened;
    const double keep = 1 - 2 * span->l2 * eta;
    const double scale = eta / optim_divisor(opt);

    (void)slope;
    vec_descend(keep, scale, g, span->to - span->from, opt->b + span->from);
}

const struct optim_ops optim_gd_ops = {
    "gd",  OPTIM_RATE_LENGTH, false, 1,        one_vector,
    place, at_model,          feed,  gd_update};

/* --- agd ----------------------------------------------------------------- */

static void agd_update(struct optim *opt, const double *g, const double *slope,
                       const struct optim_span *span)
{
    const double eta = optim_rate(opt) * opt->shortened;
    const double th = 2 / ((double)opt->step + 2);
    const double shrink = 2 * span->l2 * eta;
    const double scale = eta / optim_divisor(opt);

    (void)slope;
    for (uint32_t j = span->from; j < span->to; j++) {
        const double b = opt->b[j];
        const double v = (1 - th) * b + th * opt->u[j];
        const double next = v - scale * g[j - span->from] - shrink * b;

        opt->u[j] = b + (next - b) / th;
        opt->b[j] = next;
    }
}

const struct optim_ops optim_agd_ops = {
    "agd", OPTIM_RATE_LENGTH, false, 1,         two_vectors,
    place, at_model,          feed,  agd_update};

/* --- momentum ------------------------------------------------------------ */

static void momentum_update(struct optim *opt, const double *g,
                            const double *slope, const struct optim_span *span)
{
    const double eta = optim_rate(opt);
    const double mu = opt->options.momentum;
    const bool nesterov = opt->options.kind == OPTIM_NESTEROV;

    (void)g;
    for (uint32_t j = span->from; j < span->to; j++) {
        const double s = slope[j - span->from] * opt->shortened;
        const double u = mu * opt->u[j] + s;

        opt->u[j] = u;
        opt->b[j] -= eta * (nesterov ? s + mu * u : u);
    }
}

const struct optim_ops optim_momentum_ops = {
    "momentum", OPTIM_RATE_SUMMED, false, 1, two_vectors, place, at_model,
    feed,       momentum_update};
const struct optim_ops optim_nesterov_ops = {
    "nesterov", OPTIM_RATE_SUMMED, false, 1, two_vectors, place, at_model,
    feed,       momentum_update};

/* --- adam ---------------------------------------------------------------- */

static struct vec_adam adam_of(const struct optim *opt)
{
    const struct optim_options *o = &opt->options;

    return (struct vec_adam){.beta1 = o->beta1,
                             .beta2 = o->beta2,
                             .warm1 = 1 - optim_power(o->beta1, opt->step + 1),
                             .warm2 = 1 - optim_power(o->beta2, opt->step + 1),
                             .epsilon = o->epsilon,
                             .eta = optim_rate(opt)};
}

static void adam_update(struct optim *opt, const double *g, const double *slope,
                        const struct optim_span *span)
{
    const struct vec_adam adam = adam_of(opt);
    double move[BLOCK];

    (void)g;
    for (uint32_t at = span->from; at < span->to; at += BLOCK) {
        const uint32_t left = span->to - at,
                       count = left < BLOCK ? left : BLOCK;
        double *const b = opt->b + at;

        for (uint32_t j = 0; j < count; j++)
            move[j] = slope[at - span->from + j] * opt->shortened;
        vec_adam(&adam, count, opt->u + at, opt->v + at, move);
        for (uint32_t j = 0; j < count; j++)
            b[j] -= move[j];
    }
}

static void adamw_update(struct optim *opt, const double *g,
                         const double *slope, const struct optim_span *span)
{
    const struct vec_adam adam = adam_of(opt);
    const double shrink = 2 * span->l2 * adam.eta;
    const double rows = optim_divisor(opt);
    double move[BLOCK];

    (void)slope;
    for (uint32_t at = span->from; at < span->to; at += BLOCK) {
        const uint32_t left = span->to - at,
                       count = left < BLOCK ? left : BLOCK;
        double *const b = opt->b + at;

        for (uint32_t j = 0; j < count; j++)
            move[j] = g[at - span->from + j] / rows * opt->shortened;
        vec_adam(&adam, count, opt->u + at, opt->v + at, move);
        for (uint32_t j = 0; j < count; j++)
            b[j] = b[j] - move[j] - shrink * b[j];
    }
}

const struct optim_ops optim_adam_ops = {
    "adam", OPTIM_RATE_SIZE, false, 1,          three_vectors,
    place,  at_model,        feed,  adam_update};
const struct optim_ops optim_adamw_ops = {
    "adamw", OPTIM_RATE_SIZE, false, 1,           three_vectors,
    place,   at_model,        feed,  adamw_update};

/* --- average ------------------------------------------------------------- */

static struct evaluation from_model(const struct optim *opt)
{
    return (struct evaluation){.kind = EVALUATE_LOCAL, .w = opt->b};
}

/* Means, not sums: the mean of one part alone is then that part's, to the
 * bit.  The objective is that of the weights the parts began from. */
static bool average_feed(struct optim *opt, const double *mean,
                         double loss_mean)
{
    struct optim_span span = {0};

    opt->objective = loss_mean;
    while (optim_span_next(opt, &span)) {
        const double *const b = opt->b + span.from;

        opt->objective += span.l2 * vec_dot(b, b, span.to - span.from);
    }
    opt->gradient_norm = vec_norm(mean, opt->dims);
    for (uint32_t j = 0; j < opt->dims; j++)
        opt->b[j] += mean[j];
    opt->step++;
    opt->diverged = optim_is_broken(opt);
    return true;
}

const struct optim_ops optim_average_ops = {"average",  OPTIM_RATE_NONE, false,
                                            1,          one_vector,      place,
                                            from_model, average_feed,    NULL};

/*
 * shadow.c - sums over samples, by the evaluator of the model itself.
 *
 * The sample is dealt into a few groups, cell by cell, so that each is a small
 * stratified sample.  Each group is gathered as the one chunk of a data set of
 * its own, whose rows weigh what they stand for (scaled down, so that none
 * counts for more than one: the bounds of all rows' sums hold), and summed by
 * an evaluator on that.  How much the groups differ tells the variance of their
 * sum (draw_variance), which travels with the tally: of rows one by one it
 * would take a gradient for each.
 */
#include <math.h>
#include <string.h>

#include "base/bugs.h"
#include "base/check.h"
#include "base/mem.h"
#include "base/rng.h"
#include "data/rows/gather.h"
#include "data/rows/strata.h"
#include "eval/kinds.h"
#include "eval/registry.h"
#include "eval/shadow.h"
#include "math/exact/tally.h"

#define GROUPS      4u
#define CELLS_LEAST 2u

/* An evaluator of one chunk, and the rows of it. */
struct small {
    struct gather gather;
    struct evaluator *evaluator;
    uint32_t rows;      /* That there is room for. */
    const void *column; /* Of sparse rows, as it was when that was opened. */
    struct tally tally;
};

struct shadow {
    struct evaluator head;
    struct evaluator *inner;
    struct shadowing how;
    struct sampler sampler; /* Of the inner one. */
    uint32_t *cut;
    uint32_t chunks;  /* K */
    uint32_t weights; /* Coordinates that are the model's. */
    struct shelf shelf;
    struct pool *pool;
    struct brief inside; /* The inner one's, kept here. */
    uint8_t room[BRIEF_MAX];
    uint32_t *known;  /* Of each row: its colour, and one. */
    double *values;   /* Of one row. */
    uint32_t *row;    /* Of a range of chunks: rows, ... */
    uint32_t *colour; /* ... and colours. */
    uint32_t most;    /* That there is room for. */
    struct strata strata;
    struct small small;
    double *vector;
};

/* --- which filters ------------------------------------------------------- */

enum err shadowing_choose(struct shadowing *shadowing, double size,
                          const struct dataset *data,
                          const struct sampler *sampler, uint32_t primaries,
                          const char *wish, struct why *why)
{
    const uint32_t steps = sampler_steps(sampler);
    const uint32_t own = data->rows / steps / primaries;
    const uint32_t b = draw_size(size, own > 0 ? own : 1);
    struct filter filter[FILTERS_TRIED];
    uint32_t count = 0;
    enum err err = colour_candidates(data, wish, filter, &count, why);

    shadowing->colouring = (struct colouring){.cols = data->cols};
    if (err != ERR_OK || shadowing->draw == DRAW_RANDOM)
        return err;
    return colour_choose(
        data, filter, count,
        b / DRAW_WEIGHT_MOST > CELLS_LEAST ? b / DRAW_WEIGHT_MOST : CELLS_LEAST,
        &shadowing->colouring, NULL);
}

/* --- memory -------------------------------------------------------------- */

static void small_close(struct small *small)
{
    evaluator_close(small->evaluator);
    gather_close(&small->gather);
    tally_close(&small->tally);
    *small = (struct small){0};
}

static void shadow_close(struct evaluator *self)
{
    struct shadow *const shadow = (void *)self;

    small_close(&shadow->small);
    evaluator_close(shadow->inner);
    strata_close(&shadow->strata);
    mem_free(shadow->cut);
    mem_free(shadow->known);
    mem_free(shadow->values);
    mem_free(shadow->row);
    mem_free(shadow->colour);
    mem_free(shadow->vector);
    mem_free(shadow);
}

/* Which rows chunks have, and how many coordinates the model has. */
static enum err read_inside(struct shadow *shadow)
{
    struct neural_model model = {0};
    struct dataset_shape rows;
    struct subject subject;
    uint64_t seed;
    enum err err;

    shadow->weights = shadow->inner->dims;
    if (!brief_names(&shadow->inside, net_evaluator.name))
        return brief_read_linear(&shadow->inside, &subject, &shadow->sampler);
    err =
        brief_read_net(&shadow->inside, &rows, &model, &shadow->sampler, &seed);
    if (err == ERR_OK)
        shadow->weights = (uint32_t)model.neural.parameters;
    neural_model_close(&model);
    return err;
}

static enum err shadow_init(struct shadow *shadow, const struct shelf *shelf)
{
    const struct dataset *const data = shelf->data;
    enum err err =
        evaluator_open(&shadow->inside, shelf, shadow->pool, &shadow->inner);

    if (err == ERR_OK)
        err = read_inside(shadow);
    if (err == ERR_OK &&
        (shelf->part || sampler_scatters(shadow->sampler.kind)))
        err = ERR_SHAPE; /* Rows of others cannot be sampled here. */
    if (err == ERR_OK)
        err = shelf_cut(shelf, &shadow->sampler, &shadow->cut);
    if (err != ERR_OK)
        return err;
    shadow->chunks = shadow->inner->chunks;
    shadow->known = mem_new(data->rows, sizeof *shadow->known);
    shadow->values = mem_new(data->cols, sizeof *shadow->values);
    shadow->vector =
        mem_new((size_t)2 * shadow->inner->dims, sizeof *shadow->vector);
    return shadow->known == NULL || shadow->values == NULL ||
                   shadow->vector == NULL
               ? ERR_NOMEM
               : ERR_OK;
}

static enum err shadow_open(const struct brief *brief,
                            const struct shelf *shelf, struct pool *pool,
                            struct evaluator **out)
{
    struct shadow *const made = mem_new(1, sizeof *made);
    enum err err = made == NULL
                       ? ERR_NOMEM
                       : brief_read_shadow(brief, &made->how, &made->inside);

    if (err == ERR_OK &&
        (shelf->data == NULL || made->how.colouring.cols != shelf->data->cols))
        err = ERR_SHAPE;
    if (err == ERR_OK) {
        memcpy(made->room, made->inside.bytes, made->inside.size);
        made->inside.bytes = made->room;
        made->shelf = *shelf;
        made->pool = pool;
        err = shadow_init(made, shelf);
    }
    if (err != ERR_OK) {
        if (made != NULL)
            shadow_close(&made->head);
        return err;
    }
    made->head = *made->inner;
    made->head.ops = &shadow_evaluator;
    made->head.chunks = 2 * made->chunks;
    *out = &made->head;
    return ERR_OK;
}

static enum err shadow_shape(const struct brief *brief,
                             struct dataset_shape *shape)
{
    struct shadowing how;
    struct brief inside;
    const struct evaluator_ops *ops;
    const enum err err = brief_read_shadow(brief, &how, &inside);

    if (err != ERR_OK)
        return err;
    ops = evaluator_named(&inside);
    return ops == NULL || ops->shape == NULL ? ERR_FORMAT
                                             : ops->shape(&inside, shape);
}

/* --- a sample ------------------------------------------------------------ */

/* Room for the rows of so many chunks. */
static enum err make_room(struct shadow *shadow, uint32_t rows)
{
    if (rows <= shadow->most)
        return ERR_OK;
    shadow->most = 0;
    strata_close(&shadow->strata);
    mem_free(shadow->row);
    mem_free(shadow->colour);
    shadow->row = mem_new(rows, sizeof *shadow->row);
    shadow->colour = mem_new(rows, sizeof *shadow->colour);
    if (shadow->row == NULL || shadow->colour == NULL ||
        strata_init(&shadow->strata, rows,
                    colouring_colours(&shadow->how.colouring)) != ERR_OK)
        return ERR_NOMEM;
    shadow->most = rows;
    return ERR_OK;
}

static uint32_t colour_of(struct shadow *shadow, uint32_t row)
{
    if (shadow->known[row] == 0)
        shadow->known[row] =
            1 + colour_row(&shadow->how.colouring, shadow->shelf.data, row,
                           shadow->values);
    return shadow->known[row] - 1;
}

/* The rows of chunks [first, end) in the step, and a sample of them; *rows is
 * how many there were.  None: no sample. */
static enum err draw_sample(struct shadow *shadow, double size, uint32_t step,
                            uint32_t first, uint32_t end, uint32_t *rows)
{
    const uint64_t key =
        rng_at(shadow->how.seed, BUG(BUG_SAMPLE_AGAIN) ? 0 : step, first);
    uint32_t count = 0;
    enum err err;

    for (uint32_t k = first; k < end; k++)
        count += sampler_chunk_rows(&shadow->sampler, step, k);
    *rows = count;
    shadow->strata.count = 0;
    if (count == 0)
        return ERR_OK;
    err = make_room(shadow, count);
    if (err != ERR_OK)
        return err;
    count = 0;
    for (uint32_t k = first; k < end; k++)
        count += sampler_select(&shadow->sampler, step, k, shadow->row + count);
    for (uint32_t i = 0; i < count; i++)
        shadow->colour[i] = colour_of(shadow, shadow->row[i]);
    strata_draw(&shadow->strata, shadow->how.draw, shadow->colour, count,
                draw_size(size, count), key);
    return ERR_OK;
}

/* --- its sums ------------------------------------------------------------ */

/* The same model on one chunk of so many rows, with weights. */
static struct brief small_brief(const struct shadow *shadow,
                                uint8_t room[BRIEF_MAX],
                                const struct dataset *rows, enum err *err)
{
    struct brief made = {0};

    if (brief_names(&shadow->inside, net_evaluator.name)) {
        const struct dataset_shape shape = dataset_shape(rows);
        struct neural_model model = {0};
        struct dataset_shape old;
        struct sampler sampler;
        uint64_t seed;

        *err = brief_read_net(&shadow->inside, &old, &model, &sampler, &seed);
        if (*err == ERR_OK)
            made = brief_net(room, &shape, &model, &sampler_whole, seed);
        neural_model_close(&model);
    } else {
        struct subject subject;
        struct sampler sampler;

        *err = brief_read_linear(&shadow->inside, &subject, &sampler);
        subject.rows = dataset_shape(rows);
        if (*err == ERR_OK)
            made = brief_linear(room, &subject, &sampler_whole);
    }
    return made;
}

static enum err small_open(struct shadow *shadow)
{
    struct small *const small = &shadow->small;
    struct shelf shelf = {.data = &small->gather.rows,
                          .isa = shadow->shelf.isa};
    uint8_t room[BRIEF_MAX];
    enum err err = ERR_OK;
    const struct brief brief =
        small_brief(shadow, room, &small->gather.rows, &err);

    evaluator_close(small->evaluator);
    small->evaluator = NULL;
    small->column = small->gather.rows.column;
    return err == ERR_OK
               ? evaluator_open(&brief, &shelf, shadow->pool, &small->evaluator)
               : err;
}

/* Room for groups of so many rows; what is much too large is made anew, since a
 * network computes rows of no weight, too. */
static enum err small_room(struct shadow *shadow, uint32_t rows)
{
    struct small *const small = &shadow->small;
    enum err err;

    if (small->evaluator != NULL && rows <= small->rows &&
        rows >= small->rows / 2)
        return ERR_OK;
    small_close(small);
    err = gather_init(&small->gather, shadow->shelf.data, 1, rows);
    if (err == ERR_OK)
        err = dataset_add_weights(&small->gather.rows);
    if (err == ERR_OK)
        err = tally_init(&small->tally, shadow->inner->dims, 1);
    if (err == ERR_OK)
        err = small_open(shadow);
    small->rows = rows;
    return err;
}

/* Group g: every so manieth row of the sample, which goes cell by cell. */
static enum err gather_group(struct shadow *shadow, double size, uint32_t g,
                             uint32_t groups)
{
    const int shift = draw_shift(size);
    const struct strata *const strata = &shadow->strata;
    struct small *const small = &shadow->small;
    struct dataset *const rows = &small->gather.rows;
    uint32_t count = 0;
    enum err err;

    for (uint32_t i = g; i < strata->count; i += groups)
        small->gather.row[count++] = shadow->row[strata->row[i]];
    err = gather_take(&small->gather, shadow->shelf.data, 0, count);
    if (err != ERR_OK)
        return err;
    for (uint32_t i = 0; i < count; i++) {
        const double weight =
            strata->weight[BUG(BUG_SAMPLE_EVEN) ? 0 : g + i * groups];
        const double own =
            shadow->shelf.data->weight == NULL ? 1 : rows->weight[i];

        CHECK(ldexp(weight, -shift) <= 1);
        rows->weight[i] = own * ldexp(weight, -shift);
    }
    for (uint32_t i = count; i < rows->rows; i++)
        rows->weight[i] = 0;
    return small->column == rows->column ? ERR_OK : small_open(shadow);
}

/* The group's sums to small->tally. */
static enum err run_group(struct shadow *shadow,
                          const struct computation *asked,
                          const struct flag *cancel)
{
    struct small *const small = &shadow->small;
    struct computation own = *asked;

    own.first = 0;
    own.end = 1;
    own.name = 0;
    own.tally = &small->tally;
    tally_blank(&small->tally);
    small->tally.dims = asked->tally->dims;
    evaluator_forget(small->evaluator);
    return evaluator_run(small->evaluator, &own, cancel);
}

static double square_of(const double *vector, uint32_t dims)
{
    double sum = 0;

    for (uint32_t j = 0; j < dims; j++)
        sum += vector[j] * vector[j];
    return sum;
}

/* Adds a group's tally to the one that is asked for: integers. */
static void add_group(const struct tally *group, struct tally *to)
{
    for (uint32_t j = 0; j < to->dims; j++)
        to->sum[j] += group->sum[j];
    to->loss += group->loss;
}

/* The variance of the sum, by how much the groups differ. */
static double variance_of(struct shadow *shadow,
                          const struct computation *asked, double squares,
                          uint32_t groups, uint32_t rows)
{
    const double share = (double)shadow->strata.count / rows;

    if (shadow->strata.count == rows)
        return 0;
    if (groups < 2)
        return (double)INFINITY;
    (void)tally_gradient(asked->tally, asked->exponent, shadow->vector);
    return draw_variance(squares, square_of(shadow->vector, shadow->weights),
                         groups, share);
}

static enum err run_sample(struct shadow *shadow,
                           const struct computation *asked, uint32_t first,
                           uint32_t end, const struct flag *cancel)
{
    struct tally *const tally = asked->tally;
    double squares = 0;
    uint32_t groups;
    uint32_t rows;
    enum err err =
        draw_sample(shadow, asked->size, asked->step, first, end, &rows);

    groups = shadow->strata.count < GROUPS ? shadow->strata.count : GROUPS;
    tally_fill(tally);
    chunkset_add_range(&tally->chunks, asked->first, asked->end);
    if (err != ERR_OK || rows == 0)
        return err;
    err = small_room(shadow, (shadow->strata.count + groups - 1) / groups);
    for (uint32_t g = 0; err == ERR_OK && g < groups; g++) {
        err = gather_group(shadow, asked->size, g, groups);
        if (err == ERR_OK)
            err = run_group(shadow, asked, cancel);
        if (err != ERR_OK)
            break;
        (void)tally_gradient(&shadow->small.tally, asked->exponent,
                             shadow->vector);
        squares += square_of(shadow->vector, shadow->weights);
        add_group(&shadow->small.tally, tally);
    }
    if (err == ERR_OK)
        tally->variance = variance_of(shadow, asked, squares, groups, rows);
    return err;
}

static enum err shadow_run(struct evaluator *self,
                           const struct computation *asked,
                           const struct flag *cancel)
{
    struct shadow *const shadow = (void *)self;
    const uint32_t chunks = shadow->chunks;

    if (asked->end <= chunks)
        return evaluator_run(shadow->inner, asked, cancel);
    if (asked->first < chunks || asked->end > 2 * chunks ||
        !computation_samples(asked->size) ||
        asked->what.kind != EVALUATE_GRADIENT ||
        asked->tally->dims != shadow->inner->dims)
        return ERR_SHAPE;
    return run_sample(shadow, asked, asked->first - chunks, asked->end - chunks,
                      cancel);
}

static enum err shadow_begin(struct evaluator *self,
                             const struct computation *asked)
{
    struct shadow *const shadow = (void *)self;

    return evaluator_begin(shadow->inner, asked);
}

static void shadow_end(struct evaluator *self)
{
    struct shadow *const shadow = (void *)self;

    evaluator_end(shadow->inner);
}

static void shadow_forget(struct evaluator *self)
{
    struct shadow *const shadow = (void *)self;

    evaluator_forget(shadow->inner);
}

static bool shadow_has_vector(const struct evaluator *self,
                              enum evaluation_kind kind)
{
    const struct shadow *const shadow = (const void *)self;

    return evaluator_has_vector(shadow->inner, kind);
}

const struct evaluator_ops shadow_evaluator = {
    .name = "shadow",
    .shape = shadow_shape,
    .open = shadow_open,
    .close = shadow_close,
    .run = shadow_run,
    .begin = shadow_begin,
    .end = shadow_end,
    .forget = shadow_forget,
    .has_vector = shadow_has_vector,
};

/*
 * objective.c - the brief, the numbers and the scale of what is trained; each
 * kind is a function that fills them in.
 */
#include "eval/objective.h"

#include <string.h>

#include "eval/briefs.h"

/* Of A: what a training asks of its columns is nothing to a product. */
static enum err measure_matrix(struct bounds *bounds,
                               const struct problem *problem, struct pool *pool,
                               struct why *why)
{
    const enum err err = bounds_measure(bounds, problem, pool);

    return err != ERR_RANGE
               ? err
               : why_set(why, err,
                         "A's values are so large that the sums of their "
                         "squares, by which products are known to be finite, "
                         "might be no numbers: divide A by some power of 10");
}

static enum err measure(struct objective *o,
                        const struct objective_options *options,
                        const struct problem *problem, struct pool *pool,
                        struct why *why)
{
    const enum err err = bounds_init(&o->bounds, options->data->stride);

    if (err != ERR_OK)
        return err;
    return options->optim->kind == OPTIM_COLUMNS
               ? measure_matrix(&o->bounds, problem, pool, why)
               : bounds_measure_all(&o->bounds, problem, pool, why);
}

static enum err open_linear(struct objective *o,
                            const struct objective_options *options,
                            struct pool *pool, struct why *why)
{
    const struct problem problem =
        problem_of(options->data, options->model, options->isa);
    const bool known = options->bounds != NULL;
    const struct bounds *const bounds = known ? options->bounds : &o->bounds;
    const enum err err =
        known ? ERR_OK : measure(o, options, &problem, pool, why);

    proved_init(&o->proved, bounds, &problem);
    o->scale = &o->proved.scale;
    if (err == ERR_OK && options->data->y != NULL) /* Not hollow. */
        o->largest = bounds_largest(bounds);
    o->brief = brief_rows(o->room, &problem, options->products, options->narrow,
                          options->optim);
    o->dims = o->weights = problem_dims(&problem);
    o->chunks = optim_chunks(options->optim, dataset_chunks(options->data));
    o->vectors = problem_outputs(&problem);
    o->length = options->data->cols;
    return err;
}

/* Scores are those of a linear model; what is hashed and handed over are
 * columns of them. */
static enum err open_product(struct objective *o,
                             const struct objective_options *options,
                             struct pool *pool, struct why *why)
{
    const enum err err = open_linear(o, options, pool, why);

    o->length = options->data->rows;
    o->columns = options->optim->steps;
    o->weights = o->length * o->columns;
    return err;
}

static enum err open_net(struct objective *o,
                         const struct objective_options *options,
                         struct pool *pool, struct why *why)
{
    const struct dataset_shape rows = dataset_shape(options->data);
    const struct neural *const net = &options->net->neural;
    uint32_t end[NEURAL_TENSORS_MAX];

    (void)pool;
    (void)why;
    _Static_assert(NEURAL_TENSORS_MAX <= FOLLOW_BLOCKS_MAX, "a block each");
    for (uint32_t t = 0; t < net->tensor_count; t++)
        end[t] = (uint32_t)(net->tensors[t].first + net->tensors[t].count);
    o->scale = &o->follow.scale;
    o->brief = brief_net(o->room, &rows, options->net, &options->optim->sampler,
                         options->optim->seed);
    o->dims = neural_sums_dims(net);
    o->chunks = optim_chunks(options->optim, dataset_chunks(options->data));
    o->vectors = 1;
    o->length = o->weights = (uint32_t)net->parameters;
    o->net = net;
    o->narrow = true;
    return follow_init_blocks(&o->follow, end, net->tensor_count, NEURAL_BITS,
                              o->chunks);
}

static enum err open_user(struct objective *o,
                          const struct objective_options *options,
                          struct pool *pool, struct why *why)
{
    const struct user_function *const user = options->user;

    (void)pool;
    (void)why;
    o->scale = &o->follow.scale;
    o->brief = brief_user(o->room, user);
    o->dims = follow_dims(user->dims);
    o->chunks = user->chunks;
    o->vectors = 1;
    o->length = o->weights = user->dims;
    return follow_init(&o->follow, user->dims, user->chunks);
}

/* Twice the chunks: those of data, and samples of them. */
static void add_samples(struct objective *o, const struct shadowing *shadows)
{
    uint8_t room[BRIEF_MAX];
    const struct brief inside = {.bytes = room, .size = o->brief.size};

    memcpy(room, o->brief.bytes, o->brief.size);
    o->brief = brief_shadow(o->room, &inside, shadows);
    o->chunks *= 2;
}

enum err objective_open(struct objective *objective,
                        const struct objective_options *options,
                        struct pool *pool, struct why *why)
{
    enum err (*const open)(struct objective *, const struct objective_options *,
                           struct pool *, struct why *) =
        options->user != NULL                   ? open_user
        : options->net != NULL                  ? open_net
        : options->optim->kind == OPTIM_COLUMNS ? open_product
                                                : open_linear;
    enum err err;

    *objective = (struct objective){.shelf = {.data = options->data,
                                              .user = options->user,
                                              .isa = options->isa}};
    err = open(objective, options, pool, why);
    if (err == ERR_OK && options->shadows != NULL)
        add_samples(objective, options->shadows);
    if (err != ERR_OK)
        objective_close(objective);
    return err;
}

void objective_close(struct objective *objective)
{
    bounds_close(&objective->bounds);
    follow_close(&objective->follow);
    *objective = (struct objective){0};
}

struct digest objective_hash(const struct objective *objective, const double *w)
{
    if (objective->net != NULL)
        return neural_hash(objective->net, w);
    if (objective->columns > 0)
        return hash_vectors(w, objective->columns, objective->length,
                            objective->length);
    return hash_vectors(w, objective->vectors,
                        objective->dims / objective->vectors,
                        objective->length);
}

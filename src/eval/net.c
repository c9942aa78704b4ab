/*
 * net.c - sums over chunks of a network: a chunk is one microbatch, whose rows
 * the sampler names.
 *
 * Weights come as doubles and are rounded to floats once a round.  Gradients
 * are added to the tally as they come (model/net/work.h), the sizes of tensors
 * behind them (math/exact/follow.h): what was refused has spoilt the tally,
 * which nobody reads then.  Chunks of a run are brought several at a time, on
 * which the pool's threads work together.
 */
#include <string.h>

#include "base/bugs.h"
#include "base/mem.h"
#include "eval/kinds.h"
#include "math/exact/follow.h"
#include "math/exact/tally.h"
#include "model/net/scores.h"
#include "model/net/work.h"

struct net {
    struct evaluator head;
    struct neural_model model; /* Its parameters are those of `loaded`. */
    struct sampler sampler;
    uint32_t *cut;              /* As in linear.c. */
    uint32_t first_row;         /* As in the shelf. */
    uint64_t seed;              /* Of what layers draw. */
    const struct dataset *data; /* The shelf's. */
    struct neural_work *work;
    struct pool *pool; /* Borrowed. */
    uint64_t loaded;   /* The computation whose weights these are; 0: none. */
    /* Some microbatches. */
    uint32_t together; /* Rows, at most. */
    uint32_t *row, *label;
    uint64_t *id;
    float *x, *target, *weight;
    int64_t *size; /* Of each microbatch and tensor. */
    double *loss;  /* Of each microbatch. */
};

static const struct neural *neural_of(const struct net *net)
{
    return &net->model.neural;
}

static uint32_t parameters_of(const struct net *net)
{
    return (uint32_t)neural_of(net)->parameters;
}

/* --- memory --------------------------------------------------------------- */

static void net_close(struct evaluator *self)
{
    struct net *const net = (void *)self;

    neural_work_free(net->work);
    neural_model_close(&net->model);
    mem_free(net->cut);
    mem_free(net->row);
    mem_free(net->label);
    mem_free(net->id);
    mem_free(net->x);
    mem_free(net->target);
    mem_free(net->weight);
    mem_free(net->size);
    mem_free(net->loss);
    mem_free(net);
}

/* The rows have all inputs, and weights if they were said to; the last layer
 * has an output for each class, or one. */
static bool rows_fit(const struct net *net, const struct dataset_shape *rows,
                     const struct shelf *shelf)
{
    const struct dataset *const data = shelf->data;
    const struct neural *const neural = neural_of(net);

    return data != NULL &&
           (shelf->part || (rows->weighted == (data->weight != NULL) &&
                            rows->rows == data->rows)) &&
           rows->cols == data->cols && rows->chunk_rows == data->chunk_rows &&
           neural_floats(&neural->in) == data->cols &&
           (neural->loss == NEURAL_SOFTMAX || neural_floats(&neural->out) == 1);
}

static enum err net_init(struct net *net, enum isa isa, struct pool *pool)
{
    const struct neural *const neural = neural_of(net);
    const uint32_t chunk = sampler_chunk_most(&net->sampler);
    const uint64_t step = (uint64_t)chunk * sampler_chunks(&net->sampler);
    const uint32_t most =
        step < neural_together(chunk) ? (uint32_t)step : neural_together(chunk);

    net->pool = pool;
    net->together = most;
    net->model.parameters = mem_new(neural->parameters, sizeof(float));
    net->row = mem_new(most, sizeof *net->row);
    net->label = mem_new(most, sizeof *net->label);
    net->id = mem_new(most, sizeof *net->id);
    net->x = mem_new(most * neural_floats(&neural->in), sizeof *net->x);
    net->target = mem_new(most, sizeof *net->target);
    net->weight = mem_new(most, sizeof *net->weight);
    net->size = mem_new((size_t)most * neural->tensor_count, sizeof *net->size);
    net->loss = mem_new(most, sizeof *net->loss);
    if (net->model.parameters == NULL || net->row == NULL ||
        net->label == NULL || net->id == NULL || net->x == NULL ||
        net->target == NULL || net->weight == NULL || net->size == NULL ||
        net->loss == NULL)
        return ERR_NOMEM;
    return neural_work_new(neural, most, chunk, isa, pool, &net->work, NULL);
}

static enum err net_open(const struct brief *brief, const struct shelf *shelf,
                         struct pool *pool, struct evaluator **out)
{
    struct net *const made = mem_new(1, sizeof *made);
    struct dataset_shape rows;
    enum err err = made == NULL ? ERR_NOMEM
                                : brief_read_net(brief, &rows, &made->model,
                                                 &made->sampler, &made->seed);

    if (err == ERR_OK && !rows_fit(made, &rows, shelf))
        err = ERR_SHAPE;
    if (err == ERR_OK)
        err = shelf_cut(shelf, &made->sampler, &made->cut);
    if (err == ERR_OK)
        err = net_init(made, shelf->isa, pool);
    if (err != ERR_OK) {
        if (made != NULL)
            net_close(&made->head);
        return err;
    }
    made->data = shelf->data;
    made->first_row = shelf->first_row;
    made->head = (struct evaluator){
        .ops = &net_evaluator,
        .dims = neural_sums_dims(neural_of(made)),
        .sums = neural_sums_dims(neural_of(made)),
        .chunks = sampler_chunks(&made->sampler),
        .shard_max = dataset_chunk_bytes_max(shelf->data),
        .scattered = sampler_reach(&made->sampler, dataset_chunks(shelf->data)),
    };
    *out = &made->head;
    return ERR_OK;
}

static enum err net_shape(const struct brief *brief,
                          struct dataset_shape *shape)
{
    struct neural_model model = {0};
    struct sampler sampler;
    uint64_t seed;
    const enum err err = brief_read_net(brief, shape, &model, &sampler, &seed);

    neural_model_close(&model);
    return err;
}

/* --- a run ---------------------------------------------------------------- */

static enum err load(struct net *net, const struct computation *asked)
{
    enum err err;

    if (asked->name != 0 && asked->name == net->loaded)
        return ERR_OK;
    net->loaded = 0;
    neural_round(neural_of(net), net->pool, asked->what.w,
                 net->model.parameters);
    err = neural_work_load(net->work, net->model.parameters);
    if (err == ERR_OK)
        net->loaded = asked->name;
    return err;
}

static void net_forget(struct evaluator *self)
{
    struct net *const net = (void *)self;

    net->loaded = 0;
}

/* Of weight 0: whatever it says, it has no part in any sum. */
static void blank_row(struct net *net, uint32_t i)
{
    const size_t cols = neural_floats(&neural_of(net)->in);

    memset(net->x + i * cols, 0, cols * sizeof *net->x);
    net->target[i] = 0;
    net->label[i] = 0;
}

/* False: a label is none of this network's classes. */
static bool read_labels(struct net *net, uint32_t count)
{
    const size_t classes = neural_floats(&neural_of(net)->out);
    const struct neural_units *const units = &net->model.units;

    for (uint32_t i = 0; i < count; i++) {
        const double y = net->data->y[net->row[i]];

        net->target[i] = (float)((y - units->mean) / units->spread);
        if (net->data->weight != NULL)
            net->weight[i] = (float)net->data->weight[net->row[i]];
        if (net->data->weight != NULL && net->weight[i] == 0) {
            blank_row(net, i);
            continue;
        }
        if (neural_of(net)->loss != NEURAL_SOFTMAX)
            continue;
        if (!(y >= 0 && y < (double)classes))
            return false;
        net->label[i] = (uint32_t)y;
    }
    return true;
}

/* Those of microbatch m go behind the sums.  ERR_TOOBIG. */
static enum err add_sizes(const struct net *net,
                          const struct computation *asked, uint32_t m)
{
    const uint32_t tensors = neural_of(net)->tensor_count;
    const uint32_t chunks = net->head.chunks;
    const int64_t limit = INT64_C(1) << follow_bits(NEURAL_BITS, chunks);
    const int16_t *const exponent = asked->exponent + parameters_of(net);
    const int64_t *const size = net->size + (size_t)m * tensors;
    int64_t *const sum = asked->tally->sum + parameters_of(net);
    int64_t units;

    if (!follow_measure_loss(NEURAL_BITS, chunks, exponent[tensors],
                             net->loss[m], &units))
        return ERR_TOOBIG;
    for (uint32_t t = 0; t < tensors; t++) {
        if (size[t] >= limit)
            return ERR_TOOBIG;
        sum[t] += size[t];
    }
    sum[tensors] += units;
    return ERR_OK;
}

/* The rows of a chunk from place `at` on.  Layers draw by a row's number among
 * all; it is read by its place here. */
static void select_rows(struct net *net, uint32_t step, uint32_t chunk,
                        uint32_t count, uint32_t at)
{
    (void)sampler_select(&net->sampler, step, chunk, net->row + at);
    for (uint32_t i = at; i < at + count; i++) {
        net->id[i] = net->row[i];
        net->row[i] -= net->first_row;
    }
}

/* Fills in the rows of chunks from `first` on, as many chunks as may go
 * through the layers together: all have as many rows as the first one, but the
 * last may have fewer. */
static uint32_t gather(struct net *net, const struct computation *asked,
                       uint32_t first, struct neural_rows *rows)
{
    uint32_t chunk = first;

    while (chunk < asked->end && rows->count == (chunk - first) * rows->micro) {
        const uint32_t more =
            sampler_chunk_rows(&net->sampler, asked->step, chunk);

        if (chunk == first)
            rows->micro = more;
        if (more > rows->micro || more > net->together - rows->count)
            break;
        select_rows(net, asked->step, chunk, more, rows->count);
        rows->count += more;
        chunk++;
    }
    return chunk - first;
}

static enum err add_rows(struct net *net, const struct computation *asked,
                         const struct neural_rows *rows)
{
    struct tally *const tally = asked->tally;
    struct neural_sums sums = {.exponent = asked->exponent + parameters_of(net),
                               .sum = tally->sum,
                               .blank = tally->blank,
                               .size = net->size,
                               .loss = net->loss};
    enum err err;

    neural_model_rows(&net->model, net->data, net->row, rows->count, net->x);
    if (!read_labels(net, rows->count))
        return ERR_RANGE;
    err = neural_work_gradient(net->work, rows, &sums);
    if (tally->blank)
        memset(tally->sum + parameters_of(net), 0,
               (tally->dims - parameters_of(net)) * sizeof *tally->sum);
    tally->blank = false;
    for (uint32_t m = 0; err == ERR_OK && m * rows->micro < rows->count; m++)
        err = add_sizes(net, asked, m);
    return err;
}

/* Chunks from `first` on; *taken is how many. */
static enum err add_chunks(struct net *net, const struct computation *asked,
                           uint32_t first, uint32_t *taken)
{
    struct neural_rows rows = {
        .x = net->x,
        .label = net->label,
        .target = net->target,
        .weight = net->data->weight == NULL ? NULL : net->weight,
        .id = net->id,
        .seed = net->seed,
        .step = BUG(BUG_OLD_DROPS) ? 0 : asked->step};
    enum err err = ERR_OK;

    *taken = gather(net, asked, first, &rows);
    if (rows.count > 0)
        err = add_rows(net, asked, &rows);
    else
        tally_fill(asked->tally);
    for (uint32_t m = 0; err == ERR_OK && m < *taken; m++)
        tally_mark(asked->tally, asked->exponent, first + m,
                   m * rows.micro < rows.count ? net->loss[m] : 0);
    return err;
}

static enum err net_run(struct evaluator *self, const struct computation *asked,
                        const struct flag *cancel)
{
    struct net *const net = (void *)self;
    enum err err = asked->what.kind == EVALUATE_GRADIENT &&
                           asked->tally->dims == self->dims
                       ? load(net, asked)
                       : ERR_SHAPE;

    if (err != ERR_OK)
        return err;
    for (uint32_t k = asked->first, taken = 0; k < asked->end && err == ERR_OK;
         k += taken) {
        if (cancel != NULL && flag_raised(cancel))
            err = ERR_CANCELLED;
        else
            err = add_chunks(net, asked, k, &taken);
    }
    tally_fill(asked->tally); /* If nothing was added. */
    return err;
}

static bool net_has_vector(const struct evaluator *self,
                           enum evaluation_kind kind)
{
    (void)self;
    (void)kind;
    return true;
}

const struct evaluator_ops net_evaluator = {
    .name = "net",
    .anywhere = true,
    .shape = net_shape,
    .open = net_open,
    .close = net_close,
    .run = net_run,
    .forget = net_forget,
    .has_vector = net_has_vector,
};

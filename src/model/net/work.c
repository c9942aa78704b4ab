/*
 * work.c - microbatches through the layers and back.
 *
 * Layers that go sample by sample and follow each other are one *stretch*: a
 * thread takes a sample through all of it, while its numbers are in the cache.
 * A layer that takes all samples at once is a stretch of its own.
 */
#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/rng.h"
#include "math/net/sums.h"
#include "model/net/loss.h"
#include "model/net/work_parts.h"

/* Multiplications that a stretch must have to be worth waking threads for. */
#define WORTH_THREADS 1000000u
/* Sizes of a microbatch's samples are added up no further, by one thread or by
 * several: no limit is as far, and a sum of more might not be an int64. */
#define SIZE_MOST (INT64_C(1) << 62)

/* Parameters of a slice that are worth a thread's waking. */
#define SLICE_LEAST 16384u

struct looking {
    const struct neural_work *work;
    const float *parameters;
    bool good[SLICES_MAX];
};

static void look_slice(void *context, uint32_t slice, uint32_t first,
                       uint32_t end)
{
    struct looking *const looking = context;

    looking->good[slice] = sums_finite(
        looking->work->isa, looking->parameters + first, end - first);
}

static bool all_finite(const struct neural_work *w, const float *parameters)
{
    struct looking looking = {.work = w, .parameters = parameters};
    const uint32_t slices = pool_slices(w->pool, (uint32_t)w->net->parameters,
                                        SLICE_LEAST, look_slice, &looking);
    bool good = true;

    for (uint32_t i = 0; i < slices; i++)
        good &= looking.good[i];
    return good;
}

enum err neural_work_load(struct neural_work *w, const float *parameters)
{
    if (!all_finite(w, parameters))
        return ERR_RANGE;
    w->parameters = parameters;
    for (uint32_t i = 0; i < w->net->layer_count; i++) {
        const struct layer *const l = layer_at(w, i);

        if (l->ops->pack != NULL)
            l->ops->pack(w->isa, l,
                         parameters + w->net->tensors[l->tensor].first,
                         w->packed[i]);
    }
    return ERR_OK;
}

/* --- what a layer is called with ----------------------------------------- */

static float *value_of(const struct neural_work *w, struct layer_sink *sink,
                       uint32_t b, uint32_t sample)
{
    const struct boundary *const at = &w->at[w->at[b].values];

    return at->kept ? at->value + sample * at->row : sink->value[at->turn];
}

static const float *input_of(const struct neural_work *w,
                             struct layer_sink *sink, uint32_t b,
                             uint32_t sample)
{
    if (w->at[b].values == 0)
        return w->rows->x + sample * w->at[0].row;
    return value_of(w, sink, b, sample);
}

static float *slope_of(const struct neural_work *w, struct layer_sink *sink,
                       uint32_t b, uint32_t sample)
{
    const struct boundary *const at = &w->at[w->at[b].gradient];

    return at->whole ? at->slope + sample * at->row
                     : sink->slope[at->back_turn];
}

static struct layer_call call_of(const struct neural_work *w,
                                 struct layer_sink *sink, uint32_t layer,
                                 uint32_t sample)
{
    const struct layer *const l = layer_at(w, layer);
    struct layer_call call = {.isa = w->isa,
                              .count = w->rows->count,
                              .micro = w->rows->micro,
                              .microbatch = w->begun + sample / w->rows->micro,
                              .training = w->training,
                              .x = input_of(w, sink, layer, sample),
                              .y = value_of(w, sink, layer + 1, sample),
                              .x_row = w->at[w->at[layer].values].row,
                              .y_row = w->at[w->at[layer + 1].values].row,
                              .packed = w->packed[layer],
                              .shared = w->shared,
                              .scratch = sink->scratch,
                              .sink = sink};

    if (l->weights > 0) {
        call.weights = w->parameters + w->net->tensors[l->tensor].first;
        call.bias = w->parameters + w->net->tensors[l->tensor + 1].first;
    }
    if (l->ops->kept != NULL)
        call.kept = w->kept[layer] + sample * l->ops->kept(l);
    if (w->training && w->rows->id != NULL)
        call.key = rng_at(rng_at(w->rows->seed, w->rows->step, layer),
                          w->rows->id[sample], 0);
    return call;
}

static struct layer_call back_of(const struct neural_work *w,
                                 struct layer_sink *sink, uint32_t layer,
                                 uint32_t sample)
{
    struct layer_call call = call_of(w, sink, layer, sample);

    call.dy = slope_of(w, sink, layer + 1, sample);
    if (layer > w->lowest)
        call.dx = slope_of(w, sink, layer, sample);
    return call;
}

static int64_t add_size(int64_t size, int64_t more)
{
    return more < SIZE_MOST - size ? size + more : SIZE_MOST;
}

/* Layers that go sample by sample share their parameters' sums among samples,
 * so that each thread has its own; items of the others are nobody else's. */
void layer_add(const struct layer *l, const struct layer_call *call, bool bias,
               size_t first, size_t count, const float *values)
{
    struct layer_sink *const sink = call->sink;
    const uint32_t tensor = l->tensor + (bias ? 1 : 0);
    const size_t seen =
        (size_t)call->microbatch * sink->work->net->tensor_count + tensor;
    const size_t at = sink->work->net->tensors[tensor].first + first;
    int64_t *const sum = l->ops->whole ? sink->sums->sum : sink->part;
    const int exponent = sink->sums->exponent[tensor];
    double largest = 0;

    /* While they are in the first-level cache. */
    if (l->ops->whole && sink->sums->blank && call->microbatch == 0)
        memset(sum + at, 0, count * sizeof *sum);
    if (!sums_add(call->isa, values, count, exponent, sum + at, &largest)) {
        sink->refused = true;
        sink->broken |= !sums_finite(call->isa, values, count);
    } else if (!l->ops->whole) {
        sink->size[seen] = add_size(sink->size[seen], (int64_t)ceil(largest));
    } else if (largest > sink->largest[seen]) {
        sink->largest[seen] = largest;
    }
}

void layer_fetch(const struct layer *l, const struct layer_call *call,
                 size_t first, size_t count)
{
    const struct layer_sink *const sink = call->sink;
    const size_t at = sink->work->net->tensors[l->tensor].first + first;

    for (size_t i = 0; i < count; i += MEM_LINE / sizeof(int64_t))
        __builtin_prefetch(sink->sums->sum + at + i, 1, 2);
}

/* --- stretches ----------------------------------------------------------- */

/* A number that is not finite might be passed over by a relu, a pool or a
 * gradient of 0; so nobody makes one. */
static void check_layer(const struct neural_work *w, struct layer_sink *sink,
                        const struct layer *l, const struct layer_call *call)
{
    if (l->weights > 0 && !l->ops->whole)
        sink->broken |= !sums_finite(w->isa, call->y, neural_floats(&l->to));
}

static void sample_forward(void *context, uint32_t thread, uint32_t sample)
{
    struct neural_work *const w = context;
    struct layer_sink *const sink = &w->threads[thread];

    for (uint32_t i = w->first; i < w->end; i++) {
        const struct layer_call call = call_of(w, sink, i, sample);

        layer_at(w, i)->ops->forward(layer_at(w, i), &call);
        check_layer(w, sink, layer_at(w, i), &call);
    }
}

static void sample_backward(void *context, uint32_t thread, uint32_t sample)
{
    struct neural_work *const w = context;
    struct layer_sink *const sink = &w->threads[thread];

    for (uint32_t i = w->end; i-- > w->first && i >= w->lowest;) {
        const struct layer_call call = back_of(w, sink, i, sample);

        layer_at(w, i)->ops->backward(layer_at(w, i), &call);
    }
}

static void item_forward(void *context, uint32_t thread, uint32_t item)
{
    struct neural_work *const w = context;
    struct layer_call call = call_of(w, &w->threads[thread], w->first, 0);

    call.item = item;
    layer_at(w, w->first)->ops->forward(layer_at(w, w->first), &call);
}

static void item_backward(void *context, uint32_t thread, uint32_t item)
{
    struct neural_work *const w = context;
    struct layer_call call = back_of(w, &w->threads[thread], w->first, 0);

    call.item = item;
    layer_at(w, w->first)->ops->backward(layer_at(w, w->first), &call);
}

/* The stretch that begins at a layer, or ends behind it. */
static void stretch_from(struct neural_work *w, uint32_t layer)
{
    w->first = layer;
    w->end = layer + 1;
    while (!layer_at(w, layer)->ops->whole && w->end < w->net->layer_count &&
           !layer_at(w, w->end)->ops->whole)
        w->end++;
}

static void stretch_to(struct neural_work *w, uint32_t end)
{
    w->end = end;
    w->first = end - 1;
    while (!layer_at(w, end - 1)->ops->whole && w->first > 0 &&
           !layer_at(w, w->first - 1)->ops->whole)
        w->first--;
}

static void run_items(struct neural_work *w, pool_item item, uint32_t items)
{
    uint64_t cost = 0;
    struct pool *pool = w->pool;

    for (uint32_t i = w->first; i < w->end; i++)
        cost += (uint64_t)neural_floats(&layer_at(w, i)->to) *
                (layer_at(w, i)->inputs + 1);
    if (cost * w->rows->count < WORTH_THREADS)
        pool = pool_serial();
    pool->run(pool, item, w, items);
}

static bool whole_finite(const struct neural_work *w)
{
    const struct boundary *const to = &w->at[w->end];
    bool good = true;

    for (uint32_t s = 0; s < w->rows->count; s++)
        good &= sums_finite(w->isa, value_of(w, &w->threads[0], w->end, s),
                            to->floats);
    return good;
}

static bool broken(const struct neural_work *w)
{
    for (uint32_t t = 0; t < w->pool->threads; t++) {
        if (w->threads[t].broken)
            return true;
    }
    return false;
}

static enum err forward(struct neural_work *w)
{
    const uint32_t count = w->net->layer_count;
    const size_t given = w->rows->count * w->at[0].row;

    if (!sums_finite(w->isa, w->rows->x, given))
        return ERR_RANGE;
    for (uint32_t i = 0; i < count; i = w->end) {
        const struct layer *const l = layer_at(w, i);

        stretch_from(w, i);
        if (!l->ops->whole) {
            run_items(w, sample_forward, w->rows->count);
            continue;
        }
        run_items(w, item_forward, l->ops->items(l, w->rows->count, true));
        if (!whole_finite(w))
            return ERR_RANGE;
    }
    return broken(w) ? ERR_RANGE : ERR_OK;
}

static void backward(struct neural_work *w)
{
    for (uint32_t end = w->net->layer_count; end > w->lowest; end = w->first) {
        const struct layer *const l = layer_at(w, end - 1);

        stretch_to(w, end);
        if (l->ops->whole) {
            struct layer_call call = back_of(w, &w->threads[0], w->first, 0);

            l->ops->begin(l, &call);
            run_items(w, item_backward,
                      l->ops->items(l, w->rows->count, false));
        } else {
            run_items(w, sample_backward, w->rows->count);
        }
        if (w->first == 0)
            break;
    }
}

static double loss_of(struct neural_work *w, uint32_t sample)
{
    const uint32_t end = w->net->layer_count;
    const size_t outputs = w->at[end].floats;
    const float *const z = value_of(w, &w->threads[0], end, sample);
    float *const slope = slope_of(w, &w->threads[0], end, sample);

    const double loss =
        w->net->loss == NEURAL_SOFTMAX
            ? loss_softmax(z, outputs, w->rows->label[sample], slope)
            : loss_squared(z, outputs, w->rows->target + sample * outputs,
                           slope);

    return w->rows->weight == NULL
               ? loss
               : loss_weigh(loss, w->rows->weight[sample], outputs, slope);
}

static enum err take_losses(struct neural_work *w, double *loss)
{
    bool good = true;

    for (uint32_t s = 0; s < w->rows->count; s++) {
        double *const sum = &loss[w->begun + s / w->rows->micro];

        if (s % w->rows->micro == 0)
            *sum = 0;
        *sum += loss_of(w, s);
        good &= isfinite(*sum) != 0;
    }
    return good ? ERR_OK : ERR_RANGE;
}

/* --- microbatches -------------------------------------------------------- */

static uint32_t microbatches(const struct neural_rows *rows)
{
    return (rows->count + rows->micro - 1) / rows->micro;
}

static void begin_thread(void *context, uint32_t thread, uint32_t item)
{
    struct neural_work *const w = context;
    struct layer_sink *const sink = &w->threads[item];
    const size_t seen = (size_t)microbatches(w->rows) * w->net->tensor_count;

    (void)thread;
    sink->refused = sink->broken = false;
    memset(sink->part, 0, w->parts * sizeof *sink->part);
    memset(sink->size, 0, seen * sizeof *sink->size);
    memset(sink->largest, 0, seen * sizeof *sink->largest);
}

/* Of layers that go sample by sample; the others set theirs themselves. */
static void clear_sums(const struct neural_work *w, int64_t *sum)
{
    for (uint32_t t = 0; t < w->net->tensor_count; t++) {
        const struct neural_tensor *const tensor = &w->net->tensors[t];

        if (!layer_at(w, tensor->layer)->ops->whole)
            memset(sum + tensor->first, 0, tensor->count * sizeof *sum);
    }
}

static void begin_sums(struct neural_work *w, struct neural_sums *sums)
{
    const uint32_t threads = w->pool->threads;
    struct pool *const pool =
        w->parts * threads < SLICE_LEAST ? pool_serial() : w->pool;

    for (uint32_t t = 0; t < threads; t++)
        w->threads[t].sums = sums;
    pool->run(pool, begin_thread, w, threads);
    if (sums != NULL && sums->blank)
        clear_sums(w, sums->sum);
}

/* Parameters [first, end) from the threads' parts: those of layers that take
 * all samples have nothing there. */
static void end_slice(void *context, uint32_t slice, uint32_t first,
                      uint32_t end)
{
    const struct neural_work *const w = context;
    int64_t *const sum = w->threads[0].sums->sum;

    (void)slice;
    for (uint32_t k = 0; k < w->pool->threads; k++) {
        const int64_t *const part = w->threads[k].part;

        for (uint32_t i = first; i < end; i++)
            sum[i] += part[i];
    }
}

/* The size of a tensor; `seen` is of a microbatch and of it. */
static int64_t size_of(const struct neural_work *w, size_t seen)
{
    double largest = 0;
    int64_t size = 0;

    for (uint32_t k = 0; k < w->pool->threads; k++) {
        size = add_size(size, w->threads[k].size[seen]);
        largest = fmax(largest, w->threads[k].largest[seen]);
    }
    return add_size(size, (int64_t)ceil(largest));
}

static bool refused(const struct neural_work *w)
{
    for (uint32_t t = 0; t < w->pool->threads; t++) {
        if (w->threads[t].refused)
            return true;
    }
    return false;
}

/* `count` samples from sample `first` of rows on. */
static struct neural_rows rows_from(const struct neural_work *w,
                                    const struct neural_rows *rows,
                                    uint32_t first, uint32_t count)
{
    const size_t outputs = w->at[w->net->layer_count].floats;
    struct neural_rows some = *rows;

    some.count = count;
    some.x += first * w->at[0].row;
    some.label = rows->label == NULL ? NULL : rows->label + first;
    some.target = rows->target == NULL ? NULL : rows->target + first * outputs;
    some.weight = rows->weight == NULL ? NULL : rows->weight + first;
    some.id = rows->id == NULL ? NULL : rows->id + first;
    return some;
}

/* Forward and back again: some microbatches at a time, by which no bit
 * changes. */
static enum err go_through(struct neural_work *w,
                           const struct neural_rows *rows, double *loss)
{
    const uint32_t near = w->near / rows->micro * rows->micro;
    enum err err = ERR_OK;

    for (uint32_t s = 0; err == ERR_OK && s < rows->count; s += near) {
        const uint32_t left = rows->count - s;
        const struct neural_rows some =
            rows_from(w, rows, s, left < near ? left : near);

        w->rows = &some;
        w->begun = s / rows->micro;
        err = forward(w);
        if (err == ERR_OK)
            err = take_losses(w, loss);
        if (err == ERR_OK)
            backward(w);
    }
    w->rows = rows;
    w->begun = 0;
    return err;
}

enum err neural_work_gradient(struct neural_work *w,
                              const struct neural_rows *rows,
                              struct neural_sums *sums)
{
    enum err err;

    CHECK(w->parameters != NULL && rows->count <= w->samples);
    CHECK(rows->micro > 0 && rows->micro <= w->near);
    w->rows = rows;
    w->training = true;
    begin_sums(w, sums);
    err = go_through(w, rows, sums->loss);
    if (err != ERR_OK)
        return err;
    if (refused(w))
        return broken(w) ? ERR_RANGE : ERR_TOOBIG;
    (void)pool_slices(w->pool, (uint32_t)w->parts,
                      SLICE_LEAST / w->pool->threads, end_slice, w);
    for (size_t i = 0; i < microbatches(rows) * w->net->tensor_count; i++)
        sums->size[i] = size_of(w, i);
    return ERR_OK;
}

enum err neural_work_scores(struct neural_work *w, const float *x,
                            uint32_t count, float *scores)
{
    const struct neural_rows rows = {.count = count, .micro = 1, .x = x};
    const uint32_t end = w->net->layer_count;
    enum err err = ERR_OK;

    CHECK(w->parameters != NULL && count <= w->samples);
    w->rows = &rows;
    w->training = false;
    begin_sums(w, NULL);
    for (uint32_t s = 0; err == ERR_OK && s < count; s += w->near) {
        const uint32_t left = count - s;
        const struct neural_rows some =
            rows_from(w, &rows, s, left < w->near ? left : w->near);

        w->rows = &some;
        err = forward(w);
        for (uint32_t i = 0; err == ERR_OK && i < some.count; i++)
            memcpy(scores + (s + i) * w->at[end].floats,
                   value_of(w, &w->threads[0], end, i),
                   w->at[end].floats * sizeof *scores);
    }
    w->rows = NULL;
    return err;
}

/*
 * room.c - the memory of a network in training: which boundaries share a
 * buffer, and which are kept for all samples.
 */
#include "base/check.h"
#include "base/mem.h"
#include "math/net/gemm.h"
#include "model/net/work_parts.h"

static void *take(struct neural_work *w, size_t count, size_t size)
{
    w->bytes += count * size;
    return mem_new(count, size);
}

/* Rows a multiple of a page apart would share the same few cache sets. */
static size_t row_of(size_t floats)
{
    return (floats + 15) / 16 * 16 + 16;
}

/* The layers on both sides, one of which may be missing. */
static bool beside_whole(const struct neural_work *w, uint32_t b)
{
    return b == w->net->layer_count || layer_at(w, b)->ops->whole ||
           (b > 0 && layer_at(w, b - 1)->ops->whole);
}

static bool values_kept(const struct neural_work *w, uint32_t b)
{
    return beside_whole(w, b) || layer_at(w, b)->ops->reads_input ||
           (b > 0 && layer_at(w, b - 1)->ops->reads_output);
}

/* Which boundaries share a buffer, and which are kept for all samples. */
static void plan_boundaries(struct neural_work *w)
{
    const uint32_t count = w->net->layer_count;
    uint32_t turn = 0, back_turn = 0;

    for (uint32_t b = 0; b <= count; b++) {
        const struct neural_shape *const shape =
            b < count ? &layer_at(w, b)->in : &w->net->out;

        w->at[b].floats = neural_floats(shape);
        w->at[b].row = b == 0 ? w->at[b].floats : row_of(w->at[b].floats);
        w->at[b].values =
            b > 0 && layer_at(w, b - 1)->in_place ? w->at[b - 1].values : b;
        w->at[w->at[b].values].kept |= values_kept(w, b);
        if (w->at[b].values == b)
            w->at[b].turn = turn++ % 2;
    }
    for (uint32_t b = count + 1; b-- > 0;) {
        struct boundary *const at = &w->at[b];

        at->gradient =
            b < count && layer_at(w, b)->in_place ? w->at[b + 1].gradient : b;
        w->at[at->gradient].whole |= beside_whole(w, b);
        if (at->gradient == b)
            at->back_turn = back_turn++ % 2;
    }
}

/* Buffers of all samples that are at this boundary and no other. */
static bool has_values(const struct neural_work *w, uint32_t b)
{
    return b > 0 && w->at[b].values == b && w->at[b].kept;
}

static bool has_slopes(const struct neural_work *w, uint32_t b)
{
    return b > w->lowest && w->at[b].gradient == b && w->at[b].whole;
}

static bool make_boundaries(struct neural_work *w)
{
    for (uint32_t b = 0; b <= w->net->layer_count; b++) {
        struct boundary *const at = &w->at[b];
        const size_t all = at->row * w->near + 16;

        if (has_values(w, b)) {
            at->value = take(w, all, sizeof(float));
            if (at->value == NULL)
                return false;
        }
        if (has_slopes(w, b)) {
            at->slope = take(w, all, sizeof(float));
            if (at->slope == NULL)
                return false;
        }
    }
    return true;
}

static bool make_layers(struct neural_work *w)
{
    size_t shared = 0;

    for (uint32_t i = 0; i < w->net->layer_count; i++) {
        const struct layer *const l = layer_at(w, i);

        if (l->ops->kept != NULL)
            w->kept[i] = take(w, w->near * l->ops->kept(l) + 64, 1);
        if (l->ops->packed != NULL)
            w->packed[i] = take(w, l->ops->packed(l), sizeof(float));
        if ((l->ops->kept != NULL && w->kept[i] == NULL) ||
            (l->ops->packed != NULL && w->packed[i] == NULL))
            return false;
        if (l->ops->shared != NULL && l->ops->shared(l, w->near) > shared)
            shared = l->ops->shared(l, w->near);
    }
    w->shared = take(w, shared, sizeof(float));
    return w->shared != NULL;
}

static bool make_thread(struct neural_work *w, struct layer_sink *sink)
{
    const size_t tensors = w->net->tensor_count;
    size_t scratch = 0, floats = 0;

    for (uint32_t i = 0; i < w->net->layer_count; i++) {
        const struct layer *const l = layer_at(w, i);
        const size_t need =
            l->ops->scratch == NULL ? 0 : l->ops->scratch(l, w->near);

        scratch = need > scratch ? need : scratch;
        floats = w->at[i].floats > floats ? w->at[i].floats : floats;
    }
    sink->work = w;
    sink->scratch = take(w, scratch, sizeof(float));
    for (int i = 0; i < 2; i++) {
        sink->value[i] = take(w, floats + 16, sizeof(float));
        sink->slope[i] = take(w, floats + 16, sizeof(float));
    }
    sink->part = take(w, w->parts, sizeof(int64_t));
    sink->size = take(w, tensors * w->samples, sizeof(int64_t));
    sink->largest = take(w, tensors * w->samples, sizeof(double));
    return sink->scratch != NULL && sink->value[0] != NULL &&
           sink->value[1] != NULL && sink->slope[0] != NULL &&
           sink->slope[1] != NULL && sink->part != NULL && sink->size != NULL &&
           sink->largest != NULL;
}

static bool make_threads(struct neural_work *w)
{
    w->threads = take(w, w->pool->threads, sizeof *w->threads);
    if (w->threads == NULL)
        return false;
    for (uint32_t t = 0; t < w->pool->threads; t++) {
        if (!make_thread(w, &w->threads[t]))
            return false;
    }
    return true;
}

static void find_ends(struct neural_work *w)
{
    bool found = false;

    for (uint32_t i = 0; i < w->net->layer_count; i++) {
        const struct layer *const l = layer_at(w, i);

        if (l->weights == 0)
            continue;
        if (!found)
            w->lowest = i;
        found = true;
        if (!l->ops->whole) {
            const struct neural_tensor *const bias =
                &w->net->tensors[l->tensor + 1];

            w->parts = bias->first + bias->count;
        }
    }
}

/* What samples have kept should still be near when they go back, so only some
 * go forward at a time, unless they are too few to share among threads, or
 * layers that take all samples would fetch too many weights and sums again: 24
 * bytes of each weight, which must be fewer than the bytes kept.  These go to
 * memory and back, so twice as many are saved; half of that is margin. */
#define NEAR_BYTES (UINT64_C(2) << 20)
#define NEAR_LEAST 16u /* Samples of a thread. */

/* Whole microbatches, whose memory is made afterwards. */
static uint32_t near_of(const struct neural_work *w, uint32_t micro)
{
    const uint64_t least = (uint64_t)NEAR_LEAST * w->pool->threads;
    uint64_t kept = 1, again = 0, near;

    for (uint32_t b = 0; b <= w->net->layer_count; b++)
        kept += w->at[b].row * sizeof(float) *
                ((has_values(w, b) ? 1u : 0u) + (has_slopes(w, b) ? 1u : 0u));
    for (uint32_t i = 0; i < w->net->layer_count; i++)
        again += layer_at(w, i)->ops->whole ? 24 * layer_at(w, i)->weights : 0;
    near = NEAR_BYTES / kept > least ? NEAR_BYTES / kept : least;
    if (again >= near * kept || near >= w->samples)
        return w->samples;
    return near < micro ? micro : (uint32_t)(near / micro * micro);
}

enum err neural_work_new(const struct neural *net, uint32_t samples,
                         uint32_t micro, enum isa isa, struct pool *pool,
                         struct neural_work **work, struct why *why)
{
    const enum err err = gemm_machine(why);
    struct neural_work *const w = err == ERR_OK ? mem_new(1, sizeof *w) : NULL;

    if (err != ERR_OK)
        return err;
    if (w == NULL)
        return ERR_NOMEM;
    CHECK(samples > 0 && micro > 0 && micro <= samples);
    w->net = net;
    w->pool = pool;
    w->isa = isa;
    w->samples = samples;
    w->bytes = sizeof *w;
    find_ends(w);
    w->at = take(w, net->layer_count + 1, sizeof *w->at);
    w->kept = take(w, net->layer_count, sizeof *w->kept);
    w->packed = take(w, net->layer_count, sizeof *w->packed);
    if (w->at == NULL || w->kept == NULL || w->packed == NULL) {
        neural_work_free(w);
        return ERR_NOMEM;
    }
    plan_boundaries(w);
    w->near = near_of(w, micro);
    if (!make_boundaries(w) || !make_layers(w) || !make_threads(w)) {
        neural_work_free(w);
        return ERR_NOMEM;
    }
    *work = w;
    return ERR_OK;
}

static void free_thread(struct layer_sink *sink)
{
    mem_free(sink->scratch);
    for (int i = 0; i < 2; i++) {
        mem_free(sink->value[i]);
        mem_free(sink->slope[i]);
    }
    mem_free(sink->part);
    mem_free(sink->size);
    mem_free(sink->largest);
}

void neural_work_free(struct neural_work *w)
{
    if (w == NULL)
        return;
    for (uint32_t t = 0; w->threads != NULL && t < w->pool->threads; t++)
        free_thread(&w->threads[t]);
    for (uint32_t b = 0; w->at != NULL && b <= w->net->layer_count; b++) {
        mem_free(w->at[b].value);
        mem_free(w->at[b].slope);
    }
    for (uint32_t i = 0; i < w->net->layer_count; i++) {
        mem_free(w->kept == NULL ? NULL : w->kept[i]);
        mem_free(w->packed == NULL ? NULL : w->packed[i]);
    }
    mem_free(w->threads);
    mem_free(w->at);
    mem_free(w->kept);
    mem_free(w->packed);
    mem_free(w->shared);
    mem_free(w);
}

size_t neural_work_bytes(const struct neural_work *w)
{
    return w->bytes;
}

uint32_t neural_work_near(const struct neural_work *w)
{
    return w->near;
}

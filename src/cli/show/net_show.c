/*
 * net_show.c - a network as `muster model show` prints it.
 */
#include "cli/show/net_show.h"

#include <stdio.h>
#include <string.h>

#include "base/pool.h"
#include "math/isa.h"
#include "model/net/work.h"
#include "node/host/outbox.h"
#include "wire/codec.h"

/* What is counted are bytes that are written to: memory that is only set aside
 * costs nothing, unless it is short, since then it is cleared (base/mem.c).
 * tests/memory/network.py measures.
 *
 * Of each parameter a worker fills a weight as evaluators are given it (fp64;
 * fp32 is widened where it came) and as layers take it (fp32), a sum, and an
 * exponent; it sets aside vectors for coded answers, for messages of other
 * kinds and for rounds to come, and exponents of those. */
#define WEIGHT_BYTES                                                           \
    (sizeof(double) + sizeof(float) + sizeof(int64_t) + sizeof(int16_t))
#define WEIGHT_SPARE (14 * sizeof(double) + 3 * sizeof(int16_t))
#define SHORT_VECTOR (UINT32_C(1) << 20)

/* A connection encrypts ahead of the kernel, and takes apart what has come:
 * beyond so many bytes of an answer it waits. */
#define LINK_MOST (UINT32_C(5) << 19)

/* Of each parameter a coordinator with adam fills the first weight, its own and
 * two moments, those three in a checkpoint, two sums, a gradient, an exponent,
 * and at the end the weight twice, as result and as its file.  It sets aside a
 * gradient, three vectors of messages, and their exponents.  (The second sum it
 * may not need, nor the second round.) */
#define STEER_BYTES (12 * sizeof(double) + sizeof(int16_t))
#define STEER_SPARE (4 * sizeof(double) + sizeof(int16_t))
/* An answer as it comes: sums on a grid of 26 bits, and the sign. */
#define ANSWER_BYTES sizeof(float)

enum { SHAPE_SIZE = 48, SIZE_SIZE = 24 };

/* Of the samples of one call. */
static enum err work_needs(const struct neural *net, uint32_t micro,
                           uint32_t threads, struct net_work *needs,
                           struct why *why)
{
    struct pool counted = {
        .threads = threads}; /* It runs nothing: only its size is asked. */
    struct neural_work *work;
    const enum err err = neural_work_new(net, needs->samples, micro, isa_best(),
                                         &counted, &work, why);

    if (err != ERR_OK)
        return err == ERR_NOMEM ? why_set(why, err, "out of memory") : err;
    needs->samples = neural_work_near(work);
    needs->bytes = neural_work_bytes(work);
    neural_work_free(work);
    return ERR_OK;
}

/* Two rounds as they are sent, weights in fp32: one may still be on its way. */
static size_t rounds_bytes(const struct neural *net)
{
    const uint32_t dims = neural_sums_dims(net);
    const size_t bound = codec_vectors_bound(dims, dims);

    return 2 * (bound < SHORT_VECTOR ? bound : net->parameters * sizeof(float));
}

enum err net_needs(const struct neural *net, uint32_t micro, uint32_t threads,
                   struct net_needs *needs, struct why *why)
{
    const size_t count = net->parameters;
    const size_t vector = count * sizeof(double);
    const bool is_short = vector < SHORT_VECTOR;
    const size_t images =
        neural_together(micro) * neural_floats(&net->in) * sizeof(float);
    struct net_needs made = {
        .threads = threads,
        .weights = count * (WEIGHT_BYTES + (is_short ? WEIGHT_SPARE : 0)),
        .link = vector < LINK_MOST ? vector : LINK_MOST,
        .all = {.samples = neural_together(micro)},
        .one = {.samples = micro},
        .steers = count * (STEER_BYTES + (is_short ? STEER_SPARE : 0)) +
                  rounds_bytes(net),
        .answer = count * ANSWER_BYTES};
    enum err err = work_needs(net, micro, threads, &made.all, why);

    if (err == ERR_OK)
        err = work_needs(net, micro, threads, &made.one, why);
    if (err != ERR_OK)
        return err;
    made.all.bytes += images;
    made.one.bytes += images;
    /* A piece's answer leaves while the next is computed: the sums twice, or,
     * where they are too long for that, the connection full both ways. */
    made.one.bytes += vector <= OUTBOX_SHORT_BYTES ? vector : made.link;
    *needs = made;
    return ERR_OK;
}

static const char *shape_text(const struct neural_shape *s,
                              char text[SHAPE_SIZE])
{
    (void)snprintf(text, SHAPE_SIZE, "%u x %u x %u", s->height, s->width,
                   s->channels);
    return text;
}

static const char *size_text(size_t bytes, char text[SIZE_SIZE])
{
    if (bytes < 1000000)
        (void)snprintf(text, SIZE_SIZE, "%.1f kB", (double)bytes / 1e3);
    else
        (void)snprintf(text, SIZE_SIZE, "%.1f MB", (double)bytes / 1e6);
    return text;
}

static void show_line(const char *layer, const char *shape, size_t parameters,
                      uint64_t flops)
{
    (void)printf("%-16s %-18s %12zu %14llu\n", layer, shape, parameters,
                 (unsigned long long)flops);
}

static void show_worker(const char *code, const struct net_needs *needs,
                        const struct net_work *work)
{
    char all[SIZE_SIZE], some[SIZE_SIZE];

    (void)printf("           %s: %s, with %s for %u images at a time\n", code,
                 size_text(needs->weights + needs->link + work->bytes, all),
                 size_text(work->bytes, some), work->samples);
}

static void show_memory(const struct neural *net, const struct net_needs *needs)
{
    char some[SIZE_SIZE], more[SIZE_SIZE];

    (void)printf("memory     of a worker, beside program and rows: weights %s "
                 "(%zu bytes each), messages %s, %u thread%s\n",
                 size_text(needs->weights, some),
                 needs->weights / net->parameters, size_text(needs->link, more),
                 needs->threads, needs->threads == 1 ? "" : "s");
    show_worker("uncoded", needs, &needs->all);
    show_worker("steal", needs, &needs->one);
    (void)printf(
        "           of the coordinator, with adam: up to %s (%zu bytes a "
        "weight), and %s for each worker\n",
        size_text(needs->steers, some), needs->steers / net->parameters,
        size_text(needs->answer, more));
}

void net_show(const struct neural_model *model, const struct net_needs *needs)
{
    const struct neural *const net = &model->neural;
    char shape[SHAPE_SIZE];

    (void)printf("%-16s %-18s %12s %14s\n", "layer", "output", "parameters",
                 "flops an image");
    (void)printf("%-16s %s\n", "input", shape_text(&net->in, shape));
    for (uint32_t i = 0; i < net->layer_count; i++) {
        const struct neural_layer l = neural_layer(net, i);

        show_line(l.text, shape_text(&l.to, shape), l.parameters, l.flops);
    }
    show_line("in all", "", net->parameters, neural_flops(net));
    show_memory(net, needs);
}

static json_t *shape_json(const struct neural_shape *shape)
{
    return json_pack("[III]", (json_int_t)shape->height,
                     (json_int_t)shape->width, (json_int_t)shape->channels);
}

json_t *net_json(const struct neural_model *model,
                 const struct net_needs *needs)
{
    const struct neural *const net = &model->neural;
    json_t *layers = json_array();

    for (uint32_t i = 0; i < net->layer_count; i++) {
        const struct neural_layer l = neural_layer(net, i);

        (void)json_array_append_new(
            layers,
            json_pack("{s:s, s:o, s:I, s:I}", "layer", l.text, "output",
                      shape_json(&l.to), "parameters", (json_int_t)l.parameters,
                      "flops", (json_int_t)l.flops));
    }
    return json_pack(
        "{s:s, s:o, s:o, s:I, s:I, s:{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, "
        "s:I, s:I}}",
        "net", model->text, "input", shape_json(&net->in), "layers", layers,
        "parameters", (json_int_t)net->parameters, "flops",
        (json_int_t)neural_flops(net), "memory", "threads",
        (json_int_t)needs->threads, "weight_bytes",
        (json_int_t)(needs->weights / net->parameters), "weights",
        (json_int_t)needs->weights, "messages", (json_int_t)needs->link,
        "uncoded_images", (json_int_t)needs->all.samples, "uncoded_work",
        (json_int_t)needs->all.bytes, "steal_images",
        (json_int_t)needs->one.samples, "steal_work",
        (json_int_t)needs->one.bytes, "coordinator", (json_int_t)needs->steers,
        "coordinator_worker", (json_int_t)needs->answer);
}

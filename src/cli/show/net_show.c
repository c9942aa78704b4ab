/*
 * net_show.c - a network as `muster model show` prints it.
 */
#include "cli/show/net_show.h"

#include <stdio.h>
#include <string.h>

#include "base/pool.h"
#include "math/isa.h"
#include "model/net/work.h"

/* Of each parameter a worker fills a weight as evaluators are given it (fp64;
 * fp32 is widened where it came) and as layers take it (fp32), a sum, and an
 * exponent; tests/memory/network.py measures. */
#define WEIGHT_BYTES                                                           \
    (sizeof(double) + sizeof(float) + sizeof(int64_t) + sizeof(int16_t))
/* It sets aside twelve vectors more, for rounds to come, which take memory once
 * they are written to; short ones are, when they are cleared (base/mem.c). */
#define SPARE_VECTORS 12u
#define SHORT_VECTOR  (UINT32_C(1) << 20)

enum { SHAPE_SIZE = 48, SIZE_SIZE = 24 };

enum err net_needs(const struct neural *net, uint32_t micro, uint32_t threads,
                   struct net_needs *needs, struct why *why)
{
    const uint32_t samples = neural_together(micro);
    const size_t vector = net->parameters * sizeof(double);
    const size_t each =
        WEIGHT_BYTES +
        (vector < SHORT_VECTOR ? SPARE_VECTORS * sizeof(double) : 0);
    struct pool counted = {
        .threads = threads}; /* It runs nothing: only its size is asked. */
    struct neural_work *work;
    const enum err err =
        neural_work_new(net, samples, isa_best(), &counted, &work, why);

    if (err != ERR_OK)
        return err == ERR_NOMEM ? why_set(why, err, "out of memory") : err;
    *needs = (struct net_needs){.samples = samples,
                                .threads = threads,
                                .weights = net->parameters * each,
                                .work = neural_work_bytes(work)};
    neural_work_free(work);
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

void net_show(const struct neural_model *model, const struct net_needs *needs)
{
    const struct neural *const net = &model->neural;
    char shape[SHAPE_SIZE], all[SIZE_SIZE], weights[SIZE_SIZE], work[SIZE_SIZE];

    (void)printf("%-16s %-18s %12s %14s\n", "layer", "output", "parameters",
                 "flops an image");
    (void)printf("%-16s %s\n", "input", shape_text(&net->in, shape));
    for (uint32_t i = 0; i < net->layer_count; i++) {
        const struct neural_layer l = neural_layer(net, i);

        show_line(l.text, shape_text(&l.to, shape), l.parameters, l.flops);
    }
    show_line("in all", "", net->parameters, neural_flops(net));
    (void)printf("memory     %s a worker, beside program and rows: weights %s "
                 "(%zu bytes each), %s for %u images at a time on %u "
                 "thread%s\n",
                 size_text(needs->weights + needs->work, all),
                 size_text(needs->weights, weights),
                 needs->weights / net->parameters, size_text(needs->work, work),
                 needs->samples, needs->threads,
                 needs->threads == 1 ? "" : "s");
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
        "{s:s, s:o, s:o, s:I, s:I, s:{s:I, s:I, s:I, s:I, s:I}}", "net",
        model->text, "input", shape_json(&net->in), "layers", layers,
        "parameters", (json_int_t)net->parameters, "flops",
        (json_int_t)neural_flops(net), "memory", "images",
        (json_int_t)needs->samples, "threads", (json_int_t)needs->threads,
        "weight_bytes", (json_int_t)(needs->weights / net->parameters),
        "weights", (json_int_t)needs->weights, "work", (json_int_t)needs->work);
}

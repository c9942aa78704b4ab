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

/* A connection encrypts ahead of the kernel, and takes apart what has come:
 * beyond so many bytes of an answer it waits. */
#define LINK_MOST (UINT32_C(5) << 19)

/* Of each parameter a coordinator with adam and few workers on connections
 * takes so many bytes (state, sums, receipt, checkpoint, messages), up to so
 * many as answers cross, and what short vectors set aside.  Measured, not
 * counted: tests/memory/network.py. */
#define STEER_BYTES       150u
#define STEER_BYTES_MOST  230u
#define STEER_BYTES_SPARE 40u

enum { SHAPE_SIZE = 48, SIZE_SIZE = 24 };

/* What so many samples at a time take. */
static enum err work_bytes(const struct neural *net, uint32_t samples,
                           uint32_t threads, size_t *bytes, struct why *why)
{
    struct pool counted = {
        .threads = threads}; /* It runs nothing: only its size is asked. */
    struct neural_work *work;
    const enum err err =
        neural_work_new(net, samples, isa_best(), &counted, &work, why);

    if (err != ERR_OK)
        return err == ERR_NOMEM ? why_set(why, err, "out of memory") : err;
    *bytes = neural_work_bytes(work);
    neural_work_free(work);
    return ERR_OK;
}

enum err net_needs(const struct neural *net, uint32_t micro, uint32_t threads,
                   struct net_needs *needs, struct why *why)
{
    const size_t vector = net->parameters * sizeof(double);
    const bool is_short = vector < SHORT_VECTOR;
    const size_t each =
        WEIGHT_BYTES + (is_short ? SPARE_VECTORS * sizeof(double) : 0);
    const size_t spare = is_short ? STEER_BYTES_SPARE : 0;
    struct net_needs made = {.samples = neural_together(micro),
                             .micro = micro,
                             .threads = threads,
                             .weights = net->parameters * each,
                             .link = vector < LINK_MOST ? vector : LINK_MOST,
                             .under_way = 2 * vector,
                             .steers = net->parameters * (STEER_BYTES + spare),
                             .steers_most =
                                 net->parameters * (STEER_BYTES_MOST + spare)};
    enum err err = work_bytes(net, made.samples, threads, &made.work, why);

    if (err == ERR_OK)
        err = work_bytes(net, micro, threads, &made.least, why);
    if (err == ERR_OK)
        *needs = made;
    return err;
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

static void show_memory(const struct neural *net, const struct net_needs *needs)
{
    const size_t always = needs->weights + needs->link;
    char weights[SIZE_SIZE], link[SIZE_SIZE], all[SIZE_SIZE], most[SIZE_SIZE],
        work[SIZE_SIZE];

    (void)printf("memory     of a worker, beside program and rows: weights %s "
                 "(%zu bytes each), messages %s, %u thread%s\n",
                 size_text(needs->weights, weights),
                 needs->weights / net->parameters, size_text(needs->link, link),
                 needs->threads, needs->threads == 1 ? "" : "s");
    (void)printf("           uncoded: %s, with %s for %u images at a time\n",
                 size_text(always + needs->work, all),
                 size_text(needs->work, work), needs->samples);
    (void)printf("           steal: %s to %s, with %s for %u images at a time, "
                 "as messages cross\n",
                 size_text(always + needs->least, all),
                 size_text(always + needs->least + needs->under_way, most),
                 size_text(needs->least, work), needs->micro);
    (void)printf(
        "           coordinator, with adam: %s to %s, as answers cross\n",
        size_text(needs->steers, all), size_text(needs->steers_most, most));
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
        "s:I, s:I, s:I}}",
        "net", model->text, "input", shape_json(&net->in), "layers", layers,
        "parameters", (json_int_t)net->parameters, "flops",
        (json_int_t)neural_flops(net), "memory", "images",
        (json_int_t)needs->samples, "threads", (json_int_t)needs->threads,
        "weight_bytes", (json_int_t)(needs->weights / net->parameters),
        "weights", (json_int_t)needs->weights, "messages",
        (json_int_t)needs->link, "work", (json_int_t)needs->work, "microbatch",
        (json_int_t)needs->micro, "microbatch_work", (json_int_t)needs->least,
        "under_way", (json_int_t)needs->under_way, "coordinator",
        (json_int_t)needs->steers, "coordinator_most",
        (json_int_t)needs->steers_most);
}

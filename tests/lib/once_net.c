/*
 * once_net.c - the same of a network on batches of generated digits, whose
 * weights are written as floats.
 *
 *     once train-net NET gen:digits:ROWS SHUFFLE STEPS SEED ISA
 *
 * as `muster train gen:digits:ROWS --net NET --shuffle SHUFFLE --steps STEPS
 * --seed SEED --isa ISA --optim adam --batch 24 --chunk-rows 8 --lr 0.01
 * --schedule constant` does, whose hash is that of these bytes.  The loop is
 * the simulator's own (sim/networked.h).
 */
#include "once.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/make/gen.h"
#include "data/rows/image.h"
#include "sim/networked.h"

enum { BATCH = 24, CHUNK_ROWS = 8 };

static void must(enum err err, const char *what)
{
    if (err == ERR_OK)
        return;
    (void)fprintf(stderr, "once: %s: %s\n", what, err_text(err));
    exit(1);
}

/* Weights as `muster train` draws them, sizes behind. */
static double *draw_start(const struct neural *net, uint64_t seed)
{
    float *drawn = mem_new(net->parameters, sizeof *drawn);
    double *start = mem_new(neural_sums_dims(net), sizeof *start);

    if (drawn == NULL || start == NULL)
        must(ERR_NOMEM, "weights");
    neural_draw(net, seed, drawn);
    for (size_t j = 0; j < net->parameters; j++)
        start[j] = (double)drawn[j];
    mem_free(drawn);
    return start;
}

static void train(struct networked *net, struct optim *optim)
{
    const uint32_t dims = neural_sums_dims(&net->model->neural);
    double *sums = mem_new((size_t)dims + 1, sizeof *sums);
    int16_t *exponent = mem_new((size_t)dims + 1, sizeof *exponent);
    struct tally tally;
    struct ask ask;

    if (sums == NULL || exponent == NULL)
        must(ERR_NOMEM, "sums");
    must(tally_init(&tally, dims, net->follow.chunks), "tally");
    while ((ask = optim_next(optim)).kind != ASK_DONE) {
        must(
            networked_sums(net, optim->step, &ask.what, exponent, &tally, sums),
            "step");
        (void)optim_feed(optim, sums, sums[dims]);
    }
}

int once_net(int argc, char **argv)
{
    struct optim_options options = optim_defaults(OPTIM_ADAM);
    struct neural_model model;
    struct neural_shape in;
    struct networked net;
    struct image_sizes sizes;
    struct neural_units units;
    struct dataset data;
    struct optim optim;
    enum sampler_kind kind;
    enum isa isa;
    struct why why = {0};
    uint64_t seed;
    float weight;

    if (argc != 8 || !sampler_parse(argv[4], &kind) ||
        !isa_parse(argv[7], &isa) || !isa_runs(isa))
        return 2;
    seed = strtoull(argv[6], NULL, 10);
    must(gen_load(&(struct source_options){.spec = argv[3],
                                           .classes = true,
                                           .chunk_rows = CHUNK_ROWS,
                                           .seed = seed},
                  &data, NULL, NULL, &why),
         why.text);
    in = (struct neural_shape){data.image.height, data.image.width,
                               data.image.channels};
    must(image_sizes(&data, &sizes), "out of memory");
    units = neural_units(image_divisor(&sizes));
    must(neural_model_init(&model, argv[2], &in, NEURAL_SOFTMAX, &units, &why),
         why.text);
    options.rate = 0.01;
    options.schedule = SCHEDULE_CONSTANT;
    options.steps = (uint32_t)strtoul(argv[5], NULL, 10);
    options.rows = data.rows;
    options.seed = seed;
    options.sampler = sampler_of(kind, data.rows, CHUNK_ROWS, BATCH, seed);
    options.start = draw_start(&model.neural, seed);
    must(optim_init(&optim, &options, neural_sums_dims(&model.neural)),
         "optim");
    must(networked_init(&net, &model, &data, isa, &options,
                        sampler_chunks(&options.sampler)),
         "network");
    train(&net, &optim);
    for (size_t j = 0; j < model.neural.parameters; j++) {
        weight = (float)optim_weights(&optim)[j];
        if (fwrite(&weight, sizeof weight, 1, stdout) != 1)
            return 1;
    }
    return 0;
}

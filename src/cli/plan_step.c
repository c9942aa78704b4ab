/*
 * plan_step.c - from --rows, --batch, --passes and --net to the work of a step.
 */
#include "cli/plan_step.h"

#include "base/mem.h"
#include "base/sampler.h"
#include "learn/batches.h"
#include "learn/family/family.h"
#include "learn/network_text.h"
#include "model/net/neural_model.h"

#define GIGA 1e9

/* Floating-point operations of a row's gradient. */
static enum err net_flops(const char *net, const char *shape, double *flops,
                          struct why *why)
{
    const struct neural_units units = neural_units(1);
    struct neural_model model = {0};
    struct neural_shape in;
    struct image image;
    char *text = NULL;
    enum err err;

    if (shape == NULL)
        return why_set(why, ERR_SHAPE,
                       "--net has a cost once its input has a shape: add "
                       "--shape 28x28x1 (of a table with 4 columns, 1x1x4)");
    err = image_parse(shape, &image, why);
    if (err == ERR_OK)
        err = network_text(net, &text, why);
    if (err != ERR_OK)
        return err;
    in = (struct neural_shape){image.height, image.width, image.channels};
    err = neural_model_init(&model, text, &in, NEURAL_SQUARED, &units, why);
    if (err == ERR_OK)
        *flops = (double)NEURAL_TRAIN * (double)neural_flops(&model.neural);
    neural_model_close(&model);
    mem_free(text);
    return err == ERR_OK ? err : why_in(why, err, "--net");
}

/* A worker's share of all rows. */
static enum err net_work(const struct options *options, uint32_t workers,
                         struct plan_step *step, struct why *why)
{
    double flops = 0;
    enum err err;

    if (option_text(options, OPT_NET) == NULL)
        return option_given(options, OPT_GFLOPS)
                   ? why_set(why, ERR_SHAPE,
                             "--gflops is the speed at which a network is "
                             "computed; add --net")
                   : ERR_OK;
    step->traits |= TRAIT(NET);
    if (option_given(options, OPT_WORK))
        return ERR_OK;
    err = net_flops(option_text(options, OPT_NET),
                    option_text(options, OPT_SHAPE), &flops, why);
    if (err != ERR_OK)
        return err;
    if (step->rows == 0 || !option_given(options, OPT_GFLOPS))
        return why_set(why, ERR_SHAPE,
                       "--net takes %.3g flops a row; add --rows N and "
                       "--gflops G, a worker's speed, or --work S",
                       flops);
    step->work_s = flops * step->rows / workers /
                   (option_real(options, OPT_GFLOPS) * GIGA);
    return ERR_OK;
}

/* As the rows of a training would be cut. */
static enum err choose(const struct recipe *recipe, uint32_t rows,
                       struct sampler *sampler, struct why *why)
{
    const struct family *const family =
        recipe_text(recipe, OPT_NET) != NULL ? &net_family : &linear_family;
    const uint32_t chunk_rows =
        recipe_given(recipe, OPT_CHUNK_ROWS)
            ? (uint32_t)recipe_count(recipe, OPT_CHUNK_ROWS)
            : dataset_default_chunk_rows(rows);
    struct dataset data = {.rows = rows, .chunk_rows = chunk_rows};
    enum err err = chunkset_init(&data.present,
                                 rows / chunk_rows + (rows % chunk_rows != 0));

    if (err != ERR_OK)
        return why_set(why, err, "--rows %u: %s", rows, err_text(err));
    chunkset_fill(&data.present);
    err = batches_cut(recipe, family, &data, why);
    if (err == ERR_OK)
        err = batches_choose(recipe, family, &data, sampler, why);
    dataset_close(&data);
    return err;
}

static enum err take_batch(struct recipe *recipe, uint32_t workers,
                           struct plan_step *step, struct why *why)
{
    struct sampler sampler = sampler_whole;
    enum err err = batches_gather(recipe, workers, why);

    if (err != ERR_OK || recipe_text(recipe, OPT_BATCH) == NULL)
        return err;
    if (step->rows == 0)
        return why_set(why, ERR_SHAPE,
                       "--batch is a part of all rows; add --rows N, how many "
                       "there are");
    err = choose(recipe, step->rows, &sampler, why);
    if (err != ERR_OK)
        return err;
    step->batch = (uint32_t)recipe_count(recipe, OPT_BATCH);
    if (sampler.kind == SAMPLER_WHOLE)
        return ERR_OK;
    step->traits |= TRAIT(BATCH);
    step->steps = sampler_steps(&sampler);
    step->chunks = sampler_chunks(&sampler);
    step->share = (double)step->batch / step->rows;
    step->everywhere = sampler_scatters(sampler.kind);
    return ERR_OK;
}

enum err plan_step(struct options *options, uint32_t workers,
                   struct plan_step *step, struct why *why)
{
    enum err err;

    *step = (struct plan_step){.steps = 1, .share = 1};
    step->rows = (uint32_t)option_count(options, OPT_ROWS);
    step->passes = (uint32_t)option_count(options, OPT_PASSES);
    err = take_batch(&options->recipe, workers, step, why);
    return err == ERR_OK ? net_work(options, workers, step, why) : err;
}

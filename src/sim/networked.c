/*
 * networked.c - the simulator's own loop over a network's microbatches.
 */
#include "sim/networked.h"

#include <math.h>

#include "base/check.h"
#include "base/mem.h"
#include "model/net/scores.h"

enum err networked_follow(const struct neural_model *model, uint32_t chunks,
                          struct follow *follow)
{
    const struct neural *const net = &model->neural;
    uint32_t end[NEURAL_TENSORS_MAX];

    for (uint32_t t = 0; t < net->tensor_count; t++)
        end[t] = (uint32_t)(net->tensors[t].first + net->tensors[t].count);
    return follow_init_blocks(follow, end, net->tensor_count, NEURAL_BITS,
                              chunks);
}

static bool make_room(struct networked *net, uint32_t most)
{
    const struct neural *const neural = &net->model->neural;

    net->parameters = mem_new(neural->parameters, sizeof *net->parameters);
    net->x = mem_new(most * neural_floats(&neural->in), sizeof *net->x);
    net->target = mem_new(most, sizeof *net->target);
    net->weight = mem_new(most, sizeof *net->weight);
    net->row = mem_new(most, sizeof *net->row);
    net->label = mem_new(most, sizeof *net->label);
    net->id = mem_new(most, sizeof *net->id);
    net->size = mem_new(neural->tensor_count, sizeof *net->size);
    return net->parameters != NULL && net->x != NULL && net->target != NULL &&
           net->weight != NULL && net->row != NULL && net->label != NULL &&
           net->id != NULL && net->size != NULL;
}

enum err networked_init(struct networked *net, const struct neural_model *model,
                        const struct dataset *data, enum isa isa,
                        const struct optim_options *optim, uint32_t chunks)
{
    struct networked made = {.model = model,
                             .data = data,
                             .sampler = optim->sampler,
                             .seed = optim->seed};
    enum err err = networked_follow(model, chunks, &made.follow);

    if (made.sampler.kind == SAMPLER_WHOLE)
        made.sampler = (struct sampler){.rows = data->rows,
                                        .chunk_rows = data->chunk_rows};
    if (err == ERR_OK && !make_room(&made, sampler_chunk_most(&made.sampler)))
        err = ERR_NOMEM;
    if (err == ERR_OK)
        err = neural_work_new(&model->neural, sampler_chunk_most(&made.sampler),
                              sampler_chunk_most(&made.sampler), isa,
                              pool_serial(), &made.work, NULL);
    if (err == ERR_OK)
        *net = made;
    else
        networked_close(&made);
    return err;
}

void networked_close(struct networked *net)
{
    neural_work_free(net->work);
    follow_close(&net->follow);
    mem_free(net->parameters);
    mem_free(net->x);
    mem_free(net->target);
    mem_free(net->weight);
    mem_free(net->row);
    mem_free(net->label);
    mem_free(net->id);
    mem_free(net->size);
    *net = (struct networked){0};
}

/* Sizes of tensors and of the loss, behind the sums; false: one is too large.
 */
static bool add_sizes(const struct networked *net, double loss,
                      const int16_t *exponent, int64_t *sum)
{
    const uint32_t chunks = net->follow.chunks;
    const uint32_t tensors = net->model->neural.tensor_count;
    const double limit = ldexp(1, follow_bits(NEURAL_BITS, chunks));
    int64_t units = 0;
    bool fits = follow_measure_loss(NEURAL_BITS, chunks, exponent[tensors],
                                    loss, &units);

    for (uint32_t t = 0; t < tensors; t++) {
        fits = fits && (double)net->size[t] < limit;
        sum[t] += net->size[t];
    }
    sum[tensors] += units;
    return fits;
}

static enum err add_chunk(struct networked *net, uint32_t step, uint32_t chunk,
                          const int16_t *exponent, struct tally *total)
{
    const size_t parameters = net->model->neural.parameters;
    const struct neural_units *const units = &net->model->units;
    const double *const weight = net->data->weight;
    const uint32_t count = sampler_select(&net->sampler, step, chunk, net->row);
    const struct neural_rows rows = {.count = count,
                                     .micro = count,
                                     .x = net->x,
                                     .label = net->label,
                                     .target = net->target,
                                     .weight =
                                         weight == NULL ? NULL : net->weight,
                                     .id = net->id,
                                     .seed = net->seed,
                                     .step = step};
    double loss = 0;
    struct neural_sums sums = {.exponent = exponent + parameters,
                               .sum = total->sum,
                               .size = net->size,
                               .loss = &loss};
    enum err err = ERR_OK;

    neural_model_rows(net->model, net->data, net->row, count, net->x);
    for (uint32_t i = 0; i < count; i++) {
        const double y = net->data->y[net->row[i]];

        net->id[i] = net->row[i];
        net->target[i] = (float)((y - units->mean) / units->spread);
        if (weight != NULL)
            net->weight[i] = (float)weight[net->row[i]];
        net->label[i] = (uint32_t)fmax(y, 0);
    }
    if (count > 0)
        err = neural_work_gradient(net->work, &rows, &sums);
    if (err == ERR_OK && count > 0 &&
        !add_sizes(net, loss, exponent + parameters, total->sum + parameters))
        err = ERR_TOOBIG;
    if (err == ERR_OK)
        tally_mark(total, exponent, chunk, loss);
    return err;
}

/* Once over all chunks. */
static enum scale_verdict try_scale(struct networked *net, uint32_t step,
                                    const int16_t *exponent,
                                    struct tally *total, double *sums)
{
    struct scale *const scale = &net->follow.scale;
    enum err err = neural_work_load(net->work, net->parameters);

    tally_clear(total);
    for (uint32_t k = 0; k < net->follow.chunks && err == ERR_OK; k++)
        err = add_chunk(net, step, k, exponent, total);
    if (err != ERR_OK)
        return scale_refused(scale, EVALUATE_GRADIENT);
    (void)tally_gradient(total, exponent, sums);
    return scale_stands(scale, EVALUATE_GRADIENT, sums);
}

enum err networked_sums(struct networked *net, uint32_t step,
                        const struct evaluation *what, int16_t *exponent,
                        struct tally *total, double *sums)
{
    enum scale_verdict verdict;

    for (size_t j = 0; j < net->model->neural.parameters; j++)
        net->parameters[j] = (float)what->w[j];
    do {
        const enum err err =
            scale_exponents(&net->follow.scale, what, exponent);

        if (err != ERR_OK)
            return err;
        verdict = try_scale(net, step, exponent, total, sums);
    } while (verdict == SCALE_AGAIN);
    CHECK(verdict != SCALE_NO_FUNCTION);
    if (verdict == SCALE_STANDS)
        sums[total->dims] = tally_loss_value(total, exponent);
    return verdict == SCALE_STANDS ? ERR_OK : ERR_RANGE;
}

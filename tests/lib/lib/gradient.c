/*
 * gradient.c - a network's parameters, some samples and their gradient, for
 * who compares them with another program's (tests/lib/gradients.py).
 *
 *     net-gradient NET HEIGHTxWIDTHxCHANNELS softmax|squared SAMPLES
 *
 * Writes numbers of parameters and of inputs (64 bits), then parameters and
 * samples as floats, then the gradient and the loss as doubles.  Labels are
 * 0, 1, 2, ... in turn, targets 0.5; what is drawn is of seed 8, step 9 and
 * samples 0, 1, 2, ...
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/rng.h"
#include "model/net/work.h"

enum { EXPONENT = 44, TENSORS_MAX = 32, SAMPLES_MAX = 64 };

static void put(const void *values, size_t count, size_t size)
{
    CHECK(fwrite(values, size, count, stdout) == count);
}

static void fill(const struct neural *net, float *parameters, float *x,
                 float *target, uint32_t samples)
{
    neural_draw(net, 3, parameters);
    for (size_t i = 0; i < net->parameters; i++) /* Biases that are not 0. */
        parameters[i] += (float)(0.02 * (rng_unit_at(4, 0, i) - 0.5));
    for (size_t i = 0; i < samples * neural_floats(&net->in); i++)
        x[i] = (float)(rng_unit_at(5, 0, i) - 0.4);
    for (size_t i = 0; i < samples * neural_floats(&net->out); i++)
        target[i] = 0.5f;
}

static double gradient(const struct neural *net, const float *parameters,
                       const float *x, const float *target, uint32_t samples,
                       int64_t *sum)
{
    uint32_t label[SAMPLES_MAX];
    uint64_t id[SAMPLES_MAX];
    int16_t exponent[TENSORS_MAX];
    int64_t size[TENSORS_MAX];
    double loss;
    const struct neural_rows rows = {.count = samples,
                                     .micro = samples,
                                     .x = x,
                                     .label = label,
                                     .target = target,
                                     .id = id,
                                     .seed = 8,
                                     .step = 9};
    struct neural_sums sums = {
        .exponent = exponent, .size = size, .loss = &loss};
    struct neural_work *work;
    struct why why;

    sums.sum = sum;
    for (uint32_t s = 0; s < samples; s++) {
        label[s] = s % (uint32_t)neural_floats(&net->out);
        id[s] = s;
    }
    for (uint32_t t = 0; t < TENSORS_MAX; t++)
        exponent[t] = EXPONENT;
    CHECK(neural_work_new(net, samples, samples, isa_best(), pool_serial(),
                          &work, &why) == ERR_OK);
    CHECK(neural_work_load(work, parameters) == ERR_OK);
    CHECK(neural_work_gradient(work, &rows, &sums) == ERR_OK);
    neural_work_free(work);
    return loss;
}

static void write_all(const struct neural *net, uint32_t samples)
{
    const uint64_t counts[2] = {net->parameters, neural_floats(&net->in)};
    float *const parameters = mem_new(counts[0], sizeof *parameters);
    float *const x = mem_new(samples * counts[1], sizeof *x);
    float *const target =
        mem_new(samples * neural_floats(&net->out), sizeof *target);
    int64_t *const sum = mem_new(counts[0], sizeof *sum);
    double loss;

    CHECK(parameters != NULL && x != NULL && target != NULL && sum != NULL);
    fill(net, parameters, x, target, samples);
    loss = gradient(net, parameters, x, target, samples, sum);
    put(counts, 2, sizeof *counts);
    put(parameters, counts[0], sizeof *parameters);
    put(x, samples * counts[1], sizeof *x);
    for (size_t i = 0; i < counts[0]; i++) {
        const double g = ldexp((double)sum[i], -EXPONENT);

        put(&g, 1, sizeof g);
    }
    put(&loss, 1, sizeof loss);
    mem_free(parameters);
    mem_free(x);
    mem_free(target);
    mem_free(sum);
}

int main(int count, char **argument)
{
    struct neural_shape in;
    struct neural net;
    struct why why = {{0}};
    uint32_t samples;

    if (count != 5 || sscanf(argument[2], "%ux%ux%u", &in.height, &in.width,
                             &in.channels) != 3)
        return 2;
    samples = (uint32_t)strtoul(argument[4], NULL, 10);
    if (neural_init(&net, argument[1], &in,
                    strcmp(argument[3], "squared") == 0 ? NEURAL_SQUARED
                                                        : NEURAL_SOFTMAX,
                    &why) != ERR_OK) {
        (void)fprintf(stderr, "net-gradient: %s\n", why.text);
        return 2;
    }
    CHECK(samples > 0 && samples <= SAMPLES_MAX &&
          net.tensor_count <= TENSORS_MAX);
    write_all(&net, samples);
    neural_close(&net);
    return 0;
}

/*
 * neural_ref.c - layers as a textbook has them, in doubles, and central
 * differences.
 */
#include "neural_ref.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"
#include "model/net/layer.h"

enum { SAMPLES = 5, EXPONENT = 44, FLOATS_MAX = 16384 };

#define STEP 1e-6

static void conv(const struct layer *l, const double *w, const double *bias,
                 const double *x, double *y)
{
    for (uint32_t oy = 0; oy < l->to.height; oy++)
        for (uint32_t ox = 0; ox < l->to.width; ox++)
            for (uint32_t o = 0; o < l->out; o++) {
                double sum = bias[o];

                for (uint32_t t = 0; t < l->tall * l->wide; t++) {
                    const int64_t iy =
                        (int64_t)oy * l->stride + t / l->wide - (int64_t)l->pad;
                    const int64_t ix =
                        (int64_t)ox * l->stride + t % l->wide - (int64_t)l->pad;

                    if (iy < 0 || ix < 0 || iy >= l->in.height ||
                        ix >= l->in.width)
                        continue;
                    for (uint32_t i = 0; i < l->in.channels; i++)
                        sum += w[(o * l->tall * l->wide + t) * l->in.channels +
                                 i] *
                               x[(iy * l->in.width + ix) * l->in.channels + i];
                }
                y[(oy * l->to.width + ox) * l->out + o] = sum;
            }
}

static void dense(const struct layer *l, const double *w, const double *bias,
                  const double *x, double *y)
{
    for (uint32_t o = 0; o < l->out; o++) {
        y[o] = bias[o];
        for (uint32_t i = 0; i < l->inputs; i++)
            y[o] += x[i] * w[i * l->out + o];
    }
}

static void pool(const struct layer *l, const double *x, double *y)
{
    const uint32_t channels = l->in.channels;

    for (size_t i = 0; i < neural_floats(&l->to); i++) {
        const size_t c = i % channels, oy = i / channels / l->to.width,
                     ox = i / channels % l->to.width;
        double top = -INFINITY, sum = 0;

        for (size_t t = 0; t < (size_t)l->tall * l->wide; t++) {
            const double v = x[((oy * l->stride + t / l->wide) * l->in.width +
                                ox * l->stride + t % l->wide) *
                                   channels +
                               c];

            top = fmax(top, v);
            sum += v;
        }
        y[i] = l->ops == &layer_pool ? top : sum / (l->tall * l->wide);
    }
}

static double curve(const struct layer *l, double x)
{
    if (l->ops == &layer_relu)
        return fmax(x, 0);
    return l->ops == &layer_tanh ? tanh(x) : 1 / (1 + exp(-x));
}

static void drop(const struct layer *l, uint64_t key, const double *x,
                 double *y)
{
    for (size_t i = 0; i < neural_floats(&l->in); i++) {
        const uint64_t drawn = rng_word(key, i / 4) >> (i % 4 * 16) & 0xffff;

        y[i] = drawn < l->drop ? 0 : x[i] * 65536 / (65536 - l->drop);
    }
}

static void layer_ref(const struct neural *net, uint32_t number,
                      const double *parameters, uint64_t key, const double *x,
                      double *y)
{
    const struct layer *const l = &net->layers[number];
    const double *const w = parameters + net->tensors[l->tensor].first;

    if (l->ops == &layer_conv)
        conv(l, w, w + l->weights, x, y);
    else if (l->ops == &layer_dense)
        dense(l, w, w + l->weights, x, y);
    else if (l->ops == &layer_pool || l->ops == &layer_avg)
        pool(l, x, y);
    else if (l->ops == &layer_drop)
        drop(l, key, x, y);
    else
        for (size_t i = 0; i < neural_floats(&l->in); i++)
            y[i] = curve(l, x[i]);
}

static double loss_ref(const struct neural *net, const double *z,
                       const struct neural_rows *rows, uint32_t sample)
{
    const size_t outputs = neural_floats(&net->out);
    double sum = 0;

    for (size_t k = 0; k < outputs; k++) {
        if (net->loss == NEURAL_SOFTMAX)
            sum += exp(z[k]);
        else
            sum += pow(z[k] - (double)rows->target[sample * outputs + k], 2);
    }
    return net->loss == NEURAL_SOFTMAX ? log(sum) - z[rows->label[sample]]
                                       : sum / 2;
}

double neural_ref_loss(const struct neural *net, const double *parameters,
                       const struct neural_rows *rows)
{
    static double values[2][FLOATS_MAX];
    const size_t inputs = neural_floats(&net->in);
    double total = 0;

    for (uint32_t s = 0; s < rows->count; s++) {
        assert_true(inputs <= FLOATS_MAX);
        for (size_t i = 0; i < inputs; i++)
            values[0][i] = (double)rows->x[s * inputs + i];
        for (uint32_t l = 0; l < net->layer_count; l++) {
            const uint64_t key =
                rng_at(rng_at(rows->seed, rows->step, l), rows->id[s], 0);

            assert_true(neural_floats(&net->layers[l].to) <= FLOATS_MAX);
            layer_ref(net, l, parameters, key, values[l % 2],
                      values[(l + 1) % 2]);
        }
        total += loss_ref(net, values[net->layer_count % 2], rows, s);
    }
    return total;
}

static double difference(const struct neural *net, double *parameters, size_t i,
                         const struct neural_rows *rows)
{
    const double old = parameters[i];
    double up, down;

    parameters[i] = old + STEP;
    up = neural_ref_loss(net, parameters, rows);
    parameters[i] = old - STEP;
    down = neural_ref_loss(net, parameters, rows);
    parameters[i] = old;
    return (up - down) / (2 * STEP);
}

/* Every parameter of a small tensor, some of a large one. */
static bool tensor_agrees(const struct neural *net, uint32_t t,
                          double *parameters, const int64_t *sum,
                          const struct neural_rows *rows)
{
    const struct neural_tensor *const tensor = &net->tensors[t];
    const size_t stride = tensor->count / 150 + 1;
    double top = 0;

    for (size_t i = 0; i < tensor->count; i++)
        top = fmax(top, fabs(ldexp((double)sum[tensor->first + i], -EXPONENT)));
    for (size_t i = 0; i < tensor->count; i += stride) {
        const double got = ldexp((double)sum[tensor->first + i], -EXPONENT);
        const double want =
            difference(net, parameters, tensor->first + i, rows);

        if (!(fabs(got - want) <= 1e-4 * top + 2e-5)) {
            print_message("layer %s: gradient %zu of tensor %u is %g, the "
                          "difference %g\n",
                          net->layers[tensor->layer].text, i, t, got, want);
            return false;
        }
    }
    return true;
}

static bool agrees(const struct neural *net, const struct neural_rows *rows,
                   float *parameters)
{
    double *const exact = mem_new(net->parameters, sizeof *exact);
    int64_t *const sum = mem_new(net->parameters, sizeof *sum);
    int64_t size[64];
    int16_t exponent[64];
    double given = 0;
    struct neural_sums sums = {
        .exponent = exponent, .sum = sum, .size = size, .loss = &given};
    struct neural_work *work;
    struct why why = {{0}};
    double loss;
    bool good = true;

    assert_true(exact != NULL && sum != NULL && net->tensor_count <= 64);
    for (uint32_t t = 0; t < 64; t++)
        exponent[t] = EXPONENT;
    for (size_t i = 0; i < net->parameters; i++)
        exact[i] = (double)parameters[i];
    assert_int_equal(neural_work_new(net, SAMPLES, SAMPLES, isa_best(),
                                     pool_serial(), &work, &why),
                     ERR_OK);
    assert_int_equal(neural_work_load(work, parameters), ERR_OK);
    assert_int_equal(neural_work_gradient(work, rows, &sums), ERR_OK);
    loss = neural_ref_loss(net, exact, rows);
    if (!(fabs(loss - given) <= 1e-5 * fabs(loss) + 1e-6)) {
        print_message("the loss is %.9g, the reference %.9g\n", given, loss);
        good = false;
    }
    for (uint32_t t = 0; good && t < net->tensor_count; t++)
        good = tensor_agrees(net, t, exact, sum, rows);
    neural_work_free(work);
    mem_free(exact);
    mem_free(sum);
    return good;
}

bool neural_ref_agrees(const char *text, const struct neural_shape *in,
                       enum neural_loss loss)
{
    static float x[SAMPLES * FLOATS_MAX], target[SAMPLES * FLOATS_MAX];
    uint32_t label[SAMPLES];
    uint64_t id[SAMPLES];
    struct neural net;
    struct why why = {{0}};
    float *parameters;
    bool good;

    if (neural_init(&net, text, in, loss, &why) != ERR_OK)
        fail_msg("%s", why.text);
    parameters = mem_new(net.parameters, sizeof *parameters);
    assert_non_null(parameters);
    neural_draw(&net, 3, parameters);
    for (size_t i = 0; i < net.parameters; i++) /* Biases that are not 0. */
        parameters[i] += (float)(0.1 * (rng_unit_at(4, 0, i) - 0.5));
    for (size_t i = 0; i < SAMPLES * neural_floats(in); i++)
        x[i] = (float)(rng_unit_at(5, 0, i) - 0.4);
    for (size_t i = 0; i < SAMPLES * neural_floats(&net.out); i++)
        target[i] = (float)rng_unit_at(6, 0, i);
    for (uint32_t s = 0; s < SAMPLES; s++) {
        label[s] = s % (uint32_t)neural_floats(&net.out);
        id[s] = 100 + 7 * s;
    }
    good = agrees(&net,
                  &(struct neural_rows){.count = SAMPLES,
                                        .micro = SAMPLES,
                                        .x = x,
                                        .label = label,
                                        .target = target,
                                        .id = id,
                                        .seed = 8,
                                        .step = 9},
                  parameters);
    mem_free(parameters);
    neural_close(&net);
    return good;
}

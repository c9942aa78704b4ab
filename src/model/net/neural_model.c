/*
 * neural_model.c - a network with its parameters, and its tensors in torch's
 * order.
 */
#include "model/net/neural_model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "model/net/layer.h"

bool neural_units_good(const struct neural_units *units)
{
    return isfinite(units->divisor) && units->divisor > 0 &&
           isfinite(units->mean) && isfinite(units->spread) &&
           units->spread > 0 && isfinite(units->least) && units->least <= 0 &&
           isfinite(units->most) && units->most >= 0;
}

enum err neural_model_init(struct neural_model *model, const char *text,
                           const struct neural_shape *in, enum neural_loss loss,
                           const struct neural_units *units, struct why *why)
{
    struct neural_model made = {.units = *units, .text = mem_text(text)};
    enum err err;

    if (made.text == NULL)
        return why_set(why, ERR_NOMEM, "out of memory");
    err = neural_init(&made.neural, text, in, loss, why);
    if (err != ERR_OK) {
        neural_model_close(&made);
        return err;
    }
    *model = made;
    return ERR_OK;
}

void neural_model_close(struct neural_model *model)
{
    mem_free(model->text);
    mem_free(model->parameters);
    neural_close(&model->neural);
    *model = (struct neural_model){0};
}

bool neural_text_begins(const char *text)
{
    char word[NEURAL_TEXT_MAX] = "";
    const char *const first = text + strspn(text, " \t\r\n");
    const size_t length = strcspn(first, " \t\r\n");
    struct layer layer = {0};
    const char *rest;

    if (length >= sizeof word)
        return false;
    memcpy(word, first, length);
    layer.ops = layer_find(word, &rest);
    return layer.ops != NULL && layer.ops->parse(rest, &layer);
}

/* --- torch --------------------------------------------------------------- */

static bool is_image(const struct neural_shape *shape)
{
    return shape->height > 1 || shape->width > 1;
}

/* The place in torch.nn.Sequential: one further behind its Flatten. */
static uint32_t place_of(const struct neural *net, uint32_t layer)
{
    for (uint32_t i = 0; i <= layer && is_image(&net->in); i++) {
        if (net->layers[i].ops->flattens)
            return layer + 1;
    }
    return layer;
}

struct neural_torch neural_torch(const struct neural *net, uint32_t t)
{
    const uint32_t layer = net->tensors[t].layer;
    const struct layer *const l = &net->layers[layer];
    const bool bias = t != l->tensor;
    struct neural_torch made = {.rank = 1, .shape = {l->out}};

    CHECK(t < net->tensor_count);
    (void)snprintf(made.name, sizeof made.name, "%u.%s", place_of(net, layer),
                   bias ? "bias" : "weight");
    if (!bias)
        made.rank = l->ops->torch_shape(l, made.shape);
    return made;
}

/* Where number i of a tensor, in torch's order, lies in ours. */
static size_t our_place(const struct neural *net, uint32_t t, size_t i)
{
    const struct layer *const l = &net->layers[net->tensors[t].layer];

    return net->tensors[t].first +
           (t == l->tensor ? l->ops->torch_place(l, i) : i);
}

void neural_torch_out(const struct neural *net, uint32_t t,
                      const float *parameters, float *numbers)
{
    for (size_t i = 0; i < net->tensors[t].count; i++)
        numbers[i] = parameters[our_place(net, t, i)];
}

void neural_torch_in(const struct neural *net, uint32_t t, const float *numbers,
                     float *parameters)
{
    for (size_t i = 0; i < net->tensors[t].count; i++)
        parameters[our_place(net, t, i)] = numbers[i];
}

/* --- what is shown ------------------------------------------------------- */

struct neural_layer neural_layer(const struct neural *net, uint32_t layer)
{
    const struct layer *const l = &net->layers[layer];

    CHECK(layer < net->layer_count);
    return (struct neural_layer){.text = l->text,
                                 .to = l->to,
                                 .parameters = l->weights + l->biases,
                                 .flops = 2 * (uint64_t)neural_floats(&l->to) *
                                          l->inputs};
}

uint64_t neural_flops(const struct neural *net)
{
    uint64_t flops = 0;

    for (uint32_t i = 0; i < net->layer_count; i++)
        flops += neural_layer(net, i).flops;
    return flops;
}

bool neural_on_columns(const struct neural *net)
{
    return neural_floats(&net->in) == net->in.channels;
}

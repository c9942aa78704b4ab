/*
 * neural.c - a network from its text, shapes checked, and its first weights.
 */
#include "model/net/neural.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/rng.h"
#include "model/net/layer.h"

#define SHAPE_SIZE       48
#define TRANSLATION_SIZE 256

static void print_shape(const struct neural_shape *s, char text[SHAPE_SIZE])
{
    (void)snprintf(text, SHAPE_SIZE, "%u x %u x %u", s->height, s->width,
                   s->channels);
}

static const char *skip_blanks(const char *text)
{
    return text + strspn(text, " \t\r\n");
}

static size_t word_length(const char *text)
{
    return strcspn(text, " \t\r\n");
}

static enum err unknown(const struct layer *l, uint32_t number, struct why *why)
{
    char names[256] = "";
    size_t used = 0;

    for (uint32_t i = 0; layer_name(i) != NULL && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, " %s",
                                 layer_name(i));
    return why_set(why, ERR_FORMAT,
                   "layer %u, \"%s\": there is no such layer; there are%s",
                   number, l->text, names);
}

/* Layer `number` of the text, from 1, whose word begins at `word`. */
static enum err parse_layer(const char *text, const char *word, uint32_t number,
                            struct layer *l, struct why *why)
{
    const size_t length = word_length(word);
    const bool fits = length < sizeof l->text;
    char hint[LAYER_HINT_SIZE];
    char ours[TRANSLATION_SIZE];
    const char *rest;

    (void)snprintf(l->text, sizeof l->text, "%.*s", (int)length, word);
    l->ops = layer_find(l->text, &rest);
    if (fits && l->ops != NULL && l->ops->parse(rest, l))
        return ERR_OK;
    if (fits && layer_guess(l->text, hint))
        return why_set(why, ERR_FORMAT, "layer %u, \"%s\", %s", number, l->text,
                       hint);
    if (layer_translate(text, ours, sizeof ours))
        return why_set(why, ERR_FORMAT,
                       "layer %u, \"%s%s\": not understood; layers stand "
                       "between blanks, without brackets: \"%s\"",
                       number, l->text, fits ? "" : "...", ours);
    if (!fits)
        return why_set(why, ERR_FORMAT, "layer %u, \"%s...\": too long", number,
                       l->text);
    if (l->ops == NULL)
        return unknown(l, number, why);
    return why_set(why, ERR_FORMAT,
                   "layer %u, \"%s\": not understood; it is written like "
                   "%s",
                   number, l->text, l->ops->forms);
}

enum err neural_check(const char *text, struct why *why)
{
    uint32_t count = 0;
    enum err err = ERR_OK;

    for (const char *at = skip_blanks(text); *at != '\0' && err == ERR_OK;
         at = skip_blanks(at + word_length(at))) {
        struct layer layer = {0};

        err = parse_layer(text, at, ++count, &layer, why);
    }
    return err;
}

static enum err fit_layer(struct layer *l, uint32_t number,
                          const struct neural_shape *in, struct why *why)
{
    const char *wrong;
    char below[SHAPE_SIZE];

    l->in = *in;
    wrong = l->ops->shape(l);
    print_shape(in, below);
    if (wrong != NULL && l->wide > 0)
        return why_set(why, ERR_SHAPE,
                       "layer %u, \"%s\": its %u x %u %s, which is %s", number,
                       l->text, l->tall, l->wide, wrong, below);
    if (wrong != NULL)
        return why_set(why, ERR_SHAPE, "layer %u, \"%s\": %s, which is %s",
                       number, l->text, wrong, below);
    if (layer_times(layer_times(l->to.height, l->to.width), l->to.channels) >
            NEURAL_FLOATS_MAX ||
        l->weights > NEURAL_FLOATS_MAX)
        return why_set(why, ERR_RANGE,
                       "layer %u, \"%s\": too many numbers for its input, "
                       "which is %s",
                       number, l->text, below);
    return ERR_OK;
}

static enum err add_layers(struct neural *net, const char *text,
                           struct why *why)
{
    struct neural_shape shape = net->in;
    uint32_t count = 0;

    for (const char *at = skip_blanks(text); *at != '\0';
         at = skip_blanks(at + word_length(at))) {
        struct layer *const l = &net->layers[count];
        enum err err;

        if (count == NEURAL_LAYERS_MAX)
            return why_set(why, ERR_FORMAT, "more than %u layers",
                           NEURAL_LAYERS_MAX);
        err = parse_layer(text, at, ++count, l, why);
        if (err == ERR_OK)
            err = fit_layer(l, count, &shape, why);
        if (err != ERR_OK)
            return err;
        CHECK(!(l->ops->in_place && l->ops->reads_input));
        l->in_place = l->ops->in_place && count > 1 && !l[-1].ops->reads_output;
        shape = l->to;
    }
    net->layer_count = count;
    net->out = shape;
    if (count == 0)
        return why_set(why, ERR_FORMAT, "a network without a layer");
    return ERR_OK;
}

static void add_tensor(struct neural *net, uint32_t layer, size_t count)
{
    net->tensors[net->tensor_count++] = (struct neural_tensor){
        .first = net->parameters, .count = count, .layer = layer};
    net->parameters += count;
}

static void lay_out(struct neural *net)
{
    for (uint32_t i = 0; i < net->layer_count; i++) {
        struct layer *const l = &net->layers[i];

        if (l->weights == 0)
            continue;
        l->tensor = net->tensor_count;
        add_tensor(net, i, l->weights);
        add_tensor(net, i, l->biases);
    }
}

/* What the loss asks for. */
static enum err check_end(const struct neural *net, struct why *why)
{
    const struct layer *const last = &net->layers[net->layer_count - 1];
    char shape[SHAPE_SIZE];

    print_shape(&net->out, shape);
    if (net->loss == NEURAL_SOFTMAX && neural_floats(&net->out) < 2)
        return why_set(
            why, ERR_MISMATCH,
            "layer %u, \"%s\": its output is %s, and classes need "
            "at least 1 x 1 x 2; let it end with denseK for K classes",
            net->layer_count, last->text, shape);
    if (net->parameters == 0)
        return why_set(why, ERR_RANGE, "no layer has weights");
    if (net->parameters > NEURAL_FLOATS_MAX)
        return why_set(why, ERR_RANGE, "%zu weights; at most %u are possible",
                       net->parameters, NEURAL_FLOATS_MAX);
    return ERR_OK;
}

enum err neural_init(struct neural *net, const char *text,
                     const struct neural_shape *in, enum neural_loss loss,
                     struct why *why)
{
    struct neural made = {.in = *in, .loss = loss};
    enum err err = ERR_NOMEM;

    if (in->height == 0 || in->width == 0 || in->channels == 0 ||
        layer_times(layer_times(in->height, in->width), in->channels) >
            NEURAL_FLOATS_MAX)
        return why_set(why, ERR_RANGE, "an input of %u x %u x %u numbers",
                       in->height, in->width, in->channels);
    made.layers = mem_new(NEURAL_LAYERS_MAX + 1, sizeof *made.layers);
    made.tensors = mem_new(NEURAL_TENSORS_MAX, sizeof *made.tensors);
    if (made.layers != NULL && made.tensors != NULL)
        err = add_layers(&made, text, why);
    if (err == ERR_OK) {
        lay_out(&made);
        err = check_end(&made, why);
    }
    if (err != ERR_OK) {
        neural_close(&made);
        return err;
    }
    *net = made;
    return ERR_OK;
}

const char *neural_inner_end(const struct neural *net)
{
    const struct layer *const last = &net->layers[net->layer_count - 1];

    return last->ops->inner ? last->text : NULL;
}

void neural_close(struct neural *net)
{
    mem_free(net->layers);
    mem_free(net->tensors);
    *net = (struct neural){0};
}

#define ROUND_LEAST 16384u /* Of a slice. */

struct rounding {
    const double *from;
    float *to;
};

static void round_slice(void *context, uint32_t slice, uint32_t first,
                        uint32_t end)
{
    const struct rounding *const rounding = context;

    (void)slice;
    for (uint32_t j = first; j < end; j++)
        rounding->to[j] = (float)rounding->from[j];
}

void neural_round(const struct neural *net, struct pool *pool, const double *w,
                  float *parameters)
{
    struct rounding rounding = {.from = w};

    rounding.to = parameters;
    (void)pool_slices(pool, (uint32_t)net->parameters, ROUND_LEAST, round_slice,
                      &rounding);
}

struct digest neural_hash(const struct neural *net, const double *w)
{
    float some[1024];
    struct hasher hasher;
    size_t used = 0;

    hasher_init(&hasher);
    for (size_t j = 0; j < net->parameters; j++) {
        some[used++] = (float)w[j];
        if (used == sizeof some / sizeof *some || j + 1 == net->parameters) {
            hasher_add(&hasher, some, used * sizeof *some);
            used = 0;
        }
    }
    return hasher_end(&hasher);
}

bool neural_rectifies(const struct neural *net)
{
    for (uint32_t i = 0; i < net->layer_count; i++)
        if (net->layers[i].ops->rectifies)
            return true;
    return false;
}

/* --- first weights ------------------------------------------------------- */

static bool is_rectified(const struct neural *net, uint32_t layer)
{
    return layer + 1 < net->layer_count &&
           net->layers[layer + 1].ops->rectifies;
}

static void draw_weights(const struct neural *net, uint32_t layer,
                         uint64_t seed, float *weights)
{
    const struct layer *const l = &net->layers[layer];
    const double inputs = (double)l->inputs;
    const double he = sqrt(2 / inputs);
    const double glorot = sqrt(6 / (inputs + (double)l->outputs));

    for (size_t i = 0; i < l->weights; i++) {
        if (is_rectified(net, layer))
            weights[i] = (float)(he * rng_normal_at(seed, layer, i));
        else
            weights[i] =
                (float)(glorot * (2 * rng_unit_at(seed, layer, i) - 1));
    }
}

/* Of a row that has few inputs, the kinks of relus behind a dense layer would
 * otherwise all lie together.  A convolution has one wherever it looks, and
 * learns more slowly with biases drawn (gen:digits: 97.1 % against 98.0).  The
 * last layer's numbers are scores. */
static bool biases_drawn(const struct neural *net, const struct layer *l)
{
    return l->ops->draws_biases && l->tensor + 2 < net->tensor_count;
}

static void draw_biases(const struct layer *l, uint32_t layer, uint64_t seed,
                        float *biases)
{
    const double most = 1 / sqrt((double)l->inputs);

    for (size_t i = 0; i < l->biases; i++)
        biases[i] =
            (float)(most * (2 * rng_unit_at(seed, layer, l->weights + i) - 1));
}

void neural_draw(const struct neural *net, uint64_t seed, float *parameters)
{
    memset(parameters, 0, net->parameters * sizeof *parameters);
    for (uint32_t i = 0; i < net->layer_count; i++) {
        const struct layer *const l = &net->layers[i];
        const struct neural_tensor *const t = &net->tensors[l->tensor];

        if (l->weights > 0)
            draw_weights(net, i, seed, parameters + t[0].first);
        if (biases_drawn(net, l))
            draw_biases(l, i, seed, parameters + t[1].first);
    }
}

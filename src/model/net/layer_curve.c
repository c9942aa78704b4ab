/*
 * layer_curve.c - relu, tanh, sigmoid: a function of each number.
 *
 *     relu(x)     0 if x < 0, else x: what is no number stays none
 *     sigmoid(x)  1 / (1 + e), e / (1 + e) for x < 0; e = exp(-|x|)
 *     tanh(x)     (1 - e) / (1 + e) with the sign of x; e = exp(-2 |x|);
 *                 below 2^-12 x - x^3 / 3, since 1 - e has lost its digits
 *
 * The last two in doubles, rounded at the end; exp as in math/kernel/poly.h.
 */
#include <math.h>
#include <string.h>

#include "math/kernel/poly_ref.h"
#include "math/net/curve.h"
#include "model/net/bugs.h"
#include "model/net/layer.h"

static bool parse(const char *rest, struct layer *layer)
{
    (void)layer;
    return *rest == '\0';
}

static const char *shape(struct layer *l)
{
    l->to = l->in;
    return NULL;
}

/* A bit for each number: whether it was above 0. */
static size_t relu_kept(const struct layer *l)
{
    return (neural_floats(&l->in) + 15) / 16 * 2;
}

static void relu(const struct layer *l, const struct layer_call *call)
{
    curve_relu(call->isa, call->x, neural_floats(&l->in), call->y, call->kept);
    if (NEURAL_BUG(NEURAL_BUG_RELU))
        memset(call->kept, 0xff, relu_kept(l));
}

static void relu_back(const struct layer *l, const struct layer_call *call)
{
    curve_relu_back(call->isa, call->kept, call->dy, neural_floats(&l->in),
                    call->dx);
}

static float sigmoid_of(float x)
{
    const double e = ref_exp(-fabs((double)x));

    return (float)((x < 0 ? e : 1) / (1 + e));
}

static float tanh_of(float x)
{
    const double size = fabs((double)x), e = ref_exp(-2 * size);
    const double y =
        size < 0x1p-12 ? size - size * size * size / 3 : (1 - e) / (1 + e);

    return (float)(x < 0 ? -y : y);
}

static void sigmoid(const struct layer *l, const struct layer_call *call)
{
    const size_t count = neural_floats(&l->in);

    for (size_t i = 0; i < count; i++)
        call->y[i] = sigmoid_of(call->x[i]);
}

static void sigmoid_back(const struct layer *l, const struct layer_call *call)
{
    const size_t count = neural_floats(&l->in);

    for (size_t i = 0; i < count; i++)
        call->dx[i] = call->dy[i] * (call->y[i] * (1 - call->y[i]));
}

static void tanh_forward(const struct layer *l, const struct layer_call *call)
{
    const size_t count = neural_floats(&l->in);

    for (size_t i = 0; i < count; i++)
        call->y[i] = tanh_of(call->x[i]);
}

static void tanh_back(const struct layer *l, const struct layer_call *call)
{
    const size_t count = neural_floats(&l->in);

    for (size_t i = 0; i < count; i++)
        call->dx[i] =
            call->dy[i] *
            (1 - call->y[i] * (NEURAL_BUG(NEURAL_BUG_TANH) ? 1 : call->y[i]));
}

const struct layer_ops layer_relu = {
    .name = "relu",
    .forms = "relu",
    .inner = true,
    .in_place = true,
    .rectifies = true,
    .parse = parse,
    .shape = shape,
    .forward = relu,
    .backward = relu_back,
    .kept = relu_kept,
};

const struct layer_ops layer_tanh = {
    .name = "tanh",
    .forms = "tanh",
    .inner = true,
    .in_place = true,
    .reads_output = true,
    .parse = parse,
    .shape = shape,
    .forward = tanh_forward,
    .backward = tanh_back,
};

const struct layer_ops layer_sigmoid = {
    .name = "sigmoid",
    .forms = "sigmoid",
    .inner = true,
    .in_place = true,
    .reads_output = true,
    .parse = parse,
    .shape = shape,
    .forward = sigmoid,
    .backward = sigmoid_back,
};

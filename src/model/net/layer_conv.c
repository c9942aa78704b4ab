/*
 * layer_conv.c - conv3x3x32: convolutions, sample by sample.
 */
#include "model/net/bugs.h"
#include "model/net/layer.h"

static bool cross(const char **text)
{
    if (**text != 'x')
        return false;
    ++*text;
    return true;
}

static bool parse(const char *rest, struct layer *l)
{
    return layer_number(&rest, &l->tall) && cross(&rest) &&
           layer_number(&rest, &l->wide) && cross(&rest) &&
           layer_number(&rest, &l->out) &&
           layer_option(&rest, '/', 1, &l->stride) &&
           layer_option(&rest, '+', 0, &l->pad) && *rest == '\0';
}

static struct conv conv_of(const struct layer *l)
{
    return (struct conv){.height = l->in.height,
                         .width = l->in.width,
                         .in = l->in.channels,
                         .tall = l->tall,
                         .wide = l->wide,
                         .out = l->out,
                         .stride = l->stride,
                         .pad = l->pad};
}

static const char *shape(struct layer *l)
{
    const struct conv c = conv_of(l);

    if (l->pad >= l->tall || l->pad >= l->wide)
        return "kernel has as many zeros on a side of its input";
    if (l->in.height + 2 * l->pad < l->tall ||
        l->in.width + 2 * l->pad < l->wide)
        return "kernel is larger than its input";
    l->to = (struct neural_shape){conv_height(&c), conv_width(&c), l->out};
    l->weights = layer_times(layer_times(l->out, (size_t)l->tall * l->wide),
                             l->in.channels);
    l->biases = l->out;
    l->inputs = (uint32_t)(l->weights / l->out);
    l->outputs = (size_t)l->tall * l->wide * l->out;
    return NULL;
}

static size_t scratch(const struct layer *l, uint32_t samples)
{
    const struct conv c = conv_of(l);

    (void)samples;
    return conv_scratch(&c) + l->weights + l->biases + 32;
}

static size_t packed(const struct layer *l)
{
    const struct conv c = conv_of(l);

    return conv_packed(&c);
}

static void pack(enum isa isa, const struct layer *l, const float *weights,
                 float *out)
{
    const struct conv c = conv_of(l);

    conv_pack(isa, &c, weights, out);
}

static void forward(const struct layer *l, const struct layer_call *call)
{
    const struct conv c = conv_of(l);

    conv_forward(call->isa, &c, call->x, call->packed, call->bias, call->y,
                 call->scratch);
}

static void backward(const struct layer *l, const struct layer_call *call)
{
    const struct conv c = conv_of(l);
    float *const dw = call->scratch, *const db = dw + l->weights;
    const struct conv_backward what = {.x = call->x,
                                       .weights = call->weights,
                                       .packed = call->packed,
                                       .dy = call->dy,
                                       .dw = dw,
                                       .db = db,
                                       .dx = call->dx};
    const size_t used = (l->weights + l->biases + 15) / 16 * 16;

    conv_backward(call->isa, &c, &what, call->scratch + used);
    layer_add(l, call, false, 0, l->weights, dw);
    if (!NEURAL_BUG(NEURAL_BUG_CONV))
        layer_add(l, call, true, 0, l->biases, db);
}

/* w[out][in][dy][dx] */
static uint32_t torch_shape(const struct layer *l, uint32_t *dims)
{
    dims[0] = l->out;
    dims[1] = l->in.channels;
    dims[2] = l->tall;
    dims[3] = l->wide;
    return 4;
}

static size_t torch_place(const struct layer *l, size_t i)
{
    const size_t taps = (size_t)l->tall * l->wide;
    const size_t o = i / l->inputs, at = i % l->inputs;

    return o * l->inputs + at % taps * l->in.channels + at / taps;
}

const struct layer_ops layer_conv = {
    .name = "conv",
    .forms = "conv3x3x32, conv3x3x32/2 (stride 2), conv3x3x32+1 (a zero on "
             "each side)",
    .reads_input = true,
    .parse = parse,
    .shape = shape,
    .forward = forward,
    .backward = backward,
    .scratch = scratch,
    .packed = packed,
    .pack = pack,
    .torch_shape = torch_shape,
    .torch_place = torch_place,
};

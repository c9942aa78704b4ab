/*
 * layer_drop.c - drop.25: numbers that are 0 at random while it is trained.
 *
 * Which ones follows from (seed, step, layer, sample, number) alone: four of
 * them share 64 drawn bits, 16 each.  Those that stay are multiplied by the
 * float next to 1 / (1 - p).
 */
#include "math/net/curve.h"
#include "model/net/bugs.h"
#include "model/net/layer.h"

#define ONE 65536u

/* .25: digits behind a point. */
static bool parse(const char *rest, struct layer *l)
{
    double p = 0, place = 1;

    if (*rest == '0')
        rest++;
    if (*rest++ != '.' || *rest == '\0')
        return false;
    for (; *rest >= '0' && *rest <= '9'; rest++) {
        place /= 10;
        p += (double)(*rest - '0') * place;
    }
    l->drop = (uint32_t)(p * ONE + 0.5);
    return *rest == '\0' && l->drop < ONE;
}

static const char *shape(struct layer *l)
{
    l->to = l->in;
    return NULL;
}

static void apply(const struct layer *l, const struct layer_call *call,
                  uint64_t key, const float *from, float *to)
{
    curve_drop(call->isa, from, neural_floats(&l->in), key, l->drop,
               (float)ONE / (float)(ONE - l->drop), to);
}

static void forward(const struct layer *l, const struct layer_call *call)
{
    if (call->training)
        apply(l, call, call->key, call->x, call->y);
    else if (call->y != call->x)
        for (size_t i = 0; i < neural_floats(&l->in); i++)
            call->y[i] = call->x[i];
}

static void backward(const struct layer *l, const struct layer_call *call)
{
    apply(l, call, call->key + (NEURAL_BUG(NEURAL_BUG_DROP) ? 1 : 0), call->dy,
          call->dx);
}

const struct layer_ops layer_drop = {
    .name = "drop",
    .forms = "drop.25",
    .inner = true,
    .in_place = true,
    .parse = parse,
    .shape = shape,
    .forward = forward,
    .backward = backward,
};

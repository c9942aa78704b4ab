/*
 * layer_pool.c - pool2, avg3/2: the largest, or the mean, of each window.
 *
 * Windows are square and lie wholly inside; pixels behind the last one are left
 * out.  Of equal numbers the first of the window, row by row, is the largest,
 * and has the gradient.  A mean is the sum from 0, row by row, times the float
 * next to 1 / count.  Gradients of windows that overlap are added in the order
 * of the windows.
 */
#include <string.h>

#include "math/net/curve.h"
#include "model/net/bugs.h"
#include "model/net/layer.h"

enum { SIDE_MAX = 15 }; /* A place in a window is a byte. */

static bool parse(const char *rest, struct layer *l)
{
    if (!layer_number(&rest, &l->tall) || l->tall > SIDE_MAX)
        return false;
    l->wide = l->tall;
    return layer_option(&rest, '/', l->tall, &l->stride) && *rest == '\0';
}

static const char *shape(struct layer *l)
{
    if (l->in.height < l->tall || l->in.width < l->wide)
        return "window is larger than its input";
    l->to = (struct neural_shape){(l->in.height - l->tall) / l->stride + 1,
                                  (l->in.width - l->wide) / l->stride + 1,
                                  l->in.channels};
    return NULL;
}

static size_t kept(const struct layer *l)
{
    return neural_floats(&l->to);
}

/* Where window number p begins in the input. */
static size_t window(const struct layer *l, size_t p)
{
    const size_t y = p / l->to.width, x = p % l->to.width;

    return (y * l->in.width + x) * l->stride * l->in.channels;
}

/* Where pixel k of a window lies in it. */
static size_t place(const struct layer *l, size_t k)
{
    return (k / l->wide * l->in.width + k % l->wide) * l->in.channels;
}

/* Where all pixels of a window lie in it; returns how many. */
static uint32_t places(const struct layer *l, size_t at[SIDE_MAX * SIDE_MAX])
{
    const uint32_t count = l->tall * l->wide;

    for (uint32_t k = 0; k < count; k++)
        at[k] = place(l, k);
    return count;
}

static void largest(const struct layer *l, const struct layer_call *call)
{
    const size_t windows = (size_t)l->to.height * l->to.width;
    const size_t channels = l->in.channels;
    size_t at[SIDE_MAX * SIDE_MAX];
    const uint32_t count = places(l, at);

    for (size_t p = 0; p < windows; p++)
        curve_largest(call->isa, call->x + window(l, p), at, count, channels,
                      call->y + p * channels, call->kept + p * channels);
}

/* Every pixel is in one window. */
static bool tiled(const struct layer *l)
{
    return l->stride == l->tall && l->in.height % l->tall == 0 &&
           l->in.width % l->wide == 0;
}

static void largest_back(const struct layer *l, const struct layer_call *call)
{
    const size_t windows = (size_t)l->to.height * l->to.width;
    const size_t channels = l->in.channels;
    size_t at[SIDE_MAX * SIDE_MAX];
    const uint32_t count = places(l, at);

    if (NEURAL_BUG(NEURAL_BUG_POOL))
        at[count - 1] = at[0];
    if (!tiled(l))
        memset(call->dx, 0, neural_floats(&l->in) * sizeof *call->dx);
    for (size_t p = 0; p < windows; p++)
        curve_largest_back(call->isa, call->dy + p * channels,
                           call->kept + p * channels, at, count, channels,
                           !tiled(l), call->dx + window(l, p));
}

static float share(const struct layer *l)
{
    return 1.0f / (float)(l->tall * l->wide);
}

static void mean(const struct layer *l, const struct layer_call *call)
{
    const size_t windows = (size_t)l->to.height * l->to.width;
    const size_t channels = l->in.channels;

    for (size_t p = 0; p < windows; p++) {
        const float *const x = call->x + window(l, p);
        float *const y = call->y + p * channels;

        memset(y, 0, channels * sizeof *y);
        for (size_t k = 0; k < (size_t)l->tall * l->wide; k++) {
            const float *const at = x + place(l, k);

            for (size_t c = 0; c < channels; c++)
                y[c] += at[c];
        }
        for (size_t c = 0; c < channels; c++)
            y[c] *= share(l);
    }
}

static void mean_back(const struct layer *l, const struct layer_call *call)
{
    const size_t windows = (size_t)l->to.height * l->to.width;
    const size_t channels = l->in.channels;

    memset(call->dx, 0, neural_floats(&l->in) * sizeof *call->dx);
    for (size_t p = 0; p < windows; p++) {
        float *const dx = call->dx + window(l, p);
        const float *const dy = call->dy + p * channels;

        for (size_t k = 0; k < (size_t)l->tall * l->wide; k++) {
            float *const at = dx + place(l, k);

            for (size_t c = 0; c < channels; c++)
                at[c] += dy[c] * (NEURAL_BUG(NEURAL_BUG_AVG) ? 1 : share(l));
        }
    }
}

const struct layer_ops layer_pool = {
    .name = "pool",
    .forms = "pool2, pool3/2 (3 x 3 at every second pixel), at most pool15",
    .parse = parse,
    .shape = shape,
    .forward = largest,
    .backward = largest_back,
    .kept = kept,
};

const struct layer_ops layer_avg = {
    .name = "avg",
    .forms = "avg2, avg3/2 (3 x 3 at every second pixel), at most avg15",
    .parse = parse,
    .shape = shape,
    .forward = mean,
    .backward = mean_back,
};

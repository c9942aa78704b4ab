/*
 * conv.c - borders, the choice between tiles and lists, and the definition.
 */
#include "math/net/conv.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "math/net/net_parts.h"
#include "math/net/winograd.h"

/* Lists run over whole vectors of channels in every variant, ... */
#define LIST_CHANNELS 16u
/* ... and pay where fewer than 3 of 8 gradients are not 0. */
static bool mostly_zero(size_t found, size_t total)
{
    return 8 * found < 3 * total;
}

static size_t outputs(const struct conv *c)
{
    return (size_t)conv_height(c) * conv_width(c) * c->out;
}

/* dy seen from dx: set apart by the stride, with a border. */
static struct conv turned(const struct conv *c)
{
    return (struct conv){.height = c->height + c->tall - 1,
                         .width = c->width + c->wide - 1,
                         .in = c->out,
                         .tall = c->tall,
                         .wide = c->wide,
                         .out = c->in,
                         .stride = 1};
}

/* Whether gradients of 0 may be left out. */
static bool may_list(const struct conv *c)
{
    return c->in % LIST_CHANNELS == 0 && c->out % LIST_CHANNELS == 0;
}

/* Weights as lists want them lie behind those of squares or tiles. */
static size_t packed_before(const struct conv *c)
{
    if (winograd_is(c))
        return winograd_packed(c);
    return (conv_panels(c->out) * c->in + conv_panels(c->in) * c->out) *
           c->tall * c->wide;
}

size_t conv_packed(const struct conv *c)
{
    return packed_before(c) + (may_list(c) ? c->out * conv_patch(c) : 0);
}

/* --- scratch: two images, a panel, lists --------------------------------- */

static size_t line(size_t floats)
{
    return (floats + 15) / 16 * 16;
}

static size_t image_floats(const struct conv *c)
{
    const struct conv back = turned(c);
    const size_t padded = conv_padded(c), apart = conv_padded(&back);

    return line(padded > apart ? padded : apart);
}

static size_t panel_floats(const struct conv *c)
{
    return line((conv_patch(c) + (size_t)conv_height(c) * conv_width(c)) *
                NET_PANEL);
}

size_t conv_scratch(const struct conv *c)
{
    const size_t pixels = (size_t)conv_height(c) * conv_width(c);
    const size_t squares = winograd_is(c) ? winograd_scratch(c) : 0;

    return line(squares) + 2 * image_floats(c) + panel_floats(c) +
           4 * line(outputs(c) + LIST_CHANNELS) + line(pixels + 1) +
           line(c->out);
}

static void *carve(float **scratch, size_t floats)
{
    float *const got = *scratch;

    *scratch += line(floats);
    return got;
}

static struct conv_lists lists_in(const struct conv *c, float *scratch)
{
    const size_t pixels = (size_t)conv_height(c) * conv_width(c);
    const size_t most = outputs(c) + LIST_CHANNELS;

    return (struct conv_lists){.pixel = carve(&scratch, pixels + 1),
                               .channel = carve(&scratch, most),
                               .value = carve(&scratch, most),
                               .by_channel_at = carve(&scratch, most),
                               .by_channel_value = carve(&scratch, most),
                               .next = carve(&scratch, c->out)};
}

/* --- borders ------------------------------------------------------------- */

static const float *with_border(const struct conv *c, const float *x,
                                float *padded)
{
    const size_t row = (size_t)c->width * c->in;
    const size_t wide = conv_padded_width(c) * c->in;

    if (c->pad == 0)
        return x;
    memset(padded, 0, conv_padded(c) * sizeof *padded);
    for (size_t y = 0; y < c->height; y++)
        memcpy(padded + (y + c->pad) * wide + c->pad * c->in, x + y * row,
               row * sizeof *x);
    return padded;
}

static void without_border(const struct conv *c, const float *padded, float *x)
{
    const size_t row = (size_t)c->width * c->in;
    const size_t wide = conv_padded_width(c) * c->in;

    for (size_t y = 0; y < c->height; y++)
        memcpy(x + y * row, padded + (y + c->pad) * wide + c->pad * c->in,
               row * sizeof *x);
}

static void set_apart(const struct conv *c, const struct conv *back,
                      const float *dy, float *apart)
{
    const size_t first_y = c->tall - 1 - c->pad, first_x = c->wide - 1 - c->pad;

    memset(apart, 0, conv_padded(back) * sizeof *apart);
    for (size_t y = 0; y < conv_height(c); y++) {
        for (size_t x = 0; x < conv_width(c); x++, dy += c->out)
            memcpy(apart + ((first_y + y * c->stride) * back->width + first_x +
                            x * c->stride) *
                               c->out,
                   dy, c->out * sizeof *dy);
    }
}

/* --- the three products -------------------------------------------------- */

void conv_pack(enum isa isa, const struct conv *c, const float *weights,
               float *packed)
{
    if (winograd_is(c))
        winograd_pack(isa, c, weights, packed);
    else
        net_ops(isa)->conv_pack(c, weights, packed);
    if (may_list(c))
        net_ops(isa)->list_taps(c, weights, packed + packed_before(c));
}

void conv_forward(enum isa isa, const struct conv *c, const float *x,
                  const float *packed, const float *bias, float *y,
                  float *scratch)
{
    if (winograd_is(c))
        winograd_forward(isa, c, x, packed, bias, y, scratch);
    else
        net_ops(isa)->conv_forward(c, with_border(c, x, scratch), packed, bias,
                                   y);
}

static void input_gradient(const struct net_ops *ops, const struct conv *c,
                           const struct conv_backward *what,
                           const struct conv_lists *lists, bool listed,
                           float *room)
{
    const struct conv back = turned(c);
    const float *const taps = what->packed + packed_before(c);

    if (!listed) {
        set_apart(c, &back, what->dy, room);
        ops->conv_forward(&back, room,
                          what->packed + conv_panels(c->out) * conv_patch(c),
                          NULL, what->dx);
    } else if (c->pad == 0) {
        ops->input_by_lists(c, taps, lists, what->dx);
    } else {
        ops->input_by_lists(c, taps, lists, room);
        without_border(c, room, what->dx);
    }
}

/* Both gradients by lists, by tiles, or each as it pays. */
static void by_chains(const struct net_ops *ops, const struct conv *c,
                      const struct conv_backward *what, size_t found,
                      float *scratch)
{
    float *const image = carve(&scratch, image_floats(c));
    float *const room = carve(&scratch, image_floats(c));
    float *const panel = carve(&scratch, panel_floats(c));
    const float *const padded = with_border(c, what->x, image);
    const size_t total = outputs(c);
    /* Seen from dx, most of what a stride sets apart are zeros anyway. */
    const size_t apart = (size_t)c->stride * c->stride;
    const bool weights_listed = mostly_zero(found, total);
    const bool input_listed = mostly_zero(found, total * apart);
    struct conv_lists lists = {0};

    if (weights_listed || input_listed) {
        lists = lists_in(c, scratch);
        ops->list_pixels(c, what->dy, &lists);
    }
    if (weights_listed)
        ops->weights_by_lists(c, padded, &lists, what->dw);
    else
        ops->weights_by_tiles(c, padded, what->dy, panel, what->dw);
    if (what->dx != NULL)
        input_gradient(ops, c, what, &lists, input_listed, room);
}

void conv_backward(enum isa isa, const struct conv *c,
                   const struct conv_backward *what, float *scratch)
{
    const struct net_ops *const ops = net_ops(isa);
    const size_t total = outputs(c);
    const size_t found =
        may_list(c) ? ops->count_nonzero(what->dy, total) : SIZE_MAX / 8;

    ops->conv_bias(c, what->dy, what->db);
    if (winograd_is(c) && !mostly_zero(found, total))
        winograd_backward(isa, c, what, scratch);
    else
        by_chains(ops, c, what, found, scratch);
}

/* --- the definition ------------------------------------------------------ */

/* Where tap (dy, dx) of the patch of (y, x) lies in the image; false if it is
 * in the border. */
static bool tap_at(const struct conv *c, size_t y, size_t x, size_t tap,
                   size_t *at)
{
    const size_t iy = y * c->stride + tap / c->wide;
    const size_t ix = x * c->stride + tap % c->wide;

    if (iy < c->pad || ix < c->pad || iy - c->pad >= c->height ||
        ix - c->pad >= c->width)
        return false;
    *at = ((iy - c->pad) * c->width + ix - c->pad) * c->in;
    return true;
}

void conv_forward_ref(const struct conv *c, const float *x, const float *w,
                      const float *bias, float *y)
{
    const size_t width = conv_width(c), patch = conv_patch(c);

    if (winograd_is(c)) {
        winograd_forward_ref(c, x, w, bias, y);
        return;
    }
    for (size_t i = 0; i < outputs(c); i++) {
        const size_t o = i % c->out, pixel = i / c->out;
        float sum = bias[o];

        for (size_t t = 0; t < (size_t)c->tall * c->wide; t++) {
            size_t at;

            if (!tap_at(c, pixel / width, pixel % width, t, &at))
                continue;
            for (size_t k = 0; k < c->in; k++)
                sum = fmaf(x[at + k], w[o * patch + t * c->in + k], sum);
        }
        y[i] = sum;
    }
}

static void chains_ref(const struct conv *c, const struct conv_backward *b)
{
    const size_t width = conv_width(c), patch = conv_patch(c);

    memset(b->dw, 0, c->out * patch * sizeof *b->dw);
    if (b->dx != NULL)
        memset(b->dx, 0, (size_t)c->height * c->width * c->in * sizeof *b->dx);
    for (size_t i = 0; i < outputs(c); i++) {
        const size_t o = i % c->out, pixel = i / c->out;

        for (size_t t = 0; t < (size_t)c->tall * c->wide; t++) {
            const size_t tap = o * patch + t * c->in;
            size_t at;

            if (!tap_at(c, pixel / width, pixel % width, t, &at))
                continue;
            for (size_t k = 0; k < c->in; k++) {
                b->dw[tap + k] = fmaf(b->dy[i], b->x[at + k], b->dw[tap + k]);
                if (b->dx != NULL)
                    b->dx[at + k] =
                        fmaf(b->dy[i], b->weights[tap + k], b->dx[at + k]);
            }
        }
    }
}

void conv_backward_ref(const struct conv *c, const struct conv_backward *b)
{
    size_t found = 0;

    memset(b->db, 0, c->out * sizeof *b->db);
    for (size_t i = 0; i < outputs(c); i++) {
        b->db[i % c->out] += b->dy[i];
        found += b->dy[i] != 0;
    }
    if (winograd_is(c) && !mostly_zero(found, outputs(c)))
        winograd_backward_ref(c, b);
    else
        chains_ref(c, b);
}

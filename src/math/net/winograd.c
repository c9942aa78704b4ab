/*
 * winograd.c - weights as the products want them, the products, and the
 * definition; which squares, by stride.
 */
#include "math/net/winograd.h"

#include <math.h>
#include <string.h>

#include "math/net/border.h"
#include "math/net/net_parts.h"

#define CHANNELS 16u /* A vector of every machine. */

bool winograd_is(const struct conv *c)
{
    return c->tall == 3 && c->wide == 3 && c->in % CHANNELS == 0 &&
           c->out % CHANNELS == 0 && (c->stride == 1 || winograd2_is(c));
}

static size_t pairs(const struct conv *c)
{
    return (size_t)c->in * c->out;
}

static size_t packed_floats(const struct conv *c)
{
    return 2 * WINOGRAD_PLACES * pairs(c);
}

static struct border border_of(const struct winograd *w)
{
    const bool needed =
        w->conv.pad > 0 || w->width % 2 != 0 || w->height % 2 != 0;

    return (struct border){.conv = &w->conv,
                           .row = w->row,
                           .floats = needed ? winograd_image(w) : 0};
}

/* --- the products -------------------------------------------------------- */

/* What winograd.inc needs: numbers of some squares, forward and back. */
static size_t room_floats(const struct conv *c)
{
    const size_t channels = (size_t)c->in + c->out;

    return WINOGRAD_PLACES *
           (WINOGRAD_SQUARES * channels + pairs(c) + NET_TALL * NET_PANEL);
}

static size_t scratch_floats(const struct conv *c)
{
    const struct winograd w = winograd_of(c);

    return 2 * border_of(&w).floats + room_floats(c);
}

static void pack(enum isa isa, const struct conv *c, const float *weights,
                 float *packed)
{
    net_ops(isa)->winograd_pack(c, weights, packed);
}

static void forward(enum isa isa, const struct conv *c, const float *x,
                    const float *packed, const float *bias, float *y,
                    float *scratch)
{
    const struct winograd w = winograd_of(c);
    const struct border border = border_of(&w);

    net_ops(isa)->winograd_forward(&w, border_put(&border, x, scratch), packed,
                                   bias, y, scratch + border.floats);
}

static void backward(enum isa isa, const struct conv *c,
                     const struct conv_backward *what, float *scratch)
{
    const struct winograd w = winograd_of(c);
    const struct border border = border_of(&w);
    const struct winograd_backward back = {
        .image = border_put(&border, what->x, scratch),
        .u = what->packed + WINOGRAD_PLACES * pairs(c),
        .dy = what->dy,
        .dw = what->dw,
        .dx = what->dx != NULL && border.floats > 0 ? scratch + border.floats
                                                    : what->dx};

    if (what->dx != NULL)
        memset(back.dx, 0, winograd_image(&w) * sizeof *back.dx);
    net_ops(isa)->winograd_backward(&w, &back, scratch + 2 * border.floats);
    if (what->dx != NULL)
        border_take(&border, back.dx, what->dx);
}

/* --- the definition ------------------------------------------------------ */

/* A line of G, numbers `from` and `by` floats apart. */
static void weights_line(const float *g, size_t from, float *u, size_t by)
{
    const float mean = (g[0] + g[2 * from]) * 0.5f, half = g[from] * 0.5f;
    const float last = g[2 * from];

    u[0] = g[0];
    u[by] = mean + half;
    u[2 * by] = mean - half;
    u[3 * by] = last;
}

/* The kernel of a pair of channels, taps `tap` floats apart. */
static void kernel_squared(const float *g, size_t tap, float u[WINOGRAD_PLACES])
{
    float columns[12];

    for (size_t x = 0; x < 3; x++)
        weights_line(g + x * tap, 3 * tap, columns + x, 3);
    for (size_t y = 0; y < 4; y++)
        weights_line(columns + 3 * y, 1, u + 4 * y, 1);
}

typedef void line(float *p, size_t by);

static void input_line(float *p, size_t by)
{
    const float d[4] = {p[0], p[by], p[2 * by], p[3 * by]};

    p[0] = d[0] - d[2];
    p[by] = d[1] + d[2];
    p[2 * by] = d[2] - d[1];
    p[3 * by] = d[1] - d[3];
}

static void output_line(float *p, size_t by)
{
    const float m[4] = {p[0], p[by], p[2 * by], p[3 * by]};

    p[0] = (m[0] + m[1]) + m[2];
    p[by] = (m[1] - m[2]) - m[3];
}

static void output_back_line(float *p, size_t by)
{
    const float y[2] = {p[0], p[by]};

    p[by] = y[0] + y[1];
    p[2 * by] = y[0] - y[1];
    p[3 * by] = 0 - y[1];
}

static void input_back_line(float *p, size_t by)
{
    const float v[4] = {p[0], p[by], p[2 * by], p[3 * by]};

    p[by] = (v[1] - v[2]) + v[3];
    p[2 * by] = (v[1] + v[2]) - v[0];
    p[3 * by] = 0 - v[3];
}

static void weights_back_line(float *p, size_t by)
{
    const float u[4] = {p[0], p[by], p[2 * by], p[3 * by]};
    const float mean = (u[1] + u[2]) * 0.5f;

    p[0] = u[0] + mean;
    p[by] = (u[1] - u[2]) * 0.5f;
    p[2 * by] = mean + u[3];
}

static void both_sides(line *apply, float p[WINOGRAD_PLACES])
{
    for (size_t k = 0; k < 4; k++)
        apply(p + k, 4);
    for (size_t k = 0; k < 4; k++)
        apply(p + 4 * k, 1);
}

/* v of a square at place k = 4 y + x, for input channel i. */
static void input_at(const struct winograd *w, const float *x, size_t square,
                     size_t i, float v[WINOGRAD_PLACES])
{
    const struct winograd_corner at = winograd_corner(w, square);
    const struct conv *const c = &w->conv;

    for (size_t k = 0; k < WINOGRAD_PLACES; k++) {
        const size_t iy = at.y + k / 4, ix = at.x + k % 4;
        const bool there = iy >= c->pad && iy < c->pad + c->height &&
                           ix >= c->pad && ix < c->pad + c->width;

        v[k] =
            there ? x[((iy - c->pad) * c->width + ix - c->pad) * c->in + i] : 0;
    }
    both_sides(input_line, v);
}

static void slopes_at(const struct winograd *w, const float *dy, size_t square,
                      size_t o, float dm[WINOGRAD_PLACES])
{
    const struct winograd_corner at = winograd_corner(w, square);
    const float *const from = dy + (at.y * w->width + at.x) * w->conv.out + o;
    const size_t row = w->width * w->conv.out;

    memset(dm, 0, WINOGRAD_PLACES * sizeof *dm);
    dm[0] = from[0];
    if (at.right)
        dm[1] = from[w->conv.out];
    if (at.below)
        dm[4] = from[row];
    if (at.right && at.below)
        dm[5] = from[row + w->conv.out];
    both_sides(output_back_line, dm);
}

static void chain(float sum[WINOGRAD_PLACES], const float *a, const float *b)
{
    for (size_t k = 0; k < WINOGRAD_PLACES; k++)
        sum[k] = fmaf(a[k], b[k], sum[k]);
}

static void forward_ref(const struct conv *c, const float *x,
                        const float *weights, const float *bias, float *y)
{
    const struct winograd w = winograd_of(c);

    for (size_t s = 0; s < w.squares * c->out; s++) {
        const size_t o = s % c->out;
        const struct winograd_corner at = winograd_corner(&w, s / c->out);
        float *const to = y + (at.y * w.width + at.x) * c->out + o;
        float m[WINOGRAD_PLACES] = {0};

        m[WINOGRAD_BIAS] = bias[o];
        for (size_t i = 0; i < c->in; i++) {
            float u[WINOGRAD_PLACES], v[WINOGRAD_PLACES];

            kernel_squared(weights + o * 9 * c->in + i, c->in, u);
            input_at(&w, x, s / c->out, i, v);
            chain(m, v, u);
        }
        both_sides(output_line, m);
        to[0] = m[0];
        if (at.right)
            to[c->out] = m[1];
        if (at.below)
            to[w.width * c->out] = m[4];
        if (at.right && at.below)
            to[(w.width + 1) * c->out] = m[5];
    }
}

static void weights_ref(const struct winograd *w,
                        const struct conv_backward *what, size_t o, size_t i)
{
    float du[WINOGRAD_PLACES] = {0};

    for (size_t s = 0; s < w->squares; s++) {
        float v[WINOGRAD_PLACES], dm[WINOGRAD_PLACES];

        input_at(w, what->x, s, i, v);
        slopes_at(w, what->dy, s, o, dm);
        chain(du, dm, v);
    }
    both_sides(weights_back_line, du);
    for (size_t t = 0; t < 9; t++)
        what->dw[(o * 9 + t) * w->conv.in + i] = du[t / 3 * 4 + t % 3];
}

static void input_ref(const struct winograd *w,
                      const struct conv_backward *what, size_t square, size_t i)
{
    const struct conv *const c = &w->conv;
    const struct winograd_corner at = winograd_corner(w, square);
    float dv[WINOGRAD_PLACES] = {0};

    for (size_t o = 0; o < c->out; o++) {
        float u[WINOGRAD_PLACES], dm[WINOGRAD_PLACES];

        kernel_squared(what->weights + o * 9 * c->in + i, c->in, u);
        slopes_at(w, what->dy, square, o, dm);
        chain(dv, dm, u);
    }
    both_sides(input_back_line, dv);
    for (size_t k = 0; k < WINOGRAD_PLACES; k++) {
        const size_t iy = at.y + k / 4, ix = at.x + k % 4;

        if (iy >= c->pad && iy < c->pad + c->height && ix >= c->pad &&
            ix < c->pad + c->width)
            what->dx[((iy - c->pad) * c->width + ix - c->pad) * c->in + i] +=
                dv[k];
    }
}

static void backward_ref(const struct conv *c, const struct conv_backward *what)
{
    const struct winograd w = winograd_of(c);

    for (size_t o = 0; o < c->out; o++) {
        for (size_t i = 0; i < c->in; i++)
            weights_ref(&w, what, o, i);
    }
    if (what->dx == NULL)
        return;
    memset(what->dx, 0,
           (size_t)c->height * c->width * c->in * sizeof *what->dx);
    for (size_t s = 0; s < w.squares; s++) {
        for (size_t i = 0; i < c->in; i++)
            input_ref(&w, what, s, i);
    }
}

/* --- by stride ------------------------------------------------------------ */

struct squares {
    size_t (*packed)(const struct conv *c);
    size_t (*scratch)(const struct conv *c);
    void (*pack)(enum isa isa, const struct conv *c, const float *weights,
                 float *packed);
    void (*forward)(enum isa isa, const struct conv *c, const float *x,
                    const float *packed, const float *bias, float *y,
                    float *scratch);
    void (*backward)(enum isa isa, const struct conv *c,
                     const struct conv_backward *what, float *scratch);
    void (*forward_ref)(const struct conv *c, const float *x,
                        const float *weights, const float *bias, float *y);
    void (*backward_ref)(const struct conv *c,
                         const struct conv_backward *what);
};

static const struct squares *squares_of(const struct conv *c)
{
    static const struct squares one = {
        packed_floats, scratch_floats, pack,        forward,
        backward,      forward_ref,    backward_ref};
    static const struct squares two = {
        winograd2_packed,      winograd2_scratch,  winograd2_pack,
        winograd2_forward,     winograd2_backward, winograd2_forward_ref,
        winograd2_backward_ref};

    return c->stride == 2 ? &two : &one;
}

size_t winograd_packed(const struct conv *c)
{
    return squares_of(c)->packed(c);
}

size_t winograd_scratch(const struct conv *c)
{
    return squares_of(c)->scratch(c);
}

void winograd_pack(enum isa isa, const struct conv *c, const float *weights,
                   float *packed)
{
    squares_of(c)->pack(isa, c, weights, packed);
}

void winograd_forward(enum isa isa, const struct conv *c, const float *x,
                      const float *packed, const float *bias, float *y,
                      float *scratch)
{
    squares_of(c)->forward(isa, c, x, packed, bias, y, scratch);
}

void winograd_backward(enum isa isa, const struct conv *c,
                       const struct conv_backward *what, float *scratch)
{
    squares_of(c)->backward(isa, c, what, scratch);
}

void winograd_forward_ref(const struct conv *c, const float *x,
                          const float *weights, const float *bias, float *y)
{
    squares_of(c)->forward_ref(c, x, weights, bias, y);
}

void winograd_backward_ref(const struct conv *c,
                           const struct conv_backward *what)
{
    squares_of(c)->backward_ref(c, what);
}

/*
 * winograd2.c - the products, and the definition.
 */
#include "math/net/winograd2.h"

#include <math.h>
#include <string.h>

#include "math/net/border.h"
#include "math/net/net_parts.h"

enum {
    LINE = WINOGRAD2_LINE,
    PLACES = WINOGRAD2_PLACES,
    KINDS = WINOGRAD2_KINDS,
    SIDE = WINOGRAD2_SIDE,
    LINES = WINOGRAD2_LINES,
};

bool winograd2_is(const struct conv *c)
{
    const struct winograd2 w = winograd2_of(c);

    return c->stride == 2 && 7 * w.squares <= w.width * w.height;
}

static size_t pairs(const struct conv *c)
{
    return (size_t)c->in * c->out;
}

size_t winograd2_packed(const struct conv *c)
{
    return 2 * KINDS * pairs(c);
}

static struct border border_of(const struct winograd2 *w)
{
    const bool needed = w->wide != w->conv.width || w->tall != w->conv.height;

    return (struct border){.conv = &w->conv,
                           .row = w->wide * w->conv.in,
                           .floats = needed ? winograd2_image(w) : 0};
}

/* --- the products -------------------------------------------------------- */

size_t winograd2_scratch(const struct conv *c)
{
    const struct winograd2 w = winograd2_of(c);
    const size_t channels = (size_t)c->in + c->out + NET_PANEL;

    return 2 * border_of(&w).floats + PLACES * w.some * channels +
           KINDS * winograd2_plane(c);
}

void winograd2_pack(enum isa isa, const struct conv *c, const float *weights,
                    float *packed)
{
    net_ops(isa)->winograd2_pack(c, weights, packed);
}

void winograd2_forward(enum isa isa, const struct conv *c, const float *x,
                       const float *packed, const float *bias, float *y,
                       float *scratch)
{
    const struct winograd2 w = winograd2_of(c);
    const struct border border = border_of(&w);

    net_ops(isa)->winograd2_forward(&w, border_put(&border, x, scratch), packed,
                                    bias, y, scratch + border.floats);
}

void winograd2_backward(enum isa isa, const struct conv *c,
                        const struct conv_backward *what, float *scratch)
{
    const struct winograd2 w = winograd2_of(c);
    const struct border border = border_of(&w);
    const struct winograd2_backward back = {
        .image = border_put(&border, what->x, scratch),
        .u = what->packed + KINDS * pairs(c),
        .dy = what->dy,
        .dw = what->dw,
        .dx = what->dx != NULL && border.floats > 0 ? scratch + border.floats
                                                    : what->dx};

    if (what->dx != NULL)
        memset(back.dx, 0, winograd2_image(&w) * sizeof *back.dx);
    net_ops(isa)->winograd2_backward(&w, &back, scratch + 2 * border.floats);
    if (what->dx != NULL)
        border_take(&border, back.dx, what->dx);
}

/* --- the definition ------------------------------------------------------ */

/* One line of a matrix: numbers `by` floats apart, in place. */
typedef void line(float *p, size_t by);

static void weights_line(float *p, size_t by)
{
    const float g[SIDE] = {p[0], p[by], p[2 * by]};

    p[by] = (g[0] + g[2]) * 0.5f;
    p[2 * by] = (g[0] - g[2]) * 0.5f;
    p[3 * by] = g[2];
    p[4 * by] = g[1];
}

static void input_line(float *p, size_t by)
{
    const float d[LINE] = {p[0],      p[by],     p[2 * by], p[3 * by],
                           p[4 * by], p[5 * by], p[6 * by]};

    p[0] = d[0] - d[4];
    p[by] = d[2] + d[4];
    p[2 * by] = d[4] - d[2];
    p[3 * by] = d[2] - d[6];
    p[4 * by] = d[1];
    p[5 * by] = d[3];
    p[6 * by] = d[5];
}

static void output_line(float *p, size_t by)
{
    const float m[LINE] = {p[0],      p[by],     p[2 * by], p[3 * by],
                           p[4 * by], p[5 * by], p[6 * by]};

    p[0] = ((m[0] + m[1]) + m[2]) + m[4];
    p[by] = (m[1] - m[2]) + m[5];
    p[2 * by] = ((m[1] + m[2]) - m[3]) + m[6];
}

static void output_back_line(float *p, size_t by)
{
    const float y[SIDE] = {p[0], p[by], p[2 * by]};

    p[by] = (y[0] + y[1]) + y[2];
    p[2 * by] = (y[0] - y[1]) + y[2];
    p[3 * by] = 0 - y[2];
    p[4 * by] = y[0];
    p[5 * by] = y[1];
    p[6 * by] = y[2];
}

static void input_back_line(float *p, size_t by)
{
    const float v[LINE] = {p[0],      p[by],     p[2 * by], p[3 * by],
                           p[4 * by], p[5 * by], p[6 * by]};

    p[by] = v[4];
    p[2 * by] = (v[1] - v[2]) + v[3];
    p[3 * by] = v[5];
    p[4 * by] = (v[1] + v[2]) - v[0];
    p[5 * by] = v[6];
    p[6 * by] = 0 - v[3];
}

static void weights_back_line(float *p, size_t by)
{
    const float u[LINES] = {p[0], p[by], p[2 * by], p[3 * by], p[4 * by]};

    p[0] = u[0] + (u[1] + u[2]) * 0.5f;
    p[by] = u[4];
    p[2 * by] = (u[1] - u[2]) * 0.5f + u[3];
}

/* Columns, then rows, of `side` lines each. */
static void both_sides(line *apply, float *p, size_t side)
{
    for (size_t k = 0; k < side; k++)
        apply(p + k, side);
    for (size_t k = 0; k < side; k++)
        apply(p + side * k, 1);
}

/* The kind of place k. */
static size_t kind_of(size_t k)
{
    const size_t y = k / LINE, x = k % LINE;

    return (y < WINOGRAD2_MIXED ? y : WINOGRAD2_MIXED) * LINES +
           (x < WINOGRAD2_MIXED ? x : WINOGRAD2_MIXED);
}

static void kernel_squared(const float *g, size_t tap, float u[KINDS])
{
    for (size_t t = 0; t < (size_t)SIDE * SIDE; t++)
        u[t / SIDE * LINES + t % SIDE] = g[t * tap];
    for (size_t x = 0; x < SIDE; x++)
        weights_line(u + x, LINES);
    for (size_t y = 0; y < LINES; y++)
        weights_line(u + y * LINES, 1);
}

static bool pixel_at(const struct winograd2 *w, size_t square, size_t k,
                     size_t *at)
{
    const struct winograd2_corner corner = winograd2_corner(w, square);
    const struct conv *const c = &w->conv;
    const size_t iy = 2 * corner.y + k / LINE, ix = 2 * corner.x + k % LINE;

    if (iy < c->pad || iy - c->pad >= c->height || ix < c->pad ||
        ix - c->pad >= c->width)
        return false;
    *at = ((iy - c->pad) * c->width + ix - c->pad) * c->in;
    return true;
}

static void input_at(const struct winograd2 *w, const float *x, size_t square,
                     size_t i, float v[PLACES])
{
    for (size_t k = 0; k < PLACES; k++) {
        size_t at;

        v[k] = pixel_at(w, square, k, &at) ? x[at + i] : 0;
    }
    both_sides(input_line, v, LINE);
}

static void slopes_at(const struct winograd2 *w, const float *dy, size_t square,
                      size_t o, float dm[PLACES])
{
    const struct winograd2_corner at = winograd2_corner(w, square);

    memset(dm, 0, PLACES * sizeof *dm);
    for (size_t k = 0; k < (size_t)SIDE * SIDE; k++) {
        if (k / SIDE < at.rows && k % SIDE < at.cols)
            dm[k / SIDE * LINE + k % SIDE] =
                dy[((at.y + k / SIDE) * w->width + at.x + k % SIDE) *
                       w->conv.out +
                   o];
    }
    both_sides(output_back_line, dm, LINE);
}

void winograd2_forward_ref(const struct conv *c, const float *x,
                           const float *weights, const float *bias, float *y)
{
    const struct winograd2 w = winograd2_of(c);

    for (size_t s = 0; s < w.squares * c->out; s++) {
        const size_t o = s % c->out;
        const struct winograd2_corner at = winograd2_corner(&w, s / c->out);
        float m[PLACES] = {0};

        m[LINE + 1] = bias[o];
        for (size_t i = 0; i < c->in; i++) {
            float u[KINDS], v[PLACES];

            kernel_squared(weights + o * 9 * c->in + i, c->in, u);
            input_at(&w, x, s / c->out, i, v);
            for (size_t k = 0; k < PLACES; k++)
                m[k] = fmaf(v[k], u[kind_of(k)], m[k]);
        }
        both_sides(output_line, m, LINE);
        for (size_t k = 0; k < (size_t)SIDE * SIDE; k++) {
            if (k / SIDE < at.rows && k % SIDE < at.cols)
                y[((at.y + k / SIDE) * w.width + at.x + k % SIDE) * c->out +
                  o] = m[k / SIDE * LINE + k % SIDE];
        }
    }
}

static void weights_ref(const struct winograd2 *w,
                        const struct conv_backward *what, size_t o, size_t i)
{
    float du[KINDS] = {0};

    for (size_t s = 0; s < w->squares; s++) {
        float v[PLACES], dm[PLACES];

        input_at(w, what->x, s, i, v);
        slopes_at(w, what->dy, s, o, dm);
        for (size_t k = 0; k < PLACES; k++)
            du[kind_of(k)] = fmaf(dm[k], v[k], du[kind_of(k)]);
    }
    both_sides(weights_back_line, du, LINES);
    for (size_t t = 0; t < 9; t++)
        what->dw[(o * 9 + t) * w->conv.in + i] =
            du[t / SIDE * LINES + t % SIDE];
}

static void input_ref(const struct winograd2 *w,
                      const struct conv_backward *what, size_t square, size_t i)
{
    const struct conv *const c = &w->conv;
    float dv[PLACES] = {0};

    for (size_t o = 0; o < c->out; o++) {
        float u[KINDS], dm[PLACES];

        kernel_squared(what->weights + o * 9 * c->in + i, c->in, u);
        slopes_at(w, what->dy, square, o, dm);
        for (size_t k = 0; k < PLACES; k++)
            dv[k] = fmaf(dm[k], u[kind_of(k)], dv[k]);
    }
    both_sides(input_back_line, dv, LINE);
    for (size_t k = 0; k < PLACES; k++) {
        size_t at;

        if (pixel_at(w, square, k, &at))
            what->dx[at + i] += dv[k];
    }
}

void winograd2_backward_ref(const struct conv *c,
                            const struct conv_backward *what)
{
    const struct winograd2 w = winograd2_of(c);

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

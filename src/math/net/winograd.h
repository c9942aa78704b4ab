/*
 * winograd.h - convolutions of 3 x 3 by fewer multiplications, with the same
 * bits anywhere (math/net only; conv.h is the way in).
 *
 * A square of 2 x 2 outputs needs 36 multiplications of each pair of channels;
 * Winograd's F(2x2, 3x3) does with 16 (Lavin and Gray, "Fast Algorithms for
 * Convolutional Neural Networks", CVPR 2016).  With the 4 x 4 pixels d that a
 * square sees, zeros behind the border, and the kernel g, at each of 16 places:
 *
 *     u = G g G'                   of each pair of channels, once for all
 *     v = B' d B                   of each input channel
 *     m[o] = chain over the inputs i of v[i] u[i][o], from 0; from bias[o] at
 *            place (1, 1), which every output has once
 *     y = A' m A
 *
 * and on the way back each step turned round:
 *
 *     dm = A dy A'                 zeros where dy has no more rows or columns
 *     du[o][i] = chain over the squares, row by row, of dm[o] v[i], from 0
 *     dw = G' du G
 *     dv[i] = chain over the outputs o of dm[o] u[i][o], from 0
 *     dx from 0, sums over the squares that see it, row by row, of B dv B'
 *
 * A matrix of both sides is applied to columns, then to rows; a line of it is
 *
 *     G    g0, (g0 + g2)/2 + g1/2, (g0 + g2)/2 - g1/2, g2
 *     B'   d0 - d2, d1 + d2, d2 - d1, d1 - d3
 *     A'   (m0 + m1) + m2, (m1 - m2) - m3
 *     A    y0, y0 + y1, y0 - y1, 0 - y1
 *     B    v0, (v1 - v2) + v3, (v1 + v2) - v0, 0 - v3
 *     G'   u0 + (u1 + u2)/2, (u1 - u2)/2, (u1 + u2)/2 + u3
 *
 * in floats, each operation rounded: vectors run over channels, so their width
 * changes no bit, and a graphics card has the same.  At stride 2 squares are
 * others: winograd2.h.
 */
#ifndef MATH_NET_WINOGRAD_H
#define MATH_NET_WINOGRAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "math/net/conv.h"

#define WINOGRAD_PLACES  16u
#define WINOGRAD_BIAS    5u  /* The place that begins with it. */
#define WINOGRAD_SQUARES 48u /* Taken at a time on the way back. */

/* A convolution by squares. */
struct winograd {
    struct conv conv;
    size_t width;   /* Of y. */
    size_t height;  /* Of y. */
    size_t across;  /* Squares in a row. */
    size_t squares; /* In all. */
    size_t row;     /* Floats of a row of the image, which has its border. */
};

static inline struct winograd winograd_of(const struct conv *conv)
{
    const size_t width = conv_width(conv), height = conv_height(conv);
    const size_t across = (width + 1) / 2;

    return (struct winograd){.conv = *conv,
                             .width = width,
                             .height = height,
                             .across = across,
                             .squares = across * ((height + 1) / 2),
                             .row = (2 * across + 2) * conv->in};
}

/* Floats of the image with its border, and with what squares see behind it. */
static inline size_t winograd_image(const struct winograd *w)
{
    return (2 * (w->squares / w->across) + 2) * w->row;
}

/* Where in y a square begins, and whether y has its second column and row. */
struct winograd_corner {
    size_t y, x;
    bool right, below;
};

static inline struct winograd_corner winograd_corner(const struct winograd *w,
                                                     size_t square)
{
    const size_t y = square / w->across * 2, x = square % w->across * 2;

    return (struct winograd_corner){
        .y = y, .x = x, .right = x + 1 < w->width, .below = y + 1 < w->height};
}

/* That of the next square, for nothing: a division would cost more than what is
 * done to a square. */
static inline void winograd_next(const struct winograd *w,
                                 struct winograd_corner *at)
{
    at->x += 2;
    if (at->x >= w->width) {
        at->x = 0;
        at->y += 2;
    }
    at->right = at->x + 1 < w->width;
    at->below = at->y + 1 < w->height;
}

/* Where in the image the pixels of a square begin. */
static inline size_t winograd_origin(const struct winograd *w,
                                     const struct winograd_corner *at)
{
    return at->y * w->row + at->x * w->conv.in;
}

struct winograd_backward {
    const float *image, *u; /* u[place][out][in] */
    const float *dy;
    float *dw;
    float *dx; /* An image with border, of zeros; NULL: not wanted. */
};

/* Which convolutions are defined so: 3 x 3, stride 1, or 2 where winograd2_is,
 * and channels that fill the vectors of every machine. */
bool winograd_is(const struct conv *conv);

/* Floats of u in both orders, and of what a call needs besides. */
size_t winograd_packed(const struct conv *conv);
size_t winograd_scratch(const struct conv *conv);
void winograd_pack(enum isa isa, const struct conv *conv, const float *weights,
                   float *packed);

void winograd_forward(enum isa isa, const struct conv *conv, const float *x,
                      const float *packed, const float *bias, float *y,
                      float *scratch);
/* All but db. */
void winograd_backward(enum isa isa, const struct conv *conv,
                       const struct conv_backward *what, float *scratch);

/* The definition, read off. */
void winograd_forward_ref(const struct conv *conv, const float *x,
                          const float *weights, const float *bias, float *y);
void winograd_backward_ref(const struct conv *conv,
                           const struct conv_backward *what);

#endif /* MATH_NET_WINOGRAD_H */

/*
 * winograd2.h - convolutions of 3 x 3 at every second pixel by fewer
 * multiplications, with the same bits anywhere (math/net only; winograd.h is
 * the way in).
 *
 * Along a line an output is e[k] g0 + o[k] g1 + e[k+1] g2 of the pixels with
 * even numbers e and odd numbers o: two convolutions.  Three outputs of the
 * first need four multiplications (Winograd's F(3, 2)) instead of six, of the
 * second three.  So a square of 3 x 3 outputs needs 49 instead of 81, at
 * places that are pairs of
 *
 *     e0, e1, e2, e3, o0, o1, o2
 *
 * Weights of o0, o1 and o2 are the same, which leaves 25 kinds.  With the 7 x 7
 * pixels d that a square sees, zeros behind the border, and all else as in
 * winograd.h:
 *
 *     m[o] begins with the bias at place (e1, e1), which every output has once
 *     du[kind][o][i] = chain over the squares, row by row, in each over the
 *                      kind's places, row by row, of dm[o] v[i], from 0
 *
 * A line of each matrix is
 *
 *     G    g0, (g0 + g2)/2, (g0 - g2)/2, g2;  g1
 *     B'   d0 - d4, d2 + d4, d4 - d2, d2 - d6;  d1, d3, d5
 *     A'   ((m0 + m1) + m2) + m4, (m1 - m2) + m5, ((m1 + m2) - m3) + m6
 *     A    y0, (y0 + y1) + y2, (y0 - y1) + y2, 0 - y2;  y0, y1, y2
 *     B    v0, v4, (v1 - v2) + v3, v5, (v1 + v2) - v0, v6, 0 - v3
 *     G'   u0 + (u1 + u2)/2, u4, (u1 - u2)/2 + u3
 */
#ifndef MATH_NET_WINOGRAD2_H
#define MATH_NET_WINOGRAD2_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "math/net/conv.h"

#define WINOGRAD2_LINE    7u /* Places of a line, and pixels, ... */
#define WINOGRAD2_SIDE    3u /* ... outputs, ... */
#define WINOGRAD2_MIXED   4u /* ... places of even pixels, ... */
#define WINOGRAD2_LINES   5u /* ... and kinds of weights. */
#define WINOGRAD2_PLACES  49u
#define WINOGRAD2_KINDS   25u
#define WINOGRAD2_BIAS    6u  /* The kind that begins with it. */
#define WINOGRAD2_SQUARES 16u /* Taken at a time, at most. */

/* A convolution by such squares. */
struct winograd2 {
    struct conv conv;
    size_t width, height; /* Of y. */
    size_t across;        /* Squares in a row. */
    size_t squares;       /* In all. */
    size_t some;          /* Taken at a time. */
    size_t wide, tall;    /* Of the image with its border. */
};

static inline struct winograd2 winograd2_of(const struct conv *conv)
{
    const size_t width = conv_width(conv), height = conv_height(conv);
    const size_t across = (width + 2) / WINOGRAD2_SIDE;
    const size_t down = (height + 2) / WINOGRAD2_SIDE;
    const size_t turns =
        (across * down + WINOGRAD2_SQUARES - 1) / WINOGRAD2_SQUARES;
    const size_t wide = conv->width + 2 * (size_t)conv->pad;
    const size_t tall = conv->height + 2 * (size_t)conv->pad;
    const size_t seen = 6 * across + 1, below = 6 * down + 1;

    return (struct winograd2){.conv = *conv,
                              .width = width,
                              .height = height,
                              .across = across,
                              .squares = across * down,
                              .some = (across * down + turns - 1) / turns,
                              .wide = wide > seen ? wide : seen,
                              .tall = tall > below ? tall : below};
}

static inline size_t winograd2_image(const struct winograd2 *w)
{
    return w->tall * w->wide * w->conv.in;
}

/* Where in y a square begins, and how many of its rows and columns y has. */
struct winograd2_corner {
    size_t y, x, rows, cols;
};

static inline struct winograd2_corner
winograd2_corner(const struct winograd2 *w, size_t square)
{
    const size_t y = square / w->across * WINOGRAD2_SIDE;
    const size_t x = square % w->across * WINOGRAD2_SIDE;
    const size_t below = w->height - y, right = w->width - x;

    return (struct winograd2_corner){
        .y = y,
        .x = x,
        .rows = below < WINOGRAD2_SIDE ? below : WINOGRAD2_SIDE,
        .cols = right < WINOGRAD2_SIDE ? right : WINOGRAD2_SIDE};
}

/* Kinds are 5 y + x.  How many places one has, and how many those before it. */
static inline size_t winograd2_members(size_t kind)
{
    return (kind / WINOGRAD2_LINES < WINOGRAD2_MIXED ? 1u : 3u) *
           (kind % WINOGRAD2_LINES < WINOGRAD2_MIXED ? 1u : 3u);
}

static inline size_t winograd2_first(size_t kind)
{
    const size_t y = kind / WINOGRAD2_LINES, x = kind % WINOGRAD2_LINES;

    return y < WINOGRAD2_MIXED ? WINOGRAD2_LINE * y + x
                               : WINOGRAD2_LINE * y + 3 * x;
}

/* The row of a place of square s among those of `count` squares: those of a
 * kind lie together, square by square. */
static inline size_t winograd2_row(size_t y, size_t x, size_t s, size_t count)
{
    const bool tall = y >= WINOGRAD2_MIXED, wide = x >= WINOGRAD2_MIXED;
    const size_t kind = (tall ? WINOGRAD2_MIXED : y) * WINOGRAD2_LINES +
                        (wide ? WINOGRAD2_MIXED : x);
    const size_t member =
        (tall ? (y - WINOGRAD2_MIXED) * (wide ? 3u : 1u) : 0) +
        (wide ? x - WINOGRAD2_MIXED : 0);

    return winograd2_first(kind) * count + s * winograd2_members(kind) + member;
}

/* Places of a line by pixel: even ones first. */
static inline size_t winograd2_place(size_t pixel)
{
    return pixel % 2 == 0 ? pixel / 2 : WINOGRAD2_MIXED + pixel / 2;
}

/* Floats from a kind of du to the next: not a power of two, which would bring
 * all kinds of a pair of channels into the same lines of a cache. */
static inline size_t winograd2_plane(const struct conv *conv)
{
    return (size_t)conv->in * conv->out + 16;
}

struct winograd2_backward {
    const float *image, *u; /* u[kind][out][in] */
    const float *dy;
    float *dw;
    float *dx; /* An image with border, of zeros; NULL: not wanted. */
};

/* Which are defined so: where squares need at most 7 of 9 multiplications. */
bool winograd2_is(const struct conv *conv);

size_t winograd2_packed(const struct conv *conv);
size_t winograd2_scratch(const struct conv *conv);
void winograd2_pack(enum isa isa, const struct conv *conv, const float *weights,
                    float *packed);
void winograd2_forward(enum isa isa, const struct conv *conv, const float *x,
                       const float *packed, const float *bias, float *y,
                       float *scratch);
void winograd2_backward(enum isa isa, const struct conv *conv,
                        const struct conv_backward *what, float *scratch);

/* The definition, read off. */
void winograd2_forward_ref(const struct conv *conv, const float *x,
                           const float *weights, const float *bias, float *y);
void winograd2_backward_ref(const struct conv *conv,
                            const struct conv_backward *what);

#endif /* MATH_NET_WINOGRAD2_H */

/*
 * border.h - an image with zeros around it, as squares of pixels see it
 * (math/net only).
 */
#ifndef MATH_NET_BORDER_H
#define MATH_NET_BORDER_H

#include <stddef.h>
#include <string.h>

#include "math/net/conv.h"

struct border {
    const struct conv *conv;
    size_t row;    /* Floats of a row of the image with its border. */
    size_t floats; /* Of all of it; 0: the image is taken as it is. */
};

static inline size_t border_inside(const struct border *b, size_t y)
{
    return (y + b->conv->pad) * b->row + (size_t)b->conv->pad * b->conv->in;
}

/* x itself, if it needs none; else `image`, which is filled. */
static inline const float *border_put(const struct border *b, const float *x,
                                      float *image)
{
    const size_t row = (size_t)b->conv->width * b->conv->in;

    if (b->floats == 0)
        return x;
    memset(image, 0, b->floats * sizeof *image);
    for (size_t y = 0; y < b->conv->height; y++)
        memcpy(image + border_inside(b, y), x + y * row, row * sizeof *x);
    return image;
}

/* The other way. */
static inline void border_take(const struct border *b, const float *image,
                               float *x)
{
    const size_t row = (size_t)b->conv->width * b->conv->in;

    for (size_t y = 0; b->floats > 0 && y < b->conv->height; y++)
        memcpy(x + y * row, image + border_inside(b, y), row * sizeof *x);
}

#endif /* MATH_NET_BORDER_H */

/*
 * conv.h - convolutions of one sample, forward and back, with the same bits
 * anywhere.
 *
 * Images are height x width x channels, the channels of a pixel side by side;
 * weights w[out][dy][dx][in].  P(oy, ox) is the patch that output pixel
 * (oy, ox) sees, zeros where it reaches over the border.  Each number is a
 * chain as in gemm.h:
 *
 *     y[oy][ox][o]        from bias[o], over the patch: dy, dx, in ascending
 *     dw[o][dy][dx][i]    from 0, over output pixels, row by row
 *     db[o]               from 0, sums over output pixels, row by row
 *     dx[iy][ix][i]       from 0, over output pixels that see it, row by row,
 *                         in each over out ascending
 *
 * But where winograd.h says so (3 x 3, stride 1 or 2, whole vectors of
 * channels) y, and dw and dx of a sample of whose gradients dy at least 3 in 8
 * are not 0, are as defined there: fewer multiplications than any such chain.
 *
 * A term whose gradient is 0 changes at most the sign of a 0, as long as the
 * other factor is finite, which whoever calls sees to.  So it may be left out:
 * behind max pooling three of four are.  That no sign of a 0 ever shows in a
 * sum is what makes the definition whole.
 */
#ifndef MATH_NET_CONV_H
#define MATH_NET_CONV_H

#include <stddef.h>
#include <stdint.h>

#include "math/isa.h"

struct conv {
    uint32_t height, width, in; /* Of x. */
    uint32_t tall, wide, out;   /* Of the kernel, and how many there are. */
    uint32_t stride;            /* At least 1. */
    uint32_t pad;               /* Zeros on each side; < tall and < wide. */
};

static inline uint32_t conv_height(const struct conv *conv)
{
    return (conv->height + 2 * conv->pad - conv->tall) / conv->stride + 1;
}

static inline uint32_t conv_width(const struct conv *conv)
{
    return (conv->width + 2 * conv->pad - conv->wide) / conv->stride + 1;
}

static inline size_t conv_patch(const struct conv *conv)
{
    return (size_t)conv->tall * conv->wide * conv->in;
}

/* Floats of the weights as kernels want them, and of what a call needs
 * besides. */
size_t conv_packed(const struct conv *conv);
size_t conv_scratch(const struct conv *conv);

/* Once for each set of weights; `isa` is that of the calls which use it. */
void conv_pack(enum isa isa, const struct conv *conv, const float *weights,
               float *packed);

void conv_forward(enum isa isa, const struct conv *conv, const float *x,
                  const float *packed, const float *bias, float *y,
                  float *scratch);

struct conv_backward {
    const float *x, *weights, *packed;
    const float *dy;
    float *dw, *db;
    float *dx; /* NULL: not wanted. */
};

void conv_backward(enum isa isa, const struct conv *conv,
                   const struct conv_backward *what, float *scratch);

/* The definition, read off. */
void conv_forward_ref(const struct conv *conv, const float *x,
                      const float *weights, const float *bias, float *y);
void conv_backward_ref(const struct conv *c, const struct conv_backward *b);

#endif /* MATH_NET_CONV_H */

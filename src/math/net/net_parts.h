/*
 * net_parts.h - one row per instruction set of gemm.inc, conv.inc,
 * winograd.inc, winograd2.inc and curve.inc (math/net only).
 */
#ifndef MATH_NET_PARTS_H
#define MATH_NET_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "math/net/conv.h"
#include "math/net/gemm.h"
#include "math/net/winograd.h"
#include "math/net/winograd2.h"

#define NET_PANEL 32u /* The widest panel, NR of gemm.inc, ... */
#define NET_TALL  14u /* ... and the tallest tile, MR. */

/* Gradients that are not 0, listed twice: those of an output pixel side by
 * side, and those of a channel. */
struct conv_lists {
    uint32_t *pixel;   /* Where the entries of a pixel begin. */
    uint32_t *channel; /* Of an entry. */
    float *value;
    uint32_t *next;          /* Where those of a channel go on. */
    uint32_t *by_channel_at; /* Of an entry: its patch. */
    float *by_channel_value;
};

static inline size_t conv_padded_width(const struct conv *conv)
{
    return (size_t)conv->width + 2 * (size_t)conv->pad;
}

/* Floats of an image with its border. */
static inline size_t conv_padded(const struct conv *conv)
{
    return ((size_t)conv->height + 2 * (size_t)conv->pad) *
           conv_padded_width(conv) * conv->in;
}

/* Where the patch of an output pixel begins in it. */
static inline size_t conv_origin(const struct conv *conv, uint32_t y,
                                 uint32_t x)
{
    return (y * conv_padded_width(conv) + x) * conv->stride * conv->in;
}

/* Channels, filled up to whole panels of any variant. */
static inline size_t conv_panels(size_t channels)
{
    return (channels + NET_PANEL - 1) / NET_PANEL * NET_PANEL;
}

struct net_ops {
    void (*gemm)(const struct gemm *gemm, float *scratch);
    void (*turn)(const float *from, size_t from_row, size_t rows, size_t cols,
                 float *to, size_t to_row);
    void (*conv_pack)(const struct conv *conv, const float *weights,
                      float *packed);
    void (*conv_forward)(const struct conv *conv, const float *padded,
                         const float *packed, const float *bias, float *y);
    size_t (*count_nonzero)(const float *x, size_t count);
    void (*conv_bias)(const struct conv *conv, const float *dy, float *db);
    void (*weights_by_tiles)(const struct conv *conv, const float *padded,
                             const float *dy, float *room, float *dw);
    void (*weights_by_lists)(const struct conv *conv, const float *padded,
                             struct conv_lists *lists, float *dw);
    void (*list_taps)(const struct conv *conv, const float *weights,
                      float *taps);
    void (*input_by_lists)(const struct conv *conv, const float *taps,
                           const struct conv_lists *lists, float *padded);
    void (*list_pixels)(const struct conv *conv, const float *dy,
                        struct conv_lists *lists);
    void (*winograd_pack)(const struct conv *conv, const float *weights,
                          float *packed);
    void (*winograd_forward)(const struct winograd *winograd,
                             const float *image, const float *u,
                             const float *bias, float *y, float *room);
    void (*winograd_backward)(const struct winograd *winograd,
                              const struct winograd_backward *what,
                              float *room);
    void (*winograd2_pack)(const struct conv *conv, const float *weights,
                           float *packed);
    void (*winograd2_forward)(const struct winograd2 *winograd,
                              const float *image, const float *u,
                              const float *bias, float *y, float *room);
    void (*winograd2_backward)(const struct winograd2 *winograd,
                               const struct winograd2_backward *what,
                               float *room);
    bool (*sums_add)(const float *x, size_t count, int exponent, int64_t *sum,
                     double *largest);
    bool (*sums_finite)(const float *x, size_t count);
    void (*relu)(const float *x, size_t count, float *y, uint8_t *up);
    void (*relu_back)(const uint8_t *up, const float *dy, size_t count,
                      float *dx);
    void (*drop)(const float *x, size_t count, uint64_t key, uint32_t share,
                 float factor, float *y);
    void (*largest)(const float *x, const size_t *place, uint32_t places,
                    size_t count, float *y, uint8_t *which);
    void (*largest_back)(const float *dy, const uint8_t *which,
                         const size_t *place, uint32_t places, size_t count,
                         bool add, float *dx);
};

/* The row that these files make, with the ISA's own sums. */
#define NET_OPS                                                                \
    {                                                                          \
        .gemm = N(gemm), .turn = N(turn), .conv_pack = N(conv_pack),           \
        .conv_forward = N(forward), .count_nonzero = N(count),                 \
        .conv_bias = N(bias), .weights_by_tiles = N(weights_by_tiles),         \
        .weights_by_lists = N(weights_by_lists), .list_taps = N(list_taps),    \
        .input_by_lists = N(input_by_lists), .list_pixels = N(list_pixels),    \
        .winograd_pack = N(winograd_pack),                                     \
        .winograd_forward = N(winograd_forward),                               \
        .winograd_backward = N(winograd_backward),                             \
        .winograd2_pack = N(winograd2_pack),                                   \
        .winograd2_forward = N(winograd2_forward),                             \
        .winograd2_backward = N(winograd2_backward), .sums_add = N(sums_add),  \
        .sums_finite = N(sums_finite), .relu = N(relu),                        \
        .relu_back = N(relu_back), .drop = N(drop), .largest = N(largest),     \
        .largest_back = N(largest_back),                                       \
    }

extern const struct net_ops net_portable;
#ifdef __x86_64__
extern const struct net_ops net_avx2;
extern const struct net_ops net_avx512;
#endif

const struct net_ops *net_ops(enum isa isa);

#endif /* MATH_NET_PARTS_H */

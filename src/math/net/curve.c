/*
 * curve.c - which variant runs, and what is left over behind whole vectors.
 */
#include "math/net/curve.h"

#include "base/rng.h"
#include "math/net/net_parts.h"

#define WHOLE(count) ((count) / 16 * 16) /* What every variant takes. */

void curve_relu(enum isa isa, const float *x, size_t count, float *y,
                uint8_t *up)
{
    net_ops(isa)->relu(x, WHOLE(count), y, up);
    for (size_t i = WHOLE(count); i < count; i++) {
        const uint8_t bit = (uint8_t)(1u << i % 8);

        y[i] = x[i] < 0 ? 0 : x[i];
        up[i / 8] = (uint8_t)((up[i / 8] & ~bit) | (y[i] > 0 ? bit : 0));
    }
}

void curve_relu_back(enum isa isa, const uint8_t *up, const float *dy,
                     size_t count, float *dx)
{
    net_ops(isa)->relu_back(up, dy, WHOLE(count), dx);
    for (size_t i = WHOLE(count); i < count; i++)
        dx[i] = (up[i / 8] >> i % 8 & 1) != 0 ? dy[i] : 0;
}

void curve_drop(enum isa isa, const float *x, size_t count, uint64_t key,
                uint32_t share, float factor, float *y)
{
    net_ops(isa)->drop(x, WHOLE(count), key, share, factor, y);
    for (size_t i = WHOLE(count); i < count; i++) {
        const uint64_t draw = rng_word(key, i / 4) >> 16 * (i % 4) & 0xffff;

        y[i] = draw < share ? 0 : x[i] * factor;
    }
}

void curve_largest(enum isa isa, const float *x, const size_t *place,
                   uint32_t places, size_t count, float *y, uint8_t *which)
{
    net_ops(isa)->largest(x, place, places, WHOLE(count), y, which);
    for (size_t i = WHOLE(count); i < count; i++) {
        uint32_t best = 0;

        for (uint32_t k = 1; k < places; k++)
            best = x[place[k] + i] > x[place[best] + i] ? k : best;
        y[i] = x[place[best] + i];
        which[i] = (uint8_t)best;
    }
}

void curve_largest_back(enum isa isa, const float *dy, const uint8_t *which,
                        const size_t *place, uint32_t places, size_t count,
                        bool add, float *dx)
{
    net_ops(isa)->largest_back(dy, which, place, places, WHOLE(count), add, dx);
    for (uint32_t k = 0; k < places; k++) {
        for (size_t i = WHOLE(count); i < count; i++) {
            const float slope = which[i] == k ? dy[i] : 0;

            dx[place[k] + i] = slope + (add ? dx[place[k] + i] : 0);
        }
    }
}

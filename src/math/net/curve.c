/*
 * curve.c - which variant runs, and what is left over behind whole vectors.
 */
#include "math/net/curve.h"

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

void curve_larger(enum isa isa, const float *at, uint8_t number, size_t count,
                  float *y, uint8_t *which)
{
    net_ops(isa)->keep_larger(at, number, WHOLE(count), y, which);
    for (size_t i = WHOLE(count); i < count; i++) {
        if (at[i] > y[i]) {
            y[i] = at[i];
            which[i] = number;
        }
    }
}

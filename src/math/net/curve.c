/*
 * curve.c - which variant runs, and what is left over behind whole vectors.
 */
#include "math/net/curve.h"

#include "math/net/net_parts.h"

#define WHOLE(count) ((count) / 16 * 16) /* What every variant takes. */

void curve_relu(enum isa isa, const float *x, size_t count, float *y)
{
    net_ops(isa)->relu(x, WHOLE(count), y);
    for (size_t i = WHOLE(count); i < count; i++)
        y[i] = x[i] < 0 ? 0 : x[i];
}

void curve_relu_back(enum isa isa, const float *y, const float *dy,
                     size_t count, float *dx)
{
    net_ops(isa)->relu_back(y, dy, WHOLE(count), dx);
    for (size_t i = WHOLE(count); i < count; i++)
        dx[i] = y[i] > 0 ? dy[i] : 0;
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

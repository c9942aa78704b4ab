/*
 * curve.h - loops of a network that multiply nothing.
 *
 *     relu       y = 0 if x < 0, else x: what is no number stays none
 *     relu_back  dx = dy where y > 0, else 0
 *     larger     where at > y: y = at, which = number; so the first of equals
 *                stays
 *
 * Outputs may be inputs, but may not overlap them otherwise.
 */
#ifndef MATH_NET_CURVE_H
#define MATH_NET_CURVE_H

#include <stddef.h>
#include <stdint.h>

#include "math/isa.h"

void curve_relu(enum isa isa, const float *x, size_t count, float *y);
void curve_relu_back(enum isa isa, const float *y, const float *dy,
                     size_t count, float *dx);
void curve_larger(enum isa isa, const float *at, uint8_t number, size_t count,
                  float *y, uint8_t *which);

#endif /* MATH_NET_CURVE_H */

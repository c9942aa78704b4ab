/*
 * curve.h - loops of a network that multiply nothing.
 *
 *     relu       y = 0 if x < 0, else x: what is no number stays none; bit i of
 *                `up` (bit i % 8 of byte i / 8) says whether y > 0
 *     relu_back  dx = dy where that bit is set, else 0
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

void curve_relu(enum isa isa, const float *x, size_t count, float *y,
                uint8_t *up);
void curve_relu_back(enum isa isa, const uint8_t *up, const float *dy,
                     size_t count, float *dx);
void curve_larger(enum isa isa, const float *at, uint8_t number, size_t count,
                  float *y, uint8_t *which);

#endif /* MATH_NET_CURVE_H */

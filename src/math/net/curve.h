/*
 * curve.h - loops of a network that multiply nothing.
 *
 *     relu       y = 0 if x < 0, else x: what is no number stays none; bit i of
 *                `up` (bit i % 8 of byte i / 8) says whether y > 0
 *     relu_back  dx = dy where that bit is set, else 0
 *     drop       y = 0 where the draw of its number is below `share`, else x
 *                times `factor`; draw i is bits 16 (i % 4) and on of
 *                rng_word(key, i / 4)
 *     largest    y = the largest of x[place[k]], the first of equals, and
 *                which = its k
 *     largest_back  dx[place[k]] = dy where which = k, else 0; or that added
 *
 * Outputs may be inputs, but may not overlap them otherwise.
 */
#ifndef MATH_NET_CURVE_H
#define MATH_NET_CURVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "math/isa.h"

void curve_relu(enum isa isa, const float *x, size_t count, float *y,
                uint8_t *up);
void curve_relu_back(enum isa isa, const uint8_t *up, const float *dy,
                     size_t count, float *dx);
void curve_drop(enum isa isa, const float *x, size_t count, uint64_t key,
                uint32_t share, float factor, float *y);
/* Of `count` channels each. */
void curve_largest(enum isa isa, const float *x, const size_t *place,
                   uint32_t places, size_t count, float *y, uint8_t *which);
void curve_largest_back(enum isa isa, const float *dy, const uint8_t *which,
                        const size_t *place, uint32_t places, size_t count,
                        bool add, float *dx);

#endif /* MATH_NET_CURVE_H */

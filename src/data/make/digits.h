/*
 * digits.h - noisy digits, drawn, not scanned: 28 x 28 grey values.
 *
 * Each is a few strokes, bent, turned, slanted, scaled, shifted and inked at
 * random, with noise over it; a function of (seed, row) alone.  Values are
 * multiples of 1/256, which eight significant bits hold.  Only + - * / and
 * square roots: the same bits everywhere.
 */
#ifndef DATA_DIGITS_H
#define DATA_DIGITS_H

#include <stdint.h>

enum { DIGITS_SIDE = 28, DIGITS_COLS = DIGITS_SIDE * DIGITS_SIDE };

/* Draw digit number `row`; returns which it is, 0 to 9. */
uint32_t digits_draw(uint64_t seed, uint64_t row, float pixel[DIGITS_COLS]);

#endif /* DATA_DIGITS_H */

/*
 * digits.h - noisy digits, drawn, not scanned: 28 x 28 grey values.
 *
 * Each is a few strokes, bent, turned, slanted, scaled, shifted and inked at
 * random, with noise over it; a function of (seed, row) alone.  Values are
 * bytes over 255 (storage pixel).  Only + - * / and square roots: the same bits
 * everywhere.
 *
 * They are shifted by up to 3 pixels each way, so that a linear model is right
 * about 87 times in 100 and a small convolutional network 98 times.
 */
#ifndef DATA_DIGITS_H
#define DATA_DIGITS_H

#include <stdint.h>

enum { DIGITS_SIDE = 28, DIGITS_COLS = DIGITS_SIDE * DIGITS_SIDE };

/* Which is number `row`, 0 to 9? */
uint32_t digits_which(uint64_t seed, uint64_t row);
/* Draw number `row`, which is to be this one. */
void digits_draw(uint64_t seed, uint64_t row, uint32_t digit,
                 float pixel[DIGITS_COLS]);

#endif /* DATA_DIGITS_H */

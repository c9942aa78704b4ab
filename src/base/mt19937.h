/*
 * mt19937.h - the Mersenne Twister, for reproducing published runs only.
 *
 * The seed systems drew delays and train/test splits from numpy's MT19937;
 * equal figures need equal draws.  Everything else uses base/rng.h.
 * After Matsumoto & Nishimura, "Mersenne Twister", ACM TOMACS 1998.
 */
#ifndef BASE_MT19937_H
#define BASE_MT19937_H

#include <stdint.h>

struct mt19937 {
    uint32_t state[624];
    uint32_t next; /* Index of the next word to temper; 624 = refill. */
};

void mt19937_init(struct mt19937 *mt, uint32_t seed);
uint32_t mt19937_next(struct mt19937 *mt);

/* Uniform in [0, 1) from two draws, 53 bits: numpy's random_sample. */
double mt19937_unit(struct mt19937 *mt);

#endif /* BASE_MT19937_H */

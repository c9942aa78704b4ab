/*
 * rng.h - random numbers that are the same on every machine.
 *
 * Two kinds.  `struct rng` is a stream (xoshiro256**, seeded by splitmix64):
 * one per purpose, split from one seed.  `rng_at` is counter-based: a pure
 * function of (seed, a, b), so that any party can recompute coefficient (a, b)
 * of a code or row b of a generated data set without drawing the others.
 */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include <stdbool.h>
#include <stdint.h>

struct rng {
    uint64_t state[4];
};

void rng_init(struct rng *rng, uint64_t seed);

/* A stream independent of `rng` and of other `purpose`s; `rng` is unchanged. */
struct rng rng_split(const struct rng *rng, uint64_t purpose);

uint64_t rng_next(struct rng *rng);

/* Uniform in [0, bound); bound > 0.  Unbiased. */
uint64_t rng_below(struct rng *rng, uint64_t bound);

/* Uniform in [low, high], both included. */
int64_t rng_between(struct rng *rng, int64_t low, int64_t high);

/* Uniform in [0, 1), 53 bits. */
double rng_unit(struct rng *rng);

/* True with probability `p`. */
bool rng_chance(struct rng *rng, double p);

/* 64 random bits that depend on (seed, a, b) alone. */
uint64_t rng_at(uint64_t seed, uint64_t a, uint64_t b);

/* Number `i` of splitmix64's stream that `key` begins: for those who draw many
 * and made the key with rng_at. */
#define RNG_STEP   0x9e3779b97f4a7c15u
#define RNG_FIRST  0xbf58476d1ce4e5b9u
#define RNG_SECOND 0x94d049bb133111ebu

static inline uint64_t rng_word(uint64_t key, uint64_t i)
{
    uint64_t x = key + (i + 1) * RNG_STEP;

    x = (x ^ x >> 30) * RNG_FIRST;
    x = (x ^ x >> 27) * RNG_SECOND;
    return x ^ x >> 31;
}

/* rng_at as a uniform double in [0, 1). */
double rng_unit_at(uint64_t seed, uint64_t a, uint64_t b);

/* A draw near the standard normal, the same bits on every machine: the sum of
 * twelve uniforms less six (Irwin-Hall) uses additions only, so that no
 * library's log or cos can change a coefficient. */
double rng_normal_at(uint64_t seed, uint64_t a, uint64_t b);

#endif /* BASE_RNG_H */

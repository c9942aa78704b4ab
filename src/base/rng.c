/*
 * rng.c - xoshiro256** and a counter-based hash of (seed, a, b).  Both are
 * written out here, because the C library's generators differ between systems
 * and a seed must give the same run on all of them.
 */
#include "base/rng.h"

#include "base/check.h"

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static uint64_t rotl(uint64_t x, unsigned bits)
{
    return x << bits | x >> (64 - bits);
}

void rng_init(struct rng *rng, uint64_t seed)
{
    for (unsigned i = 0; i < 4; i++)
        rng->state[i] = rng_word(seed, i);
}

struct rng rng_split(const struct rng *rng, uint64_t purpose)
{
    struct rng split;

    rng_init(&split,
             rng_at(rng->state[0] ^ rng->state[3], rng->state[1], purpose));
    return split;
}

uint64_t rng_next(struct rng *rng)
{
    uint64_t *s = rng->state;
    const uint64_t result = rotl(s[1] * 5, 7) * 9;
    const uint64_t t = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotl(s[3], 45);
    return result;
}

uint64_t rng_below(struct rng *rng, uint64_t bound)
{
    uint64_t limit;
    uint64_t x;

    CHECK(bound > 0);
    limit = UINT64_MAX - UINT64_MAX % bound;
    do
        x = rng_next(rng);
    while (x >= limit);
    return x % bound;
}

int64_t rng_between(struct rng *rng, int64_t low, int64_t high)
{
    CHECK(low <= high);
    CHECK((uint64_t)high - (uint64_t)low < UINT64_MAX);
    return (int64_t)((uint64_t)low +
                     rng_below(rng, (uint64_t)high - (uint64_t)low + 1));
}

static double unit(uint64_t bits)
{
    return (double)(bits >> 11) * 0x1p-53;
}

double rng_unit(struct rng *rng)
{
    return unit(rng_next(rng));
}

bool rng_chance(struct rng *rng, double p)
{
    return rng_unit(rng) < p;
}

uint64_t rng_at(uint64_t seed, uint64_t a, uint64_t b)
{
    uint64_t x = mix(seed + 0x9e3779b97f4a7c15u);

    x = mix(x ^ (a + 0xd1b54a32d192ed03u));
    x = mix(x + (b + 1) * 0x8cb92ba72f3d8dd7u);
    return mix(x ^ rotl(a, 32));
}

double rng_unit_at(uint64_t seed, uint64_t a, uint64_t b)
{
    return unit(rng_at(seed, a, b));
}

double rng_normal_at(uint64_t seed, uint64_t a, uint64_t b)
{
    double sum = 0;

    for (unsigned i = 0; i < 12; i++)
        sum += unit(mix(rng_at(seed, a, b) + i * 0x9e3779b97f4a7c15u));
    return sum - 6;
}

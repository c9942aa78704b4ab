/*
 * mt19937.c - MT19937 as numpy seeds and draws it, so that splits and delays of
 * published runs come out again.
 */
#include "base/mt19937.h"

enum { MT_SIZE = 624, MT_SHIFT = 397 };

void mt19937_init(struct mt19937 *mt, uint32_t seed)
{
    mt->state[0] = seed;
    for (uint32_t i = 1; i < MT_SIZE; i++) {
        const uint32_t last = mt->state[i - 1];

        mt->state[i] = 1812433253u * (last ^ last >> 30) + i;
    }
    mt->next = MT_SIZE;
}

static void refill(struct mt19937 *mt)
{
    uint32_t *s = mt->state;

    for (uint32_t i = 0; i < MT_SIZE; i++) {
        const uint32_t y =
            (s[i] & 0x80000000u) | (s[(i + 1) % MT_SIZE] & 0x7fffffffu);

        s[i] = s[(i + MT_SHIFT) % MT_SIZE] ^ y >> 1 ^ (y & 1 ? 0x9908b0dfu : 0);
    }
    mt->next = 0;
}

uint32_t mt19937_next(struct mt19937 *mt)
{
    uint32_t y;

    if (mt->next == MT_SIZE)
        refill(mt);
    y = mt->state[mt->next++];
    y ^= y >> 11;
    y ^= y << 7 & 0x9d2c5680u;
    y ^= y << 15 & 0xefc60000u;
    return y ^ y >> 18;
}

double mt19937_unit(struct mt19937 *mt)
{
    const uint32_t high = mt19937_next(mt) >> 5;
    const uint32_t low = mt19937_next(mt) >> 6;

    return ((double)high * 67108864.0 + (double)low) / 9007199254740992.0;
}

/*
 * pack.c - zigzag, then the width of the widest value of each block.
 *
 * Zigzag (0, -1, 1, -2, ... -> 0, 1, 2, 3, ...) makes small magnitudes of
 * either sign short.  A full block of width b is exactly b words of 64 bits;
 * the last block may be short and ends on the next whole byte.
 */
#include "math/pack.h"

#include <stdbool.h>
#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "words are copied as they lie: little-endian only"
#endif

static uint64_t zigzag(int64_t value)
{
    return (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0);
}

static int64_t unzigzag(uint64_t code)
{
    return (int64_t)(code >> 1 ^ (0 - (code & 1)));
}

/* Bits of the widest of the values or-ed together. */
static unsigned width_of(uint64_t all)
{
    return all == 0 ? 0 : 64 - (unsigned)__builtin_clzll(all);
}

static size_t block_bytes(unsigned width, size_t count)
{
    return (width * count + 7) / 8;
}

size_t pack_bound(size_t count)
{
    return (count + PACK_BLOCK - 1) / PACK_BLOCK + count * sizeof(int64_t);
}

/* Codes of `width` > 0 bits each, lowest bit first; returns the bytes. */
static size_t put_codes(const uint64_t *code, size_t count, unsigned width,
                        uint8_t *out)
{
    uint8_t *at = out;
    uint64_t word = 0;
    unsigned filled = 0; /* Bits of `word`; less than 64 between values. */

    for (size_t i = 0; i < count; i++) {
        word |= code[i] << filled;
        filled += width;
        if (filled >= 64) {
            memcpy(at, &word, 8);
            at += 8;
            filled -= 64;
            /* What did not fit; a shift by 64 would be undefined. */
            word = filled == 0 ? 0 : code[i] >> (width - filled);
        }
    }
    memcpy(at, &word, (filled + 7) / 8);
    return (size_t)(at - out) + (filled + 7) / 8;
}

static size_t put_block(const int64_t *values, size_t count, uint8_t *out)
{
    uint64_t code[PACK_BLOCK];
    uint64_t all = 0;
    unsigned width;

    for (size_t i = 0; i < count; i++) {
        code[i] = zigzag(values[i]);
        all |= code[i];
    }
    width = width_of(all);
    out[0] = (uint8_t)width;
    return 1 + (width > 0 ? put_codes(code, count, width, out + 1) : 0);
}

size_t pack_i64(const int64_t *values, size_t count, uint8_t *out)
{
    size_t size = 0;

    for (size_t i = 0; i < count; i += PACK_BLOCK) {
        const size_t n = count - i < PACK_BLOCK ? count - i : PACK_BLOCK;

        size += put_block(values + i, n, out + size);
    }
    return size;
}

/* Reads codes of `width` > 0 bits; false if the block is not canonical: a
 * smaller width would do, or bits after the last value are set. */
static bool get_codes(const uint8_t *in, size_t size, size_t count,
                      unsigned width, int64_t *values)
{
    const uint64_t mask = UINT64_MAX >> (64 - width);
    uint64_t word[PACK_BLOCK + 1]; /* One more: the last value may peek. */
    uint64_t all = 0;
    size_t bit = 0;

    word[size / 8] = 0;
    word[size / 8 + (size / 8 < PACK_BLOCK)] = 0;
    memcpy(word, in, size);
    for (size_t i = 0; i < count; i++, bit += width) {
        const unsigned shift = bit % 64;
        const uint64_t low = word[bit / 64] >> shift;
        /* In two shifts: 64 - shift may be 64. */
        const uint64_t high = word[bit / 64 + 1] << 1 << (63 - shift);
        const uint64_t code = (low | high) & mask;

        all |= code;
        values[i] = unzigzag(code);
    }
    if (bit % 8 != 0 && in[size - 1] >> (bit % 8) != 0)
        return false;
    return width_of(all) == width;
}

enum err unpack_i64(const uint8_t *in, size_t size, size_t count,
                    int64_t *values, size_t *used)
{
    size_t at = 0;

    for (size_t i = 0; i < count; i += PACK_BLOCK) {
        const size_t n = count - i < PACK_BLOCK ? count - i : PACK_BLOCK;
        unsigned width;
        size_t bytes;

        if (at == size)
            return ERR_TRUNCATED;
        width = in[at++];
        if (width > 64)
            return ERR_FORMAT;
        bytes = block_bytes(width, n);
        if (bytes > size - at)
            return ERR_TRUNCATED;
        if (width == 0)
            memset(values + i, 0, n * sizeof *values);
        else if (!get_codes(in + at, bytes, n, width, values + i))
            return ERR_FORMAT;
        at += bytes;
    }
    *used = at;
    return ERR_OK;
}

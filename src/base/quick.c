/*
 * quick.c - eight lanes, each word into one of them.
 *
 * A lane is rotated before it is multiplied: a product carries differences only
 * upwards, and without the rotation two flipped signs in one lane would cancel.
 */
#include "base/quick.h"

#include <string.h>

#include "base/check.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "words are read as they lie: little-endian only"
#endif

#define LANES      8u
#define WORD       8u
#define LINE       (LANES * WORD)
#define MULTIPLIER UINT64_C(0x9e3779b97f4a7c15)

static uint64_t turn(uint64_t value, unsigned bits)
{
    return value << bits | value >> (64 - bits);
}

static uint64_t mix(uint64_t lane, uint64_t word)
{
    return turn(lane ^ word, 29) * MULTIPLIER;
}

/* splitmix64's end: every bit of the input reaches every bit. */
static uint64_t finish(uint64_t value)
{
    value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
    return value ^ value >> 31;
}

static void begin(uint64_t lane[LANES], uint64_t seed)
{
    for (unsigned k = 0; k < LANES; k++)
        lane[k] = finish(seed + (k + 1) * MULTIPLIER);
}

static uint64_t end(const uint64_t lane[LANES], size_t size, uint64_t seed)
{
    uint64_t name = finish(seed ^ size);

    for (unsigned k = 0; k < LANES; k++)
        name = finish(mix(name, lane[k]));
    return name;
}

static void absorb(uint64_t lane[LANES], const uint8_t *at, size_t lines)
{
    for (size_t i = 0; i < lines; i++, at += LINE) {
        uint64_t word[LANES];

        memcpy(word, at, sizeof word);
        for (unsigned k = 0; k < LANES; k++)
            lane[k] = mix(lane[k], word[k]);
    }
}

uint64_t quick_u64(const void *data, size_t size, uint64_t seed)
{
    const uint8_t *at = data;
    uint64_t lane[LANES];

    begin(lane, seed);
    absorb(lane, at, size / LINE);
    at += size / LINE * LINE;
    for (size_t left = size % LINE, k = 0; left > 0; k++) {
        const size_t take = left < WORD ? left : WORD;
        uint64_t word = 0;

        memcpy(&word, at, take);
        lane[k] = mix(lane[k], word);
        at += take;
        left -= take;
    }
    return end(lane, size, seed);
}

#define NAME_LEAST  4096u /* Words of a slice. */
#define BLOCK_BYTES ((size_t)SLICE_GRAIN * WORD)

#ifdef __x86_64__
#define TOGETHER 4u /* Blocks: one lane's product waits for the last one's. */
#define WIDE     __attribute__((target("avx512f,avx512dq")))

/* Of bytes of any type, wherever they begin. */
typedef uint64_t vector
    __attribute__((vector_size(LINE), aligned(1), may_alias));

/* The same words into the same lanes, of TOGETHER blocks at a time: integers,
 * so that no bit depends on which of the two ways is taken. */
WIDE static void absorb_wide(uint64_t lane[TOGETHER][LANES], const uint8_t *at)
{
    vector all[TOGETHER];

    memcpy(all, lane, sizeof all);
    for (size_t i = 0; i < BLOCK_BYTES; i += LINE) {
        for (unsigned b = 0; b < TOGETHER; b++) {
            const void *const from = at + b * BLOCK_BYTES + i;
            const vector value = all[b] ^ *(const vector *)from;

            all[b] = (value << 29 | value >> 35) * MULTIPLIER;
        }
    }
    memcpy(lane, all, sizeof all);
}

/* Adds the names of whole blocks from `from` on; returns where it ended. */
static size_t name_wide(const uint8_t *bytes, size_t from, size_t to,
                        uint64_t seed, uint64_t *name)
{
    uint64_t lane[TOGETHER][LANES];

    if (!__builtin_cpu_supports("avx512f") ||
        !__builtin_cpu_supports("avx512dq"))
        return from;
    for (; to - from >= TOGETHER * BLOCK_BYTES;
         from += TOGETHER * BLOCK_BYTES) {
        for (unsigned b = 0; b < TOGETHER; b++)
            begin(lane[b], seed + (from + b * BLOCK_BYTES) * MULTIPLIER);
        absorb_wide(lane, bytes + from);
        for (unsigned b = 0; b < TOGETHER; b++)
            *name += end(lane[b], BLOCK_BYTES,
                         seed + (from + b * BLOCK_BYTES) * MULTIPLIER);
    }
    return from;
}
#else
static size_t name_wide(const uint8_t *bytes, size_t from, size_t to,
                        uint64_t seed, uint64_t *name)
{
    (void)bytes;
    (void)to;
    (void)seed;
    (void)name;
    return from;
}
#endif

uint64_t quick_part(const void *data, size_t from, size_t to, uint64_t seed)
{
    const uint8_t *const bytes = data;
    uint64_t name = 0;

    from = name_wide(bytes, from, to, seed, &name);
    for (size_t at = from; at < to; at += BLOCK_BYTES) {
        const size_t left = to - at;

        name += quick_u64(bytes + at, left < BLOCK_BYTES ? left : BLOCK_BYTES,
                          seed + at * MULTIPLIER);
    }
    return name;
}

struct naming {
    const uint8_t *data;
    size_t size, from;
    uint64_t seed;
    uint64_t name[SLICES_MAX];
};

static void name_slice(void *context, uint32_t slice, uint32_t first,
                       uint32_t end)
{
    struct naming *naming = context;
    const size_t stop = naming->from + (size_t)end * WORD;

    naming->name[slice] =
        quick_part(naming->data, naming->from + (size_t)first * WORD,
                   stop < naming->size ? stop : naming->size, naming->seed);
}

uint64_t quick_rest(struct pool *pool, const void *data, size_t size,
                    uint64_t seed, size_t from, uint64_t part)
{
    struct naming naming = {
        .data = data, .size = size, .from = from, .seed = seed};
    const size_t words = (size - from) / WORD + ((size - from) % WORD != 0);
    uint64_t name = seed + part;
    uint32_t slices;

    if (size <= QUICK_WHOLE)
        return quick_u64(data, size, seed);
    CHECK(from <= size && from % BLOCK_BYTES == 0 && words <= UINT32_MAX);
    slices =
        pool_slices(pool, (uint32_t)words, NAME_LEAST, name_slice, &naming);
    for (uint32_t i = 0; i < slices; i++)
        name += naming.name[i];
    return finish(name ^ size);
}

uint64_t quick_long(struct pool *pool, const void *data, size_t size,
                    uint64_t seed)
{
    return quick_rest(pool, data, size, seed, 0, 0);
}

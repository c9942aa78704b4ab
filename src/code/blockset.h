/*
 * blockset.h - a set of coded blocks, as a value: whose answers to a piece are
 * there, and what the factors of a decoding are found by.
 */
#ifndef CODE_BLOCKSET_H
#define CODE_BLOCKSET_H

#include <stdbool.h>
#include <stdint.h>

#define BLOCKS_MAX     1024u /* P */
#define BLOCKSET_WORDS (BLOCKS_MAX / 64)

struct blockset {
    uint64_t word[BLOCKSET_WORDS];
};

static inline void blockset_add(struct blockset *set, uint32_t block)
{
    set->word[block / 64] |= UINT64_C(1) << block % 64;
}

static inline void blockset_remove(struct blockset *set, uint32_t block)
{
    set->word[block / 64] &= ~(UINT64_C(1) << block % 64);
}

static inline bool blockset_has(const struct blockset *set, uint32_t block)
{
    return set->word[block / 64] >> block % 64 & 1;
}

static inline void blockset_unite(struct blockset *into,
                                  const struct blockset *from)
{
    for (uint32_t i = 0; i < BLOCKSET_WORDS; i++)
        into->word[i] |= from->word[i];
}

static inline bool blockset_equal(const struct blockset *a,
                                  const struct blockset *b)
{
    uint64_t differ = 0;

    for (uint32_t i = 0; i < BLOCKSET_WORDS; i++)
        differ |= a->word[i] ^ b->word[i];
    return differ == 0;
}

static inline uint32_t blockset_count(const struct blockset *set)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < BLOCKSET_WORDS; i++)
        count += (uint32_t)__builtin_popcountll(set->word[i]);
    return count;
}

/* The first member at or after `from`; BLOCKS_MAX if there is none. */
static inline uint32_t blockset_next(const struct blockset *set, uint32_t from)
{
    for (uint32_t i = from / 64; i < BLOCKSET_WORDS; i++) {
        const uint64_t first = i == from / 64 ? from % 64 : 0;
        const uint64_t left = set->word[i] >> first << first;

        if (left != 0)
            return i * 64 + (uint32_t)__builtin_ctzll(left);
    }
    return BLOCKS_MAX;
}

#endif /* CODE_BLOCKSET_H */

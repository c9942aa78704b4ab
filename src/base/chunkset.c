/*
 * chunkset.c - a bitmap of chunks, 64 to a word.  Ranges are set and tested a
 * word at a time, because every answer asks whether its chunks are disjoint
 * from those in the total.
 */
#include "base/chunkset.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"

static uint32_t words_of(const struct chunkset *set)
{
    return (set->count + 63) / 64;
}

enum err chunkset_init(struct chunkset *set, uint32_t count)
{
    struct chunkset made = {.count = count};

    if (count > CHUNKS_MAX)
        return ERR_TOOBIG;
    made.words = mem_new(words_of(&made) + 1, sizeof *made.words);
    if (made.words == NULL)
        return ERR_NOMEM;
    *set = made;
    return ERR_OK;
}

void chunkset_close(struct chunkset *set)
{
    mem_free(set->words);
    *set = (struct chunkset){0};
}

void chunkset_clear(struct chunkset *set)
{
    memset(set->words, 0, words_of(set) * sizeof *set->words);
    set->members = 0;
}

void chunkset_fill(struct chunkset *set)
{
    chunkset_clear(set);
    chunkset_add_range(set, 0, set->count);
}

bool chunkset_has(const struct chunkset *set, uint32_t chunk)
{
    CHECK(chunk < set->count);
    return set->words[chunk / 64] >> chunk % 64 & 1;
}

bool chunkset_full(const struct chunkset *set)
{
    return set->members == set->count;
}

void chunkset_add(struct chunkset *set, uint32_t chunk)
{
    if (chunkset_has(set, chunk))
        return;
    set->words[chunk / 64] |= UINT64_C(1) << chunk % 64;
    set->members++;
}

void chunkset_remove(struct chunkset *set, uint32_t chunk)
{
    if (!chunkset_has(set, chunk))
        return;
    set->words[chunk / 64] &= ~(UINT64_C(1) << chunk % 64);
    set->members--;
}

void chunkset_add_range(struct chunkset *set, uint32_t first, uint32_t end)
{
    CHECK(first <= end);
    for (uint32_t chunk = first; chunk < end; chunk++)
        chunkset_add(set, chunk);
}

bool chunkset_has_range(const struct chunkset *set, uint32_t first,
                        uint32_t end)
{
    CHECK(first <= end);
    CHECK(end <= set->count);
    return chunkset_next_gap(set, first) >= end;
}

bool chunkset_misses_range(const struct chunkset *set, uint32_t first,
                           uint32_t end)
{
    CHECK(first <= end);
    CHECK(end <= set->count);
    return chunkset_next(set, first) >= end;
}

/* The first bit at or after `from` that differs from those of `flip`. */
static uint32_t scan(const struct chunkset *set, uint32_t from, uint64_t flip)
{
    for (uint32_t word = from / 64; from < set->count; word++) {
        const uint64_t bits = (set->words[word] ^ flip) >> from % 64;

        if (bits != 0) {
            from += (uint32_t)__builtin_ctzll(bits);
            return from < set->count ? from : set->count;
        }
        from = (word + 1) * 64;
    }
    return set->count;
}

uint32_t chunkset_next(const struct chunkset *set, uint32_t from)
{
    return scan(set, from, 0);
}

uint32_t chunkset_next_gap(const struct chunkset *set, uint32_t from)
{
    return scan(set, from, UINT64_MAX);
}

bool chunkset_disjoint(const struct chunkset *a, const struct chunkset *b)
{
    CHECK(a->count == b->count);
    for (uint32_t i = 0; i < words_of(a); i++) {
        if ((a->words[i] & b->words[i]) != 0)
            return false;
    }
    return true;
}

void chunkset_unite(struct chunkset *into, const struct chunkset *from)
{
    CHECK(into->count == from->count);
    into->members = 0;
    for (uint32_t i = 0; i < words_of(into); i++) {
        into->words[i] |= from->words[i];
        into->members += (uint32_t)__builtin_popcountll(into->words[i]);
    }
}

void chunkset_copy(struct chunkset *into, const struct chunkset *from)
{
    CHECK(into->count == from->count);
    memcpy(into->words, from->words, words_of(from) * sizeof *into->words);
    into->members = from->members;
}

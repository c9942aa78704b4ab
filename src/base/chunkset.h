/*
 * chunkset.h - a set of chunk indices 0..count-1, as a bitmap.
 *
 * Tallies are keyed by the chunks they cover; merging asks "disjoint?" once
 * per message, so the set must be cheap to test and to unite.
 */
#ifndef BASE_CHUNKSET_H
#define BASE_CHUNKSET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

#define CHUNKS_MAX 65536u

struct chunkset {
    uint32_t count;   /* Chunks there are: members are less than this. */
    uint32_t members; /* How many are in the set. */
    uint64_t *words;
};

/* An empty set over 0..count-1, count <= CHUNKS_MAX.  Close frees; zeroed
 * memory is safe to close. */
MUST_CHECK enum err chunkset_init(struct chunkset *set, uint32_t count);
void chunkset_close(struct chunkset *set);

void chunkset_clear(struct chunkset *set);
void chunkset_fill(struct chunkset *set);
bool chunkset_has(const struct chunkset *set, uint32_t chunk);
bool chunkset_full(const struct chunkset *set);
void chunkset_add(struct chunkset *set, uint32_t chunk);
void chunkset_remove(struct chunkset *set, uint32_t chunk);
/* Add or test every chunk of [first, end). */
void chunkset_add_range(struct chunkset *set, uint32_t first, uint32_t end);
bool chunkset_has_range(const struct chunkset *set, uint32_t first,
                        uint32_t end);
bool chunkset_misses_range(const struct chunkset *set, uint32_t first,
                           uint32_t end);
/* The first member at or after `from`; `count` if there is none. */
uint32_t chunkset_next(const struct chunkset *set, uint32_t from);
/* The first non-member at or after `from`; `count` if there is none. */
uint32_t chunkset_next_gap(const struct chunkset *set, uint32_t from);
bool chunkset_disjoint(const struct chunkset *a, const struct chunkset *b);
void chunkset_unite(struct chunkset *into, const struct chunkset *from);
void chunkset_copy(struct chunkset *into, const struct chunkset *from);

#endif /* BASE_CHUNKSET_H */

/*
 * encode_parts.h - an encoder's files to each other: how pairs of categories
 * are numbered.
 */
#ifndef DATA_TABLE_ENCODE_PARTS_H
#define DATA_TABLE_ENCODE_PARTS_H

#include "data/table/encode.h"

static inline uint64_t pair_key(uint32_t a, uint32_t b)
{
    return (uint64_t)a << 32 | b;
}

/* For qsort and bsearch: keys of a pair ascend. */
static inline int pair_order(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

#endif /* DATA_TABLE_ENCODE_PARTS_H */

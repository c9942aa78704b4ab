/*
 * pack.h - int64 vectors in as few bytes as they need, without loss.
 *
 * Blocks of 64 values; of each block the bits of its widest value, zigzag (0,
 * -1, 1, -2, ... -> 0, 1, 2, 3, ...: small ones of either sign are short):
 *
 *     widths of all blocks, a byte each | block | block | ...
 *
 * A block is laid out for machines that work on several words at once.  Its
 * values stand in rows of eight; value i is in lane i % 8, where it lies above
 * value i - 8.  So each lane is a string of 8 b bits, b the width: b bytes.
 *
 *     lane      0       1             7
 *     word 0 |  0 8.. | 1 9.. | ... | 7 15.. |   whole words: 64 bytes a row
 *     word 1 |        |       | ... |        |
 *     tails  | b % 8 bytes of lane 0 | of lane 1 | ...
 *
 * The last block may have fewer than 64 values; its last row is then filled up
 * with zeros and its lanes end on the next whole byte.
 *
 * Tallies of networks, whose gradients are of fp32, pack to some 3 bytes a
 * value; those of convex models, of fp64, to some 7 (docs/ring.md).  The reader
 * accepts only what the writer can produce.
 */
#ifndef MATH_PACK_H
#define MATH_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define PACK_BLOCK 64u /* Values; the last block may be shorter. */

/* The most bytes `count` values can take, and what may be written after. */
size_t pack_bound(size_t count);

/* Returns the bytes written; `out` has pack_bound(count) bytes, and those after
 * them may be anything.  The values may lie in `out` themselves, pack_lead or
 * more bytes from its beginning: each is read before it is written over. */
size_t pack_lead(size_t count);
size_t pack_i64(const int64_t *values, size_t count, uint8_t *out);

/* A packing of which only the widths were looked at: it is as long as they say,
 * but its blocks may be what no writer writes. */
struct packed {
    const uint8_t *bytes;
    size_t size, count;
};

/* The packing of `count` values that `in` begins with: more may follow.
 * ERR_TRUNCATED or ERR_FORMAT if there is none. */
MUST_CHECK enum err packed_find(const uint8_t *in, size_t size, size_t count,
                                struct packed *packed);

/* Its values one after the other. */
struct unpacking {
    const uint8_t *width, *block;
    size_t left; /* Values. */
};

struct unpacking unpack_begin(const struct packed *packed);
/* The same from value `first` on, with which a block begins. */
struct unpacking unpack_from(const struct packed *packed, size_t first);
/* The next `count` of them: whole blocks, or all that are left.  False if no
 * writer writes such blocks; `values` and what follows is then unspecified. */
MUST_CHECK bool unpack_next(struct unpacking *unpacking, size_t count,
                            int64_t *values);

/* All at once; fails as packed_find does, and with ERR_FORMAT as unpack_next.
 */
MUST_CHECK enum err unpack_i64(const uint8_t *in, size_t size, size_t count,
                               int64_t *values, size_t *used);

#endif /* MATH_PACK_H */

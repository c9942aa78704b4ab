/*
 * pack.h - int64 vectors in as few bytes as they need, without loss.
 *
 * Blocks of 64 values: one byte of bit width b, then 64 zigzag values of b
 * bits each, little-endian bit order.  A tally of gradients packs to about
 * what fp32 would take.  The reader accepts only what the writer can produce.
 */
#ifndef MATH_PACK_H
#define MATH_PACK_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define PACK_BLOCK 64u /* Values; the last block may be shorter. */

/* The most bytes `count` values can take. */
size_t pack_bound(size_t count);

/* Returns the bytes written; `out` has pack_bound(count) bytes. */
size_t pack_i64(const int64_t *values, size_t count, uint8_t *out);

/* ERR_TRUNCATED or ERR_FORMAT if `in` is not exactly a packing of `count`
 * values; `values` is then unspecified.  *used is the bytes taken: more may
 * follow. */
MUST_CHECK enum err unpack_i64(const uint8_t *in, size_t size, size_t count,
                               int64_t *values, size_t *used);

#endif /* MATH_PACK_H */

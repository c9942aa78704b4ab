/*
 * pack_parts.h - one row per instruction set of pack.inc (math/ only).
 *
 * `rows` are rows of PACK_LANES values; the last of their blocks may have fewer
 * than PACK_LANES of them.
 */
#ifndef MATH_PACK_PARTS_H
#define MATH_PACK_PARTS_H

#include <stdbool.h>

#include "math/exact/pack.h"
#include "math/isa.h"

#define PACK_LANES 8u
#define PACK_SPILL 8u /* Bytes a writer may write after the last. */

struct pack_ops {
    /* Returns the bytes written to `out`; up to PACK_SPILL more are garbage. */
    size_t (*put)(const int64_t *values, size_t rows, uint8_t *widths,
                  uint8_t *out);
    /* The widths are 64 at most.  False: one of them is larger than need be. */
    bool (*get)(const uint8_t *in, const uint8_t *widths, size_t rows,
                int64_t *values);
};

/* Bits of the widest of the codes or-ed together. */
static inline unsigned pack_width(uint64_t all)
{
    return all == 0 ? 0 : 64 - (unsigned)__builtin_clzll(all);
}

/* What each lane of a block takes. */
static inline size_t pack_lane_bytes(unsigned width, size_t rows)
{
    return (width * rows + 7) / 8;
}

extern const struct pack_ops pack_portable;
#ifdef __x86_64__
extern const struct pack_ops pack_avx2;
extern const struct pack_ops pack_avx512;
#endif

const struct pack_ops *pack_ops_of(enum isa isa);

#endif /* MATH_PACK_PARTS_H */

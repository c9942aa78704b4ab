/*
 * coded.h - a worker's block of coded data (math/blocks.h), and products.
 *
 * Both matrices are dense fp64, or fp32 where the shape is narrow, and
 * row-major, so that SCORES and BACK are the scores of kernel.h, COMBINE its
 * columns, and all have the same bits on every machine and whatever the number
 * of threads.  A worker that has the rows makes its block itself; one that has
 * not is sent it strip by strip and never sees a row.
 */
#ifndef DATA_CODED_H
#define DATA_CODED_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/pool.h"
#include "data/rows/dataset.h"
#include "math/blocks.h"
#include "math/computation.h"

#define CODED_BYTES_MAX (UINT64_C(1) << 33) /* Of one block. */

struct flag;

struct coded {
    struct block_shape shape;
    struct block_term *terms;
    uint32_t count;
    void *tall, *wide; /* Doubles or floats; of one copy wide is empty. */
    uint8_t *has;      /* Per strip: it is there. */
};

struct block_shape coded_shape(const struct dataset *data, uint32_t parts,
                               uint32_t copies);
/* Bytes of a block of this shape. */
uint64_t coded_bytes(const struct block_shape *shape);

/* Room for a block of no strips; copies the terms.  ERR_TOOBIG: more than
 * CODED_BYTES_MAX.  Zeroed memory is safe to close. */
MUST_CHECK enum err coded_init(struct coded *coded,
                               const struct block_shape *shape,
                               const struct block_term *terms, uint32_t count);
void coded_close(struct coded *coded);

/* A strip as bytes for shipping, and back.  store: ERR_FORMAT if size or
 * values (NaN, Inf) do not fit. */
size_t coded_strip_bytes(const struct block_shape *shape, uint32_t strip);
size_t coded_strip_bytes_max(const struct block_shape *shape);
/* The same strip of `count` blocks, for which rows are read once.  `data` has
 * all rows.  ERR_NOMEM. */
struct coded_strip {
    const struct block_term *terms;
    uint32_t count;
    void *to; /* coded_strip_bytes of it, aligned as doubles are. */
};
MUST_CHECK enum err coded_strips_encode(const struct dataset *data,
                                        const struct block_shape *shape,
                                        const struct coded_strip *strips,
                                        uint32_t count, uint32_t strip);
MUST_CHECK enum err coded_strip_store(struct coded *coded, uint32_t strip,
                                      const uint8_t *in, size_t size);

/* Make all strips that are missing from `data`, which has all rows: of one
 * block, or of several of the same shape, for which rows are read once (wide
 * ones once more).  ERR_CANCELLED once `cancel` (may be NULL) is raised: call
 * again. */
MUST_CHECK enum err coded_fill(struct coded *coded, const struct dataset *data,
                               struct pool *pool, const struct flag *cancel);
MUST_CHECK enum err coded_fill_all(struct coded *const *blocks, uint32_t count,
                                   const struct dataset *data,
                                   struct pool *pool,
                                   const struct flag *cancel);
/* The range [first, end) of the product that is asked for, whose strips are
 * there: of w[block_in] into vector[0..end - first) or, COMBINE, which reads
 * w[first..end), into vector[0..block_out).  ERR_CANCELLED as above, ERR_NOMEM;
 * ERR_RANGE: not finite. */
MUST_CHECK enum err coded_multiply(const struct coded *coded,
                                   const struct computation *asked,
                                   enum isa isa, struct pool *pool,
                                   const struct flag *cancel);

#endif /* DATA_CODED_H */

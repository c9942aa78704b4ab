/*
 * coded_make.h - strips of several coded blocks at once (math/blocks.h).
 *
 * Rows are read once for all blocks: what is paid by the block is a product
 * and an addition for each value of a part that it has.  In fp64, parts in
 * their order, rounded after every operation: the same bits on every machine
 * and whichever blocks are made together.
 */
#ifndef DATA_CODED_MAKE_H
#define DATA_CODED_MAKE_H

#include <stdint.h>

#include "base/err.h"
#include "data/rows/dataset.h"
#include "math/blocks.h"

/* A block, and where its strip goes. */
struct coded_make {
    const struct block_term *terms;
    uint32_t count; /* At least one. */
    double *to;
};

/* Strip `strip` of tall: rows of block_pad(cols) numbers, one behind the
 * other.  `data` has all rows.  ERR_NOMEM. */
MUST_CHECK enum err coded_make_tall(const struct dataset *data,
                                    const struct block_shape *shape,
                                    const struct coded_make *makes,
                                    uint32_t count, uint32_t strip);
/* The columns of wide that chunk `chunk` makes: row j at to + j * stride. */
MUST_CHECK enum err coded_make_wide(const struct dataset *data,
                                    const struct block_shape *shape,
                                    const struct coded_make *makes,
                                    uint32_t count, uint32_t chunk,
                                    size_t stride);

#endif /* DATA_CODED_MAKE_H */

/*
 * make_data.h - small random data sets for the tests of this folder.
 */
#ifndef UNIT_MODEL_MAKE_DATA_H
#define UNIT_MODEL_MAKE_DATA_H

#include "base/rng.h"
#include "data/rows/dataset.h"

/* Row i's values are near 2^spread_of_row and coordinate j's near
 * 2^spread_of_column, both drawn from -spread..spread; a tenth are zeros.
 * Labels are -1/+1, or normal times 2^spread if `real`.  The caller closes. */
struct dataset make_data(struct rng *rng, uint32_t rows, uint32_t cols,
                         int spread, bool real);

#endif /* UNIT_MODEL_MAKE_DATA_H */

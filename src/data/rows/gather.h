/*
 * gather.h - rows from anywhere in a data set, put together as one chunk: what
 * a minibatch is computed from, by the kernels that know consecutive rows only.
 *
 * Rows are copied in their storage, so that no value changes.
 */
#ifndef DATA_GATHER_H
#define DATA_GATHER_H

#include <stdint.h>

#include "base/err.h"
#include "data/rows/dataset.h"

struct gather {
    struct dataset rows; /* One chunk is here at a time. */
    uint32_t *row;       /* Room for the numbers of `most` rows. */
};

/* Chunks of at most `most` rows of such data, numbered below `chunks`.  Zeroed
 * memory is safe to close. */
MUST_CHECK enum err gather_init(struct gather *gather,
                                const struct dataset *from, uint32_t chunks,
                                uint32_t most);
void gather_close(struct gather *gather);

/* The rows gather->row[0 .. count-1] of `from`, all of present chunks, become
 * `chunk` of gather->rows.  ERR_NOMEM. */
MUST_CHECK enum err gather_take(struct gather *gather,
                                const struct dataset *from, uint32_t chunk,
                                uint32_t count);

#endif /* DATA_GATHER_H */

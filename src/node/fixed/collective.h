/*
 * collective.h - exact sums over ranks that live and die together.
 *
 * One implementation is one table: `alone` here, others (MPI) in files of their
 * own.  ERR_CLOSED: somebody is gone, and the run is over with its last state
 * saved.
 */
#ifndef NODE_FIXED_COLLECTIVE_H
#define NODE_FIXED_COLLECTIVE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct collective_ops {
    uint32_t (*rank)(void *context);
    uint32_t (*size)(void *context);
    /* Of all ranks, in all ranks; asked where there are several.  No sum leaves
     * 64 bits. */
    enum err (*sum)(void *context, int64_t *sums, size_t count);
};

struct collective {
    const struct collective_ops *ops;
    void *context;
};

/* One rank, which has nobody to add to. */
struct collective collective_alone(void);

#endif /* NODE_FIXED_COLLECTIVE_H */

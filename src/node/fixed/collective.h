/*
 * collective.h - exact sums over ranks that live and die together.
 *
 * One implementation is one table: `alone` here, others (MPI) in files of
 * their own.  ERR_CLOSED: somebody is gone, and the run is over with its last
 * state saved.  All else that ranks say to each other is made of sums.
 */
#ifndef NODE_FIXED_COLLECTIVE_H
#define NODE_FIXED_COLLECTIVE_H

#include <stdbool.h>
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

uint32_t collective_rank(const struct collective *ranks);
uint32_t collective_size(const struct collective *ranks);

/* The same outcome in all ranks, each of which asks with its own: the trouble
 * of the lowest rank that has one, with its sentence.  `why` may be NULL in
 * none or all of them. */
MUST_CHECK enum err collective_agree(const struct collective *ranks,
                                     enum err err, struct why *why);
/* What rank 0 has at `bytes`, in all. */
MUST_CHECK enum err collective_share(const struct collective *ranks,
                                     void *bytes, size_t size);

#endif /* NODE_FIXED_COLLECTIVE_H */

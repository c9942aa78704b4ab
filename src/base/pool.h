/*
 * pool.h - many hands for one loop, as an interface.
 *
 * Layers that compute take a `struct pool` and do not know whether threads
 * stand behind it; os/run/threads.h makes a real one.  Items may run in any
 * order on any thread, so what they add up must be integers (see
 * math/exact/tally.h).
 */
#ifndef BASE_POOL_H
#define BASE_POOL_H

#include <stdint.h>

typedef void (*pool_item)(void *context, uint32_t thread, uint32_t item);

struct pool {
    uint32_t threads; /* `thread` below is less than this. */
    /* Runs item(context, thread, i) for every i < items; returns when all
     * have returned. */
    void (*run)(struct pool *pool, pool_item item, void *context,
                uint32_t items);
};

/* The pool of one: runs items in order on the caller's thread. */
struct pool *pool_serial(void);

#endif /* BASE_POOL_H */

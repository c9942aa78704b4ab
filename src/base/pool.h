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

#include <stddef.h>
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

/* --- vectors, by slices --------------------------------------------------- */

#define SLICE_GRAIN 1024u /* Slices begin at its multiples, ... */
#define SLICES_MAX  64u   /* ... and are no more than these. */

/* Coordinates [first, end), as number `slice`. */
typedef void (*pool_slice)(void *context, uint32_t slice, uint32_t first,
                           uint32_t end);

/* Cuts `count` coordinates into slices and runs all slices at once.  A slice
 * has `least` coordinates or more: as many as are worth waking a thread for.
 * If there are fewer than 2 `least`, or the pool is NULL, there is one slice,
 * on the caller's thread.  Each thread has its share of them, the
 * same in every run, since they may be in its cache; who has none left takes
 * others'.  Returns the number of slices. */
uint32_t pool_slices(struct pool *pool, uint32_t count, uint32_t least,
                     pool_slice work, void *context);

/* memcpy, of whole vectors. */
void pool_copy(struct pool *pool, void *to, const void *from, size_t size);

#endif /* BASE_POOL_H */

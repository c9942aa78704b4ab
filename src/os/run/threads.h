/*
 * threads.h - real threads behind base/pool.h.
 *
 * A pool is used by one thread at a time, its owner; the owner's own thread is
 * number 0 and works too.  A run is a full barrier: what items wrote is visible
 * to the owner afterwards, and nothing of a run is touched after it returned.
 */
#ifndef OS_THREADS_H
#define OS_THREADS_H

#include <stdint.h>

#include "base/err.h"
#include "base/pool.h"
#include "base/time.h"

#define THREADS_MAX 1024u

/* 1 <= threads <= THREADS_MAX.  ERR_NOMEM also if the system has no thread to
 * give. */
MUST_CHECK enum err threads_new(uint32_t threads, struct pool **pool);
/* The same, but its threads spin for `awake_us` after a run before they sleep,
 * since the next run may follow at once: for as long as nobody else wants their
 * processors. */
MUST_CHECK enum err threads_new_spinning(uint32_t threads, time_us awake_us,
                                         struct pool **pool);
void threads_free(struct pool *pool); /* Accepts NULL. */

/* Processors of this machine, and those this process may use; at least 1. */
uint32_t threads_online(void);
uint32_t threads_available(void);

#endif /* OS_THREADS_H */

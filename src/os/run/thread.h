/*
 * thread.h - a loop on a thread of its own, beside those of a user.
 *
 * A gate orders what the two sides read and write; a bell wakes the loop.
 */
#ifndef OS_THREAD_H
#define OS_THREAD_H

#include <pthread.h>

#include "base/err.h"
#include "os/run/loop.h"

struct thread;
struct bell;

/* A thread that takes no signals, which are for the thread that owns the loop,
 * but SIGBUS, which is its own (os/run/pages.h).  0, or an errno. */
MUST_CHECK int thread_masked(pthread_t *id, void *(*main)(void *),
                             void *context);

/* The same with a loop's callback. */
MUST_CHECK enum err thread_start(loop_callback main, void *context,
                                 struct thread **thread);
void thread_join(struct thread *thread); /* Accepts NULL; frees it. */

/* `rung` runs on the loop soon after bell_ring, once for one ring or more. */
MUST_CHECK enum err bell_new(struct loop *loop, loop_callback rung,
                             void *context, struct bell **bell);
/* From any thread, and from a signal handler. */
void bell_ring(struct bell *bell);
void bell_free(struct bell *bell); /* Accepts NULL. */

struct gate {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
};

void gate_init(struct gate *gate);
void gate_close(struct gate *gate);
void gate_lock(struct gate *gate);
void gate_unlock(struct gate *gate);
void gate_wait(struct gate *gate);   /* Until somebody calls ... */
void gate_signal(struct gate *gate); /* Both with the gate locked. */

#endif /* OS_THREAD_H */

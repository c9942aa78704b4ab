/*
 * compute.h - a peer's compute thread: one computation at a time.
 *
 * A computation that is over sooner than a thread wakes is carried out by the
 * loop itself, when its owner calls compute_here; but never for so long that
 * the loop would miss a beat.
 */
#ifndef NODE_RING_COMPUTE_H
#define NODE_RING_COMPUTE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "eval/evaluator.h"
#include "os/run/loop.h"

struct compute;

/* What a computation came to. */
struct computed {
    enum err err;
    int64_t took_us;
    uint32_t chunks;
};

/* `done` is called on the loop after each that was left to the thread.  Brief
 * and shelf are borrowed.  ERR_SHAPE: they do not fit; ERR_NOMEM. */
MUST_CHECK enum err compute_new(struct loop *loop, const struct brief *brief,
                                const struct shelf *shelf, uint32_t threads,
                                loop_callback done, void *context,
                                struct compute **compute);
void compute_free(struct compute *compute); /* Accepts NULL. */

/* Chunks of the job. */
uint32_t compute_chunks(const struct compute *compute);

/* From now on it is computed, or due.  ERR_NOMEM. */
MUST_CHECK enum err compute_start(struct compute *compute,
                                  const struct computation *work);
/* It ends soon, with ERR_CANCELLED or after all. */
void compute_cancel(struct compute *compute);

/* An event from outside has come: the loop may be kept anew. */
void compute_turn(struct compute *compute);
/* Is it to be carried out here and now?  compute_here does so. */
bool compute_due(const struct compute *compute);
void compute_here(struct compute *compute);
/* So long the loop's own thread has computed, in all: it is among no compute
 * thread's time. */
int64_t compute_here_us(const struct compute *compute);

/* Of the last one: after `done`, or after compute_here. */
struct computed compute_result(const struct compute *compute);

#endif /* NODE_RING_COMPUTE_H */

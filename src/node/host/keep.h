/*
 * keep.h - the state of a run in one process, on disk.
 *
 * Journal and checkpoint are those of core/run/store.h, so that --resume goes
 * on with such a run, alone or with workers.  There are no receipts: a GAP says
 * how far the steps went.
 */
#ifndef NODE_KEEP_H
#define NODE_KEEP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hash.h"
#include "core/run/trainer.h"

struct keep;

/* In the folder `path`, which nobody else may hold then.  With `resume` there
 * must be a run of this `config`; else there must be none. */
MUST_CHECK enum err keep_open(const char *path, const struct digest *config,
                              bool resume, struct keep **keep, struct why *why);
void keep_close(struct keep *keep); /* Accepts NULL. */

/* Go on from what was saved; false if nothing was. */
bool keep_state(const struct keep *keep, const uint8_t **state, size_t *size);
/* Durably.  `chunks` is how many a step covers.  After a
 * failure the last state that was saved is still there, and saving may be tried
 * again. */
MUST_CHECK enum err keep_save(struct keep *keep, const struct trainer *trainer,
                              uint32_t chunks, struct why *why);
/* The step of the last state that is safe. */
uint32_t keep_step(const struct keep *keep);
/* The run is over: remove its state. */
void keep_discard(struct keep *keep);

/* Is the run in that folder one that had no workers so far? */
bool keep_is_alone(const char *path);

#endif /* NODE_KEEP_H */

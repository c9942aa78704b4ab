/*
 * ring_folder.h - the folder of a ring's run on this machine: one folder for
 * each of its peers, each with a journal and checkpoints of its own.
 *
 *     OUT/ring      says so
 *     OUT/w0/       journal, checkpoints, result of the first peer
 *     OUT/w1/       ...
 */
#ifndef NODE_RING_FOLDER_H
#define NODE_RING_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "core/run/names.h"
#include "os/file/file.h"

extern const struct names ring_names;

/* From now on it holds such a run, ... */
MUST_CHECK enum err ring_folder_mark(const char *out, struct why *why);
/* ... and does it? */
bool ring_folder_is(const char *out);

/* Of peer `number`. */
void ring_folder_of(const char *out, uint32_t number,
                    char path[FILE_PATH_SIZE]);
/* Has it a journal there?  *step is the last one in it. */
bool ring_folder_step(const char *out, uint32_t number, uint32_t *step);
/* Where the journal of the run in `out` is: of a ring in the folder of the peer
 * that came furthest, else in `out`. */
void ring_folder_journal(const char *out, char path[FILE_PATH_SIZE]);

#endif /* NODE_RING_FOLDER_H */

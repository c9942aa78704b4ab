/*
 * shared.h - chunks of a prepared file that all can read, by range.
 *
 * The file is a data set as data/read/cache.h lays it out, under a path or an
 * address of the web.  Only the first page and the rows asked for are read: a
 * few ranges for a run of chunks.  What comes out is a chunk as it would have
 * been shipped (data/rows/dataset.h); whether it is the right one its digest
 * says.
 */
#ifndef DATA_SHARED_H
#define DATA_SHARED_H

#include "base/err.h"
#include "base/hash.h"
#include "data/rows/dataset.h"

struct shared;

/* Reads the first page.  `ca`: whom https servers must be signed by
 * (os/net/web.h), or NULL; it is the caller's and stays.  Errors with a
 * sentence. */
MUST_CHECK enum err shared_open(const char *place, const char *ca,
                                struct shared **shared, struct why *why);
void shared_close(struct shared *shared); /* Accepts NULL. */

/* Is it this data set?  ERR_MISMATCH with a sentence if not.  From here on
 * chunks are those of `shape`; the file's own cut does not matter. */
MUST_CHECK enum err shared_check(struct shared *shared,
                                 const struct dataset_shape *shape,
                                 const struct digest *data, struct why *why);

/* The bytes of `chunk` in a buffer of `shared`, good until the next call.
 * Chunks up to `end` are wanted soon and may be read along with it. */
MUST_CHECK enum err shared_chunk(struct shared *shared, uint32_t chunk,
                                 uint32_t end, const uint8_t **bytes,
                                 size_t *size, struct why *why);

#endif /* DATA_SHARED_H */

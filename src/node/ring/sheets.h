/*
 * sheets.h - SLICEs as bytes, several at a time.
 *
 *     begin, then  add, add, ...  encode  -> bytes of each  end
 *
 * Those of one list of actions, in which no vector changes: what goes to all
 * alike, a total, is encoded once.  A pool encodes several at once.  Their
 * memory is used again as soon as no link holds it: what is fresh from the
 * system costs as much as packing does.
 */
#ifndef NODE_RING_SHEETS_H
#define NODE_RING_SHEETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/pool.h"
#include "core/msg.h"
#include "os/net/blob.h"

#define SHEETS_MAX 16u

struct sheet {
    const struct msg *msg;
    struct blob *blob; /* NULL: there is no memory for it. */
    size_t size;
};

struct sheets {
    struct sheet list[SHEETS_MAX];
    uint32_t count, most;
    struct blob *shelf[SHEETS_MAX]; /* To be used again. */
};

/* So many that each of the pool's threads (NULL: one) has two, or one. */
void sheets_begin(struct sheets *sheets, const struct pool *pool);
/* *which: its number.  False: there is no room, end these first. */
bool sheets_add(struct sheets *sheets, const struct msg *msg, uint32_t *which);
void sheets_encode(struct sheets *sheets, struct pool *pool);
void sheets_end(struct sheets *sheets);
void sheets_close(struct sheets *sheets); /* Zeroed is safe. */

#endif /* NODE_RING_SHEETS_H */

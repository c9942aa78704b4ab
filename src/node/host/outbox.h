/*
 * outbox.h - where a worker's sums are computed, packed and sent from.
 *
 *     | lead | sums, 8 bytes each            |    while they are computed
 *     | packed sums             |                 while they are sent
 *
 * One piece of memory for all three, so that an answer is never there twice.
 * Of two boxes one is sent while the next sums are computed in the other; a
 * worker that is short of memory makes do with one.
 */
#ifndef NODE_OUTBOX_H
#define NODE_OUTBOX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "node/host/posting.h"

#define OUTBOXES           2u
#define OUTBOX_SHORT_BYTES (8u << 20) /* Sums that one may have twice. */

struct outbox {
    struct blob *boxes[OUTBOXES]; /* NULL: none yet. */
    uint32_t sum_dims;            /* Of the longest sums. */
};

void outbox_init(struct outbox *outbox, uint32_t sum_dims);
void outbox_close(struct outbox *outbox); /* Zeroed is safe. */

/* Where the next sums may be computed, on a line; NULL: nowhere while all of
 * the `most` boxes are being sent.  False if out of memory. */
MUST_CHECK bool outbox_open(struct outbox *outbox, uint32_t most,
                            int64_t **sum);
/* As envelope_fill, of a TALLY whose sums lie in a box: they are packed there,
 * and are sums no more.  `owns`: do they? */
bool outbox_owns(const struct outbox *outbox, const struct msg *msg);
MUST_CHECK bool outbox_fill(struct outbox *outbox, struct envelope *envelope,
                            const struct msg *msg);
/* The link is given up: what it may still be sending is its own now. */
void outbox_abandon(struct outbox *outbox);

#endif /* NODE_OUTBOX_H */

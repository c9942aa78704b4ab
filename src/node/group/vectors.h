/*
 * vectors.h - what a member of a group keeps of a call: the slices that others
 * sent it, the total as its parts come in, both of the last two calls.
 */
#ifndef NODE_GROUP_VECTORS_H
#define NODE_GROUP_VECTORS_H

#include <stdbool.h>

#include "core/sum/sum.h"
#include "os/net/blob.h"

struct vector {
    uint8_t *bytes;
    size_t size, capacity;
};

struct vectors {
    struct vector slices[2][SUM_SEATS], totals[2]; /* By the call's parity. */
    struct blob *slice, *part; /* To be sent; links hold them until they are. */
};

void vectors_close(struct vectors *vectors);
/* These do what KEEP and ADD say; `own` is the user's vector.  False: out of
 * memory. */
MUST_CHECK bool vectors_keep(struct vectors *vectors,
                             const struct sum_action *action, const void *own);
MUST_CHECK bool vectors_add(struct vectors *vectors,
                            const struct sum_action *action);
/* What goes with a SLICE or PART that is to be sent, borrowed, and how many of
 * its bytes.  NULL: out of memory. */
struct blob *vectors_cut(struct vectors *vectors,
                         const struct sum_action *action, const void *own,
                         size_t *size);
/* Of a call that this member has. */
const uint8_t *vectors_total(const struct vectors *vectors, uint64_t call);

#endif /* NODE_GROUP_VECTORS_H */

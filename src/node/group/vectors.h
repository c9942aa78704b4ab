/*
 * vectors.h - what a member of a group keeps of a call: the slices that others
 * sent it, the parts of the total as they come in, both of the last two calls.
 *
 * Nothing is copied that need not be.  What comes in stays in the memory that
 * its link put it together in, which changes places with the one that is kept
 * so far; the user's own vector is read where it lies, by this member and by
 * links, until the user has it back (vectors_settle).
 */
#ifndef NODE_GROUP_VECTORS_H
#define NODE_GROUP_VECTORS_H

#include <stdbool.h>

#include "core/sum/sum.h"
#include "os/net/blob.h"

struct vector {
    uint8_t *memory;     /* NULL: none.  Numbers begin on its second line. */
    size_t capacity;     /* Bytes of numbers. */
    const uint8_t *lent; /* They are the user's, there; NULL: they are here. */
    size_t lent_size;
};

/* Of a call: parts of the view's members, `own` in `part`. */
struct total {
    struct sum_shape shape;
    uint32_t slots, own;
    struct vector parts[SUM_SEATS];
    struct blob *part;
};

struct vectors {
    struct vector slices[2][SUM_SEATS]; /* By the call's parity, as ... */
    struct total totals[2];
    struct blob *lent[SUM_SEATS]; /* The user's slices, as they are sent. */
};

/* Room for so many bytes; what was there is not.  False: out of memory. */
MUST_CHECK bool vector_fit(struct vector *vector, size_t size);
uint8_t *vector_numbers(const struct vector *vector);
void vector_close(struct vector *vector);

void vectors_close(struct vectors *vectors);
/* These do what KEEP and ADD say; `own` is the user's vector, `arrived` has
 * what the message brought, if it is not NULL, and takes other memory for it.
 * False: out of memory. */
MUST_CHECK bool vectors_keep(struct vectors *vectors,
                             const struct sum_action *action, const void *own,
                             struct vector *arrived);
MUST_CHECK bool vectors_add(struct vectors *vectors,
                            const struct sum_action *action);
/* What goes with a SLICE or PART that is to be sent, borrowed, and how many of
 * its bytes.  NULL: out of memory. */
struct blob *vectors_cut(struct vectors *vectors,
                         const struct sum_action *action, const void *own,
                         size_t *size);
/* Of a call that this member has. */
void vectors_total(const struct vectors *vectors, uint64_t call, void *to);
/* The user's vector is his again: what is still to be sent of it is copied, and
 * if the call is not over what is to be added.  False: out of memory, and links
 * may still read it. */
MUST_CHECK bool vectors_settle(struct vectors *vectors, bool over);

#endif /* NODE_GROUP_VECTORS_H */

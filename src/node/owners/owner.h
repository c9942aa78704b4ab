/*
 * owner.h - the owners of private data who are here, as a list, and what they
 * have offered.  No sockets: node/owners/roll.c has them.
 */
#ifndef NODE_OWNERS_OWNER_H
#define NODE_OWNERS_OWNER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "core/roll.h"
#include "node/owners/parts.h"

struct link;

struct owner {
    struct link *link;
    bool offered;
    char name[NAME_SIZE];
    struct digest part, columns;
    uint32_t rows, cols;
    struct image image;
    struct image_sizes sizes;
    uint32_t label_count;
    double *labels;
    struct owner *next;
};

/* What it offers, in place of what it offered before.  False: out of memory. */
bool owner_keep(struct owner *owner, const struct roll_offer *offer);
/* Takes it out of the list, and frees it. */
void owner_drop(struct owner **owners, struct owner *owner);
/* Different files among those who are here: several may offer one. */
uint32_t owners_parts(const struct owner *owners);
/* Has another who is here, with another file, the name of the offer? */
bool owners_named(const struct owner *owners, const struct owner *but,
                  const struct roll_offer *offer);
/* Has the offer the columns of those who are here, but for one of them?  They
 * agree among themselves, so any of them tells. */
bool owners_agree(const struct owner *owners, const struct owner *but,
                  const struct roll_offer *offer);
/* ... and are its rows images, or none, as theirs are? */
bool owners_alike(const struct owner *owners, const struct owner *but,
                  const struct roll_offer *offer);
/* All offers as one, of `count` files.  ERR_NOMEM; ERR_TOOBIG: rows. */
MUST_CHECK enum err owners_unite(const struct owner *owners, uint32_t count,
                                 struct parts *parts);

#endif /* NODE_OWNERS_OWNER_H */

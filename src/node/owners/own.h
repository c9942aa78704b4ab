/*
 * own.h - rows of one's own in the roll that one calls: a thread that enrols
 * at this very process's door, as all other owners do.
 *
 * In a ring whoever calls the roll is an owner like any other.
 */
#ifndef NODE_OWNERS_OWN_H
#define NODE_OWNERS_OWN_H

#include "base/err.h"
#include "base/flag.h"
#include "node/owners/enrol.h"

struct own;

/* Reads the rows, then enrols beside the caller.  Borrows the token and
 * what the rows point to; their first address is the door. */
MUST_CHECK enum err own_start(const struct enrol_options *options,
                              struct own **own, struct why *why);
/* Raised if it could not enrol: its rows will not come. */
const struct flag *own_failed(const struct own *own);
/* Once the roll was dismissed: waits for it. */
MUST_CHECK enum err own_end(struct own *own, struct owned *owned,
                            struct why *why);
void own_free(struct own *own); /* Calls it off.  Accepts NULL. */

#endif /* NODE_OWNERS_OWN_H */

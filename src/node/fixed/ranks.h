/*
 * ranks.h - before ranks of a collective train: that they train the same, from
 * the same state on.
 */
#ifndef NODE_FIXED_RANKS_H
#define NODE_FIXED_RANKS_H

#include "node/fixed/alone.h"

/* `config` names rows and options; `err` with `why` is what has become of this
 * rank so far; what is returned is the same in all.  `hooks` get the state that
 * rank 0 goes on from, in `state` (mem_free).  ERR_MISMATCH: rows or options
 * differ. */
MUST_CHECK enum err ranks_begin(const struct collective *ranks,
                                const struct digest *config, enum err err,
                                struct alone_hooks *hooks, uint8_t **state,
                                struct why *why);

#endif /* NODE_FIXED_RANKS_H */

/*
 * witness.h - who looks on at a run with workers for a caller's `log`, and says
 * what the command line prints: who came, who died, whom the run waits for.
 */
#ifndef API_WITNESS_H
#define API_WITNESS_H

#include "api/handle.h"
#include "learn/watch/waiting.h"

struct witness;

/* NULL without a `log`; `waiting` as it is before a run. */
MUST_CHECK enum err witness_new(const struct muster_recipe *recipe,
                                const struct waiting *waiting,
                                struct witness **witness);
void witness_free(struct witness *witness); /* Accepts NULL. */
/* From train_options.watch, with its `trace`.  Accepts no witness. */
void witness_see(struct witness *witness, const struct trace *trace);

#endif /* API_WITNESS_H */

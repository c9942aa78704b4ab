/*
 * lockstep.h - training on machines that live and die together: this one alone,
 * or ranks of a collective.
 *
 * Every rank has the same trainer and asks itself the same question; each
 * evaluates its share of the chunks, the integer sums are added up over all,
 * and all feed their trainers the same total.  So all of them have the bits of
 * one machine, and nobody has to be told anything.
 */
#ifndef NODE_FIXED_LOCKSTEP_H
#define NODE_FIXED_LOCKSTEP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/flag.h"
#include "core/run/trainer.h"
#include "eval/evaluator.h"
#include "node/fixed/collective.h"

struct lockstep_hooks {
    /* After each evaluation, and after one that was cancelled, by whatever
     * rank, which is the `last`; false ends the run there.  May be NULL. */
    bool (*watch)(void *context, const struct trainer *trainer, bool last);
    void *context;
    struct held_out held_out;  /* Where the trainer wants it. */
    const struct flag *cancel; /* Once raised: end, in the midst of a step too.
                                  May be NULL. */
};

/* To the end of the training.  ERR_CANCELLED: one of the hooks, of any rank,
 * ended it before.  ERR_RANGE: diverged; ERR_MISMATCH: the function contradicts
 * itself; both with a sentence.  ERR_CLOSED: the user's function said stop, or
 * a rank is gone.  ERR_NOMEM. */
MUST_CHECK enum err lockstep_run(struct trainer *trainer,
                                 struct evaluator *evaluator,
                                 const struct collective *collective,
                                 const struct lockstep_hooks *hooks,
                                 struct why *why);

#endif /* NODE_FIXED_LOCKSTEP_H */

/*
 * trust.h - workers that may lie: --verify and --audit.
 */
#ifndef LEARN_TRUST_H
#define LEARN_TRUST_H

#include "learn/setup.h"

/* Sets verify and audit; ERR_SHAPE where the code has nothing to compare. */
MUST_CHECK enum err trust_choose(struct setup *setup,
                                 const struct recipe *recipe, struct why *why);

#endif /* LEARN_TRUST_H */

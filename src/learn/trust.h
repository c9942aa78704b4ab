/*
 * trust.h - workers that may lie: --verify and --audit.
 */
#ifndef LEARN_TRUST_H
#define LEARN_TRUST_H

#include "learn/setup.h"

/* "1%" or "0.01".  ERR_RANGE. */
MUST_CHECK enum err trust_share(const char *text, double *share,
                                struct why *why);
/* Sets verify and audit; ERR_SHAPE where the code has nothing to compare. */
MUST_CHECK enum err trust_choose(struct setup *setup,
                                 const struct recipe *recipe, struct why *why);

#endif /* LEARN_TRUST_H */

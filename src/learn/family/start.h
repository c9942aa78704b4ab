/*
 * start.h - weights that a network begins with.
 */
#ifndef LEARN_START_H
#define LEARN_START_H

#include "learn/setup.h"

/* setup->start, of setup->net, rows and labels: from the file that --init
 * names, else drawn by --seed.  ERR_MISMATCH, with a sentence: the file's
 * network is another one, or about other labels or values. */
MUST_CHECK enum err start_make(struct setup *setup, const struct recipe *recipe,
                               struct why *why);

#endif /* LEARN_START_H */

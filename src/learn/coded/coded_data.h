/*
 * coded_data.h - what a code of data (mds), or of samples of them (flexent),
 * asks of model, method and data.
 */
#ifndef LEARN_CODED_DATA_H
#define LEARN_CODED_DATA_H

#include "learn/setup.h"

/* ERR_SHAPE or ERR_RANGE with a sentence if the code is one of data and what
 * `setup` has loaded cannot be coded, or has not the columns it names. */
MUST_CHECK enum err coded_data_vet(const struct setup *setup,
                                   const struct code_spec *code,
                                   struct why *why);

#endif /* LEARN_CODED_DATA_H */

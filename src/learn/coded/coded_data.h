/*
 * coded_data.h - what a code of data (mds) asks of model, method and data.
 */
#ifndef LEARN_CODED_DATA_H
#define LEARN_CODED_DATA_H

#include "learn/setup.h"

/* ERR_SHAPE with a sentence if the code is one of data and what `setup` has
 * loaded cannot be coded. */
MUST_CHECK enum err coded_data_vet(const struct setup *setup,
                                   const struct code_spec *code,
                                   struct why *why);

#endif /* LEARN_CODED_DATA_H */

/*
 * coded_data.h - what a code of data (mds) asks of model, method and data.
 */
#ifndef CLI_CODED_DATA_H
#define CLI_CODED_DATA_H

#include "cli/setup.h"

/* ERR_SHAPE with a sentence if the code is one of data and what `setup` has
 * loaded cannot be coded. */
MUST_CHECK enum err coded_data_vet(const struct setup *setup,
                                   const struct code_spec *code,
                                   struct why *why);

#endif /* CLI_CODED_DATA_H */

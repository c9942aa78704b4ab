/*
 * failure.h - why a training cannot go on, and what helps: one sentence,
 * whoever drives the trainer.
 */
#ifndef CORE_RUN_FAILURE_H
#define CORE_RUN_FAILURE_H

#include "core/run/trainer.h"

/* How the sentence of a training that diverged begins. */
#define FAILURE_DIVERGED "the training diverged"

/* Of DIVERGED, RANGE and NO_FUNCTION, all of which end it. */
enum err failure_of(const struct trainer *trainer, enum trainer_next next,
                    struct why *why);

/* "a smaller --lr than 0.5, --clip 1 or --optim adam helps": what these options
 * leave to try, in `text`, which is returned.  Of those that search their steps
 * it is the data that are to be looked at. */
#define FAILURE_TEXT 96u
const char *failure_advice(const struct optim_options *options,
                           char text[FAILURE_TEXT]);

#endif /* CORE_RUN_FAILURE_H */

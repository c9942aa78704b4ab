/*
 * absent.h - faults that were meant for a worker or a step that never came:
 * whoever joins may bring a name, so that only the end tells.
 */
#ifndef LEARN_ABSENT_H
#define LEARN_ABSENT_H

#include "learn/setup.h"
#include "node/run/train.h"

/* Who was here, and which steps were, in any of several trainings, by the place
 * of a fault in the setup's delay and chaos.  Zeroed: none is over. */
struct absent {
    bool any;
    bool slowed[DELAY_TERMS_MAX], lied[CHAOS_MAX], reached[CHAOS_MAX];
};

void absent_see(struct absent *absent, const struct setup *setup,
                const struct train_result *result);
/* Notes, of those that were not. */
void absent_tell(const struct absent *absent, const struct setup *setup);

#endif /* LEARN_ABSENT_H */

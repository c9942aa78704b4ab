/*
 * averages.h - the oracle of code `local`: every average made once more, from
 * its receipt alone.
 *
 * A receipt says how many slots there were and whose part is missing.  That
 * decides the bits: the parts' own steps are computed again from the weights
 * before, averaged, and must give the weights, the chunks and the factor that
 * the journal has.
 */
#ifndef SIM_AVERAGES_H
#define SIM_AVERAGES_H

#include "core/run/journal.h"
#include "sim/oracle.h"

struct averages {
    struct oracle *oracle; /* Borrowed. */
    double *weights;       /* (steps + 1) x dims, as far as they are known. */
    double *room;          /* 2 x (dims + 1). */
};

MUST_CHECK enum err averages_init(struct averages *averages,
                                  struct oracle *oracle);
void averages_close(struct averages *averages); /* Zeroed is safe. */

/* The next STEP of the journal: what is wrong with it, or NULL. */
const char *averages_redo(struct averages *averages,
                          const struct record *record);

#endif /* SIM_AVERAGES_H */

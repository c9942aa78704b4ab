/*
 * card.h - the closing card of the demo.
 */
#ifndef CLI_CARD_H
#define CLI_CARD_H

#include <jansson.h>
#include <stdint.h>

#include "base/hash.h"
#include "cli/run.h"

struct card {
    uint32_t killed; /* Workers and coordinators. */
    uint32_t straggled;
    uint32_t steps_lost;
    double worst_pause_s;
    struct digest ours;
    struct digest perfect; /* Of one machine that computed it all. */
    double time_s;
    double waiting_s;     /* Waiting for everyone: replayed in virtual time. */
    double extra_percent; /* Pieces computed twice, of those needed. */
};

/* Trains once more in this process and replays; takes about a second. */
MUST_CHECK enum err card_measure(const struct run *run,
                                 const struct train_result *result,
                                 struct card *card, struct why *why);
void card_print(const struct card *card);
json_t *card_json(const struct card *card);

#endif /* CLI_CARD_H */

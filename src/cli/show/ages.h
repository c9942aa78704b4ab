/*
 * ages.h - how old the answers of a run were, in updates: staleness.
 */
#ifndef CLI_AGES_H
#define CLI_AGES_H

#include <jansson.h>
#include <stdint.h>

struct ages {
    uint64_t answers, sum;
    uint32_t max;
};

double ages_mean(const struct ages *ages);
/* {"mean": .., "max": ..} */
json_t *ages_json(const struct ages *ages);

#endif /* CLI_AGES_H */

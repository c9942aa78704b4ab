/*
 * trust.h - --verify and --audit: what is asked for, and what came of it.
 */
#ifndef CLI_TRUST_H
#define CLI_TRUST_H

#include <jansson.h>

#include "cli/setup.h"
#include "core/star/coordinator.h"

/* Sets verify and audit; ERR_SHAPE where the code has nothing to compare. */
MUST_CHECK enum err trust_choose(struct setup *setup,
                                 const struct options *options,
                                 struct why *why);

/* {poison: {size: 0, ...}, checked, judged, unchecked, banned: [{name, why}]}
 */
json_t *trust_json(const struct coordinator_stats *stats);
/* A line or two; none if there is nothing to tell. */
void trust_text(const struct coordinator_stats *stats);

#endif /* CLI_TRUST_H */

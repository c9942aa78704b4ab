/*
 * trust.h - --verify and --audit: what came of them.
 */
#ifndef CLI_TRUST_H
#define CLI_TRUST_H

#include <jansson.h>

#include "core/star/coordinator.h"

/* {poison: {size: 0, ...}, checked, judged, unchecked, banned: [{name, why}]}
 */
json_t *trust_json(const struct coordinator_stats *stats);
/* A line or two; none if there is nothing to tell. */
void trust_text(const struct coordinator_stats *stats);

#endif /* CLI_TRUST_H */

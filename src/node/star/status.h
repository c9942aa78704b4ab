/*
 * status.h - what `muster status` shows: the coordinator's state as JSON.
 */
#ifndef NODE_STATUS_H
#define NODE_STATUS_H

#include <jansson.h>
#include <stddef.h>

#include "core/star/coordinator.h"

/* For an answer of `capacity` bytes: workers that do not fit are counted in
 * "more".  NULL: out of memory. */
json_t *status_json(const struct coordinator *coordinator, time_us now,
                    size_t capacity);

const char *status_state_name(const struct member *member);
/* How long this step has waited for the worker, in seconds, and why. */
double status_behind(const struct coordinator *c, const struct member *member,
                     time_us now, const char **cause);

const char *coordinator_phase_name(enum coordinator_phase phase);

#endif /* NODE_STATUS_H */

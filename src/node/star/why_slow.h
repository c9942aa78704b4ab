/*
 * why_slow.h - what `muster status --why-slow` shows: who is behind, and why.
 */
#ifndef NODE_WHY_SLOW_H
#define NODE_WHY_SLOW_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "core/star/coordinator.h"

/* For how long the machine of the worker on `link` has not acknowledged what
 * was sent; 0 = it has. */
typedef time_us (*why_deaf)(void *context, uint32_t link);

/* For an answer of `capacity` bytes, the slowest first; those that do not fit
 * are counted in "more".  NULL: out of memory. */
json_t *why_slow_json(const struct coordinator *coordinator, time_us now,
                      why_deaf deaf, void *context, size_t capacity);

#endif /* NODE_WHY_SLOW_H */

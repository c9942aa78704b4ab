/*
 * why_slow.h - what `muster status --why-slow` shows: who is behind, and why.
 */
#ifndef NODE_WHY_SLOW_H
#define NODE_WHY_SLOW_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "core/star/coordinator.h"

/* For how long the machine of the worker on `link` has not acknowledged what
 * was sent; 0 = it has. */
typedef time_us (*why_deaf)(void *context, uint32_t link);

/* Writes at most `capacity` bytes of valid JSON, without a NUL, the slowest
 * first; those that do not fit are counted in "more".  ERR_NOMEM. */
MUST_CHECK enum err why_slow_json(const struct coordinator *coordinator,
                                  time_us now, why_deaf deaf, void *context,
                                  char *text, size_t capacity, size_t *size);

#endif /* NODE_WHY_SLOW_H */

/*
 * strips.h - strips of coded blocks (math/blocks.h) for several workers, made
 * from one pass over the rows.
 *
 * A run on coded data begins with a block for every worker, and each block is
 * made from all rows: one worker after the other, the coordinator would read
 * everything once for each of them.  Instead a strip that is next for one is
 * made for all for which it is next, too, and whose connections are not far
 * behind; those that fall behind are served by themselves.
 */
#ifndef NODE_STRIPS_H
#define NODE_STRIPS_H

#include <stdint.h>

#include "node/host/session.h"

/* Send what waits, as session_pump does, of the blocks that the core now has
 * for them.  `sessions` are by the core's link, NULL where there is none.
 * `passes` counts strips, each once for all who are sent it.  ERR_NOMEM:
 * `failed` could not be served, drop it and call again. */
MUST_CHECK enum err strips_pump(struct session *const *sessions, uint32_t count,
                                const struct dataset *data,
                                const struct coordinator *core,
                                uint64_t *passes, struct session **failed);

#endif /* NODE_STRIPS_H */

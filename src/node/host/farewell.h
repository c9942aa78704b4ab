/*
 * farewell.h - the end of a driver: the last words are let out, not for ever.
 *
 * A driver that is done closes its links; what is queued on them still has to
 * go.  From farewell_begin on the loop runs only for that, and stops when all
 * links are closed (and the outlet, if there is one, is empty) or when the
 * patience is at its end; but not before `busy`, if it was given, says that the
 * driver's own work is done.
 */
#ifndef NODE_FAREWELL_H
#define NODE_FAREWELL_H

#include <stdbool.h>

#include "base/err.h"
#include "base/time.h"

struct link_hub;
struct loop;
struct outlet;
struct timer;

/* Work that is waited for; `late`: the patience is at its end. */
typedef bool (*farewell_busy)(void *context, bool late);

struct farewell {
    struct loop *loop;
    struct timer *look;
    const struct link_hub *hub;
    const struct outlet *outlet;
    time_us until; /* 0: not begun. */
    farewell_busy busy;
    void *context;
};

MUST_CHECK enum err farewell_open(struct farewell *farewell, struct loop *loop);
void farewell_close(struct farewell *farewell); /* Accepts a zeroed one. */

/* `outlet` may be NULL. */
void farewell_begin(struct farewell *farewell, const struct link_hub *hub,
                    const struct outlet *outlet, time_us patience);
/* Before farewell_begin. */
void farewell_await(struct farewell *farewell, farewell_busy busy,
                    void *context);
bool farewell_begun(const struct farewell *farewell);

#endif /* NODE_FAREWELL_H */

/*
 * waiting.h - a run that waits for workers says so: who is there, who is
 * awaited, for how long.
 *
 * At once where others are to come from elsewhere, at each change, and after
 * pauses that double from seconds to a minute; of local workers only if they
 * take seconds to start.  The same once all are gone in the middle of a run.
 */
#ifndef LEARN_WATCH_WAITING_H
#define LEARN_WATCH_WAITING_H

#include "learn/watch/progress.h"

#define WAITING_TEXT 384u

struct waiting {
    uint32_t wanted;  /* Workers to begin with. */
    bool remote;      /* Some of them come from elsewhere. */
    bool resumed;     /* Then as many as it had will do. */
    time_us patience; /* Then it begins with those there are. */
    time_us since;    /* Nothing to wait for before; 0 = not waiting. */
    time_us said_at;
    time_us pause; /* Until it is said again. */
    uint32_t said; /* So many were there. */
};

/* Of a run that begins with `wanted` workers, `local` of them its own. */
struct waiting waiting_for(uint32_t wanted, uint32_t local, bool resumed);

/* The sentence that is due now, in `text`; NULL: none is. */
const char *waiting_look(struct waiting *waiting,
                         const struct progress *progress, time_us now,
                         char text[WAITING_TEXT]);

#endif /* LEARN_WATCH_WAITING_H */

/*
 * standing.h - a step that waits far longer than any before it is told of, with
 * the names of those who owe it an answer: once, and then ever more rarely.
 *
 * They are well, or people would hear of them anyway; nothing else tells a step
 * that stands from one that is long.
 */
#ifndef NODE_STANDING_H
#define NODE_STANDING_H

#include "base/time.h"
#include "core/star/coordinator.h"

#define STANDING_TEXT 448u

/* Zeroed: no round was seen yet. */
struct standing {
    time_us began_at;   /* The round that was seen last, ... */
    time_us lasted_us;  /* ... how long it had taken by then, ... */
    time_us told_us;    /* ... and when people were told; 0: not yet. */
    time_us longest_us; /* That any round before it took. */
};

/* The sentence that is due now, in `text`; NULL: none is. */
const char *standing_look(struct standing *standing,
                          const struct coordinator *coordinator, time_us now,
                          char text[STANDING_TEXT]);

#endif /* NODE_STANDING_H */

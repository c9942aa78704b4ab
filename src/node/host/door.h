/*
 * door.h - the log of those who were turned away, and no more of it than
 * anyone will read.
 *
 * Whoever can open a connection can have a line written; ten thousand of them
 * must not bury the lines that matter, nor fill the disk.  So DOOR_LINES in
 * any DOOR_US, then a count.
 */
#ifndef NODE_DOOR_H
#define NODE_DOOR_H

#include <stdint.h>

#include "base/time.h"

#define DOOR_LINES 10u
#define DOOR_US    (10 * SECOND_US)

struct door {
    time_us began_at; /* Of the stretch of time at hand. */
    uint32_t lines;   /* Written in it, ... */
    uint64_t held;    /* ... and not written. */
};

/* Log the sentence, or count it. */
void door_log(struct door *door, time_us now, const char *sentence);
/* The count, if there is one to tell. */
void door_end(struct door *door);

#endif /* NODE_DOOR_H */

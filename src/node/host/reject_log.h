/*
 * reject_log.h - the log of those who were turned away, and no more of it than
 * anyone will read.
 *
 * Whoever can open a connection can have a line written; ten thousand of them
 * must not bury the lines that matter, nor fill the disk.  So REJECT_LOG_LINES
 * in any REJECT_LOG_US, then a count.
 */
#ifndef NODE_HOST_REJECT_LOG_H
#define NODE_HOST_REJECT_LOG_H

#include <stdint.h>

#include "base/time.h"

#define REJECT_LOG_LINES 10u
#define REJECT_LOG_US    (10 * SECOND_US)

struct reject_log {
    time_us began_at; /* Of the stretch of time at hand. */
    uint32_t lines;   /* Written in it, ... */
    uint64_t held;    /* ... and not written. */
};

/* Log the sentence, or count it. */
void reject_log_add(struct reject_log *log, time_us now, const char *sentence);
/* The count, if there is one to tell. */
void reject_log_end(struct reject_log *log);

#endif /* NODE_HOST_REJECT_LOG_H */

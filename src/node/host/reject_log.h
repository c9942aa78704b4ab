/*
 * reject_log.h - the log of those who were turned away, and no more of it than
 * anyone will read.
 *
 * Whoever can open a connection can have a line written; ten thousand of them
 * must not bury the lines that matter, nor fill the disk.  So REJECT_LOG_LINES
 * in any REJECT_LOG_US, then a count.
 *
 * A stranger at an address that is dialled from here is met at every try, and
 * is news once; so is who comes again and again, and is refused for one reason.
 */
#ifndef NODE_HOST_REJECT_LOG_H
#define NODE_HOST_REJECT_LOG_H

#include <stdint.h>

#include "base/time.h"

#define REJECT_LOG_LINES 10u
#define REJECT_LOG_US    (10 * SECOND_US)
#define REJECT_LOG_SAID  64u /* Sentences that are not said again. */

struct reject_log {
    time_us began_at;               /* Of the stretch of time at hand. */
    uint32_t lines;                 /* Written in it, ... */
    uint64_t held;                  /* ... and not written. */
    uint64_t said[REJECT_LOG_SAID]; /* Their names, the last ones. */
    uint32_t said_count;            /* That there ever were. */
};

/* Log the sentence, or count it. */
void reject_log_add(struct reject_log *log, time_us now, const char *sentence);
/* The same, but never of the same `what` again: all of the sentence, or what of
 * it does not change from one time to the next. */
void reject_log_once(struct reject_log *log, time_us now, const char *what,
                     const char *sentence);
/* The count, if there is one to tell. */
void reject_log_end(struct reject_log *log);

#endif /* NODE_HOST_REJECT_LOG_H */

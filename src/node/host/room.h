/*
 * room.h - are there descriptors for all who shall take part?
 *
 * A process that runs out of them in the middle loses workers and receipts, one
 * by one and in silence.  So what is needed is counted before the first is
 * opened, the limit raised to that if it can be, and otherwise the run refused.
 *
 *     a worker or relay at the coordinator    2, its two connections
 *     a berth on the board                    1, its bell; everybody has all
 *     a relay                                 1, its listening socket
 */
#ifndef NODE_ROOM_H
#define NODE_ROOM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* For a process of ours beside its connections: loop, timers, journal, pipes,
 * a file or two being written, somebody who asks for the status. */
#define ROOM_OWN 32u

struct room_wish {
    const char *who; /* For the sentence: "4 workers". */
    uint32_t links;  /* At the process that has most of them. */
    uint32_t berths; /* 0 = no board. */
    uint32_t doors;  /* Listening sockets of relays. */
    bool relays;     /* Could relays help? */
};

/* Raise the limit so that all of it can be open beside what is; *before is for
 * limits_files_restore.  ERR_IO with a sentence if it cannot. */
MUST_CHECK enum err room_make(const struct room_wish *wish, uint64_t *before,
                              struct why *why);

#endif /* NODE_ROOM_H */

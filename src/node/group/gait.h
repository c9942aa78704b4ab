/*
 * gait.h - which of two ways to write is quicker, found out by trying.
 *
 * What others have read and will read again is written through the caches, or
 * past them.  Between processors that have a cache in common the first is
 * quicker; where they have not, every line must be taken from the other's cache
 * before it can be written, and the second is, by ten times
 * (docs/performance.md).  Nothing says beforehand which of them a machine is,
 * and a virtual one is now this and now that.  So once in a while a block is
 * written in one way and the next one in the other, both timed.
 */
#ifndef NODE_GROUP_GAIT_H
#define NODE_GROUP_GAIT_H

#include <stdbool.h>
#include <stdint.h>

struct gait { /* Zeroed: through the caches, until a trial says otherwise. */
    bool past;
    int32_t votes;       /* For `past`, less those against it. */
    uint32_t wait, left; /* Times between two trials, and until the next. */
};

/* Asked once before each copy; true: try both ways with it. */
bool gait_tries(struct gait *gait);
/* What a trial found, in any unit.  `percent`: past the caches is quicker if
 * through them takes more than so much of its time. */
void gait_learn(struct gait *gait, uint64_t cached, uint64_t past,
                uint32_t percent);

#endif /* NODE_GROUP_GAIT_H */

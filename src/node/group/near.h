/*
 * near.h - a group whose members are processes of one user on one machine: the
 * table of core/sum/table.h in a segment of os/run/segment.h.
 *
 * Nobody hosts it.  A call runs in the thread that calls: it copies its vector
 * into the segment, puts its seat into the table and waits until the call is
 * closed; then it adds its slice, and takes the others' slices from those who
 * added them.  A slice that does not come (its adder is dead, or slow) it adds
 * itself: the bits are the same.  A second thread only says that this process
 * is not stopped.
 */
#ifndef NODE_NEAR_H
#define NODE_NEAR_H

#include <stdint.h>

#include "base/err.h"
#include "base/time.h"
#include "core/msg.h"
#include "math/exact/exact.h"
#include "node/group/group.h"

struct near;

struct near_options {
    char name[NAME_SIZE];
    uint32_t members_max, least; /* Of who begins the group. */
    uint64_t size_max;           /* The same: bytes of a vector. */
    time_us give_up_us;          /* For a seat. */
};

/* Begin a group (`address` NULL), or join the one of which that is a member's
 * address. */
MUST_CHECK enum err near_open(const struct near_options *options,
                              const char *address, struct near **near,
                              struct why *why);
/* Where others join, as long as this member is there. */
const char *near_address(const struct near *near);
/* As group_sum. */
MUST_CHECK enum err near_sum(struct near *near, enum exact_type type,
                             void *values, uint64_t count, time_us patience_us,
                             struct group_info *info, struct why *why);
void near_cancel(struct near *near); /* As group_cancel. */
void near_leave(struct near *near);  /* Accepts NULL. */

#endif /* NODE_NEAR_H */

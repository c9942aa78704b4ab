/*
 * group.h - core/sum/sum.h on real links: a member of a group that may span
 * machines.
 *
 *     user's thread            member's thread              other members
 *       group_sum  --bell-->     sum_member_step  <--links-->
 *         waits    <--gate--     RESULT, exact_sum
 *
 * The member's thread only serves its loop, so that beats go on, slices are
 * added and views agreed on whatever the user does.
 */
#ifndef NODE_GROUP_H
#define NODE_GROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/time.h"
#include "core/msg.h"
#include "math/exact/exact.h"
#include "os/net/net.h"
#include "os/net/token.h"

struct group;

struct group_options {
    const struct net_address *join; /* Any member's; NULL: begin a group. */
    const char *listen; /* "HOST:PORT"; NULL: loopback, or the address by which
                           this machine reaches the one that it joins. */
    const struct token *token; /* Of the cluster.  Borrowed. */
    bool plain; /* Vectors are not sealed between those who both say so. */
    char name[NAME_SIZE];
    time_us give_up_us;
    uint32_t members_max, least; /* Of who begins it. */
    uint64_t size_max;           /* The same: bytes of a vector. */
};

/* Returns once it is in. */
MUST_CHECK enum err group_open(const struct group_options *options,
                               struct group **group, struct why *why);
/* Where others join, as long as this member is there. */
const char *group_address(const struct group *group);

struct group_info {
    uint64_t call;
    uint32_t contributed, members;
    int included;    /* 1, 0, or -1: who knows (it was cut off). */
    const char *who; /* Names by comma; good until the next call. */
};

/* `values` become the sum with ERR_OK and are left alone otherwise.
 * ERR_CANCELLED, ERR_TIMEOUT: withdrawn.  ERR_STALE: the others are further.
 * ERR_SHAPE: of another size or type than the others'.  ERR_CLOSED: over.
 * ERR_EXISTS: another thread is in a call. */
MUST_CHECK enum err group_sum(struct group *group, enum exact_type type,
                              void *values, uint64_t count, time_us patience_us,
                              struct group_info *info, struct why *why);
/* The call in progress, if there is one.  From any thread, and from a signal
 * handler. */
void group_cancel(struct group *group);
/* Accepts NULL. */
void group_leave(struct group *group);

#endif /* NODE_GROUP_H */

/*
 * group.h - core/sum/sum.h on real links: a host's thread, a member's thread.
 *
 *     user's thread            member's thread          host's thread
 *       group_sum  --bell-->     sum_member_step  --link-->  sum_host_step
 *         waits    <--gate--     RESULT           <--link--  exact_sum
 *
 * Both threads only serve their loops, so that beats go on whatever the user
 * does.
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

struct group_host;
struct group;

struct group_host_options {
    const char *listen;        /* "HOST:PORT"; NULL = loopback, any port. */
    const struct token *token; /* Borrowed. */
    bool near;                 /* Loopback only. */
    uint32_t seats, least;
    uint64_t size_max; /* Bytes of a vector. */
};

MUST_CHECK enum err group_host_open(const struct group_host_options *options,
                                    struct group_host **host, struct why *why);
/* Where others join it, and where this machine's processes do. */
const char *group_host_address(const struct group_host *host);
const struct net_address *group_host_local(const struct group_host *host);
void group_host_close(struct group_host *host); /* Accepts NULL. */

struct group_options {
    struct net_address address;
    const struct token *token; /* Borrowed. */
    char name[NAME_SIZE];
    time_us give_up_us;
};

/* Returns once the host has let it in. */
MUST_CHECK enum err group_join(const struct group_options *options,
                               struct group **group, struct why *why);

struct group_info {
    uint64_t call;
    uint32_t contributed, members;
    int included;    /* 1, 0, or -1: who knows (the link broke). */
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

/*
 * hosts.h - which machines, and how many workers on each: a hostfile as Open
 * MPI and MPICH have it, or a list.
 *
 *     # a comment
 *     node1
 *     node2 slots=4
 *     node3 slots = 4 max_slots = 8
 *     node4:2
 *     ann@node5.example
 *     [2001:db8::7]:2
 *
 * In a list, commas stand between: node1,node2:4,ann@node5.  A host that is
 * named again has the slots of both.  max_slots, how far Open MPI may go beyond
 * them, says nothing here.
 */
#ifndef CLI_LAUNCH_HOSTS_H
#define CLI_LAUNCH_HOSTS_H

#include <stdint.h>

#include "base/err.h"
#include "core/msg.h"

#define HOST_SIZE 256u
#define SLOTS_MAX 1024u
#define HOSTS_MAX 4096u

struct host {
    char target[HOST_SIZE]; /* As ssh takes it: [user@]host, no brackets. */
    const char *name;       /* Of `target`, without the user. */
    uint32_t slots;
};

struct hosts {
    struct host *list;
    uint32_t count;
    uint32_t slots; /* In all. */
};

/* Letters, digits and ._:%+-[] of a host, ._+- of a user: nothing that a shell
 * or ssh could take for something else.  ERR_FORMAT with the place,
 * ERR_NOTFOUND.  Close after any outcome. */
MUST_CHECK enum err hosts_read(struct hosts *hosts, const char *path,
                               struct why *why);
MUST_CHECK enum err hosts_parse(struct hosts *hosts, const char *list,
                                struct why *why);
/* A name for the worker of each slot, no two alike: its host's and, where that
 * has several, a number. */
MUST_CHECK enum err hosts_name(const struct hosts *hosts,
                               char (*names)[NAME_SIZE], struct why *why);
void hosts_close(struct hosts *hosts);

#endif /* CLI_LAUNCH_HOSTS_H */

/*
 * relay_node.h - core/relay/relay.h on sockets.
 *
 * One thread, one loop.  It listens for workers and other relays, and dials
 * the coordinator or a relay above; workers that cannot reach the coordinator
 * (another network, NAT) need to reach only this.  Both ways the same token
 * and the same rules for strangers hold as for the coordinator itself.
 */
#ifndef NODE_RELAY_NODE_H
#define NODE_RELAY_NODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/time.h"
#include "core/msg.h"
#include "os/net/net.h"
#include "os/net/token.h"

struct relay_node_options {
    const struct net_address *addresses; /* Above; in turn. */
    uint32_t address_count;
    const char *folder; /* Of the run, if it is here: ways.h.  May be NULL. */
    const struct token *token; /* The cluster's. */
    char name[NAME_SIZE];
    int listen_fd;
    uint32_t leaves_max; /* Workers behind it. */
    time_us give_up_us;  /* Unreachable for so long; TIME_NEVER = never. */
    bool interrupt;      /* SIGINT, too, means leave. */
    bool stays;          /* For the next job, if there is one. */
};

/* Serve until the job is done (ERR_OK), or until it cannot go on (the sentence
 * says why).  ERR_STALE: another job follows, for one that stays. */
MUST_CHECK enum err relay_node_run(const struct relay_node_options *options,
                                   struct why *why);

/* For `muster relay`: listen, say where, run. */
struct relay_run_options {
    const struct ways *ways; /* With a run's own key: on loopback only. */
    const char *listen;      /* NULL: loopback, any port. */
    const char *name;        /* NULL: the host's name and the process id. */
    time_us give_up_us;
    /* Called once, with the address workers are to dial. */
    void (*ready)(void *context, const char *address);
    void *context;
};

MUST_CHECK enum err relay_run(const struct relay_run_options *options,
                              struct why *why);

#endif /* NODE_RELAY_NODE_H */

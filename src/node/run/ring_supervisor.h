/*
 * ring_supervisor.h - a supervisor of the local peers of a ring.
 *
 *     a peer killed        the others go on; with --respawn it is started again
 *     all of them gone     the run ends; what they saved is there for --resume
 *     SIGINT, SIGTERM,     ask all to end at a step boundary (the peers of this
 *     SIGHUP, SIGUSR1      machine leave, if others may be elsewhere); a second
 *                          one ends everything at once
 *     --max-time           ask all to end at a step boundary
 *     --preempt-notice     as SIGTERM; a child looks for it
 *
 * No peer is special: what happens is told by all of them, and the first word
 * of each step counts.  A peer that has the model ends; the others are waited
 * for, not for ever.
 */
#ifndef NODE_RING_SUPERVISOR_H
#define NODE_RING_SUPERVISOR_H

#include <stdbool.h>
#include <stdint.h>

#include "core/msg.h"
#include "node/host/trace_pipe.h"
#include "node/ring/peer_node.h"
#include "node/run/account.h"
#include "node/run/chaos_run.h"
#include "node/run/crew.h"
#include "node/run/ring_news.h"
#include "node/run/train.h"
#include "os/file/file.h"
#include "os/net/net.h"
#include "os/run/wait.h"

/* A local peer, over all its lives. */
struct ring_seat {
    uint32_t number;
    char name[NAME_SIZE];
    char folder[FILE_PATH_SIZE];
    char place[PEER_PLACE];
    struct net_listener door;
    bool borrowed; /* The door is the run's. */
    int trace_fd, pass_fd, spare_fd;
    struct trace_reader traces;
    struct ring_supervisor *run;
};

struct ring_supervisor {
    const struct train_options *options;
    struct peer_node_options peer; /* Of any, but for what a seat has. */
    char prefix[NAME_SIZE];        /* Of names, where others may come; or "". */
    const struct net_listener *first; /* Door of the first seat. */
    int lock_fd;
    uint32_t numbers[PEERS_MAX]; /* Of the first peers: w0, w1, ... */

    struct ring_seat *seats; /* PEERS_MAX. */
    uint32_t count;
    uint32_t address;         /* Seat that the folder's address leads to. */
    int doors[2 * PEERS_MAX]; /* Sockets and pipes that are not a child's. */
    struct waiter waiter;
    struct crew crew;
    struct chaos_run chaos;
    struct account account;
    int notice_pid;

    struct ring_news news;

    bool stopping;
    int signal, came; /* That ended it; that came last.  0 = none. */
    time_us stop_until, max_time_at, tick_at;
    bool timed_out;
    bool closing;     /* Some peer has the model, ... */
    time_us close_at; /* ... and others are waited for so long. */
    bool over;
    struct why *why;
};

/* The run, from the first fork to the last wait.  No child is left; what each
 * peer came to is in the result file of its seat.  `crew` and `account` are
 * for the caller; ring_supervisor_close ends both. */
MUST_CHECK enum err ring_supervisor_run(struct ring_supervisor *run,
                                        struct why *why);
void ring_supervisor_close(
    struct ring_supervisor *run); /* Accepts a zeroed one. */

#endif /* NODE_RING_SUPERVISOR_H */

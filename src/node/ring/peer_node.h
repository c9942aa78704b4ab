/*
 * peer_node.h - core/ring/peer.h on sockets, a clock, compute threads and a
 * disk.
 *
 *     mesh --messages--> peer_step --actions--> mesh, compute, disk, trace
 *
 * One thread has the loop; chunks, checkpoints and held-out rows have one
 * each.  All peers are this one function, of equal rank: each has a folder, a
 * listening socket and, in the end, the model.
 */
#ifndef NODE_RING_PEER_NODE_H
#define NODE_RING_PEER_NODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/brief.h"
#include "base/err.h"
#include "base/time.h"
#include "core/ring/peer.h"
#include "core/run/early.h"
#include "data/rows/dataset.h"
#include "math/kernel/kernel.h"
#include "node/host/chaos.h"
#include "node/owners/enrol.h"
#include "node/owners/parts.h"
#include "node/ring/papers.h"
#include "os/net/interface.h"
#include "os/net/net.h"
#include "os/net/token.h"
#include "os/run/board.h"

struct peer_node_options {
    struct peer_options core; /* But incarnation and contact. */
    time_us gather_us; /* So long `least` peers are waited for, or anybody. */
    /* Of others: whoever has no link dials them in turn. */
    const struct net_address *contacts;
    uint32_t contact_count;
    bool far;                   /* They are all on other machines. */
    const struct brief *brief;  /* For the evaluator. */
    const struct dataset *data; /* All chunks; NULL: only those of `owned`. */
    const struct owned *owned;  /* Private rows; NULL: there are none ... */
    const struct parts *parts;  /* ... and what is known of all owners'. */
    enum isa isa;
    uint32_t threads;
    uint32_t peers;                  /* Of this machine, itself included. */
    const char *folder;              /* Journal, checkpoints, result. */
    const struct token *token;       /* The cluster's. */
    const struct net_source *source; /* To dial from; NULL: any. */
    bool plain;          /* Sums and states are not sealed between those
                            who both say so (mesh.h). */
    struct board *board; /* lending_new; NULL: all are sent bytes. */
    uint32_t sum_dims;   /* Of its vectors there. */
    uint32_t berth;      /* Its own there; BOARD_NONE: likewise. */
    int listen_fd;
    int spare_fd; /* Memory for a result that no disk takes; -1 = none. */
    int trace_fd; /* -1 = nobody listens. */
    /* Steps at which whoever listens acts wait for its pass; NULL: none do. */
    const struct chaos *chaos;
    int pass_fd;
    struct held_out held_out; /* Called in a thread of its own. */
    /* For machines that join without data; NULL: none may. */
    const struct papers_kept *papers;
    const char *serve_host; /* Where they fetch, at any port. */
};

/* Run one life to its end: from what the folder holds, until the model is
 * there, it is told to stop (SIGUSR1) or to leave (SIGTERM), or cannot go on.
 * The outcome is in the result file; what is returned says only whether there
 * is one. */
MUST_CHECK enum err peer_node_run(const struct peer_node_options *options,
                                  struct why *why);

#endif /* NODE_RING_PEER_NODE_H */

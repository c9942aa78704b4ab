/*
 * coordinator_node.h - core/star/coordinator.h on sockets, a clock and a disk.
 *
 *     links --messages--> coordinator_step --actions--> links, disk, trace
 *
 * One thread, one loop; only checkpoints are written by a second thread.
 */
#ifndef NODE_COORDINATOR_NODE_H
#define NODE_COORDINATOR_NODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "core/star/coordinator.h"
#include "data/rows/dataset.h"
#include "math/kernel/kernel.h"
#include "node/host/chaos.h"
#include "node/owners/parts.h"
#include "os/net/token.h"
#include "os/run/board.h"

struct coordinator_node_options {
    struct coordinator_options core;
    const struct dataset *data; /* All chunks; NULL: workers bring them. */
    const struct parts *parts;  /* Of private data; NULL: it is not. */
    enum isa isa;
    const char *folder;        /* Journal, checkpoints, result. */
    bool scratch;              /* ... which nobody else is to find. */
    const struct token *token; /* NULL: plain, loopback. */
    struct board *board;       /* NULL: all is sent.  Borrowed. */
    int spare_fd; /* Memory for a result that no disk takes; -1 = none. */
    int listen_fd;
    int trace_fd; /* struct trace after struct trace; -1 = nobody listens. */
    /* Whoever listens acts when some of the steps open (chaos_acts): these wait
     * for its pass.  NULL: it only listens. */
    const struct chaos *chaos;
    int pass_fd;
    struct held_out held_out; /* Called in a thread of its own. */
};

/* Run one life to its end: from what the folder holds, until the job is done,
 * stopped (SIGTERM or MSG_ASK) or has failed.  The outcome is in the result
 * file; what is returned says only whether there is one. */
MUST_CHECK enum err
coordinator_node_run(const struct coordinator_node_options *options,
                     struct why *why);

#endif /* NODE_COORDINATOR_NODE_H */
